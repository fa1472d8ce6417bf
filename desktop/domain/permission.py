"""Questions to a person about a call, and their answers."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from desktop.domain.consents import Consent
from desktop.domain.judgement import Category, Judgement

Choice = Literal["allow_once", "allow_run", "allow_always", "allow_edited", "deny", "deny_run", "done", "stop"]
"""``done`` and ``stop`` are answers about a call that had begun when Assent ended: it was done; end the run."""
DecidedBy = Literal["user", "rule", "remembered", "no_handler", "cancelled", "closed", "setting", "job"]
UNANSWERED = "unanswered"
NOBODY_ANSWERED = frozenset({"cancelled", "closed"})
"""Who closes a question that nobody answered: the end of its run, or of Assent. Nothing runs then, and nobody said no
(R-PRM-9)."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """One call that needs assent. Everything a dialog shows; all text is untrusted and shown as plain text.

    ``digest`` binds the answer to exactly these arguments and this state of the files (R-PRM-5).
    ``preview`` and ``judgements`` as in ``PreCheck``; ``asked_at`` is seconds since the epoch. ``original`` are the
    arguments as the model wrote them, when a person changed them since: then everything here is about the edited call.
    ``unknown`` says, of a call that had begun when Assent ended, that nobody knows whether it was done; else empty.
    ``unrepeatable`` is why such a call cannot be made again, or empty.
    ``place`` is the line of model-written code that made the call, as ``line 3: await …``, ``made while it ran`` where
    no line of it did, or empty. ``rule`` is the pattern of the rule that says to ask, or empty. ``above``: the threads
    of the agents that this one works for, the person's own first. ``node`` as in ``RunMeta``,
    ``consent`` as in ``PreCheck``.
    """

    request_id: str
    run_id: str
    thread_id: str
    call_id: str
    tool: str
    description: str
    category: Category
    raised_because: str
    chain: tuple[str, ...]
    arguments: Mapping[str, Any]
    paths: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    preview: Mapping[str, Any]
    digest: str
    asked_at: float
    stale: bool = False
    original: Mapping[str, Any] | None = None
    place: str = ""
    rule: str = ""
    unknown: str = ""
    above: tuple[str, ...] = ()
    node: str = ""
    unrepeatable: str = ""
    consent: Consent | None = None

    @property
    def seen_in(self) -> str:
        """The thread that a person knows: its own, or the one that an agent in a hidden thread works for."""
        return self.above[0] if self.above else self.thread_id

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The answers that the dialog offers. Admin calls: once or deny, never remembered (R-PRM-3); calls that may
        have been done already: skip, done, do it again, stop."""
        if self.unrepeatable:
            return ("deny", "done", "stop")
        if self.unknown:
            return ("deny", "done", "allow_once", "stop")
        if self.category is Category.ADMIN:
            return ("deny", "allow_once", "allow_edited", "deny_run")
        return ("deny", "allow_once", "allow_run", "allow_always", "allow_edited", "deny_run")


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer. ``digest`` repeats the request's: an answer to another digest is void (R-PRM-5). ``with_network``: the
    person gave the call the network, where its request offered that."""

    choice: Choice
    digest: str
    by: DecidedBy = "user"
    reason: str = ""
    edited_arguments: Mapping[str, Any] | None = None
    rule: Mapping[str, Any] | None = None
    waited_s: float = 0.0
    with_network: bool = False

    @property
    def allowed(self) -> bool:
        """True for every way of saying yes."""
        return self.choice.startswith("allow")

    @property
    def answered(self) -> bool:
        """Whether anybody or anything decided; False where the question closed with the run or with Assent."""
        return self.by not in NOBODY_ANSWERED

    def gives_network(self, preview: Mapping[str, Any]) -> bool:
        """Whether a call with this preview has the network: as its request said, or as the person ticked where that was
        offered."""
        ticked = self.with_network and preview.get("network_offered") is True
        return self.allowed and (ticked or preview.get("network") is True)


class Asker(Protocol):
    """Brings a request to a person and waits for the answer. No asker means deny (R-PRM-6)."""

    def ask(self, request: PermissionRequest) -> Awaitable[Decision]:
        """Wait for the person's answer; a cancelled run answers ``deny`` by ``cancelled`` (R-PRM-9)."""
        ...


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the activity log (R-PRM-13). ``at`` is seconds since the epoch; arguments only as a digest
    and a redacted summary.

    ``decision`` is a ``Choice``, or ``refused`` when a gate refused the call before anyone was asked; ``by`` then names
    the gate. ``unanswered``: the question closed with the run or with Assent. ``outcome`` says what came of it:
    ``done``, ``failed, exit code 7``, ``denied``, ``aborted``, or ``asked again`` for a decision that a later one of
    the same call replaced; empty while it runs.
    """

    at: float
    run_id: str
    thread_id: str
    call_id: str
    chain: tuple[str, ...]
    tool: str
    category: str
    decision: str
    by: str
    digest: str
    summary: str = ""
    paths: tuple[str, ...] = ()
    outcome: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """A remembered decision: calls of ``tool`` (a pattern) whose arguments fit ``constraints`` (R-PRM-4).

    ``origin`` says where it came from, for a person; times are seconds since the epoch. ``pattern`` is the whole rule
    in the pattern language, without its ``$policy``; empty: an older one that ``tool`` and ``constraints`` describe.
    ``thread_id`` empty: all threads.
    """

    rule_id: str
    tool: str
    constraints: Mapping[str, Any]
    decision: Literal["allow", "ask", "deny"]
    origin: str
    created_at: float
    last_used_at: float | None = None
    uses: int = 0
    revoked_at: float | None = None
    pattern: str = ""
    thread_id: str = ""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as rules look at it, kept so that a new rule can be tried on it. ``facts`` is JSON without secrets, read
    only where it is needed; ``digest`` says which calls are the same; ``times`` how often it came, ``thread_id`` and
    ``at`` (seconds since the epoch) where and when the last time."""

    digest: str
    tool: str
    facts: str
    thread_id: str
    at: float
    times: int = 1
