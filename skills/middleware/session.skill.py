"""Memory over calls: what earlier calls with the same key came to."""

from desktop.agents.sessions import SessionConfig

frontmatter = {
    "name": "session",
    "description": "Remembers over calls. metadata.session: a key, or {key, capture, maxEntries, store}.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
    },
}


async def run(ctx, args):
    """Puts earlier entries into the served call's ``locals.session``, goes on, and keeps what ``capture`` names."""
    config = SessionConfig.of(ctx.locals["config"])
    sessions, target = ctx.globals["sessions"], ctx.envelope.target
    target.locals["session"] = await sessions.recall(target, config)
    value = await ctx.manager.next()
    await sessions.remember(target, config, value)
    return value
