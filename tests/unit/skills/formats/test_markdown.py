"""Files with several skills, and bodies that only look like it (Q-1, R-SK-8)."""

from pathlib import Path

import pytest

from desktop.skills.formats import load_skills_from_file, read_body
from tests.unit.skills.formats.kit import load, markdown, place, skill

pytestmark = pytest.mark.spec("Q-1")

SEVERAL = (
    "---\nname: one\ndescription: first\n---\nbody one\n\n---\n\nstill one\n"
    "---\n# about two\nname: two\ndescription: second\nmetadata:\n  role: main\n---\nbody two\n"
    '---  \r\n"name": three\r\ndescription: third\r\nname: again\r\n---\r\n'
)


@pytest.mark.spec("R-SK-8")
def test_a_file_with_several_skills_yields_each_with_its_fragment_and_body(tmp_path: Path) -> None:
    path = tmp_path / "many.skill.md"
    path.write_bytes(SEVERAL.replace("name: again\r\n", "").encode())
    loaded = load_skills_from_file(str(path), source="project", root=str(tmp_path))
    assert loaded.problems == ()
    assert [(found.name, found.entry, found.role) for found in loaded.definitions] == [
        ("one", "one", ""),
        ("two", "two", "main"),
        ("three", "three", ""),
    ]
    assert [found.src for found in loaded.definitions] == [f"file://{path}#{name}" for name in ("one", "two", "three")]
    assert [read_body(found) for found in loaded.definitions] == ["body one\n\n---\n\nstill one\n", "body two\n", ""]
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")).replace(b"body one", b"another body one"))
    assert read_body(loaded.definitions[1]) == "body two\n"


@pytest.mark.spec("R-SK-8", "R-SK-2")
def test_one_broken_section_does_not_lose_the_others() -> None:
    loaded = load(SEVERAL, source="project")
    assert [found.name for found in loaded.definitions] == ["one", "two"]
    assert place(loaded) == ("frontmatter.duplicate-key", 21, 1, "error")


@pytest.mark.spec("R-RES-19")
def test_of_two_skills_with_one_name_in_a_file_the_first_counts() -> None:
    loaded = load(markdown("", "first\n") + markdown("metadata:\n  category: admin\n", "second\n"))
    assert [found.category for found in loaded.definitions] == [""]
    assert [p.code for p in loaded.problems] == ["name.duplicate"]


@pytest.mark.parametrize(
    "body",
    [
        "a\n\n---\n\nb\n",
        "Title\n---\ntext\n---\n",
        "---\n",
        "---\n---\n",
        "a\n---\nprose, then\nname: x\n---\nb\n",
        "```\n---\nname: x\ndescription: d\n---\n```\n",
        "~~~yaml\n---\nname: x\n---\n~~~\n",
        " ---\nname: x\n---\n",
        "````\n```\n---\nname: x\n---\n````\n",
        "---\nother: x\n---\n",
        "---\nname: x\n",
        "----\nname: x\n----\n",
        "```\n---\nname: x\n---\n",
        "a\n---\n  name: x\n---\n",
    ],
)
def test_rules_headings_and_examples_in_a_body_are_no_skills(body: str, tmp_path: Path) -> None:
    path = tmp_path / "a.skill.md"
    path.write_text(markdown("", body))
    loaded = load_skills_from_file(str(path), source="mine", root="")
    assert loaded.problems == ()
    assert [read_body(found) for found in loaded.definitions] == [body]


@pytest.mark.parametrize(
    "body", ["x\n```\ncode\n```\n---\nname: b\ndescription: d\n---\n", "`` ` ``\n---\nname: b\n---\n"]
)
def test_a_section_after_code_is_one(body: str) -> None:
    assert len(load(markdown("", body)).definitions) == 2


def test_a_folder_skill_is_one_whatever_its_body_shows() -> None:
    found = skill(markdown("", "---\nname: other\ndescription: d\n---\n"), "a/SKILL.md")
    assert (found.name, found.entry, found.body_end) == ("a", "", -1)


def test_a_file_of_very_many_skills_is_refused() -> None:
    loaded = load("---\nname: x\ndescription: d\n---\n" * 1_002)
    assert [p.code for p in loaded.problems] == ["file.skills"]
