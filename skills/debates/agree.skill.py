"""Ends a negotiation: both parties have stated the same terms."""

frontmatter = {
    "name": "agree",
    "description": "Ends the negotiation with a deal. Call it only when both have stated the same terms.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "debate"],
        "params": {
            "type": "object",
            "properties": {
                "terms": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "The terms in full."}
            },
            "required": ["terms"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The terms, as they will be shown."""
    return {"agreed": True, "terms": args["terms"]}
