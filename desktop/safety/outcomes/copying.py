"""A whole copy of a folder, for where no overlay can be laid: by reference where the file system can, else byte by
byte. Small folders only."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import sys

from desktop.domain.files.outcomes import NoCopy
from desktop.safety.boundary.paths import is_within
from desktop.safety.outcomes.states import is_special, looks

if sys.platform != "linux":
    raise ImportError("for Linux alone")

MAX_FILES = 20_000
MAX_BYTES = 500_000_000
_CLONE = 0x40049409  # FICLONE
_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC

Manifest = dict[str, tuple[int, ...]]
"""By relative path, how each entry of a copy looked when it was made."""


def copied(real_root: str, copy: str, closed: tuple[str, ...]) -> Manifest:
    """Copy a folder into an empty one, without what is in ``closed`` places and without pipes, sockets and devices.
    What cannot be read is left out, too: the command could not read it either. Raises NoCopy where it is too much.
    Blocks."""
    manifest: Manifest = {}
    size, folders, waiting = 0, [], [""]
    while waiting:
        inner = waiting.pop()
        for entry in _entries(os.path.join(real_root, inner)):
            relative = os.path.join(inner, entry.name)
            target, status = os.path.join(copy, relative), entry.stat(follow_symlinks=False)
            if is_special(status):
                continue
            if len(manifest) >= MAX_FILES:
                raise NoCopy(f"{real_root} holds more than {MAX_FILES:,} files, and they would have to be copied.")
            is_closed = any(is_within(entry.path, place) for place in closed)
            if stat.S_ISDIR(status.st_mode):
                os.mkdir(target, 0o700)
                folders.append((relative, status))
                waiting += [] if is_closed else [relative]
                manifest[relative] = ()
            elif is_closed:  # something has to be there, for an empty file to be laid over it
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600))
                manifest[relative] = looks(os.lstat(target))
            elif stat.S_ISLNK(status.st_mode):
                os.symlink(os.readlink(entry.path), target)
                manifest[relative] = looks(os.lstat(target))
            else:
                with contextlib.suppress(PermissionError):
                    size += _file(entry.path, target, status)
                    manifest[relative] = looks(os.lstat(target))
                if size > MAX_BYTES:
                    raise NoCopy(f"{real_root} holds more than {MAX_BYTES:,} bytes, and they would have to be copied.")
    for relative, status in reversed(folders):
        os.chmod(os.path.join(copy, relative), stat.S_IMODE(status.st_mode))
        manifest[relative] = looks(os.lstat(os.path.join(copy, relative)))
    return manifest


def _file(path: str, target: str, status: os.stat_result) -> int:
    """Copy a file with its rights and times; how many bytes that took."""
    source = os.open(path, os.O_RDONLY | _NO_LINK | os.O_NONBLOCK)
    try:
        made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        try:
            taken = 0 if _by_reference(source, made) else status.st_size
            if taken:
                with open(source, "rb", closefd=False) as reading, open(made, "wb", closefd=False) as writing:
                    shutil.copyfileobj(reading, writing, 1 << 20)
            os.fchmod(made, stat.S_IMODE(status.st_mode))
            os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(made)
    finally:
        os.close(source)
    return taken


def _by_reference(source: int, made: int) -> bool:
    """Whether the file system made the copy without copying, as Btrfs, XFS and bcachefs can."""
    try:
        fcntl.ioctl(made, _CLONE, source)
    except OSError:
        return False
    return True


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except PermissionError:
        return []
    except OSError as error:
        raise NoCopy(f"{folder} could not be copied: {error.strerror or error}.") from error
