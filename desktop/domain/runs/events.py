"""The one union of events that flows up: runtime -> bus -> presenter -> widgets. All frozen, all data.

Every event carries the thread and the run it belongs to; ``side`` is ``human``, ``a`` or ``b``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.context import Account, ContextShares
from desktop.domain.debates import DebateState, TurnRecord
from desktop.domain.definitions import SideName
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import (
    MediaBlock,
    NoticeBlock,
    ReasoningBlock,
    StopReason,
    TextBlock,
    ThinkingFacts,
    ToolCallBlock,
    Usage,
)
from desktop.domain.runs.tree import NodeFacts

EndReason = Literal[
    "response",
    "stop_tool",
    "end_session_tool",
    "max_session_turns",
    "max_steps",
    "global_limit",
    "cancelled",
    "budget",
    "limit",
    "error",
    "terminated",
    "interrupted",
]
"""Why a run ended (R-SES-18); stored with the run."""

EndKind = Literal["done", "stopped", "interrupted", "limit", "failed"]
END_KINDS: Mapping[str, EndKind] = {
    "response": "done",
    "stop_tool": "done",
    "end_session_tool": "done",
    "max_session_turns": "limit",
    "max_steps": "limit",
    "global_limit": "limit",
    "cancelled": "stopped",
    "budget": "limit",
    "limit": "limit",
    "error": "failed",
    "terminated": "failed",
    "interrupted": "interrupted",
}


def end_kind(reason: str) -> EndKind:
    """What a reason comes to; one of another version is a failure."""
    return END_KINDS.get(reason, "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """Base class: every event names the thread and the run that it belongs to."""

    thread_id: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(RunEvent):
    """A run began."""

    agent: str
    """Who works."""
    model: str
    """The model it begins with."""
    user_message_id: str
    """The message that it answers."""
    above: str = ""
    """The run in whose tree it is, if it was called."""
    continues: str = ""
    """The message below which it goes on with an answer that was cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWaiting(RunEvent):
    """A run that began waits for a place among those that work at once (``waiting``), or has got it now. ``why`` is
    said where it waits for something else."""

    waiting: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(RunEvent):
    """A run is over."""

    reason: EndReason
    """Why it ended."""
    detail: str = ""
    """A sentence for the person."""
    code: str = ""
    """The error's kind, or ""."""
    next_step: str = ""
    """What the person can do, or ""."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost of the run."""
    limit: str = ""
    """The limit that ended it, its value and where it was set (R-LIM-5)."""
    retry_after: float | None = None
    """Seconds after which a provider may be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageOpened(RunEvent):
    """An assistant message exists in the store and will fill."""

    message_id: str
    parent_id: str | None
    side: str
    author: str
    round_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextArrived(RunEvent):
    """More text of an open message."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningArrived(RunEvent):
    """More thinking text of an open message."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallWriting(RunEvent):
    """The model is writing a call's arguments."""

    message_id: str
    index: int
    tool: str
    characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageClosed(RunEvent):
    """An assistant message is complete and committed."""

    message_id: str
    """The message."""
    stop_reason: StopReason
    """Why the model stopped."""
    tool_calls: tuple[ToolCallBlock, ...] = ()
    """The calls in it."""
    usage: Usage | None = None
    """Tokens and cost of the round; None: unknown."""
    elapsed_ms: int = 0
    """How long the round took."""
    notices: tuple[NoticeBlock, ...] = ()
    """What the app had to say about it."""
    amended: tuple[TextBlock | ReasoningBlock, ...] | None = None
    """Its texts, where a chat-level layer has made others of those that arrived (R-MW-9)."""
    thinking: ThinkingFacts | None = None
    """What is known of the thinking in it; None: there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted(RunEvent):
    """A call entered the pipeline. ``parent_call_id``: the message's call that it is made for, if a skill made it."""

    message_id: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    category: str
    parent_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallWaiting(RunEvent):
    """A call waits for a person."""

    message_id: str
    call_id: str
    request: PermissionRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallAnswered(RunEvent):
    """A question was answered, or closed without an answer."""

    message_id: str
    call_id: str
    request_id: str
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallOutput(RunEvent):
    """Live output of a running call, for display only."""

    message_id: str
    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallAdvanced(RunEvent):
    """How far a running call says it is, for display only; ``total`` None: it does not say of how much."""

    message_id: str
    call_id: str
    done: float
    total: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFinished(RunEvent):
    """A call is over."""

    message_id: str
    """The message that holds the call."""
    call_id: str
    """The call."""
    tool: str
    """The tool."""
    state: str
    """done | failed | denied | aborted."""
    text: str
    """The result's text."""
    is_error: bool
    """Whether the model reads it as an error."""
    code: str
    """The error's kind, or ""."""
    elapsed_ms: int
    """How long it took, without waiting for a person."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain values for its card."""
    result_message_id: str = ""
    """The message that holds the result."""
    media: tuple[MediaBlock, ...] = ()
    """Images and sounds of the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled(RunEvent):
    """A transient model failure; the next attempt comes in ``delay_s`` seconds."""

    attempt: int
    delay_s: float
    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MiddlewareRan(RunEvent):
    """Middleware of a person's own has stood around an agent (``level`` agent) or around a request to a model (chat).
    It was ``stopped`` where the run ended before it went on or answered.

    ``call_id`` is the call that the agent works for, "" for the run's own; ``detail`` why it refused; ``elapsed_ms``
    its own time, without that of what it stood around.
    """

    name: str
    level: str
    did: Literal["watched", "changed", "answered", "refused", "stopped"]
    elapsed_ms: int
    call_id: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMeasured(RunEvent):
    """What the next request fills of the window, in tokens; ``window`` None: unknown."""

    used: int
    window: int | None
    compacted: bool = False
    account: Account = field(default_factory=Account)
    shares: ContextShares = field(default_factory=ContextShares)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSummarising(RunEvent):
    """Older messages are being summarised, before the next request; its ``ContextMeasured`` follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessageQueued(RunEvent):
    """A message typed during a run waits for it."""

    queue_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessageDelivered(RunEvent):
    """A waiting message has gone into the run under way: the model reads it in its next round (S-LOOP-1)."""

    queue_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTraced(RunEvent):
    """Something happened in an agent that works for a call of this run (R-TRC-1, R-TRC-5): plain, bounded, redacted."""

    context_id: str
    """The agent's context."""
    ancestor_context_id: str
    """The context of the agent above it; "" for one called from the thread."""
    call_id: str
    """The call that it works for."""
    agent: str
    """The agent's name."""
    sequence: int
    """Counts within the agent from 1."""
    type: str
    """One of the trace's types, or ``agent-start`` and ``agent-complete``."""
    at: float
    """Seconds since the epoch."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the entry says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentListening(RunEvent):
    """A persistent agent waits for a message (``waiting``), or does so no longer. ``inbox`` is the topic on which it
    hears, ``context_id`` the agent's own: the thread's id, where it is the agent of the thread itself."""

    context_id: str
    agent: str
    inbox: str
    waiting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadChanged(RunEvent):
    """A thread's title, pin, leaf or existence changed."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTurnStarted(RunEvent):
    """A side turn began."""

    side: SideName
    number: int
    label: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTurnEnded(RunEvent):
    """A side turn is over and stored."""

    record: TurnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateChanged(RunEvent):
    """Something of the state changed that is no message: status, meters, waiting messages, verdict."""

    state: DebateState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTreeChanged(RunEvent):
    """Agents of a run that began, ended, or do something else than before; at most ten such events a second a run."""

    nodes: tuple[NodeFacts, ...]


Event = (
    RunStarted
    | RunWaiting
    | RunEnded
    | MessageOpened
    | TextArrived
    | ReasoningArrived
    | ToolCallWriting
    | MessageClosed
    | ToolCallStarted
    | ToolCallWaiting
    | ToolCallAnswered
    | ToolCallOutput
    | ToolCallAdvanced
    | ToolCallFinished
    | RetryScheduled
    | MiddlewareRan
    | ContextMeasured
    | ContextSummarising
    | UserMessageQueued
    | UserMessageDelivered
    | AgentTraced
    | AgentListening
    | ThreadChanged
    | SideTurnStarted
    | SideTurnEnded
    | DebateChanged
    | RunTreeChanged
)

EventSink = Callable[[Event], None]
"""Where the runtime publishes; never raises and never waits (R-LOOP-16, R-TRC-7)."""
