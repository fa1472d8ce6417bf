"""Holds answers against a person's expressions before anybody sees them."""

from desktop.agents.middleware.content_filter import filter_answer

frontmatter = {
    "name": "content-filter",
    "description": "Replaces or refuses what fits your expressions, before it is shown. Settings, Middleware has them.",
    "metadata": {
        "role": "middleware",
        "level": "chat",
        "off": True,
        "category": "read",
        "visibility": "hidden",
        "order": {"before": ["response-cache"]},
        "tags": ["meta-internal", "meta-middleware"],
    },
}


async def run(ctx, args):
    """The model's answer, without what fits."""
    await filter_answer(ctx.locals["config"], ctx.envelope.target.call, ctx.manager.next)
