"""The reach explorer: a tree that is read and judged as it is looked at, and proofs (R-FS-11)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.approval.reach import ANY_AGENT, HostRow, LastProof, Proof
from desktop.domain.errors import AssentError
from desktop.presenter.common.folders import name_of
from desktop.presenter.settings.reach_tree import Folder, ReachTree, RowPlace

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.reach.service import ReachService

AT_ONCE = 24
"""Rows judged together: about a screen."""
SHOWN_AT_FIRST = 6
"""Allowed folders whose places are opened when the tree is first shown."""


async def _none() -> Sequence[str]:
    """Where no chat works in a folder."""
    return ()


class ReachViewModel(QObject):
    """``changed`` when a proof or the problem is another, ``revealed(row)`` when a path was found in the tree,
    ``offered(row)`` when that is only where one could begin,
    ``told(sentence)`` for what went wrong once."""

    changed = Signal()
    revealed = Signal(int)
    offered = Signal(int)
    hosts_changed = Signal()
    told = Signal(str)

    def __init__(
        self, service: ReachService, bridge: Bridge, recent: Callable[[], Awaitable[Sequence[str]]] = _none
    ) -> None:
        super().__init__()
        self._recent = recent
        self.projects: Sequence[str] = ()
        """Folders that chats work in."""
        self.project = ""
        self._service = service
        self._bridge = bridge
        self.tree = ReachTree()
        self.hosts: tuple[HostRow, ...] = ()
        """The hosts of the web, once somebody has looked at them."""
        self._hosts_shown = False
        self.agent = ANY_AGENT
        self.problem = ""
        self.proof: Proof | None = None
        self.last: LastProof | None = None
        self.proving = ""
        self._begun = False
        self._moment = 0
        self._seen = (0, -1)
        self._asking = False
        self._reading: dict[Folder, asyncio.Future[None]] = {}

    def agents(self) -> list[tuple[str, str]]:
        """(title, name), anybody first."""
        return [("any agent", ANY_AGENT), *((title, name) for name, title in self._service.agents())]

    def begin(self) -> None:
        """Read the tree for the first time; later calls do nothing."""
        if self._begun:
            return
        self._begun = True
        self._service.on_change(self._lists_changed)
        self._bridge.spawn(self._first(), name="look at what can be reached", on_error=self._failed)

    async def _first(self) -> None:
        """The allowed folders first, the first of them open; those in others are opened to, the first one last."""
        self.projects = await self._recent()
        await self._begin_with(await asyncio.to_thread(self._service.roots))
        first = self.tree.root.names[0] if self.tree.root.names else ""
        found = await asyncio.to_thread(self._service.landmarks)
        within = [path for path in found if path.startswith(first.rstrip(os.sep) + os.sep)][:SHOWN_AT_FIRST]
        for path in reversed(within):
            await self._find(path, quietly=True)
        self.last = await self._service.last_proof()
        self.changed.emit()

    async def _begin_with(self, roots: tuple[str, ...]) -> None:
        self.tree.set_roots(roots)
        if roots:
            await self._open(RowPlace(self.tree.root, 0))

    def _lists_changed(self) -> None:
        """Read anew where the tree begins, because the lists changed."""
        self._outdated()
        self._bridge.spawn(self._roots_again(), name="look where the tree begins", on_error=self._failed)

    async def _roots_again(self) -> None:
        roots = await asyncio.to_thread(self._service.roots)
        if roots != tuple(self.tree.root.names):
            await self._begin_with(roots)
            self._ask()

    # -- the tree -----------------------------------------------------------------------------------------------------

    def set_agent(self, name: str) -> None:
        """Choose the agent whose reach is shown."""
        if name != self.agent:
            self.agent = name
            self._outdated()

    def folders(self) -> list[tuple[str, str]]:
        """(name, path) of the folders that chats work in, none first."""
        return [("no project", ""), *((name_of(path), path) for path in self.projects)]

    def set_project(self, path: str) -> None:
        """Show what is reached from a chat that works in this folder; "": from one that works in none."""
        if path != self.project:
            self.project = path
            self._service.work_in(path)
            self._lists_changed()

    def open(self, row: int) -> None:
        """Open a folder of the tree."""
        self._bridge.spawn(self._open(self.tree.place(row)), name="read a folder", on_error=self._failed)

    def close(self, row: int) -> None:
        """Close a folder of the tree."""
        self.tree.close(self.tree.place(row))

    def again(self, row: int) -> None:
        """Read a folder anew, or the one that holds a file."""
        place = self.tree.place(row)
        folder = place.folder.opened.get(place.at)
        if folder is None:
            folder = place.folder
        if folder is not self.tree.root:
            self._read(folder)
        self._outdated()

    def look(self, first: int, last: int) -> None:
        """Judge the rows that are now in sight."""
        self._seen = (first, last)
        self._ask()

    def reveal(self, path: str) -> None:
        """Find a path in the tree; what lies on the way opens."""
        self._bridge.spawn(self._find(path), name="find a path in the tree", on_error=self._failed)

    async def _find(self, path: str, *, quietly: bool = False) -> None:
        roots = self.tree.root.names
        inside = [at for at, root in enumerate(roots) if (path + os.sep).startswith(root.rstrip(os.sep) + os.sep)]
        if not inside:
            return
        at = max(inside, key=lambda found: len(roots[found]))
        folder = self.tree.root
        for name in path[len(roots[at]) :].split(os.sep):
            if not name:
                continue
            opened = await self._open(RowPlace(folder, at))
            child = self.tree.child(opened, name) if opened is not None else -1
            if opened is None or child < 0:
                if not quietly:
                    self.told.emit(f"{path} is not there now.")
                return
            folder, at = opened, child
        if self.tree.holds(folder):
            (self.offered if quietly else self.revealed).emit(self.tree.row_of(RowPlace(folder, at)))

    async def _open(self, place: RowPlace) -> Folder | None:
        """An open folder whose content is read; None where there is nothing to open any more."""
        if not self.tree.holds(place.folder) or place.at >= len(place.folder.names):
            return None
        made = self.tree.open(place)
        if made is not None:
            self._read(made)
        folder = place.folder.opened.get(place.at)
        if folder is not None and (reading := self._reading.get(folder)) is not None:
            await asyncio.shield(reading)
        return folder

    def _read(self, folder: Folder) -> None:
        async def work() -> None:
            level = await self._service.level(folder.path)
            self._reading.pop(folder, None)
            self.tree.fill(folder, level)

        self._reading[folder] = self._bridge.spawn(work(), name="read a folder's names", on_error=self._failed)

    # -- hosts --------------------------------------------------------------------------------------------------------

    def look_at_hosts(self) -> None:
        """Read and judge the hosts, and again whenever rules, lists or the choice above change."""
        self._hosts_shown = True
        self._bridge.spawn(self._look_at_hosts(), name="look which hosts can be reached", on_error=self._not_judged)

    def leave_hosts(self) -> None:
        """They are out of sight: what changes is read when they are looked at again."""
        self._hosts_shown = False

    async def _look_at_hosts(self) -> None:
        moment = self._moment
        found = await self._service.hosts(self.agent)
        if moment == self._moment and found != self.hosts:
            self.hosts = found
            self.hosts_changed.emit()

    # -- judging ------------------------------------------------------------------------------------------------------

    def _outdated(self) -> None:
        self._moment += 1
        if self._hosts_shown:
            self.look_at_hosts()
        if self.problem:
            self.problem = ""
            self.changed.emit()
        self.tree.outdate()
        self._ask()

    def _ask(self) -> None:
        """Ask about rows in sight, a screen at a time."""
        places = [] if self._asking or self.problem else self.tree.wanted(*self._seen)[:AT_ONCE]
        if places:
            self._asking = True
            self._bridge.spawn(self._judge(places), name="judge what is in sight", on_error=self._not_judged)

    async def _judge(self, places: list[RowPlace]) -> None:
        moment = self._moment
        try:
            rows = await self._service.judge(self.agent, [place.folder.path_of(place.at) for place in places])
        finally:
            self._asking = False
        if moment == self._moment:
            self.tree.judged([(place.folder, place.at, row) for place, row in zip(places, rows, strict=True)])
        self._ask()

    def _not_judged(self, error: AssentError) -> None:
        self.problem = error.advice
        self.changed.emit()

    def _failed(self, error: AssentError) -> None:
        self.told.emit(error.advice)

    # -- proving ------------------------------------------------------------------------------------------------------

    def prove(self, path: str) -> None:
        """Prove what can be reached at a path by trying it. One proof at a time."""
        if self.proving or not path:
            return
        self.proving = path
        self.changed.emit()
        self._bridge.spawn(self._prove(path), name="prove what can be reached", on_error=self._failed)

    async def _prove(self, path: str) -> None:
        try:
            proof = await self._service.prove(self.agent, path)
            self.proof, self.last = proof, LastProof(proof.path, proof.at, proof.summary)
        finally:
            self.proving = ""
            self.changed.emit()


def host_words(row: HostRow) -> str:
    """What becomes of a call to a host, in a few words."""
    does = "searches" if row.searches else "reads"
    if row.reached.what == "passes":
        return f"{does} by a rule"
    if row.reached.what == "asks":
        return f"{does} ask you"
    return {"tools": "no tool for it", "rule": "denied by a rule"}.get(row.reached.because, "never")
