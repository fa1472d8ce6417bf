"""What a program or library of Linux needs: other libraries by their names, and how new a glibc."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .calling import call

GLIBC = re.compile(r"\bName: GLIBC_(\d+)\.(\d+)\b")
VERSION = re.compile(r"\bFile: (\S+)|\bName: ((?:GLIBC|GLIBCXX|CXXABI|GCC)_(\d[\d.]*))")
LIBRARY = re.compile(r"\(NEEDED\).*\[(.+)\]")


@dataclass(frozen=True)
class Needs:
    """Of one file."""

    libraries: tuple[str, ...]
    glibc: tuple[int, int]
    """(0, 0) where it uses none."""
    versions: frozenset[tuple[str, str]] = frozenset()
    """(library, version), such as ("libm.so.6", "GLIBC_2.35")."""


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
    return Needs(tuple(LIBRARY.findall(said)), max(versions, default=(0, 0)), frozenset(_versions(wanted)))


def _versions(wanted: str) -> Iterator[tuple[str, str]]:
    library = ""
    for file, version, _number in VERSION.findall(wanted):
        if file:
            library = file
        else:
            yield library, version


def newest_glibc(tree: Path) -> tuple[int, int]:
    """The oldest glibc on which everything in a folder loads."""
    return max((needs(path).glibc for path in elf_files(tree)), default=(0, 0))


def newest_versions(tree: Path) -> list[tuple[str, str]]:
    """Of each library that lies outside of a folder the newest version of each family that something in it needs. One
    number for all would not do: a system may have its libc newer than its libm."""
    newest: dict[tuple[str, str], str] = {}
    outside = from_outside(tree)
    for path in elf_files(tree):
        for library, version in needs(path).versions:
            key = (library, version.partition("_")[0])
            if library in outside and _number(version) > _number(newest.get(key, "_0")):
                newest[key] = version
    return sorted((library, version) for (library, _family), version in newest.items())


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.partition("_")[2].split("."))


def from_outside(tree: Path) -> set[str]:
    """Libraries that something in a folder needs and that are not in it."""
    inside = {path.name for path in tree.rglob("*") if ".so" in path.name}
    return {name for path in elf_files(tree) for name in needs(path).libraries} - inside
