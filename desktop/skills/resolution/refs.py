"""The three forms of a tool reference, and what each names (R-RES-1 … R-RES-4)."""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import unquote

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.names import is_bare_name
from desktop.systems import current

RefForm = Literal["uri", "bare", "path"]

SCHEMES = ("file://", "mcp://", "inline://")
MAX_REF = 4096
"""Characters; a longer reference names nothing."""


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A skill file by absolute path; ``fragment`` is the skill's name in a multi-skill file, or "" (R-SK-8)."""

    path: str
    fragment: str = ""

    @property
    def key(self) -> str:
        """What the caches know it by; no bare name looks like it."""
        return f"{self.path}#{self.fragment}"


def classify(ref: str) -> RefForm:
    """URI, bare name, path: decided in this order; whatever is neither of the first two is a path (R-RES-1)."""
    if ref.startswith(SCHEMES):
        return "uri"
    return "bare" if is_bare_name(ref) else "path"


def usable(ref: str) -> bool:
    """Whether anything can have this name at all: bounded, and without NUL, which no path may hold."""
    return 0 < len(ref) <= MAX_REF and "\0" not in ref


def file_target(uri: str) -> FileTarget | None:
    """The file of a ``file://`` URI; None for another machine's or a relative one (R-RES-2)."""
    rest, _, fragment = uri.removeprefix("file://").partition("#")
    path = unquote(rest.removeprefix("localhost") if rest.startswith("localhost/") else rest)
    if current.WINDOWS:
        path = path.lstrip("/")
    if not os.path.isabs(path) or "\0" in path:
        return None
    return FileTarget(os.path.normpath(path), unquote(fragment))


def path_target(ref: str, cwd: str) -> FileTarget:
    """The file that a path names, against ``cwd`` (R-RES-4). What follows ``#`` counts only if it can be a name."""
    path, mark, fragment = ref.rpartition("#")
    if not mark or not path or not is_bare_name(fragment):
        path, fragment = ref, ""
    return FileTarget(os.path.normpath(os.path.join(cwd, os.path.expanduser(path))), fragment)
