"""Whether a folder can be a project: a folder that a thread works in, and that is open to its calls alone.

A project opens what it holds, so what a folder has become since a person chose it is looked at for every call: one that
is gone, or leads elsewhere by now, opens nothing.
"""

from __future__ import annotations

import os
import stat

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.safety.boundary import paths
from desktop.safety.boundary.disk_snapshot import StatCache

_SYSTEM = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/System",
    "/Library",
    "/Applications",
    "C:\\Windows",
    "C:\\Program Files",
    "C:\\Program Files (x86)",
    "C:\\ProgramData",
)

_STAND_IN = lazy_pattern(r"/run/(user/\d+|flatpak)/doc/.")
"""What Flatpak's file dialog gives for a folder that is not shared: below /run, where agents have no business."""


def closed_because(project: str, moment: StatCache | None = None) -> str:
    """Why a project's folder opens nothing as the disk is now, as words after its path; "": it may. Blocks."""
    moment = moment or StatCache()
    if not os.path.isabs(project) or "\0" in project:
        return "is no folder's whole path"
    if not project.isprintable():
        return "has characters in its name that cannot be seen"
    status = moment.status(project)
    if status is None:
        return "is gone"
    if stat.S_ISLNK(status.st_mode):
        return f"is a link to {moment.real(project)}"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    real = moment.real(project)
    if real != project:
        return f"leads to {real} by a link"
    return too_wide(real)


def too_wide(real: str) -> str:
    """Why a resolved folder holds too much to be a project, or ""."""
    if paths.is_within(os.sep, real) or os.path.dirname(real) == real:
        return "holds the whole computer"
    home = paths.real(os.path.expanduser("~"))
    if paths.is_within(home, real):
        return "is your home folder" if home == real else "holds your home folder"
    if _STAND_IN.match(real):
        return "is a stand-in that Flatpak made for it; share the folder itself, as Help says under Installing"
    if any(paths.is_within(real, system) for system in _SYSTEM):
        return "belongs to the system"
    return ""
