"""A server's result as text and a structured value; pictures, sounds and files are named, not passed on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from desktop.workers.mcp_host import limits

_KINDS = {"image": "an image", "audio": "a sound"}


def flattened(result: Mapping[str, Any]) -> tuple[str, str, bool]:
    """(text, structured value as JSON or "", whether it is an error). Never raises for what a server says."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    parts = [_block(block) for block in blocks[: limits.BLOCKS_MAX]]
    if len(blocks) > limits.BLOCKS_MAX:
        parts.append(f"[{len(blocks) - limits.BLOCKS_MAX} more pieces of content were left out]")
    structured = _structured(result.get("structuredContent"))
    text = "\n".join(part for part in parts if part)
    if not text and structured:
        text = structured
    if len(text) > limits.TEXT_MAX:
        text = f"{text[: limits.TEXT_MAX]}\n[Cut: the result has {len(text):,} characters]"
    return text, structured, result.get("isError") is True


def _structured(value: Any) -> str:
    if value is None:
        return ""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
    return text if len(text) <= limits.STRUCTURED_MAX else ""


def _block(block: Any) -> str:
    if not isinstance(block, Mapping):
        return "[a piece of content that cannot be read]"
    kind = block.get("type")
    if kind == "text":
        return _text(block.get("text"))
    if kind in _KINDS:
        return f"[{_KINDS[kind]}, {_word(block.get('mimeType'))}, {_size(block.get('data'))}: not shown]"
    if kind == "resource":
        return _resource(block.get("resource"))
    if kind == "resource_link":
        return f"[a link to {_word(block.get('uri'))}, called {_word(block.get('name'))}]"
    return f"[content of the kind {_word(kind)}: not shown]"


def _resource(found: Any) -> str:
    if not isinstance(found, Mapping):
        return "[a resource that cannot be read]"
    name = _word(found.get("uri"))
    if isinstance(found.get("text"), str):
        return f"[{name}]\n{found['text']}"
    return f"[{name}, {_word(found.get('mimeType'))}, {_size(found.get('blob'))}: not shown]"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "[a text that is none]"


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else "?"
    return " ".join(text[:200].split()) or "?"


def _size(value: Any) -> str:
    return f"{len(value) * 3 // 4:,} bytes" if isinstance(value, str) else "no data"
