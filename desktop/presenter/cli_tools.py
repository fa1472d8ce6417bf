"""The settings page of tools.yaml: what is in force and what is wrong, the text with live checking, trying a tool.

The text is checked while a person types and is saved by the runtime, which writes all or nothing and never over a
change of another program unasked. Saving puts it in force at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.skills import SkillProblem
from desktop.presenter.skills_editing import Conflict
from desktop.presenter.skills_forms import FormField, fields_of
from desktop.presenter.skills_lines import LineEnds
from desktop.tools.cli_tools import CliState
from desktop.tools.person_file import ToolsFileConflict

if TYPE_CHECKING:
    from desktop.presenter.bridge import Bridge
    from desktop.presenter.skills_trying import SkillTrials
    from desktop.tools.cli_tool import CliTool
    from desktop.tools.cli_tools import CliTools
    from desktop.tools.person_file import ToolsFile

CHECK_AFTER = 200
"""Milliseconds after the last key before the text is checked."""


@dataclass(frozen=True, slots=True)
class CliRow:
    """One tool in force. ``command`` is its vector with placeholders; ``note`` why all its calls are admin."""

    name: str
    alias: str
    category: str
    description: str
    command: tuple[str, ...]
    note: str
    line: int


class CliToolsViewModel(QObject):
    """``changed`` after what is in force or its problems changed, ``opened`` when the text is there (again),
    ``checked`` after its problems fit it, ``conflict`` when saving met another program's change,
    ``requests_wanted`` when the person wants to see what waits for an answer."""

    changed = Signal()
    opened = Signal()
    checked = Signal()
    dirty_changed = Signal(bool)
    saved = Signal()
    conflict = Signal(object)
    failed = Signal(str)
    requests_wanted = Signal()
    _told = Signal(object)

    def __init__(self, service: CliTools, trials: SkillTrials, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._service, self._bridge = service, bridge
        self.trials = trials
        self._state = service.state
        self._file: ToolsFile | None = None
        self._ends = LineEnds("")
        self._text = self._was = ""
        self._found: tuple[SkillProblem, ...] = ()
        self._later = QTimer(self, singleShot=True, interval=CHECK_AFTER)
        self._later.timeout.connect(self._check_now)
        self._told.connect(self._take)
        service.on_change(self._told.emit)

    # -- what is in force ---------------------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """Where the file is."""
        return str(self._service.path)

    @property
    def rows(self) -> tuple[CliRow, ...]:
        """The tools in force, in the order of the file."""
        return tuple(_row(tool) for tool in self._state.tools)

    @property
    def file_problems(self) -> tuple[SkillProblem, ...]:
        """What is wrong in the file on disk."""
        return self._state.problems

    @property
    def kept(self) -> bool:
        """Whether the file is broken and the last good tools stay in force."""
        return self._state.kept

    def reload(self) -> None:
        """Read the file again and put it in force."""
        self._spawn(asyncio.to_thread(self._service.reload), "reload tools.yaml")

    def look_at_file(self) -> None:
        """The same if the file looks different: a person comes back from another program."""
        self._spawn(asyncio.to_thread(self._service.reload_if_changed), "look at tools.yaml")

    def _take(self, state: CliState) -> None:
        self._state = state
        self.changed.emit()
        if self._file is not None and not self.dirty:
            self.open()

    # -- the text -----------------------------------------------------------------------------------------------------

    @property
    def shown(self) -> str:
        """The text for an editor, with one kind of line end."""
        return self._text

    @property
    def text(self) -> str:
        """The text as it would be saved."""
        return self._ends.restore(self._text)

    @property
    def dirty(self) -> bool:
        """Whether there is something that was not saved."""
        return self._text != self._was

    @property
    def problems(self) -> tuple[SkillProblem, ...]:
        """What is wrong in the text as it was checked last."""
        return self._found

    def open(self) -> None:
        """Read the text that is on disk; what was not saved is let go."""
        self._spawn(self._open(), "open tools.yaml")

    async def _open(self) -> None:
        found = await asyncio.to_thread(self._service.read)
        if self._file is not None and found == self._file and not self.dirty:
            return
        self._adopt(found)
        self.opened.emit()
        self._check_now()

    def _adopt(self, found: ToolsFile) -> None:
        self._file = found
        self._ends = LineEnds(found.text)
        self._text = self._was = self._ends.shown
        self.dirty_changed.emit(False)

    def edited(self, text: str) -> None:
        """A person typed: this is the text now."""
        if text != self._text:
            self._text = text
            self.dirty_changed.emit(self.dirty)
            self._later.start()

    def revert(self) -> None:
        """Back to what is on disk, dropping what was not saved."""
        self._text = self._was
        self._file = None
        self.open()

    def _check_now(self) -> None:
        self._spawn(self._check(self._text), "check tools.yaml")

    async def _check(self, text: str) -> None:
        found = await asyncio.to_thread(self._service.check, self._ends.restore(text))
        if text == self._text:
            self._found = found.problems
            self.checked.emit()

    def save(self, *, over: bool = False) -> None:
        """Write it and put it in force; ``saved``, ``conflict`` or ``failed`` follows."""
        self._spawn(self._save(over), "save tools.yaml")

    async def _save(self, over: bool) -> None:
        if self._file is None:
            return
        shown, text, stamp = self._text, self.text, self._file.stamp
        try:
            done = await asyncio.to_thread(lambda: self._service.save(text, stamp, over=over))
        except ToolsFileConflict as error:
            self.conflict.emit(Conflict(self.path, text, error.theirs))
            return
        self._file, self._was = done, shown
        self._ends = LineEnds(done.text)
        self.dirty_changed.emit(self.dirty)
        self.saved.emit()

    # -- trying -------------------------------------------------------------------------------------------------------

    def fields(self, name: str) -> tuple[FormField, ...]:
        """The form of a tool's parameters (S-CLI-1). Raises NotFound."""
        return fields_of(self._state.tool(name).definition.params) or ()

    def preview(self, name: str, values: Mapping[str, Any]) -> tuple[Sequence[str], str]:
        """(the vector that would run, what is wrong with the values)."""
        try:
            return self._state.tool(name).words(values), ""
        except KnownError as error:
            return (), str(error)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _spawn(self, work: Any, name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._broke)

    def _broke(self, error: AssentError) -> None:
        step = getattr(error, "next_step", "")
        self.failed.emit(f"{error} {step}".strip())


def _row(tool: CliTool) -> CliRow:
    definition = tool.definition
    groups = (f"[{'  '.join(map(str, group))}]" for _, group in definition.optional_args)
    command = (definition.cmd, *map(str, definition.args), *groups)
    return CliRow(
        definition.name, tool.spec.provider_name, tool.spec.category.value, definition.description, command,
        tool.always_admin, definition.line,
    )  # fmt: skip
