"""Tells a topic that something happened."""

from desktop.domain.errors import ToolFailure

frontmatter = {
    "name": "event-emit",
    "description": "Publishes an event to a topic; who waits wakes, and subscribed skills of this run are called.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "meta-runnable"],
        "params": {
            "type": "object",
            "properties": {
                "topic": {"type": "string", "minLength": 1, "maxLength": 128},
                "data": {"description": "Any JSON value."},
            },
            "required": ["topic"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The event's number, and what the subscribed skills of this run returned."""
    topics = ctx.globals["topics"]
    # After a crash the call is made again, by the same name.
    event = await topics.post(args["topic"], args.get("data"), ctx.call.meta.call, ctx.call.meta.run_id)
    answers = []
    for one in topics.listeners(args["topic"], ctx.call.meta.run_id):
        try:
            result = await ctx.manager.invoke(one.ref, event.to_plain(), {"in_name_of": one.caller})
        except ToolFailure as error:  # a listener may fail; the event has happened all the same
            answers.append({"ref": one.ref, "error": str(error)[:500]})
        else:
            answers.append({"ref": one.ref, "result": result})
    return {"number": event.number, "called": answers}
