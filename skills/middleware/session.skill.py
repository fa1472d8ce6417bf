"""Memory over calls: what earlier calls with the same key came to."""

from desktop.agents.sessions import recall, remember
from desktop.domain.errors import ToolFailure

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
    asked = ctx.locals["config"]
    config = dict(asked) if isinstance(asked, dict) else {"key": asked if isinstance(asked, str) else "default"}
    if not isinstance(config.get("key", "default"), str):
        raise ToolFailure("metadata.session.key is a text.", code="skill.configuration")
    target = ctx.envelope.target
    target.locals["session"] = await recall(ctx, config)
    value = await ctx.manager.next()
    await remember(ctx, config, value)
    return value
