"""A server's result as text, a structured value, images and sounds; other files are named, not passed on.

What was read of a resource, or filled in of a prompt, is passed on piece by piece (``Part``), and so is what a result
links to or holds beside its text: a person looks at it apart.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.domain.files.documents import looks_like_document
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.pieces import cut

_KINDS = {"image": "image", "audio": "sound"}
Part = dict[str, Any]
"""One piece: ``kind`` (text | media | link | resource | other), what it says of itself, and for media its number."""


@dataclass(frozen=True, slots=True)
class Flattened:
    """``structured`` is JSON or ""; ``media`` are images and sounds in base64, by the numbers that ``text`` has for
    them. What they are is for the app to see: a server's word for it counts for nothing."""

    text: str
    structured: str
    media: tuple[str, ...]
    is_error: bool
    parts: tuple[Part, ...] = ()
    """What it links to, and the resources that it holds, with the beginning of their text."""


@dataclass(frozen=True, slots=True)
class Parted:
    """What was read, piece by piece; ``notes`` say what is missing."""

    parts: tuple[Part, ...]
    media: tuple[str, ...]
    notes: tuple[str, ...] = ()
    description: str = ""


def flattened(result: Mapping[str, Any]) -> Flattened:
    """A server's result, capped. Never raises for what a server says."""
    blocks = _list(result.get("content"))
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
    apart = [_beside(block) for block in blocks[: limits.BLOCKS_MAX] if isinstance(block, Mapping)]
    beside = [part for part in apart if part is not None][: limits.BESIDE_MAX]
    return Flattened(text, structured, tuple(media), result.get("isError") is True, tuple(beside))


def read(result: Mapping[str, Any]) -> Parted:
    """A resource as a server gave it, capped. Never raises for what a server says."""
    return _parted([("", {"type": "resource", "resource": one}) for one in _list(result.get("contents"))])


def prompted(result: Mapping[str, Any]) -> Parted:
    """A prompt as a server filled it in, capped. Never raises for what a server says."""
    messages = [one if isinstance(one, Mapping) else {} for one in _list(result.get("messages"))]
    found: list[tuple[str, Any]] = []
    for one in messages:
        role = "assistant" if one.get("role") == "assistant" else "user"
        content = one.get("content")
        found += [(role, block) for block in (content if isinstance(content, list) else [content])]
    parted = _parted(found)
    return Parted(parted.parts, parted.media, parted.notes, cut(result.get("description")))


def _parted(blocks: Sequence[tuple[str, Any]]) -> Parted:
    """Pieces of content, each with whose it is ("": nobody's)."""
    media: list[str] = []
    parts: list[Part] = []
    room = limits.TEXT_MAX
    for role, block in blocks[: limits.BLOCKS_MAX]:
        part = _part(block, media)
        text = part.get("text", "")
        if len(text) > room:
            part["text"] = f"{text[:room]}\n[Cut: the text has {len(text):,} characters]"
        room = max(0, room - len(text))
        parts.append({**part, "role": role} if role else part)
    more = len(blocks) - limits.BLOCKS_MAX
    return Parted(tuple(parts), tuple(media), (f"[{more} more pieces of content were left out]",) if more > 0 else ())


def _part(block: Any, media: list[str]) -> Part:
    """One piece of content; its bytes join ``media`` while there is room."""
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind == "text":
        return {"kind": "text", "text": _text(block.get("text"))}
    if kind in _KINDS:
        return _bytes_part({"mime": cut(block.get("mimeType"), 200)}, block.get("data"), media)
    if kind == "resource_link":
        return {"kind": "link", **_said(block)}
    if kind == "resource" and isinstance(block.get("resource"), Mapping):
        found = block["resource"]
        said = {key: value for key, value in _said(found).items() if key != "size"}
        if isinstance(found.get("text"), str):
            return {"kind": "resource", **said, "text": found["text"]}
        return _bytes_part(said, found.get("blob"), media)
    return {"kind": "text", "text": f"[content of the kind {_word(kind)}: not shown]"}


def _bytes_part(said: Part, data: Any, media: list[str]) -> Part:
    if not isinstance(data, str) or not data:
        return {"kind": "text", "text": f"[{said.get('uri') or 'content'} without data: not shown]"}
    size = {"size": _bytes_in(data)}
    if len(media) >= limits.MEDIA_COUNT or sum(map(len, media)) + len(data) > limits.MEDIA_MAX:
        return {"kind": "other", **said, **size}
    media.append(data)
    return {"kind": "media", **said, **size, "number": len(media)}


def _beside(block: Mapping[str, Any]) -> Part | None:
    """What a person looks at apart from a result's text: a link, or a resource with the beginning of its text."""
    if block.get("type") == "resource_link":
        return {"kind": "link", **_said(block)}
    found = block.get("resource")
    if block.get("type") != "resource" or not isinstance(found, Mapping):
        return None
    text, blob = found.get("text"), found.get("blob")
    size = len(text) if isinstance(text, str) else _bytes_in(blob) if isinstance(blob, str) else 0
    beginning = cut(text, limits.BESIDE_TEXT)
    return {"kind": "resource" if isinstance(text, str) else "other", **_said(found), "size": size, "text": beginning}


def _said(found: Mapping[str, Any]) -> Part:
    """What something says of itself."""
    words = {key: cut(found.get(key), limits.WORDS_MAX) for key in ("uri", "name", "title", "description")}
    size = found.get("size")
    known = {"size": size} if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53 else {}
    return {**words, "mime": cut(found.get("mimeType"), 200), **known}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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
    if kind in _KINDS or _is_document(blob):
        return f"[resource {name}] {_medium(_KINDS.get(kind, 'document'), mime, blob, media)}"
    return f"[resource {name}, {_word(mime)}, {_size(blob)}: not shown]"


def _is_document(blob: Any) -> bool:
    """Whether bytes in base64 begin like a PDF, an Office file or another that the app reads."""
    try:
        return isinstance(blob, str) and looks_like_document(base64.b64decode(blob[:1_368]))
    except ValueError:
        return False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "[a text that is none]"


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else "?"
    return " ".join(text[:200].split()) or "?"


def _size(value: Any) -> str:
    return f"{_bytes_in(value):,} bytes" if isinstance(value, str) else "no data"


def _bytes_in(data: str) -> int:
    """How many bytes base64 stands for."""
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))
