"""Waits for an event."""

frontmatter = {
    "name": "event-wait",
    "description": "Waits for the next event of a subscription or topic, at most so many seconds.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "meta-runnable"],
        "params": {
            "type": "object",
            "properties": {
                "subscription": {"type": "string", "description": "What event-subscribe gave: misses nothing."},
                "topic": {"type": "string", "description": "Or a topic, from now on."},
                "timeout": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 110,
                    "description": "Seconds; 30 if not given.",
                },
            },
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The event, or ``{"event": null}`` when none came in time."""
    topics, seconds = ctx.globals["topics"], float(args.get("timeout", 30))
    if args.get("subscription"):
        found = await topics.wait(args["subscription"], ctx.call.meta.run_id, seconds)
    else:
        found = await topics.wait_for(args.get("topic", ""), ctx.call.meta.run_id, seconds)
    if found is not None and found.run_id != ctx.call.meta.run_id:  # whose words it holds is not known here
        ctx.call.hear(["an event of another run"])
    return {"event": found.to_plain() if found is not None else None}
