"""In which mode the open chat works: asked each time, or up to the edge of its folder (R-ASK-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.thread_modes import ThreadMode
from desktop.domain.errors import AssentError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, ThreadChanged
from desktop.presenter.common.folders import name_of

if TYPE_CHECKING:
    from desktop.presenter.chat.page import ChatViewModel
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.threads.modes import ThreadModes

UNDO = "mode "
"""Stands before the thread in the token of what a toast undoes."""
WORDS = {"ask": ("asks each time", "ask"), "edge": ("at the edge", "edge")}
"""By mode: what the chip says, and its icon."""
CHOICES: tuple[tuple[ThreadMode, str], ...] = (("ask", "Ask each time"), ("edge", "Ask only at the edge of the folder"))
NO_FOLDER = "Choose a folder first: the edge is that of the folder."
BEGUN = "The chat has begun meanwhile and asks each time. Choose again to switch it."


@dataclass(frozen=True, slots=True)
class EdgeExplained:
    """What is said before the first switch."""

    thread_id: str
    """The chat."""
    folder: str
    """Its folder's name."""
    closed: str
    """Why it cannot be switched, or ""."""


class EdgeViewModel(QObject):
    """Of the open chat. ``changed``: its mode is another; ``explain`` (EdgeExplained): the person is to be told what it
    means; ``said``: words for a toast, and what its Undo undoes, or ""."""

    changed = Signal()
    explain = Signal(object)
    said = Signal(str, str)

    def __init__(self, modes: ThreadModes, chat: ChatViewModel, bridge: Bridge) -> None:
        super().__init__()
        self._modes, self._chat, self._bridge = modes, chat, bridge
        self._folder = ""
        chat.begin_in = modes.set
        chat.opened.connect(self._opened)
        chat.project_changed.connect(self._moved)

    def _opened(self, _thread_id: str) -> None:
        self._folder = self._chat.project
        self.changed.emit()

    def _moved(self, project: str) -> None:
        """A new chat begins in the mode that the person set for new chats in its folder."""
        if project != self._folder:
            self._folder = project
            if not self._chat.thread_id:
                self._chat.chosen_mode = self._modes.usual(project)
        self.changed.emit()

    @property
    def mode(self) -> ThreadMode:
        """The mode of the open chat, or the one that was chosen for a chat that has no thread yet."""
        return self._modes.mode(self._chat.thread_id) if self._chat.thread_id else self._chat.chosen_mode

    @property
    def closed(self) -> str:
        """Why the edge cannot be chosen for the open chat now, or ""."""
        return "" if self._chat.project else NO_FOLDER

    @property
    def usual(self) -> tuple[str, bool]:
        """What is said of new chats in the open chat's folder, and whether they begin at the edge; "" where that cannot
        be chosen: a chat has to be at the edge for it."""
        project = self._chat.project
        on = self._modes.usual(project) == "edge"
        return (f"Begin new chats in {name_of(project)} at the edge", on) if on or self.mode == "edge" else ("", False)

    def set_usual(self, on: bool) -> None:
        """Have new chats in the open chat's folder begin at the edge, or asked each time."""
        project = self._chat.project

        async def work() -> None:
            await self._modes.set_usual(project, "edge" if on else "ask")
            words = "begin at the edge" if on else "ask each time"
            self.said.emit(f"New chats in {name_of(project)} {words}", "")

        if project:
            self._spawn(work(), "set the mode of new chats in a folder")

    def take(self, events: Sequence[Event]) -> None:
        """It may have been switched elsewhere."""
        if any(isinstance(one, ThreadChanged) and one.thread_id == self._chat.thread_id for one in events):
            self.changed.emit()

    def choose(self, mode: ThreadMode) -> None:
        """Switch the open chat; the first time the edge is explained, and nothing is switched yet."""
        thread_id, project = self._chat.thread_id, self._chat.project
        if mode == self.mode:
            return
        if mode == "edge" and self.closed:
            self.said.emit(self.closed, "")
            return
        self._spawn(self._choose(thread_id, project, mode), "switch the mode of a chat")

    async def _choose(self, thread_id: str, project: str, mode: ThreadMode) -> None:
        if mode == "edge":
            why = await asyncio.to_thread(self._modes.unconfined)
            if why or not await self._modes.explained():
                self.explain.emit(EdgeExplained(thread_id, name_of(project), why))
                return
        await self._set(thread_id, mode)

    def agree(self, explained: EdgeExplained) -> None:
        """The person was told, and wants it."""

        async def work() -> None:
            await self._modes.set_explained()
            await self._set(explained.thread_id, "edge")

        self._spawn(work(), "switch a chat to the edge")

    def undo(self, token: str) -> bool:
        """Undo a switch, if that is what the token stands for."""
        if not token.startswith(UNDO):
            return False
        mode, thread_id = token.removeprefix(UNDO).split(" ", 1)
        before: ThreadMode = "edge" if mode == "edge" else "ask"
        self._spawn(self._set(thread_id, before, told=False), "undo the switch of a chat")
        return True

    async def _set(self, thread_id: str, mode: ThreadMode, *, told: bool = True) -> None:
        before = self._modes.mode(thread_id) if thread_id else self._chat.chosen_mode
        if thread_id:
            await self._modes.set(thread_id, mode)
        elif self._chat.thread_id:
            self.said.emit(BEGUN, "")
            return
        else:
            self._chat.chosen_mode = mode if self._chat.project else "ask"
        self.changed.emit()
        words = "This chat asks only at the edge of its folder" if mode == "edge" else "This chat asks each time"
        self.said.emit(words, f"{UNDO}{before} {thread_id}" if told else "")

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._failed)

    def _failed(self, error: AssentError) -> None:
        self.said.emit(error.advice, "")
