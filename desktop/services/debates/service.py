"""``DebateService``: set up, run, steer, fork, judge and export debates (``domain.debates``).

Async, without Qt. What happens in a debate comes over the bus; one run a debate at a time (R-SES-19).
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.domain.debates import JudgeVerdict
from desktop.domain.errors import ConfigurationError, KnownError, StoreError
from desktop.domain.ids import new_id
from desktop.domain.loading import lazy
from desktop.domain.runs.cancellation import STOPPED, CancellationToken
from desktop.domain.runs.events import UserMessageQueued
from desktop.domain.threads import QueuedRecord
from desktop.services.chats.service import CLOSE_S
from desktop.services.debates.library import DebateLibrary, SaveAgent
from desktop.services.debates.setup import to_plain
from desktop.services.debates.state import Debate, load, verdict_to_plain
from desktop.services.projects.service import ProjectService
from desktop.services.turns.endings import CLOSING
from desktop.services.turns.runtime import Runtime
from desktop.supervision.tasks import TaskOwner

if TYPE_CHECKING:
    from desktop.services.debates import judge as debates_judge
    from desktop.services.debates import run as debates_run
    from desktop.services.debates.run import DebateRun
else:
    debates_judge = lazy.lazy_module("desktop.services.debates.judge")
    debates_run = lazy.lazy_module("desktop.services.debates.run")

_log = logging.getLogger(__name__)


class DebateService(DebateLibrary):
    """What the Debates page asks for; raises KnownError with the next step. ``turn`` counts from 1; 0 is the topic.
    ``owner`` holds the tasks of runs; ``close`` ends them, resumable."""

    def __init__(
        self,
        runtime: Runtime,
        owner: TaskOwner,
        save_agent: SaveAgent | None = None,
        projects: ProjectService | None = None,
    ) -> None:
        super().__init__(runtime, save_agent, projects)
        self._owner = owner
        self._starting: set[str] = set()
        self._closing = False

    # -- running ------------------------------------------------------------------------------------------------------

    async def start(self, thread_id: str) -> None:
        """Begin, or go on after a pause, a restart or an end by number of turns. Raises KnownError where there is
        nothing to go on with."""
        run = self._active.get(thread_id)
        if run is None:
            await self._launch(thread_id, single=False)
        elif run.pausing:
            run.pausing, run.debate.status = False, "running"
            run.changed()

    async def step(self, thread_id: str) -> None:
        """Run one turn of a paused debate, then pause again."""
        if thread_id in self._active:
            raise KnownError("This debate is running.", next_step="Pause it first.", code="run.busy")
        await self._launch(thread_id, single=True)

    async def pause(self, thread_id: str) -> None:
        """Pause the debate after the turn under way (R-SES-23)."""
        run = self._active.get(thread_id)
        if run is not None and not run.pausing:
            run.pausing, run.debate.status = True, "pausing"
            run.changed()

    async def stop(self, thread_id: str) -> None:
        """Now, the judge too; the end comes as an event."""
        run, judging = self._active.get(thread_id), self._judging.get(thread_id)
        for token in (run.token if run is not None else None, judging):
            if token is not None:
                token.cancel(STOPPED)

    async def extend(
        self,
        thread_id: str,
        *,
        max_turns: int | None = None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Set new, larger bounds (None: as it is). A debate that ended by the old ones is paused again."""
        debate = await self._idle(thread_id)
        old = debate.setup
        setup = replace(
            old,
            max_turns=max_turns if max_turns is not None else old.max_turns,
            max_cost=max_cost if max_cost is not None else old.max_cost,
            max_tokens=max_tokens if max_tokens is not None else old.max_tokens,
        )
        if setup.max_turns is not None and setup.max_turns <= len(debate.turns):
            done = f"{len(debate.turns)} turns are done already."
            raise ConfigurationError(done, next_step="Choose a larger number.")
        await self._refuse(setup)
        await self._store.debates.set_setup(thread_id=thread_id, setup=to_plain(setup))
        if debate.status == "ended" and debate.end_reason in ("max_session_turns", "budget"):
            await self._store.debates.set_status(thread_id=thread_id, status="paused")
        await self._changed(thread_id)

    async def speak(self, thread_id: str, text: str) -> None:
        """Add a moderator's message, which both sides read before the next turn."""
        text = self._runtime.mask(text).strip()
        if not text:
            raise KnownError("The message is empty.", next_step="Write something.", code="message.empty")
        await self._store.debates.get(thread_id=thread_id)
        record = QueuedRecord(new_id(), thread_id, text, (), time.time())
        await self._store.queue.add(record=record)
        run = self._active.get(thread_id)
        run_id = run.run_id if run is not None else ""
        told = UserMessageQueued(thread_id=thread_id, run_id=run_id, queue_id=record.queue_id, text=text)
        self._runtime.bus.publish(told)
        await self._waiting_changed(thread_id)

    async def take_back(self, thread_id: str, text: str) -> bool:
        """A moderator's message that nobody has read yet; False when it is too late."""
        waiting = await self._store.queue.waiting(thread_id=thread_id)
        wanted = self._runtime.mask(text).strip()
        found = next((one for one in reversed(waiting) if one.text == wanted), None)
        taken = found is not None and await self._store.queue.remove(queue_id=found.queue_id)
        await self._waiting_changed(thread_id)
        return taken

    # -- afterwards ---------------------------------------------------------------------------------------------------

    async def judge(self, thread_id: str, model: str) -> JudgeVerdict:
        """Ask the judge, and keep its verdict. Raises KnownError when no valid one came."""
        if thread_id in self._judging:
            raise KnownError("A judge is already at work.", code="run.busy")
        debate = await load(self._store, thread_id)
        token = self._judging[thread_id] = CancellationToken()
        try:
            await self._changed(thread_id)
            await asyncio.to_thread(lazy.load, debates_judge)
            verdict = await debates_judge.judge(self._runtime, debate, model, token)
            await self._store.debates.set_verdict(thread_id=thread_id, verdict=verdict_to_plain(verdict))
        finally:
            del self._judging[thread_id]
            await self._verdict_changed(thread_id)
        return verdict

    async def delete(self, thread_id: str) -> None:
        """Stop the debate, then take it out of the list."""
        await self.stop(thread_id)
        await self.wait(thread_id)
        await self._store.threads.delete(thread_id=thread_id, at=time.time())
        self._told(thread_id, "deleted")

    # -- the app's end ------------------------------------------------------------------------------------------------

    def running(self) -> tuple[str, ...]:
        """Debates with a run under way."""
        return tuple(self._active)

    async def wait(self, thread_id: str, timeout_s: float = CLOSE_S) -> bool:
        """Wait for its run to end; False when it has not in time."""
        run = self._active.get(thread_id)
        if run is None:
            return True
        try:
            async with asyncio.timeout(timeout_s):
                await run.over.wait()
        except TimeoutError:
            return False
        return True

    async def close(self) -> list[str]:
        """Stop all runs; they are paused at their last finished turn. Returns the threads whose runs would not stop."""
        self._closing = True
        waiting = list(self._active.items())
        for _, run in waiting:
            run.token.cancel(CLOSING)
        for token in self._judging.values():
            token.cancel(CLOSING)
        ended = await asyncio.gather(*(self.wait(thread_id) for thread_id, _ in waiting))
        return [thread_id for (thread_id, _), done in zip(waiting, ended, strict=True) if not done]

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _launch(self, thread_id: str, *, single: bool) -> None:
        if self._closing:
            raise KnownError("Assent is closing.", code="app.closing")
        if thread_id in self._starting:
            raise KnownError("This debate is starting.", code="run.busy")
        self._starting.add(thread_id)
        try:
            debate = await self._idle(thread_id)
            _can_go_on(debate)
            await asyncio.to_thread(lazy.load, debates_run)
            await self._refuse(debate.setup)  # a prompt or a tool may have gone meanwhile (R-DEF-11)
            run = debates_run.DebateRun(
                self._runtime, debate, unattended=None, single=single
            )  # a person pressed the button
            self._active[thread_id] = run
        finally:
            self._starting.discard(thread_id)
        self._owner.spawn(self._run(run), f"debate {thread_id}")

    async def _run(self, run: DebateRun) -> None:
        thread_id = run.debate.thread.thread_id
        try:
            await run.go()
        except StoreError as error:  # the end could not be stored; it is recovered at the next start
            _log.error("debate %s could not be stored to its end: %s", thread_id, error.code)
        finally:
            del self._active[thread_id]
            run.tell_end()

    async def _idle(self, thread_id: str) -> Debate:
        if thread_id in self._active:
            raise KnownError("This debate is running.", next_step="Pause or stop it first.", code="run.busy")
        return await load(self._store, thread_id)

    # -- telling ------------------------------------------------------------------------------------------------------

    async def _waiting_changed(self, thread_id: str) -> None:
        run = self._active.get(thread_id)
        if run is not None:
            run.debate.waiting = tuple(one.text for one in await self._store.queue.waiting(thread_id=thread_id))
        await self._changed(thread_id)

    async def _verdict_changed(self, thread_id: str) -> None:
        """Publish a changed verdict, also to a run under way, which has its own copy of the debate."""
        kept = await load(self._store, thread_id)
        run = self._active.get(thread_id)
        if run is not None:
            run.debate.verdict = kept.verdict
        await self._changed(thread_id)


def _can_go_on(debate: Debate) -> None:
    """Whether there is a next turn. Raises KnownError."""
    if debate.turns and debate.turns[-1].ended_by == "end_session_tool":
        raise KnownError("One side ended this debate.", next_step="Fork it from an earlier turn.", code="debate.over")
    maximum = debate.setup.max_turns
    if maximum is not None and len(debate.turns) >= maximum:
        raise KnownError(f"All {maximum} turns are done.", next_step="Allow more turns first.", code="debate.over")
