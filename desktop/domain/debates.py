"""Debates: two agents that take turns, watched and steered by a person.

The contract between the runtime, which runs them, and the page, which shows them. A debate is a thread; a fork is a
thread whose first message has its parent in another one, so nothing is copied. All records are frozen and plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Literal

from desktop.domain.definitions import DefinitionProblem, SideName
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Usage

DebateStatus = Literal["ready", "running", "pausing", "paused", "ended"]
"""``ready``: made and not begun; ``pausing``: it pauses when the turn under way is over."""
TurnEnd = Literal[
    "response", "stop_tool", "end_session_tool", "max_steps", "empty", "cancelled", "error", "interrupted"
]
Template = Literal["debate", "red-team", "negotiation", "author-critic", "worker-reviewer"]
USUAL_TURNS = 50
"""Turns of a debate whose set-up names no number."""
MAX_TURNS = 250
"""Turns of a debate at most, whatever its set-up says."""
NO_RESPONSE = "(no response: step limit)"
"""The outcome of a turn that was forced to stop before it said anything (R-SES-13)."""


@dataclass(frozen=True, slots=True)
class SideSetup:
    """One side as a person sets it up."""

    prompt: str
    """The skill that is the prompt, or ""."""
    label: str = ""
    """The side's name on the page."""
    model: str = ""
    """``connection/model``, or "" for the prompt's own."""
    tools: tuple[str, ...] | None = None
    """Patterns that narrow what the prompt's skill allows; None: all of it, (): none."""
    prompt_text: str = ""
    """Replaces the skill's body in this debate alone ("": the skill's own); without a skill it is the prompt, written
    in place."""
    stop_on_response: bool = True
    """Whether a reply ends the turn."""
    stop_tool: str = ""
    """The tool whose call ends the turn instead of a reply."""
    stop_property: str = ""
    """The argument of ``stop_tool`` that is the outcome."""
    end_session_tool: str = ""
    """The tool whose call ends the debate."""
    max_rounds: int | None = None
    """The limit on rounds of a turn; None: the usual one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How its model is to answer (``model_settings``), over what the prompt's skill says."""


@dataclass(frozen=True, slots=True)
class DebateSetup:
    """All of a debate before its first turn; stored with it."""

    topic: str
    """The first message, which both sides read."""
    a: SideSetup
    """The side that begins."""
    b: SideSetup
    """The other side."""
    max_turns: int | None = 10
    """Turns of both sides together; None: the usual number."""
    max_cost: float | None = None
    """USD that the debate may cost; None: no such end."""
    max_tokens: int | None = None
    """Tokens that the debate may use; None: no such end."""
    template: str = ""
    """The template it was made from, or ""."""
    agent: str = ""
    """The definition it was made from, or ""."""
    title: str = ""
    """The title a person chose, or ""."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of its thread."""
    project: str = ""
    """The folder that both sides work in, really; "": none."""

    @property
    def turn_limit(self) -> int:
        """The number of turns after which the debate ends."""
        return min(self.max_turns or USUAL_TURNS, MAX_TURNS)

    def side(self, name: SideName) -> SideSetup:
        """Side a or b."""
        return self.a if name == "a" else self.b

    def with_side(self, name: SideName, side: SideSetup) -> DebateSetup:
        """This set-up with one side changed."""
        return replace(self, a=side) if name == "a" else replace(self, b=side)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One completed side turn, stored when it ended. It belongs to its last message, so forks share it."""

    thread_id: str
    """The thread in which it was made."""
    number: int
    """Counts from 1 over both sides."""
    side: SideName
    """Whose turn it was."""
    first_message_id: str
    """Its first message."""
    last_message_id: str
    """Its last message."""
    outcome: str
    """What the other side reads."""
    ended_by: TurnEnd
    """What ended it."""
    rounds: int
    """Model requests of this turn."""
    calls: int
    """Tool calls of this turn."""
    usage: Usage
    """Tokens and cost of this turn."""
    started_at: float
    """Seconds since the epoch."""
    ended_at: float
    """Seconds since the epoch."""
    model: str = ""
    """The model that answered."""
    run_id: str = ""
    """The run it belongs to."""


@dataclass(frozen=True, slots=True)
class SideMeter:
    """What a side has used so far. ``round`` of the turn under way (0: not its turn); ``round_limit`` of each turn."""

    turns: int = 0
    rounds: int = 0
    round: int = 0
    round_limit: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """A judge's structured answer."""

    winner: Literal["a", "b", "draw"]
    """a, b or draw."""
    summary: str
    """The verdict in a sentence or two."""
    reasons: Mapping[str, str]
    """Why, per side."""
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """0 to 10, per side and criterion."""
    model: str = ""
    """The model that judged."""
    at: float = 0.0
    """Seconds since the epoch."""
    after_turn: int = 0
    """The last turn that the judge read."""


@dataclass(frozen=True, slots=True)
class DebateState:
    """How a debate stands."""

    thread_id: str
    """The debate's thread."""
    title: str
    """Its title."""
    setup: DebateSetup
    """Its set-up."""
    status: DebateStatus
    """Ready, running, pausing, paused or ended."""
    turn: int = 0
    """The turn under way, else the last one."""
    side: SideName = "a"
    """Whose turn it is; the next one's, when none is under way."""
    meters: Mapping[SideName, SideMeter] = field(default_factory=dict)
    """What each side has used."""
    run_id: str = ""
    """The run under way, or ""."""
    end_reason: str = ""
    """One of ``events.EndReason``, or ""."""
    end_detail: str = ""
    """The end in a sentence, or ""."""
    waiting: tuple[str, ...] = ()
    """Moderator messages that the sides have not read yet."""
    verdict: JudgeVerdict | None = None
    """The judge's verdict."""
    judging: bool = False
    """Whether a judge is being asked."""
    forked_from: str = ""
    """The thread it was forked from, or ""."""
    forked_at: int = 0
    """The turn that the fork goes on after."""
    forks: tuple[str, ...] = ()
    """The threads of its forks."""
    created_at: float = 0.0
    """Seconds since the epoch."""
    updated_at: float = 0.0
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """A debate as stored."""

    thread_id: str
    """Its thread."""
    setup: Mapping[str, Any]
    """The set-up as JSON values."""
    status: DebateStatus
    """How it stood when it was stored."""
    end_reason: str = ""
    """One of ``events.EndReason``, or ""."""
    end_detail: str = ""
    """The end in a sentence, or ""."""
    verdict: Mapping[str, Any] | None = None
    """The verdict as JSON values."""
    forked_from: str = ""
    """The thread it was forked from, or ""."""
    forked_at: int = 0
    """The turn that the fork goes on after."""
    head: str = ""
    """The message that the next turn begins below."""
    fork_point: str | None = None
    """The message of another thread that a fork goes on from."""


@dataclass(frozen=True, slots=True)
class DebateRow:
    """A debate in the list."""

    thread_id: str
    """Its thread."""
    title: str
    """Its title."""
    updated_at: float
    """Seconds since the epoch."""
    status: DebateStatus
    """How it stands."""
    forked_from: str = ""
    """The thread it was forked from, or ""."""
    agent: str = ""
    """The definition it was made from, or ""."""
    forked_at: int = 0
    """The turn that a fork goes on after."""


@dataclass(frozen=True, slots=True)
class DebateTemplate:
    """A set-up to begin with; its topic is an example. ``icon`` is one of resources/icons."""

    name: str
    title: str
    hint: str
    icon: str
    setup: DebateSetup


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that a prompt's skill allows: for the chips of the set-up."""

    name: str
    category: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class SidePreview:
    """A side as it would run, without asking a model: "what can each side use" and the dry run."""

    system: str
    tools: tuple[ToolOffer, ...]
    model: str
    limits: tuple[str, ...]
    context_window: int | None = None
    problems: tuple[DefinitionProblem, ...] = ()
