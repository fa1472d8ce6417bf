"""Keeps one agent from being started too often."""

from desktop.agents.given import number, options

frontmatter = {
    "name": "rate-limit",
    "description": "Lets an agent begin so often a minute, whoever starts it; the next one waits for its turn.",
    "metadata": {
        "role": "middleware",
        "level": "agent",
        "category": "read",
        "visibility": "hidden",
        "order": {"before": ["run-log"]},
        "tags": ["meta-internal", "meta-middleware"],
    },
}


async def run(ctx, args):
    """The agent's work, once it is its turn."""
    given = options(ctx.locals["config"], "perMinute")
    most = number(given.get("perMinute"), "rate-limit.perMinute", 120, least=1, whole=True)
    await ctx.globals["starts"].turn(int(most), ctx.envelope.target.call)
    await ctx.manager.next()
