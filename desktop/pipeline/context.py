"""What travels with one invocation: where it stands in the call tree, and the call itself."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest, same_json, with_message
from desktop.domain.approval.thread_modes import PastEdge
from desktop.domain.errors import Denied, KnownError, ToolFailure
from desktop.domain.ids import short_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import EventSink
from desktop.domain.runs.limits import CallLimits
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.middleware import FunctionContext
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.tools import PreCheck, Rehearsal, Tool, ToolResult
from desktop.pipeline.names import Caller
from desktop.pipeline.skill_context import Context, ServedContext
from desktop.recovery.past import NEVER_BEGUN, InProgress, Past, question_of
from desktop.skills.cascade.effective import EMPTY, Cascade

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
    """A node of the call tree."""

    meta: RunMeta
    """What is known about the run here."""
    parent: Invocation | None = None
    """The call that made this one; None: the thread itself."""
    depth: int = 0
    """How many calls are above it."""
    history: tuple[HistoryFrame, ...] = ()
    """The calls from the root to here."""
    local: MutableMapping[str, Any] = field(default_factory=dict)
    """This call's own scratch, which never passes on."""
    inherited: MutableMapping[str, Any] = field(default_factory=dict)
    """Copied shallowly into children, so their writes do not leak up."""
    shared: MutableMapping[str, Any] = field(default_factory=dict)
    """The process's own values (R-INV-7)."""
    made: MutableMapping[str, int] = field(default_factory=dict)
    """Counts calls made here that are alike."""
    clock: Interrupt | None = None
    """The time limit that runs while this call executes: it stands still while a person is asked about a nested call
    (R-PRM-10)."""
    more_clocks: list[Interrupt] = field(default_factory=list)
    """The clocks of middleware around it, which stand still with it."""
    heard: dict[str, None] = field(default_factory=dict)
    """Whose words from outside were read in it, by what it called."""
    context_id: str = field(default_factory=short_id)
    """Names the invocation in traces."""
    view: Context | None = None
    """The ``ctx`` that the call's code holds, once it runs."""

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
    """The call as it was asked for."""
    caller: Caller
    """Who makes it."""
    parent: Invocation
    """The invocation that the call is nested in, or a root made by the caller."""
    sink: EventSink
    """Hears the events of the call."""
    message_id: str = ""
    """The message of the model that asked for it."""
    result_message_id: str = ""
    """Where the caller will store the result."""
    limits: CallLimits | None = None
    """The caller's limits on calls."""
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
    ends: CancellationToken | None = None
    """What ends its question, and the command that it runs, beside the run's own end."""
    branch: str = ""
    """Names the task that makes it, of an agent that does several things at once: calls of two tasks that are alike
    are known apart when the run is gone on with."""


@dataclass(slots=True, kw_only=True)
class CallContext(FunctionContext):
    """The function-level context of one call on its way through the gates."""

    request: CallRequest
    """The call that was asked for."""
    target: Tool
    """The tool."""
    invocation: Invocation
    """The call's place in the tree of calls."""
    frozen: Mapping[str, Any] = field(default_factory=dict)
    """The private copy of the validated arguments that is approved and run; ``arguments`` is what user middleware
    sees."""
    check: PreCheck | None = None
    """What the tool's own precheck found."""
    decision: Decision | None = None
    """Who agreed, and to what."""
    stale: bool = False
    """Whether something has changed since it was approved."""
    original: Mapping[str, Any] | None = None
    """What the model asked for, with what it says beside the arguments, once a person edited any of that."""
    logged: list[int] = field(default_factory=list)
    """The numbers of this call's lines in the activity log."""
    waited_s: float = 0.0
    """Seconds in which a person was waited for."""
    cascade: Cascade = EMPTY
    """What the skill's frontmatter comes to (step 4)."""
    configure: Callable[[], Awaitable[None]] | None = None
    """Works ``cascade`` out anew, for it may depend on the arguments."""
    context: Context | None = None
    """The ``ctx`` of a skill."""
    own: Caller | None = None
    """In whose name its own calls are made where its file alone does not say it: those of an agent's turn."""
    nested: list[Mapping[str, Any]] = field(default_factory=list)
    """The calls that its code made, for the card."""
    unrepeatable: str = ""
    """Why a call that had begun when Assent ended cannot be made again, or ""."""
    rehearsal: Rehearsal | None = None
    """What it did in a copy; nothing of it is real yet."""
    ran: bool = False
    """Whether the tool was begun: before that, nothing of what comes back are its words."""
    gave: tuple[str, ...] = ()
    """Whose words from outside it gave, whatever layers made of that."""
    hear: Callable[[Iterable[str]], None] = field(default=lambda _names: None)
    """Told by a layer that puts words from outside before the call which were read in an earlier one."""
    refusal: KnownError | None = None
    """What a gate says to the arguments as a person edited them; they have to be edited again, or the call denied."""
    past_edge: Sequence[PastEdge] = ()
    """Why a person was asked about it although its thread works up to the edge."""

    @property
    def refused(self) -> str:
        """Why the call was refused, as a sentence, or ""."""
        return str(self.refusal) if self.refusal is not None else ""

    @property
    def place(self) -> str:
        """Where model-written code made the call, for a person."""
        place = self.request.place
        if place is None:
            return ""
        return f"line {place.line}: {place.text}" if place.line else "made while it ran"

    @property
    def shown(self) -> Mapping[str, Any]:
        """What a person is shown and allows: the arguments, and what is said beside them."""
        return with_message(self.frozen, self.request.said)

    @property
    def edited(self) -> bool:
        """Whether a person changed what they were shown."""
        return self.original is not None and not same_json(dict(self.original), dict(self.shown))

    @property
    def changes(self) -> dict[str, Any]:
        """What a person changed: what the model did not ask for, as it is now."""
        return {} if self.original is None else changed(self.original, self.shown)

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
    return {k: v for k, v in made.items() if asked is None or k not in asked or not same_json(asked[k], v)}


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
    """The call that was asked for."""
    started: float
    """On the clock of ``time.perf_counter``."""
    tool: Tool | None = None
    """The tool, once it is found."""
    call: CallContext | None = None
    """The context of the gates, once there is one."""
    result: ToolResult | None = None
    """The result, once there is one."""
    given: bool = False
    """The result was known: nothing is made, and nothing written down."""
    refused: bool = False
    """Whether the result says why there is none."""
    outcome: CallResult | None = None
    """The result as it leaves the pipeline."""


class Trust(Protocol):
    """Gate 10: rules, remembered decisions, then a person decide."""

    async def decide(self, call: CallContext, asking: Callable[[PermissionRequest], None]) -> Decision:
        """The decision about a call whose ``check`` and ``frozen`` arguments are set.

        ``asking`` is called with the request before a person is asked, and not when nobody is asked.
        """
        ...

    async def would_ask(self, call: CallContext) -> bool:
        """Whether ``decide`` would ask a person now. Nothing is noted."""
        ...
