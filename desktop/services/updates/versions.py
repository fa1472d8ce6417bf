"""The versions that lie side by side in one installation, which of them is current, and the way from one to another.

::

    assent/assent                  starts the current one (packaging/launcher/assent); launcher.py renews it
    assent/versions/1.2.4/…        one version, whole; nothing in it ever changes
    assent/versions/current        a link to one of them: to replace it is the one step that counts
    assent/versions/previous       a link to the one before, which is kept
    assent/versions/trial          names the one before until the current one has started well
    assent/versions/trial.begun    the process that starts it for the first time, written by what starts it
    assent/versions/fell-back      names one that did not start, written by what starts the one before instead
    assent/versions/.staging/      what is being laid down

Each step is on the disk before the next one is taken, and before ``current`` is replaced nothing has changed: whenever
the power goes, the old version or the new one is there, whole. Everything here blocks, and raises OSError.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.updates.numbers import is_newer, is_number
from desktop.files.holding import alone, hold
from desktop.files.private import FOLDER, names_on_disk, unfinished, write_whole
from desktop.files.removing import remove_tree

FOLDER_NAME, LAUNCHER, START = "versions", "assent", "bin/assent"
CURRENT, PREVIOUS, TRIAL, BEGUN, FELL_BACK, STAGING = (
    "current",
    "previous",
    "trial",
    "trial.begun",
    "fell-back",
    ".staging",
)
_MOST = 100
"""Bytes of a file that names a version."""


@dataclass(frozen=True, slots=True)
class Versions:
    """``top`` is the folder ``assent``, ``running`` the number of the version that this process is."""

    top: Path
    running: str

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.top / FOLDER_NAME

    @property
    def launcher(self) -> Path:
        """What starts the current one."""
        return self.top / LAUNCHER

    @property
    def current(self) -> str:
        """The one that starts the next time, or ""."""
        return self._named_by(CURRENT)

    @property
    def previous(self) -> str:
        """The one that can be gone back to, or ""."""
        found = self._named_by(PREVIOUS)
        return found if found != self.current else ""

    @property
    def writable(self) -> bool:
        """Whether this person may change them."""
        return os.access(self.folder, os.W_OK | os.X_OK)

    def place(self, version: str) -> Path:
        """Where one lies. Raises KnownError for what is no number."""
        if not is_number(version):
            raise KnownError(f"{version[:40]!a} is no number of a version.", code="updates.number")
        return self.folder / version

    def is_whole(self, version: str) -> bool:
        """Whether it is there to be started."""
        return is_number(version) and os.access(self.place(version) / START, os.X_OK)

    def hold(self) -> int:
        """Say that this process runs from its version, so that nobody takes it away meanwhile."""
        return hold(self.place(self.running))

    @contextlib.contextmanager
    def claimed(self) -> Iterator[Path]:
        """The empty folder in which a version is laid down, for this process alone. Raises BlockingIOError while
        another one has it."""
        staging = self.folder / STAGING
        with contextlib.suppress(FileExistsError):
            os.mkdir(staging, FOLDER)
        with alone(staging):
            _empty(staging)
            try:
                yield staging
            finally:
                _empty(staging)

    # -- from one to another ------------------------------------------------------------------------------------------

    def take_in(self, laid_down: Path, version: str) -> None:
        """What was laid down and is on the disk becomes one of the versions. Nothing starts it yet."""
        place = self.place(version)
        if version in (self.running, self.current):
            raise KnownError(f"Assent {version} is the version that runs.", code="updates.number")
        if os.path.lexists(place):  # half of it is there, or one that did not start
            with alone(place):
                os.rename(place, unfinished(place))
        os.rename(laid_down, place)
        names_on_disk(self.folder)

    def switch(self, version: str) -> None:
        """From the next start on, this one; the one before is kept, and comes back if it does not start."""
        now = self.current
        if not self.is_whole(version):
            raise KnownError(f"Assent {version} is not here any more.", code="updates.gone")
        if version == now:
            return
        tried = self._said_in(TRIAL)  # then the current one has never started, and is nothing to come back to
        before = tried if tried != version and self.is_whole(tried) else now
        for left in (BEGUN, FELL_BACK):
            self._forget(left)
        self._link(PREVIOUS, before)
        write_whole(self.folder / TRIAL, before.encode())
        names_on_disk(self.folder)
        self._link(CURRENT, version)

    def started_well(self) -> None:
        """This version runs: it is no trial any more."""
        if self.current == self.running:
            self._forget(TRIAL)
            self._forget(BEGUN)

    def fell_back(self) -> str:
        """The version that did not start, so that this one was started again, or ""; it is said once."""
        found = self._said_in(FELL_BACK)
        self._forget(FELL_BACK)
        return found

    def tidy(self) -> None:
        """Take away what nobody can come back to: versions older than the current one beside the one before, unless a
        process runs from them, and halves that a power cut left. A newer one may have been laid down just now."""
        if self._said_in(TRIAL):
            return
        current = self.current
        kept = {current, self._named_by(PREVIOUS), self.running, STAGING}
        with contextlib.suppress(BlockingIOError), self.claimed():
            for entry in list(os.scandir(self.folder)):
                if entry.is_symlink() or not entry.is_dir() or entry.name in kept or is_newer(entry.name, current):
                    continue
                with contextlib.suppress(BlockingIOError), alone(entry.path):
                    remove_tree(entry.path)

    # -- what names a version -----------------------------------------------------------------------------------------

    def _named_by(self, link: str) -> str:
        try:
            found = os.readlink(self.folder / link)
        except OSError:
            return ""
        return found if is_number(found) else ""

    def _said_in(self, name: str) -> str:
        try:
            with open(self.folder / name, "rb") as file:
                found = file.read(_MOST).decode("utf-8", "replace").strip()
        except OSError:
            return ""
        return found if is_number(found) else ""

    def _link(self, name: str, version: str) -> None:
        """A link is replaced in one step."""
        fresh = unfinished(self.folder / name)
        os.symlink(version, fresh)
        os.replace(fresh, self.folder / name)
        names_on_disk(self.folder)

    def _forget(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.folder / name)
            names_on_disk(self.folder)


def _empty(folder: Path) -> None:
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            remove_tree(entry.path)
        else:
            os.unlink(entry.path)


@contextlib.contextmanager
def running_from(code: Path, running: str) -> Iterator[None]:
    """While the body runs, nobody takes the version away that this process runs from, if it is one of several. A folder
    without locks is no hindrance."""
    found, held = versions_around(code, running), -1
    if found is not None:
        with contextlib.suppress(OSError):
            held = found.hold()
    try:
        yield
    finally:
        if held >= 0:
            os.close(held)


def versions_around(code: Path, running: str) -> Versions | None:
    """The versions that a process belongs to whose code lies here; None: its installation has no versions of its own,
    or it is started by another way than theirs."""
    for place in code.resolve().parents:
        if place.name == running and place.parent.name == FOLDER_NAME:
            found = Versions(place.parent.parent, running)
            return found if is_number(running) and found.launcher.is_file() and found.current else None
    return None
