"""Opening the database file: checks before anything is touched, migrations with a backup, connection settings.

Everything here blocks and runs on the store's thread, or in a thread of the caller's.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.errors import BugError
from desktop.domain.loading.lazy import lazy_module
from desktop.store import audit_rows, failures
from desktop.store.audit_log import head_path

if TYPE_CHECKING:
    import shutil
else:
    shutil = lazy_module("shutil")

MIGRATIONS = Path(__file__).parent / "migrations"
BASELINE = Path(__file__).parent / "baseline.sql"
"""The schema as a number of migrations leaves it: a new database begins with it, at a fifth of their time."""
BUSY_MS = 2_000  # how long another program's lock is waited for
_MAGIC = b"SQLite format 3\x00"
_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


def open_database(path: Path, migrations: Path = MIGRATIONS) -> sqlite3.Connection:
    """A ready connection on the newest schema.

    Raises StoreCorrupt, StoreTooNew, StoreFull, HomeNotWritable or StoreError; a file that is damaged, newer or
    foreign is left as it was.
    """
    try:
        _prepare_folder(path)
        known = _scripts(migrations)
        _check_header(path, max(known))
        connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_MS / 1000, cached_statements=256)
    except (OSError, sqlite3.Error) as error:
        raise failures.translate(error, path) from error
    try:
        _configure(connection)
        audit_rows.register(connection)
        _migrate(connection, path, known)
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError | sqlite3.Error):
            raise failures.translate(error, path) from error
        raise
    return connection


def _prepare_folder(path: Path) -> None:
    """Make the folder and the file, readable for their owner alone, because conversations are private."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise failures.not_writable(path.parent, "permission denied")
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _check_header(path: Path, known: int) -> None:
    """Refuse what must not be touched, before SQLite touches it (opening alone may write to the file)."""
    size = path.stat().st_size
    if size == 0:
        return
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise failures.corrupt(path, "it is not a database")
    page_size, pages = struct.unpack(">H", header[16:18])[0], struct.unpack(">I", header[28:32])[0]
    has_wal = _wal(path).exists() and _wal(path).stat().st_size > 0
    if not has_wal and size < (65_536 if page_size == 1 else page_size) * pages:
        raise failures.corrupt(path, "its end is missing")
    found = struct.unpack(">i", header[60:64])[0]
    if found == 0 or has_wal:
        found = _look_inside(path)
    if found > known:
        raise failures.too_new(path, found, known)


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _look_inside(path: Path) -> int:
    """The version, also where the last changes are still in the log. Read-only, so closing folds nothing in."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000)) as connection:
        found = version(connection)
        if found == 0 and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise failures.foreign(path)
        return found


def version(connection: sqlite3.Connection) -> int:
    """The version number of the database's schema; 0: the file is empty."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _configure(connection: sqlite3.Connection) -> None:
    """WAL with synchronous=NORMAL: what is committed survives kill -9, for it has reached the system's cache. A
    power cut could cost the last moments; what a person wrote or decided asks for FULL (see worker.StoreTask.durable).
    """
    for setting in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "cache_size = -4096",
        "temp_store = MEMORY",
        "secure_delete = FAST",
    ):
        connection.execute(f"PRAGMA {setting}")


def _scripts(folder: Path) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for path in sorted(folder.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise BugError(f"{path.name} is not named like 0001_what_it_does.sql")
        found[int(match[1])] = path
    if list(found) != list(range(1, len(found) + 1)) or not found:
        raise BugError(f"the migrations in {folder} are not numbered 1, 2, 3 …")
    return found


def _migrate(connection: sqlite3.Connection, path: Path, scripts: dict[int, Path]) -> None:
    """Bring the schema up to date in one transaction: all of it or nothing."""
    current = version(connection)
    newest = max(scripts)
    if current > newest:
        raise failures.too_new(path, current, newest)
    if current == newest:
        return
    if current:
        _back_up(connection, path, current)
    connection.execute("PRAGMA foreign_keys = OFF")  # has no effect inside a transaction
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if scripts[1].parent == MIGRATIONS and not version(connection):
            _apply_baseline(connection)
        for number in range(version(connection) + 1, newest + 1):  # another process may just have done it
            _apply(connection, number, scripts[number].read_text(encoding="utf-8"))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _apply_baseline(connection: sqlite3.Connection) -> None:
    for statement in statements(BASELINE.read_text(encoding="utf-8")):
        connection.execute(statement)


def _apply(connection: sqlite3.Connection, number: int, script: str) -> None:
    for statement in statements(script):
        connection.execute(statement)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken:
        raise BugError(f"migration {number} leaves a row of {broken[0]} pointing at a missing one of {broken[2]}")
    connection.execute(f"PRAGMA user_version = {number}")


def statements(script: str) -> Iterator[str]:
    """The statements of a script. ``executescript`` would end the transaction that must hold them all."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise BugError(f"a migration ends in the middle of a statement: {pending.strip()[:60]!r}")


def _back_up(connection: sqlite3.Connection, path: Path, current: int) -> None:
    """A complete copy of the old database beside it, made before the first change."""
    target = free_name(path.parent / "backups" / f"{path.stem}-format{current}-{time.strftime('%Y%m%d-%H%M%S')}.db")
    target.parent.mkdir(mode=0o700, exist_ok=True)
    unfinished = target.with_suffix(".partial")
    try:
        with contextlib.closing(sqlite3.connect(unfinished)) as copy:
            connection.backup(copy)
        unfinished.chmod(0o600)
        unfinished.rename(target)
    finally:
        unfinished.unlink(missing_ok=True)


def free_name(wanted: Path) -> Path:
    """``wanted``, or the first of ``wanted-2``, ``wanted-3`` … that does not exist: nothing is ever overwritten."""
    number, candidate = 1, wanted
    while candidate.exists():
        number += 1
        candidate = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
    return candidate


def _companions(path: Path) -> list[Path]:
    """The file, its write-ahead log, without which the last changes are lost, and where its activity log ended."""
    return [p for p in (path, _wal(path), head_path(path)) if p.exists()]


def recovery_copy(path: Path) -> Path:
    """Copy the database, as it is, into ``rescued/`` beside it; returns the copy. The original is only read."""
    target = free_name(path.parent / "rescued" / f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        for source in _companions(path):
            shutil.copy2(source, target.with_name(target.name + source.name.removeprefix(path.name)))
    except OSError as error:
        raise failures.from_os(error, target) from error
    return target


def start_fresh(path: Path) -> Path:
    """Move the database aside, so that the next opening makes an empty one; returns where it now is."""
    target = free_name(path.with_name(f"{path.stem}-set-aside-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}"))
    try:
        for source in _companions(path):
            source.rename(target.with_name(target.name + source.name.removeprefix(path.name)))
        path.with_name(path.name + "-shm").unlink(missing_ok=True)
    except OSError as error:
        raise failures.from_os(error, path) from error
    return target


def verify(path: Path) -> None:
    """Read every page (its own read-only connection, so writers go on). Raises StoreCorrupt."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise failures.translate(error, path) from error
    if found != "ok":
        raise failures.corrupt(path, str(found).strip().splitlines()[-1])
