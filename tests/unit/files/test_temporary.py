"""Temporary folders of a process that was killed are taken away by a later start; those in use, and others', stay."""

import os
import subprocess
import sys
from pathlib import Path

from desktop.files.temporary import PREFIX

COMMAND = (sys.executable, "-m", "tests.unit.files.temporary_run")
OLD_OR_NEW = "-1"
"""Seconds: also what was made just now counts as old."""


class Process:
    """A process with a temporary folder among the files of ``place``."""

    def __init__(self, place: Path) -> None:
        self.run = subprocess.Popen(
            COMMAND, env={**os.environ, "TMPDIR": str(place)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.run.stdout
        self.folder = Path(self.run.stdout.readline().strip())
        assert self.folder.is_dir()
        assert self.folder.parent == place

    def end(self, *, kill: bool) -> None:
        if kill:
            self.run.kill()
        self.run.communicate()


def removed(place: Path, seconds: str) -> set[str]:
    """What a later start takes away there."""
    before = set(os.listdir(place))
    subprocess.run([*COMMAND, seconds], env={**os.environ, "TMPDIR": str(place)}, check=True)
    return before - set(os.listdir(place))


def test_what_a_killed_process_left_is_taken_away_and_what_is_in_use_stays(tmp_path: Path) -> None:
    killed, used = Process(tmp_path), Process(tmp_path)
    killed.end(kill=True)
    assert killed.folder.is_dir()
    assert removed(tmp_path, "86400") == set(), "another Assent may have made it this moment"
    assert removed(tmp_path, OLD_OR_NEW) == {killed.folder.name}
    used.end(kill=False)
    assert not used.folder.exists()


def test_nothing_but_folders_of_ours_is_taken_away(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "kept"
    elsewhere.mkdir(parents=True)
    (tmp_path / f"{PREFIX}link-a1b2c3d4").symlink_to(elsewhere.parent)
    (tmp_path / f"{PREFIX}file-a1b2c3d4").write_text("kept")
    (tmp_path / "assent-of-another-kind").mkdir()
    ours = tmp_path / f"{PREFIX}ours-a1b2c3d4"
    ours.mkdir(mode=0o700)
    (ours / "link").symlink_to(elsewhere.parent)
    assert removed(tmp_path, OLD_OR_NEW) == {ours.name}
    assert elsewhere.is_dir()


def test_what_a_person_called_alike_stays(tmp_path: Path) -> None:
    for name in ("notes", "of-today", "my-analysis-2", "", "a1b2c3d4", "My-a1b2c3d4", "code-a1b2c3d4.bak"):
        (tmp_path / f"{PREFIX}{name}").mkdir(mode=0o700)
    open_to_others = tmp_path / f"{PREFIX}my-analysis"
    open_to_others.mkdir()
    open_to_others.chmod(0o755)
    assert removed(tmp_path, OLD_OR_NEW) == set()
