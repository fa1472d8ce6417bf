"""The growing end of the activity log: lines are hung on the last one, and where the end is, is kept in a small file.

Everything here runs on the store's thread. The file is written after each commit, never before: it may lag behind the
table (a power cut), it never runs ahead of it. So a table that ends before it was cut.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import time
from pathlib import Path

from desktop.domain.approval.audit_chain import FIRST, ChainEnd, Damage, digest, link
from desktop.store.audit_rows import break_line
from desktop.systems import file_lock, open_flags

_log = logging.getLogger(__name__)
SIZE = 86
"""Bytes of the file: a number of 20 digits, a link of 64, a space and a line break."""
_HEAD = re.compile(rb"(\d{20}) ([0-9a-f]{64})\n")
_LAST = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1"
_AT = "SELECT hash FROM audit WHERE seq = ?"
_INSERT = "INSERT INTO audit (seq, line, hash) VALUES (?, ?, ?)"
GUARDS = {
    "audit_is_never_changed": "BEFORE UPDATE ON audit BEGIN\n"
    "    SELECT RAISE(ABORT, 'the activity log is never changed');\nEND",
    "audit_is_never_cut": "BEFORE DELETE ON audit BEGIN\n"
    "    SELECT RAISE(ABORT, 'nothing is removed from the activity log');\nEND",
    "audit_only_grows": "BEFORE INSERT ON audit\n"
    "WHEN new.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit) BEGIN\n"
    "    SELECT RAISE(ABORT, 'the activity log only grows at its end');\nEND",
}
"""Triggers by name, as migration 0003 makes them."""


class HeadFile:
    """Where the log ended when it was last written. 86 bytes, replaced in place: no write to it can be half done
    unless the machine loses power, and then it is unreadable, which is told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def read(self) -> ChainEnd | None:
        """The end of the chain in the file; None when there is no file, or an unreadable one."""
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            match = _HEAD.fullmatch(file.read(200))
            if match is not None:
                return ChainEnd(int(match[1]), match[2].decode())
        return None

    @property
    def exists(self) -> bool:
        """Whether there is something in it."""
        with contextlib.suppress(OSError):
            return self.path.lstat().st_size > 0
        return False

    def write(self, head: ChainEnd) -> None:
        """The first time on the disk too, so that the file is there from then on. Raises OSError."""
        opened = self._file is None
        if self._file is None:
            flags = open_flags.CLOEXEC | open_flags.NOFOLLOW | open_flags.BINARY
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
        file_lock.write_at(self._file, b"%020d %s\n" % (head.number, head.link.encode()), 0)
        if opened:
            os.ftruncate(self._file, SIZE)
            os.fsync(self._file)

    def close(self) -> None:
        """Write the end of the chain to the disk, for the next start."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                os.fsync(file)
            os.close(file)


def head_path(database: Path) -> Path:
    """Beside the database, whose name it begins with."""
    return database.with_name(f"{database.name}-audit-head")


class AuditChain:
    """Adds lines to the chain. ``append`` is called inside a write on the store's thread, ``committed`` after each
    commit."""

    def __init__(self, file: HeadFile) -> None:
        self._file = file
        self._known: ChainEnd | None = None
        self._grown = False

    def begin(self, connection: sqlite3.Connection) -> None:
        """Compare the table with the head file at the start. What does not fit becomes a line of its own, for good."""
        found = last(connection)
        kept = self._file.read()
        wrong: list[tuple[Damage, ChainEnd]] = [("unguarded", found)] if _mend(connection) else []
        if kept is None:
            if self._file.exists or not _just_begun(connection):
                wrong.append(("unanchored", ChainEnd()))
        elif not _leads_to(connection, kept, found):
            wrong.append(("cut", kept))
        for why, expected in wrong:
            self._break(connection, why, expected)
        self._known, self._grown = last(connection), True

    def append(self, connection: sqlite3.Connection, line: str, content_hash: str) -> int:
        """Add one line and return its number."""
        known = self._known
        if known is not None and not _leads_to(connection, known, last(connection)) and not _told(connection, known):
            self._break(connection, "cut", known)
        return self._add(connection, line, content_hash)

    def committed(self, connection: sqlite3.Connection) -> None:
        """Keep the end outside the table. A disk that refuses costs only this second look."""
        if not self._grown:
            return
        self._grown = False
        try:
            self._known = last(connection)
            self._file.write(self._known)
        except (OSError, sqlite3.Error) as error:
            _log.warning("the end of the activity log could not be kept: %s", error)

    def close(self) -> None:
        """Close the file of the chain's end; called last of all."""
        self._file.close()
        self._known = None

    def _break(self, connection: sqlite3.Connection, why: str, expected: ChainEnd) -> None:
        _log.error("the activity log is not as it was left: %s", why)
        line = break_line(why, time.time(), expected, last(connection))
        self._add(connection, line, digest(line))

    def _add(self, connection: sqlite3.Connection, line: str, content_hash: str) -> int:
        end = last(connection)
        connection.execute(_INSERT, (end.number + 1, line, link(end.link, content_hash)))
        self._grown = True
        return end.number + 1


def last(connection: sqlite3.Connection) -> ChainEnd:
    """The last line of the table."""
    row = connection.execute(_LAST).fetchone()
    return ChainEnd(row[0], row[1]) if row else ChainEnd()


def _leads_to(connection: sqlite3.Connection, earlier: ChainEnd, end: ChainEnd) -> bool:
    """Whether a line that was once the last is there as it was."""
    if earlier == end:
        return True
    if earlier.number == 0:
        return earlier.link == FIRST
    if earlier.number >= end.number:
        return False
    row = connection.execute(_AT, (earlier.number,)).fetchone()
    return row is not None and row[0] == earlier.link


def _told(connection: sqlite3.Connection, expected: ChainEnd) -> bool:
    """Whether a line says already that this end is gone: several lines may be added before one commit."""
    query = "SELECT 1 FROM audit WHERE kind = 'break' AND json_extract(line, '$.expected_link') = ?"
    return connection.execute(query, (expected.link,)).fetchone() is not None


def _just_begun(connection: sqlite3.Connection) -> bool:
    """The chain was made by this opening: its beginning is its end."""
    row = connection.execute("SELECT kind FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    return row is not None and row[0] == "start"


def _mend(connection: sqlite3.Connection) -> bool:
    """Put back triggers that are gone or changed; whether there were any."""
    missing = unguarded(connection)
    for name in missing:
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute(f"CREATE TRIGGER {name} {GUARDS[name]}")
    return bool(missing)


def unguarded(connection: sqlite3.Connection) -> list[str]:
    """Names of triggers that are not as they were made."""
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'"
    found = dict(connection.execute(query))
    return [name for name, rest in GUARDS.items() if found.get(name) != f"CREATE TRIGGER {name} {rest}"]
