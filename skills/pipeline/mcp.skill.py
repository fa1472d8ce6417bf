"""The key ``mcp`` of the cascade: merged and shown; nothing acts on it in this version."""

from desktop.agents.skill.catalogue import explain_key

frontmatter = {
    "name": "mcp",
    "description": "MCP servers whose tools a skill may call. Nothing acts on it in this version.",
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
    return await explain_key(ctx, "mcp", args["name"])
