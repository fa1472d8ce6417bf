"""Sees changes in folders, and of single files, within a second, by the system's own notifications (S-RES-2).

One thread. It watches the folders with all that is below them, and, not recursively, what is above them and the folders
of all links on the way to them: what is made, deleted, replaced or led elsewhere is noticed that way. Where the system
does not let us watch (a limit on Linux), the folders are compared with the disk from time to time instead, and seldom
enough to cost little.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Protocol

_LOG = logging.getLogger(__name__)

STEP_MS = 120
"""How often the thread looks for reported changes; a change is handed on once a step went by without another."""
SHORT_STEP_MS = 20
DEBOUNCE_MS = 500
MODIFIED = 2
"""``watchfiles.Change.modified``."""
MAX_LINKS = 40
"""So many links on one way, as the system allows: what leads on is a loop."""
FLOOD = 2_000
"""So many changes at once, and the system may have lost some: everything is looked at."""
MIN_PAUSE_S = 2.0
COST_SHARE = 20
"""Without notifications: a pause is at least so many times what the last look took."""

Changed = Callable[[frozenset[str] | None], None]
"""Called in the watching thread with absolute paths that changed; None: anything may have."""


class Notify(Protocol):
    """The part of ``watchfiles.RustNotify`` that is used."""

    def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: Any) -> Any: ...

    def close(self) -> None: ...


class OpenNotify(Protocol):
    """Raises FileNotFoundError for a folder that is not there, other OSErrors and RuntimeError when the system does not
    let us watch."""

    def __call__(self, folders: list[str], *, recursive: bool) -> Notify: ...


@cache
def _watchfiles() -> Any:
    """The one place of this room that imports watchfiles: in the watching thread, and the extension alone. What the
    package has around it brings multiprocessing, anyio and email (15 ms, 2 MB), which nobody needs here."""
    package = importlib.util.find_spec("watchfiles")
    folders = package.submodule_search_locations if package is not None else None
    found = importlib.machinery.PathFinder.find_spec("watchfiles._rust_notify", folders)
    if found is None or found.loader is None:
        raise ModuleNotFoundError("watchfiles is not installed", name="watchfiles")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def open_notify(folders: list[str], *, recursive: bool) -> Notify:
    """Start watching folders with ``watchfiles``; the watcher ends its own thread at ``close``."""
    notify: Notify = _watchfiles().RustNotify(folders, False, False, 0, recursive, True)
    return notify


class FolderWatch:
    """Watches ``folders`` with all that is in them, and single ``files``, whether or not they exist yet, until
    ``stop``. ``live``: changes are really reported."""

    def __init__(
        self,
        folders: Iterable[str],
        changed: Changed,
        *,
        files: Iterable[str] = (),
        open_notify: OpenNotify = open_notify,
    ) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._files = tuple(dict.fromkeys(files))
        self._changed = changed
        self._open = open_notify
        self._stop = threading.Event()
        self._settled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="skills-watch", daemon=True)
        self.live = False

    def start(self) -> None:
        self._thread.start()

    def wait_settled(self, timeout: float) -> bool:
        """Until it watches, or knows that it cannot. False when that took longer (seconds)."""
        return self._settled.wait(timeout)

    def stop(self, timeout: float = 10.0) -> None:
        """End the thread and the system's watches; returns when both are gone."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    # -- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        moved = False
        while not self._stop.is_set():
            try:
                moved = self._watch(moved=moved)
            except FileNotFoundError:
                self._stop.wait(STEP_MS / 1000)  # a folder went while we began
            except (OSError, RuntimeError) as error:
                _LOG.warning("folders cannot be watched (%s); they are looked at from time to time", error)
                self._look_now_and_then()
        self.live = False

    def _watch(self, *, moved: bool) -> bool:
        """Report changes until a watched folder, or what leads to one or to a file, comes, goes or leads elsewhere:
        then True. ``moved``: that ended it last time, so everything is looked at once it is watched again."""
        opened: list[Notify] = []
        ways = self._ways()
        above = _above(ways)
        try:
            # What is above first: from here on the system keeps every coming and going for us, so that no folder can
            # come between the look whether it is there and the watching.
            opened.append(self._open(sorted(above), recursive=False))
            if (now := self._ways()) != ways or _above(now) != above:
                return True
            if deep := [ways[folder][-1] for folder in self._folders if os.path.isdir(ways[folder][-1])]:
                opened.insert(0, self._open(deep, recursive=True))
            self.live = True
            if moved:
                self._report(None)  # while nothing was watched anything may have changed, anywhere
            self._settled.set()
            moved = False
            while not moved and not self._stop.is_set():
                moved = self._drained(opened, ways)
        finally:
            for notify in opened:
                notify.close()
        return moved

    def _ways(self) -> dict[str, list[str]]:
        return {path: _way(path) for path in (*self._folders, *self._files)}

    def _drained(self, opened: list[Notify], ways: dict[str, list[str]]) -> bool:
        """Wait a moment for changes and report them; whether what is watched, or the way to it, is another by now."""
        found: set[tuple[int, str]] = set()
        for number, notify in enumerate(opened):
            step = SHORT_STEP_MS if number else STEP_MS
            raw = notify.watch(DEBOUNCE_MS, step, step, self._stop)
            if not isinstance(raw, str):  # "timeout", or "stop", which the caller sees for itself
                found |= raw
        if not found:
            return False
        paths = {path for _, path in found}
        tops = {top for folder in self._folders for top in (folder, ways[folder][-1])}
        inside = {path for path in paths if any(path.startswith(top + os.sep) for top in tops)}
        inside |= {file for file in self._files if not paths.isdisjoint(ways[file])}
        self._report(None if len(paths) > FLOOD else frozenset(inside))
        moved = {path for kind, path in found if kind != MODIFIED}
        names = {name for way in ways.values() for name in way}
        if not moved.isdisjoint(tops) or any(name.startswith(path + os.sep) for path in moved for name in names):
            return True
        return not moved.isdisjoint(names) and self._ways() != ways

    def _report(self, paths: frozenset[str] | None) -> None:
        if paths is not None and not paths:
            return
        try:
            self._changed(paths)
        except Exception:  # noqa: BLE001 - whoever takes the report must not end the watching
            _LOG.exception("a change on the disk could not be taken in")

    def _look_now_and_then(self) -> None:
        self.live = False
        self._settled.set()
        self._report(None)
        pause = MIN_PAUSE_S
        while not self._stop.wait(pause):
            began = time.monotonic()
            self._report(None)
            pause = max(MIN_PAUSE_S, COST_SHARE * (time.monotonic() - began))


def _way(path: str) -> list[str]:
    """Each link on the way to a path, and at last where it leads, all by the real names of their folders, as the system
    reports them."""
    links: list[str] = []
    at = os.sep
    left = path.split(os.sep)[::-1]
    while left:
        name = left.pop()
        if name in ("", os.curdir):
            continue
        at, above = (os.path.dirname(at), at) if name == os.pardir else (os.path.join(at, name), at)
        if len(links) < MAX_LINKS and (target := _target(at)):
            links.append(at)
            at = os.sep if os.path.isabs(target) else above
            left += target.split(os.sep)[::-1]
    return [*links, at]


def _target(path: str) -> str:
    """Where a link leads; "" for what is none."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _above(ways: dict[str, list[str]]) -> set[str]:
    """The folders of all names on the ways; of one that is not there the nearest above it."""
    return {_existing(os.path.dirname(name)) for way in ways.values() for name in way}


def _existing(folder: str) -> str:
    """The folder, or the nearest one above it that is there."""
    while not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return os.path.realpath(folder)
