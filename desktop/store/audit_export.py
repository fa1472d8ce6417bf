"""The activity log as a file: JSON Lines that can be proved outside, or a table for a spreadsheet.

JSON Lines: a head, then every line of the log in its order. What the filter lets through comes with its content; of
the rest only the hash, which is enough for the chain. `assent audit-check FILE` follows it. All in ASCII:
nothing in the file can reorder a terminal.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.audit import AuditFilter, AuditFormat, AuditRow, Progress, Stop
from desktop.domain.approval.audit_chain import EXPORT_FORMAT, digest
from desktop.domain.errors import ExportFailed
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.store.audit_log import last
from desktop.store.audit_reading import numbers, opened, slices
from desktop.store.audit_rows import row_from

# Only to export the activity log as such.
if TYPE_CHECKING:
    import csv
else:
    csv = lazy_module("csv")

Mask = Callable[[str], str]
SLICE = 60
"""Lines between two rests: each costs several times what checking it does."""
_LINES = "SELECT seq, line, hash, of FROM audit ORDER BY seq"
_ROWS = "SELECT a.seq, a.line, o.line FROM audit a LEFT JOIN audit o ON o.of = a.seq ORDER BY a.seq"
_COLUMNS = (
    "number",
    "time",
    "decision",
    "by",
    "tool",
    "category",
    "arguments",
    "outcome",
    "paths",
    "chain",
    "reason",
    "raised because",
    "originally",
    "edited",
    "rule",
    "thread",
    "run",
    "call",
    "note",
)
_FORMULA = lazy_pattern(r"[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_HIDDEN = lazy_pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def export(
    database: Path, target: str, fmt: AuditFormat, wanted: AuditFilter, mask: Mask, progress: Progress, stop: Stop
) -> int | None:
    """Write the file, whole or not at all; how many rows fit the filter, or None when it was stopped. Raises
    KnownError when the place refuses."""
    with opened(database, lambda: False) as connection:
        connection.execute("BEGIN")
        shown = numbers(connection, wanted)
        form = _jsonl if fmt == "jsonl" else _csv
        whole = _write(Path(target), form(connection, shown, wanted, mask, progress, stop), stop)
        return len(shown) if whole else None


def _jsonl(
    connection: sqlite3.Connection, shown: set[int], wanted: AuditFilter, mask: Mask, progress: Progress, stop: Stop
) -> Iterator[str]:
    head = last(connection)
    yield _record(
        {
            "format": EXPORT_FORMAT,
            "made_at": time.time(),
            "filter": {k: v for k, v in asdict(wanted).items() if v},
            "head": {"number": head.number, "link": head.link},
            "shown": len(shown),
        }
    )
    for rows in slices(connection, _LINES, progress, stop, SLICE):
        for number, line, claimed, of in rows:
            yield _record({"number": number, "link": claimed, **_body(line, number in shown or of in shown, mask)})


def _body(line: str, fits: bool, mask: Mask) -> dict[str, Any]:
    """The content, or its hash; both where a secret became known only after it was written."""
    if not fits:
        return {"hash": digest(line)}
    masked = mask(line)
    try:
        content = json.loads(masked)
    except ValueError:
        return {"hash": digest(line)}
    return {"content": content} if masked == line else {"hash": digest(line), "masked": content}


def _record(record: dict[str, Any]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":")) + "\n"


def _csv(
    connection: sqlite3.Connection, shown: set[int], _wanted: AuditFilter, mask: Mask, progress: Progress, stop: Stop
) -> Iterator[str]:
    yield "\ufeff" + _cells(_COLUMNS)
    for rows in slices(connection, _ROWS, progress, stop, SLICE):
        for row in rows:
            if row[0] in shown:
                yield _cells([harmless(mask(cell)) for cell in _table_row(row_from(*row))])


def _table_row(row: AuditRow) -> list[str]:
    entry, more = row.entry, row.entry.extra
    told = [_plain(more.get(name)) for name in ("reason", "raised_because", "original", "edited", "rule")]
    return [
        str(row.number),
        time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(entry.at)),
        entry.decision,
        entry.by,
        entry.tool,
        entry.category,
        entry.summary,
        entry.outcome,
        "\n".join(entry.paths),
        " > ".join(entry.chain),
        *told,
        entry.thread_id,
        entry.run_id,
        entry.call_id,
        row.note,
    ]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, with what cannot be seen made visible."""
    seen = _HIDDEN.sub(lambda match: f"\\u{{{ord(match.group()):x}}}", cell)
    return f"'{seen}" if _FORMULA.match(cell) or seen[:1] in ("\t", "\r", "\n") else seen


def _cells(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return line.getvalue()


def _write(target: Path, pieces: Iterator[str], stop: Stop) -> bool:
    """Beside its place first, then moved there; False, and nothing there, when it was stopped."""
    try:
        handle, made = tempfile.mkstemp(dir=target.parent, prefix=".assent-")
    except OSError as error:
        raise ExportFailed(target.name, error) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.writelines(pieces)
            if stop():
                return False
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, target)
    except OSError as error:
        raise ExportFailed(target.name, error) from error
    finally:
        with suppress(OSError):
            os.unlink(made)
    return True
