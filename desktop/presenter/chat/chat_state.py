"""Small records that the chat page shows beside the transcript."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meters:
    """Always visible in the header. ``cost`` None is unknown; ``context_window`` None is unknown; ``compacting``: not
    every message is sent as it is, ``dropped``: some are neither sent nor in a summary."""

    agent: str = "assistant"
    agent_title: str = "Assistant"
    model: str = ""
    model_title: str = ""
    context_used: int = 0
    context_window: int | None = None
    tokens: int = 0
    cost: float | None = 0.0
    compacting: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class RunState:
    """What the composer and the Stop button need to know; ``sentence`` is for a person."""

    running: bool = False
    waiting: bool = False
    stopping: bool = False
    can_send: bool = True
    phase: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """Typed during a run; goes out when the run has ended, or, once a Stop holds it, when the person says so."""

    queue_id: str
    text: str
    held: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """One completion for ``/`` or ``@``: what is shown, what is inserted."""

    label: str
    insert: str
    hint: str = ""
    icon: str = ""
