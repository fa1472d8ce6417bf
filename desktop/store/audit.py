"""The activity log: every decision a line of a chain, and what came of it another (R-PRM-13).

Lines are added at the end and never touched again; triggers in the database refuse it, and the chain shows it
(``audit_log``). Whoever may write in the whole home can still make up another log and keep its end to match; then only
an export that was made before, kept elsewhere, tells the difference.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from desktop.domain.approval.audit import AuditChoices, AuditFilter, AuditFormat, AuditPage, CallPlace, Progress, Stop
from desktop.domain.approval.audit_chain import ChainReport, digest
from desktop.domain.approval.permission import AuditEntry
from desktop.domain.loading.lazy import lazy_module
from desktop.store import audit_reading
from desktop.store.audit_log import AuditChain, HeadFile, head_path
from desktop.store.audit_rows import call_line, outcome_line
from desktop.store.failures import translate
from desktop.store.worker import StoreThread

if TYPE_CHECKING:
    from desktop.store import audit_export
else:
    audit_export = lazy_module("desktop.store.audit_export")

T = TypeVar("T")
_log = logging.getLogger(__name__)
_UNSETTLED = (
    "SELECT 1 FROM audit WHERE seq = ? AND kind = 'call' AND json_extract(line, '$.outcome') = '' "
    "AND NOT EXISTS (SELECT 1 FROM audit WHERE of = ?)"
)


class AuditRepository:
    """Implements ``domain.audit.ActivityLog``. ``mask`` takes known secrets out of what is exported."""

    def __init__(self, thread: StoreThread, path: Path, chain: AuditChain, kept: HeadFile) -> None:
        self._thread = thread
        self._path = path
        self._chain = chain
        self._kept = kept
        self.mask: Callable[[str], str] = str

    # -- adding -----------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """After the database was opened: look at where the log ends."""
        await self._thread.write(self._chain.begin, durable=True)

    async def add(self, *, entry: AuditEntry) -> int:
        """Write a decision down, on the disk when this returns; its number."""
        return await self._append(call_line(entry), durable=True)

    def note(self, *, entry: AuditEntry) -> None:
        """The same without waiting, for what needs no decision; what cannot be written is logged."""
        self._append(call_line(entry)).add_done_callback(_complain)

    def settle(self, *, number: int, outcome: str) -> None:
        """What came of the call, once and without waiting."""
        line = outcome_line(number, outcome, time.time())
        made = digest(line)

        def work(connection: sqlite3.Connection) -> None:
            if connection.execute(_UNSETTLED, (number, number)).fetchone() is not None:
                self._chain.append(connection, line, made)

        self._thread.write(work).add_done_callback(_complain)

    def _append(self, line: str, *, durable: bool = False) -> asyncio.Future[int]:
        made = digest(line)
        return self._thread.write(lambda at: self._chain.append(at, line, made), durable=durable)

    # -- reading ----------------------------------------------------------------------------------------------------

    async def page(
        self, wanted: AuditFilter, *, before: int | None = None, after: int | None = None, limit: int = 200
    ) -> AuditPage:
        """A page of rows that fit, the newest first: the newest ones, or those older than row ``before`` or newer than
        row ``after``."""
        return await self._read(lambda at: audit_reading.page(at, wanted, before, after, limit))

    async def count(self, wanted: AuditFilter) -> int:
        """How many rows there are."""
        return await self._read(lambda at: audit_reading.count(at, wanted))

    async def choices(self) -> AuditChoices:
        """The values that occur in the log, for the page's filters."""
        return await self._read(audit_reading.choices)

    async def place(self, entry: AuditEntry) -> CallPlace | None:
        """Where the call stands; None when its thread is gone."""
        return await self._read(lambda at: audit_reading.place(at, entry))

    async def check(self, progress: Progress, stop: Stop) -> ChainReport:
        """Check that no line was changed, added or removed."""
        return await self._outside(lambda halt: audit_reading.check(self._path, self._kept, progress, halt), stop)

    async def export(
        self, target: str, fmt: AuditFormat, wanted: AuditFilter, progress: Progress, stop: Stop
    ) -> int | None:
        """Write what fits the filter to a file, whole or not at all."""
        return await self._outside(
            lambda halt: audit_export.export(self._path, target, fmt, wanted, self.mask, progress, halt), stop
        )

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._outside(lambda halt: audit_reading.reading(self._path, work, halt), lambda: False)

    async def _outside(self, work: Callable[[Stop], T], stop: Stop) -> T:
        """In a thread of its own, after what was given to be written before; ended when nobody waits any more."""
        await self._thread.read(_nothing)
        left = threading.Event()
        try:
            return await asyncio.to_thread(work, lambda: left.is_set() or stop())
        except sqlite3.Error as error:
            raise translate(error, self._path) from error
        finally:
            left.set()


def check_closed(database: Path) -> ChainReport:
    """The same check on a database that this process has not open, at once. Raises sqlite3.Error."""
    return audit_reading.check(database, HeadFile(head_path(database)), lambda _done, _total: None, lambda: False)


def _nothing(_connection: sqlite3.Connection) -> None:
    """Work that does nothing: once it is done, so is all that was given before it."""


def _complain(done: asyncio.Future[Any]) -> None:
    problem = None if done.cancelled() else done.exception()
    if problem is not None:
        _log.error("the activity log misses a line: %s", problem)
