"""A server's result as text, a structured value, images and sounds; other files are named, not passed on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from desktop.workers.mcp_host import limits

_KINDS = {"image": "image", "audio": "sound"}


@dataclass(frozen=True, slots=True)
class Flattened:
    """``structured`` is JSON or ""; ``media`` are images and sounds in base64, by the numbers that ``text`` has for
    them. What they are is for the app to see: a server's word for it counts for nothing."""

    text: str
    structured: str
    media: tuple[str, ...]
    is_error: bool


def flattened(result: Mapping[str, Any]) -> Flattened:
    """A server's result, capped. Never raises for what a server says."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    media: list[str] = []
    parts = [_block(block, media) for block in blocks[: limits.BLOCKS_MAX]]
    if len(blocks) > limits.BLOCKS_MAX:
        parts.append(f"[{len(blocks) - limits.BLOCKS_MAX} more pieces of content were left out]")
    structured = _structured(result.get("structuredContent"))
    text = "\n".join(part for part in parts if part)
    if not text and structured:
        text = structured
    if len(text) > limits.TEXT_MAX:
        text = f"{text[: limits.TEXT_MAX]}\n[Cut: the result has {len(text):,} characters]"
    return Flattened(text, structured, tuple(media), result.get("isError") is True)


def _structured(value: Any) -> str:
    if value is None:
        return ""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
    return text if len(text) <= limits.STRUCTURED_MAX else ""


def _block(block: Any, media: list[str]) -> str:
    if not isinstance(block, Mapping):
        return "[a piece of content that cannot be read]"
    kind = block.get("type")
    if kind == "text":
        return _text(block.get("text"))
    if kind in _KINDS:
        return _medium(_KINDS[kind], block.get("mimeType"), block.get("data"), media)
    if kind == "resource":
        return _resource(block.get("resource"), media)
    if kind == "resource_link":
        return _link(block)
    return f"[content of the kind {_word(kind)}: not shown]"


def _medium(what: str, mime: Any, data: Any, media: list[str]) -> str:
    """The placeholder of an image or sound in the text; its bytes join ``media`` while there is room."""
    about = f"{_word(mime)}, {_size(data)}"
    if not isinstance(data, str) or not data:
        return f"[{what}, {about}: not shown]"
    if len(media) >= limits.MEDIA_COUNT or sum(map(len, media)) + len(data) > limits.MEDIA_MAX:
        return f"[{what}, {about}: left out, the result has too many or too large ones]"
    media.append(data)
    return f"[{what} {len(media)}: {about}]"


def _link(block: Mapping[str, Any]) -> str:
    """A resource that can be asked for elsewhere: its name, address, kind and what it is, as far as it is said."""
    said = (_word(block.get(key)) for key in ("uri", "mimeType", "description"))
    more = ", ".join(word for word in said if word != "?")
    return f"[link: {_word(block.get('title') or block.get('name'))}, {more or 'no address'}]"


def _resource(found: Any, media: list[str]) -> str:
    if not isinstance(found, Mapping):
        return "[a resource that cannot be read]"
    name, mime, blob = _word(found.get("uri")), found.get("mimeType"), found.get("blob")
    if isinstance(found.get("text"), str):
        return f"[resource {name}]\n{found['text']}\n[end of the resource]"
    kind = mime.partition("/")[0] if isinstance(mime, str) else ""
    if kind in _KINDS:
        return f"[resource {name}] {_medium(_KINDS[kind], mime, blob, media)}"
    return f"[resource {name}, {_word(mime)}, {_size(blob)}: not shown]"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "[a text that is none]"


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else "?"
    return " ".join(text[:200].split()) or "?"


def _size(value: Any) -> str:
    return f"{len(value) * 3 // 4:,} bytes" if isinstance(value, str) else "no data"
