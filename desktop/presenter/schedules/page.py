"""The Schedules page: jobs, the one that is edited, when it comes, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import AssentError, ConfigurationError, KnownError
from desktop.domain.jobs import Job, JobRow, JobRun
from desktop.presenter.schedules.words import gathered, short

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.schedules.service import JobService

CHECK_MS = 250
"""After the last key: then the draft is looked at."""
SHOWN_RUNS = 100
READ_RUNS = 1_000
"""Rows of history that are read for it: times that were left out stand in one line."""
GATHER_MS = 250
"""Jobs that start and end in one moment cost one reading."""
TICK_MS = 15_000
UNREAD = "The job was not saved: correct what is marked first."
EXAMPLES = (
    ("Every hour", "0 * * * *"),
    ("Every day at 9:00", "0 9 * * *"),
    ("Weekdays at 9:00", "0 9 * * mon-fri"),
    ("Mondays at 8:30", "30 8 * * mon"),
    ("First of the month", "0 8 1 * *"),
)
NEW = Job("", "", "", "0 9 * * mon-fri")


class Readings(QObject):
    """When to read again: at once where it was asked for, a moment after a change, never while nobody looks, and never
    twice at a time. ``read`` begins one; ``over`` says that it ended."""

    def __init__(self, read: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._read = read
        self._watched = self._reading = False
        self._stale = True
        self._later = QTimer(self, singleShot=True, interval=GATHER_MS)
        self._later.timeout.connect(self.now)

    @property
    def watched(self) -> bool:
        """Whether the page is shown."""
        return self._watched

    def watch(self, watched: bool) -> None:
        """Tell whether the page is on the screen."""
        self._watched = watched
        self._later.stop()
        if watched and self._stale:
            self.now()

    def told(self) -> None:
        """Note that something changed, so that it is read again."""
        self._stale = True
        if self._watched and not self._reading and not self._later.isActive():
            self._later.start()

    def now(self) -> None:
        """Read, or once more after the reading that is under way."""
        self._later.stop()
        self._stale = self._reading
        if not self._reading:
            self._reading = True
            self._read()

    def over(self) -> None:
        """The reading ended, with or without success."""
        self._reading = False
        if self._stale:
            self.told()


class JobsViewModel(QObject):
    """The view-model of the Schedules page.

    ``changed``: the list; ``opened``: another draft; ``edited``: something was typed; ``checked``: its problems and
    next times; ``history_changed``.
    ``refused``: it was not saved, and ``problems`` say why. ``said`` is a sentence for the person and the token of what
    ``undo_delete`` takes back, or ""; ``restored`` the job that is in the list again after that.
    """

    changed = Signal()
    opened = Signal()
    edited = Signal()
    checked = Signal()
    history_changed = Signal()
    refused = Signal()
    said = Signal(str, str)
    thread_wanted = Signal(str)
    restored = Signal(str)
    _told = Signal()

    def __init__(self, service: JobService, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self.rows: tuple[JobRow, ...] = ()
        self.draft = NEW
        self.kept = NEW
        self.problems: tuple[DefinitionProblem, ...] = ()
        self.next_times: tuple[float, ...] = ()
        self.next_ahead_s: tuple[float, ...] = ()
        self.runs: tuple[JobRun, ...] = ()
        self.loaded = False
        self._day = time.localtime()[:3]
        """Of what is said to be today, and tomorrow."""
        self.unread: dict[str, str] = {}
        self._opening = 0
        self._deleted: tuple[Job, bool] | None = None
        """The last one, and whether it was open; ``_back`` until it is in the list again, and shown as it was."""
        self._back: tuple[Job, bool] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CHECK_MS)
        self._timer.timeout.connect(self.check)
        self._readings = Readings(self._read, self)
        self._clock = QTimer(self, interval=TICK_MS)
        self._clock.timeout.connect(self._tick)
        self._told.connect(self._readings.told)
        service.on_change(self._told.emit)

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def admin_allowed(self) -> bool:
        """The app's switch for admin calls of jobs."""
        return self._service.admin_allowed

    def row(self, job_id: str) -> JobRow | None:
        """A job in the list."""
        return next((row for row in self.rows if row.job.job_id == job_id), None)

    def refresh(self) -> None:
        """Read the list and the open job's history again."""
        self._readings.now()

    def watch(self, watched: bool) -> None:
        """The page is shown, or no longer is: what changes meanwhile is read when it is shown again."""
        self._readings.watch(watched)
        self._clock.start() if watched else self._clock.stop()

    def _read(self) -> None:
        async def work() -> None:
            try:
                rows = tuple(await self._service.jobs())
                if rows != self.rows or not self.loaded:
                    self.rows, self.loaded = rows, True
                    self.changed.emit()
                self._show_back()
                await self._history()
            finally:
                self._readings.over()

        self._spawn(work(), "read the jobs")

    async def _history(self) -> None:
        job_id = self.kept.job_id
        runs = gathered(await self._service.runs(job_id, READ_RUNS))[:SHOWN_RUNS] if job_id else ()
        if job_id == self.kept.job_id and runs != self.runs:
            self.runs = runs
            self.history_changed.emit()

    def _tick(self) -> None:
        """Show new next times where the shown ones have passed, and other words once tomorrow is today."""
        before, self._day = self._day, time.localtime()[:3]
        if self.next_times and self.next_times[0] <= time.time():
            self.check()
        if before != self._day:
            self.checked.emit()
            self.changed.emit()

    # -- the draft ----------------------------------------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether the draft has changes that are not kept."""
        return self.draft != self.kept or bool(self.unread)

    def open(self, job_id: str) -> None:
        """Edit this job; "" is a new one. Unsaved changes of another job are lost: ask first where ``dirty``."""
        self._opening += 1
        row = self.row(job_id)
        self.kept = self.draft = row.job if row is not None else NEW
        self.problems, self.next_times, self.runs = (), (), ()
        self.unread.clear()
        self.opened.emit()
        self.check()
        self._spawn(self._history(), "read a job's history")

    def edit(self, **changes: Any) -> None:
        """Change the draft; it is checked a moment later."""
        self.draft = replace(self.draft, **changes)
        self._timer.start()
        self.edited.emit()

    def edit_policy(self, **changes: Any) -> None:
        """Change the draft's policy."""
        self.edit(policy=replace(self.draft.policy, **changes))

    def leave_unread(self, path: str, sentence: str) -> None:
        """What stands in this field cannot be read, so it is not in the draft, and the job is not saved. ``sentence``
        says what to write; "" when it can be read again."""
        if sentence:
            self.unread[path] = sentence
        else:
            self.unread.pop(path, None)
        self._timer.start()
        self.edited.emit()

    def check(self) -> None:
        """Say what is wrong with the draft and when it comes next."""
        self._timer.stop()
        draft = self.draft

        async def work() -> None:
            problems = tuple(await self._service.problems(draft))
            paths = {problem.path for problem in problems}
            times: Sequence[float] = ()
            ahead: Sequence[float] = ()
            if not paths & {"schedule", "zone"}:
                times = await self._service.next_times(draft.schedule, draft.zone)
                ahead = await self._service.ahead(draft.zone, times)
            if draft is self.draft:
                self.problems, self.next_times, self.next_ahead_s = problems, tuple(times), tuple(ahead)
                self.checked.emit()

        self._spawn(work(), "look at a job")

    def problem_of(self, path: str) -> str:
        """What is wrong with one field, or ""; a new job's empty fields are wrong only when it is saved."""
        return self.unread.get(path) or _said_of(self.problems, path, warning=False)

    def warning_of(self, path: str) -> str:
        """What is probably not meant in one field, or ""; it can be saved like that."""
        return "" if path in self.unread else _said_of(self.problems, path, warning=True)

    def save(self) -> None:
        """Save the draft."""
        self._timer.stop()
        draft, opening = self.draft, self._opening
        if self.unread:
            self.said.emit(UNREAD, "")
            self.refused.emit()
            return

        async def work() -> None:
            try:
                kept = await self._service.save(draft)
            except ConfigurationError:
                self.problems = tuple(await self._service.problems(draft))
                self.checked.emit()
                self.refused.emit()
                raise
            if self.draft is draft:
                self.kept = self.draft = kept
                self.opened.emit()
                self.check()  # what was wrong with it was said of an earlier draft
            elif self._opening == opening:  # typed meanwhile: that stays, in the same job
                self.kept = kept
                self.draft = replace(self.draft, job_id=kept.job_id, created_at=kept.created_at, seen_at=kept.seen_at)
                self.edited.emit()
            key = " It held a key from your keyring, which was taken out of it." if _lost_key(draft, kept) else ""
            self.said.emit(f"{short(kept.name)} is saved.{key}", "")
            self.refresh()

        self._spawn(work(), "save a job")

    def discard(self) -> None:
        """Drop what was changed in the form and not saved."""
        self.draft = self.kept
        self.unread.clear()
        self.opened.emit()
        self.check()

    # -- what can be done with a job ----------------------------------------------------------------------------------

    def try_once(self, job_id: str) -> None:
        """Run it now under its own policy, and show its thread."""

        async def work() -> None:
            self.thread_wanted.emit(await self._service.try_once(job_id))

        self._spawn(work(), "try a job")

    def stop(self, job_id: str) -> None:
        """Stop the job's run."""
        self._do(self._service.stop(job_id), "stop a job")

    def set_enabled(self, job_id: str, enabled: bool) -> None:
        """Pause a job, or let it go on."""
        if self.kept.job_id == job_id:
            self.kept = replace(self.kept, enabled=enabled)
            self.draft = replace(self.draft, enabled=enabled)
        self._do(self._service.set_enabled(job_id, enabled), "pause a job")

    def delete(self, job_id: str) -> None:
        """Delete a job; the sentence that says so offers the undo."""
        row = self.row(job_id)
        if row is None:
            return

        async def work() -> None:
            await self._service.delete(job_id)
            was_open = self.kept.job_id == job_id
            if was_open:
                self.open(_beside(self.rows, job_id))
            self._deleted = row.job, was_open
            self.said.emit(f"{short(row.job.name)} is deleted.", job_id)
            self.refresh()

        self._spawn(work(), "delete a job")

    def undo_delete(self) -> None:
        """The job that was deleted last is there again, with its history, and open if it was."""
        if self._deleted is not None:
            self._back, self._deleted = self._deleted, None
            self._do(self._service.restore(self._back[0]), "restore a job")

    def _show_back(self) -> None:
        """The job that was brought back, as soon as it is in the list. What is being written meanwhile stays open."""
        if self._back is None or self.row(self._back[0].job_id) is None:
            return
        (job, was_open), self._back = self._back, None
        if was_open and not self.dirty:
            self.open(job.job_id)
        self.restored.emit(job.job_id)

    def _do(self, work: Awaitable[object], name: str) -> None:
        async def done() -> None:
            await work
            self.refresh()

        self._spawn(done(), name)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._refused)

    def _refused(self, error: AssentError) -> None:
        if isinstance(error, KnownError):
            self.said.emit(error.advice, "")


def _beside(rows: Sequence[JobRow], job_id: str) -> str:
    """The job after it in the list, or the one before it, or none."""
    ids = [row.job.job_id for row in rows]
    at = ids.index(job_id) if job_id in ids else -1
    return next(iter([*ids[at + 1 : at + 2], *reversed(ids[: max(at, 0)])]), "")


def _said_of(problems: Sequence[DefinitionProblem], path: str, *, warning: bool) -> str:
    """The problems of one field, or of the entries of its list, as one text."""
    found = [one for one in problems if one.path == path or one.path.startswith(f"{path}[")]
    return " ".join(one.text for one in found if one.warning is warning)


def _lost_key(draft: Job, kept: Job) -> bool:
    return (draft.name, draft.message) != (kept.name, kept.message)
