"""Threads, their message tree and their runs, as stored.

A thread's messages form a tree: each has a parent; the thread has an active leaf. Edit, regenerate, branch and
fork move a pointer and overwrite nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block, Role, StopReason, Usage

MessageStatus = Literal["open", "complete", "interrupted"]
ThreadState = Literal["", "running", "interrupted", "failed"]
"""What became of a thread's last run, as far as a person has to know; empty: nothing special."""


JOB_LABEL = "job"
"""The label of the threads of jobs (R-CRON-6)."""
EDITOR_LABEL = "editor:"
"""How the label of a thread begins that an editor made (R-ACP-3); the editor's name follows."""


@dataclass(frozen=True, slots=True)
class ThreadJob:
    """The job whose run a thread is. ``status`` is that of the run (``jobs.JobRunStatus``); ``deleted``: the job is
    deleted; ``at_edge``: it works up to the edge of its folder. All fields are empty where the job or its history is
    gone for good."""

    job_id: str
    name: str
    status: str
    deleted: bool = False
    at_edge: bool = False


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A long-lived conversation. Times are seconds since the epoch."""

    thread_id: str
    """The thread."""
    title: str
    """Its title."""
    created_at: float
    """When it began."""
    updated_at: float
    """When its last message came."""
    agent: str = "assistant"
    """The agent that answers."""
    model: str = ""
    """``connection/model``, or ""."""
    pinned: bool = False
    """Whether it stands at the top of the list."""
    active_leaf: str | None = None
    """The last message of the branch that is shown."""
    deleted_at: float | None = None
    """When it was deleted; None: it is not."""
    titled_by: Literal["none", "auto", "person"] = "none"
    """Who gave the title; a person's is never replaced."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost of all its runs."""
    label: str = ""
    """What it is besides a chat, for the list."""
    state: ThreadState = ""
    """What became of its last run, as far as a person has to know."""
    job: ThreadJob | None = None
    """The job whose run it is."""
    archived: bool = False
    """Out of the list by day, and still found."""
    project: str = ""
    """The folder that it works in, resolved when a person chose it; "": none."""
    mode: ThreadMode = "ask"
    """Whether its calls ask each time, or only at the edge of that folder."""

    @property
    def editor(self) -> str:
        """The name of the editor that made it, as that editor says it; "" where a person did here."""
        return self.label.removeprefix(EDITOR_LABEL) if self.label.startswith(EDITOR_LABEL) else ""


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One stored message."""

    message_id: str
    """The message."""
    thread_id: str
    """Its thread."""
    parent_id: str | None
    """The message above; None for the first."""
    role: Role
    """Whose it is."""
    blocks: tuple[Block, ...]
    """Its content."""
    created_at: float
    """Seconds since the epoch."""
    status: MessageStatus = "complete"
    """``open`` while it streams, ``interrupted`` if its process died."""
    side: str = "human"
    """The side that wrote it."""
    author: str = ""
    """The author's name."""
    model: str = ""
    """The model that wrote it."""
    run_id: str = ""
    """The run it belongs to."""
    round_number: int = 0
    """The round it belongs to."""
    stop_reason: StopReason | None = None
    """Why the model stopped."""
    usage: Usage | None = None
    """Tokens and cost of the round; None: unknown."""
    elapsed_ms: int = 0
    """How long the round took."""

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(getattr(b, "text", "") for b in self.blocks if b.kind == "text")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a thread."""

    run_id: str
    """The run."""
    thread_id: str
    """Its thread."""
    started_at: float
    """Seconds since the epoch."""
    agent: str
    """The agent's name."""
    model: str
    """The model it began with."""
    ended_at: float | None = None
    """Seconds since the epoch; None: running, or interrupted by a crash (closed at the next start)."""
    end_reason: str = ""
    """Why it ended."""
    detail: str = ""
    """The end in a sentence."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further facts, as JSON values."""

    @property
    def below(self) -> str:
        """The message that what it says stands below; "" where that was not kept."""
        return str(self.extra.get("below", ""))

    @property
    def goes_on(self) -> bool:
        """It was to go on with what runs before it had begun there."""
        return self.extra.get("goes_on") is True


@dataclass(frozen=True, slots=True)
class ThreadEnd:
    """What a thread's last run has left at its end. ``begun`` are calls without a result of which nobody knows whether
    they were done; the others were not made. ``stopped``: by the person, and not by the end of Assent. ``unanswered``:
    the end of Assent came before the model had said anything to the person's last message."""

    begun: frozenset[str] = frozenset()
    stopped: bool = False
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A found message."""

    thread_id: str
    """Its thread."""
    message_id: str
    """The message."""
    title: str
    """The thread's title."""
    snippet: str
    """The found text, plain."""
    ranges: tuple[tuple[int, int], ...]
    """(start, length) of the matches in ``snippet``."""
    created_at: float
    """Seconds since the epoch."""
    debate: bool = False
    """Whether its thread is a debate."""


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """What was typed and not sent. ``thread_id`` is empty for a chat that does not exist yet."""

    thread_id: str
    text: str
    attachments: tuple[Block, ...] = ()
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True)
class QueuedRecord:
    """A message typed during a run: it goes out when the run has ended."""

    queue_id: str
    thread_id: str
    text: str
    attachments: tuple[Block, ...] = ()
    created_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the last process left open, closed as ``interrupted`` when the store was opened (S-JRN-2)."""

    runs: tuple[RunRecord, ...] = ()
    messages: int = 0
