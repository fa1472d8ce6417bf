"""What travels with one invocation: where it stands in the call tree, and the call itself."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from desktop.domain.errors import Denied, ToolFailure
from desktop.domain.events import EventSink
from desktop.domain.ids import short_id
from desktop.domain.judgement import Category
from desktop.domain.limits import CallLimits
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.middleware import FunctionContext
from desktop.domain.permission import Decision, PermissionRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.scopes import Interrupt
from desktop.domain.tools import PreCheck, Tool, ToolResult
from desktop.pipeline.names import Caller
from desktop.pipeline.skill_context import Context, ServedContext
from desktop.recovery.past import NEVER_BEGUN, InProgress, Past, question_of
from desktop.skills.cascade.cascade import EMPTY, Cascade

MAX_DEPTH = 32
MAX_BRANCH = 64


@dataclass(frozen=True, slots=True)
class HistoryFrame:
    """One call on the way from the root to here. ``at`` is seconds since the epoch."""

    tool: str
    arguments: Mapping[str, Any]
    at: float


@dataclass(slots=True)
class Invocation:
    """A node of the call tree.

    ``local`` is this call's own scratch and never passes on; ``inherited`` is copied shallowly into children, so
    their writes do not leak up; ``shared`` is the process's (R-INV-7). ``clock`` is the time limit that runs while
    this call executes: it stands still while a person is asked about a nested call (R-PRM-10), and so do
    ``more_clocks`` of middleware around it. ``view`` is the ``ctx``
    that the call's code holds, once it runs. ``made`` counts calls made here that are alike.
    """

    meta: RunMeta
    parent: Invocation | None = None
    depth: int = 0
    history: tuple[HistoryFrame, ...] = ()
    local: MutableMapping[str, Any] = field(default_factory=dict)
    inherited: MutableMapping[str, Any] = field(default_factory=dict)
    shared: MutableMapping[str, Any] = field(default_factory=dict)
    made: MutableMapping[str, int] = field(default_factory=dict)
    clock: Interrupt | None = None
    more_clocks: list[Interrupt] = field(default_factory=list)
    context_id: str = field(default_factory=short_id)
    view: Context | None = None

    def count(self, like: str) -> int:
        """The how-manieth call of this likeness is made here now; from 1."""
        number = self.made[like] = self.made.get(like, 0) + 1
        return number

    def child(self, tool: str, arguments: Mapping[str, Any], key: str = "") -> Invocation:
        """The context of a nested call: a child span and token (R-CAN-8), one history frame more. ``key`` names it in
        the run's log.

        Raises Denied ``denied.limit`` beyond 32 levels (R-INV-16).
        """
        if self.depth >= MAX_DEPTH:
            raise Denied(f"Calls are nested more than {MAX_DEPTH} deep.", code="denied.limit")
        frame = HistoryFrame(tool, arguments, time.time())
        return Invocation(
            meta=self.meta.span(key),
            parent=self,
            depth=self.depth + 1,
            history=(*self.history, frame),
            inherited=dict(self.inherited),
            shared=self.shared,
        )

    def clocks(self) -> list[Interrupt]:
        """The time limits of all calls around this one."""
        found = []
        node: Invocation | None = self
        while node is not None:
            if node.clock is not None:
                found.append(node.clock)
            found.extend(node.more_clocks)
            node = node.parent
        return found


@dataclass(frozen=True, slots=True)
class CodePlace:
    """Where in model-written code a call was made: line from 1, and its text; 0: by no line that a person could read,
    but by code that was made while it ran, or kept from an earlier piece."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call to make."""

    block: ToolCallBlock
    caller: Caller
    parent: Invocation
    """The invocation that the call is nested in, or a root made by the caller."""
    sink: EventSink
    message_id: str = ""
    """The message of the model that asked for it."""
    result_message_id: str = ""
    """Where the caller will store the result."""
    limits: CallLimits | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Middleware keys for this call alone."""
    serves: ServedContext | None = None
    """Set when the call is middleware at work."""
    counted: bool = True
    """Whether it counts as a tool call; middleware at work and an agent's provider do not."""
    default_timeout_s: float | None = None
    """Holds where the tool has no limit of its own (R-COD-15)."""
    place: CodePlace | None = None
    """Set for calls of model-written code."""
    said: str = ""
    """What a person says to a skill that an agent works on, beside its arguments (R-AG-10)."""
    past: Past = NEVER_BEGUN
    """What an earlier process did with it."""
    key: str = ""
    """What names it in the run's log; "" for a call of a thread, which its message and id name."""
    branch: str = ""
    """Names the task that makes it, of an agent that does several things at once: calls of two tasks that are alike
    are known apart when the run is gone on with."""


@dataclass(slots=True, kw_only=True)
class CallContext(FunctionContext):
    """The function-level context of one call on its way through the gates.

    ``frozen`` is the private copy of the validated arguments that is approved and run; ``arguments`` is what user
    middleware sees. ``original`` is what the model asked for once a person edited the arguments; ``logged`` are the
    numbers of this call's lines in the activity log. ``cascade`` is what the skill's frontmatter comes to (step 4);
    ``configure`` works that out anew, for it may depend on the arguments; ``nested`` lists the calls that its code
    made, for the card. ``unrepeatable`` is why a call that had begun when Assent ended cannot be
    made again.
    """

    request: CallRequest
    target: Tool
    invocation: Invocation
    frozen: Mapping[str, Any] = field(default_factory=dict)
    check: PreCheck | None = None
    decision: Decision | None = None
    stale: bool = False
    original: Mapping[str, Any] | None = None
    logged: list[int] = field(default_factory=list)
    waited_s: float = 0.0
    cascade: Cascade = EMPTY
    configure: Callable[[], Awaitable[None]] | None = None
    context: Context | None = None
    nested: list[Mapping[str, Any]] = field(default_factory=list)
    unrepeatable: str = ""

    @property
    def place(self) -> str:
        """Where model-written code made the call, for a person."""
        place = self.request.place
        if place is None:
            return ""
        return f"line {place.line}: {place.text}" if place.line else "made while it ran"

    @property
    def edited(self) -> bool:
        """Whether a person changed the arguments."""
        return self.original is not None and dict(self.original) != dict(self.frozen)

    @property
    def changes(self) -> dict[str, Any]:
        """What a person changed: the arguments that the model did not ask for, as they are now."""
        return {} if self.original is None else changed(self.original, self.frozen)

    @property
    def settled(self) -> bool:
        """Whether a person said that it was done before Assent ended, or shall not be done again."""
        decided = self.decision
        return bool(self.question) and decided is not None and (bool(self.unrepeatable) or not decided.allowed)

    @property
    def question(self) -> str:
        """What a person is asked before the call is made, because it may have been done already; "" for most."""
        return question_of(self.request.past)

    @property
    def allowed_before(self) -> bool:
        """Whether it was allowed before Assent ended, and now only goes on."""
        past = self.request.past
        return isinstance(past, InProgress) and past.allowed_before

    @property
    def failure(self) -> ToolFailure | None:
        """What ``ctx.manager.fail`` recorded here, or in the call that this one serves."""
        served = self.request.serves
        places = (self.invocation.local, served.context.locals if served is not None else {})
        return next((found for place in places if isinstance(found := place.get("failure"), ToolFailure)), None)

    @property
    def category(self) -> Category:
        """The effective category, or the declared one before it was judged."""
        declared = self.target.spec.category
        return declared if self.check is None else max(declared, self.check.category, key=lambda c: c.rank)


def changed(asked: Mapping[str, Any] | None, made: Mapping[str, Any]) -> dict[str, Any]:
    """What of ``made`` is not as it was ``asked`` for."""
    return {k: v for k, v in made.items() if asked is None or k not in asked or asked[k] != v}


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call: ``result`` is content for the model, ``facts`` are for the card (ToolResultBlock)."""

    result: ToolResult
    state: str
    facts: Mapping[str, Any]
    elapsed_ms: int

    def block(self, call: ToolCallBlock) -> ToolResultBlock:
        """The result as a message block (R-LOOP-4, R-CTX-11)."""
        result = self.result
        return ToolResultBlock(
            call.call_id, call.tool, result.text, result.is_error, result.structured, self.facts, result.media
        )


Journal = Callable[[CallRequest, CallContext | None, CallResult], None]
"""Writes down what came of a call, refused ones included; must not wait. No ``CallContext``: it was refused before
there was one, as when there is no such tool."""


@dataclass(slots=True)
class CallAttempt:
    """One call on its way through the steps of the pipeline."""

    request: CallRequest
    started: float
    """On the clock of ``time.perf_counter``."""
    tool: Tool | None = None
    call: CallContext | None = None
    result: ToolResult | None = None
    given: bool = False
    """The result was known: nothing is made, and nothing written down."""
    outcome: CallResult | None = None


class Trust(Protocol):
    """Gate 10: rules, remembered decisions, then a person decide."""

    async def decide(self, call: CallContext, asking: Callable[[PermissionRequest], None]) -> Decision:
        """The decision about a call whose ``check`` and ``frozen`` arguments are set.

        ``asking`` is called with the request before a person is asked, and not when nobody is asked.
        """
        ...
