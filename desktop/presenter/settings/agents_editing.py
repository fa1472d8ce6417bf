"""Settings, Agents: the definitions there are, one of them as text and as a form, and what it would be when it runs.

The text is the truth: a form's field is written into it, every other byte kept, and read back. Nothing asks a model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from desktop.domain.agent_names import tool_name_of
from desktop.domain.definitions import MAX_AGENTS_DEEP, AgentRow
from desktop.domain.errors import AssentError
from desktop.domain.skills import SkillProblem
from desktop.presenter.common.line_ends import LineEnds
from desktop.presenter.common.unsaved import RESTORED, UnsavedText, UnsavedTexts
from desktop.presenter.settings.agent_fields import AgentFields
from desktop.presenter.settings.yaml_file import YamlFileViewModel
from desktop.presenter.skills.words import calls_itself
from desktop.tools.person_file import ABSENT, ToolsFile
from desktop.yaml_text.change import REMOVE

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.settings.model_setup import ModelSetupViewModel
    from desktop.services.agents.editing import AgentService
    from desktop.services.definitions.book import AgentBook

Field = tuple[tuple[str, ...], Any]
"""A field's path in the text, and what stands in it."""


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
    dropped = Signal()
    """A new agent was let go before it was ever saved."""
    debate_wanted = Signal(str)
    """A person wants to begin a debate with this agent of two sides."""
    _files_changed = Signal()

    def __init__(
        self, service: AgentService, bridge: Bridge, model: Callable[[], str], texts: UnsavedTexts | None = None
    ) -> None:
        super().__init__(service.file(""), bridge, example="", holds="agents", texts=texts)
        self._service = service
        self._model = model
        self._agents: tuple[AgentRow, ...] = service.rows()
        self.fields = AgentFields()
        self._gone: dict[str, tuple[str, str]] = {}
        self._draft: str | None = None
        """Of a new agent that was never saved: the name that its title gave it."""
        self._writing = asyncio.Lock()
        self._typed: tuple[Field, ...] = ()
        """What stands in fields that are still typed in."""
        self._coming = 0
        """Fields that are on their way into the text."""
        self.prompts: tuple[str, ...] = ()
        self.models: ModelSetupViewModel | None = None
        """The models there are, and what each takes."""
        self._files_changed.connect(self._take)
        self._stop_listening = service.on_change(self._files_changed.emit)

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> tuple[AgentRow, ...]:
        """All definitions, the person's own first."""
        return self._agents

    def row(self, path: str) -> AgentRow | None:
        """The row of one definition."""
        return next((row for row in self._agents if row.path == path), None)

    def _take(self) -> None:
        self._agents = self._service.rows()
        self.changed.emit()
        if self.current:
            self._reopen()

    def refresh(self) -> None:
        """Read the folders again."""
        self._spawn(self._service.reload(), "read agents")

    # -- one of them --------------------------------------------------------------------------------------------------

    @property
    def current(self) -> str:
        """The path of the open file, or ""."""
        return self.path if self._file is not None else ""

    @property
    def writable(self) -> bool:
        """Whether the open file is the person's own."""
        row = self.row(self.path)
        return self._draft is not None or (row is not None and row.writable)

    @property
    def unseen(self) -> bool:
        """Whether the open file is a project's that is off because nobody has looked at it as it is now."""
        row = self.row(self.path)
        return self._file is not None and row is not None and bool(row.unseen)

    def accept(self) -> None:
        """The person has looked at the open file: it counts as it is shown, and no other content."""
        if self._file is not None and self.unseen:
            self._spawn(asyncio.to_thread(self._service.accept, self.path, self._file.stamp), "use an agent")

    @property
    def dirty(self) -> bool:
        """Whether there is something that was not saved, also while it is on its way into the text."""
        return self._coming > 0 or super().dirty

    @property
    def problems(self) -> tuple[SkillProblem, ...]:
        """What is wrong in the text, but for fields that a person has only just begun."""
        return self.fields.shown(self._found)

    @property
    def is_new(self) -> bool:
        """Whether the open agent was never saved."""
        return self._draft is not None

    def leave_field(self, path: str) -> None:
        """The person left a field: from now on it counts that nothing stands in it. What is on its way into the text is
        told once it is there: until then the form would fall back to what stood there before."""
        if self.fields.leave(path) and not self._coming:
            self.checked.emit()

    def save(self, *, over: bool = False) -> None:
        """Write it and put it in force; every field counts as left."""
        for path in tuple(self.fields.begun):
            self.leave_field(path)
        super().save(over=over)

    def choose(self, path: str) -> None:
        """Open a file; unsaved changes of another one are lost."""
        self._begin(path)
        self._spawn(self._choose(path), "open an agent")

    def _begin(self, path: str) -> None:
        self._keeper.keep_now()
        self._typed = ()
        self._files = self._service.file(path)
        self._text, self._was, self._ends = "", "", LineEnds("")
        self._file, self._found, self._draft = None, (), None
        self.fields.clear()

    async def _choose(self, path: str) -> None:
        self.prompts = tuple(await self._service.prompts())
        await self._open()
        self.chosen.emit(path)

    async def _check(self, text: str) -> None:
        """What the text says, and how each side would run; only what still fits the text is told."""
        files = self._files
        found = await asyncio.to_thread(files.check, self._ends.restore(text))
        previews = await self._service.preview(found.definition, self._model()) if found.definition is not None else {}
        if text != self._text or files is not self._files:
            return
        self.fields.take(found, previews)
        missing = (problem for one in previews.values() for problem in one.problems)
        later = []
        for one in missing:
            line, column = found.said.place(one.path)
            words = one.shown if one.warning else f"{one.path}: it could not run now: {one.text}"
            later.append(SkillProblem(self.path, words, line, column, "warning", one.code))
        self._found = (*found.problems, *later)
        self.checked.emit()

    def type_on(self, fields: Sequence[Field]) -> None:
        """Keep what stands in fields that are still typed in, beside all else that is not saved."""
        self._typed = tuple(fields)
        if fields and self._file is not None:
            self._spawn(self._keep_typed(self.path, self._typed), "keep an unsaved agent")

    async def _keep_typed(self, path: str, fields: Sequence[Field]) -> None:
        text = self._text
        for where, value in fields:
            text = await asyncio.to_thread(self._service.changed_text, text, where, value if value != "" else REMOVE)
        file = self._file
        if file is not None and path == self.path and fields is self._typed:
            self._keeper.keep(UnsavedText(path, self._ends.restore(text), file.stamp))

    def _unsaved(self) -> UnsavedText | None:
        return None if self._typed else super()._unsaved()

    def set_field(self, path: Sequence[str], value: Any) -> None:
        """Write one field of the form into the text; None or "" takes it out, but for a prompt yet to be written."""
        gone = value is None or (value == "" and tuple(path)[-1] != "promptText")
        self._coming += 1
        self._spawn(self._set_field(tuple(path), REMOVE if gone else value), "change an agent")

    async def _set_field(self, path: tuple[str, ...], value: Any) -> None:
        """The text is looked through when the last of the fields on their way has come."""
        async with self._writing:
            try:
                await self._write_field(path, value)
            finally:
                if not self._coming:
                    self._check_now()
            self.dirty_changed.emit(self.dirty)

    async def _write_field(self, path: tuple[str, ...], value: Any) -> None:
        before = self._text
        try:
            text, name = await self._with_field(before, path, value)
        finally:
            self._coming -= 1
        if before == self._text and text != before:
            self._draft = name or self._draft
            self._text = text
            self.type_on([field for field in self._typed if field[0] != path])
            self._kept_or_dropped()
            self.replaced.emit()

    async def _with_field(self, text: str, path: tuple[str, ...], value: Any) -> tuple[str, str]:
        """The text with one field changed, and what its agent is called by that, or ""."""
        titled = path == ("title",) and value is not REMOVE
        name = await asyncio.to_thread(self._name_for, str(value)) if titled else ""
        for where, what in ((path, value), *([(("name",), name)] if name else [])):
            text = await asyncio.to_thread(self._service.changed_text, text, where, what)
        return text, name

    def _name_for(self, title: str) -> str:
        """What a new agent is called now that its title changed; "" where a person gave it a name, or it has a file."""
        if self._draft is None or self._files.check(self._text).said.data.get("name") != self._draft:
            return ""
        return self._service.name_for(title)

    async def _save(self, over: bool) -> None:
        async with self._writing:  # fields that a person has just left are written first
            if not super().dirty:
                return
            before = self.path
            if self._draft is not None:
                self._files = self._service.file(await asyncio.to_thread(self._service.place_of, self.text))
            await super()._save(over)
            if self._draft is not None and not super().dirty:
                self._keeper.drop(before)
                self._draft = None
                self._take()
                self._check_now()

    def revert(self) -> None:
        """Back to what is on disk; a new agent, which is not there, is let go."""
        if self._draft is None:
            self._spawn(self._revert(), f"open {self.name}")
            return
        self.leave()
        self.dropped.emit()

    async def _revert(self) -> None:
        async with self._writing:  # a field that the person has just left would be written after all
            self._typed = ()
            super().revert()

    def leave(self) -> None:
        """No file is open any more; what was not saved of it is let go, because the person says so."""
        path = self.current
        self._begin("")
        self._keeper.drop(path)
        self.dirty_changed.emit(False)

    # -- files --------------------------------------------------------------------------------------------------------

    def create(self) -> None:
        """A new agent, open; its file is written, and named, when it is saved first."""
        self._spawn(self._create(), "new agent")

    async def _create(self) -> None:
        path, text = await asyncio.to_thread(self._service.draft)
        prompts = tuple(await self._service.prompts())
        kept = await self._keeper.kept(path)
        self._begin(path)
        self.prompts, self._draft = prompts, path.rpartition("/")[2].removesuffix(".yaml")
        self._file = ToolsFile("", ABSENT)
        self._text = text if kept is None else kept.text
        self.dirty_changed.emit(True)
        self.outside.emit("" if kept is None else RESTORED)
        self.opened.emit()
        self.chosen.emit(path)
        self._check_now()

    def duplicate(self, path: str) -> None:
        """A copy of the person's own, which is then open."""
        self._spawn(self._make(lambda: self._service.duplicate(path)), "copy an agent")

    async def _make(self, work: Callable[[], str]) -> None:
        path = await asyncio.to_thread(work)
        self._agents = self._service.rows()
        self.choose(path)

    def delete(self, path: str) -> None:
        """Delete a file; ``told`` says so, with the undo."""
        self._spawn(self._delete(path), "delete an agent")

    async def _delete(self, path: str) -> None:
        row = self.row(path)
        kept = await asyncio.to_thread(self._service.delete, path)
        self._keeper.drop(path)
        self._gone[kept] = (kept, path)
        if path == self.path:
            self.leave()
        name = row.agent.shown if row is not None and row.agent is not None else path.rpartition("/")[2]
        self.told.emit(f"{name} was deleted", kept)

    def undo(self, token: str) -> None:
        """Bring back what ``told`` named."""
        gone = self._gone.pop(token, None)
        if gone is not None:
            self._spawn(asyncio.to_thread(self._service.restore, *gone), "bring an agent back")

    def _broke(self, error: AssentError) -> None:
        if self._file is None:  # no editor is there to say it
            self.told.emit(error.advice, "")
        else:
            self.dirty_changed.emit(self.dirty)
            super()._broke(error)

    def close(self) -> None:
        """Stop following changes of the files."""
        self._stop_listening()


def cycle_words(row: AgentRow) -> str:
    """A sentence saying that an agent can end up calling itself."""
    tool = tool_name_of(row.agent.name) if row.agent is not None else ""
    return f"It can call itself {calls_itself(tool, row.cycle, MAX_AGENTS_DEEP)}."
