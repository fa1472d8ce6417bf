"""Step 12 for skills: library code in this process, other code in its worker, markdown by the ``agent`` skill.

Nothing runs before its first call: code files are read by others without executing them (R-SK-6). Only the bundled
library is trusted to run in this process (R-SK-14).
"""

from __future__ import annotations

import asyncio
import importlib.machinery
import importlib.util
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Protocol

from desktop.domain.code import CodeLimits, held_words
from desktop.domain.errors import BugError, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ToolCallBlock
from desktop.domain.skills import SkillDef, SkillFunction
from desktop.domain.tools import ToolCallContext, ToolResult
from desktop.pipeline.context import CallContext, CallRequest
from desktop.pipeline.names import AllowedTools, Caller, ExactTools
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.results import result_of, value_of
from desktop.pipeline.skill_context import Advance, Context, Envelope, NotMiddleware, RunInfo, ServedContext
from desktop.pipeline.skills.manager import Invoker, Manager
from desktop.pipeline.validation import frozen_copy
from desktop.workers.python_skill.run_context import RunContext, run_agent

AGENT = "agent"
HOSTING = "agent-in-code"
"""The skill of the library that gives code a place as an agent."""


class CodeWorker(Protocol):
    """Runs one code skill outside this process; ``ctx`` is reached by messages (R-SK-14)."""

    def run(self, definition: SkillDef, context: Context, args: Mapping[str, Any]) -> Awaitable[Any]:
        """The value it returned. Raises ToolFailure."""
        ...


AllowedOf = Callable[[SkillDef], AllowedTools]
"""The pattern list of a skill, for the calls that it makes itself (R-INV-3)."""


def everything(_definition: SkillDef) -> AllowedTools:
    """The list of a skill without one: everything is allowed."""
    return ExactTools(None)


class LibraryCode:
    """Functions of the library's Python files, loaded at their first call, and again when the file changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modules: dict[str, tuple[str, Any]] = {}

    def function(self, definition: SkillDef) -> SkillFunction:
        """The entry function of a library skill. Blocks; raises ToolFailure when the file raises or has no such
        function."""
        with self._lock:
            known = self._modules.get(definition.path)
            if known is None or known[0] != definition.stamp:
                known = self._modules[definition.path] = (definition.stamp, _load(definition))
        found = getattr(known[1], definition.entry or "run", None)
        if not callable(found):
            raise ToolFailure(f"The skill {definition.name} has no function {definition.entry or 'run'}(ctx, args).")
        function: SkillFunction = found
        return function


class _Unwritten(importlib.machinery.SourceFileLoader):
    """Leaves no bytecode beside the skills: the folder may not be ours to write, and is one of skills only."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Does nothing: compiled library code is not written to disk."""


def _load(definition: SkillDef) -> Any:
    name = f"assent_library.{definition.name.replace('-', '_')}"
    loader = _Unwritten(name, definition.path)
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ToolFailure(f"The skill {definition.name} cannot be loaded from {definition.path}.")
    module = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except Exception as error:  # a skill file: whatever it raises at import is its own problem, in words
        raise ToolFailure(f"The skill {definition.name} could not be loaded: {error!r}") from error
    return module


class ConfinedWorker(CodeWorker, Protocol):
    """One that runs nothing where nothing confines it."""

    def refusal(self, definition: SkillDef) -> ToolFailure | None:
        """Why it cannot run on this computer. Blocks."""
        ...


class SandboxedWorker(CodeWorker, Protocol):
    """One whose engine keeps code in, whatever the system does besides."""

    async def held(self) -> bool:
        """Whether the system itself holds what runs it, too."""
        ...


@dataclass(slots=True)
class SkillRuns:
    """``python`` and ``javascript`` are the workers of code that is not the library's; None: it cannot run here.

    ``pipeline`` is set once, by whoever makes both.
    """

    allowed_of: AllowedOf = everything
    python: ConfinedWorker | None = None
    javascript: SandboxedWorker | None = None
    library: LibraryCode = field(default_factory=LibraryCode)
    pipeline: Invoker | None = None

    async def run(self, definition: SkillDef, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Run one skill; its value becomes the result (R-SK-7)."""
        call = context.scope
        if not isinstance(call, CallContext):
            raise BugError("a skill was run outside the pipeline")
        ctx, manager = self._context(definition, call)
        args = frozen_copy(args)  # a retry starts again from what was checked, whatever the code did to its own
        if definition.is_words:
            value = str(ctx.locals.get("prompt") or "")
        elif definition.kind in ("markdown", "folder"):
            value = await self._by_agent(definition, call, ctx)
        elif definition.role == "agent":
            value = await self._as_agent(definition, call, ctx, args)
        else:
            value = await self._code(definition, ctx, args)
        failure = ctx.locals.get("failure")
        if isinstance(failure, ToolFailure):
            raise failure
        if manager.finished:
            value = manager.value
        served = call.request.serves
        if served is not None and value is not None and not served.finished:
            served.finished, served.result = True, value
        if value is None and definition.returns is not None:  # a value that was promised, not the lack of one
            return ToolResult("null", facts={"empty": True})
        return result_of(value)

    async def refusal(self, definition: SkillDef) -> ToolFailure | None:
        """Why it cannot run on this computer, whoever would allow it."""
        if definition.kind != "python" or definition.source == "library" or self.python is None:
            return None
        return await asyncio.to_thread(self.python.refusal, definition)

    async def shown(self, definition: SkillDef) -> Mapping[str, str]:
        """What its request says of what holds it: of JavaScript, where the engine alone does."""
        if definition.kind != "javascript" or definition.source == "library" or self.javascript is None:
            return {}
        return held_words(held=await self.javascript.held())

    def _context(self, definition: SkillDef, call: CallContext) -> tuple[Context, Manager]:
        pipeline = self.pipeline
        if pipeline is None:
            raise BugError("skills were run before the pipeline was wired")
        invocation, served = call.invocation, call.request.serves
        ctx = call.context or context_of(call)
        caller = self._caller_of(definition, call.request.caller.chain)
        nested_s = CodeLimits().nested_s if definition.kind == "javascript" else None  # R-COD-15
        manager = Manager(pipeline, call, caller, served, self._caller_of, default_timeout_s=nested_s)
        manager.context = ctx
        parent = invocation.parent.view if invocation.parent is not None else None
        target = served.context if served is not None else ctx
        ctx.bind(Envelope(invocation.context_id, target, parent, invocation.meta.cancellation), manager)
        if served is not None:
            ctx.trigger, ctx.wraps = served.trigger, served.wraps
            ctx.locals["config"] = served.value
        invocation.view = call.context = ctx
        return ctx, manager

    def _caller_of(self, definition: SkillDef, above: tuple[str, ...]) -> Caller:
        """The caller that the calls of a skill's code are made for: the skill, with its own list of tools (R-INV-3)."""
        trusted = definition.source in ("library", "mine", "program")
        return Caller("skill" if trusted else "code", (*above, definition.name), self.allowed_of(definition))

    async def _code(self, definition: SkillDef, ctx: Context, args: Mapping[str, Any]) -> Any:
        function = definition.fn if definition.kind == "program" else None
        if definition.kind == "python" and definition.source == "library":
            function = await asyncio.to_thread(self.library.function, definition)
        hosted = ctx.hosted
        if function is not None and hosted is not None:
            own = RunContext(ctx, ctx.manager.invoke, hosted.agent_id, hosted.ref, (ToolFailure,))
            return await run_agent(function, own, hosted.inbox)
        if function is not None:
            return await _called(function, ctx, args)
        worker = self.python if definition.kind == "python" else self.javascript
        if definition.kind == "foreign" or worker is None:
            raise ToolFailure(f"{definition.name} is written in a language that cannot be run here.")
        return await worker.run(definition, ctx, args)

    async def _by_agent(self, definition: SkillDef, call: CallContext, ctx: Context) -> Any:
        """An ordinary invocation of the skill named ``agent``, which reads the served context (R-AG-1)."""
        metadata = ctx.run.frontmatter
        arguments: dict[str, Any] = {"prompt": str(ctx.locals.get("prompt") or ""), "name": definition.name}
        model = metadata.get("model")
        if isinstance(model, (Mapping, str)):  # a text names the model alone
            arguments["config"] = dict(model) if isinstance(model, Mapping) else {"model": model}
        if definition.allowed_tools is not None:
            arguments["allowedTools"] = definition.allowed_tools
        if isinstance(metadata.get("returns"), Mapping):
            arguments["returns"] = dict(metadata["returns"])
        if call.request.said:
            arguments["userMessage"] = call.request.said
        return await self._served(AGENT, arguments, call, ServedContext(ctx, _onward(call.request.serves)))

    async def _as_agent(self, definition: SkillDef, call: CallContext, ctx: Context, args: Mapping[str, Any]) -> Any:
        """An ordinary invocation of the skill that gives agents in code their place, which goes on with the code."""

        async def work() -> Any:
            manager = ctx.manager
            if ctx.hosted is None or not isinstance(manager, Manager):
                raise BugError(f"{definition.name} was not given its place as an agent")
            manager.host(ctx.hosted)
            return await self._code(definition, ctx, args)

        return await self._served(HOSTING, {}, call, ServedContext(ctx, work))

    async def _served(self, tool: str, arguments: Mapping[str, Any], call: CallContext, served: ServedContext) -> Any:
        """What the library's skill ``tool`` makes of the call at hand."""
        request = call.request
        outcome = await self.pipeline.invoke(  # type: ignore[union-attr]  # checked in _context
            CallRequest(
                ToolCallBlock(new_id(), tool, arguments),
                Caller("skill", (*request.caller.chain, call.tool), ExactTools(None)),
                call.invocation,
                NestedSink(request.sink, request.block.call_id),
                request.message_id,
                "",
                request.limits,
                serves=served,
            )
        )
        call.nested.extend(outcome.facts.get("nested", ()))
        value = value_of(outcome.result)
        return served.result if served.finished else value  # as it was recorded, not as content


def _onward(outer: ServedContext | None) -> Advance:
    """``next`` of an agent that works in a middleware skill goes on with what that skill serves (R-AG-13)."""

    async def advance() -> Any:
        if outer is None:
            raise NotMiddleware("This agent serves an ordinary skill; there is nothing to go on with.")
        outer.advanced += 1
        return await outer.advance()

    return advance


def context_of(call: CallContext) -> Context:
    """The code's view of a call, before anything runs: what middleware serves."""
    invocation = call.invocation
    definition = getattr(call.target, "definition", None)
    origin = definition.src or definition.path if definition is not None else f"tool:{call.definition.name}"
    info = RunInfo(call.definition, definition, origin, call.cascade.metadata)
    args = MappingProxyType(frozen_copy(call.frozen))
    ctx = Context(args, info, invocation.local, invocation.inherited, invocation.shared, call=call)
    parent = invocation.parent.view if invocation.parent is not None else None
    ctx.bind(Envelope(invocation.context_id, ctx, parent, invocation.meta.cancellation), _Unmanaged())
    return ctx


class _Unmanaged:
    """The manager of a served context before its own code runs: it makes no calls in that code's name."""

    async def invoke(
        self, ref: str, args: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> Any:
        raise NotMiddleware("The served skill does not run yet; call through your own manager.")

    def calls_back(self, ref: str) -> bool:
        return False

    def finish(self, value: Any = None) -> None:
        raise NotMiddleware("Finish through your own manager: it records the served result.")

    async def conclude(self, value: Any = None) -> None:
        self.finish(value)

    def fail(self, reason: str) -> None:
        raise NotMiddleware("Fail through your own manager.")

    async def next(self) -> Any:
        raise NotMiddleware("Go on through your own manager.")


async def _called(function: SkillFunction, ctx: Context, args: Mapping[str, Any]) -> Any:
    """Await it, or run it off the loop when it is an ordinary function (R-SK-7)."""
    if inspect.iscoroutinefunction(function):
        return await function(ctx, args)
    value = await asyncio.to_thread(function, ctx, args)
    return await value if inspect.isawaitable(value) else value
