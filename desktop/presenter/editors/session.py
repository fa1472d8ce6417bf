"""One thread that an editor has open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from desktop.domain.messages import StopReason
from desktop.domain.runs.events import RunEnded
from desktop.domain.threads import ThreadRecord
from desktop.presenter.editors.folders import EditorFolder
from desktop.presenter.editors.updates import EditorCalls


class EditorSession:
    """``record`` is the thread as it is, or, where it is not ``stored`` yet, as it will be."""

    def __init__(self, record: ThreadRecord, folder: EditorFolder, calls: EditorCalls, *, stored: bool) -> None:
        self.record, self.folder, self.calls, self.stored = record, folder, calls, stored
        self.release: Callable[[], None] = lambda: None
        """Gives the questions of the thread up."""
        self.told, self.warned = stored, False
        """Whether the agent was told of the folder, and the person that it is outside of the boundary."""
        self.placed = False
        """Whether it is settled if the thread works in the editor's folder."""
        self.question: asyncio.Future[None] | None = None
        """A question about that folder, while it stands."""
        self.prompting = self.stopping = False
        """Whether the editor waits for an answer, and wants it stopped."""
        self.working = False
        """Whether what it began may be under way still, although it waits no longer."""
        self.resting = False
        """Whether a persistent agent is at work here and waits for a message."""
        self.end: RunEnded | None = None
        """How the last run ended."""
        self.closed: StopReason | None = None
        """Why the model stopped last."""
        self.mine: set[str] = set()
        """Messages that this editor has sent: it shows them itself."""
