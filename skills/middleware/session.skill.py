"""Memory over calls: what earlier calls with the same key came to."""

from desktop.agents.middleware.sessions import SessionConfig
from desktop.agents.middleware.settings import config_of

frontmatter = {
    "name": "session",
    "description": "Remembers over calls. metadata.session: a key, or {key, capture, maxEntries, store}.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "activatable": True,
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
        "params": {
            "type": "object",
            "properties": {
                "key": {"type": "string", "description": "Which memory of the called skill's; else default."},
                "capture": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "What to remember: $args, $result, $agent, or paths such as args.name.",
                },
                "maxEntries": {"type": "integer", "minimum": 1, "description": "Entries to keep, at most 1000."},
                "store": {"type": "string", "enum": ["memory", "file"], "description": "file: for later runs too."},
            },
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """Puts earlier entries into the served call's ``locals.session``, goes on, and keeps what ``capture`` names."""
    config = SessionConfig.of(config_of(ctx))
    sessions, target = ctx.globals["sessions"], ctx.envelope.target
    target.locals["session"] = await sessions.recall(target, config)
    value = await ctx.manager.next()
    await sessions.remember(target, config, value)
    return value
