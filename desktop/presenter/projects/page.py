"""Choosing the folder of a chat: the folders used before, what one brings, and what keeps one from being used."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError
from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.projects import ProjectLook, ProjectRow
from desktop.presenter.chat.thread_lines import time_text
from desktop.presenter.common.folders import name_of, short_path
from desktop.presenter.common.fuzzy import match

if TYPE_CHECKING:
    from desktop.presenter.chat.page import ChatViewModel
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.projects.service import ProjectService

STARTS_HERE = (
    "Work starts here",
    "Commands start in it and short paths mean files in it. The folder counts as inside for its chats only.",
)
NOTHING_STARTS = "Nothing starts by itself. You take over one at a time."


@dataclass(frozen=True, slots=True)
class FolderLine:
    """A folder in the list of those to choose from."""

    path: str
    """What is chosen by it."""
    name: str
    """The folder's own name."""
    shown: str
    """Its path as a person reads it."""
    tail: str
    """What stands at its right end: when it was used, or what is odd about it."""
    tone: str = ""
    """``closed`` where it cannot be used, ``link`` where it is one, else ""."""


class ProjectsViewModel(QObject):
    """Of the open chat. ``listed``: ``lines`` has them; ``looked`` carries what a folder brings, ``said`` words."""

    listed = Signal()
    looked = Signal(object)
    said = Signal(str)

    def __init__(self, service: ProjectService, chat: ChatViewModel, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._chat, self._bridge = service, chat, bridge
        self._rows: list[ProjectRow] = []
        self._looking = 0

    @property
    def current(self) -> str:
        """The open chat's folder, or ""."""
        return self._chat.project

    def read(self) -> None:
        """Read the folders that were used before; ``listed`` follows."""

        async def work() -> None:
            self._rows = await self._service.recent()
            self.listed.emit()

        self._spawn(work(), "read the project folders")

    def lines(self, text: str) -> tuple[FolderLine, ...]:
        """Those of them that fit a text."""
        return lines_of(self._rows, text)

    def look(self, path: str) -> None:
        """Look what a folder brings; an overtaken look is not told."""
        self._looking += 1
        number = self._looking

        async def work() -> None:
            found = await self._service.look(path)
            if number == self._looking:
                self.looked.emit(found)

        self._spawn(work(), "look into a folder")

    def use(self, path: str) -> None:
        """Have the open chat work in a folder; "" for none."""
        thread_id = self._chat.thread_id

        async def work() -> None:
            real = await self._service.choose(thread_id, path)
            if thread_id == self._chat.thread_id:
                self._chat.set_project(real)
            self.said.emit(f"This chat works in {short_path(real)}" if real else "This chat works in no folder")

        self._spawn(work(), "choose a project folder")

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._refused)

    def _refused(self, error: AssentError) -> None:
        self.said.emit(error.advice)


def lines_of(rows: Sequence[ProjectRow], text: str) -> tuple[FolderLine, ...]:
    """The folders that fit a text, the latest first; one that is written out as a path is the first."""
    found = [_line(row) for row in rows]
    kept = [line for line in found if match(text, line.name) is not None or match(text, line.shown) is not None]
    typed = os.path.normpath(os.path.expanduser(text.strip())) if text.strip() else ""
    if os.path.isabs(typed) and typed not in {line.path for line in kept}:
        kept.insert(0, FolderLine(typed, name_of(typed), short_path(typed), "typed"))
    return tuple(kept)


def _line(row: ProjectRow) -> FolderLine:
    folder = row.folder
    path = folder.given if folder.is_link or not folder.path else folder.path
    tone = "closed" if folder.closed else "link" if folder.is_link else ""
    tail = folder.closed.replace("is in ", "in ") or ("a link" if folder.is_link else _used(row.used_at))
    return FolderLine(path, name_of(path), short_path(path), tail, tone)


def _used(at: float) -> str:
    now = datetime.datetime.fromtimestamp(time.time())
    today = at and datetime.datetime.fromtimestamp(at).date() == now.date()
    return "today" if today else time_text(at, now) if at else ""


def about(look: ProjectLook) -> tuple[str, str]:
    """(name, what is known of it) of a folder that is looked at."""
    row, folder = look.row, look.row.folder
    if folder.closed:
        return name_of(folder.given), f"It {folder.closed}, so no chat can work in it."
    chats = "1 chat" if row.threads == 1 else f"{row.threads:,} chats" if row.threads else "No chats yet"
    used = f", last used {time.strftime('%d %b %H:%M', time.localtime(row.used_at))}" if row.used_at else ""
    leads = f" It is a link to {short_path(folder.path)}, which is the folder that is used." if folder.is_link else ""
    return name_of(folder.given), f"{chats}{used}.{leads}"


def parts(look: ProjectLook) -> Sequence[tuple[str, str, str, str]]:
    """(icon, title, where, note) of everything that a folder means and brings."""
    if look.row.folder.closed:
        return ()
    icons = {"instructions": "file", "skills": "skills", "agents": "agent", "servers": "server"}
    found = [("folder", STARTS_HERE[0], "", STARTS_HERE[1])]
    return [*found, *((icons[one.kind], one.title, one.where, one.note) for one in look.brought)]
