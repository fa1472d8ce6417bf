"""Entries of the search path: folders and patterns of what to ignore in them (R-RES-14, S-RES-1).

As written an entry is a folder, or a mapping with the one key ``external``, ``internal`` or ``ignore``; every helper
takes entries as written and as records, mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DirEntry:
    """A folder with skills. ``external``: of somebody else, as the library's; ``internal``: declared as one's own."""

    dir: str
    external: bool = False
    internal: bool = False


@dataclass(frozen=True, slots=True)
class IgnoreEntry:
    """A pattern of names that scans leave out at every depth (R-RES-7)."""

    pattern: str


Entry = DirEntry | IgnoreEntry
PathEntry = str | Mapping[str, str] | DirEntry | IgnoreEntry

_KINDS: dict[str, Callable[[str], Entry]] = {
    "external": lambda text: DirEntry(text, external=True),
    "internal": lambda text: DirEntry(text, internal=True),
    "ignore": IgnoreEntry,
}


def parse_path_entry(entry: Any) -> Entry:
    """An entry as a record. Raises ConfigurationError."""
    if isinstance(entry, DirEntry | IgnoreEntry):
        return entry
    kind, text = "folder", entry
    if isinstance(entry, Mapping):
        if len(entry) != 1 or next(iter(entry)) not in _KINDS:
            raise ConfigurationError("This path entry has to have one key: external, internal or ignore.")
        ((kind, text),) = entry.items()
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        what = "a pattern" if kind == "ignore" else "a folder"
        raise ConfigurationError(f"This path entry has to name {what}, without zero characters.")
    return _KINDS[kind](text) if kind in _KINDS else DirEntry(text)


def path_entry_dir(entry: PathEntry) -> str:
    """The folder of an entry. Raises ConfigurationError for an ignore entry, which has none: see ``iter_paths``."""
    parsed = parse_path_entry(entry)
    if isinstance(parsed, IgnoreEntry):
        raise ConfigurationError(f"The path entry {{ignore: {parsed.pattern}}} names no folder.")
    return parsed.dir


def iter_paths(paths: Iterable[PathEntry]) -> Iterator[DirEntry]:
    """The folders in order, without the ignore entries."""
    for entry in paths:
        parsed = parse_path_entry(entry)
        if isinstance(parsed, DirEntry):
            yield parsed


def extract_ignore(paths: Iterable[PathEntry]) -> list[str]:
    """The patterns of the ignore entries in order."""
    parsed = (parse_path_entry(entry) for entry in paths)
    return [entry.pattern for entry in parsed if isinstance(entry, IgnoreEntry)]


def map_paths(paths: Iterable[PathEntry], fn: Callable[[str, bool, PathEntry], Iterable[PathEntry]]) -> list[PathEntry]:
    """Each folder replaced by what ``fn(dir, external, entry)`` gives: nothing, itself, or several. Ignores stay."""
    found: list[PathEntry] = []
    for entry in paths:
        parsed = parse_path_entry(entry)
        found += [entry] if isinstance(parsed, IgnoreEntry) else fn(parsed.dir, parsed.external, entry)
    return found


def filter_paths(paths: Iterable[PathEntry], fn: Callable[[str, bool], bool]) -> list[PathEntry]:
    """The entries, as they were given, whose folder ``fn(dir, external)`` keeps. Ignores stay."""
    return map_paths(paths, lambda folder, external, entry: [entry] if fn(folder, external) else [])


def paths_key(entries: Iterable[PathEntry]) -> tuple[tuple[str, str], ...]:
    """A search path as the key of a cache: equal for equal paths, and no text in it can pass for another (R-RES-14)."""
    return tuple(_key(parse_path_entry(entry)) for entry in entries)


def _key(entry: Entry) -> tuple[str, str]:
    if isinstance(entry, IgnoreEntry):
        return "ignore", entry.pattern
    return "external" if entry.external else "internal" if entry.internal else "folder", entry.dir
