"""An agent that watches: it adds up what the run does while it listens."""

from desktop.agents.hosted.metrics import watch_run

frontmatter = {
    "name": "run-metrics",
    "description": "Adds up what the run does from now on: rounds, tokens, costs, calls and failures by tool.",
    "metadata": {
        "role": "agent",
        "category": "read",
        "tags": ["meta-internal", "agent"],
        "params": {
            "type": "object",
            "properties": {
                "seconds": {"type": "number", "exclusiveMinimum": 0, "description": "How long it listens at most."},
                "topic": {"type": "string", "description": "It stops when an event comes under this topic."},
            },
            "required": ["seconds"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, inbox):
    """The sums as plain data."""
    return await watch_run(ctx)
