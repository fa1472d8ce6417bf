"""One run of a debate: turns of A and B by turns, until something ends or pauses it.

A turn counts when it is stored. One that breaks off (stopped, failed) leaves its messages as a branch, and the next run
begins below the last turn that counts. One that the end of the process cut off goes on where it stood.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import Any

from desktop.agents.turn import TurnInput
from desktop.domain.debates import SideMeter, TurnRecord
from desktop.domain.errors import BudgetExhausted, CancellationError, KnownError, NotFound
from desktop.domain.ids import AgentId, new_id
from desktop.domain.jobs import Unattended
from desktop.domain.messages import Usage
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import (
    DebateChanged,
    Event,
    MessageClosed,
    MessageOpened,
    SideTurnEnded,
    SideTurnStarted,
    UserMessageDelivered,
)
from desktop.domain.runs.middleware import MiddlewareTermination
from desktop.domain.text.outside import OutsideText
from desktop.pipeline.context import Invocation
from desktop.services.debates.context import SideContexts
from desktop.services.debates.ends import (
    DebateStop,
    TurnOver,
    broken_off,
    due,
    last_turn_note,
    paused,
    stop_for,
    turn_over,
)
from desktop.services.debates.perspectives import Perspectives
from desktop.services.debates.place import DebatePlace
from desktop.services.debates.resuming import InterruptedTurn, interrupted_turn
from desktop.services.debates.setup import DEBATE, label_of
from desktop.services.debates.state import Debate, moderated
from desktop.services.debates.turn import bounds, meta_of, spec_below, start_of, take_in_turn
from desktop.services.threads.outside import read_in_records
from desktop.services.threads.recorder import RunRecorder
from desktop.services.turns.endings import CLOSING, Ending, aborted, failed
from desktop.services.turns.heeding import Heeding
from desktop.services.turns.run_frame import CalledBy, RunFrame
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.side_turn import SideTurn
from desktop.services.turns.spec import SideSpec, TurnRounds
from desktop.supervision.tree import ROOT

_log = logging.getLogger(__name__)


class DebateRun:
    """Carries a debate on. ``single``: one turn only; ``pausing`` may be set at any time; ``over`` is set last.

    With ``called_by`` the debate works for an agent that called it as a tool (R-AAT-4): with the caller's token, within
    its budget and what it may use, and without slots of its own. ``unattended`` is said by whoever starts it otherwise:
    None means that a person is there (R-CRON-1).
    """

    def __init__(
        self,
        runtime: Runtime,
        debate: Debate,
        *,
        unattended: Unattended | None,
        single: bool = False,
        called_by: CalledBy | None = None,
    ) -> None:
        self._runtime = runtime
        self._above = called_by
        self.debate = debate
        self._single = single
        self.pausing = False
        self.run_id = debate.run_id = new_id()
        self.token = called_by.meta.cancellation if called_by is not None else CancellationToken()
        self.over = asyncio.Event()
        self._stop = stop_for(Ending("interrupted"))
        self._used = Usage(cost_usd=0.0)
        self._may: TurnRounds | None = None
        self._seen = Perspectives()
        self._cut: InterruptedTurn | None = None
        self._read: list[OutsideText] = []
        self._budget = bounds(runtime, debate, called_by)
        self._meta = meta_of(runtime, debate, self.run_id, self.token, called_by, unattended)
        agent_id = AgentId(debate.setup.agent or DEBATE, debate.thread.thread_id)
        thread_id = debate.thread.thread_id
        self._frame = RunFrame(runtime, thread_id=thread_id, run_id=self.run_id, called_by=called_by)
        self._place = DebatePlace(runtime, self._meta, agent_id, self._frame)
        self._contexts = SideContexts(runtime, self._meta)

    async def go(self) -> None:
        """Run and store how it ended. Raises what the store raises at the very end, and CancelledError."""
        try:
            await self._begin()
            self._stop = self._place.judged(await self._ended())
            await self._conclude(self._stop)
        finally:
            self._place.forget()

    @property
    def ending(self) -> Ending:
        """How the run ended."""
        return self._stop.ending

    def changed(self) -> None:
        """Publish how the debate stands."""
        self._publish(DebateChanged(**self._where, state=self.debate.state()))

    # -- beginning and end --------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        debate, store, thread = self.debate, self._runtime.store, self.debate.thread
        model = debate.setup.side(debate.side).model
        await store.debates.rewind(thread_id=thread.thread_id)
        await store.debates.set_status(thread_id=thread.thread_id, status="running")
        debate.status, debate.end_reason, debate.end_detail = "running", "", ""
        agent = debate.setup.agent or DEBATE
        self._cut = await interrupted_turn(store, debate)
        goes_on = self._cut is not None
        await self._frame.begin(agent=agent, model=model, below=thread.thread_id, goes_on=goes_on)
        self._budget = bounds(self._runtime, debate, self._above, await self._place.open())
        self.changed()
        path = await store.messages.path(thread_id=thread.thread_id)
        self._seen.add(path, debate.turns)
        cut = self._cut.records if self._cut is not None else ()
        self._read = read_in_records([*path, *cut], called=self._above is not None)
        if self._cut is not None:
            await store.debates.show(thread_id=thread.thread_id, message_id=self._cut.leaf)
        await self._contexts.load(thread.thread_id, path)

    async def _ended(self) -> DebateStop:
        try:
            self._runtime.own_files.check()
            await self._runtime.skills.levels.begins(start_of(self._runtime, self.debate, self._meta, self._above))
            return await self._alternate()
        except CancellationError as error:
            return stop_for(aborted(error.reason))
        except MiddlewareTermination as error:
            return DebateStop("ended", Ending("terminated", str(error), "terminated"))
        except KnownError as error:
            return stop_for(failed(error))
        except Exception as error:  # the boundary of a run: a bug of ours costs this run and is in the log
            _log.exception("run %s of a debate failed", self.run_id)
            return stop_for(failed(error))

    async def _conclude(self, stop: DebateStop) -> None:
        debate, store, ending = self.debate, self._runtime.store, stop.ending
        thread_id = debate.thread.thread_id
        debate.status, debate.now = stop.status, None
        debate.end_reason = "" if stop.wanted else ending.reason
        debate.end_detail = "" if stop.wanted else f"{ending.detail} {ending.next_step}".strip()
        if ending.reason == "interrupted":  # as after a crash
            await store.debates.rewind(thread_id=thread_id)
        await store.debates.set_status(
            thread_id=thread_id, status=debate.status, end_reason=debate.end_reason, end_detail=debate.end_detail
        )
        await self._place.close(stop)
        await self._frame.store_end(ending, self._used)

    def tell_end(self) -> None:
        """Publish that the run has ended, however it ended; another one may begin."""
        debate, ending = self.debate, self._stop.ending
        debate.run_id, debate.now = "", None
        if debate.status in ("running", "pausing"):  # the store refused the end: it is recovered at the next start
            debate.status, debate.end_reason = "paused", "interrupted"
        self.changed()
        self._frame.tell_end(ending, self._used)
        self.over.set()

    # -- turns --------------------------------------------------------------------------------------------------------

    async def _alternate(self) -> DebateStop:
        debate, begun = self.debate, False
        while True:
            ending = due(debate.setup, debate.turns, self._budget, begun=begun)
            if ending is not None:
                return DebateStop("ended", ending)
            if self.pausing:
                return paused(len(debate.turns))
            cut, self._cut = self._cut, None
            if cut is None or not cut.records:
                await self._take_waiting()
            broken = await self._turn(cut)
            if broken is not None:
                return stop_for(broken)
            self.pausing, begun = self.pausing or self._single, True

    async def _take_waiting(self) -> None:
        """What the moderator said meanwhile, before both sides' next turns (R-SES-19, R-SES-23)."""
        store, thread_id = self._runtime.store, self.debate.thread.thread_id
        waiting = await store.queue.waiting(thread_id=thread_id)
        for one in waiting:
            record = moderated(one, parent_id=self.debate.head, run_id=self.run_id, mask=self._runtime.mask)
            try:
                await store.debates.moderate(record=record, queue_id=one.queue_id)
            except NotFound:
                continue
            self.debate.head = record.message_id
            self._seen.add([record], ())
            self._publish(UserMessageDelivered(**self._where, queue_id=one.queue_id, message_id=record.message_id))
        if waiting:
            self._heed_moderator()
            left = await store.queue.waiting(thread_id=thread_id)
            self.debate.waiting = tuple(one.text for one in left)
            self.changed()

    def _heed_moderator(self) -> None:
        """What the sides call now follows the person's words, unless an agent of theirs is at work still."""
        live = self._runtime.live
        if self._above is not None or live is None or live.node(self.run_id) is None:
            return
        others = (one for one in live.facts(self.run_id) if one.path != ROOT and not one.side)
        if all(one.ended_at is not None for one in others):
            self._read = []
            self._runtime.pipeline.person_spoke(Invocation(self._meta))

    async def _turn(self, cut: InterruptedTurn | None = None) -> Ending | None:
        """One side turn, or the rest of one; None when it counts, else why it broke off."""
        debate, side = self.debate, self.debate.side
        number, started = len(debate.turns) + 1, cut.started(time.time()) if cut is not None else time.time()
        spec = spec_below(debate.setup, side, self._above)
        label = label_of(debate.setup, side)
        recorder = RunRecorder(
            self._runtime.store,
            self._heard,
            thread_id=debate.thread.thread_id,
            run_id=self.run_id,
            parent_id=cut.leaf if cut is not None and cut.records else debate.head,
            author=label,
            model=str(spec.model),
            side=side,
            first=cut.first if cut is not None else "",
            closing=lambda: self.token.reason == CLOSING,
        )
        before = cut.meter if cut is not None else SideMeter(usage=Usage(cost_usd=0.0))
        self._may = TurnRounds.of(spec, label, self._budget, before.rounds)
        debate.now = replace(before, round_limit=int(self._may(before.rounds).value))
        self._publish(SideTurnStarted(**self._where, side=side, number=number, label=label, model=str(spec.model)))
        self.changed()
        other = label_of(debate.setup, "b" if side == "a" else "a")
        with self._place.turn(spec, label, self._budget, other=other) as (meta, budget):
            self._may = replace(self._may, budget=budget)
            turn = SideTurn(
                runtime=self._runtime,
                spec=spec,
                meta=meta,
                recorder=recorder,
                budget=budget,
                unfinished=cut.unfinished if cut is not None else None,
                below=self._above.below if self._above is not None else None,
                turn=str(number),
                heeding=Heeding(self._read),
            )
            ending, over = await self._taken(turn, self._given(spec, number, cut), len(cut.messages) if cut else 0)
        self._used = self._used.plus(recorder.usage)
        notices = [*turn.left_out, *(over.notices if over is not None else [ending.notice] if ending.notice else [])]
        await recorder.conclude(notices, interrupted=over is None)
        if over is None:
            return ending
        await self._finish(recorder, over, number, started, before.usage.plus(recorder.usage))
        return None

    async def _taken(self, turn: SideTurn, given: TurnInput, own: int) -> tuple[Ending, TurnOver | None]:
        """The turn, and how it went. The last ``own`` messages that it is given are its own."""
        try:
            turn.budget.check()  # a limit of this side alone
            result = await take_in_turn(turn, given, slot=self._above is None)
        except CancellationError as error:
            return aborted(error.reason), None
        except BudgetExhausted as error:
            return Ending("budget", str(error), error.code, error.next_step, error.limit), None
        except KnownError as error:
            return failed(error), None
        over = turn_over(result, len(given.messages) - own)
        if over is None:
            return broken_off(result, turn.meta.cancellation.reason), None
        return Ending("response"), over

    async def _finish(self, recorder: RunRecorder, over: TurnOver, number: int, started: float, used: Usage) -> None:
        """Store a finished turn, which counts from then on."""
        debate, store = self.debate, self._runtime.store
        now = debate.now or SideMeter()
        record = TurnRecord(
            debate.thread.thread_id,
            number,
            debate.side,
            recorder.first,
            recorder.leaf,
            over.outcome,
            over.by,
            now.rounds,
            now.calls,
            used,
            started,
            time.time(),
            recorder.model,
            self.run_id,
        )
        await store.debates.finish_turn(thread_id=debate.thread.thread_id, record=record)
        written = await store.debates.since(message_id=recorder.leaf, after=debate.head)
        self._seen.add(written, [record])
        debate.finish(record, written[-1].created_at)
        self._publish(SideTurnEnded(**self._where, record=record))
        self.changed()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _given(self, spec: SideSpec, number: int, cut: InterruptedTurn | None) -> TurnInput:
        topic = self._seen.topic
        messages = self._seen.next_for(spec.side)
        return TurnInput(
            messages=[*messages, *cut.messages] if cut is not None else messages,
            begun=cut.meter.rounds if cut is not None else 0,
            pinned=(topic,) if topic is not None else (),
            keeper=self._contexts.of(spec.side),
            notes=(last_turn_note(self.debate.setup, number),),
            task=messages[-1].source_id if messages else "",
        )

    def _heard(self, event: Event) -> None:
        """The recorder's events, counted on their way (R-SES-15, R-SES-22)."""
        now = self.debate.now
        self._publish(event)
        if now is None or not isinstance(event, (MessageOpened, MessageClosed)):
            return
        if isinstance(event, MessageOpened):
            maximum = int(self._may(now.rounds).value) if self._may is not None else now.round_limit
            number = min(event.round_number, maximum)  # what is said at the limit is no round
            self.debate.now = replace(now, round=number, rounds=number, round_limit=maximum)
        else:
            usage = now.usage.plus(event.usage) if event.usage is not None else now.usage
            self.debate.now = replace(now, calls=now.calls + len(event.tool_calls), usage=usage)
        self.changed()

    @property
    def _where(self) -> dict[str, Any]:
        return {"thread_id": self.debate.thread.thread_id, "run_id": self.run_id}

    def _publish(self, event: Event) -> None:
        self._runtime.bus.publish(event)
