"""Reading the instruction files of a project: AGENTS.md and CLAUDE.md, through the boundary, with caps. Blocks."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator

from desktop.domain.errors import KnownError
from desktop.domain.files.projects import InstructionState
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.safety import Access, GuardedFiles

NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_BYTES = 32 * 1024
"""Bytes of one file; a larger one is not told."""
MAX_FILES = 40
"""Files of one project."""
MAX_FOLDERS = 2_000
"""Folders that are looked through for them."""
MAX_DEPTH = 8
_SKIPPED = frozenset({"node_modules", "target", "dist", "build", "venv", "__pycache__", "vendor"})


@dataclass(frozen=True, slots=True)
class ReadInstructions:
    """One of them as it is now."""

    name: str
    state: InstructionState
    size: int = 0
    text: str = ""
    real: str = ""
    why: str = ""

    @property
    def digest(self) -> str:
        """Names exactly this content; "" for what cannot be told."""
        return hashlib.sha256(self.text.encode()).hexdigest() if self.state == "told" else ""


def read_one(files: GuardedFiles, project: str, name: str) -> ReadInstructions | None:
    """One file, as far as it could be told; None where there is none. ``files`` are those of the project's threads."""
    path = os.path.join(project, name)
    if not os.path.lexists(path):
        return None
    verdict = files.explain(path, Access.READ)
    if verdict.resolved and not _inside(verdict.resolved, project):
        return ReadInstructions(name, "a link outside", why=f"leads to {verdict.resolved}")
    if not verdict.allowed:
        return ReadInstructions(name, "closed", why=verdict.sentence)
    try:
        with files.open_read(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            data = stream.read(MAX_BYTES + 1)
    except (KnownError, OSError) as error:
        return ReadInstructions(name, "closed", why=str(error))
    if size > MAX_BYTES or len(data) > MAX_BYTES:
        return ReadInstructions(name, "too big", size, why=f"has {max(size, len(data)):,} bytes, over {MAX_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return ReadInstructions(name, "not text", size, why="is not UTF-8 text")
    return ReadInstructions(name, "told", size, text, verdict.resolved)


def read_all(files: GuardedFiles, project: str, names: Iterable[str]) -> list[ReadInstructions]:
    """Those of them that are there; one that is another's link is left out, for it says the same."""
    found: list[ReadInstructions] = []
    seen: set[str] = set()
    for name in names:
        one = read_one(files, project, name)
        if one is not None and (not one.real or one.real not in seen):
            found.append(one)
            seen.add(one.real)
    return found[:MAX_FILES]


def on_the_way(project: str, folders: Iterable[str]) -> list[str]:
    """The names that instruction files have in the project and in the folders down to these, nearest last."""
    places = {""}
    for folder in folders:
        inside = os.path.relpath(folder, project)
        if inside != "." and not inside.startswith(".."):
            parts = inside.split(os.sep)
            places |= {os.path.join(*parts[: at + 1]) for at in range(min(len(parts), MAX_DEPTH))}
    ordered = sorted(places, key=lambda place: (place.count(os.sep) + bool(place), place))
    return [os.path.join(place, name) for place in ordered for name in NAMES]


def names_in(project: str) -> list[str]:
    """All that there are in a project, the outer ones first; links to folders are not followed."""
    found = [os.path.relpath(path, project) for path in _walk(project)]
    return sorted(found, key=lambda name: (name.count(os.sep), name))[:MAX_FILES]


def _walk(project: str) -> Iterator[str]:
    waiting, seen = [(project, 0)], 0
    while waiting and seen < MAX_FOLDERS:
        folder, depth = waiting.pop(0)
        seen += 1
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            continue
        for entry in listed:
            if entry.name in NAMES:
                yield entry.path
            elif depth < MAX_DEPTH and _is_looked_into(entry):
                waiting.append((entry.path, depth + 1))


def _is_looked_into(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder in which people work."""
    if entry.name.startswith(".") or entry.name in _SKIPPED:
        return False
    try:
        return entry.is_dir(follow_symlinks=False)  # mostly without a look at the disk
    except OSError:
        return False


def _inside(path: str, project: str) -> bool:
    return path.startswith(project.rstrip(os.sep) + os.sep)
