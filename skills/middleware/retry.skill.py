"""Tries a call again when it failed in a way that may pass."""

import asyncio

from desktop.domain.errors import KnownError

frontmatter = {
    "name": "retry",
    "description": "Tries a failed call again. metadata.retry: how often, or {attempts, delay, factor} in seconds.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "visibility": "hidden",
        "retries": True,
        "order": {"before": ["timeout"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
    },
}

MAX_ATTEMPTS = 10
MAX_DELAY_S = 30.0


async def run(ctx, args):
    """The first success; the last failure when there is none. A refusal is an answer and is not tried again."""
    asked = ctx.locals["config"]
    config = asked if isinstance(asked, dict) else {"attempts": asked if isinstance(asked, int) else 3}
    attempts = max(1, min(int(config.get("attempts", 3)), MAX_ATTEMPTS))
    delay = max(0.0, float(config.get("delay", 0.5)))
    for attempt in range(attempts):
        try:
            return await ctx.manager.next()
        except KnownError as error:
            refused = error.code.startswith("denied") or error.code in ("tool.validation", "tool.aborted")
            if refused or attempt == attempts - 1:
                raise
        await asyncio.sleep(min(delay * float(config.get("factor", 2)) ** attempt, MAX_DELAY_S))
    return None
