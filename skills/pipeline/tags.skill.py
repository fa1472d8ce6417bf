"""The key ``tags`` of the standard pipeline: the kernel carries it out, this says what holds and why."""

from desktop.agents.skill.catalogue import explain_key

frontmatter = {
    "name": "tags",
    "description": "Words to find a skill by and to select it in rules.",
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
    return await explain_key(ctx, "tags", args["name"])
