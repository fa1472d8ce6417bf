"""Effects of agents in code that are the same after a restart: the time, ids, chance, and waiting for a moment."""

from desktop.agents.hosted.hosting import make_effect

frontmatter = {
    "name": "agent-effect",
    "description": "Gives an agent in code the time, an id or a number by chance, or waits for a moment.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["now", "uuid", "random", "sleep_until"]},
                "until": {"type": "number", "description": "The moment, in seconds since the epoch."},
            },
            "required": ["kind"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """Seconds since the epoch, an id, a number from 0 to below 1, or nothing."""
    return await make_effect(ctx, args)
