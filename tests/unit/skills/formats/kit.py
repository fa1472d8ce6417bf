"""Short ways to read a skill in a test."""

from desktop.domain.skills import SkillDef, SkillProblem, SkillSource
from desktop.skills.formats import LoadedFile, load_from_bytes

ROOT = "/skills"


def load(text: str | bytes, file: str = "a.skill.md", source: SkillSource = "mine") -> LoadedFile:
    """What a file with this text would be."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return load_from_bytes(data, f"{ROOT}/{file}", source=source, root=ROOT)


def markdown(head: str, body: str = "Do it.\n", *, name: str = "a", described: bool = True) -> str:
    """A skill file around further lines of frontmatter."""
    description = "description: Does it.\n" if described else ""
    return f"---\nname: {name}\n{description}{head}---\n{body}"


def skill(text: str | bytes, file: str = "a.skill.md", source: SkillSource = "mine") -> SkillDef:
    """The one skill of a file."""
    (found,) = load(text, file, source).definitions
    return found


def problem(loaded: LoadedFile) -> SkillProblem:
    """The one problem of a file."""
    (found,) = loaded.problems
    return found


def place(loaded: LoadedFile) -> tuple[str, int, int, str]:
    """Code, line, column and severity of the one problem."""
    found = problem(loaded)
    return found.code, found.line, found.column, found.severity
