"""Of which folders a command gets a copy, and where none can be had."""

from __future__ import annotations

from desktop.domain.files.outcomes import NoCopy
from desktop.safety.boundary.mounts import Mounts
from desktop.safety.boundary.paths import is_within
from desktop.safety.confinement.profile import SandboxProfile, by_depth

REMOTE = frozenset(
    {
        "9p",
        "afs",
        "ceph",
        "cifs",
        "coda",
        "gfs2",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
        "smbfs",
    }
)
"""File systems on which others write, too: what a copy shows of them can be wrong while it is looked at."""


def outermost(folders: tuple[str, ...]) -> list[str]:
    """Without those that lie in another one."""
    found: list[str] = []
    for path in by_depth(set(folders)):
        if not any(is_within(path, above) for above in found):
            found.append(path)
    return found


def folders_to_copy(profile: SandboxProfile, own: str, mounts: Mounts) -> list[str]:
    """The folders that a command in this sandbox may write. ``own`` is where copies are kept. Raises NoCopy. Blocks for
    some system calls."""
    found = outermost(profile.writable)
    for root in found:
        if root == "/" or is_within(own, root):
            raise NoCopy(f"{root} is open to commands, and Assent's own data lies in it.")
        for point in mounts.points_below(root):  # the kernel lays no overlay over them in a namespace of users
            raise NoCopy(f"{point} is mounted inside {root}.")
        kind = mounts.kind_of(root)
        if kind in REMOTE:
            raise NoCopy(f"{root} is on a network file system ({kind}).")
        if kind.startswith("fuse"):
            raise NoCopy(f"{root} is on a file system of another program ({kind}).")
    return found
