"""What would end a build is said before it begins, not when most of it is done; and one build at a time writes into a
folder."""

import contextlib
import os
import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from desktop.systems import file_lock

from ..words import Stop, say

HALF_MADE = ".making-"
"""What a folder is called in which a build works."""
LOCK = ".lock"
PROGRAMS = (
    ("git", "git", "sdist wheel folder deb rpm appimage flatpak windows macos"),
    ("readelf", "binutils", "folder deb rpm appimage flatpak"),
    ("strip", "binutils", "folder deb rpm appimage flatpak"),
    ("ldd", "libc-bin", "folder deb rpm appimage flatpak"),
    ("mksquashfs", "squashfs-tools", "appimage"),
    ("makensis", "nsis", "windows"),
)
"""Program, Debian's package with it, and the kinds that need it."""
SMALL, LARGE = 200_000_000, 3_000_000_000
"""Bytes that a build takes while it works: of the sdist and the wheel, and of any other kind (measured: 2.2 GB)."""


def refuse_what_cannot_be_made(kinds: Collection[str], out: Path, checkout: bool, search: str | None = None) -> None:
    """Raises Stop. ``out`` is there; ``search`` is where programs are looked for, else as in PATH."""
    for program, package, of in PROGRAMS:
        if set(kinds) & set(of.split()) and (checkout or program != "git") and not shutil.which(program, path=search):
            raise Stop(
                f"{program} is not on this computer, and a build needs it.",
                f"Install {package} (apt install {package}), then run this again.",
            )
    refuse_full_disk(out, SMALL if set(kinds) <= {"sdist", "wheel"} else LARGE)


def refuse_full_disk(out: Path, wanted: int) -> None:
    """Raises Stop where fewer bytes than that are free."""
    free = shutil.disk_usage(out).free
    if free < wanted:
        raise Stop(
            f"{out} has {free / 1e9:.1f} GB free, and this needs {wanted / 1e9:.1f} GB while it works.",
            "Free some, or name a folder on another disk with --out.",
        )


@contextlib.contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Raises Stop where another build writes into this folder. What one left that was killed is removed."""
    lock = _opened(out)
    try:
        try:
            file_lock.take(lock)
        except BlockingIOError as error:
            step = "Wait for it, or name another folder with --out."
            raise Stop(f"Another build is writing into {out}.", step) from error
        for left in out.glob(f"{HALF_MADE}*"):
            if left.is_dir() and not left.is_symlink():
                say(f"removing what an earlier build left half made: {left.name}")
                shutil.rmtree(left)
        yield
    finally:
        os.close(lock)


def _opened(out: Path) -> int:
    """The folder itself, or on Windows, which locks no folders, a file in it that stays."""
    if sys.platform == "win32":
        return os.open(out / LOCK, os.O_CREAT | os.O_RDWR)
    return os.open(out, os.O_RDONLY)
