"""The computers that a wheel is looked for, and what the lock's conditions mean there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_ENTRY = re.compile(
    r"^([a-z0-9-]+)==([^\s;]+)(?: ; ([^\\\n]+?))?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE
)


@dataclass(frozen=True)
class Target:
    """A kind of computer: its name for a person, what pip calls it, and what conditions of the lock see."""

    name: str
    tags: tuple[str, ...]
    system: str
    """``sys.platform``."""
    machine: str

    def suffixes(self, python: str) -> tuple[str, ...]:
        """How a file of machine code ends that this computer's Python imports."""
        number = python.replace(".", "")
        if self.system == "win32":
            return (f".cp{number}-{self.tags[0]}.pyd", ".pyd")
        return (f".cpython-{number}-darwin.so", ".abi3.so", ".so")

    def marker_environment(self, python: str) -> dict[str, str]:
        """What a condition is asked against."""
        windows = self.system == "win32"
        return {
            "sys_platform": self.system,
            "platform_machine": self.machine,
            "platform_system": "Windows" if windows else "Darwin",
            "os_name": "nt" if windows else "posix",
            "python_version": python,
            "python_full_version": f"{python}.0",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }


TARGETS = (
    Target("win_amd64", ("win_amd64",), "win32", "AMD64"),
    Target("win_arm64", ("win_arm64",), "win32", "ARM64"),
    Target("macosx_arm64", ("macosx_13_0_arm64",), "darwin", "arm64"),
    Target("macosx_x86_64", ("macosx_13_0_x86_64",), "darwin", "x86_64"),
)


@dataclass(frozen=True)
class Locked:
    """One line of the lock."""

    name: str
    version: str
    marker: str
    hashes: frozenset[str]

    @property
    def line(self) -> str:
        """As pip reads it."""
        return " ".join(
            [f"{self.name}=={self.version}", *(f"--hash=sha256:{digest}" for digest in sorted(self.hashes))]
        )

    def holds(self, target: Target, python: str) -> bool:
        """Whether it is installed there."""
        return not self.marker or Marker(self.marker).evaluate(dict(target.marker_environment(python)))


def locked(lock: Path) -> Iterator[Locked]:
    """Everything that the lock names."""
    for name, version, marker, hashes in _ENTRY.findall(lock.read_text("utf-8")):
        yield Locked(name, version, marker.strip(), frozenset(re.findall(r"sha256:([0-9a-f]{64})", hashes)))
