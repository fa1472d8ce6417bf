"""The provider of agents of other makers: the turn runs in their program, by the Agent Client Protocol."""

from desktop.agents.acp.provider import run_acp

frontmatter = {
    "name": "agent-acp",
    "description": "Has an agent of another maker work, by the Agent Client Protocol: model.acp names which.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "What the agent is told beside the message."},
                "config": {"type": "object", "description": "The settings of its model; acp names the agent."},
                "invokeRef": {"type": "string", "description": "The ref that makes calls."},
                "hookRef": {"type": "string", "description": "The ref that is told events and gives directives."},
                "userMessage": {"type": "string", "description": "The message."},
                "skillName": {"type": "string", "description": "The skill that the agent works for."},
                "tools": {"type": "array", "description": "Schemas of the tools that it is offered."},
                "history": {"type": "array", "description": "Earlier messages."},
            },
            "required": ["prompt"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """What the hook's stop directive gave, or the agent's text."""
    return await run_acp(ctx, args)
