"""One run of a thread: agent, prompt, model, tools, the loop, and how it ended (architecture.md, "one message")."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from desktop.agents.answer import Answerer
from desktop.agents.discovery import Visible, not_itself, visible_tools
from desktop.agents.documents import code_tool, document
from desktop.agents.host import HOST, PERMISSIONS, Host
from desktop.agents.loop import DEFAULT_LIMIT, LoopConfig, Prepare, RoundLoop, Verdict
from desktop.agents.loop_events import LoopEvent, MessageDone
from desktop.agents.policy_settings import ToolMode
from desktop.agents.retry import RetryPolicy
from desktop.agents.shrink import estimate_fixed
from desktop.agents.window import PromptWindow
from desktop.conversation.activation import named_in
from desktop.conversation.agents import AgentBook, AgentDefinition
from desktop.conversation.endings import CUT_SHORT, EMPTY, Ending, aborted, ending_of, failed
from desktop.conversation.history import messages_up_to
from desktop.conversation.masking import masked
from desktop.conversation.prompts import system_text
from desktop.conversation.recorder import RunRecorder, texts
from desktop.conversation.run_code import RunCode, mode_of
from desktop.conversation.skill_world import SkillWorld
from desktop.conversation.toolbox import Toolbox
from desktop.domain.cancellation import CancellationToken, RunMeta
from desktop.domain.code import CodeEngine
from desktop.domain.errors import CancellationError, ConfigurationError, KnownError
from desktop.domain.events import ContextMeasured, RunStarted
from desktop.domain.ids import AgentId
from desktop.domain.limits import Limit, tightest
from desktop.domain.messages import ChatMessage, NoticeBlock, TextBlock, ToolCallBlock
from desktop.domain.middleware import AgentContext, ChatContext, Middleware, MiddlewareTermination
from desktop.domain.models import ModelClient, ModelRef, ModelRequest
from desktop.domain.safety import SettingsProvider
from desktop.domain.scopes import Interrupt
from desktop.domain.skills import SkillDef
from desktop.domain.supervision import ExecutionBudget, Supervision
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.domain.tools import Tool
from desktop.pipeline.compose import compose
from desktop.pipeline.context import Invocation
from desktop.pipeline.names import AllowedTools, Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.store import Store
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.bus import Bus
from desktop.supervision.journal import EntryStatus, Journal
from desktop.supervision.tasks import RunSlots

MAX_RUN_ROUNDS = 250
NUDGE = "Continue."
_WHOLE = ("end", "tool_calls", "length")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Everything a run needs, wired by ``app``.

    ``code`` is the sandbox of code mode, None: there is none; ``tool_mode`` says what a person chose for an agent by
    name, or ""; ``context_window`` knows a model's window in tokens, or None; ``safety`` gives the boundaries that the
    system text names; ``mask`` takes known secrets out of what a person wrote; ``budget`` bounds each run tree;
    ``agent_layers`` and ``chat_layers`` are middleware, outermost first; ``spawn`` starts an owned task.
    """

    store: Store
    bus: Bus
    client: ModelClient
    pipeline: Pipeline
    agents: AgentBook
    skills: SkillWorld
    slots: RunSlots = field(default_factory=RunSlots)
    context_window: Callable[[ModelRef], int | None] = lambda _ref: None
    safety: SettingsProvider | None = None
    budget: ExecutionBudget = field(default_factory=ExecutionBudget)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    code: CodeEngine | None = None
    tool_mode: Callable[[str], str] = lambda _agent: ""
    spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]] | None = None
    redact: Callable[[str], str] = lambda text: text
    mask: Callable[[str], str] = lambda text: text
    agent_layers: Sequence[Middleware[AgentContext]] = ()
    chat_layers: Sequence[Middleware[ChatContext]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What to run: answer below ``parent_id``; ``nudge`` asks to go on with an answer that is already there."""

    thread: ThreadRecord
    run_id: str
    token: CancellationToken
    parent_id: str
    user_message_id: str
    nudge: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


class RunExecution:
    """Carries out one order. ``go`` returns the ending and raises only CancelledError and what the store raises."""

    def __init__(self, runtime: Runtime, order: RunOrder) -> None:
        self._runtime = runtime
        self._order = order
        thread = order.thread
        self.recorder = RunRecorder(
            runtime.store, runtime.bus.publish, thread_id=thread.thread_id, run_id=order.run_id,
            parent_id=order.parent_id, author=thread.agent, model=thread.model,
        )  # fmt: skip
        self._left_out: list[NoticeBlock] = []
        self._journal = Journal(order.run_id, lambda entry: runtime.store.runs.note(entry.to_plain()), runtime.redact)

    async def go(self) -> Ending:
        """Run, and store how it ended."""
        order, runtime = self._order, self._runtime
        thread = order.thread
        record = RunRecord(order.run_id, thread.thread_id, time.time(), thread.agent, thread.model)
        runtime.bus.publish(
            RunStarted(
                thread_id=thread.thread_id, run_id=order.run_id, agent=thread.agent, model=thread.model,
                user_message_id=order.user_message_id,
            )
        )  # fmt: skip
        await runtime.store.runs.start(record=record)
        ending = await self._ended()
        await self.recorder.conclude(self._notices(ending), interrupted=ending.reason == "interrupted")
        self._journal.end(ending.status, ending.detail)
        await runtime.store.runs.end(
            run_id=order.run_id, reason=ending.reason, at=time.time(), detail=ending.detail, usage=self.recorder.usage
        )
        return ending

    async def _ended(self) -> Ending:
        try:
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
        context = AgentContext(self._meta(), agent=self._order.thread.agent, inbox=self._order)

        async def core() -> None:
            async with AsyncExitStack() as held:
                async with Interrupt(self._order.token):
                    await held.enter_async_context(self._runtime.slots.slot())
                context.result = await self._work(context.meta)

        if self._runtime.agent_layers:
            await compose(self._runtime.agent_layers)(context, core)
        else:
            await core()
        result = context.result
        return result if isinstance(result, Ending) else Ending("response")

    def _meta(self) -> RunMeta:
        order = self._order
        node = Supervision.root(
            AgentId(order.thread.agent, order.thread.thread_id), session_id=order.thread.thread_id,
            execution_budget=self._runtime.budget,
        )  # fmt: skip
        return RunMeta(order.run_id, order.token, order.thread.thread_id, node)

    async def _work(self, meta: RunMeta) -> Ending:
        """Resolve everything first, so that a missing piece is an error before any model call (R-DEF-11)."""
        runtime, order = self._runtime, self._order
        agent = runtime.agents.get(order.thread.agent)
        skill = await self._prompt_of(agent)
        model = _model_of(order.thread)
        chain = tuple(dict.fromkeys((agent.name, skill.name)))
        allowed = runtime.skills.allowed_of(skill)
        caller = Caller("native", chain, not_itself(allowed, skill.name))
        budget = BudgetTracker(runtime.budget)
        visible = await visible_tools(runtime.pipeline.table, caller.allowed, serving=skill.name)
        mode = mode_of(skill.metadata, runtime.tool_mode(agent.name))
        async with RunCode(mode, runtime.code, runtime.pipeline, runtime.skills.fabric, caller, visible) as code:
            tools = Toolbox(
                runtime.pipeline, caller, meta, runtime.bus.publish, self.recorder, budget, self._journal,
                self._root(meta, allowed, model, budget), code,
            )  # fmt: skip
            return await self._looped(agent, skill, model, visible, tools, code, budget, meta)

    async def _looped(
        self, agent: AgentDefinition, skill: SkillDef, model: ModelRef, visible: Visible, tools: Toolbox,
        code: RunCode, budget: BudgetTracker, meta: RunMeta,
    ) -> Ending:  # fmt: skip
        runtime, order = self._runtime, self._order
        messages = await messages_up_to(runtime.store, order.thread.thread_id, order.parent_id)
        if order.nudge and messages and messages[-1].role == "assistant":
            messages.append(ChatMessage("user", (TextBlock(NUDGE),)))
        request = await self._request(skill, model, visible, code.mode, messages)
        loop = RoundLoop(
            Answerer(runtime.client, retry=runtime.retry),
            tools,
            recorder=self.recorder,
            listener=self._listen,
            budget=budget,
            layers=runtime.chat_layers,
            steering=self._steering,
            after_round=lambda message, _round: _after(agent, code, message),
            config=LoopConfig(limit=round_limit(agent, budget)),
        )
        result = await loop.run(messages, self._preparation(request), meta)
        if result.error is not None and not isinstance(result.error, (KnownError, CancellationError)):
            _log.error("run %s: the model client failed", order.run_id, exc_info=result.error)
        return ending_of(result, order.token.reason)

    async def _steering(self) -> list[ChatMessage]:
        """What a person typed while this run was at work goes into it before its next round (S-LOOP-1)."""
        runtime, thread_id = self._runtime, self._order.thread.thread_id
        found: list[ChatMessage] = []
        for waiting in await runtime.store.queue.waiting(thread_id=thread_id):
            text, blocks = masked(waiting.text, waiting.attachments, runtime.mask)
            taken = await self.recorder.steered(waiting, text, blocks)
            if taken is not None:
                found.append(taken)
        return found

    async def _prompt_of(self, agent: AgentDefinition) -> SkillDef:
        """The skill that is the agent's prompt. Raises ConfigurationError when it is not there or not usable."""
        found = await self._runtime.skills.find(agent.prompt)
        if found is None or found.kind not in ("markdown", "folder"):
            raise ConfigurationError(
                f"The agent {agent.title} needs the skill {agent.prompt!r} (sideA.prompt), which is not there.",
                next_step="Choose another agent, or restore the skill.",
            )
        if found.state != "ready":
            raise ConfigurationError(
                f"The skill {found.name}, which the agent {agent.title} works by, is not ready ({found.state}).",
                next_step="Look at it on the Skills page.",
            )
        return found

    def _root(self, meta: RunMeta, allowed: AllowedTools, model: ModelRef, budget: BudgetTracker) -> Invocation:
        """Where the run's calls hang; what agents below need of it goes down with them (R-INV-7)."""
        host = host_of(self._runtime, model, budget, self._order.environment)
        inherited = {HOST: host, PERMISSIONS: allowed, "rootContextId": meta.run_id}
        return Invocation(meta, inherited=inherited, shared=self._runtime.skills.shared)

    async def _request(
        self, skill: SkillDef, model: ModelRef, visible: Visible, mode: ToolMode, messages: Sequence[ChatMessage]
    ) -> ModelRequest:
        runtime, skills = self._runtime, self._runtime.skills
        safety = runtime.safety() if runtime.safety is not None else None
        native = visible.inlined if mode != "code" else ()
        schemas = [runtime.pipeline.schema(tool.spec) for tool in native]
        asked = next((message.text for message in reversed(messages) if message.role == "user"), "")
        text = await skills.expanded(skill, {}, skill.metadata, {}, token=self._order.token)
        system = system_text(
            text, native, safety, self._order.environment, await self._brought_in(asked, skill),
            discovery=visible.discovery and mode != "code",
        )  # fmt: skip
        if mode != "direct":
            schemas.append(code_tool())
            system = f"{system}\n{document(visible, runtime.pipeline)}"
        return ModelRequest(model, (), system, tuple(schemas))

    async def _brought_in(self, asked: str, skill: SkillDef) -> list[tuple[str, str]]:
        """The texts of the skills that a message names, or that fit it (S-SK-4, S-SK-5).

        Raises ToolFailure when one that was named cannot be made; one that nobody asked for is left out with a notice.
        """
        skills, wanted = self._runtime.skills, named_in(asked)
        texts: list[tuple[str, str]] = []
        for one in await skills.brought_in(asked):
            if one.name == skill.name:
                continue
            try:
                text = await skills.expanded(one, {}, one.metadata, {}, token=self._order.token)
            except KnownError as error:
                if one.name in wanted:
                    raise
                self._left_out.append(_left_out(one, error))
            else:
                texts.append((one.name, text))
        return texts

    def _preparation(self, request: ModelRequest) -> Prepare:
        """The window is built anew before each round (R-CTX-9), and measured."""
        runtime, order = self._runtime, self._order
        size = runtime.context_window(request.model)
        window = PromptWindow(order.thread.agent, context_window=size, fixed=estimate_fixed(request))

        async def prepare(messages: Sequence[ChatMessage]) -> ModelRequest:
            view = window.view(messages)
            runtime.bus.publish(
                ContextMeasured(
                    thread_id=order.thread.thread_id, run_id=order.run_id, used=view.tokens, window=size,
                    compacted=view.compacted,
                )
            )  # fmt: skip
            return ModelRequest(request.model, view.messages, request.system, request.tools)

        return prepare

    def _listen(self, event: LoopEvent) -> None:
        """Deltas to the recorder, each finished answer into the journal (R-JRN-2)."""
        self.recorder.listen(event)
        if isinstance(event, MessageDone):
            message = event.message
            tokens = f"{message.usage.output_tokens} tokens written" if message.usage is not None else ""
            status: EntryStatus = "completed" if message.stop_reason in _WHOLE else "failed"
            self._journal.append("llm", message.model, result=message.text, status=status, summary=tokens)

    def _notices(self, ending: Ending) -> list[NoticeBlock]:
        """What the thread keeps beside the answer; how the run ended comes last."""
        if ending.notice is not None:
            return [*self._left_out, ending.notice]
        last = self.recorder.unanswered
        if ending.reason != "response" or last is None:
            return self._left_out
        return [*self._left_out, CUT_SHORT if last.stop_reason == "length" and texts(last) else EMPTY]


def _left_out(skill: SkillDef, error: KnownError) -> NoticeBlock:
    return NoticeBlock(
        f"The skill {skill.name} fits this message and was left out: {error}", "skill.left_out",
        f"Correct it on the Skills page, or name it (/{skill.name}) where you need it.", "warning",
    )  # fmt: skip


def host_of(
    runtime: Runtime, model: ModelRef, budget: BudgetTracker, environment: Mapping[str, str] | None = None
) -> Host:
    """What a run, or a skill that a person tries, lends to the agents in it: this model, and the app's own limits."""
    skills = runtime.skills

    def system(prompt: str, tools: Sequence[Tool]) -> str:
        safety = runtime.safety() if runtime.safety is not None else None
        return system_text(prompt, tools, safety, environment or {})

    return Host(
        pipeline=runtime.pipeline, client=runtime.client, model=model, budget=budget, system=system,
        allowed_of=skills.allowed, together=skills.together, context_window=runtime.context_window,
        retry=runtime.retry, layers=runtime.chat_layers, code=runtime.code, redact=runtime.redact, spawn=runtime.spawn,
    )  # fmt: skip


def _model_of(thread: ThreadRecord) -> ModelRef:
    ref = ModelRef.parse(thread.model)
    if not ref.connection_id or not ref.model:
        raise KnownError("No model is chosen for this chat.", next_step="Choose a model.", code="model.none")
    return ref


def round_limit(agent: AgentDefinition, budget: BudgetTracker) -> Limit:
    """The tightest of what applies (R-LIM-1): the side's own limit, else the loop's default; the budget; 250 a run."""
    own = Limit("maxSteps", agent.max_rounds, f"the agent {agent.name}") if agent.max_rounds else DEFAULT_LIMIT
    whole = Limit("global rounds", MAX_RUN_ROUNDS, "the app")
    return tightest(own, budget.rounds_left(), whole) or own


def _after(agent: AgentDefinition, code: RunCode, message: ChatMessage) -> Verdict:
    """Code that finished ends the run; with ``stopOnResponse: false`` another round follows a text (R-SES-20)."""
    if code.finished or agent.stop_on_response:
        return Verdict(stop=code.finished)
    return Verdict() if any(isinstance(block, ToolCallBlock) for block in message.blocks) else Verdict(nudge=NUDGE)
