"""Says what kind of message something is; the stop tool of the intent classifier."""

frontmatter = {
    "name": "classify",
    "description": "Gives the kind of the message, how sure you are, and the words that decided it.",
    "metadata": {
        "category": "read",
        "tags": ["meta-internal", "agent"],
        "params": {
            "type": "object",
            "properties": {
                "intent": {"enum": ["question", "task", "problem", "feedback", "other"]},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                "reason": {"type": "string", "maxLength": 200},
            },
            "required": ["intent"],
            "additionalProperties": False,
        },
    },
}


async def run(ctx, args):
    """The same, as a value."""
    return {"intent": args["intent"], "confidence": args.get("confidence", 0.5), "reason": args.get("reason", "")}
