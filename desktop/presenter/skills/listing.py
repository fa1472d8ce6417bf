"""The list of the Skills page: what there is, filtered by the functions that ``skill-list`` uses (R-VIS-7).

The catalogue is memory and is asked on the loop; it is made anew in a thread whenever a file changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillKind, SkillProblem, SkillSource
from desktop.presenter.skills.rows import SkillListModel
from desktop.presenter.skills.words import EVERYTHING, KINDS, YOURS
from desktop.skills.catalogue.search import FacetCounts, SkillCatalog, SkillFilter, Visibility
from desktop.skills.resolution.fabric import SkillChanges

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.skills.editing import SkillService

__all__ = ["Chosen", "FacetCounts", "SkillListing"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the facets say. ``source`` "" means what is a person's, "all" everywhere; ``kind`` "" any; ``look``: "" |
    problems | off."""

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
        """The chosen filters, as the catalogue takes them."""
        kinds = next((kinds for name, _, _, kinds in KINDS if name == self.kind), frozenset())
        one: frozenset[SkillSource] = frozenset({self.source})  # type: ignore[arg-type]
        sources = {"": YOURS, EVERYTHING: frozenset[SkillSource]()}.get(self.source, one)
        only: frozenset[SkillKind] = kinds  # type: ignore[assignment]
        return SkillFilter(self.query, self.tags, self.visibility, sources, only, problems_only=self.look == "problems")


class SkillListing(QObject):
    """``listed`` after other rows are in ``model``; ``counted`` after ``counts`` fit them, at most a frame later.
    ``touched`` gives the paths of files that changed on disk."""

    listed = Signal()
    counted = Signal()
    touched = Signal(object)

    def __init__(self, service: SkillService, bridge: Bridge, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__()
        self.service = service
        self._bridge = bridge
        self._loop = loop or asyncio.get_running_loop()
        self.model = SkillListModel(self)
        self.catalog = SkillCatalog()
        self.chosen = Chosen()
        self.counts = FacetCounts(0)
        self.loaded = False
        self._off: frozenset[int] = frozenset()
        self._changed: set[str] = set()
        self._own: set[str] = set()
        self._waiting: SkillChanges | None = None
        self._loading = False
        self._count_later = QTimer(self, singleShot=True, interval=0)
        self._count_later.timeout.connect(self._count)
        self._end = service.on_change(self._heard)
        self.destroyed.connect(self._end)

    # -- the list -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Show what is known, then follow changes. The first time the page is shown."""
        if not self.loaded and not self._loading:
            self._reload()

    def choose(self, **changes: Any) -> None:
        """Change the filter: ``query``, ``tags``, ``visibility``, ``source``, ``kind``, ``look``."""
        wanted = replace(self.chosen, **changes)
        if wanted != self.chosen:
            self.chosen = wanted
            self._list()

    def toggle_tag(self, tag: str) -> None:
        """Filter by a tag that all rows must have, or no longer."""
        tags = self.chosen.tags
        self.choose(tags=tuple(t for t in tags if t != tag) if tag in tags else (*tags, tag))

    def clear(self, source: str = "") -> None:
        """All that is shown of a source, or of what is a person's."""
        self.choose(query="", tags=(), source=source, kind="", look="")

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
    def totals(self) -> tuple[int, int]:
        """How many skills there are, as far as hidden ones are shown now, and how many more are hidden."""
        of_these = len(self.catalog.filter(SkillFilter(visibility=self.chosen.visibility)))
        return of_these, len(self.catalog) - of_these if self.chosen.visibility == "shown" else 0

    @property
    def off_count(self) -> int:
        """How many skills are off until the person has looked: changed, or of a project that is not trusted."""
        return len(self._off)

    def folder_problems(self) -> list[SkillProblem]:
        """What is wrong with whole folders."""
        return self.catalog.folder_problems()

    # -- changes on disk ----------------------------------------------------------------------------------------------

    def _heard(self, changes: SkillChanges) -> None:
        """The catalogue has changed; may be called from any thread."""
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
                self.catalog, self._off = await asyncio.to_thread(_catalogue, self.service)
                self.loaded = True
                self._list()
                await asyncio.to_thread(self.catalog.warm)
                if changes is not None:
                    self._after(changes)
                else:
                    self._listed_again()
                if self._waiting is None:
                    return
        finally:
            self._loading = False

    def _after(self, changes: SkillChanges) -> None:
        """Tell which files changed, now that the list is up to date."""
        self.touched.emit(changes.files)

    def _listed_again(self) -> None:
        """The list is of now, and nobody said what changed."""

    def wrote(self, *paths: str) -> None:
        """These files are written by the page itself: no badge says that they changed on disk."""
        self._own.update(paths)
        self._changed.difference_update(paths)

    def _reload_if_idle(self) -> None:
        if not self._loading:
            self._reload()

    async def renew(self) -> None:
        """The list as it is now, at once."""
        self.catalog, self._off = await asyncio.to_thread(_catalogue, self.service)
        self._list()

    @property
    def end(self) -> Callable[[], None]:
        """Stop hearing of changes."""
        return self._end


def _catalogue(service: SkillService) -> tuple[SkillCatalog, frozenset[int]]:
    """The catalogue, and the rows that are off until the person has looked at them; called in a thread. Only folders
    from elsewhere can hold such, so the others are not gone through."""
    catalog = service.catalog()
    elsewhere = catalog.filter(SkillFilter(visibility="all", sources=frozenset({"project", "shared"})))
    return catalog, frozenset(row for row in elsewhere if catalog.row(row).state in ("changed", "untrusted"))
