"""Writes a line into the log when an agent begins and when it ends."""

import time

frontmatter = {
    "name": "run-log",
    "description": "Notes in Assent's log when an agent begins and how it ends; what it says is masked.",
    "metadata": {
        "role": "middleware",
        "level": "agent",
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal", "meta-middleware"],
    },
}


async def run(ctx, args):
    """The agent's work, between two lines."""
    context, log = ctx.envelope.target.call, ctx.globals["run_log"]
    began = time.monotonic()
    log.begun(context)
    try:
        await ctx.manager.next()
    finally:
        log.ended(context, time.monotonic() - began)
