"""Settings, Agents: the definitions there are, one of them as text and as a form, and what it would be when it runs.

The text is the truth: a form's field is written into it, every other byte kept, and read back. Nothing asks a model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.debates import SidePreview
from desktop.domain.definitions import AgentDefinition, AgentRow, SideName
from desktop.domain.errors import AssentError
from desktop.domain.skills import SkillProblem
from desktop.presenter.yaml_file import YamlFileViewModel
from desktop.skills.editing.yaml_text import REMOVE

if TYPE_CHECKING:
    from desktop.conversation.agent_desk import AgentCheck, AgentDesk
    from desktop.conversation.agents import AgentBook
    from desktop.presenter.bridge import Bridge


class ChatAgents(Sequence[tuple[str, str]]):
    """(name, title) of every agent that can be talked to, as of now."""

    def __init__(self, book: AgentBook) -> None:
        self._book = book

    def _now(self) -> tuple[tuple[str, str], ...]:
        return tuple((agent.name, agent.shown) for agent in self._book.chat())

    def __len__(self) -> int:
        return len(self._now())

    def __getitem__(self, at: Any) -> Any:
        return self._now()[at]


class AgentsViewModel(YamlFileViewModel):
    """``changed`` when the list did, ``chosen`` after a file was opened, ``told`` with a sentence and what undoes it;
    ``checked`` also stands for the form and the previews. ``model`` is the one that a new chat would have."""

    changed = Signal()
    chosen = Signal(str)
    told = Signal(str, str)
    replaced = Signal()
    """The text was changed by the form."""
    debate_wanted = Signal(str)
    """A person wants to begin a debate with this agent of two sides."""
    _files_changed = Signal()

    def __init__(
        self, desk: AgentDesk, bridge: Bridge, model: Callable[[], str], parent: QObject | None = None
    ) -> None:
        super().__init__(desk.file(""), bridge, example="", holds="agents", parent=parent)
        self._desk = desk
        self._model = model
        self._agents: tuple[AgentRow, ...] = desk.rows()
        self._said: AgentCheck | None = None
        self._gone: dict[str, tuple[str, str]] = {}
        self.previews: Mapping[SideName, SidePreview] = {}
        self.prompts: tuple[str, ...] = ()
        self._files_changed.connect(self._take)
        self._stop_listening = desk.on_change(self._files_changed.emit)

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> tuple[AgentRow, ...]:
        """All definitions, the person's own first."""
        return self._agents

    def row(self, path: str) -> AgentRow | None:
        """One of them."""
        return next((row for row in self._agents if row.path == path), None)

    def _take(self) -> None:
        self._agents = self._desk.rows()
        self.changed.emit()
        if self.current:
            self._reopen()

    def refresh(self) -> None:
        """Read the folders again."""
        self._spawn(self._desk.reload(), "read agents")

    # -- one of them --------------------------------------------------------------------------------------------------

    @property
    def current(self) -> str:
        """The path of the open file, or ""."""
        return self.path if self._file is not None else ""

    @property
    def writable(self) -> bool:
        """Whether the open file is the person's own."""
        row = self.row(self.path)
        return row is not None and row.writable

    @property
    def unseen(self) -> bool:
        """Whether the open file is a project's that is off because nobody has looked at it as it is now."""
        row = self.row(self.path)
        return self._file is not None and row is not None and bool(row.unseen)

    def accept(self) -> None:
        """The person has looked at the open file: it counts as it is shown, and no other content."""
        if self._file is not None and self.unseen:
            self._spawn(asyncio.to_thread(self._desk.accept, self.path, self._file.stamp), "use an agent")

    @property
    def definition(self) -> AgentDefinition | None:
        """What the text says now; None while it has errors."""
        return self._said.definition if self._said is not None else None

    @property
    def values(self) -> Mapping[str, Any]:
        """The fields as the text has them, for the form; sides as mappings."""
        return self._said.said.data if self._said is not None else {}

    @property
    def wrong(self) -> Mapping[str, str]:
        """What is wrong with fields, by their path."""
        said = self._said.said.problems if self._said is not None else ()
        return {problem.path: problem.text for problem in said if not problem.warning and problem.path}

    def choose(self, path: str) -> None:
        """Open a file; what was not saved of another is let go."""
        self._files = self._desk.file(path)
        self._file, self._said, self.previews, self._found = None, None, {}, ()
        self._spawn(self._choose(path), "open an agent")

    async def _choose(self, path: str) -> None:
        self.prompts = tuple(await self._desk.prompts())
        await self._open()
        self.chosen.emit(path)

    async def _check(self, text: str) -> None:
        """What the text says, and how each side would run; only what still fits the text is told."""
        files = self._files
        found = await asyncio.to_thread(files.check, self._ends.restore(text))
        previews = await self._desk.preview(found.definition, self._model()) if found.definition is not None else {}
        if text != self._text or files is not self._files:
            return
        self._said, self.previews = found, previews
        missing = (problem for one in previews.values() for problem in one.problems)
        later = []
        for one in missing:
            line, column = found.said.place(one.path)
            words = f"{one.path}: it could not run now: {one.text}"
            later.append(SkillProblem(self.path, words, line, column, "warning", one.code))
        self._found = (*found.problems, *later)
        self.checked.emit()

    def set_field(self, path: Sequence[str], value: Any) -> None:
        """Write one field of the form into the text; None or "" takes it out."""
        self._spawn(self._set_field(tuple(path), REMOVE if value in (None, "") else value), "change an agent")

    async def _set_field(self, path: tuple[str, ...], value: Any) -> None:
        before = self._text
        text = await asyncio.to_thread(self._desk.changed_text, before, path, value)
        if before == self._text and text != before:
            self._text = text
            self.dirty_changed.emit(self.dirty)
            self.replaced.emit()
            self._check_now()

    # -- files --------------------------------------------------------------------------------------------------------

    def create(self) -> None:
        """A new file, which is then open."""
        self._spawn(self._make(self._desk.create), "new agent")

    def duplicate(self, path: str) -> None:
        """A copy of the person's own, which is then open."""
        self._spawn(self._make(lambda: self._desk.duplicate(path)), "copy an agent")

    async def _make(self, work: Callable[[], str]) -> None:
        path = await asyncio.to_thread(work)
        self._agents = self._desk.rows()
        self.choose(path)

    def delete(self, path: str) -> None:
        """Put it away; ``told`` says so, with the undo."""
        self._spawn(self._delete(path), "delete an agent")

    async def _delete(self, path: str) -> None:
        row = self.row(path)
        kept = await asyncio.to_thread(self._desk.delete, path)
        self._gone[kept] = (kept, path)
        self._file = None
        name = row.agent.shown if row is not None and row.agent is not None else path.rpartition("/")[2]
        self.told.emit(f"{name} was deleted", kept)

    def undo(self, token: str) -> None:
        """Bring back what ``told`` named."""
        gone = self._gone.pop(token, None)
        if gone is not None:
            self._spawn(asyncio.to_thread(self._desk.restore, *gone), "bring an agent back")

    def _broke(self, error: AssentError) -> None:
        if self._file is None:  # no editor is there to say it
            self.told.emit(f"{error} {getattr(error, 'next_step', '')}".strip(), "")
        else:
            super()._broke(error)

    def close(self) -> None:
        """No longer follow the files."""
        self._stop_listening()
