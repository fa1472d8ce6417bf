"""config.yaml on the disk. Everything here blocks: it runs in a thread.

Beside the file lives a copy of the last one that was entirely good, so that a mistake in an edit costs nothing, not
even when Assent is started again with the mistake still in it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.domain.errors import BugError, HomeNotWritable, SettingsError, StoreFull
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.files.private import make_folder, mode_of, write_whole
from desktop.settings.checks import plain
from desktop.settings.evaluate import Evaluated, Evaluation, twice_written
from desktop.settings.spec import Problem
from desktop.settings.text import change, parse
from desktop.systems import open_flags

Stamp = tuple[int, int, int, int]
"""inode, size, time of change: equal stamps, equal file"""

MAX_BYTES = 4_000_000
_ENOSPC = (28, 122)  # no space, quota


@dataclass(frozen=True, slots=True)
class Loaded:
    """One reading of the file. ``stamp`` None: there is none. ``usable`` False: it could not be read at all."""

    evaluated: Evaluated
    stamp: Stamp | None
    usable: bool = True


class ConfigFile:
    """Reads, changes and watches one file; knows nothing of who uses the values."""

    def __init__(self, path: Path, last_good: Path, defaults: Mapping[str, Any], renames: Mapping[str, str]) -> None:
        self.path = path
        self._last_good = last_good
        self._defaults = defaults
        self._renames = renames

    def stamp(self) -> Stamp | None:
        """What the file is now; None when it is not there."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def load(self, fallback: Mapping[str, Any] | None) -> Loaded:
        """Read the file. What does not fit comes from ``fallback``, or at the start from the last good copy."""
        stamp = self.stamp()
        if fallback is None:
            fallback = self._before()
            if stamp is None:
                return Loaded(Evaluated(dict(self._defaults), (), frozenset()), None)
        try:
            raw = read_whole(self.path)
            evaluated = self._evaluate(raw, fallback)
        except (OSError, SettingsError) as error:
            kept = Evaluated(dict(fallback), (_unreadable(error, self.path),), frozenset())
            return Loaded(kept, stamp, usable=False)
        if evaluated.is_good:
            self._remember(raw)
        return Loaded(evaluated, stamp)

    def _evaluate(self, raw: bytes, fallback: Mapping[str, Any]) -> Evaluated:
        document = parse(raw)
        found = Evaluation(self._defaults, fallback, document.places, self._renames).run(document.values)
        return replace(found, problems=(*found.problems, *twice_written(document.twice)))

    def _before(self) -> dict[str, Any]:
        """The values of the last good file, or the defaults."""
        try:
            return self._evaluate(read_whole(self._last_good), self._defaults).values
        except (OSError, SettingsError):
            return dict(self._defaults)

    def _remember(self, raw: bytes) -> None:
        """A copy that cannot be made is no reason to refuse good settings."""
        with contextlib.suppress(OSError):
            if not self._last_good.exists() or self._last_good.read_bytes() != raw:
                make_folder(self._last_good.parent)
                write_whole(self._last_good, raw)

    def save(self, values: Mapping[str, Any], forget: Sequence[str], fallback: Mapping[str, Any]) -> Loaded:
        """Change keys of the file as it is now, whoever wrote it last, and read it again.

        Raises SettingsError when the file has a mistake (it is not overwritten), HomeNotWritable, StoreFull.
        """
        try:
            raw = read_whole(self.path)
        except FileNotFoundError:
            raw = b""
        except OSError as error:
            raise _unwritable(error, self.path) from error
        for problem in twice_written(parse(raw).twice):
            raise SettingsError(str(problem), line=problem.line, next_step="Remove one of the two.")
        written = change(raw.decode("utf-8-sig"), values, forget, self._renames).encode()
        again = self._evaluate(written, fallback).values
        if any(plain(again[key]) != value for key, value in values.items()):
            raise BugError("the settings would not be read as they are written; they were not saved")
        try:
            make_folder(os.path.dirname(os.path.realpath(self.path)))
            write_whole(self.path, written, mode=mode_of(self.path))
        except OSError as error:
            raise _unwritable(error, self.path) from error
        return self.load(fallback)


def read_whole(path: Path) -> bytes:
    """A file of ordinary size: a pipe would keep the start waiting, and a device has no end. Raises OSError, and
    SettingsError for what is no such file."""
    handle = os.open(path, os.O_RDONLY | open_flags.NONBLOCK | open_flags.BINARY)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SettingsError(f"{path} is no file.", next_step="Move what is there to another place.")
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise SettingsError(f"{path} is larger than {MAX_BYTES // 1_000_000} MB.", next_step="Make it shorter.")
    return raw


def _unreadable(error: OSError | SettingsError, path: Path) -> Problem:
    if isinstance(error, SettingsError):
        return Problem("", str(error), "error", error.line, error.column, error.next_step)
    if isinstance(error, FileNotFoundError):
        return Problem("", f"{path} has gone; the settings stay as they were.", "warning")
    return Problem("", f"{path} cannot be read: {error.strerror}.", next_step="Give yourself permission to read it.")


def _unwritable(error: OSError, path: Path) -> Exception:
    if error.errno in _ENOSPC:
        return StoreFull(f"The disk is full, so {path} could not be saved.", next_step="Free some space and try again.")
    return HomeNotWritable(
        f"{path} cannot be saved: {error.strerror}.", next_step="Give yourself write permission for that folder."
    )
