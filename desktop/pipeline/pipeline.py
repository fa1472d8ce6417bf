"""``Pipeline.invoke``: the one way to call a tool, thirteen steps in a fixed order (R-INV-1)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from desktop.domain.errors import (
    AssentError,
    BugError,
    CancellationError,
    Denied,
    KnownError,
    NotFound,
    ToolAborted,
    ValidationFailure,
)
from desktop.domain.events import ToolCallFinished, ToolCallStarted
from desktop.domain.messages import ToolCallBlock
from desktop.domain.middleware import FunctionContext, Middleware, MiddlewareTermination
from desktop.domain.safety import Redactor
from desktop.domain.tools import Tool, ToolResult, ToolSpec
from desktop.pipeline.compose import compose
from desktop.pipeline.context import CallContext, CallRequest, CallResult, Trust
from desktop.pipeline.edits import edit_note
from desktop.pipeline.execute import ABORTED, Executor, Spawn, cut, live
from desktop.pipeline.gates import UNKNOWN, gates
from desktop.pipeline.names import Caller, ToolTable, hint, resolve
from desktop.pipeline.nested import listed
from desktop.pipeline.observe import Observer
from desktop.pipeline.passing_on import meant, passes_on
from desktop.pipeline.recovery.divergence import DivergenceGate, key_of, left_open, named, told_of
from desktop.pipeline.recovery.uncertain_calls import UncertainCallGate, told
from desktop.pipeline.recovery.unknown_outcome import asked_at_least, may_have_been_done, still_unknown
from desktop.pipeline.skill_tool import SkillTool
from desktop.pipeline.skills.side import SkillSide
from desktop.pipeline.skills.wrapping import Wrapping
from desktop.pipeline.validation import Validator
from desktop.recovery.past import Memory
from desktop.skills.names import is_bare_name

OUTPUT_LIMIT = 200_000
TIMEOUT_S = 120.0
MAX_NESTED_SHOWN = 100

_log = logging.getLogger(__name__)

Journal = Callable[[CallRequest, CallContext | None, CallResult], None]
"""Writes down what came of a call, refused ones included; must not wait. No ``CallContext``: it was refused before
there was one, as when there is no such tool."""


@dataclass(frozen=True, slots=True)
class CallSettings:
    """What the cascade yields for calls (step 4): the person's settings, which a tool's own declaration overrides.

    ``timeout_of`` gives seconds for a canonical name, ``output_limit`` bytes; both are asked anew at each call.
    """

    timeout_of: Callable[[str], float] = lambda _name: TIMEOUT_S
    output_limit: Callable[[], int] = lambda: OUTPUT_LIMIT
    margin_s: float = 3.0


class Pipeline:
    """All calls of a process go through one of these.

    ``spawn`` starts an owned task (see Executor); ``trust`` None means that only read calls run; ``redactor`` cleans
    what is logged, and of what the model receives masks only known secrets (R-SEC-5). ``layers`` are user middleware,
    the first outermost; one that declares ``observe_only = True`` stands around the gates and cannot change the
    result (R-MW-7). ``skills`` is what calls of skills need beside the gates; without it only tools are called.
    ``memory`` knows of the calls that earlier runs left open.
    """

    def __init__(
        self,
        table: ToolTable,
        spawn: Spawn,
        *,
        trust: Trust | None = None,
        layers: Sequence[Middleware[FunctionContext]] = (),
        journal: Journal | None = None,
        redactor: Redactor | None = None,
        settings: CallSettings | None = None,
        skills: SkillSide | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.table = table
        self._memory = memory
        self._skills = skills
        self.validator = Validator()
        self._settings = settings or CallSettings()
        self._journal = journal
        self._redactor = redactor
        fixed, trusting = gates(self.validator, trust)
        self._trusting = trusting
        limits = self._settings
        self._executor = Executor(trusting, spawn, limits.timeout_of, limits.margin_s, redactor, self._current)
        observers = [Observer(layer) for layer in layers if getattr(layer, "observe_only", False)]
        wrapping = [layer for layer in layers if not getattr(layer, "observe_only", False)]
        self._observed = compose(observers)
        inner = [Wrapping(self, trusting)] if skills is not None else []
        last = [DivergenceGate(memory)] if memory is not None else []
        self._chain = compose([*fixed[:-1], *last, UncertainCallGate(), fixed[-1], *wrapping, *inner])

    def schema(self, spec: ToolSpec) -> dict[str, Any]:
        """The native schema of a tool for a model: the object that also validates (R-TOOL-7)."""
        return {"name": spec.provider_name, "description": spec.description, "parameters": self.validator.schema(spec)}

    async def invoke(self, request: CallRequest) -> CallResult:
        """Make one call. Failures of every kind are content (R-LOOP-3); only CancelledError leaves this."""
        started = time.perf_counter()
        if request.limits is not None and request.counted:
            request.limits.count_call()
        call: CallContext | None = None
        try:
            request = replace(request, block=await self.meant(request.block, request.caller))
            tool = await self._found(request)
            request = named(request, tool.spec, self._memory)
            if request.known is not None:
                result = request.known
            else:
                call = await self._prepare(request, tool)
                result = await self._run(call)
                left_open(call, self._memory)
                await self._returned(call, result)
        except AssentError as error:
            call, result = await self._refused(request, call, error)
        except Exception as error:  # the boundary of tools: whatever they raise is content (R-LOOP-3)
            result = self._crashed(request, error)
        finally:
            if call is not None:
                call.meta.cancellation.detach()
                call.configure = None  # it knows the call: only the garbage collector would free them
        told(call, result)
        return self._finish(request, call, told_of(request, result, self._memory), started)

    async def meant(self, block: ToolCallBlock, caller: Caller) -> ToolCallBlock:
        """The call that a call through skill-invoke is."""
        if not passes_on(block):
            return block
        if self._skills is not None:
            await self._skills.bring(block.tool)
        return meant(self.table, block, caller)

    async def _found(self, request: CallRequest) -> Tool:
        """Steps 1 and 2: the tool, and whether it may be seen."""
        block = request.block
        try:
            if self._skills is not None and _may_be_brought(request):
                await self._skills.bring(block.tool)
            tool = resolve(self.table, block.tool, request.caller)
        except NotFound as error:
            self._started(request, None)
            near = await asyncio.to_thread(hint, self.table, block.tool, request.caller)
            raise NotFound(f"{error}{near}") from None
        except AssentError:
            self._started(request, None)
            raise
        self._started(request, tool)
        return tool

    async def _prepare(self, request: CallRequest, tool: Tool) -> CallContext:
        """Steps 3 to 5: where the call stands, what its frontmatter comes to."""
        block, meta = request.block, request.parent.meta
        invocation = request.parent.child(tool.spec.name, block.arguments or {}, key_of(request))
        call = CallContext(
            meta=invocation.meta,
            tool=tool.spec.name,
            arguments=block.arguments,
            definition=tool.spec,
            request=request,
            target=tool,
            invocation=invocation,
            original=request.original,
        )
        live(meta.cancellation)
        if block.arguments is None:
            raise ValidationFailure(f"The arguments are not a JSON object: {block.problem or 'cannot be read'}")
        _refuse_options(call)
        if self._skills is not None:
            side = self._skills
            await side.check_overrides(call, self.validator)
            call.configure = lambda: side.configure(call)
            await call.configure()
        return call

    async def _refused(
        self, request: CallRequest, call: CallContext | None, error: AssentError
    ) -> tuple[CallContext | None, ToolResult]:
        """Where a gate refuses what may have been done already, that must not read as if it had not been: a person is
        asked, who may know."""
        if not may_have_been_done(request, call, error):
            return call, still_unknown(request, error) or _failed(error)
        try:
            asked, result = await asked_at_least(self._trusting, request, call, error)
            left_open(asked, self._memory)
            return asked, result
        except AssentError as another:
            return call, _failed(another)

    async def _returned(self, call: CallContext, result: ToolResult) -> None:
        """Step 13, first part: a skill's value fits what it declares; a tool's where it is structured."""
        if call.definition.returns is None or result.is_error:
            return
        if result.structured is not None:
            await self.validator.check_result(call.definition, result.structured)
        elif isinstance(call.target, SkillTool):
            await self.validator.check_result(call.definition, None if result.facts.get("empty") else result.text)

    async def _current(self, call: CallContext) -> Tool | None:
        """What the name that was called stands for by now."""
        name = call.request.block.tool
        if self._skills is not None and _may_be_brought(call.request):
            await self._skills.bring(name)
        return self.table.find(name)

    async def _run(self, call: CallContext) -> ToolResult:
        """Steps 6 to 12, inside the onion."""
        if call.request.barred:
            raise Denied(call.request.barred, code="denied.permission")

        async def core() -> None:
            await self._executor.run(call)

        async def gated() -> None:
            try:
                await self._chain(call, core)
            except MiddlewareTermination as stop:
                call.result = ToolResult(str(stop), is_error=True, code="terminated")

        await self._observed(call, gated)
        if call.result is None:
            raise BugError("the pipeline ended without a result")
        return call.result

    def note_nested(
        self, call: CallContext, tool: str, arguments: Mapping[str, Any] | None, outcome: CallResult
    ) -> None:
        """What became of a call that another one made: its card lists the first of them."""
        if len(call.nested) < MAX_NESTED_SHOWN:
            call.nested.append(listed(tool, arguments, outcome, self._redactor))

    def _crashed(self, request: CallRequest, error: Exception) -> ToolResult:
        name = request.block.tool[:64]
        shown = self._redactor.redact_text(repr(error)) if self._redactor is not None else type(error).__name__
        _log.info("tool %s raised %s", name, shown)
        return ToolResult(f"{name} failed: {error or type(error).__name__}", is_error=True, code="tool.failed")

    def _started(self, request: CallRequest, tool: Tool | None) -> None:
        block, meta = request.block, request.parent.meta
        request.sink(
            ToolCallStarted(
                thread_id=meta.thread_id,
                run_id=meta.run_id,
                message_id=request.message_id,
                call_id=block.call_id,
                tool=tool.spec.provider_name if tool else block.tool[:64],
                arguments=block.arguments or {},
                category=tool.spec.category.value if tool else "",
            )
        )

    def _finish(self, request: CallRequest, call: CallContext | None, result: ToolResult, started: float) -> CallResult:
        """Step 13: secrets masked, truncation, event, journal."""
        elapsed = int((time.perf_counter() - started - (call.waited_s if call else 0.0)) * 1000)
        size = len(result.text.encode("utf-8", "replace"))
        result = self._masked(result)
        masked = self._redactor.mask_data if self._redactor is not None else _as_it_is
        note = edit_note(call, masked) if call is not None else ""
        text = cut(note + result.text, self._settings.output_limit())
        result = replace(result, text=text)
        state = _state(result)
        facts: dict[str, Any] = {**result.facts, "state": state, "elapsed_ms": max(0, elapsed), "bytes": size}
        if result.code:
            facts["code"] = result.code
        if call is not None:
            facts.update(_decided(call, masked))
        outcome = CallResult(result, state, facts, max(0, elapsed))
        self._tell(request, call, outcome)
        if self._journal is not None and request.known is None:
            self._journal(request, call, outcome)
        return outcome

    def _masked(self, result: ToolResult) -> ToolResult:
        """Without the values known from the keyring, before anything is cut: a half of one would not be known any more
        (R-SEC-5)."""
        mask = self._redactor
        if mask is None:
            return result
        return replace(
            result,
            text=mask.mask_known(result.text),
            structured=mask.mask_data(result.structured),
            facts=mask.mask_data(result.facts),
        )

    @staticmethod
    def _tell(request: CallRequest, call: CallContext | None, outcome: CallResult) -> None:
        meta, result = request.parent.meta, outcome.result
        request.sink(
            ToolCallFinished(
                thread_id=meta.thread_id,
                run_id=meta.run_id,
                message_id=request.message_id,
                call_id=request.block.call_id,
                tool=_told_name(request, call),
                state=outcome.state,
                text=result.text,
                is_error=result.is_error,
                code=result.code,
                elapsed_ms=outcome.elapsed_ms,
                facts=outcome.facts,
                result_message_id=request.result_message_id,
                media=result.media,
            )
        )


def _told_name(request: CallRequest, call: CallContext | None) -> str:
    """The provider's name of a tool, or as it was called; of a file that was called by its path the skill's own."""
    asked = request.block.tool
    if call is None:
        return asked[:64]
    return call.definition.alias or (call.definition.name if "/" in asked else asked[:64])


def _as_it_is(value: Any) -> Any:
    return value


def _decided(call: CallContext, masked: Callable[[Any], Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"category": call.category.value}
    if call.check is not None and call.check.raised_because:
        facts["raised_because"] = call.check.raised_because
    if call.decision is not None:
        facts.update(decision=call.decision.choice, by=call.decision.by)
        if call.decision.reason:
            facts["reason"] = call.decision.reason
    if call.waited_s:
        facts["waited_ms"] = int(call.waited_s * 1000)
    if call.edited:
        facts["edited"] = masked(call.changes)
    if call.nested:
        facts["nested"] = call.nested[:MAX_NESTED_SHOWN]  # an agent's may have come on top
    return facts


def _refuse_options(call: CallContext) -> None:
    """``$name`` arguments are options of trusted code; from a model they would steer what the called code calls in
    turn, so only declared ones pass (R-INV-15)."""
    if call.request.caller.origin == "skill":
        return
    declared = call.definition.params.get("properties") or {}
    odd = [key for key in call.arguments or {} if key.startswith("$") and key not in declared]
    if odd:
        raise Denied(f"Arguments may not begin with $ here: {', '.join(odd)[:200]}.", code="denied.untrusted_ref")


def _may_be_brought(request: CallRequest) -> bool:
    """Model-written names are looked up by name only; a path or URI from a model loads nothing (C-3, Q-3)."""
    return request.caller.origin == "skill" or is_bare_name(request.block.tool.replace("_", "-"))


def _failed(error: AssentError) -> ToolResult:
    """One of our errors as content: the machine code and the sentence (R-INV-17)."""
    if isinstance(error, CancellationError):
        return ToolResult(ABORTED, is_error=True, code=ToolAborted.code)
    code = error.code if isinstance(error, KnownError) else "bug"
    text = str(error)
    if isinstance(error, KnownError) and error.next_step:
        text = f"{text} {error.next_step}"
    return ToolResult(text, is_error=True, code=code)


_STATES = {ToolAborted.code: "aborted", UNKNOWN: "unknown"}


def _state(result: ToolResult) -> str:
    """done | failed | denied | aborted | unknown, for the card."""
    if not result.is_error:
        return "done"
    if result.code in _STATES:
        return _STATES[result.code]
    return "denied" if result.code.startswith("denied") else "failed"
