"""Describes one skill or tool."""

from desktop.agents.skill.catalogue import describe_for

frontmatter = {
    "name": "skill-describe",
    "description": "Describes one skill or tool: what it does, its parameters, what it returns, where it comes from.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "meta-runnable"],
        "params": {
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Its name, as skill-list gives it."}},
            "required": ["name"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """Tags, params, returns, visibility and source with the name and description."""
    return await describe_for(ctx, args["name"])
