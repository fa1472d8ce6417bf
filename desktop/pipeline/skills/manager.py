"""``ctx.manager``: invoke, finish, fail, next (R-INV-2, R-INV-3, R-INV-9, R-INV-15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from desktop.domain.errors import AssentError, BugError, CancellationError, Denied, KnownError, NotFound, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.messages import ToolCallBlock
from desktop.domain.skills import SkillDef
from desktop.pipeline.context import MAX_BRANCH, CallContext, CallRequest, CodePlace
from desktop.pipeline.names import Caller, ExactTools, check_operation
from desktop.pipeline.nested import NestedSink
from desktop.pipeline.results import NestedFailure, result_of, value_of
from desktop.pipeline.skill_context import Context, HostedAgent, NotMiddleware, ServedContext, SkillFailed
from desktop.pipeline.skills.overrides import overrides_in
from desktop.pipeline.validation import frozen_copy
from desktop.skills.names import is_bare_name

if TYPE_CHECKING:
    from desktop.pipeline.context import CallResult

CallerOf = Callable[[SkillDef, tuple[str, ...]], Caller]
"""The caller that a skill's code is, below a chain of names."""


class Invoker(Protocol):
    """The pipeline, as the manager needs it."""

    async def invoke(self, request: CallRequest) -> CallResult: ...

    async def meant(self, block: ToolCallBlock, caller: Caller) -> ToolCallBlock: ...

    def note_nested(
        self, call: CallContext, tool: str, arguments: Mapping[str, Any] | None, outcome: CallResult
    ) -> None: ...


class Manager:
    """``caller`` is who the code's own calls come from: its name and its own allowed-tools (R-INV-3).

    ``served`` is set in middleware. ``finished`` and ``value`` are what ``finish`` recorded.
    """

    def __init__(
        self,
        pipeline: Invoker,
        call: CallContext,
        caller: Caller,
        served: ServedContext | None = None,
        caller_of: CallerOf | None = None,
        *,
        default_timeout_s: float | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._caller_of = caller_of
        self._call = call
        self._caller = caller
        self._served = served
        self._default_timeout_s = default_timeout_s
        self._made: Callable[[CallResult], None] | None = None
        self.context: Context | None = None
        self.finished = False
        self.value: Any = None

    def host(self, agent: HostedAgent) -> None:
        """The code's own calls are those of an agent from now on: judged by its list, and counted."""
        self._caller, self._made = replace(self._caller, allowed=agent.allowed), agent.made

    async def invoke(
        self,
        ref: str,
        args: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        place: CodePlace | None = None,
    ) -> Any:
        """Call a tool through every gate; its structured value where it has one, else its text. A ref that the runtime
        handed out for this code is a function of the runtime, and no tool.

        ``options``: ``frontmatter`` adds middleware to the call (see ``overrides``); ``as_caller`` and ``as_served``
        (library skills only) make the call in the name of whoever called this skill, or of the skill it serves;
        ``in_name_of`` (library only) takes a Caller that was kept; ``branch`` names the task that calls
        (``CallRequest``). Raises NestedFailure (a ToolFailure) with the call's
        code.
        """
        handed = self._handed(ref)
        if handed is not None:
            return await _called_back(handed, self.context, args)
        check_operation(self._caller.allowed, "invoke")
        return value_of((await self._outcome(ref, dict(args or {}), dict(options or {}), place)).result)

    async def _outcome(
        self, ref: str, args: dict[str, Any], options: dict[str, Any], place: CodePlace | None
    ) -> CallResult:
        if not isinstance(ref, str):
            raise ToolFailure("A tool is called by its name or reference, a text.")
        if self._untrusted and not is_bare_name(ref):
            raise Denied(f"{ref[:64]!r} is not a plain tool name.", code="denied.untrusted_ref")
        caller = self._in_whose_name(options)
        branch = options.pop("branch", "")
        block = await self._pipeline.meant(ToolCallBlock(new_id(), ref, args), caller)
        own = self._library and caller is self._caller and not block.via
        args, options = _options_of(dict(block.arguments or {}), options, own=own)
        request = self._call.request
        sink = NestedSink(request.sink, request.block.call_id)
        outer = self._call.invocation
        nested = CallRequest(
            replace(block, arguments=args),
            caller,
            outer,
            sink,
            request.message_id,
            "",
            request.limits,
            overrides=overrides_in(options),
            default_timeout_s=self._default_timeout_s,
            place=place,
            branch=str(branch)[:MAX_BRANCH],
        )
        outcome = await self._hooked(nested, 0)
        self._pipeline.note_nested(self._call, block.tool, args, outcome)
        if self._made is not None:
            self._made(outcome)
        return outcome

    def _in_whose_name(self, options: dict[str, Any]) -> Caller:
        """This skill's own, or for library skills the caller's or the served skill's: then those lists govern."""
        as_caller, as_served = options.pop("as_caller", False), options.pop("as_served", False)
        kept = options.pop("in_name_of", None)
        if not as_caller and not as_served and kept is None:
            return self._caller
        if not self._library:
            raise Denied("Only the library may call in another's name.", code="denied.untrusted_ref")
        if isinstance(kept, Caller):
            return kept
        if as_caller:
            return self._call.request.caller
        context = self._served.context if self._served is not None else None
        if context is not None and context.call is not None and context.call.own is not None:
            return cast("Caller", context.call.own)
        served = context.run.definition if context is not None else None
        if served is None or self._caller_of is None:
            raise NotMiddleware("There is no served skill to call for.")
        return self._caller_of(served, self._call.request.caller.chain[:-1])

    async def _hooked(self, nested: CallRequest, at: int) -> CallResult:
        """The call inside the ``$invoke`` hooks of this skill, the first outermost (R-INV-11)."""
        hooks = [entry for entry in self._call.cascade.chain if entry.hook == "$invoke"]
        if at == len(hooks) or self.context is None:
            return await self._pipeline.invoke(nested)
        entry, inner = hooks[at], []

        async def advance() -> Any:
            inner.append(await self._hooked(nested, at + 1))
            return value_of(inner[-1].result)

        served = ServedContext(self.context, advance, entry.value, "$invoke", nested.block.tool)
        chain = (*self._caller.chain, entry.name)
        outcome = await self._pipeline.invoke(
            replace(
                nested,
                block=ToolCallBlock(new_id(), entry.name, {}),
                caller=Caller("skill", chain, ExactTools(None)),
                overrides={},
                serves=served,
                counted=False,
            )
        )
        if outcome.result.is_error:
            return outcome
        if served.finished:
            return replace(outcome, result=result_of(served.result))
        return inner[-1] if inner else await self._hooked(nested, at + 1)

    def calls_back(self, ref: str) -> bool:
        """Whether this is a ref that the runtime handed out, whose use it bounds itself."""
        return self._handed(ref) is not None

    def _handed(self, ref: Any) -> SkillDef | None:
        """What the runtime handed out under this ref; code that a model wrote has none."""
        skills = self._call.invocation.shared.get("skills")
        if skills is None or not isinstance(ref, str) or self._untrusted:
            return None
        found: SkillDef | None = skills.handed(ref)
        return found

    @property
    def _untrusted(self) -> bool:
        """Whether the code is a model's: then it names tools, and nothing else (R-COD-7)."""
        internals = self.context.locals.get("internals") if self.context is not None else None
        return isinstance(internals, Mapping) and internals.get("untrustedRef") is True

    @property
    def _library(self) -> bool:
        definition = self.context.run.definition if self.context is not None else None
        return definition is not None and definition.source == "library"

    def finish(self, value: Any = None) -> None:
        """Record the result of the call at hand, or in middleware of the served one."""
        check_operation(self._caller.allowed, "finish")
        if self._served is not None:
            self._served.finished, self._served.result = True, value
        else:
            self.finished, self.value = True, value

    async def conclude(self, value: Any = None) -> None:
        """``finish``, judged first by the agent whose context this is."""
        accept = self.context.accept if self.context is not None else None
        if accept is None:
            self.finish(value)
        else:
            await accept(value)

    def fail(self, reason: str) -> None:
        """End the (served) call with failure: its token is cancelled, so that an agent at work in it stops."""
        check_operation(self._caller.allowed, "fail")
        context = self.context
        if context is None:
            raise BugError("a manager without its context")
        failure = SkillFailed(str(reason)[:4000])
        target = context.envelope.target
        target.locals["failure"] = failure
        target.envelope.signal.cancel("failed")
        raise failure

    async def next(self) -> Any:
        """Go on with the served call (R-INV-4). Twice is an error, but for retry layers (R-INV-5, R-MW-5)."""
        check_operation(self._caller.allowed, "next")
        served = self._served
        if served is None:
            raise NotMiddleware("next() goes on with a served call; this skill was called directly.")
        served.advanced += 1
        if served.advanced > 1 and not served.retries:
            raise ToolFailure("next() was called twice.", code="skill.next_twice")
        return await served.advance()


async def _called_back(handed: SkillDef, context: Context | None, args: Mapping[str, Any] | None) -> Any:
    """A callback of the runtime, with a copy of plain arguments. It judges itself who calls; whatever it raises is a
    failure of the call, as with tools, and can be caught like one."""
    try:
        if handed.fn is None or context is None or not isinstance(args or {}, Mapping):
            raise NotFound("There is no such tool here.")
        return await handed.fn(context, frozen_copy(args or {}))
    except (ToolFailure, CancellationError):
        raise
    except KnownError as error:
        raise NestedFailure(str(error), error.code) from error
    except AssentError:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of callbacks, as of tools (R-LOOP-3)
        raise ToolFailure(f"{handed.name} failed: {error}") from error


def _options_of(args: dict[str, Any], options: dict[str, Any], *, own: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """``$name`` arguments are options when the library's own code calls in its own name (``own``), and an error from
    all others (R-INV-15): what a skill passes on may have come from a model."""
    keys = [key for key in args if key.startswith("$")]
    if keys and not own:
        raise Denied(f"Arguments may not begin with $ here: {', '.join(keys)[:200]}.", code="denied.untrusted_ref")
    for key in keys:
        options[key[1:]] = args.pop(key)
    return args, options
