"""What the transcript view draws: plain records, built by the chat view-model, drawn by ``ui/transcript``.

An item is one message block on the page: a person's message, or one answer of an agent, which may span several
rounds (text, tool calls, text …). Parts keep their id while they grow, so the view can update in place.
"""

from __future__ import annotations

import base64
from dataclasses import field
from typing import Literal

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import ThinkingFacts, Usage
from desktop.domain.text.outside import MAX_KEPT, NOTE, OUTSIDE, OutsideText, named, result_as_read
from desktop.presenter.common.words import human_count, span_words

READ_AS = "as-read:"
"""What the action of a card begins with that shows its result as a model read it; the part's id follows."""

CallState = Literal["writing", "waiting", "running", "done", "failed", "denied", "aborted", "unknown"]
"""``unknown``: nobody knows whether it was done, for Assent ended while it was under way."""
_OVER: tuple[CallState, ...] = ("done", "failed", "denied", "aborted", "unknown")


def call_state(told: object, otherwise: CallState = "failed") -> CallState:
    """Of a call that is over, by what its result says."""
    return next((state for state in _OVER if state == told), otherwise)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a message in Markdown. ``live``: still streaming."""

    part_id: str
    markdown: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Thinking text, folded by default; "" where the model does not show what it thought."""

    part_id: str
    text: str
    live: bool = False
    facts: ThinkingFacts | None = None

    @property
    def title(self) -> str:
        """``Thought for 12 s``."""
        if self.live:
            return "Thinking"
        seconds = self.facts.seconds if self.facts is not None else 0.0
        return f"Thought for {span_words(seconds)}" if seconds >= 0.5 else "Thought"

    @property
    def about(self) -> str:
        """``1.9k tokens, kept for mistral-large only``."""
        known = self.facts
        if self.live or known is None:
            return ""
        tokens = f"{human_count(known.tokens)} tokens" if known.tokens else ""
        kept = f"kept for {known.kept_for} only" if known.kept_for else ""
        return ", ".join(filter(None, (tokens, "" if self.text else "not shown by the model", kept)))


@dataclass(frozen=True, slots=True)
class NestedCall:
    """A call that a skill made by itself; ``state`` is how it ended, ``summary`` its arguments in brief."""

    tool: str
    state: CallState
    elapsed_ms: int | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class CodeText:
    """The JavaScript of a call that runs code, and what became of it."""

    source: str
    """The code."""
    value: str = ""
    """What it returned, in words."""
    error: str = ""
    """Why it failed, in words."""
    line: int = 0
    """Line of the error from 1; 0: unknown."""
    stdout: str = ""
    """What it printed."""
    note: str = ""
    """Says that its memory is gone."""
    finished: bool = False
    """Whether it has ended."""


def _unpacked(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        return b""


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image or a sound that a tool gave: ``data`` is base64 of bytes that nobody has looked at, ``name`` has the
    ending to save it under."""

    part_id: str
    name: str
    facts: str
    is_image: bool
    data: str = field(repr=False, default="")
    notes: str = ""
    """Of an image: what was done to it when it was made anew."""

    @property
    def whole(self) -> bytes:
        """The decoded bytes; empty for what is no base64. Slow for a large one: call it in a thread."""
        return _unpacked(self.data)


@dataclass(frozen=True, slots=True)
class ShownProgress:
    """How far a running call says it is. ``total`` None: it does not say of how much."""

    done: float
    total: float | None = None
    text: str = ""

    @property
    def words(self) -> str:
        """``3 of 12, reading the log``."""
        figure = f"{self.done:g} of {self.total:g}" if self.total is not None else f"{self.done:g}" if self.done else ""
        return ", ".join(filter(None, (figure, self.text)))


@dataclass(frozen=True, slots=True)
class LinkPart:
    """A link that a tool gave; ``about`` is what it is said to lead to."""

    title: str
    address: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A tool call's card."""

    part_id: str
    """Identifies the card on the page."""
    call_id: str
    """The model's id of the call."""
    tool: str
    """Name of the tool."""
    summary: str
    """One line about the arguments; the view elides it in the middle."""
    category: str
    """read, write or admin; "" while unknown."""
    state: CallState
    """How far the call is."""
    arguments: str = ""
    """All arguments as indented JSON."""
    result: str = ""
    """The full text; the view shows head and tail of a long one."""
    facts: tuple[str, ...] = ()
    """Short texts shown before the state ("241 KB")."""
    started_at: float = 0.0
    """Seconds since the epoch, for the running clock."""
    elapsed_ms: int | None = None
    """How long it took; None: unknown."""
    detail: str = ""
    """Who decided about the call, or why, in words."""
    at_edge: bool = False
    """Whether it ran unasked because it stayed within the edge of its folder."""
    undoable: bool = False
    """Whether it changed files so: its card has the way back."""
    request: PermissionRequest | None = None
    """The question to the person while the call waits for an answer."""
    chain: tuple[str, ...] = ()
    """The callers above it, the outermost first."""
    nested: tuple[NestedCall, ...] = ()
    """The calls that it made itself."""
    parent: str = ""
    """The card of the call that made this one; this card stands below it while a person has to look at it."""
    code: CodeText | None = None
    """Set on a call that runs code written by the model."""
    child: str = ""
    """The thread of an agent that was called."""
    title: str = ""
    """What the card is called in place of its tool."""
    own_words: bool = False
    """Whether what became of it is the word of whoever did it."""
    media: tuple[MediaPart, ...] = ()
    """Images and sounds of the result."""
    progress: ShownProgress | None = None
    """How far it says it is, while it runs."""
    links: tuple[LinkPart, ...] = ()
    """Links of the result."""
    embedded: tuple[tuple[str, str], ...] = ()
    """(address, text) of resources in the result."""
    table: str = ""
    """The result as lines of columns, where it is data of rows."""
    task: str = ""
    """That it goes on by itself, in words."""
    outside: tuple[str, ...] = ()
    """Whose words from outside the result holds."""
    note: str = ""
    """What Assent itself says at its end."""

    @property
    def as_read(self) -> OutsideText:
        """The result as a model read it."""
        text = result_as_read(self.result, {OUTSIDE: list(self.outside), NOTE: self.note}, self.call_id)
        about = f"{self.tool} {self.summary}".strip()
        return OutsideText(named(self.outside), about, text[:MAX_KEPT], len(text))


@dataclass(frozen=True, slots=True)
class CallsPart:
    """Finished calls of a long run, folded to one line that opens to their cards."""

    part_id: str
    calls: tuple[ToolPart, ...]


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """A file or image on a person's message. ``opens`` is the action that shows it, or ""."""

    part_id: str
    name: str
    facts: str = ""
    opens: str = ""
    image: MediaPart | None = None


@dataclass(frozen=True, slots=True)
class ResultPart:
    """A result that stands at the end of an answer: a file that its calls wrote, or a large code block. ``opens`` is
    the action that shows it, ``is_open`` whether it is shown now; ``kind`` says which icon it has."""

    part_id: str
    name: str
    facts: str
    kind: str
    opens: str
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class GivenPart:
    """What a server gave for a person's message, folded to a line: whose it is, and its text as a model reads it."""

    part_id: str
    title: str
    facts: str
    text: str = field(repr=False, default="")
    live: bool = False


@dataclass(frozen=True, slots=True)
class NoticeAction:
    """A button on a notice: ``action`` is a command id the chat page handles."""

    label: str
    action: str


@dataclass(frozen=True, slots=True)
class NoticePart:
    """A failure, limit or interruption in plain words. ``countdown_to``: epoch seconds shown as a countdown."""

    part_id: str
    text: str
    severity: Literal["info", "warning", "error"] = "info"
    actions: tuple[NoticeAction, ...] = ()
    countdown_to: float | None = None


@dataclass(frozen=True, slots=True)
class PlainPart:
    """A text exactly as it is, of which at most ``maximum`` letters are drawn; a copy has all of it."""

    part_id: str
    text: str
    maximum: int = 40_000

    @property
    def shown(self) -> str:
        """The beginning of the text, as far as it is drawn."""
        return self.text[: self.maximum]


Part = (
    TextPart | ReasoningPart | ToolPart | CallsPart | AttachmentPart | ResultPart | GivenPart | NoticePart | PlainPart
)


@dataclass(frozen=True, slots=True)
class TranscriptItem:
    """One block on the page: a message, or all that an agent wrote between two messages."""

    message_id: str
    """Id of its first stored message."""
    side: Literal["human", "a", "b"]
    """``human`` has a background of its own; ``a`` and ``b`` are sides of a debate, an agent is ``a``."""
    author: str
    """Name at its head."""
    time: str
    """When it was written; shown beside the name."""
    parts: tuple[Part, ...]
    """Text, cards and notices in their order."""
    sibling: int = 1
    """Which of the alternatives this is, from 1."""
    siblings: int = 1
    """How many alternatives there are."""
    footer: str = ""
    """Small text such as "2.1k tokens, $0.01"."""
    usage: Usage | None = None
    """The tokens in it; None: not known."""
    elapsed_ms: int = 0
    """The time in it."""
    live: bool = False
    """Whether it is being written."""
    can_continue: bool = False
    """Whether Continue is offered."""
    accessible: str = field(default="", compare=False)
    """What a screen reader says."""

    @property
    def cards(self) -> tuple[ToolPart, ...]:
        """The cards of calls in it, also those that are folded to one line."""
        folded = (call for part in self.parts if isinstance(part, CallsPart) for call in part.calls)
        return (*(part for part in self.parts if isinstance(part, ToolPart)), *folded)

    @property
    def media(self) -> tuple[MediaPart, ...]:
        """Its images and sounds, attached or given by tools, in their order."""
        attached = (part.image for part in self.parts if isinstance(part, AttachmentPart) and part.image is not None)
        return (*attached, *(media for card in self.cards for media in card.media))


@dataclass(frozen=True, slots=True)
class ListeningAgent:
    """A persistent agent that waits for a message."""

    address: str
    """Where others write to it (``assent send``)."""
    title: str
    """The agent as a person reads it."""
    is_own: bool
    """It is the agent of the thread: what is written in the composer goes to it."""
