"""What the fake provider refuses as the real ones do: thinking that is missing in a tool round, or was altered.

A space that is ``strict`` remembers what it signed in its rounds, and looks at what comes back with the next request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Refusal = tuple[int, dict[str, Any]]


@dataclass
class Issued:
    """What one space has thought: per round its blocks in order, each a text with its signature or hidden data."""

    rounds: list[list[tuple[str, str]]] = field(default_factory=list)

    def played(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Remember the thinking in the steps of a round."""
        blocks: list[tuple[str, str]] = []
        text = ""
        for step in steps:
            text += step.get("reasoning", "")
            if "signature" in step:
                blocks.append((text, step["signature"]))
                text = ""
            elif "redacted" in step:
                blocks.append(("", step["redacted"]))
        if text:
            blocks.append((text, ""))
        self.rounds.append(blocks)

    @property
    def seals(self) -> set[str]:
        return {seal for blocks in self.rounds for _, seal in blocks}


def refusal(format_: str, body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    """The status and body of a refusal, or None."""
    return _RULES[format_](body, issued) if format_ in _RULES else None


def _anthropic(body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    thinks = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
    turns = [
        [_anthropic_block(block) for block in message["content"] if isinstance(block, dict)]
        for message in body["messages"]
        if message["role"] == "assistant" and not isinstance(message["content"], str)
    ]
    last = body["messages"][-1]["content"]
    in_tools = any(block.get("type") == "tool_result" for block in last if isinstance(block, dict))
    said = _claude(turns, in_tools, thinks, issued)
    return (400, {"type": "error", "error": {"type": "invalid_request_error", "message": said}}) if said else None


def _anthropic_block(block: Mapping[str, Any]) -> tuple[str, str, str]:
    kind = block.get("type", "")
    if kind == "thinking":
        return kind, block.get("thinking", ""), block.get("signature", "")
    return kind, "", block.get("data", "")


def _bedrock(body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    thinks = (body.get("additionalModelRequestFields") or {}).get("thinking", {}).get("type") in ("enabled", "adaptive")
    turns = [
        [_bedrock_block(block) for block in message["content"]]
        for message in body["messages"]
        if message["role"] == "assistant"
    ]
    in_tools = any("toolResult" in block for block in body["messages"][-1]["content"])
    said = _claude(turns, in_tools, thinks, issued)
    return (400, {"message": f"The model returned the following errors: {said}"}) if said else None


def _bedrock_block(block: Mapping[str, Any]) -> tuple[str, str, str]:
    if "reasoningContent" not in block:
        return next((kind for name, kind in (("toolUse", "tool_use"), ("text", "text")) if name in block), ""), "", ""
    inner = block["reasoningContent"]
    if "redactedContent" in inner:
        return "redacted_thinking", "", inner["redactedContent"]
    return "thinking", inner["reasoningText"]["text"], inner["reasoningText"].get("signature", "")


def _claude(turns: list[list[tuple[str, str, str]]], in_tools: bool, thinks: bool, issued: Issued) -> str:
    known = {block for blocks in issued.rounds for block in blocks}
    for number, turn in enumerate(turns):
        for place, (kind, text, seal) in enumerate(turn):
            if kind in ("thinking", "redacted_thinking") and (text, seal) not in known:
                return f"messages.{number}.content.{place}: Invalid `signature` in `{kind}` block"
    if not (in_tools and turns):
        return ""
    last = turns[-1]
    if thinks and last[0][0] not in ("thinking", "redacted_thinking"):
        return (
            f"messages.{len(turns)}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{last[0][0]}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block "
            "(preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        )
    came = [(text, seal) for kind, text, seal in last if kind in ("thinking", "redacted_thinking")]
    if came and came not in issued.rounds:
        return "thinking or redacted_thinking blocks in the latest assistant message cannot be modified."
    return ""


def _gemini(body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    """Gemini 3: the first call of each step of the current turn brings its signature."""
    calls = [
        [part for part in content["parts"] if "function_call" in part or "functionCall" in part]
        for content in body["contents"]
        if content.get("role") == "model"
    ]
    said = ""
    for first in (found[0] for found in calls if found):
        signature = first.get("thoughtSignature") or first.get("thought_signature")
        if not signature:
            said = "Function call is missing a thought_signature in functionCall parts."
        elif signature not in issued.seals:
            said = "Corrupted thought signature."
    error = {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}
    return (400, {"error": error}) if said else None


def _openrouter(body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    for message in body["messages"]:
        if message["role"] != "assistant" or not message.get("tool_calls"):
            continue
        details = message.get("reasoning_details") or []
        came = [(one.get("text", ""), one.get("signature") or one.get("data") or "") for one in details]
        if came not in issued.rounds:
            return 400, {"error": {"code": 400, "message": "Invalid signature in thinking block"}}
    return None


def _responses(body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    """OpenAI: what is encrypted must be its own, and nothing is kept for us on its side."""
    kinds = [item.get("type", "message") for item in body["input"]]
    for place, item in enumerate(body["input"]):
        if item.get("type") == "reasoning" and item.get("encrypted_content") not in issued.seals:
            said = "The encrypted content for item rs_1 could not be verified."
            return 400, {"error": {"message": said, "code": "invalid_encrypted_content"}}
        if item.get("type") == "function_call" and "reasoning" not in kinds[:place]:
            said = "Item of type 'function_call' was provided without its required 'reasoning' item."
            return 400, {"error": {"message": said, "code": None}}
    return None


def _plain(body: Mapping[str, Any], issued: Issued) -> Refusal | None:
    """DeepSeek: the text itself, in each tool round."""
    texts = {"".join(text for text, _ in blocks) for blocks in issued.rounds}
    for message in body["messages"]:
        if message.get("tool_calls") and message.get("reasoning_content") not in texts:
            said = "The reasoning_content in the thinking mode must be passed back to the API."
            return 400, {"error": {"message": said, "type": "invalid_request_error"}}
    return None


_RULES = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
    "openrouter": _openrouter,
    "responses": _responses,
    "openai": _plain,
}
