"""The bundled agent provider: asks the model that the run has, through LiteLLM."""

from desktop.agents.skill.provider import run_provider

frontmatter = {
    "name": "agent-litellm",
    "description": "Runs the model loop of an agent with the model of the run, streaming.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "The system prompt."},
                "config": {"type": "object", "description": "The model's settings, with maxTurns."},
                "invokeRef": {"type": "string", "description": "The ref that makes calls and runs code."},
                "hookRef": {"type": "string", "description": "The ref that is told events and gives directives."},
                "userMessage": {"type": "string", "description": "The first message."},
                "skillName": {"type": "string", "description": "The skill that the agent works for."},
                "tools": {"type": "array", "description": "Schemas of the native tools."},
                "history": {"type": "array", "description": "Earlier messages."},
                "answerSchema": {"type": "object", "description": "A JSON Schema that its texts are held to."},
            },
            "required": ["prompt"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """What the hook's stop directive gave, or the model's last text."""
    return await run_provider(ctx, args)
