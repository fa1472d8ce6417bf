"""Rules of trust as a person meets them: listed, drafted, tried on recorded calls and tricks, saved, revoked.

Contract between ``services`` (which knows the pattern language, the store and the gate) and the Rules page and the
*Always allow* editor (R-PRM-11, R-PRM-12). All of it is plain data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from desktop.domain.permission import PermissionRequest

RuleDecision = Literal["allow", "ask", "deny"]
RuleOrigin = Literal["built_in", "library", "project", "you", "request"]
Outcome = Literal["passes", "asks", "denied", "blocked"]
"""What happens to a call: it runs unasked, a person is asked, a rule denies it, blocklist or boundary refuses it."""


@dataclass(frozen=True, slots=True)
class RuleView:
    """One line of the list. ``pattern`` is the text in the pattern language without its ``$policy``. ``detail`` names
    the project, or is empty. Times are seconds since the epoch; ``thread_id`` empty: all threads. Only an ``editable``
    rule can be changed or revoked. ``problem``: why it counts for nothing, in a sentence, or empty."""

    rule_id: str
    pattern: str
    decision: RuleDecision
    origin: RuleOrigin
    detail: str = ""
    created_at: float | None = None
    last_used_at: float | None = None
    uses: int = 0
    thread_id: str = ""
    editable: bool = False
    problem: str = ""


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
    """One call that the draft was tried on. ``text`` is what it is about (a command, a path), ``marked`` the ranges
    (start, length) that make a trick one. ``why``: half a sentence for a person. ``times``: how often it was recorded;
    ``thread_id`` and ``at`` of its last recording, empty and 0 for a trick."""

    tool: str
    text: str
    before: Outcome
    after: Outcome
    why: str = ""
    marked: tuple[tuple[int, int], ...] = ()
    times: int = 1
    thread_id: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Simulation:
    """What would change if the draft were saved.

    ``recorded`` and ``tricks``: how many were tried. ``passing``: recorded calls that would stop asking; ``stopped``:
    recorded calls that passed and would ask or be denied; ``through``: tricks that would pass and did not before;
    ``held``: tricks that stay stopped. Each list is capped; the counts beside them are whole. ``suggestion``: a
    narrower pattern that lets ``suggestion_lets`` of the recorded calls through and no trick, or empty. ``unlisted``:
    programs of the pattern whose options nobody knows. ``note``: what else a person assents to, as a sentence.
    """

    recorded: int
    tricks: int
    passing: tuple[SimulatedCall, ...] = ()
    passing_count: int = 0
    stopped: tuple[SimulatedCall, ...] = ()
    stopped_count: int = 0
    through: tuple[SimulatedCall, ...] = ()
    through_count: int = 0
    held: tuple[SimulatedCall, ...] = ()
    held_count: int = 0
    suggestion: str = ""
    suggestion_lets: int = 0
    unlisted: tuple[str, ...] = ()
    note: str = ""


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
