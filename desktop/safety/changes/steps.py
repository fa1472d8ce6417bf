"""The steps of one change, each done by a rename and each taken back by another.

Whether a step was done is not remembered but seen: device and inode say whether what has the name is what was there, or
ours, or somebody else's. So taking back can itself be interrupted and done again. What somebody else wrote since is
never touched; what was there before then stays beside it under a name that says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from desktop.domain.files.changes import ABSENT, ChangeConflict, FileState
from desktop.safety.boundary.opening import HAS_DIR_FD
from desktop.safety.changes.checking import difference
from desktop.safety.changes.handles import OpenFolders
from desktop.safety.changes.journal import ChangeStep
from desktop.safety.changes.laying import slot
from desktop.safety.changes.renames import Place, Renames
from desktop.safety.changes.states import READ_FLAGS, SeenState, StateReader
from desktop.systems import open_flags

_OLD, _NEW = ".old", ".new"
_PATH_ONLY = open_flags.PATH | open_flags.NOFOLLOW | open_flags.CLOEXEC
_NO_ONE = (0, 0)


class Mismatch(Exception):
    """What came out of a place was not what was expected there."""

    def __init__(self, conflict: ChangeConflict) -> None:
        super().__init__(conflict.why)
        self.conflict = conflict


class Steps:
    """Does steps and takes them back, in folders that are held open. Blocks; raises OSError."""

    def __init__(self, folders: OpenFolders, places: Sequence[str], renames: Renames | None = None) -> None:
        self._folders = folders
        self._renames = renames or Renames()
        self.places = places
        """Where things are laid ready, and what was taken away."""
        self._reader = StateReader(folders)
        self.kept: list[str] = []
        """Where something is now that could not get its place back."""

    # -- doing --------------------------------------------------------------------------------------------------------

    def do(self, number: int, step: ChangeStep) -> None:
        """Do a step. Raises Mismatch where somebody was faster; the caller then takes all back."""
        if step.act == "mode":
            self._change_rights(step, step.after.mode)
            return
        laid, there = self._slot(number, step), self._at(step.path)
        try:
            if step.act == "put":
                self._renames.name_free(laid, there)
                return
            if step.act == "take":
                self._renames.name_free(there, laid)
            elif not self._renames.exchange(laid, there):
                laid_old = self._slot(number, step, _OLD)
                self._renames.name_free(there, laid_old)
                self._renames.name_free(laid, there)
                laid = laid_old
        except FileExistsError:
            raise self._mismatch(step, self._reader.seen(step.path).state) from None
        except FileNotFoundError:
            raise self._mismatch(step, ABSENT) from None
        finally:
            if "folder" in (step.before.kind, step.after.kind):
                self._folders.forget(step.path)
        self._look_at_what_came_out(number, step, laid)

    def _look_at_what_came_out(self, number: int, step: ChangeStep, laid: Place) -> None:
        name = os.path.join(self.places[step.place], os.path.basename(laid.name))
        seen = self._reader.seen(name)
        if seen.state != step.before:
            raise self._mismatch(step, seen.state)
        if step.before.kind == "folder" and self._reader.names_in(name):
            raise Mismatch(ChangeConflict(step.path, step.before, seen.state, f"{step.path} is not empty any more."))

    @staticmethod
    def _mismatch(step: ChangeStep, found: FileState | None) -> Mismatch:
        why = f"{step.path} changed meanwhile." if found is None else difference(step.path, step.before, found)
        return Mismatch(ChangeConflict(step.path, step.before, found, why))

    def _change_rights(self, step: ChangeStep, mode: int) -> None:
        if not HAS_DIR_FD:
            os.chmod(step.path, mode)
            return
        name, at = self._at(step.path)
        descriptor = _open_for_rights(name, at)
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) not in (step.old, step.ours):
                raise self._mismatch(step, None)
            os.chmod(f"/proc/self/fd/{descriptor}" if _HAS_PROC else descriptor, mode)
        finally:
            os.close(descriptor)

    def sync(self, steps: Sequence[ChangeStep]) -> None:
        """Have the new names on the disk."""
        for folder in {os.path.dirname(step.path) for step in steps if step.act != "mode"}:
            self._folders.sync(folder)

    # -- taking back --------------------------------------------------------------------------------------------------

    def take_back(self, steps: Sequence[ChangeStep]) -> list[str]:
        """Undo what was done of the steps, from the last; what is still to be done, because the disk did not allow
        it."""
        left = []
        for number in range(len(steps) - 1, -1, -1):
            step = steps[number]
            try:
                self._back(number, step)
            except OSError:
                left.append(step.path)
            finally:
                if "folder" in (step.before.kind, step.after.kind):
                    self._folders.forget(step.path)
        return left

    def _back(self, number: int, step: ChangeStep) -> None:
        if step.act == "mode":
            self._rights_back(step)
            return
        there = self._reader.seen(step.path)
        if step.act == "put":
            if there.identity == step.ours and self._as_left(step, there):
                self._renames.name_free(self._at(step.path), self._slot(number, step))
            return
        old = self._old_slot(number, step)
        if old is None:
            return
        if there.state == ABSENT:
            self._give_back(old, step)
        elif step.act == "replace" and there.identity == step.ours and self._as_left(step, there):
            if not self._renames.exchange(old, self._at(step.path)):
                self._renames.name_free(self._at(step.path), self._slot(number, step, _NEW))
                self._give_back(old, step)
        else:
            self._keep(old, step)

    def _rights_back(self, step: ChangeStep) -> None:
        there = self._reader.seen(step.path)
        owned = step.ours if step.ours != _NO_ONE else step.old
        if there.state is not None and there.identity == owned and there.state.mode == step.after.mode:
            mode = step.before.mode if step.before.kind == step.after.kind else step.after.mode | 0o700
            self._change_rights(step, mode)

    def _as_left(self, step: ChangeStep, there: SeenState) -> bool:
        """Whether what has the place is ours and nobody has touched it since."""
        if there.state is not None and there.state.kind == "folder":
            return not self._reader.names_in(step.path)
        return there.state == step.after

    def _old_slot(self, number: int, step: ChangeStep) -> Place | None:
        """Where what had the place is laid, whosever it is; None: nothing was taken away."""
        for kind in ("", _OLD):
            name = os.path.join(self.places[step.place], f"{number}{kind}")
            if self._reader.seen(name).identity not in (_NO_ONE, step.ours):
                return self._slot(number, step, kind)
        return None

    def _give_back(self, old: Place, step: ChangeStep) -> None:
        try:
            self._renames.name_free(old, self._at(step.path))
        except (FileExistsError, FileNotFoundError, NotADirectoryError):
            self._keep(old, step)

    def _keep(self, old: Place, step: ChangeStep) -> None:
        """Give what was there a name beside its place: the place is somebody else's now."""
        folder = os.path.dirname(self.places[step.place])
        stem, ending = os.path.splitext(os.path.basename(step.path))
        when = time.strftime("%Y-%m-%d %H.%M")
        for count in range(1, 1000):
            path = os.path.join(folder, f"{stem} (kept {when}{'' if count == 1 else f', {count}'}){ending}")
            try:
                self._renames.name_free(old, self._at(path))
            except FileExistsError:
                continue
            self.kept.append(path)
            return

    def _at(self, path: str) -> Place:
        return Place(*self._folders.at(path))

    def _slot(self, number: int, step: ChangeStep, kind: str = "") -> Place:
        return slot(self._folders, self.places[step.place], number, kind)


_HAS_PROC = os.path.isdir("/proc/self/fd")


def _open_for_rights(name: str, at: int | None) -> int:
    """A descriptor of the thing itself, also of one that may not be read; where the system can open it so."""
    return os.open(name, _PATH_ONLY if _HAS_PROC else READ_FLAGS, dir_fd=at)
