"""One question to the model of the run, for agent providers that a person writes."""

from desktop.agents.skill.provider import ask_model

frontmatter = {
    "name": "model-ask",
    "description": "Asks the model of the run once: what it says, and which tools it wants to call.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "system": {"type": "string", "description": "The system prompt."},
                "messages": {
                    "type": "array",
                    "description": "{role, text}; of the assistant also calls, of a tool callId, tool, isError.",
                },
                "tools": {"type": "array", "description": "Schemas of the tools it may ask for."},
            },
            "required": ["messages"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """``{text, calls: [{id, tool, args}], stopReason, usage}``."""
    return await ask_model(ctx, args)
