"""Marks for providers that cache what a request begins with only where they are told to: Anthropic, Bedrock, and
Claude and Gemini at OpenRouter. Everyone else finds out by themselves.

A provider reads tools, then the system text, then the messages, and takes from its cache the longest marked beginning
that it has seen a while ago. So the ends of these three are marked, and the end of the messages as they were a round
before: what a round adds may be more than a provider looks back over.

Two others take less. Amazon's own models refuse a request with a mark behind anything but a text, such as a tool's
result. Of Gemini at OpenRouter the last mark alone counts, and what it marks is bought anew wherever it moves: it moves
only once there is half as much again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Wire = dict[str, Any]
MARKS_MAX = 4
"""More are refused."""
SHORTEST = 1024
"""Tokens that a beginning must have, where the table says nothing else; a shorter one is never cached."""
SMALLEST_TOKEN = 3
"""Characters of a token, so that an estimate is rather too high: a mark that is of no use costs nothing."""
MARK = {"type": "ephemeral"}
SHORTEST_ANCHOR, GROWTH = 4096, 1.5
"""Tokens of the shortest beginning that Gemini keeps, and by how much more there is before the mark moves."""
_BEDROCK = frozenset({"bedrock", "bedrock_access_key"})
_AT_OPENROUTER = ("claude", "gemini")


def mark(made: Wire, provider: str, row: Mapping[str, Any], *, noted: bool = False) -> None:
    """Mark the request; ``row`` is the model's in the library's table. ``noted``: what stands last is not there in the
    next request."""
    claude = "claude" in made["model"].lower()
    if not _wants_marks(made["model"].lower(), provider, row, claude=claude):
        return
    shortest = row.get("prompt_cache_min_tokens") or SHORTEST
    shortest = shortest if isinstance(shortest, int) else SHORTEST
    last = len(made["messages"]) - 1
    behind = 1 if noted else 0
    if noted and _is_note(made["messages"][last]):
        last, behind = last - 1, 0
    if provider == "openrouter" and not claude:
        _mark_anchor(made, last, behind)
        return
    places = _places(made, last, with_tools=claude and provider != "openrouter")
    if not claude and provider in _BEDROCK:
        places = [at for at in places if _ends_in_text(made["messages"][at], behind if at == last else 0)]
    size = 0
    sizes = {}
    for key, part in (("tools", made.get("tools") or ()), *enumerate(made["messages"])):
        size += len(json.dumps(part, ensure_ascii=False)) if part else 0
        sizes[key] = size
    for place in [place for place in places if sizes[place] // SMALLEST_TOKEN >= shortest][-MARKS_MAX:]:
        if place == "tools":
            made["tools"] = [*made["tools"][:-1], {**made["tools"][-1], "cache_control": MARK}]
        else:
            made["messages"][place] = _marked(made["messages"][place], behind if place == last else 0)


def _wants_marks(model: str, provider: str, row: Mapping[str, Any], *, claude: bool) -> bool:
    if provider == "anthropic":
        return True
    if provider in _BEDROCK:
        return row.get("supports_prompt_caching") is True or (claude and not row)
    return provider == "openrouter" and any(name in model for name in _AT_OPENROUTER)


def _mark_anchor(made: Wire, last: int, behind: int) -> None:
    """One mark, at the first message at which the beginning is as long as the longest step that it has reached."""
    sizes: list[int] = []
    now = made["messages"][last]
    now = {**now, "content": now["content"][:-behind]} if behind else now
    for part in (made.get("tools") or (), *made["messages"][:last], now):
        sizes.append((sizes[-1] if sizes else 0) + (len(json.dumps(part, ensure_ascii=False)) if part else 0))
    step = float(SHORTEST_ANCHOR * SMALLEST_TOKEN)
    if sizes[-1] < step:
        return
    while sizes[-1] >= step * GROWTH:
        step *= GROWTH
    for at, message in enumerate(made["messages"][: last + 1]):
        own = behind if at == last else 0
        if sizes[at + 1] >= step and message["role"] in ("user", "tool") and _ends_in_text(message, own, tools=True):
            made["messages"][at] = _marked(message, own)
            return


def _ends_in_text(message: Wire, behind: int, *, tools: bool = False) -> bool:
    """Whether a mark would stand behind a text; ``tools``: one that a tool gave is a text like others."""
    content = message["content"]
    if message["role"] == "tool":
        return tools and bool(content)
    at = len(content) - 1 - behind if isinstance(content, list) else 0
    return bool(content) if not isinstance(content, list) else at >= 0 and content[at].get("type") == "text"


def _is_note(message: Wire) -> bool:
    """Whether the note is all that the message holds."""
    return message["role"] == "user" and (isinstance(message["content"], str) or len(message["content"]) == 1)


def _places(made: Wire, last: int, *, with_tools: bool) -> list[Any]:
    """Where a beginning ends that comes again, the earliest first: tools, system text, and the messages before the
    latest answer and now."""
    messages: Sequence[Wire] = made["messages"]
    places: list[Any] = ["tools"] if with_tools and made.get("tools") else []
    if messages and messages[0]["role"] == "system":
        places.append(0)
    answered = next((at for at in range(last, 0, -1) if messages[at]["role"] == "assistant"), 0)
    for at in (answered - 1, last):
        if at > 0 and at not in places and messages[at]["role"] in ("user", "tool"):
            places.append(at)
    return places


def _marked(message: Wire, behind: int) -> Wire:
    """The message with a mark at its end, or before its last part, where the library looks for it."""
    content = message["content"]
    if message["role"] == "tool":
        return {**message, "cache_control": MARK}
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    at = len(parts) - 1 - behind
    return {**message, "content": [*parts[:at], {**parts[at], "cache_control": MARK}, *parts[at + 1 :]]}
