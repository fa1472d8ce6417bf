"""What stands in an editor and is not saved, kept beside the file so that the end of the app does not cost it.

It is offered when the same file is opened again, and goes when it is saved or a person lets it go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer

from desktop.domain.loading.lazy_dataclass import dataclass

KEEP_AFTER = 300
"""Milliseconds after the first key until what stands there is kept; while a person types on, again and again."""
RESTORED = "restored"
"""What an editor tells of a text that is here again, beside what became of its file."""


@dataclass(frozen=True, slots=True)
class UnsavedText:
    """A text that was not saved."""

    path: str
    """Its file."""
    text: str
    """The text as it would be saved."""
    stamp: str
    """What the file was when it was opened: its digest."""


class UnsavedTexts(Protocol):
    """Keeps one text a file; every method blocks, and none raises where the disk refuses."""

    def read(self, path: str) -> UnsavedText | None:
        """What is kept of this file."""
        ...

    def keep(self, one: UnsavedText) -> None:
        """Keep this instead of what was kept of its file."""
        ...

    def drop(self, path: str) -> None:
        """Forget what is kept of this file."""
        ...


class Work(Protocol):
    """What owns tasks and timers: the bridge."""

    def spawn(self, coroutine: Coroutine[Any, Any, None], *, name: str) -> object:
        """Do this in a task."""
        ...

    def later(self, owner: QObject, call: Callable[[], object], after_ms: int) -> QTimer:
        """A timer that is not started yet."""
        ...


class TextKeeper:
    """Of one editor. ``now`` says what stands there and is not saved. One write is under way at a time, and of one
    file only its latest state. Without ``texts`` nothing is kept."""

    def __init__(
        self, texts: UnsavedTexts | None, work: Work, owner: QObject, now: Callable[[], UnsavedText | None]
    ) -> None:
        self._texts, self._work, self._now = texts, work, now
        self._wanted: dict[str, UnsavedText | None] = {}
        self._at_work = False
        self._timer = work.later(owner, self.keep_now, KEEP_AFTER)

    def touched(self) -> None:
        """Something was typed: it is kept a moment later."""
        if self._texts is not None and not self._timer.isActive():
            self._timer.start()

    def keep_now(self) -> None:
        """Keep what stands there."""
        self._timer.stop()
        found = self._now()
        if found is not None:
            self.keep(found)

    def keep(self, one: UnsavedText) -> None:
        """Keep this text."""
        self._want(one.path, one)

    def drop(self, path: str) -> None:
        """It was saved, or a person let it go."""
        self._timer.stop()
        self._want(path, None)

    async def kept(self, path: str) -> UnsavedText | None:
        """What is kept of a file that is being opened."""
        if self._texts is None or path in self._wanted:
            return self._wanted.get(path)
        return await asyncio.to_thread(self._texts.read, path)

    def _want(self, path: str, one: UnsavedText | None) -> None:
        if self._texts is None or not path:
            return
        self._wanted[path] = one
        if not self._at_work:
            self._at_work = True
            self._work.spawn(self._write(self._texts), name="keep an unsaved text")

    async def _write(self, texts: UnsavedTexts) -> None:
        try:
            while self._wanted:
                path, one = next(iter(self._wanted.items()))
                await asyncio.to_thread(texts.drop, path) if one is None else await asyncio.to_thread(texts.keep, one)
                if self._wanted.get(path) is one:
                    del self._wanted[path]
        finally:
            self._at_work = False
