"""The operations of ``ctx.manager`` as a call, for those who can only call."""

frontmatter = {
    "name": "context-manager",
    "description": "Acts on the call at hand: finish with a value, fail with a reason, go on, or call a skill.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "op": {"type": "string", "enum": ["finish", "fail", "next", "invoke"]},
                "value": {"description": "finish: the result."},
                "reason": {"type": "string", "description": "fail: why."},
                "ref": {"type": "string", "description": "invoke: what to call."},
                "args": {"type": "object", "description": "invoke: its arguments."},
            },
            "required": ["op"],
            "additionalProperties": False,
        },
    },
}

PASSING_ON = ("skill-invoke", "context-manager")


async def run(ctx, args):
    """The value of the operation. ``finish``, ``fail`` and ``next`` act on the call that this one was made in; one that
    only passed it on (skill-invoke, or this skill) is none."""
    if args["op"] == "invoke":
        return await ctx.manager.invoke(args.get("ref", ""), args.get("args", {}), {"as_caller": True})
    parent = ctx.envelope.parent
    while parent is not None and passes_on(parent.run.definition):
        parent = parent.envelope.parent
    if parent is None:
        raise ValueError("there is no call here to act on")
    if args["op"] == "next":
        return await parent.manager.next()
    if args["op"] == "fail":
        parent.manager.fail(args.get("reason", "failed"))
    await parent.manager.conclude(args.get("value"))
    return "Finished."


def passes_on(definition):
    """Whether a call of this skill of the library is a call of what it names."""
    return definition is not None and definition.source == "library" and definition.name in PASSING_ON
