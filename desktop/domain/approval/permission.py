"""Questions to a person about a call, and their answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from desktop.domain.approval.bounded_grants import GrantBounds
from desktop.domain.approval.consents import Consent
from desktop.domain.approval.judgement import Category, CommandPart, Judgement
from desktop.domain.approval.thread_modes import PastEdge
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.outside import OutsideText

Choice = Literal[
    "allow_once",
    "allow_bounded",
    "allow_run",
    "allow_always",
    "allow_edited",
    "deny",
    "deny_run",
    "done",
    "stop",
    "again",
]
"""``done`` and ``stop`` are answers about a call that had begun when Assent ended: it was done; end the run. ``again``
is one about a call that was made in a copy: drop that, and make it in a new one. ``allow_bounded``: calls like it,
within ``Decision.bounds``."""
DecidedBy = Literal[
    "user", "rule", "remembered", "pledge", "no_handler", "cancelled", "closed", "setting", "job", "grant", "edge"
]
UNANSWERED = "unanswered"
NOBODY_ANSWERED = frozenset({"cancelled", "closed"})
"""Who closes a question that nobody answered: the end of its run, or of Assent. Nothing runs then, and nobody said no
(R-PRM-9)."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """One call that needs assent, with everything a dialog shows; all text is untrusted and shown as plain text."""

    request_id: str
    """The request."""
    run_id: str
    """The run of the call."""
    thread_id: str
    """The thread of the call."""
    call_id: str
    """The call."""
    tool: str
    """The tool's name."""
    description: str
    """The tool's description."""
    category: Category
    """The effective category."""
    raised_because: str
    """Why the category is higher than the tool's own, or ""."""
    chain: tuple[str, ...]
    """Who asks: agent, skill, tool, from the outside in."""
    arguments: Mapping[str, Any]
    """The arguments."""
    paths: tuple[str, ...]
    """The paths that the call touches."""
    judgements: tuple[Judgement, ...]
    """The parts of a command, as in ``PreCheck``."""
    preview: Mapping[str, Any]
    """What the call will do, as in ``PreCheck``."""
    digest: str
    """Binds the answer to exactly these arguments and this state of the files (R-PRM-5)."""
    asked_at: float
    """Seconds since the epoch."""
    stale: bool = False
    """Whether something has changed since an earlier request for the call was answered."""
    original: Mapping[str, Any] | None = None
    """The arguments as the model wrote them, when a person changed them since: then everything here is about the edited
    call."""
    place: str = ""
    """The line of model-written code that made the call, as ``line 3: await …``, ``made while it ran`` where no line of
    it did, or ""."""
    rule: str = ""
    """The pattern of the rule that says to ask, or ""."""
    unknown: str = ""
    """Of a call that had begun when Assent ended: that nobody knows whether it was done; else ""."""
    above: tuple[str, ...] = ()
    """The threads of the agents that this one works for, the person's own first."""
    node: str = ""
    """The agent's place in the run tree, as in ``RunMeta``."""
    unrepeatable: str = ""
    """Why such a call cannot be made again, or ""."""
    consent: Consent | None = None
    """What a person agrees to for later calls, too, as in ``PreCheck``."""
    refused: str = ""
    """Why the call may not be made as a person edited it, or "": it can be edited again, or denied."""

    only_once: bool = False
    """Whether its asker then does by itself what a yes is for: the yes is not remembered, and nothing can be edited."""

    project: str = ""
    """The folder that the person's thread works in, or ""."""
    follows: str = ""
    """Which text from outside the agent read before it made this call, in words that go on in a sentence, or ""."""
    outside: tuple[OutsideText, ...] = ()
    """Those texts, the latest last."""
    past_edge: tuple[PastEdge, ...] = ()
    """Of a call in a thread that works up to the edge: why it asks."""

    asks: str = ""
    """Why a person is asked although the call only reads, as in ``PreCheck``."""
    parts: tuple[CommandPart, ...] = ()
    """The commands of a shell command, as rules compare them."""

    @property
    def seen_in(self) -> str:
        """The thread that a person knows: its own, or the one that an agent in a hidden thread works for."""
        return self.above[0] if self.above else self.thread_id

    @property
    def is_outcome(self) -> bool:
        """Whether the call was made in a copy, and the question is what of it becomes real."""
        return self.preview.get("kind") == "outcome"

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The answers that the dialog offers. Admin calls: once or deny, never remembered (R-PRM-3); calls that may
        have been done already: skip, done, do it again, stop."""
        if self.refused:
            return ("deny", "allow_edited", "deny_run")
        if self.unrepeatable:
            return ("deny", "done", "stop")
        if self.unknown:
            return ("deny", "done", "allow_once", "stop")
        if self.only_once:
            return ("deny", "allow_once", "deny_run")
        if self.is_outcome:
            return ("deny", "allow_once", *self._remembered, "allow_edited", "deny_run", "again")
        return ("deny", "allow_once", *self._remembered, "allow_edited", "deny_run")

    @property
    def _remembered(self) -> tuple[Choice, ...]:
        """The answers that hold for later calls, too: none for admin, and none with an end where a rule asks
        or for what only reads."""
        if self.category is Category.ADMIN:
            return ()
        without = self.rule or self.consent is not None or self.category is Category.READ
        bounded: tuple[Choice, ...] = () if without else ("allow_bounded",)
        return (*bounded, "allow_run", "allow_always")


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to a request."""

    choice: Choice
    """What was answered."""
    digest: str
    """Repeats the request's: an answer to another digest is void (R-PRM-5)."""
    by: DecidedBy = "user"
    """Who or what answered."""
    reason: str = ""
    """What the person wrote, or why nobody answered."""
    edited_arguments: Mapping[str, Any] | None = None
    """The arguments as the person changed them."""
    rule: Mapping[str, Any] | None = None
    """The rule that answered."""
    waited_s: float = 0.0
    """Seconds until the answer."""
    with_network: bool = False
    """The person gave the call the network, where its request offered that."""
    taken: tuple[str, ...] | None = None
    """Of a call that was made in a copy the paths that become real; None: all but those that somebody else changed."""
    via: str = ""
    """The program outside in which it was answered, as that names itself; "": in the window."""
    bounds: GrantBounds | None = None
    """Which calls like it are allowed, and how many, where that was the answer."""

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
    """One line of the activity log (R-PRM-13)."""

    at: float
    """Seconds since the epoch."""
    run_id: str
    """The run of the call."""
    thread_id: str
    """The thread of the call."""
    call_id: str
    """The call."""
    chain: tuple[str, ...]
    """Who asked: agent, skill, tool."""
    tool: str
    """The tool's name."""
    category: str
    """The effective category."""
    decision: str
    """A ``Choice``, or ``refused`` when a gate refused the call before anyone was asked. ``unanswered``: the question
    closed with the run or with Assent."""
    by: str
    """Who decided; of a refused call the gate."""
    digest: str
    """Stands for the arguments."""
    summary: str = ""
    """The arguments in brief, redacted."""
    paths: tuple[str, ...] = ()
    """The paths that the call touched."""
    outcome: str = ""
    """What came of it: ``done``, ``failed, exit code 7``, ``denied``, ``aborted``, or ``asked again`` for a decision
    that a later one of the same call replaced; "" while it runs."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further facts of the entry."""


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """A remembered decision (R-PRM-4)."""

    rule_id: str
    """The rule."""
    tool: str
    """A pattern for the tool's name."""
    constraints: Mapping[str, Any]
    """What the arguments of a call must be."""
    decision: Literal["allow", "ask", "deny"]
    """What the rule says."""
    origin: str
    """Where it came from, for a person."""
    created_at: float
    """Seconds since the epoch."""
    last_used_at: float | None = None
    """Seconds since the epoch; None: never used."""
    uses: int = 0
    """How often it has answered."""
    revoked_at: float | None = None
    """Seconds since the epoch; None: in force."""
    pattern: str = ""
    """The whole rule in the pattern language, without its ``$policy``; "": an older one that ``tool`` and
    ``constraints`` describe."""
    thread_id: str = ""
    """The thread it holds in; "": all threads."""


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


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON, where ``true`` is no ``1`` and ``1`` is no ``1.0``."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)


def with_message(arguments: Mapping[str, Any], said: str) -> Mapping[str, Any]:
    """What a call is judged, asked and logged by: its arguments, and what is said to the agent beside them."""
    return {**arguments, _message_key(arguments): said} if said else arguments


def without_message(edited: Mapping[str, Any], before: Mapping[str, Any], said: str) -> tuple[dict[str, Any], str]:
    """The arguments and what is said, of those that a person edited; ``before`` are the arguments until then."""
    arguments = dict(edited)
    return arguments, str(arguments.pop(_message_key(before), said)) if said else ""


def _message_key(arguments: Mapping[str, Any]) -> str:
    return "message" if "message" not in arguments else "$message"


AuditSink = Callable[[AuditEntry], Awaitable[int | None]]
"""Writes an entry down before it returns; the number it has from now on, or None where entries have none."""
