"""The repository explains itself: each requirement that a text names is explained in one room's README, and tested.

An id stands in bold at the beginning of a list item there, with one sentence of its own.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.architecture import rules

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"\b(?:[RS]-[A-Z]{2,4}-\d{1,2}|[CDNQ]-\d{1,2})\b")
FAMILY = re.compile(r"\b[RS]-[A-Z]{2,4}\b(?!-\d)")
EXPLAINED = re.compile(r"^- \*\*((?:[RS]-[A-Z]{2,4}-\d{1,2})|(?:[CDNQ]-\d{1,2}))\*\* (.+)$", re.MULTILINE)
ELSEWHERE = re.compile(
    r"(?<!CPython )\bissue #?\d+|\bdesign (?:card|document|note)s?\b|\bscenarios? [A-Z]\d|\bS\d\.\d+\b"
)
SUFFIXES = {".py", ".js", ".md", ".yaml", ".sql", ".toml"}
FOLDERS = ("desktop", "skills", "packaging", "tests", "resources")
ABOUT_NAMES = {"tests/architecture/test_requirements.py", "tests/architecture/test_markers.py"}
"""They hold names that are none, to prove that they are found."""


@cache
def texts() -> dict[str, str]:
    """By path the text of every file of ours that a person reads."""
    found = {}
    inside = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    for path in [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *inside]:
        if path.suffix in SUFFIXES and path.is_file():
            name = path.relative_to(ROOT).as_posix()
            if name not in ABOUT_NAMES and not name.startswith("tests/data/"):
                found[name] = path.read_text("utf-8", "replace")
    return found


def explained(readmes: dict[str, str]) -> dict[str, list[str]]:
    """By id the READMEs that explain it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, text in readmes.items():
        for name, sentence in EXPLAINED.findall(text):
            assert len(sentence) > 20, f"{path} explains {name} in too few words"
            found[name].append(path)
    return found


def readmes() -> dict[str, str]:
    return {name: text for name, text in texts().items() if re.fullmatch(r"desktop/\w+/README\.md", name)}


def unexplained(files: dict[str, str], known: dict[str, list[str]]) -> list[str]:
    """Ids that nobody explains, also those of a whole family, which mean nothing here."""
    return [
        f"{name} names {found}"
        for name, text in files.items()
        for found in sorted({*ID.findall(text), *FAMILY.findall(text)} - known.keys())
    ]


def proven(sources: list[rules.Source]) -> set[str]:
    """The ids in `mark.spec` of tests."""
    return {
        part.value
        for file in sources
        for node in file.find(ast.Call)
        if isinstance(node, ast.Call) and rules.last_name(node.func) == "spec"
        for part in node.args
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def holds(found: list[str]) -> None:
    assert not found, "\n" + "\n".join(found)


def test_every_requirement_that_is_named_is_explained_in_exactly_one_readme() -> None:
    known = explained(readmes())
    holds(unexplained(texts(), known))
    assert {name: rooms for name, rooms in known.items() if len(rooms) > 1} == {}


def test_every_requirement_that_is_explained_is_proven_by_a_test() -> None:
    marked = proven(rules.sources(ROOT, "tests"))
    holds([name for name in sorted(explained(readmes())) if name not in marked])


def test_no_text_points_to_a_document_that_is_not_here() -> None:
    """Neither by a number of an issue or a section, nor by the name of a file."""
    files = texts()
    here = {path.rpartition("/")[2] for path in files}
    holds([found for name, text in files.items() for found in leads_away(name, text, here)])


def leads_away(name: str, text: str, here: set[str]) -> list[str]:
    words = [found.group() for found in ELSEWHERE.finditer(text)]
    prose = "\n".join(rules.prose(_source(name, text), ".md")) if name.endswith(".py") and ".md" in text else ""
    prose = text if name.startswith("desktop/") and name.endswith(".md") else prose
    documents = [found for found in re.findall(r"[\w./*<>-]+\.md\b", prose) if not _is_sample(found)]
    return [f"{name}: {found}" for found in (*words, *(one for one in documents if one.split("/")[-1] not in here))]


def _source(name: str, text: str) -> rules.Source:
    """The one that other tests have read, too, if it is a file of ours."""
    return rules.source(ROOT, ROOT / name) if texts().get(name) == text else rules.Source(name, text)


def _is_sample(document: str) -> bool:
    """What a skill's file, or one of a person's project, is called in general, and no document."""
    return (
        document.endswith(("SKILL.md", "AGENTS.md", "CLAUDE.md"))
        or "skill.md" in document
        or "*" in document
        or "<" in document
    )


def test_every_room_has_a_readme() -> None:
    rooms = {path.parent for path in (ROOT / "desktop").glob("*/__init__.py")}
    assert [room.name for room in sorted(rooms) if f"desktop/{room.name}/README.md" not in readmes()] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("desktop/ui/x.py", '"""As issue 13 says."""\n'),
        ("desktop/ui/x.py", '"""See house.md."""\n'),
        ("tests/unit/x.py", "x = 1  # see notes/gone.md\n"),
        ("desktop/ui/README.md", "It follows the design card of the page.\n"),
        ("tests/unit/x.py", '"""Scenarios S5.1 to S5.8."""\n'),
    ],
)
def test_what_leads_away_is_found(name: str, text: str) -> None:
    assert leads_away(name, text, {"README.md"})


def test_what_is_here_leads_nowhere_else() -> None:
    fine = '"""CPython issue 106905; see README.md and `name.skill.md`."""\nname = "docs/gone.md"\n'
    assert leads_away("desktop/ui/x.py", fine, {"README.md"}) == []


def test_a_requirement_without_a_sentence_or_a_number_is_found() -> None:
    known = explained({"desktop/ui/README.md": "- **R-UI-1** The page has a list of threads.\n"})
    files = {"desktop/ui/x.py": '"""R-UI-1, R-UI-99, and all of R-PAT."""\n'}
    assert unexplained(files, known) == ["desktop/ui/x.py names R-PAT", "desktop/ui/x.py names R-UI-99"]
