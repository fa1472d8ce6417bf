"""The skills fabric as the app holds it: resolution, index, pins, watching and the catalogue in one object.

Everything blocks unless it says otherwise: call it in threads. Listeners are called in whatever thread saw the change.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import NotFound
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.catalogue.index_file import load_index, save_index
from desktop.skills.catalogue.pins import (
    Difference,
    Fingerprint,
    Pins,
    SkillPinStore,
    above,
    fingerprint_of_file,
    fingerprints,
)
from desktop.skills.catalogue.roots import DEFAULT_IGNORES, SearchRoot, enclosing_root, search_entries
from desktop.skills.catalogue.scan import FolderListing, Hint, parents
from desktop.skills.catalogue.snapshot import Snapshot
from desktop.skills.catalogue.watch import FolderWatch
from desktop.skills.resolution.authority import files_above
from desktop.skills.resolution.folders import admit, owner_of, refresh_folder
from desktop.skills.resolution.globals import Config, Globals, search_path
from desktop.skills.resolution.programmatic import all_programmatic
from desktop.skills.resolution.resolver import Resolver

if TYPE_CHECKING:
    from desktop.skills.catalogue import search as catalogue_search
    from desktop.skills.catalogue.search import SkillCatalog
else:
    catalogue_search = lazy_module("desktop.skills.catalogue.search")

_LOG = logging.getLogger(__name__)

MAX_HINTED = 500
"""Changed paths beyond which a folder is compared with the disk as a whole."""


@dataclass(frozen=True, slots=True)
class SkillChanges:
    """The differences between two states: names of skills, and absolute paths of files."""

    names: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    def __or__(self, other: SkillChanges) -> SkillChanges:
        return SkillChanges(self.names | other.names, self.files | other.files)


Listener = Callable[[SkillChanges], None]


class SkillFabric(Resolver):
    """All parts of finding skills together. Made by ``open``, ended by ``close``."""

    def __init__(self, globals: Globals, roots: Iterable[SearchRoot], index_path: str = "") -> None:
        super().__init__(globals)
        self._index_path = index_path
        self._roots = tuple(roots)
        self._ignores: tuple[str, ...] = search_path(globals).ignore
        self._listeners: list[Listener] = []
        self._watch: FolderWatch | None = None
        self._lock = threading.RLock()
        self._catalog: SkillCatalog | None = None
        self._catalog_of: tuple[Any, ...] = ()
        self._pin_changes = 0
        self._saved: list[Snapshot] = []

    @classmethod
    def open(
        cls,
        roots: Iterable[SearchRoot],
        index_path: str = "",
        *,
        cwd: str = "",
        project: str = "",
        ignores: Iterable[str] = DEFAULT_IGNORES,
        pin_store: SkillPinStore | None = None,
    ) -> SkillFabric:
        """Read the index (30 ms for 10,000 skills) and nothing else: ``catalog`` can be shown at once. Then call
        ``watch`` and ``refresh``, in this order. ``index_path`` "": nothing is kept."""
        found = tuple(roots)
        config = Config(search_entries(found, ignores), cwd or os.getcwd(), found, project=project)
        globals = Globals(config, pins=None if pin_store is None else Pins(pin_store))
        fabric = cls(globals, found, index_path)
        wanted = {(root.path, fabric._ignores) for root in found}
        if index_path:
            globals.index.adopt(one for one in load_index(index_path) if (one.folder, one.ignore) in wanted)
        fabric._saved = globals.index.all()
        return fabric

    def close(self) -> None:
        """End watching and write the index. May be called more than once."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        self.save()

    def save(self) -> None:
        """Write the index if it changed; a disk that does not take it costs only time at the next start."""
        now = self.globals.index.all()
        if not self._index_path or _same(now, self._saved):
            return
        try:
            os.makedirs(os.path.dirname(self._index_path), exist_ok=True)
            save_index(self._index_path, now)
            self._saved = now
        except OSError as error:
            _LOG.warning("the index of skills cannot be written: %s", error)

    # -- folders ------------------------------------------------------------------------------------------------------

    @property
    def roots(self) -> tuple[SearchRoot, ...]:
        """All folders, in search order; those not trusted are listed and not searched (R-SK-15)."""
        return self._roots

    def set_roots(self, roots: Iterable[SearchRoot], *, project: str = "") -> SkillChanges:
        """Replace the folders or the trust in them: a project was opened, trusted, closed."""
        before, watching = _pinned_places(self._roots), self._watch is not None
        self._roots = tuple(roots)
        if self.globals.pins is not None and (lost := before - _pinned_places(self._roots)):
            self.globals.pins.forget(lost)
        config = self.globals.config
        entries = search_entries(self._roots, self._ignores)
        self.globals.config = replace(config, paths=entries, roots=self._roots, project=project)
        self.globals.index.keep_only((root.path, self._ignores) for root in self._roots)
        self.globals.cache.clear()
        if watching:
            self.watch()
        changes = self._checked(dict.fromkeys(self._roots), told=True)
        self.save()
        return changes

    def refresh(self) -> SkillChanges:
        """Compare every folder with the disk, reading only what changed; tells the listeners and writes the index.
        Files that were loaded by path from elsewhere, where nobody reports changes, are forgotten."""
        changes = self._checked(dict.fromkeys(self._roots))
        loose = [path for path in list(self.globals.cache.file) if enclosing_root(path, self._roots) is None]
        if loose:
            self.globals.cache.forget_folders([], loose, ())
        self.save()
        return changes

    def watch(self, *, wait: float = 5.0) -> None:
        """Watch the folders from now on; waits up to ``wait`` seconds until it does."""
        if self._watch is not None:
            self._watch.stop()
        self._watch = watch = FolderWatch((root.path for root in self._roots), self._on_disk)
        watch.start()
        watch.wait_settled(wait)
        self.globals.watched = frozenset(root.path for root in self._roots) if watch.live else frozenset()

    def _on_disk(self, paths: frozenset[str] | None) -> None:
        """Take in the changes that the watching thread saw on the disk."""
        if self._watch is not None and not self._watch.live:
            self.globals.watched = frozenset()
        wanted: dict[SearchRoot, Hint | None] = {}
        for root in self._roots:
            if paths is None:
                wanted[root] = None
            elif rels := _below(root, paths):
                wanted[root] = self._hint(root, rels)
        if wanted:
            self._checked(wanted)

    def _checked(self, wanted: Mapping[SearchRoot, Hint | None], *, told: bool = False) -> SkillChanges:
        """Compare, and tell the listeners if anything is different; ``told``: in any case."""
        changes, moved, asked = SkillChanges(), told, time.monotonic()
        for root, hint in wanted.items():
            checked = refresh_folder(self.globals, root, self._ignores, asked=asked, hint=hint)
            changes |= SkillChanges(checked.names, checked.files)
            moved = moved or checked.moved
        self._admit_above()
        if moved:
            self._tell(changes)
        return changes

    def _admit_above(self) -> None:
        """Pin the main skills of projects that are trusted for the first time."""
        pins = self.globals.pins
        for project in sorted(_projects(self._roots)) if pins is not None else ():
            if pins is not None and not pins.has_met(above(project)):
                admit(pins, above(project), map(fingerprint_of_file, files_above(project, self._roots)))

    def _hint(self, root: SearchRoot, rels: set[str]) -> Hint | None:
        known = self.globals.index.peek(root.path, self._ignores)
        if known is None or "" in rels or len(rels) > MAX_HINTED:
            return None
        return hint_for(known.listing, rels)

    def _hint_at(self, root: SearchRoot, path: str) -> Hint | None:
        """The hint of one file, as ``owner_of`` names it."""
        return self._hint(root, _below(root, [path]))

    def invalidate_file(self, path: str, *, by_person: bool = False) -> SkillChanges:
        """A file was written, moved or deleted by us: afterwards every cache is as if nothing had ever been kept of it
        (R-SK-13, R-RES-17). ``by_person``: in the editor, so that what it says now has been seen."""
        root, path = owner_of(self.globals, path)
        changes = SkillChanges()
        if root in self._roots:
            changes = self._checked({root: self._hint_at(root, path)})
            if by_person and self.globals.pins is not None and root.pinned:
                found = self._fingerprint(root, path)
                if found.files:
                    self.globals.pins.accept(found, seen=found.digest)
                    self._forget(found.path, changes.names)
        known = self.globals.cache.file.get(path, ())
        self.globals.cache.forget_folders([], [path], changes.names | {one.name for one in known})
        return changes

    def seen(self, folder: str, paths: Iterable[str]) -> SkillChanges:
        """A person agreed to these files of one search folder as they are now, and to what is gone of them; as
        ``invalidate_file`` for each, in one go."""
        root = next((one for one in self._roots if one.path == folder), None)
        if root is None:
            return SkillChanges()
        changes = self._checked({root: None})
        found = [self._fingerprint(root, path) for path in dict.fromkeys(paths)]
        if self.globals.pins is not None and root.pinned:
            self.globals.pins.see(one for one in found if one.files)
        files = frozenset(one.path for one in found)
        names = changes.names | {one.name for path in files for one in self.globals.cache.file.get(path, ())}
        self.globals.cache.forget_folders([], files, names)
        self._pin_changes += 1
        self._tell(SkillChanges(names, files))
        return changes

    # -- changes ------------------------------------------------------------------------------------------------------

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` after every change, in the thread that saw it; returns what ends that."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return end

    def _tell(self, changes: SkillChanges) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            try:
                listener(changes)
            except Exception:  # noqa: BLE001 - a listener's own fault must not end the watching
                _LOG.exception("a listener of skill changes failed")

    # -- pins ---------------------------------------------------------------------------------------------------------

    def difference(self, path: str) -> Difference:
        """What changed in a pinned skill since it was seen. Raises KnownError where nothing is pinned."""
        root, path, pins = self._pinned(path)
        self._looked_at(root, path)
        return pins.difference(self._fingerprint(root, path))

    def accept(self, path: str, *, seen: str) -> None:
        """The person has seen the difference with this digest and takes the skill as it is. Raises KnownError when it
        has changed once more."""
        root, path, pins = self._pinned(path)
        names = self._looked_at(root, path)
        pins.accept(self._fingerprint(root, path), seen=seen)
        self._forget(path, names)

    def _looked_at(self, root: SearchRoot, path: str) -> frozenset[str]:
        """The names that changed in the folder of a skill, if that is one that is searched."""
        if root not in self._roots:
            return frozenset()
        return refresh_folder(self.globals, root, self._ignores, hint=self._hint_at(root, path)).names

    def _forget(self, path: str, names: frozenset[str]) -> None:
        """Drop what the caches hold of a file whose state changed although its content did not."""
        names |= {one.name for one in self.globals.cache.file.get(path, ())}
        self.globals.cache.forget_folders([], [path], names)
        self._pin_changes += 1
        self._tell(SkillChanges(names, frozenset([path])))

    def _pinned(self, path: str) -> tuple[SearchRoot, str, Pins]:
        root, path = owner_of(self.globals, path)
        pins = self.globals.pins
        if pins is None or not root.pinned or not root.trusted:
            raise NotFound(f"{path} is not pinned.")
        return root, path, pins

    def _fingerprint(self, root: SearchRoot, path: str) -> Fingerprint:
        known = self.globals.index.peek(root.path, self._ignores)
        rel = os.path.relpath(path, root.path).replace(os.sep, "/")
        found = None if known is None else fingerprints(known).get(rel)
        return found if found is not None else fingerprint_of_file(path)

    # -- the page -----------------------------------------------------------------------------------------------------

    def catalog(self) -> SkillCatalog:
        """Everything there is, as far as it is known; made anew when something changed. No call touches the disk."""
        registered = all_programmatic(self.globals)
        folders = [
            (root, found)
            for root in self._roots
            if (found := self.globals.index.peek(root.path, self._ignores)) is not None
        ]
        of = (self.globals.tools.changes, self._pin_changes, *((root, id(found)) for root, found in folders))
        with self._lock:
            if self._catalog is None or of != self._catalog_of:
                self._catalog = catalogue_search.SkillCatalog(registered, folders, self.globals.pins)
                self._catalog_of = of
            return self._catalog


def _projects(roots: Iterable[SearchRoot]) -> set[str]:
    """The project folders that the person trusts."""
    return {root.project for root in roots if root.project and root.trusted}


def _pinned_places(roots: Iterable[SearchRoot]) -> set[str]:
    """What can be taken back: trust in a project, and a repository."""
    return _projects(roots) | {root.path for root in roots if root.repository}


def _same(now: list[Snapshot], then: list[Snapshot]) -> bool:
    return len(now) == len(then) and all(one is other for one, other in zip(now, then, strict=True))


def _below(root: SearchRoot, paths: Iterable[str]) -> set[str]:
    """The paths that lie in the folder, relative to it; "" is the folder itself."""
    tops = {top.rstrip(os.sep) for top in (root.path, os.path.realpath(root.path))}
    found = set()
    for path in paths:
        for top in tops:
            if path == top or path.startswith(top + os.sep):
                found.add(path[len(top) + 1 :].replace(os.sep, "/"))
    return found


def hint_for(listing: FolderListing, rels: Iterable[str]) -> Hint:
    """Where to look for what happened to these paths: at the files, and at the nearest folders that are known."""
    files, folders = set(), set()
    for rel in rels:
        if rel in listing.files:
            files.add(rel)
        if rel in listing.folders:
            folders.add(rel)
        folders.add(next((folder for folder in parents(rel) if folder in listing.folders), ""))
    return Hint(frozenset(files), frozenset(folders))
