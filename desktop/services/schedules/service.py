"""``JobService``: scheduled jobs, kept, run under their own policy, and their history.

Jobs run only while the app does. What passed meanwhile is noted as missed, or made up for by one run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.jobs import Job, JobRow, JobRun, JobRunStatus
from desktop.services.chats.service import ConversationService
from desktop.services.schedules.checks import edge_problems, job_problems
from desktop.services.schedules.runs import JobRuns, JobSurroundings
from desktop.services.schedules.terms import LABEL, TermsAgain
from desktop.services.schedules.times import MAX_COUNTED, JobTimes, Passed, times_of
from desktop.services.threads.masking import clean
from desktop.services.turns.runtime import Runtime

__all__ = ["LABEL", "JobService", "JobSurroundings"]

LATE_S = 90.0
"""A time that is noticed so much later was missed: the app was closed, or the machine asleep."""
LOOK_S = 30.0
"""Clocks are set and machines sleep, so nothing is waited for longer than this at once."""
MAX_JOBS = 200
_BAD = frozenset({"failed", "limit", "interrupted"})
_LOST = "Nothing can be read of it any more. Delete it, or set it up again."

_log = logging.getLogger(__name__)


class JobService:
    """What the Schedules page asks for; raises KnownError with the next step. ``open`` first; ``keep`` runs as a task
    until it is cancelled."""

    def __init__(self, runtime: Runtime, service: ConversationService, around: JobSurroundings) -> None:
        self._runtime = runtime
        self._store = runtime.store.jobs
        self._service = service
        self._around = around
        self._times: dict[tuple[str, str], JobTimes] = {}
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        self._runs = JobRuns(runtime, service, around, self._tell)
        service.terms_of = TermsAgain(runtime.store, runtime.bounds, around.admin_allowed, around.where).of

    async def open(self) -> None:
        """Mark runs that an earlier process left open as interrupted."""
        await self._store.close_open()

    # -- the page -----------------------------------------------------------------------------------------------------

    @property
    def admin_allowed(self) -> bool:
        """Whether the switch in Settings lets jobs make admin calls (C-34)."""
        return self._around.admin_allowed()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Told when a job, its state or its history changed."""
        self._listeners.append(listener)

    async def jobs(self) -> Sequence[JobRow]:
        """All jobs with their next time and their last run, the oldest first."""
        latest, now = await self._store.latest(), self._around.clock()
        return [await self._row(job, latest.get(job.job_id, ()), now) for job in await self._store.list_all()]

    async def _row(self, job: Job, runs: Sequence[JobRun], now: float) -> JobRow:
        tried = [run for run in runs if run.status not in ("missed", "overrun")]
        failures = next((at for at, run in enumerate(tried) if run.status not in _BAD), len(tried))
        times, problem = None, "" if job.schedule else _LOST
        try:
            times = await self._times_of(job) if job.enabled else None
        except ConfigurationError as error:
            problem = error.advice
        following = times.after(now) if times is not None else None
        return JobRow(
            job,
            following,
            runs[0] if runs else None,
            failures,
            self._runs.running(job.job_id),
            problem=problem,
            waiting=self._runs.waiting(job.job_id),
            next_ahead_s=times.offset(following) if times is not None and following is not None else 0.0,
        )

    async def problems(self, job: Job) -> Sequence[DefinitionProblem]:
        """All that is wrong with it, at once, with paths as ``schedule`` and ``policy.allowed_tools``."""
        found = await job_problems(self._runtime, self._around.default_model, job)
        try:
            await self._around.folder_of(job)
        except KnownError as error:
            found = [*found, DefinitionProblem("project", error.code, error.advice)]
        if job.policy.at_edge:
            found = [*found, *edge_problems(job, await asyncio.to_thread(self._around.unconfined))]
        return found

    async def next_times(self, schedule: str, zone: str, count: int = 5) -> Sequence[float]:
        """The next times of a schedule, in seconds since the epoch. Raises ConfigurationError."""
        times = await times_of(schedule, zone)
        return await asyncio.to_thread(times.between, self._around.clock(), 1e12, min(count, 50))

    async def ahead(self, zone: str, times: Sequence[float]) -> Sequence[float]:
        """Seconds that the zone's clock is ahead of UTC at these times. Raises ConfigurationError."""
        clock = await times_of("@daily", zone)
        return [clock.offset(at) for at in times]

    async def save(self, job: Job) -> Job:
        """Keep it whole or not at all; its next times count from now. Raises ConfigurationError with all problems."""
        problems = [problem for problem in await self.problems(job) if not problem.warning]
        if problems:
            said = "; ".join(f"{problem.path}: {problem.text.rstrip('.')}" for problem in problems)
            raise ConfigurationError(f"The job was not saved: {said}.", next_step="Correct it and save again.")
        now = self._around.clock()
        if not job.job_id:
            if len(await self._store.list_all()) >= MAX_JOBS:
                raise ConfigurationError(f"There are {MAX_JOBS} jobs.", next_step="Delete one first.")
            job = replace(job, job_id=new_id(), created_at=now)
        kept = clean(replace(job, seen_at=now), self._runtime.mask)
        if kept.project and self._around.projects is not None:
            await self._around.projects.choose("", kept.project)
        await self._store.put(job=kept)
        self._runs.deleted(kept.job_id, False)
        self._tell()
        return kept

    async def set_enabled(self, job_id: str, enabled: bool) -> None:
        """Pause it or let it go on; what passed while it was paused is not missed."""
        await self._store.set_enabled(job_id=job_id, enabled=enabled, seen_at=self._around.clock())
        self._tell()

    async def delete(self, job_id: str) -> None:
        """Stop its run, also one that only begins, and take it out of the list; its threads stay."""
        self._runs.deleted(job_id)
        try:
            await self.stop(job_id)
            await self._store.delete(job_id=job_id, at=self._around.clock())
        except KnownError:
            self._runs.deleted(job_id, False)
            raise
        self._tell()

    async def restore(self, job: Job) -> None:
        """Undo ``delete``."""
        await self._store.put(job=clean(replace(job, seen_at=self._around.clock()), self._runtime.mask))
        self._runs.deleted(job.job_id, False)
        self._tell()

    async def runs(self, job_id: str, limit: int = 100) -> Sequence[JobRun]:
        """The job's runs, the newest first."""
        return await self._store.runs(job_id=job_id, limit=limit)

    async def try_once(self, job_id: str) -> str:
        """Run it now, under its own policy; the thread's id. Raises KnownError while it is running."""
        job = await self._store.get(job_id=job_id)
        if job is None:
            raise NotFound("That job no longer exists.")
        if not job.schedule:
            raise KnownError(_LOST, code="job.unreadable")
        if self._runs.running(job_id):
            raise KnownError(f"{job.name} is running.", next_step="Wait for it, or stop it.", code="job.busy")
        run = await self._runs.begin(job, self._around.clock(), tried=True)
        if not run.run_id:
            raise KnownError(run.detail or "It was stopped before it began.", code="job.failed")
        return run.thread_id

    async def stop(self, job_id: str) -> bool:
        """Stop the job's run; False when there is none."""
        return await self._runs.stop(job_id)

    # -- time ---------------------------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """Run what is due, until cancelled. What goes wrong with one job costs that job and is in the log."""
        while True:
            self._changed.clear()
            wait = LOOK_S
            try:
                wait = await self._look()
            except KnownError as error:  # the store refuses: it is tried again at the next look
                _log.warning("jobs could not be looked at: %s", error.code)
            except Exception:  # the boundary of a look: whatever it is, the next look comes
                _log.exception("jobs could not be looked at")
            try:
                async with asyncio.timeout(max(0.05, wait)):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _look(self) -> float:
        """Begin what is due; seconds until the next look."""
        await self._masked()
        wait = LOOK_S
        for job in await self._store.list_all():
            if not job.enabled:
                continue
            try:
                wait = min(wait, await self._looked(job))
            except KnownError as error:  # its row says what it is
                _log.info("the job %s could not be looked at: %s", job.job_id, error)
            except Exception:  # the boundary of a job: what goes wrong with one costs no other its time
                _log.exception("the job %s could not be looked at", job.job_id)
        return wait

    async def _looked(self, job: Job) -> float:
        """Begin one if it is due; seconds until it is to be looked at again."""
        times, now = await self._times_of(job), self._around.clock()
        if job.seen_at > now + LATE_S:  # the clock was set back: what is to come must not wait for it
            await self._store.seen(job_id=job.job_id, at=now)
            return LOOK_S
        following = times.after(job.seen_at)
        if following is not None and following <= now:
            passed = await asyncio.to_thread(times.passed, job.seen_at, now)
            if await self._store.get(job_id=job.job_id) != job:
                return 0.0  # it was changed, paused or deleted meanwhile
            if passed is not None:
                await self._due(job, passed, now)
            following = times.after(now)
        return following - now if following is not None else LOOK_S

    async def _due(self, job: Job, passed: Passed, now: float) -> None:
        """One run at most, and one row for all others, however many times have passed."""
        late = now - passed.last > LATE_S
        count, planned = (
            (passed.count, passed.last) if late and job.missed == "skip" else (passed.count - 1, passed.before)
        )
        if planned is not None:
            many = f"More than {MAX_COUNTED:,}" if passed.count >= MAX_COUNTED else f"{count}"
            what = f"{many} times" if count > 1 else "It"
            words = f"{what} passed while Assent was not running or this computer slept."
            await self._note(job, planned, "missed", words)
        if planned == passed.last:
            self._tell()
        elif self._runs.running(job.job_id):
            await self._store.note(run=self._runs.left_out(job.job_id, passed.last), seen_at=passed.last)
            self._tell()
        else:
            await self._runs.begin(job, passed.last)

    async def _note(self, job: Job, planned: float, status: JobRunStatus, words: str) -> None:
        run = JobRun(new_id(), job.job_id, planned, status, detail=words)
        await self._store.note(run=run, seen_at=planned)

    async def _masked(self) -> None:
        """A key that was put into the keyring after a job was kept goes out of it, also of a deleted one (R-SEC-1)."""
        everything, mask = await self._store.everything(), self._runtime.mask
        pairs = await asyncio.to_thread(lambda: [(job, clean(job, mask)) for job in everything if job.schedule])
        for job, cleaned in pairs:
            if cleaned != job:
                await self._store.reword(job=cleaned)
                self._tell()

    async def _times_of(self, job: Job) -> JobTimes:
        """Raises ConfigurationError, as for a time zone that this machine does not know."""
        key = (job.schedule, job.zone)
        if key not in self._times:
            self._times[key] = await times_of(*key)
        return self._times[key]

    def _tell(self) -> None:
        self._changed.set()
        for listener in tuple(self._listeners):
            listener()
