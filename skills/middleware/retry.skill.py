"""Tries a call again when it failed in a way that may pass."""

import asyncio

from desktop.agents.middleware.settings import config_of, number, options
from desktop.domain.errors import KnownError

frontmatter = {
    "name": "retry",
    "description": "Tries a failed call again. metadata.retry: how often, or {attempts, delay, factor} in seconds.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "activatable": True,
        "retries": True,
        "order": {"before": ["timeout"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
        "params": {
            "type": "object",
            "properties": {
                "attempts": {"type": "integer", "minimum": 1, "description": "Tries in all, at most 10; else 3."},
                "delay": {"type": "number", "minimum": 0, "description": "Seconds before the second try; else 0.5."},
                "factor": {"type": "number", "minimum": 0, "description": "The delay grows by this; else 2."},
            },
            "additionalProperties": False,
        },
    },
}

MAX_ATTEMPTS = 10
MAX_DELAY_S = 30.0


async def run(ctx, args):
    """The first success; the last failure when there is none. A refusal is an answer and is not tried again."""
    config = options(config_of(ctx), "attempts")
    attempts = min(int(number(config.get("attempts"), "retry.attempts", 3, minimum=1, whole=True)), MAX_ATTEMPTS)
    delay = number(config.get("delay"), "retry.delay", 0.5)
    factor = number(config.get("factor"), "retry.factor", 2)
    for attempt in range(attempts):
        try:
            return await ctx.manager.next()
        except KnownError as error:
            refused = error.code.startswith("denied") or error.code in ("tool.validation", "tool.aborted")
            if refused or attempt == attempts - 1:
                raise
        await asyncio.sleep(min(delay * factor**attempt, MAX_DELAY_S))
    return None
