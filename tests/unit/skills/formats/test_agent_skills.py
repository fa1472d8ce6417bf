"""The public rules of Agent Skills against the recorded verdicts of ``skills-ref`` 0.1.1 (record.py), and folders."""

import json
import os
from pathlib import Path

import pytest

from desktop.skills.formats import agent_skills_rules, folder_files, load_skills_from_file, skill_kind
from desktop.skills.formats.agent_rules import check_folder
from desktop.skills.formats.folder import MAX_FILES
from tests.unit.skills.formats.kit import markdown, skill

CASES = json.loads(Path(__file__).with_name("agent_skills.json").read_text("utf-8"))

STRICT = "their parser, strictyaml, refuses this part of YAML, which the rules do not forbid"
TEXT = "their parser takes every value for text; here it is what YAML says, and would not be text for other apps either"
ASCII = "they allow letters of any script; a name here is also a reference, which is ASCII (R-RES-3)"
DIFFERENCES = {
    "metadata-flow-list": STRICT,
    "metadata-flow-mapping": STRICT,
    "yaml-anchor": STRICT,
    "yaml-tag": STRICT,
    "name-yes": TEXT,
    "name-null": TEXT,
    "description-number": TEXT,
    "compatibility-number": TEXT,
    "name-german": ASCII,
    "name-chinese": ASCII,
    "name-spaced-quotes": "they trim a quoted name; here a name is compared as it is (R-RES-3)",
    "metadata-text": "the rules ask for a mapping, which they do not check",
    "license-list": "the rules ask for text, which they do not check",
    "fence-indented": "they look for --- anywhere, even in a value; here it is a line (R-SK-1)",
}


def ours(case: dict[str, str]) -> bool:
    """Whether we have anything against a folder."""
    path = f"/skills/{case['folder']}/{case.get('file', 'SKILL.md')}"
    return case["text"] is None or skill_kind(path) != "folder" or check_folder(path, case["text"]) != ()


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_that_of_the_reference_validator_but_for_explained_differences(name: str) -> None:
    case = CASES[name]
    assert (ours(case) == bool(case["errors"])) == (name not in DIFFERENCES)


def test_every_explained_difference_is_a_case_and_there_are_enough_of_both_kinds() -> None:
    assert DIFFERENCES.keys() <= CASES.keys()
    bad = sum(bool(case["errors"]) for case in CASES.values())
    assert min(bad, len(CASES) - bad) >= 20


def test_the_rules_are_warnings_with_their_places_and_for_folders_only() -> None:
    text = markdown(f"compatibility: {'c' * 501}\nversion: 2\ntags: [x]\n", name="B", described=False)
    found = skill(markdown(""), "a/SKILL.md")
    assert [(p.code, p.line, p.column, p.severity) for p in agent_skills_rules(found, text)] == [
        ("agent-skills.name", 2, 7, "warning"),
        ("agent-skills.description", 1, 1, "warning"),
        ("agent-skills.compatibility", 3, 16, "warning"),
        ("agent-skills.key", 4, 10, "warning"),
        ("agent-skills.key", 5, 7, "warning"),
    ]
    assert agent_skills_rules(found, "no frontmatter")[0].severity == "error"
    assert agent_skills_rules(skill(markdown("")), text) == ()


# -- what lies beside -------------------------------------------------------------------------------------------------


def test_every_file_of_a_folder_is_listed_without_links_dot_files_and_other_skills(tmp_path: Path) -> None:
    for name in (
        "scripts/b.py",
        "scripts/a.sh",
        "references/deep/er/x.md",
        "assets/p.png",
        "assets/.hidden",
        "other/no.txt",
        "forms.md",
        "node_modules/x/y.js",
        "inner/SKILL.md",
        "inner/x.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "scripts" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "scripts" / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "scripts" / "pipe")
    (tmp_path / "SKILL.md").write_text(markdown(""))
    (found,) = load_skills_from_file(str(tmp_path / "SKILL.md"), source="mine", root="").definitions
    listed = folder_files(found)
    assert [(file.path, file.size) for file in listed.files] == [
        ("forms.md", 5),
        ("assets/p.png", 5),
        ("other/no.txt", 5),
        ("references/deep/er/x.md", 5),
        ("scripts/a.sh", 5),
        ("scripts/b.py", 5),
    ]
    assert (listed.more, listed.unreadable) == (False, ())
    assert folder_files(skill(markdown(""))).files == ()


def test_a_folder_of_very_many_or_very_deep_files_is_listed_in_part(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(markdown(""))
    (found,) = load_skills_from_file(str(tmp_path / "SKILL.md"), source="mine", root="").definitions
    deep = tmp_path / "assets" / "a" / "b" / "c" / "d" / "e" / "f"
    deep.mkdir(parents=True)
    (deep / "x").touch()
    assert folder_files(found) == type(folder_files(found))((), True, ())
    (tmp_path / "scripts").mkdir()
    for number in range(MAX_FILES + 1):
        (tmp_path / "scripts" / f"{number}.py").touch()
    listed = folder_files(found)
    assert (len(listed.files), listed.more) == (MAX_FILES, True)


def test_a_script_folder_that_is_a_link_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(markdown(""))
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").touch()
    (tmp_path / "a" / "assets").symlink_to(tmp_path / "secret", target_is_directory=True)
    (found,) = load_skills_from_file(str(tmp_path / "a" / "SKILL.md"), source="mine", root="").definitions
    assert folder_files(found).files == ()
