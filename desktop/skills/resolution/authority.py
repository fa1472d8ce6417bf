"""``find_authority``: the main skill whose configuration a tool stands under (R-RES-16, R-SK-10)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from desktop.domain.skills import SkillDef, SkillSource
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import is_skill_file
from desktop.skills.catalogue.snapshot import NAMES, RELS, ROLES, Snapshot
from desktop.skills.resolution.folders import current, definitions_of, owner_of
from desktop.skills.resolution.globals import Globals, search_path

_MAX_ENTRIES = 10_000


def find_authority(definition: SkillDef, globals: Globals) -> SkillDef | None:
    """The nearest main skill walking up from the tool's file, else the project's, else the library's; never the tool
    itself. Main skills count in the library and in projects only. Blocks where the caches do not know."""
    caches = globals.cache
    key = definition.src or definition.name
    if key in caches.authority:
        return caches.authority[key]
    began = caches.generation
    found = next((main for main in _candidates(definition, globals) if not _is_same(main, definition)), None)
    return caches.keep(began, caches.authority, key, found)


def _candidates(definition: SkillDef, globals: Globals) -> Iterator[SkillDef]:
    if definition.path:
        for folder, root in _upwards(definition, globals):
            main = main_in_dir(globals, folder, root)
            if main is not None:
                yield main
    for source in ("project", "library"):
        yield from _mains_of(globals, source)


def _is_same(one: SkillDef, other: SkillDef) -> bool:
    return one is other or (one.name == other.name and one.path == other.path)


def _upwards(definition: SkillDef, globals: Globals) -> Iterator[tuple[str, SearchRoot]]:
    """The folders from the tool's own to that of its root, then on to the project's."""
    root, path = owner_of(globals, definition.path)
    if not root.has_authority:
        return
    top = root.project or root.path
    folder = os.path.dirname(path)
    while folder == top or folder.startswith(top.rstrip(os.sep) + os.sep):
        yield folder, root
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return


def main_in_dir(globals: Globals, folder: str, root: SearchRoot) -> SkillDef | None:
    """The main skill that lies directly in a folder, or None."""
    caches = globals.cache
    if folder in caches.main_in_dir:
        return caches.main_in_dir[folder]
    began = caches.generation
    ignore = search_path(globals).ignore
    found = (one for path in _skill_files(folder) for one in definitions_of(globals, root, ignore, path))
    main = next((one for one in found if one.role == "main" and one.state == "ready"), None)
    return caches.keep(began, caches.main_in_dir, folder, main)


def _skill_files(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name for entry in entries if is_skill_file(entry.name) and entry.is_file(follow_symlinks=False)
            )
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names[:_MAX_ENTRIES]]


def files_above(project: str, roots: Iterable[SearchRoot]) -> list[str]:
    """The skill files from a project's own folder down to its skill folders, those left out. Blocks."""
    folders = dict.fromkeys([project])
    for root in roots:
        folder = os.path.dirname(root.path)
        while root.project == project and folder.startswith(project.rstrip(os.sep) + os.sep):
            folders[folder] = None
            folder = os.path.dirname(folder)
    return [path for folder in folders for path in _skill_files(folder)]


def _mains_of(globals: Globals, source: SkillSource) -> Iterator[SkillDef]:
    """Main skills of the project at hand, or of the library, those nearest to the top first."""
    path = search_path(globals)
    roots = [root for root in path.roots if root.source == source and root.has_authority]
    project = globals.config.project
    if source == "project" and project:
        roots = [root for root in roots if root.project in ("", project)]
        trusted = any(root.project for root in roots)
        main = main_in_dir(globals, project, SearchRoot(project, "project", trusted, project))
        if main is not None:
            yield main
    for root in roots:
        snapshot = current(globals, root, path.ignore)
        for number in _main_rows(snapshot):
            found = definitions_of(globals, root, path.ignore, snapshot.paths[number])
            yield from (one for one in found if one.role == "main" and one.state == "ready")


def _main_rows(snapshot: Snapshot) -> list[int]:
    rels, names, roles = (snapshot.columns[at] for at in (RELS, NAMES, ROLES))
    rows = [number for number, role in enumerate(roles) if role == "main" and names[number]]
    return sorted(rows, key=lambda number: (rels[number].count("/"), rels[number]))
