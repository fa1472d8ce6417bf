"""Opening what a person chose: plain files only, never through a link, and no pipe holds anybody up."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

from desktop.skills.importing.limits import MAX_ENTRIES, ImportRefused, StagedFiles
from desktop.systems import open_flags

_FLAGS = os.O_RDONLY | open_flags.NONBLOCK | open_flags.CLOEXEC | open_flags.BINARY


def open_plain(path: Path | str, *, follow: bool = True) -> IO[bytes]:
    """A regular file, to be read. Raises OSError, or ImportRefused for a pipe or a device. What a person chose may be
    a link (``follow``), what lies in a folder may not."""
    handle = os.open(path, _FLAGS | (0 if follow else open_flags.NOFOLLOW))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ImportRefused(f"{os.path.basename(path)} is no plain file.")
    return os.fdopen(handle, "rb")


def copy_folder(folder: Path, into: StagedFiles, only: Sequence[str] = ()) -> None:
    """All plain files below a folder, or of ``only`` these places in it; links are counted and left out. Raises
    ImportRefused; blocks."""
    try:
        for entry, rel in _below(str(folder), into, only=only):
            with open_plain(entry.path, follow=False) as source:
                runnable = bool(os.fstat(source.fileno()).st_mode & stat.S_IXUSR)
                into.write(rel, source, runnable=runnable)
    except OSError as error:
        raise ImportRefused(f"{folder} cannot be read: {error.strerror}.") from error


def _below(
    folder: str, into: StagedFiles, above: str = "", only: Sequence[str] = ()
) -> Iterator[tuple[os.DirEntry[str], tuple[str, ...]]]:
    with os.scandir(folder) as entries:
        found = sorted(islice(entries, MAX_ENTRIES + 1), key=lambda entry: entry.name)
    for entry in found:
        rel = f"{above}/{entry.name}" if above else entry.name
        parts = into.wanted(rel)
        if not parts or (only and not any(rel == one or one.startswith(f"{rel}/") for one in only)):
            continue
        if entry.is_symlink():
            into.links += 1
        elif entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, into, rel, () if rel in only else only)
        elif entry.is_file(follow_symlinks=False):
            yield entry, parts
        else:
            raise ImportRefused(f"It holds {rel!a}, which is a pipe or a device and no file.")
