"""Remembers what a call with the same arguments came to."""

import json
import time

from desktop.domain.errors import ToolFailure

frontmatter = {
    "name": "cache",
    "description": "Remembers results by arguments. metadata.cache: seconds to keep them, or {ttl, maxEntries}.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "visibility": "hidden",
        "order": {"before": ["retry", "timeout"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
    },
}

MAX_ENTRIES = 1000
MAX_BYTES = 256_000


async def run(ctx, args):
    """The remembered value, or the call's own. Only reading is remembered: an effect has to happen each time."""
    target = ctx.envelope.target
    if target.run.tool.category.value != "read":
        raise ToolFailure("Only skills of category read can be cached.", code="skill.configuration")
    asked = ctx.locals["config"]
    config = asked if isinstance(asked, dict) else {"ttl": asked if isinstance(asked, (int, float)) else 300}
    kept = ctx.globals.setdefault("skill-cache", {})
    key = (target.run.origin, target.run.definition.stamp if target.run.definition else "", _key(target.args))
    known = kept.get(key)
    if known is not None and known[0] > time.monotonic():
        return known[1]
    value = await ctx.manager.next()
    if value is not None and len(_key(value)) <= MAX_BYTES:
        kept.pop(key, None)
        while len(kept) >= min(int(config.get("maxEntries", MAX_ENTRIES)), MAX_ENTRIES):
            del kept[next(iter(kept))]
        kept[key] = (time.monotonic() + float(config.get("ttl", 300)), value)
    return value


def _key(value):
    return json.dumps(value if not hasattr(value, "items") else dict(value), sort_keys=True, default=str)
