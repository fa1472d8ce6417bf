"""The Skills page: its list, one skill in detail, and the ways to make, rename, delete and accept one.

Everything that reads or writes files is a task of the bridge; what fails is a sentence in ``failed``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from desktop.domain.errors import AssentError, NotFound
from desktop.presenter.skills.listing import Chosen, FacetCounts, SkillListing
from desktop.presenter.skills.rows import Key
from desktop.presenter.skills.words import EVERYTHING, YOURS
from desktop.services.skills.editing import MayCall, SkillDetail, SkillService
from desktop.skills.catalogue.pins import Difference
from desktop.skills.catalogue.rows import SkillRow
from desktop.skills.resolution.fabric import SkillChanges

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.skills.editing.files import Deleted

__all__ = ["Chosen", "Difference", "FacetCounts", "MayCall", "SkillDetail", "SkillsViewModel"]

REMEMBERED_DELETIONS = 20


class SkillsViewModel(SkillListing):
    """``shown`` after another ``detail``; ``said`` (sentence, undo token) after something was done."""

    shown = Signal()
    came = Signal()
    """A skill that was made, brought in or brought back is the chosen one."""
    said = Signal(str, str)
    failed = Signal(str)
    difference_found = Signal(object)

    def __init__(self, service: SkillService, bridge: Bridge, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(service, bridge, loop=loop)
        self.key: Key | None = None
        self.detail: SkillDetail | None = None
        self.difference: Difference | None = None
        self._deleted: dict[str, Deleted] = {}

    def _after(self, changes: SkillChanges) -> None:
        super()._after(changes)
        if self.key is not None and (self.key[0] in changes.files or self.key[1] in changes.names):
            self.look_again()

    def _listed_again(self) -> None:
        if self.detail is not None and self.key is not None and self.catalog.find(self.key) is None:
            self.look_again()

    # -- one skill ----------------------------------------------------------------------------------------------------

    def select(self, key: Key | None) -> None:
        """Show one skill, or none."""
        if key == self.key:
            return
        self.key, self.detail, self.difference = key, None, None
        if key is None:
            self.shown.emit()
            return
        self._changed.discard(key[0])
        self.look_again()

    def look_again(self) -> None:
        """Read the open skill anew."""
        if self.key is not None:
            self._bridge.spawn(self._look(self.key), name="read skill", on_error=self.tell)

    async def _look(self, key: Key) -> None:
        try:
            detail = await self.service.detail(key)
        except NotFound:
            if key == self.key:
                self.detail = None
                self.shown.emit()
            return
        if key == self.key:
            self.detail = detail
            self.shown.emit()
        if (
            await asyncio.to_thread(self.service.catalog) is not self.catalog
        ):  # looking at it showed that it has changed
            self._reload_if_idle()

    @property
    def row(self) -> SkillRow | None:
        """The open skill's line, also where the filter leaves it out."""
        number = self.catalog.find(self.key) if self.key is not None else None
        return None if number is None else self.catalog.row(number)

    def row_of(self, path: str) -> SkillRow | None:
        """A line of the open skill's name at another path: what it shadows, or what shadows it."""
        number = self.catalog.find((path, self.key[1])) if self.key is not None else None
        return None if number is None else self.catalog.row(number)

    # -- making, renaming, deleting -----------------------------------------------------------------------------------

    def create(self, name: str, kind: str) -> None:
        """A new skill of one's own, shown when it is there."""
        self._do(self._made(self.service.create(name, kind), name), "create skill")

    def duplicate(self, name: str) -> None:
        """A copy of the open skill among one's own."""
        if self.key is not None:
            self._do(self._made(self.service.duplicate(self.key[0], name), name), "duplicate skill")

    def rename(self, name: str) -> None:
        """Rename the open skill."""
        if self.key is not None:
            self._do(self._made(self.service.rename(self.key[0], name), name), "rename skill")

    async def _made(self, work: Coroutine[Any, Any, str], name: str) -> None:
        path = await work
        self.wrote(path)
        await self.show_new((path, name))

    async def show_new(self, key: Key) -> None:
        """The list with it in, widened if the filter would leave it out, and its page."""
        await self.renew()
        if self.catalog.find(key) is None:  # its file says another name
            key = next((row.key for row in map(self.catalog.row, range(len(self.catalog))) if row.path == key[0]), key)
        if self.model.place(key) < 0:
            row = self._row_at(key)
            source = EVERYTHING if row is not None and row.source not in YOURS else ""
            self.chosen = Chosen(source=source, visibility="all" if row is not None and row.hidden else "shown")
            self._list()
        self.key = None
        self.select(key)
        self.came.emit()

    def _row_at(self, key: Key) -> SkillRow | None:
        number = self.catalog.find(key)
        return None if number is None else self.catalog.row(number)

    def delete(self) -> None:
        """Put the open skill aside; ``said`` offers to undo it."""
        if self.key is not None:
            self._do(self._delete(self.key), "delete skill")

    async def _delete(self, key: Key) -> None:
        deleted = await self.service.delete(*key)
        self._deleted[deleted.token] = deleted
        while len(self._deleted) > REMEMBERED_DELETIONS:
            del self._deleted[next(iter(self._deleted))]
        if self.key == key:
            self.select(None)
        await self.renew()
        self.said.emit(f"{key[1]} deleted", deleted.token)

    def undo_delete(self, token: str) -> None:
        """Bring back what was deleted."""
        deleted = self._deleted.get(token)
        if deleted is not None:
            self._do(self._undo(deleted), "undo delete")

    async def _undo(self, deleted: Deleted) -> None:
        path = await self.service.undo(deleted)
        self._deleted.pop(deleted.token, None)
        self.wrote(path)
        await self.show_new((path, deleted.name))

    # -- pins ---------------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Find what changed in the open skill since it was seen."""
        if self.key is not None:
            self._do(self._compare(self.key), "compare skill")

    async def _compare(self, key: Key) -> None:
        found = await self.service.difference(key[0])
        if key == self.key:
            self.difference = found
            self.difference_found.emit(found)

    def accept(self) -> None:
        """The person has seen exactly the difference that is shown."""
        if self.difference is not None:
            self._do(self._accept(self.difference), "accept skill")

    async def _accept(self, seen: Difference) -> None:
        await self.service.accept(seen.path, seen.digest)
        self.difference = None
        self._changed.discard(seen.path)
        await self.renew()
        self.look_again()
        self.said.emit("The skill is on again.", "")

    # -- inside -------------------------------------------------------------------------------------------------------

    def _do(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self.tell)

    def tell(self, error: AssentError) -> None:
        """Tell the page that what the person asked for failed, and what to do."""
        self.failed.emit(error.advice)
