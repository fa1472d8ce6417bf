"""What a program or library of Linux needs: other libraries by their names, and how new a glibc."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .calling import call

GLIBC = re.compile(r"\bName: GLIBC_(\d+)\.(\d+)\b")
LIBRARY = re.compile(r"\(NEEDED\).*\[(.+)\]")


@dataclass(frozen=True)
class Needs:
    """Of one file."""

    libraries: tuple[str, ...]
    glibc: tuple[int, int]
    """(0, 0) where it uses none."""


def is_elf(path: Path) -> bool:
    """Whether it is a program or library, by how it begins."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(tree: Path) -> Iterator[Path]:
    """All below a folder, in order."""
    yield from (path for path in sorted(tree.rglob("*")) if is_elf(path))


def needs(path: Path) -> Needs:
    """As `readelf` tells it."""
    step = "Install binutils (apt install binutils)."
    command: list[str | Path] = ["readelf", "--wide", "--dynamic", "--version-info", path]
    said = call(command, f"read what {path.name} needs", step, {"PATH": os.environ["PATH"], "LC_ALL": "C"})
    wanted = said.partition("Version needs section")[2]
    versions = ((int(major), int(minor)) for major, minor in GLIBC.findall(wanted))
    return Needs(tuple(LIBRARY.findall(said)), max(versions, default=(0, 0)))


def newest_glibc(tree: Path) -> tuple[int, int]:
    """The oldest glibc on which everything in a folder loads."""
    return max((needs(path).glibc for path in elf_files(tree)), default=(0, 0))


def from_outside(tree: Path) -> set[str]:
    """Libraries that something in a folder needs and that are not in it."""
    inside = {path.name for path in tree.rglob("*") if ".so" in path.name}
    return {name for path in elf_files(tree) for name in needs(path).libraries} - inside
