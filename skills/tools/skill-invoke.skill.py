"""Calls a skill or tool by name, in the name of whoever calls this one."""

frontmatter = {
    "name": "skill-invoke",
    "description": "Calls a skill or tool by name. skill-list has the names, skill-describe the parameters.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal"],
        "params": {
            "type": "object",
            "properties": {
                "ref": {"type": "string", "description": "The name of the skill or tool."},
                "args": {"type": "object", "description": "Its arguments."},
            },
            "required": ["ref"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """What the called skill returns; its gates judge the caller, not this skill."""
    return await ctx.manager.invoke(args["ref"], args.get("args", {}), {"as_caller": True})
