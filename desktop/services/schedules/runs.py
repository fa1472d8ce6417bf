"""The runs of jobs: begun under their job's terms, followed to their end, stopped."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from desktop.domain.errors import KnownError, NotFound
from desktop.domain.ids import new_id
from desktop.domain.jobs import MAX_SNIPPET, Job, JobRun, JobRunStatus
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.model_settings import read_settings
from desktop.domain.runs.events import Event, RunEnded, RunWaiting, end_kind
from desktop.services.chats.service import ConversationService
from desktop.services.projects.service import ProjectService
from desktop.services.schedules.retention import clear_away
from desktop.services.schedules.terms import LABEL
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.unattended import terms_of
from desktop.skills.patterns.paths import Where

if TYPE_CHECKING:
    from desktop.services.turns import spec as turns_spec
else:
    turns_spec = lazy_module("desktop.services.turns.spec")

_BUG = "Something went wrong inside Assent; the log has the details."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSurroundings:
    """What jobs need of the app: its switch for admin calls, the model for jobs without one, where patterns' paths
    begin, the clock (seconds since the epoch), the folders that jobs may work in, and why nothing confines commands
    here, or "" (blocks)."""

    admin_allowed: Callable[[], bool]
    default_model: Callable[[], str]
    where: Where
    clock: Callable[[], float] = time.time
    projects: ProjectService | None = None
    """Judges the folders of jobs; None: no job works in one."""
    unconfined: Callable[[], str] = str

    async def folder_of(self, job: Job) -> str:
        """Where a job's runs work now, really; "": in no project. Raises KnownError where it cannot be used."""
        if not job.project or self.projects is None:
            return ""
        return (await self.projects.usable(job.project)).path


@dataclass(slots=True)
class _Live:
    """A run under way. ``unwanted``: it was stopped, perhaps before it had a thread; ``end`` of the last of those who
    the conversation was handed on to; ``left_out`` the one row for the ``count`` times that came meanwhile."""

    run: JobRun
    unwanted: bool = False
    waiting: bool = False
    end: RunEnded | None = None
    left_out: JobRun | None = None
    count: int = 0


class JobRuns:
    """At most one run a job. ``tell`` is called when something of one has changed."""

    def __init__(
        self, runtime: Runtime, service: ConversationService, around: JobSurroundings, tell: Callable[[], None]
    ) -> None:
        self._runtime = runtime
        self._store = runtime.store.jobs
        self._service = service
        self._around = around
        self._tell = tell
        self._live: dict[str, _Live] = {}
        self._deleted: set[str] = set()
        runtime.bus.listen(self._take)

    def running(self, job_id: str) -> bool:
        """Whether it has a run under way, be it one that waits."""
        return job_id in self._live

    def waiting(self, job_id: str) -> bool:
        """Whether its run waits for a place among those that work at once."""
        live = self._live.get(job_id)
        return live is not None and live.waiting

    def deleted(self, job_id: str, deleted: bool = True) -> None:
        """A deleted job begins no run, whatever was known of it a moment ago. Said before the store knows."""
        (self._deleted.add if deleted else self._deleted.discard)(job_id)

    def left_out(self, job_id: str, planned: float) -> JobRun:
        """The row of a time at which its run before was still at work: one for all of them, or a long run's would fill
        the history."""
        live = self._live[job_id]
        live.count += 1
        words = "The run before it was still working"
        if live.left_out is None:
            live.left_out = JobRun(new_id(), job_id, planned, "overrun", detail=f"{words}.")
        else:
            live.left_out = replace(live.left_out, detail=f"{words}: {live.count:,} times.")
        return live.left_out

    async def stop(self, job_id: str) -> bool:
        """Stop its run, also one that only begins; False when there is none."""
        live = self._live.get(job_id)
        if live is None:
            return False
        live.unwanted = True
        return not live.run.run_id or await self._service.stop(live.run.thread_id)

    async def begin(self, job: Job, planned: float, *, tried: bool = False) -> JobRun:
        """Written down as running before anything is done, so that a time is never run twice. Raises KnownError where
        not even that can be done."""
        if job.job_id in self._deleted:
            raise NotFound("That job no longer exists.")
        run = JobRun(new_id(), job.job_id, planned, "running", started_at=self._around.clock(), tried=tried)
        live = self._live[job.job_id] = _Live(run)
        try:
            await self._store.note(run=run, seen_at=None if tried else planned)
            await self._started(job, live)
        except KnownError as error:
            await self._closed(live, "failed", str(error))
        except Exception:  # the boundary of a job's beginning: a bug of ours costs this run and is in the log
            _log.exception("a run of the job %s could not begin", job.job_id)
            await self._closed(live, "failed", _BUG)
        finally:
            if not live.run.run_id:  # it did not come to a run
                self._live.pop(job.job_id, None)
        self._tell()
        return live.run

    async def _started(self, job: Job, live: _Live) -> None:
        around = self._around
        project = await around.folder_of(job)
        where = Where(project, around.where.home) if project else around.where
        terms = terms_of(job.policy, self._runtime.budget, around.admin_allowed, where, job.name)
        if live.unwanted:
            await self._closed(live, "stopped", "")
            return
        when = datetime.fromtimestamp(live.run.planned_at).strftime("%d %b %H:%M")
        model = job.model or await self._agents_model(job) or around.default_model()
        title = f"{job.name}, {when}"
        thread = await self._service.create_thread(agent=job.agent, model=model, title=title, project=project)
        await self._runtime.store.threads.set_label(thread_id=thread.thread_id, label=LABEL)
        await self._service.set_model_settings(thread.thread_id, read_settings(job.settings)[0])
        live.run = replace(live.run, thread_id=thread.thread_id)
        run_id = await self._service.run_job(thread.thread_id, job.message, terms)
        live.run = replace(live.run, run_id=run_id)
        if live.unwanted:
            await self._service.stop(thread.thread_id)
        if self._runtime.spawn is not None:
            self._runtime.spawn(self._ended(live), f"job {job.job_id}")
        await self._store.note(run=live.run)

    async def _agents_model(self, job: Job) -> str:
        """What the agent of the job names itself."""
        agent = self._runtime.agents.get(job.agent)
        return turns_spec.model_of(agent.side_a, await prompt_skill(self._runtime.skills, agent, agent.side_a))

    async def _ended(self, live: _Live) -> None:
        while not await self._service.wait(live.run.thread_id, 3600):
            pass
        end = live.end
        status: JobRunStatus = end_kind(end.reason) if end is not None else "failed"
        self._live.pop(live.run.job_id, None)
        try:
            await self._closed(live, status, end.detail if end is not None and status != "done" else "")
            await clear_away(self._runtime.store, self._service.delete, live.run.job_id)
        except KnownError as error:  # it stays "running" in the history, and is closed at the next start
            _log.warning("the end of a job's run is not kept, or old ones did not go: %s", error.code)
        self._tell()

    async def _closed(self, live: _Live, status: JobRunStatus, detail: str) -> None:
        """Masked before it is cut: a half of a key would not be known any more."""
        snippet = self._runtime.mask(detail)[:MAX_SNIPPET]
        live.run = replace(live.run, status=status, ended_at=self._around.clock(), detail=snippet)
        await self._store.note(run=live.run)

    def _take(self, event: Event) -> None:
        if not isinstance(event, RunEnded | RunWaiting):
            return
        live = next((one for one in self._live.values() if one.run.thread_id == event.thread_id), None)
        if live is None:
            return
        if isinstance(event, RunEnded):
            live.end = event
        else:
            live.waiting = event.waiting
            self._tell()
