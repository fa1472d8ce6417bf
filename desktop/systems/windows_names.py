"""What a name means on Windows that it does not say: pure text, so that it is the same wherever it is asked.

A name that is taken for another file, a device or a stream of a file is a way around every list of folders, and so is a
path that depends on the drive or folder in which a process happens to be. All of these are refused before anything is
looked at. Names of files that come from outside (archives, attachments) are made ``harmless``.
"""

from __future__ import annotations

import ntpath
import re

_DEVICE = re.compile(r"^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?$", re.IGNORECASE)
_DRIVE = re.compile(r"^[A-Za-z]:")
_FORBIDDEN = frozenset('<>"|?*') | frozenset(map(chr, range(1, 32)))
_TRIMMED = " ."
"""Windows drops these at the end of a name: ``notes.txt.`` opens ``notes.txt``."""


def is_device(name: str) -> bool:
    """Whether a name is a device in every folder, whatever its ending: ``nul``, ``con.txt``, ``COM¹``, ``aux .log``."""
    return _DEVICE.match(name.rstrip(_TRIMMED)) is not None


def name_problem(name: str) -> str:
    """What is wrong with one part of a path, as the end of a sentence, or ""."""
    if ":" in name:
        return "names an alternate data stream"
    if is_device(name):
        return f"names the device {name}"
    if name not in (".", "..") and name != name.rstrip(_TRIMMED):
        return "has a part that ends in a dot or a space"
    if any(character in _FORBIDDEN for character in name):
        return "has a character that no name can have on Windows"
    return ""


def path_problem(path: str) -> str:
    """What is wrong with a path, or ""; it may be absolute with its drive, begin with ``~``, or be relative."""
    normal = path.replace("/", "\\")
    if normal.startswith("\\\\"):
        return "is a network or device path"
    drive, rest = (normal[:2], normal[2:]) if _DRIVE.match(normal) else ("", normal)
    if drive and not rest.startswith("\\"):
        return "is relative to a drive"
    return next((why for part in rest.split("\\") if part and (why := name_problem(part))), "")


def absolute(path: str, base: str) -> str:
    """A path as Windows means it from ``base`` on. One that begins with a slash lies on that drive, not on the one on
    which this process happens to be."""
    drive, rest = ntpath.splitdrive(path)
    return path if drive and rest[:1] in ("\\", "/") else ntpath.join(base, path)


def harmless(name: str) -> str:
    """A file's name that means nothing else on Windows: what it may not have is replaced, a device gets a mark."""
    kept = "".join("_" if one in _FORBIDDEN or one in ":\\/" else one for one in name).rstrip(_TRIMMED)
    return f"_{kept}" if not kept or is_device(kept) else kept


def as_posix(path: str) -> str:
    """With forward slashes, for what compares names part by part."""
    return path.replace("\\", "/")
