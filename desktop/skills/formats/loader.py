"""From a path or from bytes to the skills in it: the one way in. Blocking; never raises for what a file says."""

from __future__ import annotations

from desktop.domain.errors import NotFound
from desktop.domain.skills import SkillDef, SkillProblem, SkillSource
from desktop.skills.formats.records import LoadedFile
from desktop.skills.library import LoadProblem, skill_from_text


def load_skills_from_file(path: str, *, source: SkillSource, root: str) -> LoadedFile:
    """Read one skill file (S2 ``loadSkillsFromFile``). Blocks: use a thread."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        problem = SkillProblem(path, f"the file cannot be read: {error.strerror}", code="file.unreadable")
        return LoadedFile(path, "", (), (problem,))
    return load_from_bytes(data, path, source=source, root=root)


def load_from_bytes(data: bytes, path: str, *, source: SkillSource, root: str, stamp: str = "") -> LoadedFile:
    """What a file with these bytes would be: the editor checks as a person types."""
    found = skill_from_text(data.decode("utf-8", "replace"), path)
    if isinstance(found, LoadProblem):
        problem = SkillProblem(path, found.message, found.line, found.column)
        return LoadedFile(path, stamp, (), (problem,))
    definition = SkillDef(
        found.name, found.description, "markdown", source, path, f"file://{path}", root,
        allowed_tools=found.allowed_tools, metadata=found.metadata, tags=found.tags, stamp=stamp,
    )  # fmt: skip
    return LoadedFile(path, stamp, (definition,), ())


def read_body(definition: SkillDef) -> str:
    """The body of a markdown skill as it is in the file now; NotFound when the file no longer has this skill."""
    with open(definition.path, "rb") as file:
        found = skill_from_text(file.read().decode("utf-8", "replace"), definition.path)
    if isinstance(found, LoadProblem):
        raise NotFound(f"{definition.path} no longer holds the skill {definition.name}.")
    return found.body
