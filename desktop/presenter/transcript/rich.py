"""What a tool gave beside its text, as its card shows it: links, embedded resources, data as a table, and how far a
running call is. No Qt.

All of it was said by a tool, or read from a file: a value that has not the form of what it should be is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from desktop.domain.runs.events import ToolCallAdvanced
from desktop.domain.text.json_text import read_json
from desktop.domain.text.words import size_words
from desktop.presenter.transcript.items import LinkPart, ShownProgress

MAX_LINKS = 40
MAX_EMBEDDED = 20
MAX_ADDRESS = 2_000
MAX_TEXT = 4_000
MAX_DATA = 64_000
"""Characters of a result that are looked at for data."""
MAX_ROWS, MAX_COLUMNS, MAX_CELL = 60, 8, 40


def links_of(facts: Mapping[str, Any]) -> tuple[LinkPart, ...]:
    """The links of a result; nothing is fetched."""
    found = [one for one in _list(facts.get("links")) if isinstance(one.get("uri"), str)]
    return tuple(_link(one) for one in found[:MAX_LINKS])


def _link(one: Mapping[str, Any]) -> LinkPart:
    title = next((one[key] for key in ("title", "name") if isinstance(one.get(key), str) and one[key]), "")
    size = one.get("size")
    words = (one.get("media_type"), size_words(size) if isinstance(size, int) and size >= 0 else "")
    about = ", ".join(word[:80] for word in words if isinstance(word, str) and word)
    return LinkPart(title[:200], one["uri"][:MAX_ADDRESS], about)


def embedded_of(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(address, beginning of the text) of each embedded resource; bytes are only named."""
    found: list[tuple[str, str]] = []
    for one in _list(facts.get("embedded"))[:MAX_EMBEDDED]:
        uri, text, kind, size = (one.get(key) for key in ("uri", "text", "media_type", "size"))
        words = f"{kind if isinstance(kind, str) and kind else 'bytes'}"
        if isinstance(size, int) and size >= 0:
            words += f", {size_words(size)}"
        body = text[:MAX_TEXT] if isinstance(text, str) and text else f"({words[:120]}, not shown)"
        found.append((uri[:MAX_ADDRESS] if isinstance(uri, str) else "", body))
    return tuple(found)


def task_words(facts: Mapping[str, Any]) -> str:
    """That the call goes on by itself as a task, or ""."""
    task = facts.get("task")
    if not isinstance(task, Mapping) or task.get("status") not in ("working", "input_required"):
        return ""
    server = task.get("server")
    named = f" {server[:60]}" if isinstance(server, str) else ""
    return f"It goes on at the server{named} by itself; Settings, MCP servers shows it, and can end it."


def progress_of(event: ToolCallAdvanced) -> ShownProgress:
    """How far a call says it is; what is no number counts for nothing."""
    total = event.total if event.total is not None and math.isfinite(event.total) and event.total > 0 else None
    done = event.done if math.isfinite(event.done) and event.done >= 0 else 0.0
    return ShownProgress(done, total, event.text)


# -- data as a table --------------------------------------------------------------------------------------------------


def table_of(text: str) -> str:
    """A result that is data of rows, as lines of columns; "" where it is none."""
    begins = text.lstrip()[:1]
    if begins not in ("{", "[") or len(text) > MAX_DATA:
        return ""
    try:
        rows = _rows(read_json(text))
    except (ValueError, RecursionError):
        return ""
    if len(rows) < 2:
        return ""
    columns = list(dict.fromkeys(key for row in rows for key in row))[:MAX_COLUMNS]
    lines = [columns, *([_cell(row.get(key, "")) for key in columns] for row in rows[:MAX_ROWS])]
    widths = [min(MAX_CELL, max(len(line[at]) for line in lines)) for at in range(len(columns))]
    laid = ["  ".join(cell[:width].ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    laid.insert(1, "  ".join("─" * width for width in widths))
    more = f"\nand {len(rows) - MAX_ROWS:,} more rows" if len(rows) > MAX_ROWS else ""
    return "\n".join(line.rstrip() for line in laid) + more


def _rows(data: Any) -> list[dict[str, Any]]:
    """The list of rows, alone or as the one list in an object."""
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else []
    return data if isinstance(data, list) and all(isinstance(row, dict) and row for row in data) else []


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text[: MAX_CELL * 2].split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def _list(given: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list | tuple) else ()
