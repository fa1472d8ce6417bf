"""Rules of trust as a person meets them: listed, drafted, tried on recorded calls and tricks, saved, revoked.

Contract between ``services`` (which knows the pattern language, the store and the gate) and the Rules page and the
*Always allow* editor (R-PRM-11, R-PRM-12). All of it is plain data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.loading.lazy_dataclass import dataclass

RuleDecision = Literal["allow", "ask", "deny"]
RuleOrigin = Literal["built_in", "library", "project", "you", "request"]
Outcome = Literal["passes", "asks", "denied", "blocked"]
"""What happens to a call: it runs unasked, a person is asked, a rule denies it, blocklist or boundary refuses it."""


@dataclass(frozen=True, slots=True)
class RuleView:
    """One line of the list of rules."""

    rule_id: str
    """The rule."""
    pattern: str
    """The text in the pattern language, without its ``$policy``."""
    decision: RuleDecision
    """What the rule says."""
    origin: RuleOrigin
    """Where it comes from."""
    detail: str = ""
    """The project it comes from, or ""."""
    created_at: float | None = None
    """Seconds since the epoch; None: unknown."""
    last_used_at: float | None = None
    """Seconds since the epoch; None: never used."""
    uses: int = 0
    """How often it has answered."""
    thread_id: str = ""
    """The thread, or the project folder (a whole path), it holds in; "": all threads."""
    editable: bool = False
    """Whether it can be changed or revoked."""
    problem: str = ""
    """Why it counts for nothing, in a sentence, or ""."""


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule that is being written. ``replaces``: the id of the rule that it would take the place of, or empty."""

    pattern: str
    decision: RuleDecision = "allow"
    thread_id: str = ""
    replaces: str = ""
    origin: Literal["you", "request"] = "you"


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """Why a draft cannot be saved; ``start`` and ``length`` in characters of its pattern."""

    message: str
    start: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class SimulatedCall:
    """One call that the draft was tried on."""

    tool: str
    """The tool's name."""
    text: str
    """What the call is about: a command, a path."""
    before: Outcome
    """What the rules as they are say."""
    after: Outcome
    """What they would say with the draft."""
    why: str = ""
    """Half a sentence for a person."""
    marked: tuple[tuple[int, int], ...] = ()
    """The ranges (start, length) of ``text`` that make it a trick."""
    times: int = 1
    """How often it was recorded."""
    thread_id: str = ""
    """The thread of its last recording; "" for a trick."""
    at: float = 0.0
    """The time of its last recording; 0 for a trick."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What would change if the draft were saved. Each list is capped; the counts beside them are whole."""

    recorded: int
    """How many recorded calls were tried."""
    tricks: int
    """How many tricks were tried."""
    passing: tuple[SimulatedCall, ...] = ()
    """Recorded calls that would stop asking."""
    passing_count: int = 0
    """How many."""
    stopped: tuple[SimulatedCall, ...] = ()
    """Recorded calls that passed and would ask or be denied."""
    stopped_count: int = 0
    """How many."""
    through: tuple[SimulatedCall, ...] = ()
    """Tricks that would pass and did not before."""
    through_count: int = 0
    """How many."""
    held: tuple[SimulatedCall, ...] = ()
    """Tricks that stay stopped."""
    held_count: int = 0
    """How many."""
    suggestion: str = ""
    """A narrower pattern that lets no trick through, or ""."""
    suggestion_lets: int = 0
    """How many of the recorded calls ``suggestion`` lets through."""
    unlisted: tuple[str, ...] = ()
    """Programs of the pattern whose options nobody knows."""
    note: str = ""
    """What else a person assents to, as a sentence."""


class RulePort(Protocol):
    """Everything that the Rules page and the *Always allow* editor do."""

    def rules(self) -> tuple[RuleView, ...]:
        """All in force, those of the person first, then projects, library, built in. Reads nothing from disk."""
        ...

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Told after each change, on the loop; returns what detaches the listener."""
        ...

    def propose(self, request: PermissionRequest) -> RuleDraft:
        """The narrowest rule that would have answered this request, for the *Always allow* editor."""
        ...

    def check(self, draft: RuleDraft) -> RuleProblem | None:
        """Whether it could be saved. Quick, without disk."""
        ...

    def simulate(self, draft: RuleDraft) -> Awaitable[Simulation]:
        """Try it on recorded calls and on the built-in tricks, away from the Qt thread. Cancellable. Raises KnownError
        for a draft that ``check`` refuses."""
        ...

    def save(self, draft: RuleDraft) -> Awaitable[RuleView]:
        """Save a rule; it applies once this returns, also for running agents. Raises KnownError."""
        ...

    def revoke(self, rule_id: str) -> Awaitable[None]:
        """Revoke a rule; from now on it applies to nothing. Raises KnownError when it is not there or not editable."""
        ...

    def restore(self, rule_id: str) -> Awaitable[None]:
        """Bring a revoked rule back."""
        ...
