"""One run of a thread: an agent, one side turn, and how it ended (R-SES-2)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field, replace
from functools import partial

from desktop.agents.loop.summarising import ContextKeeper
from desktop.agents.turn import TurnInput
from desktop.domain.errors import CancellationError, ConfigurationError, KnownError
from desktop.domain.ids import AgentId
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ChatMessage, NoticeBlock, TextBlock
from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import RunWaiting
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import AgentContext, MiddlewareTermination, Start, StartedBy
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.supervision import ExecutionBudget, Priority, Supervision
from desktop.domain.threads import ThreadRecord
from desktop.pipeline.compose import compose
from desktop.recovery.resume import Unfinished, unfinished_above
from desktop.services.chats.answer import answer_of, answer_to_extra
from desktop.services.definitions.others import own_model_of
from desktop.services.skills.side_prompt import in_place_of
from desktop.services.threads.held_queue import HeldQueue
from desktop.services.threads.history import Above, messages_up_to, task_above
from desktop.services.threads.masking import masked
from desktop.services.threads.outside import read_since
from desktop.services.threads.recorder import RunRecorder, texts
from desktop.services.turns.endings import CLOSING, CUT_SHORT, EMPTY, Ending, aborted, ending_of, failed, reason_of
from desktop.services.turns.run_frame import CalledBy, RunFrame
from desktop.services.turns.runtime import Runtime, waits
from desktop.services.turns.side_result import SideResult
from desktop.services.turns.side_turn import SideTurn
from desktop.services.turns.spec import SideSpec, chosen_for, model_from
from desktop.services.turns.stops import NUDGE, as_text
from desktop.services.turns.unattended import JobTerms, usual_priority
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.tree import ROOT, exhausted

_log = logging.getLogger(__name__)
_TWO = "Choose another agent here, or start this one on the Debates page."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What to run: an answer below ``parent_id``."""

    thread: ThreadRecord
    """The thread."""
    run_id: str
    """The run."""
    token: CancellationToken
    """Stops it."""
    parent_id: str
    """The message that the answer stands below."""
    user_message_id: str
    """The message that is answered."""
    nudge: bool = False
    """Asks to go on with an answer that is already there."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of the thread."""
    settings: ModelSettings = UNSAID
    """What a person said for the thread of how its model is to answer."""
    called_by: CalledBy | None = None
    """The call it works for: the run is a part of the caller's and takes no slot of its own, for the caller holds
    one."""
    terms: JobTerms | None = None
    """What binds a run that nobody attends."""
    before: BudgetTracker | None = None
    """What a run used that handed the conversation over to this one: the same budget holds for both."""

    @property
    def continues(self) -> str:
        """The message whose answer it goes on with; "" where it begins one."""
        return self.parent_id if self.nudge and self.parent_id != self.user_message_id else ""


class RunExecution:
    """Carries out one order. ``go`` returns the ending and raises only CancelledError and what the store raises.

    ``result`` is the side turn's, once there is one: what the stop tool gave, the last text. ``budget`` tells what was
    used, once anything could be.
    """

    def __init__(self, runtime: Runtime, order: RunOrder) -> None:
        self._runtime = runtime
        self._order = order
        thread = order.thread
        self.recorder = RunRecorder(
            runtime.store,
            runtime.bus.publish,
            thread_id=thread.thread_id,
            run_id=order.run_id,
            parent_id=order.parent_id,
            author=thread.agent,
            model=thread.model,
            closing=lambda: order.token.reason == CLOSING,
            stopped=lambda: order.token.cancelled,
        )
        self.frame = RunFrame(runtime, thread_id=thread.thread_id, run_id=order.run_id, called_by=order.called_by)
        self.result: SideResult | None = None
        self.budget: BudgetTracker | None = None
        self._left_out: list[NoticeBlock] = []
        self._goes_on_with: Unfinished | None = None
        self._place = AsyncExitStack()

    async def go(self) -> Ending:
        """Run, and store how it ended."""
        order, frame = self._order, self.frame
        thread = order.thread
        await frame.begin(
            agent=thread.agent,
            model=thread.model,
            user_message_id=order.user_message_id,
            continues=order.continues,
            below=order.parent_id,
            goes_on=order.nudge,
        )
        try:
            ending = await self._ended()
            live = self._runtime.live
            ending = frame.judged(ending, [live.node_of(self._meta())] if live is not None else ())
            await frame.close_tree(ending, cut_off=await self._left_open(ending))
        finally:
            frame.forget()
        await self.recorder.conclude(self._notices(ending), interrupted=ending.reason == "interrupted")
        answer = answer_to_extra(answer_of(self.result, ending)) if order.called_by is not None else None
        await frame.store_end(ending, self.recorder.usage, answer)
        return ending

    def tell_end(self, ending: Ending) -> None:
        """Publish that the run has ended, and with it everything that its thread had to wait for."""
        self.frame.tell_end(ending, self.recorder.usage)

    async def _left_open(self, ending: Ending) -> bool:
        """Whether this run is to be gone on with: the closing app cut it off, or the person stopped it before what
        earlier ones had left open was settled."""
        before = self._goes_on_with
        if before is None or ending.reason != "cancelled":
            return ending.reason == "interrupted"
        try:
            return not set(before.runs).isdisjoint(await self._runtime.store.effects.unfinished())
        except KnownError as error:  # what there is to say of a full disk is said; the answer is still to be kept
            _log.warning("whether run %s is to be gone on with is not known: %s", self._order.run_id, error)
            return True

    async def _ended(self) -> Ending:
        try:
            self._runtime.own_files.check()
            return await self._within_agent_layers()
        except CancellationError as error:
            return aborted(error.reason)
        except MiddlewareTermination as error:
            return Ending("terminated", str(error), "terminated")
        except KnownError as error:
            return failed(error)
        except Exception as error:  # the boundary of a run: a bug of ours costs this run and is in the log
            _log.exception("run %s failed", self._order.run_id)
            return failed(error)

    async def _within_agent_layers(self) -> Ending:
        """The run inside its agent-level chain (R-MW-6)."""
        order, agent = self._order, self._order.thread.agent
        context = AgentContext(
            self._meta(),
            agent=agent,
            inbox=order,
            waits=partial(_waits, self._runtime, order),
            start=Start(agent, _starter(order)),
        )

        async def core() -> None:
            async with self._place:
                await self._take_place()
                context.result = await self._work(context.meta)

        if self._runtime.agent_layers:
            await compose(self._runtime.agent_layers)(context, core)
        else:
            await core()
        result = context.result
        return result if isinstance(result, Ending) else await self._answered_outside(result)

    async def _answered_outside(self, result: object) -> Ending:
        """A layer gave the answer itself: it stands in the thread like any other (R-MW-3)."""
        await self.recorder.round_started(1)
        await self.recorder.message_finished(ChatMessage("assistant", (TextBlock(as_text(result)),), "end"))
        return Ending("response")

    @asynccontextmanager
    async def _away(self) -> AsyncIterator[None]:
        """Another run may have the place meanwhile: this one waits for a message."""
        await self._place.aclose()
        yield
        await self._take_place()

    async def _take_place(self) -> None:
        """Among the runs that work at once; one that has to wait says so. A called agent works in its caller's."""
        order, slots = self._order, self._runtime.slots
        if order.called_by is not None:
            return
        queued = slots.full(self._priority)
        where = {"thread_id": order.thread.thread_id, "run_id": order.run_id}
        if queued:
            self._runtime.bus.publish(RunWaiting(**where, waiting=True))
        async with Interrupt(order.token):
            await self._place.enter_async_context(slots.slot(self._priority))
        if queued:
            self._runtime.bus.publish(RunWaiting(**where, waiting=False))

    def _meta(self) -> RunMeta:
        order = self._order
        if order.called_by is not None:
            return replace(order.called_by.meta, thread_id=order.thread.thread_id)
        node = Supervision.root(
            AgentId(order.thread.agent, order.thread.thread_id),
            run_id=order.run_id,
            session_id=order.thread.thread_id,
            execution_budget=self._budget,
            spawn_budget=self._runtime.spawn_budget,
            priority=self._priority,
        )
        unattended = order.terms.unattended if order.terms else None
        thread = order.thread
        return RunMeta(order.run_id, order.token, thread.thread_id, node, unattended=unattended, project=thread.project)

    @property
    def _budget(self) -> ExecutionBudget:
        terms = self._order.terms
        return terms.budget if terms is not None else self._runtime.budget

    @property
    def _priority(self) -> Priority:
        """What its definition says; else runs that somebody has started go before those of jobs."""
        usual = usual_priority(self._order.terms)
        return self._runtime.agents.priority_of(self._order.thread.agent, usual)

    async def _work(self, meta: RunMeta) -> Ending:
        """Have side A work for one turn (R-SES-2); how it ended."""
        runtime, order, above = self._runtime, self._order, self._order.called_by
        budget = self.budget = await self._bounds(meta)
        used_up = _used_up(budget)
        if used_up is not None:
            return used_up
        turn = SideTurn(
            runtime=runtime,
            spec=self._spec(),
            meta=meta,
            recorder=self.recorder,
            budget=budget,
            steering=self._steering,
            away=self._away,
            left_out=self._left_out,
            below=above.below if above else None,
        )
        self.result = await turn.take(await self._given(turn))
        if self.result.unmet and not order.token.cancelled:
            return Ending("error", self.result.unmet, "agent.no_result", "Try again, or choose another model.")
        return ending_of(self.result.loop, order.token.reason, self.result.by)

    async def _bounds(self, meta: RunMeta) -> BudgetTracker:
        """The budget of this run: its tree's, or a part of the caller's."""
        above, terms, before = self._order.called_by, self._order.terms, self._order.before
        if above is not None:
            return above.budget if above.placed else BudgetTracker(self._budget, parent=above.budget)
        where = terms.set_by if terms is not None else self._runtime.set_by
        agent_id = AgentId(self._order.thread.agent, self._order.thread.thread_id)
        root = await self.frame.open_tree(meta, agent_id, where=where)
        budget = root if root is not None else BudgetTracker(self._budget, where=where)
        budget.changed |= dict.fromkeys(terms.of_app if terms is not None else (), self._runtime.set_by)
        if before is not None:
            budget.goes_on(before)
            if self.frame.tree is not None:
                self.frame.tree.change_budget(ROOT, budget.budget)  # its deadline is nearer now
        return budget

    def _spec(self) -> SideSpec:
        """The agent's side, with the thread's model. Raises NotFound and KnownError ``model.none``."""
        order, above, terms = self._order, self._order.called_by, self._order.terms
        agent = self._runtime.agents.get(order.thread.agent)
        if agent.type == "dual_ai":
            raise ConfigurationError(f"{agent.shown} is two agents that talk to each other.", next_step=_TWO)
        side = agent.side_a
        return SideSpec(
            agent=agent.name,
            shown=agent.shown,
            prompt=side.prompt,
            model=own_model_of(side) or model_from(order.thread.model),
            chain=(*above.chain, agent.name) if above else (),
            within=above.allowed if above else None,
            stop_on_response=side.stop_on_response,
            stop_tool=side.stop_tool,
            stop_property=side.stop_property,
            end_session_tool=side.end_session_tool,
            prompt_text=above.prompt_text if above else "",
            environment={**agent.environment, **order.environment},
            in_place=in_place_of(agent, side),
            max_rounds=side.max_rounds,
            usual_rounds=Limit("max_rounds", terms.max_rounds, terms.set_by) if terms else self._runtime.usual_rounds(),
            terms=terms,
            said=order.settings.over(above.settings) if above else order.settings,
            usual=chosen_for(self._runtime, agent.name, side),
        )

    async def _given(self, turn: SideTurn) -> TurnInput:
        """The thread up to here; ``turn`` is told what may bring in skills, and what an earlier run has left open."""
        order = self._order
        thread_id = order.thread.thread_id
        messages = await messages_up_to(self._runtime.store, thread_id, order.parent_id)
        open_calls = await unfinished_above(self._runtime.store, thread_id, order.parent_id) if order.nudge else None
        self._goes_on_with = open_calls
        calls = open_calls.calls if open_calls is not None else ()
        if order.nudge and not calls and messages and messages[-1].role == "assistant":
            messages.append(ChatMessage("user", (TextBlock(NUDGE),)))
        turn.asked = next((message.text for message in reversed(messages) if message.role == "user"), "")
        turn.unfinished = open_calls
        called = order.called_by is not None
        turn.heeding.before = await read_since(self._runtime.store, thread_id, order.parent_id, called=called)
        turn.heeding.alone = self._alone
        above = await Above.of(self._runtime.store, messages)
        task = await task_above(self._runtime.store, order.user_message_id)
        return TurnInput(messages=messages, keeper=await self._keeper(), task=task.message_id, earlier=above)

    def _alone(self) -> bool:
        """Whether no other agent is at work in the run."""
        live, order = self._runtime.live, self._order
        if live is None or order.called_by is not None or live.node(order.run_id) is None:
            return False
        return all(one.ended_at is not None for one in live.facts(order.run_id) if one.path != ROOT)

    async def _keeper(self) -> ContextKeeper | None:
        service, thread_id = self._runtime.context, self._order.thread.thread_id
        if service is None:
            return None
        overlay = await service.of_branch(thread_id, self._order.parent_id)
        return service.keeper(thread_id, overlay, self._runtime.summaries)

    async def _steering(self) -> list[ChatMessage]:
        """What a person typed while this run was at work goes into it before its next round (S-LOOP-1)."""
        runtime, thread_id = self._runtime, self._order.thread.thread_id
        found: list[ChatMessage] = []
        for waiting in await HeldQueue(runtime.store).ready(thread_id):
            text, blocks = masked(waiting.text, waiting.attachments, runtime.mask)
            taken = await self.recorder.steered(waiting, text, blocks)
            if taken is not None:
                found.append(taken)
        return found

    def _notices(self, ending: Ending) -> list[NoticeBlock]:
        """What the thread keeps beside the answer; how the run ended comes last."""
        if ending.notice is not None:
            return [*self._left_out, ending.notice]
        if self.result is not None and self.result.handed:
            return [*self._left_out, _handed(self._runtime.agents.get(self._order.thread.agent).shown)]
        last = self.recorder.unanswered
        if ending.reason != "response" or last is None:
            return self._left_out
        return [*self._left_out, CUT_SHORT if last.stop_reason == "length" and texts(last) else EMPTY]


def _at_budget(limit: Limit) -> Ending:
    error = exhausted(limit)
    return Ending(reason_of(limit), str(error), error.code, error.next_step, error.limit)


def _handed(shown: str) -> NoticeBlock:
    """The notice that this agent has handed the conversation over (S-AAT-1)."""
    back = f"To give it back, choose {shown} again below the message field."
    return NoticeBlock(f"{shown} has handed this conversation over.", "agent.handoff", back, "info")


def _starter(order: RunOrder) -> StartedBy:
    """Who or what started the run: a person, a job, or a model that called the agent."""
    if order.called_by is not None:
        return "model"
    return "job" if order.terms is not None else "person"


def _waits(runtime: Runtime, order: RunOrder, why: str) -> None:
    """A layer has the run wait, or lets it go on; who has called it says so, too."""
    thread_id, above = order.thread.thread_id, order.called_by
    runtime.bus.publish(RunWaiting(thread_id=thread_id, run_id=order.run_id, waiting=bool(why), why=why))
    if above is not None and above.below is not None:
        waits(runtime.bus, above.below.meta, why)


def _used_up(budget: BudgetTracker) -> Ending | None:
    """How the run ends where those that handed it over, or that call it, have left nothing to use."""
    limit = budget.broken()
    return _at_budget(limit) if limit is not None else None
