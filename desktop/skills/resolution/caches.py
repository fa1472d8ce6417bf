"""The caches of resolution and what is evicted when (R-RES-13 … R-RES-17).

``cyclic_peers`` is worked out from the lists in the index, which is there at once, so that no folder is seeded with a
part of it from an index made earlier.

Entries live as long as the process; nothing expires by time. ``find_tool`` runs in worker threads and ``find_cached``
on the loop, so the lock is held for dictionary work only, never while a file is read. What a thread worked out before
something was invalidated is not kept afterwards: it carries the generation it began in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping
from typing import Any, TypeVar

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef

PathsKey = Hashable
IgnoreKey = tuple[str, ...]

MAX_KEPT = 50_000
"""Entries of ``tool`` and ``authority``; a model that asks for ever new names does not fill the memory."""

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Names of one folder, each with its file. ``complete``: made from the disk, not from a build-time index."""

    names: Mapping[str, str]
    ignore: IgnoreKey = ()
    complete: bool = True


class Caches:
    """Each attribute is one cache; a tuple is a composite key, whose parts cannot run into each other (R-RES-14)."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.generation = 0
        self.tool: dict[tuple[str, PathsKey], SkillDef | None] = {}
        self.list: dict[PathsKey, tuple[SkillDef, ...]] = {}
        self.dir: dict[tuple[str, IgnoreKey], tuple[str, ...]] = {}
        self.cascade: dict[tuple[Any, ...], Any] = {}
        self.file: dict[str, tuple[SkillDef, ...]] = {}
        self.authority: dict[str, SkillDef | None] = {}
        self.cyclic_peers: Mapping[str, frozenset[str]] | None = None
        self.main_in_dir: dict[str, SkillDef | None] = {}
        self.name_index: dict[str, NameIndex] = {}
        self.promotions: Any = None
        self.cascade_deps: dict[tuple[Any, ...], tuple[str, ...]] = {}

    def keep(self, began: int, cache: MutableMapping[K, V], key: K, value: V) -> V:
        """Store what was worked out since generation ``began``, unless something was invalidated meanwhile."""
        with self.lock:
            if began == self.generation:
                if len(cache) >= MAX_KEPT:
                    cache.clear()
                cache[key] = value
        return value

    def keep_peers(self, began: int, peers: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
        """Keep the cyclic peers, which are worked out as a whole, unless something changed since ``began``."""
        with self.lock:
            if began == self.generation:
                self.cyclic_peers = peers
        return peers

    def evict(self, change: Callable[[], None]) -> None:
        """Run ``change`` on the caches; whatever is being worked out right now will not be kept."""
        with self.lock:
            self.generation += 1
            change()

    def forget_names(self, names: Iterable[str]) -> None:
        """Drop what is known about these names, whoever defines them now; their files are not looked at."""
        gone = frozenset(names)

        def change() -> None:
            _drop(self.tool, lambda key, found: key[0] in gone or (found is not None and found.name in gone))
            _drop(self.authority, lambda key, _: key in gone or key.rpartition("#")[2] in gone)
            self._forget_cascades()

        self.evict(change)

    def forget_folders(self, folders: Iterable[str], files: Iterable[str], names: Iterable[str]) -> None:
        """The files of some folders changed, and with them what these names mean (R-RES-17)."""
        known, paths, gone = frozenset(folders), frozenset(files), frozenset(names)

        def change() -> None:
            _drop(self.name_index, lambda key, _: key in known)
            _drop(self.dir, lambda key, _: key[0] in known)
            _drop(self.file, lambda key, _: key in paths)
            _drop(
                self.tool,
                lambda key, found: found is None or key[0] in gone or found.name in gone or found.path in paths,
            )
            self._forget_what_depends_on_files()
            self._forget_cascades()

        self.evict(change)

    def clear(self) -> None:
        """Empty all caches, ``promotions`` too (R-RES-15)."""

        def change() -> None:
            for cache in (self.tool, self.dir, self.file, self.name_index):
                cache.clear()
            self._forget_what_depends_on_files()
            self._forget_cascades()
            self.promotions = None

        self.evict(change)

    def _forget_what_depends_on_files(self) -> None:
        self.list.clear()
        self.main_in_dir.clear()
        self.authority.clear()
        self.cyclic_peers = None

    def _forget_cascades(self) -> None:
        """Any cascade may inherit from a skill that changed."""
        self.cascade.clear()
        self.cascade_deps.clear()


def _drop(cache: MutableMapping[K, V], unwanted: Callable[[K, V], bool]) -> None:
    for key in [key for key, value in cache.items() if unwanted(key, value)]:
        del cache[key]
