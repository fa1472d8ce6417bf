"""The library of skills that comes with the app, read once for all tests of a process."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.snapshot import Snapshot
from desktop.skills.resolution.fabric import SkillFabric
from desktop.skills.resolution.folders import refresh_folder
from desktop.skills.resolution.globals import Config, Globals, search_path
from desktop.skills.values.path_entries import PathEntry

LIBRARY = SearchRoot(str(Path(__file__).resolve().parents[2] / "skills"), "library")


def open_fabric(roots: Iterable[SearchRoot], **options: Any) -> SkillFabric:
    """As ``SkillFabric.open``. A library among the folders is known as from an earlier start of the app: it is compared
    with the disk like every folder, and read again only where it has changed."""
    fabric = SkillFabric.open(roots, **options)
    if any(root.path == LIBRARY.path for root in fabric.roots):
        fabric.globals.index.adopt(_library())
    return fabric


@cache
def _library() -> tuple[Snapshot, ...]:
    fabric = SkillFabric.open([LIBRARY])
    fabric.refresh()
    return tuple(fabric.globals.index.all())


def empty_globals(paths: Iterable[PathEntry] = (), *, cwd: str = "") -> Globals:
    """What resolution works on, with these search folders and nothing found yet."""
    return Globals(Config(paths=tuple(paths), cwd=cwd or os.getcwd()))


def look_again(globals: Globals) -> None:
    """Compare each search folder with the disk, as the app does after something was written."""
    path = search_path(globals)
    for root in path.roots:
        refresh_folder(globals, root, path.ignore)
