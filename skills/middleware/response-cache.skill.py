"""Answers a request that was answered before from memory."""

from desktop.agents.middleware.response_cache import CacheConfig

frontmatter = {
    "name": "response-cache",
    "description": "Gives the same answer to the same request without asking the model again, and says so.",
    "metadata": {
        "role": "middleware",
        "level": "chat",
        "off": True,
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal", "meta-middleware"],
    },
}


async def run(ctx, args):
    """From memory, or the model's answer, which is then kept."""
    config = CacheConfig.of(ctx.locals["config"])
    await ctx.globals["answers"].process(config, ctx.envelope.target.call, ctx.manager.next)
