"""An import that may put a person's skills aside, from its first file to its undo. Nothing that a person had is lost:

========================================  ==============================================================================
What happens                              What is there after it
========================================  ==============================================================================
It ends                                   The new ones. The old ones lie aside, and can be brought back.
It fails in the middle, in whatever way   The old ones, each at its place. Of the new ones nothing.
The app is ended in the middle            The next start brings the old ones back, each at its place, or beside what is
                                          there by then under a free name.
It is undone                              The old ones. The new ones lie aside.
... and a new one is gone by then         The old ones; what is gone stays gone.
... and a new one was changed by then     That stays as it is; the old one comes back beside it under a free name.
... and a file cannot be moved            All that can be is brought back. The rest lies aside, the error says where,
                                          and undoing again goes on with it.
... a second time                         Nothing changes.
The trash is swept meanwhile              What can still be brought back is not swept.
The disk is full, or a folder shut        As for any failure. Putting aside and bringing back move names, not bytes;
                                          from one disk to another a whole copy, before anything is taken away.
========================================  ==============================================================================
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.catalogue.scan import FOLDER_FILES, NO_COMPANIONS
from desktop.skills.editing.files import CannotSave, Deleted, SkillFiles

Stamp = tuple[tuple[str, int, int], ...]
_MADE_BY_RUNNING = NO_COMPANIONS | {"__pycache__"}


@dataclass(slots=True)
class _New:
    path: str
    name: str
    stamp: Stamp | None = None

    @property
    def place(self) -> str:
        return os.path.dirname(self.path) if os.path.basename(self.path) in FOLDER_FILES else self.path

    def is_changed(self) -> bool:
        """Since it was imported. What cannot be looked through counts as changed, and keeps nothing else from undo."""
        try:
            return self.stamp is not None and _stamp(self.place) != self.stamp
        except OSError:
            return True


@dataclass(frozen=True, slots=True)
class UndoneImport:
    """``paths`` of what came back, and ``words`` about what did not go as it was before, or ""."""

    paths: tuple[str, ...] = ()
    words: str = ""


class Replacement:
    """The replacement of skills by imported ones. Every method blocks; callers use a thread."""

    def __init__(self, files: SkillFiles) -> None:
        self._files = files
        self._new: list[_New] = []
        self._aside: list[Deleted] = []
        self._lock = threading.Lock()

    @property
    def put_aside_so_far(self) -> tuple[Deleted, ...]:
        """The files that new ones took the place of so far."""
        return tuple(self._aside)

    def put_aside(self, path: str, name: str) -> None:
        """Make room for a new one. Raises CannotSave."""
        self._aside.append(self._files.delete(path, name, replacing=True))

    def bring_in(self, staged: Path, files: Sequence[str], root: str, name: str) -> str:
        """The path of the new one. Raises CannotSave."""
        path = self._files.bring_in(staged, files, root, name)
        self._new.append(_New(path, name))
        return path

    def finish(self) -> None:
        """Note that all new skills are in place, and let go of the old ones."""
        for new in self._new:
            new.stamp = _stamp(new.place)
        for aside in self._aside:
            self._files.settle(aside)

    def take_back(self) -> UndoneImport:
        """Raises CannotSave after all that can be done is done; another call goes on with the rest."""
        with self._lock:
            words: list[str] = []
            failed: list[str] = []
            for new in tuple(self._new):
                self._take_out(new, words, failed)
            back = [path for one in tuple(self._aside) if (path := self._put_back(one, words, failed))]
        if failed:
            raise CannotSave(" ".join((*failed, *words)), next_step="Correct that, then undo again.")
        return UndoneImport(tuple(back), " ".join(words))

    def _take_out(self, new: _New, words: list[str], failed: list[str]) -> None:
        if os.path.lexists(new.place):
            if new.is_changed():
                words.append(f"{new.name} was changed since it was imported, and stays.")
            else:
                try:
                    self._files.delete(new.path, new.name)
                except (KnownError, OSError) as error:
                    failed.append(str(error))
                    return
        self._new.remove(new)

    def _put_back(self, aside: Deleted, words: list[str], failed: list[str]) -> str:
        try:
            path = self._files.undo(aside, beside=True)
        except KnownError as error:
            failed.append(error.advice)
            return ""
        except OSError as error:
            failed.append(str(error))
            return ""
        self._aside.remove(aside)
        if path != aside.path and os.path.dirname(path) != aside.path:
            words.append(f"Your {aside.name} came back as {path}.")
        return path


def _stamp(place: str) -> Stamp:
    """What tells whether anything in it was changed; what running it leaves there is no change."""
    if not os.path.isdir(place):
        found = os.lstat(place)
        return (("", found.st_size, found.st_mtime_ns),)
    seen: list[tuple[str, int, int]] = []
    for folder, folders, names in os.walk(place):
        folders[:] = [name for name in folders if name not in _MADE_BY_RUNNING]
        for name in (name for name in names if name not in _MADE_BY_RUNNING):
            path = os.path.join(folder, name)
            found = os.lstat(path)
            seen.append((os.path.relpath(path, place), found.st_size, found.st_mtime_ns))
    return tuple(sorted(seen))
