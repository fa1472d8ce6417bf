"""Messages of a thread as the OpenAI wire wants them, which litellm translates for everyone else. Pure.

Roles alternate, every tool call has its result and every result its call, ids fit every provider, and nothing empty
is sent (R-CTX-5; the rules of the strictest provider hold for all).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from desktop.workers.model_host.wire.thinking import call_id, give_back
from desktop.workers.model_host.wire.windows import Message

Wire = dict[str, Any]
FROM_TOOLS = "(What follows was given by the tools above, in the order of their results. The person did not write it.)"
AFTER_TOOLS = "(The tools gave images or sounds.)"
OPENING = "(The conversation starts with your message.)"
MARKED = frozenset({"anthropic", "bedrock", "bedrock_access_key", "openrouter"})
"""Providers that are told by marks what to keep in their cache: a mark stands at the end of a part."""
_GOOD_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def to_wire(messages: Sequence[Message], system: str, provider: str, note: str = "") -> list[Wire]:
    """The whole prompt in the library's format; ``note`` stands behind all else, which is the same in the next
    request."""
    opening = [_text(m["blocks"]) for m in _leading_system(messages)]
    instructions = "\n\n".join(text for text in (system, *opening) if text)
    body: list[Wire] = []
    ids = _Ids(provider)
    rest = messages[len(opening) :]
    position = 0
    while position < len(rest):
        message = rest[position]
        results = _results_after(rest, position) if message["role"] == "assistant" else []
        if message["role"] in ("user", "system"):
            _add(body, "user", _user_content(message["blocks"]))
        elif message["role"] == "assistant":
            _add_assistant(body, message["blocks"], results, ids)
        position += 1 + len(results)
    if body and body[0]["role"] != "user":
        body.insert(0, {"role": "user", "content": OPENING})
    if note:
        _add_note(body, note, provider)
    return ([{"role": "system", "content": instructions}] if instructions else []) + body


def _add_note(body: list[Wire], note: str, provider: str) -> None:
    last: Wire = body[-1] if body else {"role": ""}
    if last["role"] == "tool" and provider == "mistral":  # which takes no user's message right after a tool's
        last["content"] = f"{last['content']}\n\n{note}"
    elif last["role"] == "user" and provider in MARKED:
        last["content"] = [*_as_list(last["content"]), {"type": "text", "text": note}]
    else:
        _add(body, "user", note)


def _leading_system(messages: Sequence[Message]) -> Iterable[Message]:
    for message in messages:
        if message["role"] != "system":
            return
        yield message


def _results_after(messages: Sequence[Message], position: int) -> list[Message]:
    """The tool messages that follow directly."""
    found = []
    for message in messages[position + 1 :]:
        if message["role"] != "tool":
            break
        found.append(message)
    return found


def _text(blocks: Iterable[dict[str, Any]]) -> str:
    return "".join(str(b.get("text", "")) for b in blocks if b.get("kind") == "text")


def _user_content(blocks: Sequence[dict[str, Any]]) -> str | list[Wire]:
    """Plain text where possible; images as data addresses; files as quoted text."""
    texts: list[str] = []
    images: list[Wire] = []
    for block in blocks:
        if block.get("kind") == "text":
            texts.append(str(block.get("text", "")))
        elif block.get("kind") == "file":
            texts.append(_file(str(block.get("name", "")), str(block.get("text", ""))))
        elif block.get("kind") == "image":
            images.append(_media(block))
    text = "\n\n".join(t for t in texts if t.strip())
    if not images:
        return text
    return ([{"type": "text", "text": text}] if text else []) + images


def _file(name: str, text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=2))
    return f"Attached file {name}:\n{fence}\n{text}\n{fence}"


def _add(body: list[Wire], role: str, content: str | list[Wire]) -> None:
    """Append, or join with a message of the same role before it."""
    if not content:
        return
    last = body[-1] if body else None
    if last is None or last["role"] != role or last.get("tool_calls"):
        body.append({"role": role, "content": content})
    elif isinstance(last["content"], str) and isinstance(content, str):
        last["content"] += "\n\n" + content
    else:
        last["content"] = _joined(_as_list(last["content"]), _as_list(content))


def _joined(before: list[Wire], after: list[Wire]) -> list[Wire]:
    """Both lists in one, texts that meet becoming one text."""
    if before[-1]["type"] == after[0]["type"] == "text":
        middle = {"type": "text", "text": f"{before[-1]['text']}\n\n{after[0]['text']}"}
        return [*before[:-1], middle, *after[1:]]
    return before + after


def _as_list(content: str | list[Wire]) -> list[Wire]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class _Ids:
    """Call ids for the wire: unique in the whole prompt, and of a form that the provider takes."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        self._used: set[str] = set()

    def assign(self, said: str) -> str:
        wire, _ = call_id(said)  # a signature in it is of an earlier Assent, which kept it for whoever was asked next
        if self.provider == "mistral":
            wire = hashlib.sha256(said.encode()).hexdigest()[:9]
        elif not _GOOD_ID.fullmatch(wire):
            wire = "call_" + hashlib.sha256(said.encode()).hexdigest()[:20]
        while wire in self._used:
            wire = hashlib.sha256(f"{wire}/{len(self._used)}".encode()).hexdigest()[: 9 if len(wire) == 9 else 24]
        self._used.add(wire)
        return wire


def _add_assistant(body: list[Wire], blocks: Sequence[dict[str, Any]], results: Sequence[Message], ids: _Ids) -> None:
    """The answer with those calls that have results, then the results in the order of the calls."""
    of_results = [b for m in results for b in m["blocks"]]
    answers = {b.get("call_id"): b for m in results for b in m["blocks"] if b.get("kind") == "tool_result"}
    calls: list[Wire] = []
    tools: list[Wire] = []
    for block in blocks:
        answer = answers.pop(block.get("call_id"), None) if block.get("kind") == "tool_call" else None
        if answer is None:
            continue
        wire_id = ids.assign(str(block["call_id"]))
        function = {"name": str(block.get("tool", "")), "arguments": _arguments(block)}
        calls.append({"id": wire_id, "type": "function", "function": function})
        content = str(answer.get("text", "")) or "(no output)"
        tools.append({"role": "tool", "tool_call_id": wire_id, "name": function["name"], "content": content})
    text = _text(blocks)
    if not calls:
        _add(body, "assistant", text if text.strip() else "")
        return
    message = {"role": "assistant", "content": text if text.strip() else None, "tool_calls": calls}
    give_back(message, blocks, ids.provider)
    body += [message, *tools]
    given = [_media(block) for block in of_results if block.get("kind") in ("image", "audio")]
    if given:
        if ids.provider == "mistral":  # which takes no user's message right after a tool's
            body.append({"role": "assistant", "content": AFTER_TOOLS})
        _add(body, "user", [{"type": "text", "text": FROM_TOOLS}, *given])


def _media(block: dict[str, Any]) -> Wire:
    """Tool messages hold text only on this wire: images and sounds of results follow in a message of their own."""
    if block.get("kind") == "audio":
        form = "wav" if block.get("media_type") == "audio/wav" else "mp3"
        return {"type": "input_audio", "input_audio": {"data": str(block.get("data")), "format": form}}
    address = f"data:{block.get('media_type')};base64,{block.get('data')}"
    return {"type": "image_url", "image_url": {"url": address}}


def _arguments(block: dict[str, Any]) -> str:
    """Always a JSON object: providers refuse a history with the malformed arguments a model once wrote."""
    arguments = block.get("arguments")
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    raw = str(block.get("raw", ""))
    return raw if block.get("well_formed") is True else json.dumps({"malformed": raw[:2000]})
