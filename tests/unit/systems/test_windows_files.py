"""Files on Windows itself: what only leads elsewhere is not taken for a folder of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform != "win32":
    pytest.skip("needs Windows", allow_module_level=True)

from desktop.files.removing import remove_tree
from desktop.systems import disk


def junction(at: Path, to: Path) -> None:
    done = subprocess.run(["cmd", "/c", "mklink", "/J", str(at), str(to)], capture_output=True)
    if done.returncode:
        pytest.skip("no junction can be made here, as under Wine")


@pytest.mark.spec("R-PKG-3")
def test_a_folder_is_removed_without_what_a_junction_in_it_leads_to(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):
        folder.mkdir()
    (theirs / "letter.txt").write_text("keep me", encoding="utf-8")
    junction(mine / "door", theirs)
    assert disk.is_junction(mine / "door")
    assert not disk.is_junction(mine)
    remove_tree(str(mine))
    assert not mine.exists()
    assert (theirs / "letter.txt").read_text(encoding="utf-8") == "keep me"
