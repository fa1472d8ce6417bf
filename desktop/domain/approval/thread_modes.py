"""Whether calls of a thread ask each time, or only at the edge of its folder (R-ASK-1)."""

from __future__ import annotations

from typing import Literal, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass

ThreadMode = Literal["ask", "edge"]
"""``edge``: what is confined, inside the project, undoable and without network runs unasked; all else asks."""

EdgeKind = Literal["admin", "folder", "network", "undo", "confined", "changed", "text", "other"]
"""What a call goes past: what it may do; the folder; no network; that it can be undone; the sandbox; the files as they
were; text of one's own; what nobody knows."""


@dataclass(frozen=True, slots=True)
class PastEdge:
    """One thing by which a call goes past the edge, so that it asks."""

    kind: EdgeKind
    """What it is about."""
    words: str
    """In a few words, which go on in a sentence."""


class EdgeModes(Protocol):
    """What the gate needs to know of modes."""

    def mode(self, thread_id: str) -> ThreadMode:
        """The mode of a thread now. What is not known asks."""
        ...

    def unconfined(self) -> str:
        """Why commands cannot be confined on this machine, or "". Blocks."""
        ...


class AlwaysAsks:
    """Where there are no modes. Implements ``EdgeModes``."""

    def mode(self, thread_id: str) -> ThreadMode:
        return "ask"

    def unconfined(self) -> str:
        return ""
