"""From a search folder to its definitions, through the caches ``name_index``, ``dir`` and ``file`` (R-RES-6)."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import replace

from desktop.domain.errors import KnownError
from desktop.domain.skills import SkillDef
from desktop.domain.text.places import FormatError
from desktop.skills.catalogue.build_index import read_build_index
from desktop.skills.catalogue.index import CheckedFolder
from desktop.skills.catalogue.pins import Fingerprint, Pins, above, fingerprints
from desktop.skills.catalogue.roots import SearchRoot, enclosing_root, link_targets
from desktop.skills.catalogue.scan import Hint
from desktop.skills.catalogue.snapshot import NAMES, Snapshot, below
from desktop.skills.formats import load_from_bytes, load_skills_from_file
from desktop.skills.formats.loader import read_bytes
from desktop.skills.resolution.caches import NameIndex
from desktop.skills.resolution.globals import Globals, search_path

_LOG = logging.getLogger(__name__)

Ignore = tuple[str, ...]


def refresh_folder(
    globals: Globals, root: SearchRoot, ignore: Ignore, *, asked: float | None = None, hint: Hint | None = None
) -> CheckedFolder:
    """Compare a folder with the disk and bring the caches up to date with it. Blocks."""
    known = link_targets(root, (*globals.config.roots, *search_path(globals).roots))
    checked = globals.index.check(root, ignore, asked=asked, hint=hint, known=known)
    caches = globals.cache
    if checked.moved:
        caches.forget_folders([root.path], checked.files, checked.names)
    if root.trusted and root.pinned and globals.pins is not None:
        admit(globals.pins, root.path, fingerprints(checked.snapshot).values())
    snapshot = checked.snapshot
    names = NameIndex(snapshot.names, ignore)
    files = tuple(dict.fromkeys(snapshot.paths))
    with caches.lock:
        if globals.index.peek(root.path, ignore) is snapshot:
            caches.name_index[root.path] = names
            caches.dir[(root.path, ignore)] = files
    return checked


def admit(pins: Pins, folder: str, found: Iterable[Fingerprint]) -> None:
    """Pin what is new. A store that fails leaves it unpinned until next time; resolution goes on."""
    try:
        pins.admit(folder, found)
    except (KnownError, OSError) as error:
        _LOG.warning("skills in %s could not be pinned: %s", folder, error)


def current(globals: Globals, root: SearchRoot, ignore: Ignore) -> Snapshot:
    """The folder, compared with the disk unless the caches say that it was and nothing happened since."""
    known = globals.cache.name_index.get(root.path)
    if known is not None and known.complete and known.ignore == ignore:
        snapshot = globals.index.peek(root.path, ignore)
        if snapshot is not None:
            return snapshot
    return refresh_folder(globals, root, ignore).snapshot


def find_in_folder(
    globals: Globals, root: SearchRoot, ignore: Ignore, name: str, *, asked: float, patient: bool = False
) -> SkillDef | None:
    """The folder's skill of this name. On a miss the folder is compared with the disk once more before the name counts
    as absent (R-RES-6); not if ``patient``, for a folder whose changes are reported as they happen."""
    known = globals.cache.name_index.get(root.path)
    if known is None or known.ignore != ignore:
        known = _hinted(globals, root, ignore)
    found = _declared(globals, root, ignore, known, name) if known is not None else None
    if found is not None or (patient and known is not None and known.complete):
        return found
    refresh_folder(globals, root, ignore, asked=asked)
    known = globals.cache.name_index.get(root.path)
    return None if known is None else _declared(globals, root, ignore, known, name)


def _hinted(globals: Globals, root: SearchRoot, ignore: Ignore) -> NameIndex | None:
    """The names of the build-time index, where it may be used. Not for pinned folders, of which every file has to be
    looked at."""
    if root.pinned or globals.index.was_checked(root.path, ignore):
        return None
    names = read_build_index(root.path)
    if names is None:
        return None
    with globals.cache.lock:
        return globals.cache.name_index.setdefault(root.path, NameIndex(names, ignore, complete=False))


def _declared(globals: Globals, root: SearchRoot, ignore: Ignore, known: NameIndex, name: str) -> SkillDef | None:
    path = known.names.get(name)
    if path is None:
        return None
    found = definitions_of(globals, root, ignore, path)
    return next((definition for definition in found if definition.name == name), None)


def definitions_of(globals: Globals, root: SearchRoot, ignore: Ignore, path: str) -> tuple[SkillDef, ...]:
    """The skills of one file, from the ``file`` cache, the index, or the disk."""
    caches = globals.cache
    found = caches.file.get(path)
    if found is not None:
        return found
    began = caches.generation
    known = caches.name_index.get(root.path)
    snapshot = globals.index.peek(root.path, ignore) if known is not None and known.complete else None
    rel = os.path.relpath(path, root.path).replace(os.sep, "/")
    if snapshot is not None and rel in snapshot.listing.files:
        found = tuple(from_rows(globals, root, snapshot, rel))
    else:
        found = tuple(judged(globals, root, definition) for definition in _read(globals, root, path))
    return caches.keep(began, caches.file, path, found)


def from_rows(globals: Globals, root: SearchRoot, snapshot: Snapshot, rel: str) -> Iterable[SkillDef]:
    """The definitions of one file of a folder that has been checked."""
    rows = [number for number in snapshot.rows_of(rel) if snapshot.columns[NAMES][number]]
    digest = fingerprint(snapshot, rel).digest if rows and root.pinned and globals.pins is not None else ""
    return [judged(globals, root, snapshot.definition(number, root), digest) for number in rows]


def fingerprint(snapshot: Snapshot, rel: str) -> Fingerprint:
    """The content of one skill of a pinned folder; of no files when there is none."""
    found = fingerprints(snapshot).get(rel)
    return found if found is not None else Fingerprint(below(snapshot.folder, rel), {})


def judged(globals: Globals, root: SearchRoot, definition: SkillDef, digest: str = "") -> SkillDef:
    """With the state that trust and pins give it; ``digest`` "" where pins do not apply."""
    if not root.trusted:
        return replace(definition, state="untrusted")
    if digest and globals.pins is not None and globals.pins.is_changed(definition.path, digest):
        return replace(definition, state="changed")
    return definition


def _read(globals: Globals, root: SearchRoot, path: str) -> tuple[SkillDef, ...]:
    """A file that the index does not have: it lies outside the searched folders, or is passed over in them."""
    if not os.path.isfile(path):
        return ()
    if not root.pinned or globals.pins is None:
        return load_skills_from_file(path, source=root.source, root=root.path).definitions
    try:
        data, stamp = read_bytes(path)
    except FormatError:
        return ()
    found = load_from_bytes(data, path, source=root.source, root=root.path, stamp=stamp).definitions
    seen, late = globals.pins.allows(path, data), _is_late(globals.pins, root, path)
    return tuple(replace(one, state="changed") if not seen or (late and one.role == "main") else one for one in found)


def _is_late(pins: Pins, root: SearchRoot, path: str) -> bool:
    """Whether a file above a project's skill folders was not there when the project was trusted."""
    return bool(root.project) and pins.has_met(above(root.project)) and not pins.knows(path)


def owner_of(globals: Globals, path: str) -> tuple[SearchRoot, str]:
    """The root that a file belongs to, links resolved, and its path below that root.

    A file that lies nowhere we know is nobody's: not trusted unless it lies in a project that the person trusts.
    """
    config = globals.config
    real = os.path.realpath(path)
    roots = {os.path.realpath(root.path): root for root in (*search_path(globals).roots, *config.roots)}
    inner = enclosing_root(real, [SearchRoot(folder) for folder in roots])
    if inner is not None:
        root = roots[inner.path]
        return root, os.path.join(root.path, os.path.relpath(real, inner.path))
    project = next(
        (
            root.project
            for root in config.roots
            if root.project and root.trusted and real.startswith(os.path.realpath(root.project).rstrip(os.sep) + os.sep)
        ),
        "",
    )
    return SearchRoot(os.path.dirname(path), "project", bool(project), project), path
