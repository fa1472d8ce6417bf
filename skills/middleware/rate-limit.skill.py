"""Keeps one agent, or one skill that an agent works on, from being started too often."""

from desktop.agents.middleware.settings import number, options

frontmatter = {
    "name": "rate-limit",
    "description": "Lets an agent, or a skill that one works on, start so often a minute. What you start counts and "
    "never waits; a job and a model wait for their turn.",
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
    given, context = options(ctx.locals["config"], "perMinute"), ctx.envelope.target.call
    skill = context.start is not None and context.start.kind == "skill"
    key, usual = ("skillsPerMinute", 60) if skill else ("perMinute", 10)
    most = number(given.get(key), f"rate-limit.{key}", usual, minimum=1, whole=True)
    await ctx.globals["starts"].turn(int(most), context)
    await ctx.manager.next()
