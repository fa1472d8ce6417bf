"""The repository explains itself: each requirement that code or a test names is explained in one room's README.

An id stands in bold at the beginning of a list item there, with one sentence of its own.
"""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"\b(?:[RS]-[A-Z]{2,4}-\d{1,2}|[CDNQ]-\d{1,2})\b")
EXPLAINED = re.compile(r"^- \*\*((?:[RS]-[A-Z]{2,4}-\d{1,2})|(?:[CDNQ]-\d{1,2}))\*\* (.+)$", re.MULTILINE)
READMES = sorted((ROOT / "desktop").rglob("README.md"))
SUFFIXES = {".py", ".js", ".md", ".yaml", ".sql", ".toml"}


def _cited(*folders: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.name != "README.md" and path.is_file():
                for name in ID.findall(path.read_text("utf-8", "replace")):
                    found[name].add(path.relative_to(ROOT).as_posix())
    return found


def _explained() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in READMES:
        for name, sentence in EXPLAINED.findall(path.read_text("utf-8")):
            assert len(sentence) > 20, f"{path.parent.name} explains {name} in too few words"
            found[name].append(path.parent.name)
    return found


def test_every_requirement_that_is_named_is_explained_in_exactly_one_readme() -> None:
    explained = _explained()
    cited = _cited("desktop", "skills", "packaging", "tests")
    assert {name: sorted(files)[:3] for name, files in cited.items() if name not in explained} == {}
    assert {name: rooms for name, rooms in explained.items() if len(rooms) > 1} == {}


def test_every_requirement_that_is_explained_has_a_test_that_names_it() -> None:
    tested = _cited("tests")
    assert [name for name in sorted(_explained()) if name not in tested] == []


def test_every_room_has_a_readme() -> None:
    rooms = {path.parent for path in (ROOT / "desktop").glob("*/__init__.py")}
    assert [room.name for room in sorted(rooms) if room / "README.md" not in READMES] == []
