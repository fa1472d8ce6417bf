"""Choosing the folder of a chat: the folders used before, what one brings, and what keeps one from being used."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError
from desktop.domain.files.projects import InstructionFile, ProjectLook, ProjectRow
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event, RunEnded
from desktop.domain.text.words import count_words
from desktop.presenter.chat.thread_lines import time_text
from desktop.presenter.common.folders import name_of, short_path
from desktop.presenter.common.fuzzy import match
from desktop.skills.catalogue.pins import Difference, FileDifference

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.projects.service import ProjectService

STARTS_HERE = (
    "Work starts here",
    "Commands start in it and short paths mean files in it. The folder counts as inside for its chats only.",
)
NOTHING_STARTS = "Nothing starts by itself. You take over one at a time."


class SeenFile:
    """A file beside what it was; ``accept``: exactly this content is told from the next request on."""

    def __init__(self, file: InstructionFile, accept: Callable[[], None]) -> None:
        shown = FileDifference(file.name, file.before, file.text)
        self.difference: Difference | None = Difference(file.name, file.digest, (shown,))
        self.accept = accept


@dataclass(frozen=True, slots=True)
class FileLine:
    """One instruction file as the card shows it."""

    about: str
    """Its size, and what became of it."""
    state: str
    """Whether it is told, in words."""
    icon: str
    """Before the words."""
    tone: str
    """Their colour."""


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


class FolderPlace(Protocol):
    """Whose folder is chosen: that of the open chat, or of a debate that is set up. ``project_changed``: another."""

    project_changed: Any

    @property
    def thread_id(self) -> str:
        """The thread; "": it has none yet."""
        ...

    @property
    def project(self) -> str:
        """The folder, or ""."""
        ...

    def set_project(self, path: str) -> None:
        """Show that this folder was chosen."""
        ...


class ProjectsViewModel(QObject):
    """Of the open chat, or of what else works in a folder (``what``). ``listed``: ``lines`` has them; ``looked``
    carries what a folder brings, ``said`` words."""

    listed = Signal()
    looked = Signal(object)
    files_changed = Signal()
    said = Signal(str)

    def __init__(self, service: ProjectService, chat: FolderPlace, bridge: Bridge, what: str = "chat") -> None:
        super().__init__()
        self.what = what
        self._service, self._chat, self._bridge = service, chat, bridge
        self._rows: list[ProjectRow] = []
        self._looking = 0
        self.files: tuple[InstructionFile, ...] = ()
        """The instruction files of the open chat's folder."""
        self._of = ""
        chat.project_changed.connect(self._moved)

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

    def _moved(self, project: str) -> None:
        """Told whenever the chat is shown anew: only another folder is read again."""
        if project != self._of:
            self._of = project
            self.look_at_files()

    def look_at_files(self) -> None:
        """Read which instruction files the open chat's folder has; ``files_changed`` follows."""
        project = self._chat.project

        async def work() -> None:
            files = await self._service.instructions.look(project) if project else ()
            if project == self._chat.project and files != self.files:
                self.files = files
                self.files_changed.emit()

        if project or self.files:
            self._spawn(work(), "read the instruction files")

    def take(self, events: Sequence[Event]) -> None:
        """A run may have changed the files, or found others."""
        if any(isinstance(event, RunEnded) and event.thread_id == self._chat.thread_id for event in events):
            self.look_at_files()

    def seen(self, file: InstructionFile) -> SeenFile:
        """What is shown of a file that is looked at, and how it is agreed to."""
        project = self._chat.project

        async def work() -> None:
            await self._service.instructions.accept(project, file.name, file.digest)
            self.look_at_files()

        return SeenFile(file, lambda: self._spawn(work(), "look at an instruction file"))

    def use(self, path: str) -> None:
        """Have the open chat work in a folder; "" for none."""
        thread_id = self._chat.thread_id

        async def work() -> None:
            real = await self._service.choose(thread_id, path)
            if thread_id == self._chat.thread_id:
                self._chat.set_project(real)
            self.said.emit(f"This {self.what} works in {short_path(real) if real else 'no folder'}")

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


def files_words(files: Sequence[InstructionFile]) -> str:
    """How many of them are told."""
    told = sum(1 for file in files if file.state == "told")
    return f"{told} of {count_words(len(files), 'file')} {'is' if told == 1 else 'are'} told to the model"


def file_line(file: InstructionFile) -> FileLine:
    """One of them in words."""
    size = f"{file.size / 1024:.1f} KB" if file.size >= 1024 else count_words(file.size, "byte")
    if file.state == "told":
        return FileLine(f"{size}, unchanged since you looked", "told to the model", "allow", "allow")
    if file.state in ("changed", "new"):
        what = "changed since you looked" if file.state == "changed" else "came after you chose the folder"
        return FileLine(f"{size}, {what}", "not told until you look", "hidden", "ask")
    return FileLine(file.why or file.state, "never told", "deny", "text-2")


LEFT_BY_OTHERS = frozenset({"skills", "agent", "server"})
"""Icons of what other apps left, which can be looked at on the Skills page."""


def parts(look: ProjectLook) -> Sequence[tuple[str, str, str, str]]:
    """(icon, title, where, note) of everything that a folder means and brings."""
    if look.row.folder.closed:
        return ()
    icons = {"instructions": "file", "skills": "skills", "agents": "agent", "servers": "server"}
    found = [("folder", STARTS_HERE[0], "", STARTS_HERE[1])]
    return [*found, *((icons[one.kind], one.title, one.where, one.note) for one in look.brought)]
