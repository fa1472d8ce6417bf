"""Path arithmetic of the boundary: from the text a model wrote to an absolute path without links.

Every function blocks for a few system calls at most and none opens anything.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from typing import NamedTuple

from desktop.systems import current, places, windows_names

MAX_PATH_TEXT = 4096
_ATTEMPTS = 50
VIRTUAL = ("/proc", "/sys", "/dev")
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))


class PathProblem(Exception):
    """The text names no path that may be used; the message is half a sentence for a person."""


def absolute(path: str, base: str) -> str:
    """``path`` made absolute: ``~`` expanded, relative to ``base`` (R-FS-1). ``..`` is left for ``resolve``, because
    ``link/..`` is not the folder that holds the link. Raises PathProblem."""
    if not path:
        raise PathProblem("is empty")
    if len(path) > MAX_PATH_TEXT:
        raise PathProblem(f"is longer than {MAX_PATH_TEXT} characters")
    if "\0" in path:
        raise PathProblem("contains a NUL character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise PathProblem("contains characters that no file name can have") from None
    if current.WINDOWS and (problem := windows_names.path_problem(path)):
        raise PathProblem(problem)
    expanded = os.path.expanduser(path) if path.startswith("~") else path
    if current.WINDOWS:
        return windows_names.absolute(expanded, base)
    return expanded if os.path.isabs(expanded) else os.path.join(base, expanded)


def resolve(path: str, base: str) -> str:
    """The absolute path with the links of every existing component followed, also those of the nearest existing
    ancestor of something that does not exist yet (R-FS-2). Raises PathProblem."""
    full = absolute(path, base)
    try:
        resolved = real(full)
    except (OSError, ValueError) as error:
        raise PathProblem(f"cannot be followed ({error})") from None
    if resolved.startswith("//") and not current.WINDOWS:  # POSIX lets two slashes stand; here they mean one
        resolved = resolved[1:]
    if os.path.islink(resolved):  # only a loop of links stays a link
        raise PathProblem("is a link that leads back to itself")
    return resolved


def real(path: str) -> str:
    """``os.path.realpath``, tried again when a part of the path was a link one moment and none the next. Raises OSError
    when that goes on."""
    for _ in range(_ATTEMPTS):
        try:
            return os.path.realpath(path)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
    return os.path.realpath(path)


def parts_of(path: str) -> tuple[str, ...]:
    """Components of an absolute path, the root included."""
    head, rest = os.path.splitdrive(path)
    return (head + os.sep, *[part for part in rest.split(os.sep) if part])


def is_within(path: str, folder: str, *, fold: bool = False) -> bool:
    """Whether ``path`` is ``folder`` or below it, by components (R-FS-4). ``fold``: as the file systems compare that
    take several spellings for one name."""
    if not fold and os.sep == "/" and "//" not in path and "//" not in folder:
        start = folder.rstrip("/")  # the usual case, for it is asked dozens of times for each path
        return path.startswith(start) and path[len(start) : len(start) + 1] in ("", "/")
    mine, theirs = parts_of(path), parts_of(folder)
    if fold:
        mine, theirs = tuple(map(_folded, mine)), tuple(map(_folded, theirs))
    return mine[: len(theirs)] == theirs


def spelled_alike(path: str, folder: str, *, platform: str = current.PLATFORM) -> bool:
    """The same for a folder that need not exist, by the rules of the file system where it would be (R-FS-6)."""
    if os.sep == "/" and path.isascii() and folder.isascii():
        alike = is_within(path.casefold(), folder.casefold())  # the usual case, part by part as below
    else:
        alike = is_within(path, folder, fold=True)
    if not alike:
        return False
    mine, theirs = parts_of(path), parts_of(folder)
    if platform == "darwin" and tuple(map(_normal, mine))[: len(theirs)] == tuple(map(_normal, theirs)):
        return True  # composed or not is one there, whatever the case means
    return ignores_case(folder)


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _folded(name: str) -> str:
    """Case, composition and characters that show nothing left out: rather one name too many is alike than one too
    few."""
    if name.isascii():
        return name.casefold()
    whole = unicodedata.normalize("NFKD", name)
    seen = "".join(c for c in whole if unicodedata.category(c) != "Cf" and c not in _UNSEEN)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", seen.casefold()))


def ignores_case(folder: str) -> bool:
    """Whether the file system at the nearest existing ancestor of ``folder`` takes ``A`` and ``a`` for one name."""
    here = folder
    while True:
        parent, name = os.path.split(here)
        if flag := places.marked_caseless(here):
            return flag
        swapped = name.swapcase()
        if name and swapped != name:
            try:
                mine, other = os.lstat(here), os.lstat(os.path.join(parent, swapped))
                return os.path.samestat(mine, other)
            except FileNotFoundError:
                if os.path.lexists(here):
                    return False
            except OSError:
                return False
        if parent == here:
            return places.IGNORES_CASE
        here = parent


class Identity(NamedTuple):
    """A file system object, whatever it is called: device and inode. A tuple, for each path is compared with dozens."""

    device: int
    inode: int


def identity_of(status: os.stat_result) -> Identity:
    """Device and inode of a status."""
    return Identity(status.st_dev, status.st_ino)


def describe_identity(status: os.stat_result) -> str:
    """``device:inode:size:mtime_ns:ctime_ns``, the form that approvals carry (PreCheck.identity). The last one moves
    with every change of the content, the owner and the mode, also where the time of the content is set back."""
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def existing_identities(path: str) -> set[Identity]:
    """Identities of ``path`` and all its ancestors, as far as they exist."""
    found: set[Identity] = set()
    here = path
    while True:
        try:
            found.add(identity_of(os.lstat(here)))
        except OSError:
            pass
        parent = os.path.dirname(here)
        if parent == here:
            return found
        here = parent


def special_kind(path: str, mode: int | None) -> str:
    """What makes ``path`` something other than a file or folder, or "" (R-FS-13)."""
    if any(is_within(path, root) for root in VIRTUAL):
        return "part of the system's virtual file systems"
    if mode is None or stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
