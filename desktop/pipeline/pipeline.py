"""``Pipeline.invoke``: the one way to call a tool, thirteen steps in a fixed order (R-INV-1)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from desktop.domain.errors import (
    AssentError,
    CancellationError,
    Denied,
    KnownError,
    NotFound,
    ToolAborted,
    ValidationFailure,
)
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.events import ToolCallFinished, ToolCallStarted
from desktop.domain.runs.middleware import CallNext, FunctionContext, Middleware
from desktop.domain.safety import Redactor
from desktop.domain.text.outside import OutsideText, OutsideTexts
from desktop.domain.tools import Tool, ToolResult, ToolSpec
from desktop.files.own_files import OwnFiles
from desktop.pipeline.context import CallAttempt, CallContext, CallRequest, CallResult, Invocation, Journal, Trust
from desktop.pipeline.edits import edit_note
from desktop.pipeline.execute import Executor, cut, live
from desktop.pipeline.gates import AllowedToolsGate, LimitsGate, SafetyGate, SchemaGate, TrustGate
from desktop.pipeline.limited import ABORTED, LimitedWork, Spawn
from desktop.pipeline.names import Caller, ToolTable, hint, resolve
from desktop.pipeline.nested import listed
from desktop.pipeline.observe import Observer
from desktop.pipeline.outside import WhoseWords, earlier_words, heard, note_above, read_now, with_names
from desktop.pipeline.passing_on import meant, passes_on
from desktop.pipeline.recovery.gate import RecoveryGate
from desktop.pipeline.recovery.past_calls import PastCalls, key_of
from desktop.pipeline.rehearsing import Around, CallRehearsals, alone
from desktop.pipeline.skills.side import SkillSide
from desktop.pipeline.skills.wrapping import Wrapping
from desktop.pipeline.steps import CallLayer, CallStep, RemadePictures, ResultCheck, Terminated, planned
from desktop.pipeline.validation import Validator
from desktop.recovery.history import CallHistories
from desktop.recovery.past import OUTCOME_UNKNOWN, OUTCOME_UNKNOWN_STATE, edited_of
from desktop.skills.names import is_bare_name

OUTPUT_LIMIT = 200_000
TIMEOUT_S = 120.0
MAX_NESTED_SHOWN = 100

_log = logging.getLogger(__name__)


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
    ``histories`` knows of the calls that earlier runs left open. ``outside`` keeps whose texts were read in a run.
    ``pictures`` opens what tools give as pictures; None: they stay as they came. ``own_files`` are the app's: once they
    were exchanged no call is made, for what it starts would be of another version.

    ``steps`` are all that happens to a call, in their order.
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
        histories: CallHistories | None = None,
        around: Around = alone,
        outside: OutsideTexts | None = None,
        pictures: PictureOpener | None = None,
        own_files: OwnFiles | None = None,
    ) -> None:
        self.table = table
        self._own_files = own_files or OwnFiles()
        self._skills = skills
        self.validator = Validator()
        self._settings = settings or CallSettings()
        self._journal = journal
        self._redactor = redactor
        self._outside = outside
        allowed, schema, safety = AllowedToolsGate(), SchemaGate(self.validator), SafetyGate()
        limits = self._settings
        work = LimitedWork(spawn, limits.timeout_of, limits.margin_s, redactor, self._own_files)
        self._rehearsals = CallRehearsals(work, around)
        trusting = TrustGate(trust, (allowed, schema, safety), self._rehearsals)
        past_calls = self._past_calls = PastCalls(histories, trusting)
        self._executor = Executor(trusting, work, self._current)
        observers = [Observer(layer) for layer in layers if getattr(layer, "observe_only", False)]
        middleware: list[Middleware[CallContext]] = [one for one in layers if not getattr(one, "observe_only", False)]
        self._wrapping = Wrapping(self, trusting) if skills is not None else None
        wrapping = [CallLayer("", "the middleware of the skill", self._wrapping)] if self._wrapping is not None else []
        self.steps: tuple[CallStep | CallLayer, ...] = (
            CallStep("1, 2", "the name becomes a tool that this caller may see", self._find),
            CallStep("", "what an earlier process did with the call", past_calls.recognise),
            CallStep("3", "its place in the tree of calls", self._place),
            CallStep("4, 5", "what the frontmatter of the skill comes to", self._configure),
            CallLayer("", "what comes back is what was promised", ResultCheck(self.validator)),
            CallLayer("", "a question that nobody answered stays open", past_calls),
            *(CallLayer("", "watches, and changes nothing", observer) for observer in observers),
            CallLayer("", "middleware may end the call", Terminated()),
            CallLayer("6", "the list of whoever calls", allowed),
            CallLayer("7", "the arguments against their schema", schema),
            CallLayer("8", "how many calls", LimitsGate()),
            CallLayer("9", "category, boundary, refused commands", safety),
            CallLayer("", "what may have been done already is asked about", RecoveryGate(histories)),
            CallLayer("10", "rules, what was agreed before, a person", trusting),
            *(CallLayer("11", "the journal and other middleware", layer) for layer in middleware),
            CallLayer("", "pictures are made anew", RemadePictures(pictures)),
            CallLayer("", "whose words come back", WhoseWords()),
            *wrapping,
            CallStep("12", "looked at once more, then run", self._execute),
            CallStep("", "what was done before and did not come up again", past_calls.conclude, always=True),
            CallStep("13", "secrets masked, cut, told, noted", self._finish, always=True),
        )
        self._until_result, self._after_result = planned(self.steps)

    def schema(self, spec: ToolSpec) -> dict[str, Any]:
        """The native schema of a tool for a model: the object that also validates (R-TOOL-7)."""
        return {"name": spec.provider_name, "description": spec.description, "parameters": self.validator.schema(spec)}

    async def invoke(self, request: CallRequest) -> CallResult:
        """Make one call: each step in its turn (``steps``). Failures of every kind are content (R-LOOP-3); only
        CancelledError leaves this."""
        attempt = CallAttempt(request, time.perf_counter())
        if request.limits is not None and request.counted:
            request.limits.count_call()
        try:
            for step in self._until_result:
                if attempt.result is None:
                    await self._take(step, attempt)
        finally:
            if attempt.call is not None:
                attempt.call.meta.cancellation.detach()
                attempt.call.configure = None  # it knows the call: only the garbage collector would free them
                await self._rehearsals.drop(attempt.call)
        for step in self._after_result:
            await step.run(attempt)
        assert attempt.outcome is not None
        return attempt.outcome

    async def around(self, call: CallContext, core: CallNext) -> None:
        """The middleware of a skill around work that no call makes: the turn of an agent by its prompt (D-10). ``core``
        sets the result. Raises what a layer, or the work, failed with."""
        await (self._wrapping.process(call, core) if self._wrapping is not None else core())

    async def _take(self, step: CallStep, attempt: CallAttempt) -> None:
        """Run one step; a refusal or failure becomes the call's result."""
        try:
            await step.run(attempt)
        except AssentError as error:
            attempt.refused, attempt.result = True, await self._refused(attempt, error)
        except Exception as error:  # the boundary of tools: whatever they raise is content (R-LOOP-3)
            attempt.refused, attempt.result = True, self._crashed(attempt.request, error)

    async def meant(self, block: ToolCallBlock, caller: Caller) -> ToolCallBlock:
        """The call that is meant: where it goes through ``skill-invoke``, that of the skill it names."""
        if not passes_on(block):
            return block
        if self._skills is not None:
            await self._skills.bring(block.tool)
        return meant(self.table, block, caller)

    async def _find(self, attempt: CallAttempt) -> None:
        """Steps 1 and 2: the tool, and whether it may be seen."""
        request = attempt.request
        request = attempt.request = replace(request, block=await self.meant(request.block, request.caller))
        block = request.block
        try:
            if self._skills is not None and _may_be_brought(request):
                await self._skills.bring(block.tool)
            attempt.tool = resolve(self.table, block.tool, request.caller)
        except NotFound as error:
            self._started(request, None)
            hint_text = await asyncio.to_thread(hint, self.table, block.tool, request.caller)
            raise NotFound(f"{error}{hint_text}") from None
        except AssentError:
            self._started(request, None)
            raise
        self._started(request, attempt.tool)

    async def _place(self, attempt: CallAttempt) -> None:
        """Step 3: note where the call stands in the tree of calls."""
        request, tool = attempt.request, attempt.tool
        assert tool is not None
        block, meta, edited = request.block, request.parent.meta, edited_of(request.past)
        invocation = request.parent.child(tool.spec.name, block.arguments or {}, key_of(request))
        attempt.call = CallContext(
            meta=invocation.meta,
            tool=tool.spec.name,
            arguments=block.arguments,
            definition=tool.spec,
            request=request,
            target=tool,
            invocation=invocation,
            original=edited.asked if edited is not None else None,
            hear=partial(earlier_words, self._outside, invocation),
        )
        live(meta.cancellation)
        self._own_files.check()
        if block.arguments is None:
            raise ValidationFailure(f"The arguments are not a JSON object: {block.problem or 'cannot be read'}")
        _refuse_options(attempt.call)

    async def _configure(self, attempt: CallAttempt) -> None:
        """Steps 4 and 5: what the frontmatter comes to, for these arguments."""
        call, side = attempt.call, self._skills
        if call is not None and side is not None:
            await side.check_overrides(call, self.validator)
            call.configure = lambda: side.configure(call)
            await call.configure()

    async def _execute(self, attempt: CallAttempt) -> None:
        """Step 12: run the tool."""
        assert attempt.call is not None
        await self._executor.run(attempt.call)

    async def _refused(self, attempt: CallAttempt, error: AssentError) -> ToolResult:
        """What the caller reads of a refusal, where no person says that it is otherwise."""
        try:
            return await self._past_calls.refused(attempt, error) or _failed(error)
        except AssentError as another:
            return _failed(another)

    async def _current(self, call: CallContext) -> Tool | None:
        """What the name that was called stands for by now."""
        name = call.request.block.tool
        return await self.named(name) if _may_be_brought(call.request) else self.table.find(name)

    async def named(self, name: str) -> Tool | None:
        """The tool of this name, read from its file where it is not in memory yet; None: there is none."""
        if self._skills is not None:
            await self._skills.bring(name)
        return self.table.find(name)

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

    async def _finish(self, attempt: CallAttempt) -> None:
        """Step 13: secrets masked, truncation, event, journal."""
        request, call, result = attempt.request, attempt.call, attempt.result
        assert result is not None
        elapsed = int((time.perf_counter() - attempt.started - (call.waited_s if call else 0.0)) * 1000)
        size = len(result.text.encode("utf-8", "replace"))
        result = with_names(attempt, self._masked(result))
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
        outcome = attempt.outcome = CallResult(result, state, facts, max(0, elapsed))
        heard(self._outside, request.parent, read_now(attempt, result, masked(call.arguments or {}) if call else {}))
        note_above(request.parent, result.outside)
        self._tell(request, call, outcome)
        if self._journal is not None and not attempt.given:
            self._journal(request, call, outcome)

    def heard(self, at: Invocation, read: Sequence[OutsideText]) -> None:
        """What works at this place of the tree has these texts from outside before it: all that it calls from now on
        follows them."""
        heard(self._outside, at, read)

    def person_spoke(self, at: Invocation) -> None:
        """The person has said something to the only agent at work in a run: what it calls now follows that."""
        at.heard.clear()
        if self._outside is not None:
            self._outside.forget(at.meta.run_id)

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
    if call.past_edge:
        facts["past_edge"] = masked([[one.kind, one.words] for one in call.past_edge])
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
    if isinstance(error, KnownError):
        return ToolResult(error.advice, is_error=True, code=error.code)
    return ToolResult(str(error), is_error=True, code="bug")


_STATES = {ToolAborted.code: "aborted", OUTCOME_UNKNOWN: OUTCOME_UNKNOWN_STATE}


def _state(result: ToolResult) -> str:
    """done | failed | denied | aborted | unknown, for the card."""
    if not result.is_error:
        return "done"
    if result.code in _STATES:
        return _STATES[result.code]
    return "denied" if result.code.startswith("denied") else "failed"
