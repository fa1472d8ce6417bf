"""Ends a review: what was looked at is good as it is."""

frontmatter = {
    "name": "accept",
    "description": "Ends the review: the work is good as it is and nothing has to change any more.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "debate"],
        "params": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "Why it is good."}
            },
            "required": ["reason"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The reason, as it will be shown."""
    return {"accepted": True, "reason": args["reason"]}
