"""Second names that mounts give to a place: where a path really lies, and by which other paths it is reached (Linux).

A bind mount inside an allowed folder is a door like a link, but neither ``realpath`` nor ``O_NOFOLLOW`` sees it. What
tells is the number of the mount (``statx``): a path on the mount of its allowed folder lies where it says. Where the
numbers differ, the kernel's table says what is mounted there.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.systems import current

_TABLE = "/proc/self/mountinfo"
_AT_FDCWD, _SYMLINK_NOFOLLOW, _MOUNT_ID = -100, 0x100, 0x1000
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the table: the part ``root`` of the file system ``device`` is seen at ``point``."""

    device: str
    root: str
    point: str
    kind: str = ""
    """The kind of file system, as the kernel calls it."""


class MountIds:
    """Asks the kernel on which mount something lies. None everywhere but on Linux 5.8 and later."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None) if current.LINUX else None
        self._statx = getattr(libc, "statx", None)

    def of_path(self, path: str) -> int | None:
        """The mount of the nearest existing ancestor, links not followed."""
        here = path
        while True:
            found = self._ask(_AT_FDCWD, os.fsencode(here), _SYMLINK_NOFOLLOW)
            above = os.path.dirname(here)
            if found is not None or above == here:
                return found
            here = above

    def _ask(self, folder: int, path: bytes, flags: int) -> int | None:
        if self._statx is None:
            return None
        buffer = ctypes.create_string_buffer(256)
        if self._statx(ctypes.c_int(folder), path, ctypes.c_int(flags), ctypes.c_uint(_MOUNT_ID), buffer) != 0:
            return None
        (mask,) = struct.unpack_from("I", buffer, 0)
        return int(struct.unpack_from("Q", buffer, 144)[0]) if mask & _MOUNT_ID else None


class Mounts:
    """The mounts as this process sees them now; none where there is no such table. Blocks for one read."""

    def __init__(self, text: bytes | None = None) -> None:
        fields = [line.split(" ") for line in os.fsdecode(_read() if text is None else text).splitlines()]
        self._all = [Mount(f[2], _plain(f[3]), _plain(f[4]), _kind(f)) for f in fields if len(f) > 4]
        self._by_device: dict[str, list[Mount]] = {}
        for mount in self._all:
            self._by_device.setdefault(mount.device, []).append(mount)

    def of(self, path: str) -> Mount | None:
        """The mount on which a resolved path lies: the deepest, and of those at one point the last."""
        best = None
        for mount in self._all:
            if (best is None or len(mount.point) >= len(best.point)) and _within(path, mount.point):
                best = mount
        return best

    def kind_of(self, path: str) -> str:
        """The kind of file system on which a resolved path lies, such as ``ext4``; "" where that is not known."""
        mount = self.of(path)
        return "" if mount is None else mount.kind

    def names(self, path: str) -> list[str]:
        """All other paths by which the same place is reached."""
        place = self._place(path)
        if place is None:
            return []
        device, inner = place
        names = []
        for mount in self._by_device[device]:
            if _within(inner, mount.root):
                name = _join(mount.point, inner, mount.root)
                if name != path and self.of(name) == mount:
                    names.append(name)
        return list(dict.fromkeys(names))

    def doors(self, path: str) -> list[str]:
        """All other paths that lead to the same place or into it: its names, and mounts of what lies below it."""
        place = self._place(path)
        if place is None:
            return []
        device, inner = place
        below = [m.point for m in self._by_device[device] if m.root != inner and _within(m.root, inner)]
        return self.names(path) + [point for point in below if not _within(point, path)]

    def points_below(self, folder: str) -> list[str]:
        """Where something is mounted inside a folder, the folder itself not counted."""
        return list(dict.fromkeys(m.point for m in self._all if m.point != folder and _within(m.point, folder)))

    def _place(self, path: str) -> tuple[str, str] | None:
        """Device, and the path inside its file system."""
        own = self.of(path)
        return None if own is None else (own.device, _join(own.root, path, own.point))


def _read() -> bytes:
    try:
        with open(_TABLE, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _kind(fields: list[str]) -> str:
    """What follows the fields of which there may be any number, and a hyphen."""
    rest = fields[fields.index("-") + 1 :] if "-" in fields else []
    return rest[0] if rest else ""


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), text)


def _within(path: str, folder: str) -> bool:
    """``paths.is_within`` for paths that are resolved and clean; faster, because computers can have hundreds of
    mounts."""
    return path == folder or folder == "/" or path.startswith(folder + "/")


def _join(folder: str, path: str, above: str) -> str:
    """``path`` with ``folder`` in the place of ``above``."""
    rest = path[len(above) :].strip("/") if above != "/" else path.strip("/")
    return os.path.join(folder, rest) if rest else folder
