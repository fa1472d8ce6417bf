"""``find_tool``: from a reference to a definition (R-RES-1 … R-RES-8, R-RES-18, R-RES-20, C-3)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef
from desktop.skills.catalogue.order import Layer, holders
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.resolution.folders import current, definitions_of, find_in_folder, owner_of
from desktop.skills.resolution.globals import Globals, SearchPath, search_path
from desktop.skills.resolution.programmatic import lookup
from desktop.skills.resolution.refs import FileTarget, classify, file_target, path_target, usable
from desktop.skills.values.path_entries import PathEntry

ATTEMPTS = 3
"""How often a lookup begins anew when something is invalidated under its hands."""


def find_tool(
    ref: str, globals: Globals, *, cwd: str | None = None, paths: Iterable[PathEntry] | None = None
) -> SkillDef | None:
    """The tool that a reference of a trusted caller names, or None. Blocks where the caches do not know.

    ``cwd`` and ``paths`` are the context's own, else the configured ones. Raises ConfigurationError only for a file
    with several skills where none is named and not exactly one is the main skill (R-SK-8)."""
    if not usable(ref):
        return None
    registered = lookup(globals, ref)
    if registered is not None:
        return registered
    path = search_path(globals, paths)
    target = _target(ref, cwd or globals.config.cwd)
    if target is None and classify(ref) != "bare":
        return None
    for _ in range(ATTEMPTS):
        began = globals.cache.generation
        key = (ref if target is None else target.key, path.key)
        known = globals.cache.tool.get(key, _UNKNOWN)
        if not isinstance(known, _Unknown):
            return known
        found = _by_name(globals, path, ref) if target is None else _by_file(globals, target)
        globals.cache.keep(began, globals.cache.tool, key, found)
        if began == globals.cache.generation:
            break
    return found


def find_on_disk(name: str, globals: Globals) -> SkillDef | None:
    """What the search path itself has under a bare name, whatever was registered by code. Blocks."""
    return _by_name(globals, search_path(globals, None), name)


class _Unknown:
    """Marks a name that was not looked up yet; None is a known miss (R-RES-8)."""


_UNKNOWN = _Unknown()


def find_cached(
    ref: str, globals: Globals, *, paths: Iterable[PathEntry] | None = None
) -> tuple[bool, SkillDef | None]:
    """(known, definition) from memory alone: safe on the loop. For bare names, aliases and URIs of tools."""
    if not usable(ref):
        return True, None
    registered = lookup(globals, ref)
    if registered is not None:
        return True, registered
    target = _target(ref, globals.config.cwd)
    if target is None and classify(ref) != "bare":
        return True, None
    known = globals.cache.tool.get((ref if target is None else target.key, search_path(globals, paths).key), _UNKNOWN)
    return (False, None) if isinstance(known, _Unknown) else (True, known)


def _target(ref: str, cwd: str) -> FileTarget | None:
    form = classify(ref)
    if form == "path":
        return path_target(ref, cwd)
    return file_target(ref) if ref.startswith("file://") else None


# -- by name ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of the search path as a layer of resolution."""

    globals: Globals
    root: SearchRoot
    ignore: tuple[str, ...]
    asked: float
    patient: bool

    def get(self, name: str) -> SkillDef | None:
        return find_in_folder(self.globals, self.root, self.ignore, name, asked=self.asked, patient=self.patient)


def _by_name(globals: Globals, path: SearchPath, name: str) -> SkillDef | None:
    """Folders of which every change is reported are not compared with the disk for each name that they do not have;
    before the name counts as absent everywhere, they are."""
    asked = time.monotonic()
    watched = globals.watched
    found = next(holders(name, _layers(globals, path, asked, watched)), None)
    if found is None and any(root.path in watched for root in path.roots):
        found = next(holders(name, _layers(globals, path, asked, frozenset())), None)
    return found


def _layers(globals: Globals, path: SearchPath, asked: float, watched: frozenset[str]) -> Sequence[Layer[SkillDef]]:
    return [_Folder(globals, root, path.ignore, asked, root.path in watched) for root in path.roots]


# -- by file ----------------------------------------------------------------------------------------------------------


def _by_file(globals: Globals, target: FileTarget) -> SkillDef | None:
    path = _file(target)
    return selected(definitions_at(globals, path), target.fragment, path)


def _file(target: FileTarget) -> str:
    """A folder means the ``SKILL.md`` in it."""
    if not os.path.isdir(target.path):
        return target.path
    inside = [os.path.join(target.path, name) for name in FOLDER_FILES]
    return next((file for file in inside if os.path.isfile(file)), inside[0])


def definitions_at(globals: Globals, path: str) -> tuple[SkillDef, ...]:
    """The skills of a file by its path, past the search path; what trust and pins say holds all the same."""
    root, path = owner_of(globals, path)
    ignore = search_path(globals).ignore
    if root.pinned and root in globals.config.roots:
        current(globals, root, ignore)
    return definitions_of(globals, root, ignore, path)


def selected(found: Sequence[SkillDef], fragment: str, path: str) -> SkillDef | None:
    """The skill named by the fragment; without one the only one, or the only main one (R-SK-8)."""
    if fragment:
        return next((definition for definition in found if definition.name == fragment), None)
    if len(found) <= 1:
        return found[0] if found else None
    main = [definition for definition in found if definition.role == "main"]
    if len(main) == 1:
        return main[0]
    names = ", ".join(f"#{definition.name}" for definition in found[:10])
    raise ConfigurationError(
        f"{path} has several skills.", next_step=f"Write which one you mean: {names}", code="skills.ambiguous_ref"
    )
