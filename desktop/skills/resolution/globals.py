"""What resolution works on: configuration, programmatic tools, caches."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import field

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import SkillDef
from desktop.skills.catalogue.index import SkillIndex
from desktop.skills.catalogue.pins import Pins
from desktop.skills.catalogue.roots import SearchRoot, root_of
from desktop.skills.resolution.caches import Caches, IgnoreKey, PathsKey
from desktop.skills.values.path_entries import PathEntry, extract_ignore, iter_paths, paths_key


@dataclass(frozen=True, slots=True)
class Config:
    """Replaced as a whole, never changed. ``paths`` is the search path, ``cwd`` what path references are against.
    ``roots`` says of folders whose they are and whether the person trusts them; ``project`` is the folder of the
    project at hand, or ""."""

    paths: tuple[PathEntry, ...] = ()
    cwd: str = ""
    roots: tuple[SearchRoot, ...] = ()
    project: str = ""


@dataclass(frozen=True, slots=True)
class SearchPath:
    """A search path worked out: its folders in order, what is ignored in them, and the key that the caches use."""

    roots: tuple[SearchRoot, ...]
    ignore: IgnoreKey
    key: PathsKey


@dataclass(slots=True)
class ProgrammaticTools:
    """Tools registered by code, by name, by provider alias (C-3) and by ``src``. Written under ``lock`` only."""

    programmatic: dict[str, SkillDef] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    by_src: dict[str, str] = field(default_factory=dict)
    handed: dict[str, SkillDef] = field(default_factory=dict)
    """Refs of the runtime's own, between an agent and its provider."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    changes: int = 0


@dataclass(slots=True)
class Globals:
    """Shared by every context of the process."""

    config: Config = field(default_factory=Config)
    """Where is searched."""
    tools: ProgrammaticTools = field(default_factory=ProgrammaticTools)
    """The tools that code registered."""
    cache: Caches = field(default_factory=Caches)
    """What was found."""
    index: SkillIndex = field(default_factory=SkillIndex)
    """What is on the disk."""
    pins: Pins | None = None
    """What a person has seen; None: nobody asks."""
    watched: frozenset[str] = frozenset()
    """Folders whose changes are reported as they happen (S-RES-2)."""
    worked_out: tuple[Config, SearchPath] | None = None
    """The configured search path, worked out once."""


def search_path(globals: Globals, paths: Iterable[PathEntry] | None = None) -> SearchPath:
    """The search path of these entries, or of the configured ones. Folders of projects that are not trusted are not
    searched."""
    config = globals.config
    if paths is not None:
        return _worked_out(config, tuple(paths))
    known = globals.worked_out
    if known is None or known[0] is not config:
        known = globals.worked_out = (config, _worked_out(config, config.paths))
    return known[1]


def _worked_out(config: Config, entries: tuple[PathEntry, ...]) -> SearchPath:
    folders = dict.fromkeys(os.path.normpath(os.path.join(config.cwd, entry.dir)) for entry in iter_paths(entries))
    found = (root_of(folder, config.roots) for folder in folders)
    key = (paths_key(entries), config.cwd)
    return SearchPath(tuple(root for root in found if root.trusted), tuple(extract_ignore(entries)), key)
