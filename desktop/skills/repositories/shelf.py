"""What was taken of repositories, on the disk: a folder a repository, changed as a whole or not at all.

===============================================  =======================================================================
What happens                                     What is there after it
===============================================  =======================================================================
A change ends                                    The new set. The set before lies aside, until the next change.
It fails before it is decided                    The old set; nothing of the new one.
The app is ended before it is decided            The same: the next start takes the half away.
The app is ended after                           The next start carries it out to its end: the new set.
It is undone                                     The set before, and the new one lies aside.
===============================================  =======================================================================

It is decided by one file, ``change.json``, which is written last of all that is made and removed last of all that is
done; all that it stands for is on the disk before it, also when the machine loses its power. Everything here blocks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Protocol

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.files.private import make_folder, names_on_disk, on_disk, write_whole
from desktop.files.removing import remove_tree
from desktop.skills.catalogue.scan import FOLDER_FILES
from desktop.skills.editing.files import SkillFiles
from desktop.skills.formats.folder import FolderFile
from desktop.skills.names import is_bare_name
from desktop.skills.repositories.lock import FILE, LockedSource, Taken, lock_text

FOLDER = "repositories"
_CHANGE, _NEXT, _BEFORE = "change.json", "next", "before"
_MAX_STATE = 20_000_000


class Takeable(Protocol):
    """What is needed of an ``RepositoryOffer`` to take it."""

    @property
    def name(self) -> str: ...

    @property
    def main(self) -> Path | None: ...

    @property
    def files(self) -> tuple[FolderFile, ...]: ...


@dataclass(frozen=True, slots=True)
class Source:
    """A repository as it is known."""

    name: str
    """A bare name that no other has."""
    address: str
    """Where it is; no secret."""
    kind: str
    """git | folder | archive | project."""
    commit: str = ""
    """The newest one that was looked at; "" where there are none."""
    looked: float = 0.0
    """When that was, in seconds since the epoch."""
    taken: tuple[Taken, ...] = ()
    """What was taken of it."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """By key, the digest of what a person did not want in place of what they have."""
    before: tuple[Taken, ...] | None = None
    """What was taken before the last change; None where there is nothing to go back to."""

    def find(self, key: tuple[str, str]) -> Taken | None:
        """What was taken under this key."""
        return next((one for one in self.taken if one.key == key), None)


class Shelf:
    """``home`` is the app's folder. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.RLock()
        self._sources: dict[str, Source] | None = None

    # -- places -------------------------------------------------------------------------------------------------------

    def place(self, name: str) -> Path:
        """The folder of what was taken of a repository: one of those that are searched for skills."""
        return self._home / FOLDER / name

    def data(self, name: str) -> Path:
        """The folder of everything else of a repository, in which nothing is searched and nothing runs."""
        return self._home / "data" / FOLDER / name

    def folders(self) -> tuple[tuple[str, str], ...]:
        """(name, folder) of each repository of which something was taken."""
        found = [one for one in self.sources() if any(taken.kind != "server" for taken in one.taken)]
        return tuple((one.name, str(self.place(one.name))) for one in found)

    @property
    def lock_file(self) -> Path:
        """What a team can share."""
        return self._home / FILE

    @property
    def _state(self) -> Path:
        return self._home / "data" / FOLDER / "sources.json"

    # -- what there is ------------------------------------------------------------------------------------------------

    def sources(self) -> tuple[Source, ...]:
        """All repositories, by name. Raises OSError."""
        with self._lock:
            return tuple(sorted(self._read().values(), key=lambda one: one.name))

    def source(self, name: str) -> Source | None:
        """One of them."""
        with self._lock:
            return self._read().get(name)

    def put(self, source: Source) -> None:
        """Keep what is known of a repository. What was taken stays what it was. Raises OSError."""
        with self._lock:
            known = self._read().get(source.name)
            self._write(source if known is None else replace(source, taken=known.taken, before=known.before))

    def _read(self) -> dict[str, Source]:
        if self._sources is None:
            try:
                data = json.loads(_bytes(self._state))
            except OSError:
                data = {}
            except ValueError:  # it is never written in part: whatever this is, it is not lost
                os.replace(self._state, f"{self._state}.unreadable")
                data = {}
            listed = data.get("sources") if isinstance(data, dict) else None
            found = [_source(one) for one in listed] if isinstance(listed, list) else []
            self._sources = {one.name: one for one in found if one is not None}
        return self._sources

    def _write(self, source: Source | None, *, without: str = "") -> None:
        known = {name: one for name, one in self._read().items() if name != without}
        if source is not None:
            known[source.name] = source
        make_folder(self._state.parent)
        text = json.dumps({"format": 1, "sources": [_as_json(one) for one in known.values()]})
        write_whole(self._state, text.encode())
        self._sources = known
        if any(one.taken for one in known.values()) or self.lock_file.exists():
            write_whole(self.lock_file, lock_text(map(_locked, known.values())).encode())

    # -- changes ------------------------------------------------------------------------------------------------------

    def change(self, source: Source, new: Iterable[Takeable], drop: Iterable[str]) -> None:
        """What is taken of a repository becomes ``source.taken``: ``new`` are put in, in place of what has their names,
        and the names in ``drop`` are taken out. All or nothing. Raises OSError or KnownError."""
        wanted = tuple(new)
        names = {one.name for one in wanted} | set(drop)

        def fill(folder: Path) -> None:
            if before:
                _copy(self.place(source.name), folder, without=names)
            files = SkillFiles(folder.parent, lambda: (str(folder),), lambda _path: None)
            for one in wanted:
                if one.main is not None:
                    files.bring_in(one.main, [file.path for file in one.files], str(folder), one.name)

        with self._lock:
            known = self._read().get(source.name)
            before = known.taken if known is not None else ()
            self._changed(replace(source, before=before), fill)

    def undo(self, name: str) -> Source | None:
        """Back to what was taken before the last change. None where there is nothing to go back to."""
        with self._lock:
            known = self._read().get(name)
            if known is None or known.before is None:
                return None
            source = replace(known, taken=known.before, before=known.taken)
            self._changed(source, lambda folder: _copy(self.data(name) / _BEFORE, folder))
            return source

    def remove(self, name: str) -> None:
        """Everything of a repository goes: what was taken, and what is known of it."""
        with self._lock:
            known = self._read().get(name)
            if known is None:
                return
            self._write(None, without=name)
            for folder in (self.place(name), self.data(name)):
                _gone(folder)

    def _changed(self, source: Source, fill: Callable[[Path], None]) -> None:
        data = self.data(source.name)
        fresh = data / _NEXT
        _gone(fresh)
        make_folder(fresh)
        try:
            fill(fresh)
            on_disk(fresh)
            names_on_disk(data)
            write_whole(data / _CHANGE, json.dumps(_as_json(source)).encode())
        except BaseException:
            _gone(fresh)
            raise
        self._carry_out(source)

    def _carry_out(self, source: Source) -> None:
        """From where it was left, to the end. What is in ``next`` has not got its place yet."""
        data, place = self.data(source.name), self.place(source.name)
        fresh, aside = data / _NEXT, data / _BEFORE
        if fresh.exists():
            if place.exists():
                _gone(aside)
                os.rename(place, aside)
            elif source.before == ():
                _gone(aside)
                make_folder(aside)
            make_folder(place.parent)
            os.rename(fresh, place)
            for folder in (place.parent, data):
                names_on_disk(folder)
        self._write(source)
        (data / _CHANGE).unlink(missing_ok=True)

    def recover(self) -> tuple[Source, ...]:
        """Bring to its end what an earlier process had decided, and take away what it had not. Returns what changed by
        it. For the start, before anything else looks at the folders."""
        carried: list[Source] = []
        top = self._home / "data" / FOLDER
        with self._lock:
            for name in _names(top):
                with contextlib.suppress(OSError, ValueError):
                    change = top / name / _CHANGE
                    source = _source(json.loads(_bytes(change))) if change.exists() else None
                    if source is not None and source.name == name:
                        self._carry_out(source)
                        carried.append(source)
                    else:
                        _gone(top / name / _NEXT)
        return tuple(carried)


def main_of(place: Path, taken: Taken) -> Path:
    """The file of what was taken; of a server there is none."""
    for name in FOLDER_FILES:
        if (place / taken.name / name).is_file():
            return place / taken.name / name
    for ending in (".skill.md", ".skill.py", ".skill.js", ".skill.ts"):
        if (place / f"{taken.name}{ending}").is_file():
            return place / f"{taken.name}{ending}"
    return place / taken.name / FOLDER_FILES[0]


def taken_files(shelf: Shelf, source: Source) -> tuple[str, list[str]]:
    """The folder of what was taken of a repository, and the file of each."""
    place = shelf.place(source.name)
    return str(place), sorted({str(main_of(place, one)) for one in source.taken if one.kind != "server"})


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if (folder / name).is_dir())
    except OSError:
        return []


def _copy(source: Path, target: Path, *, without: Iterable[str] = ()) -> None:
    """The entries of a folder, but those of these names; links are left out."""
    left = set(without)
    for entry in list(os.scandir(source)) if source.is_dir() else ():
        if entry.is_symlink() or entry.name.partition(".")[0] in left:
            continue
        if entry.is_dir():
            shutil.copytree(entry.path, target / entry.name, ignore=_links)
        else:
            shutil.copy2(entry.path, target / entry.name)


def _links(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if os.path.islink(os.path.join(folder, name))]


def _gone(folder: Path) -> None:
    if folder.exists():
        remove_tree(str(folder))


def _bytes(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(_MAX_STATE)


# -- as JSON ----------------------------------------------------------------------------------------------------------


def _locked(source: Source) -> LockedSource:
    """Without a path of this computer."""
    here = source.kind != "git" or source.address.startswith(("/", "file:", "~"))
    return LockedSource(source.name, "" if here else source.address, source.taken)


def _as_json(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "address": source.address,
        "kind": source.kind,
        "commit": source.commit,
        "looked": source.looked,
        "taken": [_taken_json(one) for one in source.taken],
        "kept": dict(source.kept),
        "before": None if source.before is None else [_taken_json(one) for one in source.before],
    }


def _taken_json(one: Taken) -> list[Any]:
    return [one.kind, one.name, one.rel, one.commit, one.digest, one.at]


def _source(data: Any) -> Source | None:
    """None for what cannot be a repository of ours."""
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in ("name", "address", "kind")):
        return None
    if not is_bare_name(data["name"]):
        return None
    kept, before = data.get("kept"), data.get("before")
    return Source(
        data["name"],
        data["address"],
        data["kind"],
        str(data.get("commit", "")),
        float(data["looked"]) if isinstance(data.get("looked"), int | float) else 0.0,
        _all_taken(data.get("taken")),
        {str(key): str(value) for key, value in kept.items()} if isinstance(kept, dict) else {},
        None if before is None else _all_taken(before),
    )


def _all_taken(data: Any) -> tuple[Taken, ...]:
    found = []
    for one in data if isinstance(data, list) else ():
        if isinstance(one, list) and len(one) == 6 and all(isinstance(part, str) for part in one[:5]):
            kind, name, rel, commit, digest, at = one
            found.append(Taken(kind, name, rel, commit, digest, float(at) if isinstance(at, int | float) else 0.0))
    return tuple(found)
