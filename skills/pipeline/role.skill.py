"""The key ``role`` of the standard pipeline: the kernel carries it out, this says what holds and why."""

from desktop.agents.skill.catalogue import explain_key

frontmatter = {
    "name": "role",
    "description": "What a skill is: main, middleware, context, or an ordinary one.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "visibility": "hidden",
        "order": {"before": ["$configure"]},
        "tags": ["meta-internal", "meta-middleware", "meta-metadata"],
        "params": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The skill to look at."}},
            "required": ["name"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The value in force for the named skill, and which skill set it."""
    return await explain_key(ctx, "role", args["name"])
