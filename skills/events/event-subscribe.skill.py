"""Listens to a topic."""

frontmatter = {
    "name": "event-subscribe",
    "description": "Subscribes to a topic for this run: to wait for events, or to have a skill called for each.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "meta-runnable"],
        "params": {
            "type": "object",
            "properties": {
                "topic": {"type": "string", "minLength": 1, "maxLength": 128},
                "ref": {"type": "string", "description": "A skill to call with each event."},
                "end": {"type": "string", "description": "Instead: end the subscription of this id."},
            },
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The subscription's id."""
    topics, run_id = ctx.globals["topics"], ctx.call.meta.run_id
    if args.get("end"):
        return {"ended": topics.unsubscribe(args["end"], run_id)}
    made = topics.subscribe(args.get("topic", ""), run_id, args.get("ref", ""), ctx.call.request.caller)
    return {"subscription": made.subscription_id}
