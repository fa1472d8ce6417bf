"""Remembers what a call with the same arguments came to."""

import copy
import hashlib
import json
import time

from desktop.agents.middleware.settings import config_of, number, options, wrong

frontmatter = {
    "name": "cache",
    "description": "Remembers results by arguments. metadata.cache: seconds to keep them, or {ttl, maxEntries}.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "activatable": True,
        "order": {"before": ["retry", "timeout"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
        "params": {
            "type": "object",
            "properties": {
                "ttl": {"type": "number", "minimum": 0, "description": "Seconds to keep a result; else 300."},
                "maxEntries": {"type": "integer", "minimum": 1, "description": "Results to keep, at most 1000."},
            },
            "additionalProperties": False,
        },
    },
}

MAX_ENTRIES = 1000
MAX_SKILLS = 200
MAX_BYTES = 256_000


async def run(ctx, args):
    """The remembered value, or the call's own. Only reading is remembered: an effect has to happen each time."""
    target, given = ctx.envelope.target, options(config_of(ctx), "ttl")
    if target.run.tool.category.value != "read":
        raise wrong("Only skills of category read can be cached.")
    ttl = number(given.get("ttl"), "cache.ttl", 300)
    most = min(number(given.get("maxEntries"), "cache.maxEntries", MAX_ENTRIES, minimum=1, whole=True), MAX_ENTRIES)
    skills = ctx.globals["skills"].globals.cache
    began, key = skills.generation, _key(target)
    known = _results(ctx, target, began).get(key)
    if known is not None and known[0] > time.monotonic():
        target.call.hear(known[2])
        return copy.deepcopy(known[1])
    value = await ctx.manager.next()
    if value is not None and began == skills.generation and len(_text(value)) <= MAX_BYTES:
        kept = _results(ctx, target, began)
        kept.pop(key, None)
        while len(kept) >= most:
            del kept[next(iter(kept))]
        kept[key] = (time.monotonic() + ttl, copy.deepcopy(value), _whose_words(target))
    return value


def _whose_words(target):
    """Those of whom the result holds words from outside: they are read again with it."""
    return (*target.call.gave, *target.call.invocation.heard)


def _results(ctx, target, generation):
    """What is remembered of one skill, by where it is from; nothing once any skill has changed since, for it may have
    had a part in it."""
    every, run = ctx.globals["cached"], target.run
    origin = (run.tool.name, run.origin, run.definition.stamp if run.definition else "")
    known = every.pop(origin, None)
    if known is None or known[0] != generation:
        known = (generation, {})
    while len(every) >= MAX_SKILLS:
        del every[next(iter(every))]
    every[origin] = known
    return known[1]


def _key(target):
    """All that the result may come from: the arguments, what was said beside them, who may do what here (a result made
    with a wider list is not for a narrower one, R-AG-5), the metadata and middleware in force, and the text with its
    directives expanded."""
    cascade = target.call.cascade
    chain = [(one.name, one.hook, one.value) for one in cascade.chain]
    request = target.call.request
    made_by = _text([dict(target.args), request.said, dict(cascade.metadata), chain, target.locals.get("prompt")])
    allowed = (target.nonlocals.get("permissions"), request.caller.allowed)
    return (hashlib.sha256(made_by.encode("utf-8", "replace")).digest(), *allowed)


def _text(value):
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value):
    return dict(value) if hasattr(value, "items") else str(value)
