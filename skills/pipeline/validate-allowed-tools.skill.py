"""The key ``validate-allowed-tools`` of the standard pipeline: the kernel carries it out, this says what holds."""

from desktop.agents.skill.catalogue import explain_key

frontmatter = {
    "name": "validate-allowed-tools",
    "description": "Gate 6: the call is in the invoking skill's list.",
    "metadata": {
        "role": "middleware",
        "category": "read",
        "visibility": "hidden",
        "order": {"before": ["$execute"]},
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
    return await explain_key(ctx, "validate-allowed-tools", args["name"])
