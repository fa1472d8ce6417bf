"""Lists skills and tools, filtered as on the Skills page."""

from desktop.agents.skill.catalogue import list_for

frontmatter = {
    "name": "skill-list",
    "description": "Lists the skills and tools that can be called, filtered by words, tags and visibility.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "meta-runnable"],
        "params": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words in the name or description."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "All of these tags."},
                "includeHidden": {"type": "boolean", "description": "Hidden ones too."},
            },
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """Rows of name, description, tags, category and source."""
    return await list_for(ctx, args.get("query", ""), args.get("tags", []), bool(args.get("includeHidden")))
