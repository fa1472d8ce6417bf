"""What the transcript view draws: plain records, built by the chat view-model, drawn by ``ui/transcript``.

An item is one message block on the page: a person's message, or one answer of an agent, which may span several
rounds (text, tool calls, text …). Parts keep their id while they grow, so the view can update in place.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Literal

from desktop.domain.permission import PermissionRequest

CallState = Literal["writing", "waiting", "running", "done", "failed", "denied", "aborted", "unknown"]
"""``unknown``: nobody knows whether it was done, for Assent ended while it was under way."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Markdown. ``live``: still streaming."""

    part_id: str
    markdown: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Thinking text, folded by default."""

    part_id: str
    text: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class NestedCall:
    """A call that a skill made by itself; ``state`` is how it ended, ``summary`` its arguments in brief."""

    tool: str
    state: CallState
    elapsed_ms: int | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class CodeText:
    """The JavaScript of a call that runs code, and what became of it: ``value`` or ``error`` in words, ``line`` of the
    error from 1 (0: unknown), ``stdout`` what it printed, ``note`` that its memory is gone."""

    source: str
    value: str = ""
    error: str = ""
    line: int = 0
    stdout: str = ""
    note: str = ""
    finished: bool = False


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

    @property
    def whole(self) -> bytes:
        """Its bytes; none of what is no base64. Slow for a large one: call it in a thread."""
        return _unpacked(self.data)


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A tool call's card.

    ``summary`` is one line (elided in the middle by the view), ``arguments`` pretty JSON, ``result`` full text (the
    view shows head and tail of long ones), ``facts`` short strings shown before the state ("241 KB"),
    ``started_at`` seconds since the epoch for the running clock, ``request`` while it waits for a person. ``nested``
    are the calls it made itself; ``parent`` is set on the card of such a call, which stands below that call's card
    while a person has to look at it. ``code`` is set on a call that runs model-written code; ``child`` is the thread
    of an agent that was called; ``media`` are images and sounds of the result.
    """

    part_id: str
    call_id: str
    tool: str
    summary: str
    category: str
    state: CallState
    arguments: str = ""
    result: str = ""
    facts: tuple[str, ...] = ()
    started_at: float = 0.0
    elapsed_ms: int | None = None
    detail: str = ""
    request: PermissionRequest | None = None
    chain: tuple[str, ...] = ()
    nested: tuple[NestedCall, ...] = ()
    parent: str = ""
    code: CodeText | None = None
    child: str = ""
    media: tuple[MediaPart, ...] = ()


@dataclass(frozen=True, slots=True)
class CallsPart:
    """Finished calls of a long run, folded to one line that opens to their cards."""

    part_id: str
    calls: tuple[ToolPart, ...]


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """A file or image on a person's message; of an image ``data`` is base64, as in ``MediaPart``."""

    part_id: str
    name: str
    facts: str = ""
    data: str = field(repr=False, default="")

    @property
    def whole(self) -> bytes:
        """The bytes of an image. Slow for a large one: call it in a thread."""
        return _unpacked(self.data)


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
    """A text exactly as it is, of which at most ``most`` letters are drawn; a copy has all of it."""

    part_id: str
    text: str
    most: int = 40_000

    @property
    def shown(self) -> str:
        """The beginning of the text, as far as it is drawn."""
        return self.text[: self.most]


Part = TextPart | ReasoningPart | ToolPart | CallsPart | AttachmentPart | NoticePart | PlainPart


@dataclass(frozen=True, slots=True)
class TranscriptItem:
    """One block on the page. ``message_id`` is the id of its first stored message; ``sibling`` is 1-based.

    ``side``: ``human`` (drawn as a ``bg`` block), ``a`` or ``b``. ``footer``: small text such as "2.1k tokens, $0.01".
    """

    message_id: str
    side: Literal["human", "a", "b"]
    author: str
    time: str
    parts: tuple[Part, ...]
    sibling: int = 1
    siblings: int = 1
    footer: str = ""
    live: bool = False
    can_continue: bool = False
    accessible: str = field(default="", compare=False)
