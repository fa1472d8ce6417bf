"""Skill files: frontmatter, names, and a folder of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.skills.frontmatter import FrontmatterError, parse
from desktop.skills.library import LoadProblem, SkillFile, load_library, skill_from_text
from desktop.skills.names import is_bare_name, normal_tags

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.spec("R-RES-3", "R-SK-2")
@pytest.mark.parametrize(
    ("name", "good"),
    [("file-read", True), ("a", True), ("a" * 64, True), ("a" * 65, False), ("a--b", False), ("-a", False),
     ("a-", False), ("A", False), ("a_b", False), ("a/b", False), ("", False), ("a\n", False), ("7zip", True),
     ("é", False)],
)  # fmt: skip
def test_bare_names(name: str, good: bool) -> None:
    assert is_bare_name(name) is good


@pytest.mark.spec("R-VIS-3")
def test_tags_are_lowered_hyphened_trimmed_and_kept_once() -> None:
    assert normal_tags(["Big Data", "big--data", " !x! ", "", "???", "B"]) == ("big-data", "x", "b")


@pytest.mark.spec("R-SK-1", "R-SK-9")
def test_a_markdown_skill_is_read_with_its_body_byte_for_byte() -> None:
    head = "name: my-skill\ndescription: Does it.\nallowed-tools: [read-file, bash]\nmetadata:\n  tags: [A, b]\n"
    text = f"---\n{head}---\n# T\n\n x\n"
    skill = skill_from_text(text, "p.md")
    assert isinstance(skill, SkillFile)
    assert skill.body == "# T\n\n x\n"
    assert skill.allowed_tools == "read-file bash"
    assert skill.allowed_names == ("read-file", "bash")
    assert skill.tags == ("a", "b")


def test_absent_and_empty_allowed_tools_differ() -> None:
    absent = skill_from_text("---\nname: a\ndescription: d\n---\n", "p.md")
    empty = skill_from_text('---\nname: a\ndescription: d\nallowed-tools: ""\n---\n', "p.md")
    assert absent.allowed_names is None
    assert empty.allowed_names == ()


@pytest.mark.spec("R-SK-2", "R-SK-3")
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("no fence", 1, "does not begin"),
        ("---\nname: a\n", 2, "not closed"),
        ("---\ndescription: d\nname: Bad_Name\n---\n", 3, "name must be"),
        ("---\nname: a\n---\n", 1, "description is required"),
        ("---\nname: a\ndescription: [x\n---\n", 4, ""),
        ("---\n- a\n- b\n---\n", 2, "mapping"),
        ("---\nname: a\ndescription: d\nmetadata: 7\n---\n", 4, "metadata must be"),
        ("---\nname: a\ndescription: !!python/object:os.system x\n---\n", 3, "is not allowed"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_problem_with_its_line(text: str, line: int, said: str) -> None:
    problem = skill_from_text(text, "p.md")
    assert isinstance(problem, LoadProblem)
    assert problem.line == line
    assert said in problem.message


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle() -> None:
    parsed = parse("\ufeff---\r\nname: a\r\n---\r\nbody\r\n")
    assert (parsed.data, parsed.body, parsed.body_line) == ({"name": "a"}, "body\r\n", 4)


def test_endless_frontmatter_is_refused() -> None:
    with pytest.raises(FrontmatterError, match="longer"):
        parse("---\n" + "x: y\n" * 50_000)


@pytest.mark.spec("R-RES-7", "R-RES-19", "R-SK-2")
def test_a_folder_yields_its_skills_and_its_problems_and_follows_no_links(tmp_path: Path) -> None:
    def write(path: str, name: str) -> None:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nname: {name}\ndescription: d {path}\n---\n")

    write("a/SKILL.md", "one")
    write("b/two.skill.md", "two")
    write("c/SKILL.md", "one")
    write("node_modules/x/SKILL.md", "hidden-away")
    (tmp_path / "bad.skill.md").write_bytes(b"\xff\xfe")
    (tmp_path / "big.skill.md").write_text("x" * 1_000_001)
    (tmp_path / "readme.md").write_text("not a skill")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    library = load_library(tmp_path)
    assert sorted(library.skills) == ["one", "two"]
    assert library.get("one").description == "d a/SKILL.md"
    assert sorted(Path(p.path).name for p in library.problems) == ["SKILL.md", "bad.skill.md", "big.skill.md"]


@pytest.mark.spec("R-BLT-8")
def test_the_library_that_ships_has_no_problems_and_the_assistant_in_it() -> None:
    library = load_library(ROOT / "skills")
    assert library.problems == ()
    assistant = library.get("assistant")
    assert "meta-internal" in assistant.tags
    assert assistant.metadata["category"] == "read"
