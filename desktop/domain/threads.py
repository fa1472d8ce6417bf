"""Threads, their message tree and their runs, as stored.

A thread's messages form a tree: each has a parent; the thread has an active leaf. Edit, regenerate, branch and
fork move a pointer and overwrite nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from desktop.domain.messages import Block, Role, StopReason, Usage

MessageStatus = Literal["open", "complete", "interrupted"]
ThreadState = Literal["", "running", "interrupted", "failed"]
"""What became of a thread's last run, as far as a person has to know; empty: nothing special."""


JOB_LABEL = "job"
"""The label of the threads of jobs (R-CRON-6)."""


@dataclass(frozen=True, slots=True)
class ThreadJob:
    """The job whose run a thread is. ``status`` is that of the run (``jobs.JobRunStatus``); ``deleted``: the job is
    deleted. All fields are empty where the job or its history is gone for good."""

    job_id: str
    name: str
    status: str
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A long-lived conversation. Times are seconds since the epoch; ``updated_at`` is the last message's.
    ``archived``: out of the list by day, and still found."""

    thread_id: str
    title: str
    created_at: float
    updated_at: float
    agent: str = "assistant"
    model: str = ""
    pinned: bool = False
    active_leaf: str | None = None
    deleted_at: float | None = None
    titled_by: Literal["none", "auto", "person"] = "none"
    usage: Usage = field(default_factory=Usage)
    label: str = ""
    state: ThreadState = ""
    job: ThreadJob | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One stored message; ``status`` is ``open`` while it streams, ``interrupted`` if its process died."""

    message_id: str
    thread_id: str
    parent_id: str | None
    role: Role
    blocks: tuple[Block, ...]
    created_at: float
    status: MessageStatus = "complete"
    side: str = "human"
    author: str = ""
    model: str = ""
    run_id: str = ""
    round_number: int = 0
    stop_reason: StopReason | None = None
    usage: Usage | None = None
    elapsed_ms: int = 0

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(getattr(b, "text", "") for b in self.blocks if b.kind == "text")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a thread. ``ended_at`` None: running, or interrupted by a crash (closed at the next start)."""

    run_id: str
    thread_id: str
    started_at: float
    agent: str
    model: str
    ended_at: float | None = None
    end_reason: str = ""
    detail: str = ""
    usage: Usage = field(default_factory=Usage)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftAtEnd:
    """What a thread's last run has left at its end. ``begun`` are calls without a result of which nobody knows whether
    they were done; the others were not made. ``stopped``: by the person, and not by the end of Assent."""

    begun: frozenset[str] = frozenset()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A found message: ``snippet`` is plain text; ``ranges`` are (start, length) of matches inside it. ``debate``: its
    thread is one."""

    thread_id: str
    message_id: str
    title: str
    snippet: str
    ranges: tuple[tuple[int, int], ...]
    created_at: float
    debate: bool = False


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
