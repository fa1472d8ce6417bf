"""The text of a YAML file that only the person changes, for an editor: checked while it is typed, saved all or nothing.

The runtime writes it, and never over a change of another program unasked. Saving puts it in force at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError
from desktop.domain.skills import SkillProblem
from desktop.presenter.common.line_ends import Conflict, LineEnds
from desktop.presenter.common.unsaved import RESTORED, TextKeeper, UnsavedText, UnsavedTexts
from desktop.tools.person_file import ABSENT, ToolsFile, ToolsFileConflict

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge

CHECK_AFTER = 200
"""Milliseconds after the last key before the text is checked."""


class FileService(Protocol):
    """What holds the file; every method blocks."""

    path: Path

    def read(self) -> ToolsFile: ...

    def check(self, text: str) -> Any: ...

    def save(self, text: str, stamp: str, *, over: bool = False) -> ToolsFile: ...

    def reload(self) -> Any: ...

    def reload_if_changed(self) -> Any: ...


class YamlFileViewModel(QObject):
    """``opened`` when the text is there (again), ``checked`` after its problems fit it, ``conflict`` when saving met
    another program's change. ``outside`` tells of one that would cost what was typed: ``changed``, ``deleted``, or ""
    when there is none any more; ``restored``: a text that was not saved is here again. ``texts`` keeps such a text over
    the end of the app."""

    opened = Signal()
    checked = Signal()
    dirty_changed = Signal(bool)
    saved = Signal()
    conflict = Signal(object)
    outside = Signal(str)
    failed = Signal(str)

    def __init__(
        self, service: FileService, bridge: Bridge, *, example: str, holds: str, texts: UnsavedTexts | None = None
    ) -> None:
        super().__init__()
        self._files, self._bridge = service, bridge
        self.example, self.holds = example, holds
        self._file: ToolsFile | None = None
        self._ends = LineEnds("")
        self._text = self._was = ""
        self._found: tuple[SkillProblem, ...] = ()
        self._later = bridge.later(self, self._check_now, CHECK_AFTER)
        self._keeper = TextKeeper(texts, bridge, self, self._unsaved)

    @property
    def path(self) -> str:
        """Where the file is."""
        return str(self._files.path)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self._files.path.name

    def reload(self) -> None:
        """Read the file again and put it in force."""
        self._spawn(asyncio.to_thread(self._files.reload), f"reload {self.name}")

    def look_at_file(self) -> None:
        """The same if the file looks different: a person comes back from another program."""
        self._spawn(asyncio.to_thread(self._files.reload_if_changed), f"look at {self.name}")

    def _reopen(self) -> None:
        """What is in force changed: so did the file, perhaps."""
        if self._file is not None:
            self._spawn(self._compare(), f"compare {self.name}")

    async def _compare(self) -> None:
        """Take over what another program wrote, or say so where something is not saved."""
        found, before = await asyncio.to_thread(self._files.read), self._file
        if before is None or found.stamp == before.stamp:
            return
        if self.dirty:
            self.outside.emit("deleted" if found.stamp == ABSENT else "changed")
        else:
            self._show(found)

    def show_conflict(self) -> None:
        """Lay both texts side by side, as saving would."""
        self._spawn(self._both(), f"compare {self.name}")

    async def _both(self) -> None:
        found = await asyncio.to_thread(self._files.read)
        self.conflict.emit(Conflict(self.path, self.text, None if found.stamp == ABSENT else found.text))

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
        self._spawn(self._open(), f"open {self.name}")

    async def _open(self) -> None:
        files = self._files
        found = await asyncio.to_thread(files.read)
        kept = await self._keeper.kept(str(files.path))
        if files is self._files and (self._file is None or found != self._file or self.dirty):
            self._show(found, kept)

    def _show(self, found: ToolsFile, kept: UnsavedText | None = None) -> None:
        self._file = found
        self._ends = LineEnds(found.text)
        self._text = self._was = self._ends.shown
        restored = self._restore(found, kept)
        self.dirty_changed.emit(self.dirty)
        self.outside.emit(restored)
        self.opened.emit()
        self._check_now()

    def _restore(self, found: ToolsFile, kept: UnsavedText | None) -> str:
        """Bring back what was not saved; what became of the file since, as ``outside`` tells it."""
        if kept is None or kept.text == found.text:
            return ""
        self._file = replace(found, stamp=kept.stamp)  # saving meets what another program wrote since
        self._ends = LineEnds(kept.text)
        self._text = self._ends.shown
        if kept.stamp == found.stamp:
            return RESTORED
        return "deleted" if found.stamp == ABSENT else "changed"

    def _unsaved(self) -> UnsavedText | None:
        file, stands = self._file, self._text != self._was
        return UnsavedText(self.path, self.text, file.stamp) if file is not None and stands else None

    def _kept_or_dropped(self) -> None:
        if self.dirty:
            self._keeper.touched()
        else:  # it is as it was
            self._keeper.drop(self.path)

    def edited(self, text: str) -> None:
        """Take the text that a person typed."""
        if text != self._text:
            self._text = text
            self._kept_or_dropped()
            self.dirty_changed.emit(self.dirty)
            self._later.start()

    def revert(self) -> None:
        """Back to what is on disk, dropping what was not saved."""
        self._keeper.drop(self.path)
        self._text = self._was
        self._file = None
        self.open()

    def _check_now(self) -> None:
        self._spawn(self._check(self._text), f"check {self.name}")

    async def _check(self, text: str) -> None:
        found = await asyncio.to_thread(self._files.check, self._ends.restore(text))
        if text == self._text:
            self._found = found.problems
            self.checked.emit()

    def save(self, *, over: bool = False) -> None:
        """Write it and put it in force; ``saved``, ``conflict`` or ``failed`` follows."""
        self._spawn(self._save(over), f"save {self.name}")

    async def _save(self, over: bool) -> None:
        if self._file is None:
            return
        shown, text, stamp = self._text, self.text, self._file.stamp
        try:
            done = await asyncio.to_thread(lambda: self._files.save(text, stamp, over=over))
        except ToolsFileConflict as error:
            self.conflict.emit(Conflict(self.path, text, error.theirs))
            return
        self._file, self._was = done, shown
        self._ends = LineEnds(done.text)
        self._keeper.drop(self.path)
        self._kept_or_dropped()
        self.dirty_changed.emit(self.dirty)
        self.outside.emit("")
        self.saved.emit()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _spawn(self, work: Any, name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._broke)

    def _broke(self, error: AssentError) -> None:
        self.failed.emit(error.advice)
