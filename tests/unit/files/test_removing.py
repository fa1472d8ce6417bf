"""A folder is removed whatever a program made in it; what only leads elsewhere stays there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.files.removing import remove_tree
from desktop.files.temporary import PREFIX
from tests.unit.files.test_temporary import OLD_OR_NEW, removed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders of Windows have no rights of this kind")


DEEP = "import os\nfor _ in range(1_100):\n    os.mkdir('deep')\n    os.chdir('deep')\nopen('file', 'w')"
"""Deeper than Python calls functions, and than a path may be long."""


def test_folders_without_rights_are_removed_too(tmp_path: Path) -> None:
    """Go fetches into folders that nobody may write."""
    folder = tmp_path / "folder"
    for name, rights in (("read", 0o500), ("none", 0o000), ("written", 0o300)):
        (folder / name / "below").mkdir(parents=True)
        (folder / name / "file").write_text("x")
        (folder / name).chmod(rights)
    folder.chmod(0o500)
    remove_tree(str(folder))
    assert os.listdir(tmp_path) == []


def test_what_links_lead_to_stays_also_where_the_folder_itself_is_one(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    elsewhere.chmod(0o500)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(elsewhere)
    (tmp_path / "in its place").symlink_to(elsewhere)
    remove_tree(str(folder))
    remove_tree(str(tmp_path / "in its place"))
    assert not folder.exists()
    assert (os.listdir(elsewhere), elsewhere.stat().st_mode & 0o777) == (["kept"], 0o500)


def test_what_a_killed_process_left_is_taken_away_however_deep_a_command_made_it(tmp_path: Path) -> None:
    left = tmp_path / f"{PREFIX}commands-left1234"
    left.mkdir(0o700)
    subprocess.run([sys.executable, "-I", "-S", "-c", DEEP], cwd=left, check=True)
    try:
        assert removed(tmp_path, OLD_OR_NEW) == {left.name}
    finally:
        subprocess.run(["rm", "-rf", str(left)], check=True)  # what pytest cannot remove either
