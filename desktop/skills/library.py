"""Markdown skills of a folder, each a record or a load problem; nothing is executed (R-SK-1 … R-SK-3, R-SK-9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop.domain.errors import NotFound
from desktop.domain.skills import SkillDef
from desktop.skills.formats import LoadedFile, load_from_bytes, load_skills_from_file, read_body

IGNORED = frozenset({"dist", "node_modules", ".git", ".cache", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A markdown skill as it stands in its file. ``allowed_tools`` None: not given, so everything is allowed."""

    name: str
    description: str
    body: str
    path: str
    allowed_tools: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    @property
    def allowed_names(self) -> tuple[str, ...] | None:
        """``allowed-tools`` as single words."""
        return None if self.allowed_tools is None else tuple(self.allowed_tools.split())


@dataclass(frozen=True, slots=True)
class LoadProblem:
    """A file that cannot be used, or only in part: what and where (line and column from 1)."""

    path: str
    message: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


def read_skill(path: Path) -> SkillFile | LoadProblem:
    """Read one file. Blocks; never raises for what the file says."""
    loaded = load_skills_from_file(str(path), source="library", root="")
    if any(problem.severity == "error" for problem in loaded.problems):
        return _problem(loaded)
    return _file(loaded.definitions[0], read_body(loaded.definitions[0]))


def skill_from_text(text: str, path: str) -> SkillFile | LoadProblem:
    """What a file with this text is."""
    loaded = load_from_bytes(text.encode("utf-8", "replace"), path, source="library", root="")
    if any(problem.severity == "error" for problem in loaded.problems):
        return _problem(loaded)
    found = loaded.definitions[0]
    return _file(found, text[found.body_at : found.body_end if found.body_end >= 0 else None])


def _problem(loaded: LoadedFile) -> LoadProblem:
    first = next(problem for problem in loaded.problems if problem.severity == "error")
    return LoadProblem(first.path, first.message, first.line, first.column)


def _file(found: SkillDef, body: str) -> SkillFile:
    return SkillFile(found.name, found.description, body, found.path, found.allowed_tools, found.metadata, found.tags)


def skill_files(root: Path) -> Iterator[Path]:
    """``SKILL.md`` and ``*.skill.md`` under ``root`` in a fixed order; links to folders are not followed (R-RES-7)."""
    try:
        entries = sorted(root.iterdir(), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink() and entry.name not in IGNORED:
            yield from skill_files(entry)
        elif entry.name == "SKILL.md" or entry.name.endswith(".skill.md"):
            yield entry


@dataclass(frozen=True, slots=True)
class Library:
    """The skills of a folder by name. Of two files with one name the first by path counts (R-RES-19)."""

    skills: Mapping[str, SkillFile]
    problems: tuple[LoadProblem, ...]

    def get(self, name: str) -> SkillFile:
        """The skill, or NotFound."""
        skill = self.skills.get(name)
        if skill is None:
            raise NotFound(f"There is no skill named {name!r}.")
        return skill


def load_library(root: Path) -> Library:
    """Read every markdown skill under ``root``. Blocks: use a thread."""
    skills: dict[str, SkillFile] = {}
    problems: list[LoadProblem] = []
    for path in skill_files(root):
        found = read_skill(path)
        if isinstance(found, LoadProblem):
            problems.append(found)
        elif found.name in skills:
            problems.append(LoadProblem(found.path, f"{found.name} is already defined by {skills[found.name].path}"))
        else:
            skills[found.name] = found
    return Library(skills, tuple(problems))
