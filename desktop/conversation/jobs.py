"""``JobService``: scheduled jobs, kept, run under their own policy, and their history (semantics.md 32).

Jobs run only while the app does. What passed meanwhile is noted as missed, or made up for by one run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from desktop.conversation.job_again import LABEL, TermsAgain
from desktop.conversation.job_policy import policy_problems, terms_of, tool_problems
from desktop.conversation.job_times import JobTimes, times_of
from desktop.conversation.masking import clean
from desktop.conversation.runtime import Runtime
from desktop.conversation.service import ConversationService
from desktop.domain.definitions import DefinitionProblem
from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.events import Event, RunEnded
from desktop.domain.ids import new_id
from desktop.domain.jobs import MAX_SNIPPET, Job, JobRow, JobRun, JobRunStatus
from desktop.domain.models import ModelRef
from desktop.skills.patterns.paths import Where

LATE_S = 90.0
"""A time that is noticed so much later was missed: the app was closed, or the machine asleep."""
LOOK_S = 30.0
"""Clocks are set and machines sleep, so nothing is waited for longer than this at once."""
MOST_JOBS = 200
MOST_DUE = 10_000
_LONGEST = 20_000
_ENDED: dict[str, JobRunStatus] = {
    "response": "done", "stop_tool": "done", "end_session_tool": "done", "cancelled": "stopped",
    "interrupted": "interrupted", "budget": "limit", "limit": "limit", "max_steps": "limit", "global_limit": "limit",
    "max_session_turns": "limit",
}  # fmt: skip
_BAD = frozenset({"failed", "limit", "interrupted"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSurroundings:
    """What jobs need of the app: its switch for admin calls, the model for jobs without one, where patterns' paths
    begin, and the clock (seconds since the epoch)."""

    admin_allowed: Callable[[], bool]
    default_model: Callable[[], str]
    where: Where
    clock: Callable[[], float] = time.time


class JobService:
    """Implements ``domain.jobs.JobDesk``. ``open`` first; ``keep`` runs as a task until it is cancelled."""

    def __init__(self, runtime: Runtime, service: ConversationService, around: JobSurroundings) -> None:
        self._runtime = runtime
        self._store = runtime.store.jobs
        self._service = service
        self._around = around
        self._times: dict[tuple[str, str], JobTimes] = {}
        self._running: dict[str, JobRun] = {}
        self._ends: dict[str, RunEnded] = {}
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        runtime.bus.listen(self._take)
        service.terms_of = TermsAgain(runtime.store, runtime.budget, around.admin_allowed, around.where).of

    async def open(self) -> None:
        """Close what the last process left running."""
        await self._store.close_open(at=self._around.clock())

    # -- the desk -----------------------------------------------------------------------------------------------------

    @property
    def admin_allowed(self) -> bool:
        """The app's switch (C-34)."""
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
        times = await self._times_of(job) if job.enabled else None
        following = times.after(now) if times is not None else None
        return JobRow(job, following, runs[0] if runs else None, failures, job.job_id in self._running)

    async def problems(self, job: Job) -> Sequence[DefinitionProblem]:
        """All that is wrong with it, at once."""
        found = [
            DefinitionProblem(path, "job.empty", words)
            for path, value, words in (
                ("name", job.name, "Give it a name."), ("message", job.message, "Write what it is to do.")
            ) if not value.strip()
        ]  # fmt: skip
        if len(job.name) > MAX_SNIPPET or len(job.message) > _LONGEST:
            found.append(DefinitionProblem("message", "job.long", f"It is too long: at most {_LONGEST:,} characters."))
        for path, schedule, zone in (("schedule", job.schedule, "UTC"), ("zone", "@daily", job.zone)):
            try:
                await times_of(schedule, zone)
            except ConfigurationError as error:
                found.append(DefinitionProblem(path, "job.schedule", f"{error} {error.next_step}".strip()))
        try:
            self._runtime.agents.get(job.agent)
        except NotFound as error:
            found.append(DefinitionProblem("agent", "job.agent", str(error)))
        await self._runtime.skills.listed()  # from here on the table answers from memory
        tools = [tool.spec for tool in self._runtime.skills.table.tools()]
        ref = ModelRef.parse(job.model or self._around.default_model())
        if not ref.connection_id or not ref.model:
            found.append(DefinitionProblem("model", "job.model", "Choose a model."))
        if job.missed not in ("skip", "once"):
            found.append(DefinitionProblem("missed", "job.missed", "It is skip or once."))
        listed = await asyncio.to_thread(lambda: list(tool_problems(job.policy, tools)))
        return [*found, *policy_problems(job.policy, self._runtime.mask), *listed]

    async def next_times(self, schedule: str, zone: str, count: int = 5) -> Sequence[float]:
        """The next times. Raises ConfigurationError."""
        times = await times_of(schedule, zone)
        return await asyncio.to_thread(times.between, self._around.clock(), 1e12, min(count, 50))

    async def save(self, job: Job) -> Job:
        """Keep it whole or not at all; its next times count from now. Raises ConfigurationError with all problems."""
        problems = [problem for problem in await self.problems(job) if not problem.warning]
        if problems:
            said = "; ".join(f"{problem.path}: {problem.text.rstrip('.')}" for problem in problems)
            raise ConfigurationError(f"The job was not saved: {said}.", next_step="Correct it and save again.")
        now = self._around.clock()
        if not job.job_id:
            if len(await self._store.list_all()) >= MOST_JOBS:
                raise ConfigurationError(f"There are {MOST_JOBS} jobs.", next_step="Delete one first.")
            job = replace(job, job_id=new_id(), created_at=now)
        kept = clean(replace(job, seen_at=now), self._runtime.mask)
        await self._store.put(job=kept)
        self._tell()
        return kept

    async def set_enabled(self, job_id: str, enabled: bool) -> None:
        """Pause it or let it go on; what passed while it was paused is not missed."""
        await self._store.set_enabled(job_id=job_id, enabled=enabled, seen_at=self._around.clock())
        self._tell()

    async def delete(self, job_id: str) -> None:
        """Stop its run and take it out of the list; its threads stay."""
        await self.stop(job_id)
        await self._store.delete(job_id=job_id, at=self._around.clock())
        self._tell()

    async def restore(self, job: Job) -> None:
        """Undo of ``delete``."""
        await self._store.put(job=clean(replace(job, seen_at=self._around.clock()), self._runtime.mask))
        self._tell()

    async def runs(self, job_id: str, limit: int = 100) -> Sequence[JobRun]:
        """Its history, the newest first."""
        return await self._store.runs(job_id=job_id, limit=limit)

    async def try_once(self, job_id: str) -> str:
        """Run it now, under its own policy; the thread's id. Raises KnownError while it is running."""
        job = next((one for one in await self._store.list_all() if one.job_id == job_id), None)
        if job is None:
            raise NotFound("That job no longer exists.")
        if job_id in self._running:
            raise KnownError(f"{job.name} is running.", next_step="Wait for it, or stop it.", code="job.busy")
        run = await self._begin(job, self._around.clock(), tried=True)
        if run.status == "failed":
            raise KnownError(run.detail or "It could not begin.", code="job.failed")
        return run.thread_id

    async def stop(self, job_id: str) -> bool:
        """Stop its run; False when there is none."""
        run = self._running.get(job_id)
        return run is not None and await self._service.stop(run.thread_id)

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
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.05, wait))
            except TimeoutError:
                continue

    async def _look(self) -> float:
        """Begin what is due; seconds until the next look."""
        wait = LOOK_S
        for job in await self._store.list_all():
            times = await self._times_of(job) if job.enabled else None
            if times is None:
                continue
            now = self._around.clock()
            if job.seen_at > now + LATE_S:  # the clock was set back: what is to come must not wait for it
                await self._store.seen(job_id=job.job_id, at=now)
                continue
            due = await asyncio.to_thread(times.between, job.seen_at, now, MOST_DUE)
            if due:
                await self._due(job, due, now)
            following = times.after(now)
            if following is not None:
                wait = min(wait, following - now)
        return wait

    async def _due(self, job: Job, due: Sequence[float], now: float) -> None:
        """One run at most, however many times have passed."""
        last, late = due[-1], now - due[-1] > LATE_S
        missed = len(due) if late and job.missed == "skip" else len(due) - 1
        if missed:
            planned = due[missed - 1]
            words = f"{f'{missed} times' if missed > 1 else 'It'} passed while Assent was not running."
            await self._store.note(run=JobRun(new_id(), job.job_id, planned, "missed", detail=words), seen_at=planned)
        if missed == len(due):
            self._tell()
        elif job.job_id in self._running:
            words = "The run before it was still at work."
            await self._store.note(run=JobRun(new_id(), job.job_id, last, "overrun", detail=words), seen_at=last)
            self._tell()
        else:
            await self._begin(job, last)

    async def _times_of(self, job: Job) -> JobTimes | None:
        key = (job.schedule, job.zone)
        if key not in self._times:
            try:
                self._times[key] = await times_of(*key)
            except ConfigurationError as error:  # a time zone that this machine does not know
                _log.warning("the job %s has no times: %s", job.job_id, error)
                return None
        return self._times[key]

    # -- one run ------------------------------------------------------------------------------------------------------

    async def _begin(self, job: Job, planned: float, *, tried: bool = False) -> JobRun:
        """Written down as running before anything is done, so that a time is never run twice."""
        now = self._around.clock()
        run = JobRun(new_id(), job.job_id, planned, "running", started_at=now, tried=tried)
        self._running[job.job_id] = run
        try:
            await self._store.note(run=run, seen_at=None if tried else planned)
            run = await self._started(job, run)
        except KnownError as error:
            run = replace(run, status="failed", ended_at=self._around.clock(), detail=self._snippet(str(error)))
            await self._store.note(run=run)
        finally:
            if not run.run_id:  # it did not come to a run
                self._running.pop(job.job_id, None)
        self._tell()
        return run

    async def _started(self, job: Job, run: JobRun) -> JobRun:
        around = self._around
        terms = terms_of(job.policy, self._runtime.budget, around.admin_allowed, around.where, job.name)
        when = datetime.fromtimestamp(run.planned_at).strftime("%d %b %H:%M")
        model = job.model or self._around.default_model()
        thread = await self._service.create_thread(agent=job.agent, model=model, title=f"{job.name}, {when}")
        await self._runtime.store.threads.set_label(thread_id=thread.thread_id, label=LABEL)
        run_id = await self._service.run_job(thread.thread_id, job.message, terms)
        run = self._running[job.job_id] = replace(run, thread_id=thread.thread_id, run_id=run_id)
        await self._store.note(run=run)
        if self._runtime.spawn is not None:
            self._runtime.spawn(self._ended(run), f"job {job.job_id}")
        return run

    async def _ended(self, run: JobRun) -> None:
        while not await self._service.wait(run.thread_id, 3600):
            pass
        end = self._ends.pop(run.thread_id, None)
        status: JobRunStatus = _ENDED.get(end.reason, "failed") if end is not None else "failed"
        detail = self._snippet(end.detail) if end is not None and status != "done" else ""
        ended = replace(run, status=status, ended_at=self._around.clock(), detail=detail)
        self._running.pop(run.job_id, None)
        try:
            await self._store.note(run=ended)
        except KnownError as error:  # it stays "running" in the history, and is closed at the next start
            _log.warning("the end of a job's run is not kept: %s", error.code)
        self._tell()

    def _snippet(self, text: str) -> str:
        """Masked before it is cut: a half of a key would not be known any more."""
        return self._runtime.mask(text)[:MAX_SNIPPET]

    def _take(self, event: Event) -> None:
        if isinstance(event, RunEnded) and any(run.thread_id == event.thread_id for run in self._running.values()):
            self._ends[event.thread_id] = event  # the last of those that hand it on

    def _tell(self) -> None:
        self._changed.set()
        for listener in tuple(self._listeners):
            listener()
