"""The Skills page: what there is, filtered by the functions that ``skill-list`` uses (R-VIS-7); one skill in detail;
and the ways to make, rename, delete and accept one.

The catalogue is memory and is asked on the loop; it is made anew in a thread whenever a file changed. Everything that
reads or writes files is a task of the bridge; what fails is a sentence in ``failed``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.conversation.skill_desk import MayCall, SkillDesk, SkillDetail
from desktop.domain.errors import AssentError, NotFound
from desktop.domain.skills import SkillKind, SkillProblem, SkillSource
from desktop.presenter.skills_list import Key, SkillListModel
from desktop.presenter.skills_words import KINDS
from desktop.skills.resolution.fabric import SkillChanges
from desktop.skills.resolution.pins import Difference
from desktop.skills.resolution.rows import SkillRow
from desktop.skills.resolution.search import FacetCounts, SkillCatalog, SkillFilter, Visibility

if TYPE_CHECKING:
    from desktop.presenter.bridge import Bridge
    from desktop.skills.editing.files import Deleted

__all__ = ["Chosen", "Difference", "FacetCounts", "MayCall", "SkillDetail", "SkillsViewModel", "words_of"]

REMEMBERED_DELETIONS = 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the facets say. ``source`` and ``kind`` "" mean everywhere and any; ``look``: "" | problems | off."""

    query: str = ""
    tags: tuple[str, ...] = ()
    visibility: Visibility = "shown"
    source: str = ""
    kind: str = ""
    look: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether anything but the visibility is chosen."""
        return bool(self.query.strip() or self.tags or self.source or self.kind or self.look)

    def filter(self) -> SkillFilter:
        """As the catalogue takes it."""
        kinds = next((kinds for name, _, _, kinds in KINDS if name == self.kind), frozenset())
        sources: frozenset[SkillSource] = frozenset({self.source} if self.source else ())  # type: ignore[arg-type]
        only: frozenset[SkillKind] = kinds  # type: ignore[assignment]
        return SkillFilter(
            self.query, self.tags, self.visibility, sources, only, problems_only=self.look == "problems"
        )


class SkillsViewModel(QObject):
    """``listed`` after other rows are in ``model``; ``counted`` after ``counts`` fit them, at most a frame later.
    ``shown`` after another ``detail``; ``touched`` gives the paths of files that changed on disk."""

    listed = Signal()
    counted = Signal()
    shown = Signal()
    touched = Signal(object)
    said = Signal(str, str)
    failed = Signal(str)
    difference_found = Signal(object)

    def __init__(
        self, desk: SkillDesk, bridge: Bridge, parent: QObject | None = None,
        *, loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.desk = desk
        self._bridge = bridge
        self._loop = loop or asyncio.get_running_loop()
        self.model = SkillListModel(self)
        self.catalog = SkillCatalog()
        self.chosen = Chosen()
        self.counts = FacetCounts(0)
        self.loaded = False
        self.key: Key | None = None
        self.detail: SkillDetail | None = None
        self.difference: Difference | None = None
        self._off: frozenset[int] = frozenset()
        self._changed: set[str] = set()
        self._own: set[str] = set()
        self._deleted: dict[str, Deleted] = {}
        self._waiting: SkillChanges | None = None
        self._loading = False
        self._count_later = QTimer(self, singleShot=True, interval=0)
        self._count_later.timeout.connect(self._count)
        self._end = desk.on_change(self._heard)
        self.destroyed.connect(self._end)

    # -- the list -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Show what is known, then follow changes. The first time the page is shown."""
        if not self.loaded and not self._loading:
            self._reload()

    def choose(self, **changes: Any) -> None:
        """Another filter: ``query``, ``tags``, ``visibility``, ``source``, ``kind``, ``look``."""
        wanted = replace(self.chosen, **changes)
        if wanted != self.chosen:
            self.chosen = wanted
            self._list()

    def toggle_tag(self, tag: str) -> None:
        """A tag that all rows must have, or no longer."""
        tags = self.chosen.tags
        self.choose(tags=tuple(t for t in tags if t != tag) if tag in tags else (*tags, tag))

    def clear(self) -> None:
        """Everything that is shown."""
        self.choose(query="", tags=(), source="", kind="", look="")

    def _list(self) -> None:
        rows = self.catalog.filter(self.chosen.filter())
        if self.chosen.look == "off":
            rows = [row for row in rows if row in self._off]
        self.model.show(self.catalog, rows, self._changed)
        self.listed.emit()
        self._count_later.start()

    def _count(self) -> None:
        self.counts = self.catalog.counts(self.chosen.filter())
        self.counted.emit()

    @property
    def off_count(self) -> int:
        """How many skills are off until the person has looked: changed, or of a project that is not trusted."""
        return len(self._off)

    def folder_problems(self) -> list[SkillProblem]:
        """What is wrong with whole folders."""
        return self.catalog.folder_problems()

    # -- changes on disk ----------------------------------------------------------------------------------------------

    def _heard(self, changes: SkillChanges) -> None:
        """From any thread."""
        try:
            self._loop.call_soon_threadsafe(self._take, changes)
        except RuntimeError:  # the loop is closed: there is no page any more to tell
            return

    def _take(self, changes: SkillChanges) -> None:
        mine = self._own & changes.files
        self._changed |= changes.files - mine if self.loaded else set()
        self._own -= mine
        self._waiting = changes if self._waiting is None else self._waiting | changes
        if self.loaded and not self._loading:
            self._reload()

    def _reload(self) -> None:
        self._loading = True
        self._bridge.spawn(self._load(), name="list skills")

    async def _load(self) -> None:
        try:
            while True:
                changes, self._waiting = self._waiting, None
                self.catalog, self._off = await asyncio.to_thread(_catalogue, self.desk)
                self.loaded = True
                self._list()
                await asyncio.to_thread(self.catalog.warm)
                if changes is not None:
                    self._after(changes)
                elif self.detail is not None and self.key is not None and self.catalog.find(self.key) is None:
                    self.look_again()
                if self._waiting is None:
                    return
        finally:
            self._loading = False

    def _after(self, changes: SkillChanges) -> None:
        self.touched.emit(changes.files)
        if self.key is not None and (self.key[0] in changes.files or self.key[1] in changes.names):
            self.look_again()

    def wrote(self, *paths: str) -> None:
        """These files are written by the page itself: no badge says that they changed on disk."""
        self._own.update(paths)
        self._changed.difference_update(paths)

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
            self._bridge.spawn(self._look(self.key), name="read skill", on_error=self._told)

    async def _look(self, key: Key) -> None:
        try:
            detail = await self.desk.detail(key)
        except NotFound:
            if key == self.key:
                self.detail = None
                self.shown.emit()
            return
        if key == self.key:
            self.detail = detail
            self.shown.emit()
        if await asyncio.to_thread(self.desk.catalog) is not self.catalog:  # looking at it showed that it has changed
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
        self._do(self._made(self.desk.create(name, kind), name), "create skill")

    def duplicate(self, name: str) -> None:
        """A copy of the open skill among one's own."""
        if self.key is not None:
            self._do(self._made(self.desk.duplicate(self.key[0], name), name), "duplicate skill")

    def rename(self, name: str) -> None:
        """Another name for the open skill."""
        if self.key is not None:
            self._do(self._made(self.desk.rename(self.key[0], name), name), "rename skill")

    async def _made(self, work: Coroutine[Any, Any, str], name: str) -> None:
        path = await work
        self.wrote(path)
        await self._show_new((path, name))

    async def _show_new(self, key: Key) -> None:
        """The list with it in, widened if the filter would leave it out, and its page."""
        await self._renew()
        if self.catalog.find(key) is None:  # its file says another name
            key = next((row.key for row in map(self.catalog.row, range(len(self.catalog))) if row.path == key[0]), key)
        if self.model.place(key) < 0:
            self.chosen = Chosen(visibility="all" if (row := self._row_at(key)) is not None and row.hidden else "shown")
            self._list()
        self.key = None
        self.select(key)

    async def _renew(self) -> None:
        """The list as it is now, at once."""
        self.catalog, self._off = await asyncio.to_thread(_catalogue, self.desk)
        self._list()

    def _row_at(self, key: Key) -> SkillRow | None:
        number = self.catalog.find(key)
        return None if number is None else self.catalog.row(number)

    def delete(self) -> None:
        """Put the open skill aside; ``said`` offers to undo it."""
        if self.key is not None:
            self._do(self._delete(self.key), "delete skill")

    async def _delete(self, key: Key) -> None:
        deleted = await self.desk.delete(*key)
        self._deleted[deleted.token] = deleted
        while len(self._deleted) > REMEMBERED_DELETIONS:
            del self._deleted[next(iter(self._deleted))]
        if self.key == key:
            self.select(None)
        await self._renew()
        self.said.emit(f"{key[1]} deleted", deleted.token)

    def undo_delete(self, token: str) -> None:
        """Bring back what was deleted."""
        deleted = self._deleted.get(token)
        if deleted is not None:
            self._do(self._undo(deleted), "undo delete")

    async def _undo(self, deleted: Deleted) -> None:
        path = await self.desk.undo(deleted)
        self._deleted.pop(deleted.token, None)
        self.wrote(path)
        await self._show_new((path, deleted.name))

    def _reload_if_idle(self) -> None:
        if not self._loading:
            self._reload()

    # -- pins ---------------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Find what changed in the open skill since it was seen."""
        if self.key is not None:
            self._do(self._compare(self.key), "compare skill")

    async def _compare(self, key: Key) -> None:
        found = await self.desk.difference(key[0])
        if key == self.key:
            self.difference = found
            self.difference_found.emit(found)

    def accept(self) -> None:
        """The person has seen exactly the difference that is shown."""
        if self.difference is not None:
            self._do(self._accept(self.difference), "accept skill")

    async def _accept(self, seen: Difference) -> None:
        await self.desk.accept(seen.path, seen.digest)
        self.difference = None
        self._changed.discard(seen.path)
        await self._renew()
        self.look_again()
        self.said.emit("Seen. The skill is on again.", "")

    # -- inside -------------------------------------------------------------------------------------------------------

    def _do(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._told)

    def _told(self, error: AssentError) -> None:
        self.failed.emit(words_of(error))

    @property
    def end(self) -> Callable[[], None]:
        """Stop hearing of changes."""
        return self._end


def words_of(error: AssentError) -> str:
    """An error as one or two sentences, with its next step."""
    return f"{error} {getattr(error, 'next_step', '')}".strip()


def _catalogue(desk: SkillDesk) -> tuple[SkillCatalog, frozenset[int]]:
    """In a thread: everything, and the rows that are off until the person has looked. Only folders from elsewhere can
    hold such, so the others are not gone through."""
    catalog = desk.catalog()
    elsewhere = catalog.filter(SkillFilter(visibility="all", sources=frozenset({"project", "shared"})))
    return catalog, frozenset(row for row in elsewhere if catalog.row(row).state in ("changed", "untrusted"))
