"""Repositories that skills are taken from: which there are, what each brings, what is ticked, what changed in one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError
from desktop.domain.runs.cancellation import CancellationToken
from desktop.presenter.skills.repository_words import TakingPlan, plan_of
from desktop.services.skills.repositories.compare import Item, ItemDetail, SourceView

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.skills.page import SkillsViewModel
    from desktop.services.skills.repositories.service import SkillRepositories

__all__ = ["Item", "ItemDetail", "Repositories", "SourceView"]

Key = tuple[str, str]
UNDO = "repository:"


class Repositories(QObject):
    """``listed`` after the repositories are others, or something is known anew of one; ``opened`` after another one is
    shown, or none; ``picked`` after another of its items is; ``ticked`` after a tick. ``progressed`` while something is
    fetched, ``stopped`` when the person has ended that. ``said`` (sentence, undo token) and ``failed`` as on the list
    of skills."""

    listed = Signal()
    opened = Signal()
    picked = Signal()
    ticked = Signal()
    progressed = Signal()
    added = Signal(str)
    stopped = Signal()
    refused = Signal(str)
    said = Signal(str, str)
    failed = Signal(str)
    read = Signal(object)

    def __init__(self, service: SkillRepositories, bridge: Bridge, skills: SkillsViewModel) -> None:
        super().__init__()
        self._service, self._bridge, self._skills = service, bridge, skills
        self._token: CancellationToken | None = None
        self._loading = False
        self.views: tuple[SourceView, ...] = ()
        self.loaded = False
        self.name = ""
        self.key: Key | None = None
        self.ticks: dict[Key, bool] = {}
        self.progress = ""
        """What is being fetched or read, in words; "" for nothing."""
        self.problem = ""
        """Why the open one could not be looked at the last time, or ""."""

    # -- what there is ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """List them, the first time that the page is shown. No network."""
        if not self.loaded and not self._loading:
            self._loading = True
            self._bridge.spawn(self._load(), name="list repositories", on_error=self._not_listed)

    async def _load(self) -> None:
        try:
            self.views = await self._service.views()
            self.loaded = True
        finally:
            self._loading = False
        self.listed.emit()

    def _not_listed(self, error: AssentError) -> None:
        self.failed.emit(error.advice)

    @property
    def view(self) -> SourceView | None:
        """The one that is shown."""
        return next((one for one in self.views if one.source.name == self.name), None)

    @property
    def item(self) -> Item | None:
        """The item that is shown."""
        view = self.view
        return None if view is None else next((one for one in view.items if one.key == self.key), None)

    @property
    def lock_file(self) -> str:
        """Where the file for a team is."""
        return self._service.lock_file

    def open(self, name: str) -> None:
        """Show one, or none ("")."""
        if name != self.name:
            self.name, self.ticks, self.problem = name, {}, ""
            view = self.view
            self.key = view.items[0].key if view is not None and view.items else None
            self.opened.emit()
            self._look_in()

    def pick(self, key: Key) -> None:
        """Show another item of it."""
        if key != self.key:
            self.key = key
            self.picked.emit()
            self._look_in()

    def _look_in(self) -> None:
        if self.item is not None:
            self._bridge.spawn(self._read(self.name, self.item.key), name="read skill", on_error=self._told)

    async def _read(self, name: str, key: Key) -> None:
        found = await self._service.detail(name, key)
        if (name, key) == (self.name, self.key):
            self.read.emit(found)

    # -- ticks --------------------------------------------------------------------------------------------------------

    def is_ticked(self, item: Item) -> bool:
        """Whether it is taken, or shall be."""
        return self.ticks.get(item.key, item.taken is not None)

    def tick(self, key: Key, on: bool) -> None:
        """Take it along, or not any more, once the button is pressed. What has a problem cannot be taken."""
        view = self.view
        item = next((one for one in view.items if one.key == key), None) if view is not None else None
        if item is None or (on and not item.takeable and item.taken is None):
            return
        self.ticks[key] = on
        if on == (item.taken is not None):
            del self.ticks[key]
        self.ticked.emit()

    def tick_all(self) -> None:
        """All that nothing speaks against: no problem, no name that is taken, no server."""
        view = self.view
        for item in view.items if view is not None else ():
            if item.in_order:
                self.ticks[item.key] = True
        self.ticked.emit()

    @property
    def plan(self) -> TakingPlan:
        """What the button below the list would do."""
        view = self.view
        return plan_of(view.items, self.ticks) if view is not None else TakingPlan()

    # -- doing --------------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._token is not None

    def add(self, address: str) -> None:
        """Add a repository, a folder or an archive; a ``skills.lock`` is taken as it says."""
        if address.strip().endswith(".lock"):
            self._fetch(lambda token: self._from_lock(address.strip(), token), "add repository", self._refused)
        else:
            self._fetch(lambda token: self._add(address, token), "add repository", self._refused)

    async def _add(self, address: str, token: CancellationToken) -> None:
        name = await self._service.add(address, token, self._progress)
        self.views = await self._service.views()
        self.listed.emit()
        self.added.emit(name)
        self.open(name)

    async def _from_lock(self, path: str, token: CancellationToken) -> None:
        words = await self._service.from_lock(path, token, self._progress)
        self.views = await self._service.views()
        self._skills.wrote(*(path for view in self.views for path in view.paths))
        self.listed.emit()
        self.added.emit("")
        self.said.emit(" ".join(words) or "The file names nothing that could be taken.", "")
        await self._skills.renew()

    def look(self) -> None:
        """Look for changes of the open one: over the network, where it lies there."""
        name = self.name
        if name:
            self._fetch(lambda token: self._look(name, token), "look for changes", self._not_looked)

    async def _look(self, name: str, token: CancellationToken) -> None:
        await self._service.look(name, token, self._progress)
        if name == self.name:
            self.problem = ""
        await self._renew(name)
        view = next((one for one in self.views if one.source.name == name), None)
        if view is not None:
            words = f"{view.changed} changed" if view.changed else "nothing changed"
            self.said.emit(f"{name}: {words}", "")

    def _fetch(
        self, work: Callable[[CancellationToken], Coroutine[Any, Any, None]], name: str, wrong: Callable[[Any], None]
    ) -> None:
        if self.busy:
            return
        self._token = token = CancellationToken()
        self.progress = "beginning"
        self.progressed.emit()
        self._bridge.spawn(self._watched(work(token), token), name=name, on_error=wrong)

    async def _watched(self, work: Coroutine[Any, Any, None], token: CancellationToken) -> None:
        try:
            await work
        except AssentError:
            if not token.cancelled:
                raise
            self.stopped.emit()
        finally:
            self._token, self.progress = None, ""
            self.progressed.emit()

    def _progress(self, words: str) -> None:
        """Said from any thread of the service's, and from the loop."""
        if words != self.progress and self.busy:
            self.progress = words
            self.progressed.emit()

    def cancel(self) -> None:
        """Stop what is under way; what was known before stays."""
        if self._token is not None:
            self._token.cancel("cancelled by the person")

    def _refused(self, error: AssentError) -> None:
        self.refused.emit(error.advice)

    def _not_looked(self, error: AssentError) -> None:
        self.problem = error.advice
        self.listed.emit()

    async def _renew(self, name: str) -> None:
        fresh = await self._service.view(name)
        self.views = tuple(fresh if one.source.name == name else one for one in self.views)
        self._show_again()

    def _show_again(self) -> None:
        if self.view is not None and self.item is None:
            self.key = self.view.items[0].key if self.view.items else None
        self.listed.emit()
        self.opened.emit()
        self._look_in()

    def take_planned(self) -> None:
        """Do what is ticked; without a tick, take what changed in its words alone."""
        plan = self.plan
        if plan.words:
            self._do(self._take(self.name, plan.take, plan.drop, plan.done), "take skills")

    def take(self) -> None:
        """Take the shown item as it is now."""
        item = self.item
        if item is not None and item.takeable:
            self._do(self._take(self.name, (item.key,), (), f"{item.name} taken"), "take skill")

    def drop(self) -> None:
        """Have the shown item no longer."""
        item = self.item
        if item is not None and item.taken is not None:
            self._do(self._take(self.name, (), (item.key,), f"{item.name} taken out"), "take skill out")

    def _take(self, name: str, take: tuple[Key, ...], drop: tuple[Key, ...], done: str) -> Coroutine[Any, Any, None]:
        """``take`` as they are shown at this moment."""
        view = self.view
        return self._taken(name, view.seen(take) if view is not None else {}, drop, done)

    async def _taken(self, name: str, take: Mapping[Key, str], drop: tuple[Key, ...], done: str) -> None:
        view = await self._service.take(name, take, drop)
        self._skills.wrote(*view.paths)
        self.ticks = {}
        await self._renew(name)
        await self._skills.renew()
        self.said.emit(done, UNDO + name)

    def keep(self) -> None:
        """Keep what was taken of the shown item: it no longer counts as changed."""
        item = self.item
        if item is not None and item.changed:
            self._do(self._keep(self.name, item.key), "keep skill")

    async def _keep(self, name: str, key: Key) -> None:
        await self._service.keep(name, key)
        await self._renew(name)

    def undo(self, token: str) -> None:
        """Back to what was taken before; other tokens are for others."""
        if token.startswith(UNDO):
            self._do(self._undo(token.removeprefix(UNDO)), "undo taking")

    def put_back(self) -> None:
        """Of the open one, what was taken before the last change; once more brings that change back."""
        if self.name:
            self._do(self._undo(self.name), "undo taking")

    async def _undo(self, name: str) -> None:
        view = await self._service.undo(name)
        self._skills.wrote(*view.paths)
        await self._renew(name)
        await self._skills.renew()
        self.said.emit(f"{name} is as it was before", UNDO + name)

    def remove(self) -> None:
        """The open repository goes, with what was taken of it."""
        if self.name:
            self._do(self._remove(self.name), "remove repository")

    async def _remove(self, name: str) -> None:
        await self._service.remove(name)
        self.views = tuple(one for one in self.views if one.source.name != name)
        self.open("")
        self.listed.emit()
        await self._skills.renew()
        self.said.emit(f"{name} removed", "")

    def _do(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._bridge.spawn(work, name=name, on_error=self._told)

    def _told(self, error: AssentError) -> None:
        self.failed.emit(error.advice)
