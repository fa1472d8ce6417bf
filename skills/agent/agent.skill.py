"""The agent: works on a prompt with a model, round by round. Every markdown skill is run by the skill of this name."""

from desktop.agents.skill.policy import run_agent

frontmatter = {
    "name": "agent",
    "description": "Works on a prompt with a model and tools until there is an answer.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "prompt": {"type": "string", "description": "What the model is told to be and to do."},
                "config": {"type": "object", "description": "The model's settings: maxTurns and the like."},
                "allowedTools": {"type": "string", "description": "A pattern list of the tools it may call."},
                "returns": {"type": "object", "description": "A JSON Schema that the result has to fit."},
                "events": {"type": "string", "description": "A topic to tell events to."},
                "name": {"type": "string", "description": "Its name in logs and requests."},
                "memory": {"type": "object", "description": "What its code starts out knowing."},
                "userMessage": {"type": "string", "description": "What is said to it; else it is told to begin."},
            },
            "required": ["prompt"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The final text, or the value that ``returns`` asks for."""
    return await run_agent(ctx, args)
