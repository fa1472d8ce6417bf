"""Whether a change set fits the disk: every place may be written, and is still as the set says it was."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from desktop.domain.errors import BoundaryViolation
from desktop.domain.files.changes import ChangeConflict, FileChange, FileState
from desktop.domain.safety import Access
from desktop.safety.boundary.disk_snapshot import StatCache
from desktop.safety.boundary.opening import failure_of
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.changes.handles import OpenFolders
from desktop.safety.changes.states import SeenState, StateReader


class _NamesOnly(StatCache):
    """Judges a place by its name where something lies there that is neither file nor folder: a link is taken away or
    replaced itself, and what it leads to is not touched."""

    def status(self, path: str) -> os.stat_result | None:
        found = super().status(path)
        return found if found is None or _is_plain(found) else None


def _is_plain(status: os.stat_result) -> bool:
    return status.st_mode & 0o170000 in (0o100000, 0o040000)


class Checking:
    """Looks at all the places of a change set once. Blocks."""

    def __init__(self, policy: BoundaryPolicy, folders: OpenFolders, changes: Sequence[FileChange]) -> None:
        self._policy = policy
        self._folders = folders
        self._reader = StateReader(folders)
        self._changes: Mapping[str, FileChange] = {change.path: change for change in changes}
        self._names, self._links = _NamesOnly(), StatCache()
        self._lists = policy.lists(StatCache())
        self.seen: dict[str, SeenState] = {}
        """What was found, by path."""
        self._ready: dict[str, str] = {}

    def conflicts(self) -> list[ChangeConflict]:
        """All that is not as it should be. Raises BoundaryViolation for a path that may not be written, and ToolFailure
        for what the disk says."""
        found = []
        for change in self._changes.values():
            self._require(change.path)
            try:
                conflict = self._conflict(change)
            except OSError as error:
                raise failure_of(change.path, error) from error
            if conflict is not None:
                found.append(conflict)
        return found

    def _require(self, path: str) -> None:
        verdict = self._policy.judge(path, path, Access.WRITE, self._names, self._lists)
        if not verdict.allowed:
            raise BoundaryViolation(verdict.sentence)

    def laid_ready_in(self, path: str) -> str:
        """The nearest folder above a path that is there and stays. Raises BoundaryViolation where that is closed."""
        above = here = os.path.dirname(path)
        if above not in self._ready:
            while not self._stays(here):
                here = os.path.dirname(here)
            self._require(os.path.join(here, "new"))
            self._ready[above] = here
        return self._ready[above]

    def _stays(self, folder: str) -> bool:
        change = self._changes.get(folder)
        if change is not None:
            return change.before.kind == change.after.kind == "folder"
        return self._links.status(folder) is not None

    def _conflict(self, change: FileChange) -> ChangeConflict | None:
        if link := self._link_above(change.path):
            return ChangeConflict(change.path, change.before, None, f"{link} is a link now.")
        seen = self.seen[change.path] = self._reader.seen(change.path)
        if seen.state is None:
            return ChangeConflict(change.path, change.before, None, f"{change.path} is {seen.what} now.")
        if seen.state != change.before:
            return ChangeConflict(
                change.path, change.before, seen.state, difference(change.path, change.before, seen.state)
            )
        if change.before.kind == "folder" and change.after.kind != "folder" and (more := self._more_in(change.path)):
            why = f"{change.path} holds {more}, which this does not remove."
            return ChangeConflict(change.path, change.before, seen.state, why)
        return self._without_folder(change, seen.state)

    def _link_above(self, path: str) -> str:
        """The folder above that is a link, or below one; "" where none is. What the set itself makes is no way yet."""
        above = os.path.dirname(path)
        while (change := self._changes.get(above)) is not None and change.before.kind != "folder":
            above = os.path.dirname(above)
        return "" if self._links.real(above) == above else above

    def _more_in(self, folder: str) -> str:
        """Something in a folder that the set does not take away, or ""."""
        for name in self._reader.names_in(folder):
            change = self._changes.get(os.path.join(folder, name))
            if change is None or change.after.kind != "absent":
                return name
        return ""

    def _without_folder(self, change: FileChange, state: FileState) -> ChangeConflict | None:
        above = os.path.dirname(change.path)
        if change.after.kind == "absent" or above in self._changes or state.kind != "absent":
            return None
        status = self._links.status(above)
        if status is not None and status.st_mode & 0o170000 == 0o040000:
            return None
        what = "is not there any more" if status is None else "is no folder any more"
        return ChangeConflict(change.path, change.before, state, f"{above} {what}.")


def difference(path: str, expected: FileState, found: FileState) -> str:
    """What happened to a place, as a sentence."""
    if found.kind == "absent":
        return f"{path} is not there any more."
    if expected.kind == "absent":
        return f"There is a {found.kind} at {path} now."
    if found.kind != expected.kind:
        return f"{path} is a {found.kind} now."
    if found.kind == "link":
        return f"The link {path} leads elsewhere now."
    if found.digest != expected.digest:
        return f"{path} has another content now."
    return f"{path} has other rights now."
