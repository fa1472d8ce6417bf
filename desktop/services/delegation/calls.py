"""One agent calls another: a new thread, a run below the caller's, and what comes back (R-AAT-2 … R-AAT-9, S-AAT-1)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from desktop.agents.skill.host import HOST, PERMISSIONS, Host
from desktop.domain.debates import NO_RESPONSE
from desktop.domain.definitions import MAX_AGENTS_DEEP, AgentDefinition
from desktop.domain.errors import ConfigurationError, Denied, KnownError, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.ids import AgentId, new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import TextBlock
from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.supervision import Supervision
from desktop.domain.runs.tree import NodeState
from desktop.domain.skills import SkillDef
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.domain.tools import ToolCallContext, ToolResult
from desktop.pipeline.context import CallContext
from desktop.services.chats.answer import AgentAnswer, answer_of, as_json
from desktop.services.chats.run import RunExecution, RunOrder
from desktop.services.definitions.book import AgentBook
from desktop.services.delegation.place import AgentPlace
from desktop.services.delegation.resuming import Begun, begun_by, end_of, ended_before
from desktop.services.delegation.retention import CHILD, KEPT, RUN, ChildThreads
from desktop.services.skills.side_prompt import prompt_skill
from desktop.services.threads.service import settings_key
from desktop.services.turns.endings import Ending, failed
from desktop.services.turns.run_frame import CalledBy
from desktop.services.turns.runtime import Runtime
from desktop.services.turns.spec import model_of
from desktop.services.turns.stops import as_text
from desktop.supervision.tasks import TaskOwner

TASK = "Execute the task."
NOTHING = "(it answered with nothing)"
_TITLE = 60

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CalledAgent:
    """An agent that was called, ready to run."""

    definition: AgentDefinition
    """The agent."""
    thread_id: str
    """The thread that it works in."""
    message: str
    """What it is asked."""
    model: str
    """The model that it asks."""
    token: CancellationToken
    """Stops it."""
    called_by: CalledBy
    """The call that it works for."""
    begun: Begun | None = None
    """Set where it was at work when the process died, and goes on."""


class TwoSides(Protocol):
    """Runs an agent of two sides for a caller."""

    def __call__(self, child: CalledAgent) -> Coroutine[Any, Any, AgentAnswer]: ...


class Handover(Protocol):
    """Gives a thread to another agent, if this run is the thread's own. False: it is not, or the thread is no chat."""

    async def __call__(self, thread_id: str, run_id: str, agent: str) -> bool: ...


class AgentCalls:
    """Carries out calls of exposed agents. ``owner`` holds their runs, so that a caller that goes leaves none half
    stored; ``handover`` and ``two_sides`` None: there is no such thing here."""

    def __init__(
        self,
        runtime: Callable[[], Runtime],
        owner: TaskOwner,
        *,
        handover: Handover | None = None,
        two_sides: TwoSides | None = None,
        kept: Callable[[], str] = lambda: RUN,
    ) -> None:
        self._runtime = runtime
        self._owner = owner
        self._handover = handover
        self._two_sides = two_sides
        self._threads = ChildThreads(runtime, owner, kept)

    @property
    def book(self) -> AgentBook:
        """The agents there are."""
        return self._runtime().agents

    async def carry(self, agent: AgentDefinition, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """The call of one exposed agent. Raises ToolFailure, Denied, LimitReached for what keeps it from running; how
        it went is a result (R-AAT-5)."""
        call = context.scope
        host = call.invocation.inherited.get(HOST) if isinstance(call, CallContext) else None
        if not isinstance(call, CallContext) or not isinstance(host, Host):
            raise ToolFailure("There is no model here to run an agent with.")
        node = call.meta.place()
        if agent.handoff == "transfer" and await self._handed_over(agent, call, node):
            facts = {"handoff": "transfer", "agent": agent.name}
            return ToolResult(f"{agent.shown} has taken over this conversation.", facts=facts)
        if node.depth + 1 >= MAX_AGENTS_DEEP:
            raise Denied(f"Agents may not call each other more than {MAX_AGENTS_DEEP} deep.", code="denied.limit")
        begun = await begun_by(self._runtime().store, call.meta.call)
        place = self._place(agent, call, host, node, begun)
        ended: list[AgentAnswer] = []
        try:
            child = await self._child(agent, args, call, host, place, begun)
            task = self._owner.spawn(self._seen_out(child, place, ended), f"agent {agent.name}")
        except BaseException as error:
            place.end(AgentOutcome("failed", detail=str(error)))
            raise
        with place.waited_for(call):
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                child.token.cancel("its caller was stopped")
                raise
        return _result(agent, child.thread_id, ended[0])

    async def _handed_over(self, agent: AgentDefinition, call: CallContext, node: Supervision) -> bool:
        """Only the agent of a chat can give the chat away, not one that works for it."""
        itself = call.request.caller.origin == "native" or call.request.place is not None  # or by code that it wrote
        if self._handover is None or node.depth or not itself:
            return False
        return await self._handover(call.meta.thread_id, call.meta.run_id, agent.name)

    # -- places in the tree (R-AAT-4, R-AAT-8) ------------------------------------------------------------------------

    def _place(
        self, agent: AgentDefinition, call: CallContext, host: Host, node: Supervision, begun: Begun | None
    ) -> AgentPlace:
        """One agent more in this run. Raises BudgetExhausted (R-SUP-5)."""
        thread_id = begun.thread.thread_id if begun is not None else new_id()
        kept = self._threads.kept if begun is None or begun.thread.label == CHILD else "permanent"
        kept = host.terms.kept or kept
        agent_id = AgentId(agent.name, thread_id)
        live, meta = self._runtime().live, call.meta
        caller = live.node_of(meta) if live is not None else None
        above = caller.agent_id if caller is not None else node.root_id
        asked, usual = host.terms.priority, agent.priority  # a definition is a person's word, also for more
        below = node.spawn_child(
            above,
            execution_budget=host.terms.budget,
            retention=self._threads.retention(kept),
            priority=usual if asked is None and usual is not None else node.priority_for_child(asked),
        )
        if live is None:
            return AgentPlace(thread_id, below, meta.cancellation.child(), host.budget, kept)
        tree_node = live.begin(meta, agent_id, below, thread_id=thread_id, under=host.budget)
        tree_node.does(NodeState.WORKING, model=str(host.model))
        bus = self._runtime().bus
        return AgentPlace(thread_id, below, tree_node.token, tree_node.budget, kept, live, tree_node, meta.run_id, bus)

    # -- the child ----------------------------------------------------------------------------------------------------

    async def _child(
        self,
        agent: AgentDefinition,
        args: Mapping[str, Any],
        call: CallContext,
        host: Host,
        place: AgentPlace,
        begun: Begun | None,
    ) -> CalledAgent:
        """The called agent: its thread, its run's id, a child token, the caller's list (R-AAT-4)."""
        message, prompt_text = await self._asked(agent, args, call)
        thread_id, model = place.thread_id, await self._model(agent, host, place)
        if begun is None:
            await self._new_thread(_thread(agent, place, message, model, call.meta.project), host.settings)
        else:
            message = begun.message
        meta = call.meta.called(thread_id, place.token, place.supervision)
        above = CalledBy(
            meta=meta,
            allowed=call.invocation.inherited.get(PERMISSIONS),
            chain=call.request.caller.chain,
            budget=place.budget,
            placed=place.node is not None,
            below=call.invocation,
            settings=host.settings,
            prompt_text=prompt_text,
            call_key=call.meta.call,
        )
        return CalledAgent(agent, thread_id, message, str(host.model), place.token, above, begun)

    async def _new_thread(self, record: ThreadRecord, said: ModelSettings) -> None:
        """The child's thread, with what was ``said`` for its caller's chat: a person may go on with it there."""
        store = self._runtime().store
        await store.threads.create(record=record)
        if said != UNSAID:
            await store.state.put(key=settings_key(record.thread_id), value=said.plain())

    async def _model(self, agent: AgentDefinition, host: Host, place: AgentPlace) -> str:
        """What its prompt's skill names, else the caller's (C-20); of two sides each finds its own."""
        if agent.type != "ai_human":
            return str(host.model)
        model = model_of(agent.side_a, await self._prompt(agent)) or str(host.model)
        if place.node is not None:
            place.node.does(NodeState.WORKING, model=model)
        return model

    async def _asked(self, agent: AgentDefinition, args: Mapping[str, Any], call: CallContext) -> tuple[str, str]:
        """(first message, prompt with its arguments filled in, or "")."""
        skills = self._runtime().skills
        if set(args) == {"message"}:
            return str(args["message"]), ""
        skill = await self._prompt(agent)
        if skill is None:
            raise ConfigurationError(f"The agent {agent.shown} needs the skill {agent.side_a.prompt!r}.")
        place = WorkPlace(call.meta.project, agent.environment)
        text = await skills.expanded(skill, args, skill.metadata, {}, token=call.meta.cancellation, place=place)
        given = as_json(dict(args))
        return str(args.get("message") or f"{TASK}\n\nIt was given these arguments:\n{given}"), text

    async def _prompt(self, agent: AgentDefinition) -> SkillDef | None:
        return await prompt_skill(self._runtime().skills, agent, agent.side_a)

    async def _seen_out(self, child: CalledAgent, place: AgentPlace, ended: list[AgentAnswer]) -> None:
        """In a task of its own, so that its end is stored even when nobody waits for it any more."""
        outcome = AgentOutcome("cancelled")
        try:
            ended.append(await self._ended(child))
            outcome = AgentOutcome(ended[0].ending.status, detail=ended[0].ending.detail)
        finally:
            place.end(outcome)
            above = child.called_by
            self._threads.over(place.thread_id, above.meta.run_id, above.call_key, place.kept)

    async def _ended(self, child: CalledAgent) -> AgentAnswer:
        two = self._two_sides
        try:
            before = await self._ended_before(child)
            if before is not None:
                answer = before
            elif child.definition.type == "ai_human":
                answer = await self._one_side(child)
            elif two is None:
                raise ConfigurationError(f"{child.definition.shown} has two sides, so it cannot be called here.")
            else:
                answer = await two(child)
        except KnownError as error:
            answer = AgentAnswer(failed(error))
        except Exception as error:  # the boundary of a called agent: its failure never takes its caller down (R-AAT-5)
            _log.exception("the called agent %s failed", child.definition.name)
            answer = AgentAnswer(failed(error))
        return answer

    async def _ended_before(self, child: CalledAgent) -> AgentAnswer | None:
        """The answer of one that was over when the process died, before its caller had heard."""
        if child.begun is None:
            return None
        side, runtime = child.definition.side_a, self._runtime()
        skill = await self._prompt(child.definition)
        by_text = child.definition.type == "ai_human" and side.stop_on_response
        promised = skill is not None and skill.returns is not None
        leaf, store = child.begun.thread.active_leaf, runtime.store
        if child.definition.type == "ai_human" or leaf is None:
            end = await end_of(store, child.begun)
        else:  # of two sides the thread is what both said
            end = await store.messages.get(message_id=leaf)
        return await ended_before(store, child.begun, end, by_text=by_text and not promised)

    async def _one_side(self, child: CalledAgent) -> AgentAnswer:
        """One message, one run (R-SES-2); or the rest of it."""
        runtime, run_id = self._runtime(), new_id()
        store, begun = runtime.store, child.begun
        if begun is None:
            block = TextBlock(runtime.mask(child.message))
            asked = MessageRecord(new_id(), child.thread_id, None, "user", (block,), time.time())
            await store.messages.add(record=asked)
            end = asked
        else:
            asked, end = begun.asked, await end_of(store, begun)
        thread = await store.threads.get(thread_id=child.thread_id)
        order = RunOrder(
            thread=thread,
            run_id=run_id,
            token=child.token,
            parent_id=end.message_id,
            user_message_id=asked.message_id,
            called_by=child.called_by,
            nudge=begun is not None,
        )
        execution, ending = RunExecution(runtime, order), Ending("interrupted")
        try:
            ending = await execution.go()
        finally:
            execution.tell_end(ending)
        return answer_of(execution.result, ending)


def _thread(agent: AgentDefinition, place: AgentPlace, message: str, model: str, project: str) -> ThreadRecord:
    now, stays = time.time(), place.kept == "permanent"
    return ThreadRecord(
        place.thread_id,
        " ".join(message.split())[:_TITLE],
        now,
        now,
        agent.name,
        model,
        deleted_at=None if stays else now,
        titled_by="auto",
        label=KEPT if stays else CHILD,
        project=project,
    )


def _result(agent: AgentDefinition, thread_id: str, answer: AgentAnswer) -> ToolResult:
    """What the caller's model reads (R-AAT-3, R-AAT-5)."""
    ending = answer.ending
    facts = {"thread_id": thread_id, "agent": agent.name, "end_reason": ending.reason}
    if ending.status == "completed" or ending.reason in ("max_steps", "max_session_turns"):
        return _good(agent, answer, facts)
    if ending.reason in ("cancelled", "interrupted"):
        return ToolResult(f"{agent.shown} was stopped before it was done.", True, code="agent.stopped", facts=facts)
    said = f"\nIt had said: {answer.text}" if answer.text else ""
    text = f"{agent.shown} could not finish: {ending.detail or ending.reason} {ending.next_step}".rstrip() + said
    return ToolResult(text, True, code=ending.code or "agent.failed", facts=facts)


def _good(agent: AgentDefinition, answer: AgentAnswer, facts: Mapping[str, Any]) -> ToolResult:
    """The stop tool's property or the promised value, else the last text; of two sides the last outcome and why."""
    reason, text = answer.ending.reason, as_text(answer.value) if answer.value is not None else answer.text
    text = text or (NO_RESPONSE if reason == "max_steps" else NOTHING)
    if agent.type == "dual_ai":
        structured = {"outcome": answer.text, "end_reason": reason}
        return ToolResult(f"{text}\n[ended by: {reason}]", False, structured, facts=facts)
    if reason == "max_steps":
        text = f"{text}\n[it was stopped at its limit of rounds]"
    return ToolResult(text, False, answer.value, facts=facts)
