"""``list_tools``: every tool of the search path (R-RES-9)."""

from __future__ import annotations

from collections.abc import Iterable

from desktop.domain.skills import SkillDef
from desktop.skills.resolution.folders import current, definitions_of
from desktop.skills.resolution.globals import Globals, SearchPath, search_path
from desktop.skills.resolution.programmatic import all_programmatic
from desktop.skills.values.path_entries import PathEntry


def list_tools(globals: Globals, *, paths: Iterable[PathEntry] | None = None) -> list[SkillDef]:
    """Programmatic ones first, then each folder in order, each name once. Blocks where the caches do not know.

    Registered tools come and go with every run, so ``list`` keeps the part that is on the disk."""
    found = list_on_disk(globals, paths=paths)
    registered = all_programmatic(globals)
    taken = {definition.name for definition in registered}
    return [*registered, *(definition for definition in found if definition.name not in taken)]


def list_on_disk(globals: Globals, *, paths: Iterable[PathEntry] | None = None) -> tuple[SkillDef, ...]:
    """All tools that come from files. Blocks where the caches do not know."""
    path = search_path(globals, paths)
    found = globals.cache.list.get(path.key)
    if found is None:
        for root in path.roots:
            current(globals, root, path.ignore)
        began = globals.cache.generation
        found = globals.cache.keep(began, globals.cache.list, path.key, _on_disk(globals, path))
    return found


def _on_disk(globals: Globals, path: SearchPath) -> tuple[SkillDef, ...]:
    """The first folder that has a name keeps it."""
    found: dict[str, SkillDef] = {}
    for root in path.roots:
        snapshot = current(globals, root, path.ignore)
        for name, number in sorted(snapshot.first.items(), key=lambda item: item[1]):
            if name not in found:
                defined = definitions_of(globals, root, path.ignore, snapshot.paths[number])
                definition = next((one for one in defined if one.name == name), None)
                if definition is not None:
                    found[name] = definition
    return tuple(found.values())
