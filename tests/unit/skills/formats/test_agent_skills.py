"""What lies in the folder of a skill in the Agent Skills format."""

import os
from pathlib import Path

from desktop.skills.formats import folder_files, load_skills_from_file
from desktop.skills.formats.folder import MAX_FILES
from tests.unit.skills.formats.kit import markdown, skill


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
