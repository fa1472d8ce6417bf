"""Skills that a person imports: staged, looked at, kept in a folder of theirs under a free name, and undone.

Importing reads and copies files. It runs nothing that is in them (S-SK-3).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from desktop.domain.approval.judgement import Category
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillSource
from desktop.pipeline.skill_tool import category_of
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.editing.files import CannotSave, Deleted, SkillFiles
from desktop.skills.editing.replacement import Replacement, UndoneImport
from desktop.skills.importing.staging import Candidate, Staged, Staging
from desktop.skills.names import numbered

Collision = Literal["both", "replace"]
"""What to do where a skill of this name is there already."""


@dataclass(frozen=True, slots=True)
class Target:
    """A folder that an import can go to: ``project`` is "" for the person's own skills."""

    root: str
    source: SkillSource
    project: str = ""
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Fits:
    """How a skill of an import would stand in a folder.

    ``category`` is what its calls would be there, None for a file that holds no skill. ``taken``: something of its name
    is there; ``replaced`` is the file that *replace* would put aside, "" where only another name is possible.
    ``free`` is the name that *keep both* gives. ``before`` are the sources of other skills of this name that agents
    would no longer get, ``behind`` that of the one that they would go on getting instead of it, or "".
    """

    category: Category | None
    taken: bool = False
    replaced: str = ""
    free: str = ""
    before: tuple[str, ...] = ()
    behind: str = ""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import: ``token`` takes it back. ``paths`` and ``names`` of the new skills, in order."""

    token: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    put_aside: tuple[Deleted, ...]


class SkillImports:
    """``rename_inside`` gives a skill's file another name in its own text."""

    def __init__(
        self, world: SkillWorld, files: SkillFiles, staging: Staging, rename_inside: Callable[[str, str], None]
    ) -> None:
        self._world = world
        self._files = files
        self._staging = staging
        self._rename_inside = rename_inside
        self._done: dict[str, Replacement] = {}

    async def stage(self, path: str) -> Staged:
        """A folder, an archive, or a skill's file, to be looked at. Raises ImportRefused."""
        return await self._stage(lambda stop: self._staging.from_path(path, stop))

    async def stage_text(self, text: str) -> Staged:
        """Look at a SKILL.md that a person pasted. Raises ImportRefused."""
        return await self._stage(lambda stop: self._staging.from_text(text, stop))

    async def _stage(self, work: Callable[[threading.Event], Staged]) -> Staged:
        """Whoever stops waiting has it stopped, and leaves nothing behind."""
        stop = threading.Event()
        looking = asyncio.get_running_loop().run_in_executor(None, work, stop)
        try:
            return await asyncio.shield(looking)
        except asyncio.CancelledError:
            stop.set()
            looking.add_done_callback(self._drop)
            raise

    def _drop(self, looked: asyncio.Future[Staged]) -> None:
        if not looked.cancelled() and looked.exception() is None:
            asyncio.get_running_loop().run_in_executor(None, self._staging.discard, looked.result())

    async def cancel(self, staged: Staged) -> None:
        """Delete what was staged; nothing is imported."""
        await asyncio.to_thread(self._staging.discard, staged)

    async def targets(self) -> tuple[Target, ...]:
        """Where it can go: one's own skills first, then one folder for each project."""
        return await asyncio.to_thread(self._targets)

    def _targets(self) -> tuple[Target, ...]:
        roots = self._world.fabric.roots
        found = [Target(root.path, root.source) for root in roots if root.source == "mine"]
        for project in dict.fromkeys(root.project for root in roots if root.project):
            of_project = [root for root in roots if root.project == project]
            root = next((root for root in of_project if os.path.isdir(root.path)), None) or _usual(of_project)
            found.append(Target(root.path, root.source, project, root.trusted))
        return tuple(found)

    async def fits(self, staged: Staged, candidate: Candidate, target: Target) -> Fits:
        """How a skill would stand in a folder: what is taken, shadowed or wrong there."""
        return await asyncio.to_thread(self._fits, staged, candidate, target)

    def _fits(self, staged: Staged, candidate: Candidate, target: Target) -> Fits:
        definition = candidate.definition
        if definition is None:
            return Fits(None)
        catalog = self._world.fabric.catalog()
        rows = [catalog.row(number) for number in catalog.named(definition.name)]
        here = [row for row in rows if row.path.startswith(target.root.rstrip(os.sep) + os.sep)]
        source = staged.folder / candidate.rel
        place = self._files.place_of(source, target.root, definition.name)
        taken = bool(here) or place.exists()
        mine = here[0].path if len(here) == 1 else ""
        alone = mine and self._only_one_in(mine) and self._makes_room(mine, target.root, place)
        order = [root.path for root in self._world.fabric.roots]
        elsewhere = [row for row in rows if row not in here and row.state != "untrusted"]
        at = order.index(target.root) if target.root in order else 0
        later = [row for row in elsewhere if _rank(row.path, order) > at]
        sooner = [row for row in elsewhere if row not in later]
        return Fits(
            category_of(replace(definition, source=target.source)),
            taken,
            mine if alone else "",
            self._free(source, target.root, definition.name) if taken else definition.name,
            tuple(dict.fromkeys(row.source for row in later)),
            sooner[0].source if sooner else "",
        )

    def _makes_room(self, path: str, root: str, place: Path) -> bool:
        """Whether ``place`` is free once this is put aside. What is a link, or lies behind one, stays where it is; so
        does the folder of all skills."""
        own = os.path.dirname(path) if os.path.basename(path) in FOLDER_FILES else path
        within = os.path.relpath(path, root)
        linked = os.path.realpath(path) != os.path.join(os.path.realpath(root), within)
        if linked or own.rstrip(os.sep) == root.rstrip(os.sep) or (own != str(place) and os.path.lexists(place)):
            return False
        return self._files.may_change(path)

    def _only_one_in(self, path: str) -> bool:
        """Putting a file aside puts aside all that is in it."""
        return sum(1 for one in self._world.fabric.list_tools() if one.path == path) <= 1

    def _free(self, source: Path, root: str, name: str) -> str:
        """``name-2`` and so on: the first that neither a file nor a skill of this folder has."""
        catalog = self._world.fabric.catalog()
        for number in range(2, 1000):
            wanted = numbered(name, number)
            if not catalog.named(wanted) and not self._files.place_of(source, root, wanted).exists():
                return wanted
        raise CannotSave(f"There are too many skills called {name}.", next_step="Rename some of them.")

    async def keep(
        self, staged: Staged, wanted: tuple[Candidate, ...], target: Target, collision: Collision = "both"
    ) -> ImportResult:
        """Copy these into the folder, all or none, and let go of the rest. Raises KnownError."""
        return await asyncio.to_thread(self._keep, staged, wanted, target, collision)

    def _keep(
        self, staged: Staged, wanted: tuple[Candidate, ...], target: Target, collision: Collision
    ) -> ImportResult:
        names: list[str] = []
        paths: list[str] = []
        work = Replacement(self._files)
        try:
            for candidate in wanted:
                fits = self._fits(staged, candidate, target)
                name = fits.free
                if fits.replaced and collision == "replace" and candidate.name not in names:
                    work.put_aside(fits.replaced, candidate.name)
                    name = candidate.name
                files = [file.path for file in candidate.files]
                paths.append(work.bring_in(staged.folder / candidate.rel, files, target.root, name))
                names.append(name)
                if name != candidate.name:
                    self._rename_inside(paths[-1], name)
            work.finish()
        except BaseException:
            work.take_back()
            raise
        self._staging.discard(staged)
        kept = ImportResult(new_id(), tuple(names), tuple(paths), work.put_aside_so_far)
        self._done[kept.token] = work
        return kept

    async def undo(self, kept: ImportResult) -> UndoneImport:
        """Take out what was imported, and bring back what it replaced. Raises KnownError where some of it could not
        be; another call goes on with that."""
        work = self._done.get(kept.token)
        if work is None:
            return UndoneImport()
        found = await asyncio.to_thread(work.take_back)
        self._done.pop(kept.token, None)
        return found


def _usual(roots: list[SearchRoot]) -> SearchRoot:
    """The folder of a project that other programs find as well."""
    return next((root for root in roots if root.path.endswith(os.path.join(".agents", "skills"))), roots[0])


def _rank(path: str, order: list[str]) -> int:
    """The place of a file's folder in the search order; programmatic ones come before all."""
    return next((at for at, root in enumerate(order) if path.startswith(root.rstrip(os.sep) + os.sep)), -1)


__all__ = ["Candidate", "Collision", "Fits", "ImportResult", "SkillImports", "Staged", "Target"]
