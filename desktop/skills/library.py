"""Markdown skills of a folder, each a record or a load problem; nothing is executed (R-SK-1 … R-SK-3, R-SK-9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop.domain.errors import NotFound
from desktop.skills.frontmatter import FrontmatterError, parse
from desktop.skills.names import is_bare_name, normal_tags

MAX_BYTES = 1_000_000
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
    try:
        if path.stat().st_size > MAX_BYTES:
            return LoadProblem(str(path), f"the file is larger than {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return LoadProblem(str(path), f"the file is not UTF-8 (byte {error.start})")
    except OSError as error:
        return LoadProblem(str(path), f"the file cannot be read: {error.strerror}")
    return skill_from_text(text, str(path))


def skill_from_text(text: str, path: str) -> SkillFile | LoadProblem:
    """What a file with this text is."""
    try:
        parsed = parse(text)
    except FrontmatterError as error:
        return LoadProblem(path, str(error), error.line, error.column)
    data = parsed.data
    name, description = data.get("name"), data.get("description")
    if not isinstance(name, str) or not is_bare_name(name):
        problem = f"name must be 1 to 64 of a-z, 0-9 and single hyphens, not {name!r}"
        return LoadProblem(path, problem, *_at(text, "name"))
    if not isinstance(description, str) or not description.strip():
        return LoadProblem(path, "description is required", *_at(text, "description"))
    metadata = data.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        return LoadProblem(path, "metadata must be a mapping", *_at(text, "metadata"))
    allowed = data.get("allowed-tools", data.get("allowedTools"))
    if isinstance(allowed, list):
        allowed = " ".join(str(entry) for entry in allowed)
    elif allowed is not None:
        allowed = str(allowed)
    tags = metadata.get("tags")
    return SkillFile(
        name,
        " ".join(description.split()),
        parsed.body,
        path,
        allowed,
        dict(metadata),
        normal_tags(tags) if isinstance(tags, list) else (),
    )


def _at(text: str, key: str) -> tuple[int, int]:
    """Line and column of a top-level key; of the frontmatter's start where it is missing."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(f"{key}:"):
            return number, len(key) + 2
        if number > 1 and line.rstrip() == "---":
            break
    return 1, 1


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
