"""The activity log as the Activity page shows it: filtered, paged, checked, exported.

All reading happens in threads of the store's; a search that was replaced by another one ends at once.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.approval.audit import AuditChoices, AuditFilter, AuditFormat, AuditPage, AuditRow
from desktop.domain.approval.audit_chain import ChainReport
from desktop.domain.errors import AssentError, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import RunEnded, ToolCallAnswered, ToolCallFinished, ToolCallStarted

if TYPE_CHECKING:
    from desktop.domain.approval.audit import ActivityLog
    from desktop.presenter.events.bridge import Bridge

PAGE = 200
"""Rows read at a time."""
KEPT = 2000
"""Rows that are held: a list lays all of its rows out whenever there are others. Those that were scrolled past are read
again when they are wanted."""
STEP = 100
"""Milliseconds between two looks at how far a check or an export is."""
DELETED = "That chat was deleted. What is kept of this call is in this entry."
_GROWS = (ToolCallStarted, ToolCallAnswered, ToolCallFinished, RunEnded)


@dataclass(frozen=True, slots=True)
class ActivityChoice:
    """The filters that the person chose; "" is no filter."""

    text: str = ""
    """Words to be found."""
    decision: str = ""
    """What was decided."""
    category: str = ""
    """read, write or admin."""
    tool: str = ""
    """Name of a tool."""
    thread_id: str = ""
    """Entries of one thread."""
    by: str = ""
    """Who or what decided."""
    days: str = ""
    """"today" or "week"."""

    @property
    def narrowed(self) -> bool:
        """Whether a filter hides some rows."""
        return self != ActivityChoice()


class Gauge:
    """How far a job in a thread is, and whether it is to stop. No QObject: the thread may let go of it last."""

    def __init__(self) -> None:
        self.done, self.total = 0, 0
        self._stop = threading.Event()

    def progress(self, done: int, total: int) -> None:
        """Tell how far the work is. Called in the thread that does it."""
        self.done, self.total = done, total

    def stopped(self) -> bool:
        """Whether the person cancelled. Asked in the thread that does the work."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask the thread to stop; it looks between two pieces of work."""
        self._stop.set()


class ActivityTask(QObject):
    """A check or an export that goes on in a thread, as the window sees it."""

    moved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.gauge = Gauge()
        self.running = False
        self._look = QTimer(self, interval=STEP)
        self._look.timeout.connect(self.moved)

    def begin(self) -> Gauge:
        """Start the task; returns the gauge that its thread is given."""
        self.gauge, self.running = Gauge(), True
        self._look.start()
        self.moved.emit()
        return self.gauge

    def end(self) -> None:
        """The check or export has ended."""
        self.running = False
        self._look.stop()
        self.moved.emit()

    def cancel(self) -> None:
        """Stop the task."""
        self.gauge.stop()


class ActivityViewModel(QObject):
    """The view-model of the activity log.

    Its signals: ``replaced`` (rows), ``older`` and ``newer`` (rows, how many at the other end go), ``counted`` how many
    fit, ``choices_changed`` for the filters, ``grown`` after calls, ``checked`` (ChainReport), ``exported`` (path,
    rows), ``said`` a sentence, ``thread_wanted`` (thread, call).
    """

    replaced = Signal(object)
    older = Signal(object, int)
    newer = Signal(object, int)
    counted = Signal(int)
    choices_changed = Signal()
    checked = Signal(object)
    exported = Signal(str, int)
    said = Signal(str)
    failed = Signal(str)
    grown = Signal()
    thread_wanted = Signal(str, str)

    def __init__(
        self, bridge: Bridge, log: ActivityLog, parent: QObject | None = None, titles: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(parent)
        self.titles: Mapping[str, str] = {} if titles is None else titles
        """What a person reads of agents, by their names."""
        self._bridge = bridge
        self._log = log
        self.chosen = ActivityChoice()
        self.choices = AuditChoices()
        self.report: ChainReport | None = None
        self.checked_at = 0.0
        self.checking = ActivityTask(self)
        self.exporting = ActivityTask(self)
        self._reading: asyncio.Future[None] | None = None
        self._counting: asyncio.Future[None] | None = None
        self._busy = False
        self._numbers: list[int] = []
        self._more = False
        self.has_newer = False
        bridge.events.connect(self._take)

    def _take(self, events: object) -> None:
        if isinstance(events, list | tuple) and any(isinstance(event, _GROWS) for event in events):
            self.grown.emit()

    # -- the list -----------------------------------------------------------------------------------------------------

    def choose(self, **changes: str) -> None:
        """Change the filter: fields of ``ActivityChoice``."""
        wanted = replace(self.chosen, **changes)
        if wanted != self.chosen:
            self.chosen = wanted
            self.read()

    def read(self) -> None:
        """Read the newest rows, and how many there are."""
        self._again(self._read(self.wanted()), "read activity")

    def read_older(self) -> None:
        """The next older rows, unless some are on their way."""
        if self._more and not self._busy:
            self._again(self._read_older(self.wanted()), "read older activity")

    def read_newer(self) -> None:
        """The rows that were let go when older ones came."""
        if self.has_newer and not self._busy:
            self._again(self._read_newer(self.wanted()), "read newer activity")

    def look_for_choices(self) -> None:
        """Read the threads and tools that the filters can offer."""

        async def work() -> None:
            self.choices = await self._log.choices()
            self.choices_changed.emit()

        self._bridge.spawn(work(), name="read filters of activity", on_error=self._failed)

    def wanted(self, now: float | None = None) -> AuditFilter:
        """The choice as the log takes it. Days are those of this place."""
        chosen, today = self.chosen, midnight(time.time() if now is None else now)
        since = {"today": today, "week": midnight(today - 6 * 86_400 + 43_200)}.get(chosen.days)
        return AuditFilter(
            text=chosen.text.strip(),
            decision=chosen.decision,  # type: ignore[arg-type]
            category=chosen.category,
            tool=chosen.tool,
            thread_id=chosen.thread_id,
            by=chosen.by,
            since=since,
        )

    def _again(self, work: Coroutine[Any, Any, None], name: str) -> None:
        if self._reading is not None and self._busy:
            self._reading.cancel()
        self._busy = True
        self._reading = self._bridge.spawn(work, name=name, on_error=self._failed)

    async def _read(self, wanted: AuditFilter) -> None:
        page = await self._log.page(wanted, limit=PAGE)
        self._busy, self.has_newer, self._more = False, False, page.more
        self._numbers = [row.number for row in page.rows]
        self.replaced.emit(page.rows)
        if self._counting is not None:
            self._counting.cancel()
        self._counting = self._bridge.spawn(self._count(wanted, page), name="count activity", on_error=self._failed)

    async def _count(self, wanted: AuditFilter, page: AuditPage) -> None:
        self.counted.emit(await self._log.count(wanted) if page.more else len(page.rows))

    async def _read_older(self, wanted: AuditFilter) -> None:
        page = await self._log.page(wanted, before=self._numbers[-1], limit=PAGE)
        numbers = [*self._numbers, *(row.number for row in page.rows)]
        gone = max(0, len(numbers) - KEPT)
        # Before anybody is told: whoever sees these rows may want the next ones at once.
        self._busy, self._more, self._numbers = False, page.more, numbers[gone:]
        self.has_newer = self.has_newer or gone > 0
        self.older.emit(page.rows, gone)

    async def _read_newer(self, wanted: AuditFilter) -> None:
        page = await self._log.page(wanted, after=self._numbers[0], limit=PAGE)
        numbers = [*(row.number for row in page.rows), *self._numbers]
        gone = max(0, len(numbers) - KEPT)
        self._busy, self.has_newer, self._numbers = False, page.more, numbers[:KEPT]
        self._more = self._more or gone > 0
        self.newer.emit(page.rows, gone)

    def _failed(self, error: AssentError) -> None:
        self._busy = False
        if isinstance(error, KnownError):
            self.failed.emit(error.advice)

    # -- one entry ----------------------------------------------------------------------------------------------------

    def open_thread(self, row: AuditRow) -> None:
        """Go where the call was made; a thread that is gone is told."""

        async def work() -> None:
            place = await self._log.place(row.entry)
            if place is None:
                self.said.emit(DELETED)
            else:
                self.thread_wanted.emit(place.thread_id, place.call_id)

        self._bridge.spawn(work(), name="find call", on_error=self._failed)

    # -- the whole log ------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Check the chain of the log; ``checked`` follows with the report."""
        if self.checking.running:
            return
        gauge = self.checking.begin()

        async def work() -> None:
            try:
                report = await self._log.check(gauge.progress, gauge.stopped)
            finally:
                self.checking.end()
            if not report.cancelled or self.report is None:
                self.report, self.checked_at = report, time.time()
            self.checked.emit(report)

        self._bridge.spawn(work(), name="check activity", on_error=self._failed)

    def export(self, path: str, fmt: AuditFormat) -> None:
        """Save the entries that are shown to a file that the person chose."""
        if self.exporting.running:
            return
        gauge, wanted = self.exporting.begin(), self.wanted()

        async def work() -> None:
            try:
                rows = await self._log.export(path, fmt, wanted, gauge.progress, gauge.stopped)
            finally:
                self.exporting.end()
            if rows is None:
                self.said.emit("The export was stopped. Nothing was written.")
            else:
                self.exported.emit(path, rows)

        self._bridge.spawn(work(), name="export activity", on_error=self._failed)


def midnight(at: float) -> float:
    """The beginning of that day here; days with a change of the clock included."""
    day = time.localtime(at)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))
