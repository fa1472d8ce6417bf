"""What a provider wants back with its model's thinking: put by while an answer streams, given back with the calls.

Anthropic and Bedrock sign each piece of thinking and refuse a tool round without it; Gemini signs calls; OpenAI and
OpenRouter encrypt or describe it; DeepSeek and servers like it want its plain text. What comes is kept as it came, as
JSON that the app stores unread: a *seal*. Which request may have it again is decided by the app; here it is put where
the library looks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from desktop.workers.model_host.limits import SEALED_ALL_MAX, SEALED_MAX, SEALS_MAX

Wire = dict[str, Any]
Seal = tuple[str, bool]
"""The JSON, and whether it stands alone: it belongs to no text that came before it."""
SIGNED_CALL = "__thought__"
"""Where the library puts Gemini's signature of a call: into the call's id, behind this."""
_PLAIN = frozenset({"deepseek", "openai_compatible", "lmstudio", "llamacpp", "vllm", "fireworks"})
"""Providers whose models read the text of their own thinking again, under ``reasoning_content``."""
_ITEM = ("id", "summary", "encrypted_content")
_REFUSED = ("thinking", "signature", "reasoning", "thought", "encrypted")
_ASKS = ("thinking", "reasoning_effort")


class Seals:
    """Collects the seals of one answer. ``whole`` is False once one was left out, because there are too many or they
    are too long: then nothing of this answer's thinking may go back, for what is altered is refused."""

    def __init__(self) -> None:
        self.whole = True
        self._count = 0
        self._size = 0
        self._details: list[Wire] = []
        self._signed: dict[int, str] = {}

    def take(self, delta: Any) -> Iterator[Seal]:
        """The seals in one piece of the answer."""
        for block in _dicts(getattr(delta, "thinking_blocks", None)):
            if block.get("type") == "redacted_thinking" and isinstance(block.get("data"), str):
                yield from self._sealed({"redacted": block["data"]}, alone=True)
            elif isinstance(block.get("signature"), str) and block["signature"]:
                yield from self._sealed({"signature": block["signature"]})
        for item in _dicts(getattr(delta, "reasoning_items", None)):
            yield from self._sealed({"item": {name: item[name] for name in _ITEM if item.get(name)}}, alone=True)
        told = getattr(delta, "provider_specific_fields", None)
        told = told if isinstance(told, Mapping) else {}
        if not getattr(delta, "tool_calls", None):  # else the signature is that of the call
            for signature in told.get("thought_signatures") or ():
                yield from self._sealed({"text": str(signature)}, alone=True)
        for detail in _dicts(told.get("reasoning_details") or getattr(delta, "reasoning_details", None)):
            self._detail(detail)

    def signed(self, number: int, signature: str) -> None:
        """The call of this number has a signature."""
        self._signed[number] = signature

    def rest(self) -> Iterator[Seal]:
        """The seals that are whole only now that the answer is."""
        for number, signature in sorted(self._signed.items()):
            yield from self._sealed({"call": number, "signature": signature}, alone=True)
        if self._details:
            yield from self._sealed({"details": self._details}, alone=True)

    def _sealed(self, seal: Wire, *, alone: bool = False) -> Iterator[Seal]:
        text = json.dumps(seal, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
        self._count += 1
        self._size += len(text)
        if len(text) > SEALED_MAX or self._size > SEALED_ALL_MAX or self._count > SEALS_MAX:
            self.whole = False
        if self.whole:
            yield text, alone

    def _detail(self, detail: Wire) -> None:
        """OpenRouter's: pieces of one text come one by one, its signature last."""
        self._size += sum(len(value) for value in detail.values() if isinstance(value, str))
        if self._size > SEALED_ALL_MAX or len(self._details) > SEALS_MAX:
            self.whole, self._details = False, []
        if not self.whole:
            return
        last = self._details[-1] if self._details else {}
        kind = detail.get("type")
        grows = {"reasoning.text": "text", "reasoning.summary": "summary"}.get(str(kind))
        if grows is None or last.get("type") != kind or last.get("index") != detail.get("index"):
            self._details.append(dict(detail))
            return
        told = {name: value for name, value in detail.items() if value is not None}
        pieces = f"{last.get(grows) or ''}{detail.get(grows) or ''}"
        last |= told | ({grows: pieces} if pieces else {})


def call_id(said: str) -> tuple[str, str]:
    """A call's own id, and the signature that the library has put into it."""
    own, _, signature = said.partition(SIGNED_CALL)
    return own, signature


def give_back(message: Wire, blocks: Sequence[Mapping[str, Any]], provider: str) -> None:
    """Put the thinking among ``blocks`` into the assistant's message with calls that they belong to."""
    thought = _Thought(provider)
    for block in blocks:
        kind, text = block.get("kind"), str(block.get("text", ""))
        if kind == "reasoning":
            thought.said(text)
        elif kind == "seal":
            thought.sealed(_read(text))
        elif kind == "text":
            thought.answered(text)
    thought.put(message)


class _Thought:
    """The thinking of one message on its way back."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._text: list[str] = []
        self._pending = ""
        self._blocks: list[Wire] = []
        self._content: list[Wire] = []
        self._items: list[Wire] = []
        self._details: list[Wire] = []
        self._signed: dict[int, str] = {}
        self._of_text: list[str] = []

    def said(self, text: str) -> None:
        self._text.append(text)
        self._pending = text

    def answered(self, text: str) -> None:
        if text.strip():
            self._content.append({"type": "text", "text": text})

    def sealed(self, seal: Wire) -> None:
        if "call" in seal:
            self._signed[int(seal["call"])] = str(seal.get("signature"))
        elif "signature" in seal:
            self._block({"type": "thinking", "thinking": self._pending, "signature": str(seal["signature"])})
            self._pending = ""
        elif "redacted" in seal:
            self._block({"type": "redacted_thinking", "data": str(seal["redacted"])})
        elif "item" in seal:
            self._items.append({"type": "reasoning", **dict(seal["item"])})
        elif "details" in seal:
            self._details += _dicts(seal["details"])
        elif "text" in seal:
            self._of_text.append(str(seal["text"]))

    def _block(self, block: Wire) -> None:
        self._blocks.append(block)
        self._content.append(block)

    def put(self, message: Wire) -> None:
        if self._blocks:
            self._put_blocks(message)
        elif self._items:
            message["reasoning_items"] = self._items
        elif self._details:
            message["reasoning_details"] = self._details
        elif self._text and self._provider in _PLAIN:
            message["reasoning_content"] = "".join(self._text)
        if self._of_text and message.get("content"):
            message["provider_specific_fields"] = {"thought_signatures": self._of_text}
        for number, tool in enumerate(message["tool_calls"]):
            if number in self._signed:
                tool["provider_specific_fields"] = {"thought_signature": self._signed[number]}

    def _put_blocks(self, message: Wire) -> None:
        """In front of all else, as they mostly came; in between where they came so. The library takes redacted ones
        in front only."""
        kinds = [block["type"] for block in self._content]
        if "redacted_thinking" not in kinds and "text" in kinds[: len(kinds) - kinds[::-1].index("thinking")]:
            message["content"] = self._content
        else:
            message["thinking_blocks"] = self._blocks


def _read(text: str) -> Wire:
    try:
        seal = json.loads(text)
    except ValueError:
        return {}
    return seal if isinstance(seal, dict) else {}


def _dicts(value: Any) -> list[Wire]:
    return [dict(one) for one in value if isinstance(one, Mapping)] if isinstance(value, (list, tuple)) else []


def holds_thinking(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a window has thinking that goes back."""
    return any(block.get("kind") in ("reasoning", "seal") for message in messages for block in message["blocks"])


def without_thinking(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The window as a model gets it that did not make its thinking."""
    return [
        {**message, "blocks": [block for block in message["blocks"] if block.get("kind") not in ("reasoning", "seal")]}
        for message in messages
    ]


def is_refused(code: str, said: str) -> bool:
    """Whether a provider does not take its thinking back, for its key is another organisation's now, or because a
    piece was lost: the request is then made without it, once."""
    return code == "model.bad_request" and any(word in said.lower() for word in _REFUSED)


def gives_no_words(code: str, said: str) -> bool:
    """Whether OpenAI refuses to say what its model thought about."""
    return code == "model.bad_request" and "summar" in said.lower()


def cannot_think(model: str, wire: Sequence[Wire]) -> bool:
    """Whether thinking must stay off in this request: Claude refuses a tool round whose calls come without the
    thinking that led to them, as after another model had made them."""
    if "claude" not in model.lower():
        return False
    last = next((at for at in range(len(wire) - 1, -1, -1) if wire[at]["role"] != "tool"), 0)
    message = wire[last] if wire else {}
    if message.get("role") != "assistant" or not message.get("tool_calls"):
        return False
    content = message.get("content")
    inline = isinstance(content, list) and any(part.get("type") == "thinking" for part in content)
    return not (inline or message.get("thinking_blocks") or message.get("reasoning_details"))


def ask_sealed(library: Any, made: Wire, *, in_words: bool = True) -> None:
    """Where the library goes to OpenAI's Responses API: have the thinking given, encrypted, and nothing kept there;
    ``in_words``: and what it was about, which OpenAI gives to organisations that it has verified."""
    provider, _, model = made["model"].partition("/")
    if provider not in ("openai", "azure"):
        return
    told = {"tools": made.get("tools"), "reasoning_effort": made.get("reasoning_effort")}
    known, _ = library.main.responses_api_bridge_check(model, provider, api_base=made.get("api_base"), **told)
    if known.get("mode") == "responses":
        made |= {"store": False, "include": ["reasoning.encrypted_content"]}
        effort = made.get("reasoning_effort")
        if in_words and isinstance(effort, str) and effort != "none":
            made["reasoning_effort"] = {"effort": effort, "summary": "auto"}


def unasked(made: Wire) -> None:
    """Ask for no thinking."""
    for name in _ASKS:
        made.pop(name, None)
