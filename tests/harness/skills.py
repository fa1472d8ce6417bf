"""The library of skills that comes with the app, read once for all tests of a process."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.snapshot import Snapshot
from desktop.skills.resolution.fabric import SkillFabric

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
