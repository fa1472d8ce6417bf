"""A provider without a model: plays rounds from ``config.script``, offline and always the same. It is no AI.

Written from nothing but the contract of providers, so it is also the shortest one to learn from.
"""

frontmatter = {
    "name": "agent-demo",
    "description": "Plays an agent's rounds from a script, for demonstrations and tests. Not an AI.",
    "metadata": {
        "category": "read",
        "visibility": "hidden",
        "tags": ["meta-internal"],
        "params": {"type": "object", "additionalProperties": True},
    },
}

DEFAULT = [{"text": "This is a demonstration, not an AI: no model has read the task."}]


async def run(ctx, args):
    """``script`` is a list of rounds: {"text": ...}, {"tool": name, "args": {...}}, {"code": "..."}, or several."""
    script = list(args.get("config", {}).get("script") or DEFAULT)
    heard, text, number = [str(args.get("userMessage") or "Execute the task.")], "", 0
    while True:
        number += 1
        asked = script[min(number, len(script)) - 1]
        await tell(ctx, args, {"type": "turn-start", "turnNumber": number})
        said = str(asked.get("text", "")).replace("{heard}", heard[-1])
        if said:
            await tell(ctx, args, {"type": "message", "text": said})
        text += said
        calls = 1 if "tool" in asked or "code" in asked else 0
        if calls:
            heard.append(await call(ctx, args, asked, f"demo-{number}"))
        event = {"type": "turn-end", "result": text, "turnNumber": number, "stopReason": "end", "toolCalls": calls}
        directive = await tell(ctx, args, event)
        if directive.get("stop"):
            return directive.get("result", text)
        if directive.get("continue"):
            text = ""
            heard.append(str(directive.get("message") or "Continue."))
        elif not calls:
            return text


async def tell(ctx, args, event):
    """One event to the hook; its directive, or an empty one."""
    if not args.get("hookRef"):
        return {}
    directive = await ctx.manager.invoke(args["hookRef"], event)
    return directive if isinstance(directive, dict) else {}


async def call(ctx, args, asked, call_id):
    """One call through the invoke ref, unless the hook denies it; what the model would read."""
    name, given = asked.get("tool", "invoke"), asked.get("args", {"code": asked.get("code", "")})
    event = {"type": "tool-call", "tool": name, "args": given, "callId": call_id}
    denied = (await tell(ctx, args, event)).get("deny")
    if denied:
        answer = {"ok": False, "text": str(denied)}
    elif "code" in asked:
        answer = await ctx.manager.invoke(args["invokeRef"], {"code": asked["code"]})
    else:
        answer = await ctx.manager.invoke(args["invokeRef"], {"tool": name, "args": given, "callId": call_id})
    result = {**event, "type": "tool-result", "result": answer["text"], "isError": not answer["ok"]}
    await tell(ctx, args, result)
    return answer["text"]
