"""Calls several agents at once and waits for all of them."""

from desktop.agents.skill.fan_out import fan_out_agents

frontmatter = {
    "name": "agent-fan-out",
    "description": "Gives several agents a task each, at once, and waits for all. Each is a call of that agent.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "agent"],
        "params": {
            "type": "object",
            "properties": {
                "tasks": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 16,
                    "description": "What is to be done, by whom.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "agent": {"type": "string", "description": "The tool name of an agent that you may call."},
                            "message": {"type": "string", "minLength": 1, "description": "What it is to do."},
                        },
                        "required": ["agent", "message"],
                        "additionalProperties": False,
                    },
                }
            },
            "required": ["tasks"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """Rows of agent, status and result or error, in the order of the tasks; the gates judge each call by itself."""
    return await fan_out_agents(ctx, args)
