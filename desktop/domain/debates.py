"""Debates: two agents that take turns, watched and steered by a person.

The contract between the runtime, which runs them, and the page, which shows them. A debate is a thread; a fork is a
thread whose first message has its parent in another one, so nothing is copied. All records are frozen and plain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from desktop.domain.definitions import DefinitionProblem, SideName
from desktop.domain.messages import ChatMessage, Usage
from desktop.domain.threads import SearchHit

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
    """One side as a person sets it up. ``tools`` are patterns that narrow what the prompt's skill allows (None: all of
    it, () none); ``prompt_text`` replaces the skill's body in this debate alone ("": the skill's own), and without a
    skill it is the prompt, written in place; ``stop_tool`` with its ``stop_property`` ends a turn instead of a reply;
    ``model`` is ``connection/model``."""

    prompt: str
    label: str = ""
    model: str = ""
    tools: tuple[str, ...] | None = None
    prompt_text: str = ""
    stop_on_response: bool = True
    stop_tool: str = ""
    stop_property: str = ""
    end_session_tool: str = ""
    max_rounds: int | None = None


@dataclass(frozen=True, slots=True)
class DebateSetup:
    """All of a debate before its first turn; stored with it. ``agent`` is the definition it was made from, if any.
    ``max_turns`` None means ``USUAL_TURNS``; ``max_cost`` in USD and ``max_tokens`` bound the debate; None: no such
    end."""

    topic: str
    a: SideSetup
    b: SideSetup
    max_turns: int | None = 10
    max_cost: float | None = None
    max_tokens: int | None = None
    template: str = ""
    agent: str = ""
    title: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def turn_limit(self) -> int:
        """After how many turns it ends."""
        return min(self.max_turns or USUAL_TURNS, MAX_TURNS)

    def side(self, name: SideName) -> SideSetup:
        """Side a or b."""
        return self.a if name == "a" else self.b

    def with_side(self, name: SideName, side: SideSetup) -> DebateSetup:
        """The same with one side changed."""
        return replace(self, a=side) if name == "a" else replace(self, b=side)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One completed side turn, stored when it ended. It belongs to its last message, so forks share it. ``number``
    counts from 1 over both sides; ``outcome`` is what the other side reads; ``rounds`` of this turn."""

    thread_id: str
    number: int
    side: SideName
    first_message_id: str
    last_message_id: str
    outcome: str
    ended_by: TurnEnd
    rounds: int
    calls: int
    usage: Usage
    started_at: float
    ended_at: float
    model: str = ""
    run_id: str = ""


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
    """A judge's structured answer. ``winner`` a, b or draw; ``scores`` per side and criterion, 0 to 10."""

    winner: Literal["a", "b", "draw"]
    summary: str
    reasons: Mapping[str, str]
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    model: str = ""
    at: float = 0.0
    after_turn: int = 0


@dataclass(frozen=True, slots=True)
class DebateState:
    """How a debate stands. ``turn`` is the turn under way, else the last one; ``side`` whose turn it is (next, when
    none is under way); ``end_reason`` is one of ``events.EndReason`` or empty; ``waiting`` are moderator messages that
    the sides have not read yet."""

    thread_id: str
    title: str
    setup: DebateSetup
    status: DebateStatus
    turn: int = 0
    side: SideName = "a"
    meters: Mapping[SideName, SideMeter] = field(default_factory=dict)
    run_id: str = ""
    end_reason: str = ""
    end_detail: str = ""
    waiting: tuple[str, ...] = ()
    verdict: JudgeVerdict | None = None
    judging: bool = False
    forked_from: str = ""
    forked_at: int = 0
    forks: tuple[str, ...] = ()
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """A debate as stored. ``setup`` and ``verdict`` are JSON values; ``head`` is the message that the next turn begins
    below, ``fork_point`` the one of another thread that a fork goes on from."""

    thread_id: str
    setup: Mapping[str, Any]
    status: DebateStatus
    end_reason: str = ""
    end_detail: str = ""
    verdict: Mapping[str, Any] | None = None
    forked_from: str = ""
    forked_at: int = 0
    head: str = ""
    fork_point: str | None = None


@dataclass(frozen=True, slots=True)
class DebateRow:
    """A debate in the list; ``forked_at`` is the turn that a fork goes on after."""

    thread_id: str
    title: str
    updated_at: float
    status: DebateStatus
    forked_from: str = ""
    agent: str = ""
    forked_at: int = 0


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


class DebatePort(Protocol):
    """What the Debates page asks for. Async, without Qt; raises KnownError with the next step. ``turn`` numbers count
    from 1; 0 is the topic itself."""

    def templates(self) -> Sequence[DebateTemplate]: ...

    async def definitions(self) -> Sequence[DebateTemplate]:
        """The agents of two sides that there are, by title: each as a set-up to begin with, its topic empty and its
        ``agent`` the definition's name. A side whose prompt's skill names a model has that one (R-SES-24)."""
        ...

    async def prompts(self) -> Sequence[str]:
        """Skills that can be a side's prompt, those made for debates first."""
        ...

    async def tools_of(self, prompt: str) -> Sequence[ToolOffer]:
        """What a prompt's skill allows at most."""
        ...

    async def problems(self, setup: DebateSetup) -> Sequence[DefinitionProblem]:
        """All that keeps it from starting, and warnings (R-DEF-11..14). Paths as ``sideA.prompt``, ``topic``."""
        ...

    async def preview(self, setup: DebateSetup) -> Mapping[SideName, SidePreview]: ...

    async def create(self, setup: DebateSetup) -> str:
        """Store it, not begun; its thread's id. Raises ConfigurationError with all problems."""
        ...

    async def start(self, thread_id: str) -> None:
        """Begin, or go on after a pause, a restart or an end by number of turns (``resume``)."""
        ...

    async def pause(self, thread_id: str) -> None:
        """After the turn under way."""
        ...

    async def step(self, thread_id: str) -> None:
        """One turn, then pause again."""
        ...

    async def stop(self, thread_id: str) -> None: ...

    async def speak(self, thread_id: str, text: str) -> None:
        """Add a moderator's message, which both sides read before the next turn (R-SES-23)."""
        ...

    async def take_back(self, thread_id: str, text: str) -> bool:
        """A moderator's message that nobody has read yet; False when it is too late."""
        ...

    async def debates(self) -> Sequence[DebateRow]:
        """All debates that are not deleted, the newest first."""
        ...

    async def search(self, text: str) -> Sequence[SearchHit]:
        """Messages of debates with all these words, newest first."""
        ...

    async def state(self, thread_id: str) -> DebateState: ...

    async def turns(self, thread_id: str) -> Sequence[TurnRecord]:
        """All completed turns on the debate's path, also those before its fork point, the oldest first."""
        ...

    async def as_side(self, thread_id: str, side: SideName) -> tuple[str, Sequence[ChatMessage]]:
        """The system text and the exact messages that the side's next request would hold (R-SES-4, R-SES-5)."""
        ...

    async def fork(self, thread_id: str, turn: int, setup: DebateSetup) -> str:
        """Make a debate that goes on after ``turn`` with this set-up, paused: a pointer, no copy. Returns its thread's
        id."""
        ...

    async def extend(
        self,
        thread_id: str,
        *,
        max_turns: int | None = None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Let it go on for longer: new, larger bounds (None: as it is). One that ended by them is paused again."""
        ...

    async def judge(self, thread_id: str, model: str) -> JudgeVerdict:
        """Ask the judge (an agent with structured returns). Raises KnownError when no valid verdict came."""
        ...

    async def rename(self, thread_id: str, title: str) -> None: ...

    async def delete(self, thread_id: str) -> None: ...

    async def restore(self, thread_id: str) -> None: ...

    async def export(self, thread_id: str, path: Path, form: Literal["md", "html", "json"]) -> None: ...

    async def save_as_agent(self, setup: DebateSetup, name: str, description: str) -> str:
        """Write a definition file into the person's ``agents/``; its path."""
        ...
