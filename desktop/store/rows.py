"""Records to rows and back. A block's long text has a column of its own; its other fields are JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from desktop.domain.messages import Block, TextBlock, Usage, block_from_plain, to_plain
from desktop.domain.threads import MessageRecord, RunRecord, ThreadRecord

USAGE_COLUMNS = (
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "cost_usd",
    "written_tokens",
    "saved_usd",
)
USAGE = ", ".join(USAGE_COLUMNS)


def usage_of(table: str) -> str:
    """The columns of what was used, of a table in a query."""
    return ", ".join(f"{table}.{name}" for name in USAGE_COLUMNS)


THREAD = (
    "t.thread_id, t.title, t.created_at, t.updated_at, t.agent, t.model, t.pinned, "
    "(SELECT leaf.message_id FROM messages leaf WHERE leaf.seq = t.active_leaf), t.deleted_at, t.titled_by, "
    f"t.label, t.state, {usage_of('t')}, "
    "t.archived, t.project, t.mode"
)
MESSAGE = (
    "m.seq, m.message_id, m.thread_id, p.message_id, m.role, m.created_at, m.status, m.side, m.author, m.model, "
    f"m.run_id, m.round_number, m.stop_reason, m.elapsed_ms, {usage_of('m')}"
)
RUN = f"run_id, thread_id, started_at, agent, model, ended_at, end_reason, detail, {USAGE}, extra_json"
BLOCK = "message_seq, kind, text, fields_json"

_LONG = {
    "document": "text",
    "text": "text",
    "reasoning": "text",
    "file": "text",
    "tool_result": "text",
    "notice": "text",
    "image": "data",
    "audio": "data",
}
_NO_FIELDS = "{}"
Row = Sequence[Any]


def clean(text: str) -> str:
    """Half of a surrogate pair (from bytes that were no UTF-8) cannot be stored as text: it becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def to_json(value: Any) -> str:
    """Compact JSON in ASCII: keeps every string, also those that are no valid Unicode."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)


def usage_row(usage: Usage | None) -> tuple[Any, ...]:
    """The columns of what was used, as in ``USAGE_COLUMNS``; all NULL when nothing is known."""
    return tuple(None if usage is None else getattr(usage, name) for name in USAGE_COLUMNS)


def usage_from(row: Row) -> Usage | None:
    """The inverse of ``usage_row``."""
    return None if row[0] is None else Usage(*row)


def block_row(block: Block) -> tuple[str, str, str]:
    """A block as columns of its table: kind, text, fields as JSON."""
    plain = to_plain(block)
    kind = str(plain.pop("kind", "unknown"))
    long = plain.pop(_LONG.get(kind, ""), "")
    if not isinstance(long, str):
        plain[_LONG[kind]], long = long, ""
    return clean(kind), clean(long), to_json(plain) if plain else _NO_FIELDS


def block_from(kind: str, text: str, fields_json: str) -> Block:
    """The inverse of ``block_row``. Nearly every block is a text, and a thread may have ten thousand."""
    if kind == "text" and fields_json == _NO_FIELDS:
        return TextBlock(text)
    fields: dict[str, Any] = {"kind": kind}
    if kind in _LONG:
        fields[_LONG[kind]] = text
    if fields_json != _NO_FIELDS:
        fields.update(json.loads(fields_json))
    return block_from_plain(fields)


def blocks_json(blocks: Iterable[Block]) -> str:
    """Attachments of drafts and queued messages."""
    return to_json([to_plain(block) for block in blocks])


def blocks_from_json(text: str) -> tuple[Block, ...]:
    """The inverse of ``blocks_json``."""
    return tuple(block_from_plain(plain) for plain in json.loads(text))


def message_from(row: Row, blocks: Sequence[Block]) -> MessageRecord:
    """A row of ``MESSAGE`` and its blocks."""
    return MessageRecord(
        row[1],
        row[2],
        row[3],
        row[4],
        tuple(blocks),
        row[5],
        row[6],
        row[7],
        row[8],
        row[9],
        row[10],
        row[11],
        row[12],
        usage_from(row[14:21]),
        row[13],
    )


def thread_from(row: Row) -> ThreadRecord:
    """A row of ``THREAD``."""
    return ThreadRecord(
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        bool(row[6]),
        row[7],
        row[8],
        row[9],
        Usage(*row[12:19]),
        row[10],
        row[11],
        archived=bool(row[19]),
        project=row[20],
        mode="edge" if row[21] == "edge" else "ask",
    )


def run_from(row: Row) -> RunRecord:
    """A row of ``RUN``."""
    return RunRecord(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], Usage(*row[8:15]), json.loads(row[15])
    )


def run_row(run: RunRecord) -> tuple[Any, ...]:
    """The inverse of ``run_from``."""
    head = (run.run_id, run.thread_id, run.started_at, run.agent, run.model, run.ended_at, run.end_reason)
    return (*head, clean(run.detail), *usage_row(run.usage), to_json(run.extra))
