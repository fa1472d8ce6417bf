"""One skill file while it is edited: text and form are two views of the same text, checked while a person types.

Nothing is lost: leaving with unsaved changes asks first (``dirty``), a file that changed meanwhile is a conflict with
both texts, and saving is the service's, which writes all or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef, SkillProblem
from desktop.presenter.common.line_ends import Conflict, LineEnds
from desktop.presenter.common.unsaved import RESTORED, TextKeeper, UnsavedText, UnsavedTexts
from desktop.skills.editing.files import EditConflict
from desktop.yaml_text.change import REMOVE, NotEditable, change_key

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.skills.editing import SkillService
    from desktop.skills.editing.files import OpenFile

CHECK_AFTER = 200
"""Milliseconds after the last key before the text is checked."""
FORM_KEYS = ("name", "description", "allowed-tools", "tags", "visibility", "category", "params", "returns", "model")
_OUTSIDE_METADATA = frozenset({"name", "description", "allowed-tools"})


@dataclass(frozen=True, slots=True)
class FormState:
    """What the form shows: values by key, and the keys that it has no field for, as YAML text. ``refused``: why the
    form cannot change this file, or ""."""

    values: dict[str, Any]
    others: str = ""
    refused: str = ""


class SkillEditor(QObject):
    """``opened`` after another file is here, ``replaced`` after its text was changed by the form or read anew,
    ``dirty_changed``, ``checked`` after problems and form fit the text, ``outside`` (changed | deleted | "") when the
    file on disk is another one, or ``restored`` when a text that was not saved is here again, ``conflict`` when saving
    met a change. ``texts`` keeps what is not saved over the end of the app."""

    opened = Signal()
    replaced = Signal(str)
    dirty_changed = Signal(bool)
    checked = Signal()
    saved = Signal()
    outside = Signal(str)
    conflict = Signal(object)
    failed = Signal(str)

    def __init__(
        self, service: SkillService, bridge: Bridge, wrote: Callable[[str], None], texts: UnsavedTexts | None = None
    ) -> None:
        super().__init__()
        self._service, self._bridge, self._wrote = service, bridge, wrote
        self._file: OpenFile | None = None
        self._ends = LineEnds("")
        self._text = ""
        self._was = ""
        self._dirty = False
        self._number = 0
        self._changes: list[tuple[tuple[str, ...], Any]] = []
        self._changing = False
        self.name = ""
        self.problems: tuple[SkillProblem, ...] = ()
        self.form = FormState({})
        self.definition: SkillDef | None = None
        self._later = bridge.later(self, self._check_now, CHECK_AFTER)
        self._keeper = TextKeeper(texts, bridge, self, self._unsaved)

    # -- opening ------------------------------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The open file, or ""."""
        return self._file.path if self._file is not None else ""

    @property
    def writable(self) -> bool:
        """Whether the file may be written by the app."""
        return self._file is not None and self._file.writable

    @property
    def dirty(self) -> bool:
        """Whether there is something that was not saved."""
        return self._dirty or bool(self._changes)

    @property
    def shown(self) -> str:
        """The text for an editor, with one kind of line end."""
        return self._text

    @property
    def text(self) -> str:
        """The text as it would be saved."""
        return self._ends.restore(self._text)

    def open(self, path: str, name: str) -> None:
        """Begin with a file. What was open before is let go: ask before."""
        self.close()
        self.name = name
        self._number += 1
        number = self._number

        async def work() -> None:
            found = await self._service.open(path)
            kept = await self._keeper.kept(path) if found.writable else None
            if number == self._number:
                self._adopt(found)
                restored = self._restore(kept)
                self.opened.emit()
                self.outside.emit(restored)
                self._check_now()

        self._bridge.spawn(work(), name="open skill file", on_error=self._told)

    def discard(self) -> None:
        """Let go of the file and, because the person says so, of what was not saved."""
        path = self.path
        self.close()
        self._keeper.drop(path)

    def close(self) -> None:
        """Let go of the file; what was not saved is kept for the next time."""
        self._keeper.keep_now()
        self._number += 1
        self._later.stop()
        self._changes.clear()
        self._file, self.problems, self.form, self.definition = None, (), FormState({}), None
        self._ends, self._text, self._was = LineEnds(""), "", ""
        self._set_dirty(False)

    def _adopt(self, found: OpenFile) -> None:
        self._file = found
        self._ends = LineEnds(found.text)
        self._text = self._was = self._ends.shown
        self._set_dirty(False)

    def _restore(self, kept: UnsavedText | None) -> str:
        """Bring back what was not saved; what became of the file since, as ``outside`` tells it."""
        file = self._file
        if kept is None or file is None or kept.text == file.text:
            return ""
        self._file = replace(file, digest=kept.stamp)  # saving meets what another program wrote since
        self._ends = LineEnds(kept.text)
        self._text = self._ends.shown
        self._set_dirty(True)
        return RESTORED if kept.stamp == file.digest else "changed"

    def _unsaved(self) -> UnsavedText | None:
        file = self._file
        return UnsavedText(file.path, self.text, file.digest) if file is not None and self._dirty else None

    def _set_dirty(self, dirty: bool) -> None:
        if dirty != self._dirty:
            self._dirty = dirty
            self.dirty_changed.emit(dirty)

    # -- typing and filling in ----------------------------------------------------------------------------------------

    def edited(self, text: str) -> None:
        """Take the text that a person typed."""
        if self._file is None or text == self._text:
            return
        self._text = text
        self._set_dirty(text != self._was)
        self._kept_or_dropped()
        self._later.start()

    def _kept_or_dropped(self) -> None:
        if self._dirty:
            self._keeper.touched()
        else:  # it is as it was
            self._keeper.drop(self.path)

    def set_key(self, key: str, value: Any) -> None:
        """Set one of ``FORM_KEYS`` from the form, or one below it (``model.seed``); None removes it. Changes are
        applied in order, each in a thread."""
        first, *below = key.split(".")
        where = (first, *below) if first in _OUTSIDE_METADATA or first in self._flat() else ("metadata", first, *below)
        self._changes.append((where, REMOVE if value is None else value))
        if not self._changing:
            self._changing = True
            self._bridge.spawn(self._apply(), name="change skill text", on_error=self._told)

    def _flat(self) -> set[str]:
        """Keys of metadata that this file has at its top."""
        return {problem.message.split(" ", 1)[0] for problem in self.problems if problem.code == "key.flat"}

    async def _apply(self) -> None:
        number = self._number
        try:
            while self._changes and number == self._number:
                where, value = self._changes[0]
                before = self._text
                text = await self._service.with_key(self.path, self.text, where, value, self.name)
                if number != self._number:
                    return
                if self._text != before:
                    continue  # typed meanwhile: the same change, on the newer text
                self._changes.pop(0)
                if where == ("name",) and isinstance(value, str):
                    self.name = value
                self._replace(text)
        except NotEditable as error:
            self._changes.clear()
            self.form = FormState(self.form.values, self.form.others, error.advice)
            self.checked.emit()
        finally:
            self._changing = False

    def _replace(self, text: str) -> None:
        self._ends = LineEnds(text)
        self._text = self._ends.shown
        self._set_dirty(self._text != self._was)
        self._kept_or_dropped()
        self.replaced.emit(self._text)
        self._later.start()

    # -- checking -----------------------------------------------------------------------------------------------------

    def _check_now(self) -> None:
        if self._file is not None:
            self._bridge.spawn(self._check(self._number, self._text), name="check skill", on_error=self._told)

    async def _check(self, number: int, text: str) -> None:
        found = await self._service.check(self.path, self._ends.restore(text), self.name)
        definition = next((d for d in found.definitions if d.name == self.name), None)
        if definition is None and found.definitions:
            definition = found.definitions[0]
        others = await asyncio.to_thread(_others, definition) if definition is not None else ""
        if number != self._number or text != self._text:
            return
        self.problems, self.definition = found.problems, definition
        if definition is not None:
            self.name = definition.name
        if found.raw is not None:  # as written: what a person types stays, also while it is wrong
            refusal = _refusal(definition) if definition is not None else self.form.refused
            self.form = FormState(written(found.raw), others or self.form.others, refusal)
        elif definition is not None:
            self.form = FormState(values_of(definition), others, _refusal(definition))
        self.checked.emit()

    # -- saving -------------------------------------------------------------------------------------------------------

    def save(self, *, over: bool = False) -> None:
        """Write the file; ``saved``, ``conflict`` or ``failed`` follows."""
        if self._file is not None:
            self._bridge.spawn(self._save(over), name="save skill", on_error=self._told)

    async def _save(self, over: bool) -> None:
        while self._changes or self._changing:
            await asyncio.sleep(0.01)
        file, shown, text = self._file, self._text, self.text
        if file is None:
            return
        self._wrote(file.path)
        try:
            done = await self._service.save(file, text, over=over)
        except EditConflict as error:
            self.conflict.emit(Conflict(file.path, text, error.theirs))
            return
        if self._file is file:
            self._file, self._was = done, shown
            self._ends = LineEnds(done.text)
            self._set_dirty(self._text != shown)
            self._keeper.drop(file.path)
            self._kept_or_dropped()
            self.outside.emit("")
        self.saved.emit()

    def revert(self) -> None:
        """Back to what is on disk, dropping what was not saved."""
        if self._file is not None:
            self._changes.clear()
            self._keeper.drop(self.path)
            self._bridge.spawn(self._revert(self._number, self.path), name="reload skill", on_error=self._told)

    async def _revert(self, number: int, path: str) -> None:
        found = await self._service.open(path)
        if number == self._number:
            self._adopt(found)
            self.outside.emit("")
            self.replaced.emit(self._text)
            self._check_now()

    # -- changes on disk ----------------------------------------------------------------------------------------------

    def look_at_disk(self, paths: Sequence[str] | frozenset[str]) -> None:
        """These files may have changed: if ours is among them and is another one now, take it over, or say so."""
        if self._file is not None and self.path in paths:
            self._bridge.spawn(self._compare(self._number, self.path), name="compare skill file")

    async def _compare(self, number: int, path: str) -> None:
        try:
            found = await self._service.open(path)
        except KnownError:
            if number == self._number:
                self.outside.emit("deleted")
            return
        if number != self._number or self._file is None or found.digest == self._file.digest:
            return
        if self.dirty:
            self.outside.emit("changed")
        else:
            self._adopt(found)
            self.replaced.emit(self._text)
            self._check_now()

    def show_conflict(self) -> None:
        """Lay both texts side by side, as saving would."""
        if self._file is not None:
            self._bridge.spawn(self._both(self._number, self.path), name="compare skill file")

    async def _both(self, number: int, path: str) -> None:
        try:
            theirs: str | None = (await self._service.open(path)).text
        except KnownError:
            theirs = None
        if number == self._number:
            self.conflict.emit(Conflict(path, self.text, theirs))

    def _told(self, error: AssentError) -> None:
        self.failed.emit(error.advice)


def written(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The form's values as the text has them, right or wrong."""
    inner = raw.get("metadata")
    metadata: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
    allowed = raw.get("allowed-tools")
    if isinstance(allowed, list):
        allowed = " ".join(str(one) for one in allowed)
    tags = metadata.get("tags")
    values = {
        "name": raw.get("name", ""),
        "description": raw.get("description", ""),
        "allowed-tools": allowed,
        "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
        "visibility": metadata.get("visibility") or "",
        "category": metadata.get("category") or "",
    }
    return {**values, **{key: metadata.get(key) for key in ("params", "returns", "model")}}


def values_of(definition: SkillDef) -> dict[str, Any]:
    """The values of the form."""
    metadata = definition.metadata
    return {
        "name": definition.name,
        "description": definition.description,
        "allowed-tools": definition.allowed_tools,
        "tags": list(definition.tags),
        "visibility": definition.visibility,
        "category": definition.category,
        "params": metadata.get("params"),
        "returns": metadata.get("returns"),
        "model": metadata.get("model"),
    }


def _refusal(definition: SkillDef) -> str:
    return "" if definition.kind in ("markdown", "folder", "python") else "This kind of file is edited as text."


def _others(definition: SkillDef) -> str:
    """Keys that the form has no field for, as YAML. In a thread."""
    text = ""
    try:
        for key, value in definition.extras.items():
            text = change_key(text, (str(key),), value)
        for key, value in definition.metadata.items():
            if key not in FORM_KEYS:
                text = change_key(text, ("metadata", str(key)), value)
    except (NotEditable, TypeError, ValueError, RecursionError):
        return "Keys that cannot be shown here are under Text."
    return text
