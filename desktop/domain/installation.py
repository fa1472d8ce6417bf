"""Which Assent this is, and how it came to this machine.

A package carries ``resources/build.json``, which only the package command writes; without it, the kind follows from
what lies around the code (`desktop/app/home/installation.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy_dataclass import dataclass

BUILD_FILE = "build.json"
"""Beside what else is in ``resources``."""
FORMAT = 1

Kind = Literal["checkout", "wheel", "folder", "deb", "rpm", "appimage", "flatpak", "windows", "macos", "unknown"]
"""``unknown``: its files do not say; then nothing that depends on the kind may be done."""
PackageKind = Literal["wheel", "folder", "deb", "rpm", "appimage", "flatpak", "windows", "macos"]
Installer = Literal["", "pip", "uv", "uv-tool", "uvx", "pipx", "pipx-run"]
"""What put a wheel here. ``uvx`` and ``pipx-run`` keep it in a cache, for one start or a few."""

VERSIONS = "versions"
CURRENT = "current"
LAUNCHER = "assent"
"""The self-contained folder: ``assent`` starts what ``versions/current`` leads to; each version is one folder there."""

COMMIT = re.compile(r"[0-9a-f]{40}")
_BUILT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass(frozen=True, slots=True)
class Build:
    """What the package command wrote into a package."""

    kind: PackageKind
    commit: str
    """All 40 digits."""
    built: str
    """The time of that commit in UTC, as 2026-11-27T09:00:00Z: two builds of it are the same."""

    def to_plain(self) -> dict[str, object]:
        """As it stands in the file."""
        return {"format": FORMAT, "kind": self.kind, "commit": self.commit, "built": self.built}


def build_from_plain(plain: object) -> Build:
    """Raises ConfigurationError for what the package command cannot have written."""
    if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
        raise ConfigurationError("it is not a description of a build that this version knows")
    commit, built = plain.get("commit"), plain.get("built")
    kind: PackageKind | None = next((known for known in get_args(PackageKind) if known == plain.get("kind")), None)
    if kind is None:
        raise ConfigurationError("it names no kind of package that this version knows")
    if not (isinstance(commit, str) and COMMIT.fullmatch(commit)):
        raise ConfigurationError("its commit is not 40 hexadecimal digits")
    if not (isinstance(built, str) and _BUILT.fullmatch(built)):
        raise ConfigurationError("its time is not one in UTC")
    return Build(kind, commit, built)


@dataclass(frozen=True, slots=True)
class Installation:
    """This Assent. What is not known is empty."""

    kind: Kind
    """How it came here."""
    version: str
    """Of the code, as ``desktop.__version__``."""
    code: str
    """The folder in which ``desktop``, ``resources`` and ``skills`` lie side by side."""
    commit: str = ""
    """All 40 digits; of a checkout what git has checked out."""
    built: str = ""
    """As in ``Build``."""
    installer: Installer = ""
    """Of a wheel alone."""
    root: str = ""
    """The folder that belongs to this installation as a whole: the self-contained folder with all its versions, the
    checkout, the environment of a wheel, the place of a package."""
    command: tuple[str, ...] = ()
    """What starts it again after an update, too; empty where only the running Python does."""
    trouble: str = ""
    """Why the kind is unknown."""

    @property
    def line(self) -> str:
        """Kind and commit in a line, as ``assent --version`` says them."""
        kind = f"{self.kind} by {self.installer}" if self.installer else self.kind
        return f"{kind}, {self.commit[:12]}" if self.commit else kind


def folder_root(prefix: str) -> str:
    """Where a version of the self-contained folder would have its root, by its path alone; empty when it is none."""
    above, _, _name = prefix.replace("\\", "/").rstrip("/").rpartition("/")
    root, _, middle = above.rpartition("/")
    return root if middle == VERSIONS else ""
