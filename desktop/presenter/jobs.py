"""The Schedules page: jobs, the one that is edited, when it comes, and what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import AssentError, KnownError
from desktop.domain.jobs import Job, JobDesk, JobPolicy, JobRow, JobRun

if TYPE_CHECKING:
    from desktop.presenter.bridge import Bridge

CHECK_MS = 250
"""After the last key: then the draft is looked at."""
SHOWN_RUNS = 100
STATUS = {
    "running": ("running", "Running"), "done": ("allow", "Done"), "failed": ("failed", "Failed"),
    "stopped": ("stop", "Stopped"), "limit": ("failed", "A limit was reached"),
    "interrupted": ("failed", "Interrupted"),
    "missed": ("clock", "Missed"), "overrun": ("clock", "Left out"),
}  # fmt: skip
"""Icon and words of each status."""
EXAMPLES = (
    ("Every hour", "0 * * * *"), ("Every day at 9:00", "0 9 * * *"), ("Weekdays at 9:00", "0 9 * * mon-fri"),
    ("Mondays at 8:30", "30 8 * * mon"), ("First of the month", "0 8 1 * *"),
)  # fmt: skip
NEW = Job("", "", "", "0 9 * * mon-fri")


class JobsViewModel(QObject):
    """``changed``: the list; ``opened``: another draft; ``checked``: its problems and next times; ``history_changed``.
    ``said`` is a sentence for the person and the token of what ``undo_delete`` takes back, or ""."""

    changed = Signal()
    opened = Signal()
    checked = Signal()
    history_changed = Signal()
    said = Signal(str, str)
    thread_wanted = Signal(str)
    _told = Signal()

    def __init__(self, desk: JobDesk, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk, self._bridge = desk, bridge
        self.rows: tuple[JobRow, ...] = ()
        self.draft = NEW
        self.kept = NEW
        self.problems: tuple[DefinitionProblem, ...] = ()
        self.next_times: tuple[float, ...] = ()
        self.runs: tuple[JobRun, ...] = ()
        self.loaded = False
        self._deleted: Job | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CHECK_MS)
        self._timer.timeout.connect(self.check)
        self._told.connect(self.refresh)
        desk.on_change(self._told.emit)

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def admin_allowed(self) -> bool:
        """The app's switch for admin calls of jobs."""
        return self._desk.admin_allowed

    def row(self, job_id: str) -> JobRow | None:
        """A job in the list."""
        return next((row for row in self.rows if row.job.job_id == job_id), None)

    def refresh(self) -> None:
        """Read the list and the open job's history again."""

        async def work() -> None:
            self.rows, self.loaded = tuple(await self._desk.jobs()), True
            self.changed.emit()
            await self._history()

        self._spawn(work(), "read the jobs")

    async def _history(self) -> None:
        job_id = self.kept.job_id
        runs = tuple(await self._desk.runs(job_id, SHOWN_RUNS)) if job_id else ()
        if job_id == self.kept.job_id:
            self.runs = runs
            self.history_changed.emit()

    # -- the draft ----------------------------------------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether the draft has changes that are not kept."""
        return self.draft != self.kept

    def open(self, job_id: str) -> None:
        """Edit this job; "" is a new one. What was not saved of another is forgotten: ask first where ``dirty``."""
        row = self.row(job_id)
        self.kept = self.draft = row.job if row is not None else NEW
        self.problems, self.next_times, self.runs = (), (), ()
        self.opened.emit()
        self.check()
        self._spawn(self._history(), "read a job's history")

    def edit(self, **changes: Any) -> None:
        """Change the draft; it is looked at a moment later."""
        self.draft = replace(self.draft, **changes)
        self._timer.start()

    def edit_policy(self, **changes: Any) -> None:
        """Change the draft's policy."""
        self.edit(policy=replace(self.draft.policy, **changes))

    def check(self) -> None:
        """Say what is wrong with the draft and when it comes next."""
        self._timer.stop()
        draft = self.draft

        async def work() -> None:
            problems = tuple(await self._desk.problems(draft))
            paths = {problem.path for problem in problems}
            times: Sequence[float] = ()
            if not paths & {"schedule", "zone"}:
                times = await self._desk.next_times(draft.schedule, draft.zone)
            if draft is self.draft:
                self.problems, self.next_times = problems, tuple(times)
                self.checked.emit()

        self._spawn(work(), "look at a job")

    def problem_of(self, path: str) -> str:
        """What is wrong with one field, or ""; a new job's empty fields are wrong only when it is saved."""
        return self._of_field(path, warning=False)

    def warning_of(self, path: str) -> str:
        """What is probably not meant in one field, or ""; it can be saved like that."""
        return self._of_field(path, warning=True)

    def _of_field(self, path: str, *, warning: bool) -> str:
        found = [one for one in self.problems if one.path == path or one.path.startswith(f"{path}[")]
        return " ".join(one.text for one in found if one.warning is warning)

    def save(self) -> None:
        """Keep the draft."""
        self._timer.stop()
        draft = self.draft

        async def work() -> None:
            kept = await self._desk.save(draft)
            if self.draft is draft:
                self.kept = self.draft = kept
                self.opened.emit()
            key = " A key that is kept in the keyring was replaced in it." if _lost_key(draft, kept) else ""
            self.said.emit(f"{kept.name} is saved.{key}", "")

        self._spawn(work(), "save a job")

    def discard(self) -> None:
        """Back to what is kept."""
        self.draft = self.kept
        self.opened.emit()
        self.check()

    # -- what can be done with a job ----------------------------------------------------------------------------------

    def try_once(self, job_id: str) -> None:
        """Run it now under its own policy, and show its thread."""

        async def work() -> None:
            self.thread_wanted.emit(await self._desk.try_once(job_id))

        self._spawn(work(), "try a job")

    def stop(self, job_id: str) -> None:
        """Stop its run."""
        self._do(self._desk.stop(job_id), "stop a job")

    def set_enabled(self, job_id: str, enabled: bool) -> None:
        """Pause it, or let it go on."""
        if self.kept.job_id == job_id:
            self.kept = replace(self.kept, enabled=enabled)
            self.draft = replace(self.draft, enabled=enabled)
        self._do(self._desk.set_enabled(job_id, enabled), "pause a job")

    def delete(self, job_id: str) -> None:
        """Delete it; the sentence that says so undoes it."""
        row = self.row(job_id)
        if row is None:
            return

        async def work() -> None:
            await self._desk.delete(job_id)
            if self.kept.job_id == job_id:
                self.open("")
            self._deleted = row.job
            self.said.emit(f"{row.job.name} is deleted.", job_id)

        self._spawn(work(), "delete a job")

    def undo_delete(self) -> None:
        """The job that was deleted last is there again, with its history."""
        if self._deleted is not None:
            self._do(self._desk.restore(self._deleted), "restore a job")
            self._deleted = None

    def _do(self, work: Awaitable[object], name: str) -> None:
        async def done() -> None:
            await work

        self._spawn(done(), name)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._refused)

    def _refused(self, error: AssentError) -> None:
        if isinstance(error, KnownError):
            self.said.emit(f"{error} {error.next_step}".strip(), "")


def _lost_key(draft: Job, kept: Job) -> bool:
    return (draft.name, draft.message) != (kept.name, kept.message)


# -- words ------------------------------------------------------------------------------------------------------------


def moment(at: float, now: float) -> str:
    """A time as a person reads it: today and tomorrow by name."""
    then, today = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    days = (then.date() - today.date()).days
    day = {0: "Today", 1: "Tomorrow", -1: "Yesterday"}.get(days, f"{then:%a} {then.day} {then:%b}")
    return f"{day} {then:%H:%M}"


def state_of(row: JobRow, now: float) -> str:
    """One line below a job's name."""
    if row.running:
        return "Running now"
    if not row.job.enabled:
        return "Paused"
    following = f"Next: {moment(row.next_at, now)}" if row.next_at is not None else "No time to come"
    return f"{following}, failed {row.failures} times" if row.failures > 1 else following


def policy_words(policy: JobPolicy, *, admin_allowed: bool) -> str:
    """What a job may do, in a sentence."""
    if policy.allowed_tools is None:
        words = "Reads only: it changes nothing."
    elif not policy.allowed_tools:
        words = "Uses no tools."
    else:
        words = "May use, without asking: " + ", ".join(policy.allowed_tools) + "."
    if policy.allow_admin:
        names = ", ".join(policy.allow_admin)
        off = "" if admin_allowed else " (switched off in Settings, so refused)"
        words += f" Admin calls of {names}{off}."
    return words


def listed(text: str) -> tuple[str, ...]:
    """Patterns of a field, one a line or by commas outside brackets."""
    found, depth, word = [], 0, ""
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character in ",\n" and depth <= 0:
            found.append(word)
            word, depth = "", 0
        else:
            word += character
    return tuple(part.strip() for part in [*found, word] if part.strip())


def duration(run: JobRun) -> str:
    """How long a run took, or ""."""
    seconds = run.ended_at - run.started_at
    if not run.started_at or seconds < 0 or run.status == "running":
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"

