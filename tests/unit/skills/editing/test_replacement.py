"""An import with Replace, from its first file to its undo: nothing that a person had is lost. One test for each row of
the table in ``replacement``."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop.skills.editing.files import TRASH_KEPT, CannotSave, SkillFiles
from desktop.skills.editing.replacement import Replacement

CUT_OFF = """
import os, signal, sys
from pathlib import Path
from desktop.skills.editing.files import SkillFiles
from desktop.skills.editing.replacement import Replacement
root = Path(sys.argv[1])
work = Replacement(SkillFiles(root / "trash", lambda: (str(root / "mine"),), lambda path: None))
work.put_aside(str(root / "mine" / "tide" / "SKILL.md"), "tide")
os.kill(os.getpid(), signal.SIGKILL)
"""


class Place:
    """A person's skills, new ones of the same names, and one import of them."""

    def __init__(self, root: Path, *names: str) -> None:
        self.root, self.mine, self.new = root, root / "mine", root / "new"
        self.heard: Callable[[str], object] = lambda path: None
        self.files = SkillFiles(root / "trash", lambda: (str(self.mine),), self._changed)
        self.work = Replacement(self.files)
        self.names = names
        for name in names:
            self.write(self.mine / name / "SKILL.md", f"MINE {name}")
            self.write(self.new / name / "SKILL.md", f"NEW {name}")

    def _changed(self, path: str) -> None:
        self.heard(path)

    @staticmethod
    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(self, name: str) -> None:
        self.work.put_aside(str(self.mine / name / "SKILL.md"), name)
        self.work.bring_in(self.new / name / "SKILL.md", (), str(self.mine), name)

    def replaced(self) -> None:
        for name in self.names:
            self.replace(name)
        self.work.finish()

    @property
    def there(self) -> dict[str, str]:
        return {path.parent.name: path.read_text() for path in sorted(self.mine.rglob("SKILL.md"))}

    @property
    def old(self) -> dict[str, str]:
        return {name: f"MINE {name}" for name in self.names}


def test_the_new_ones_are_there_and_undo_brings_the_old_ones_back(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide", "wave")
    place.replaced()
    assert place.there == {"tide": "NEW tide", "wave": "NEW wave"}
    assert place.files.bring_back_unfinished() == [], "it ended: the next start leaves it so"
    assert place.work.take_back().words == ""
    assert place.there == place.old


@pytest.mark.parametrize("kind", [MemoryError, CannotSave, KeyboardInterrupt])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_whatever_fails_in_the_middle_the_old_ones_are_there(
    tmp_path: Path, kind: type[BaseException], at: int
) -> None:
    place = Place(tmp_path, "tide", "wave")
    heard: list[str] = []

    def fails(path: str) -> None:
        heard.append(path)
        if len(heard) == at:
            raise kind("in the middle")

    place.heard = fails
    with pytest.raises(kind):
        place.replaced()
    place.work.take_back()
    assert place.there == place.old
    assert sorted(os.listdir(place.mine)) == ["tide", "wave"], "nothing half-done"
    assert place.files.bring_back_unfinished() == []


@pytest.mark.parametrize("taken", [False, True])
def test_what_an_import_that_was_ended_put_aside_is_back_with_the_next_start(tmp_path: Path, taken: bool) -> None:
    place = Place(tmp_path, "tide")
    ended = subprocess.run([sys.executable, "-c", CUT_OFF, str(tmp_path)], check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert place.there == {}
    if taken:
        place.write(place.mine / "tide" / "SKILL.md", "NEW tide")
    assert len(place.files.bring_back_unfinished()) == 1
    assert place.there == ({"tide": "NEW tide", "tide-2": "MINE tide"} if taken else place.old)
    assert place.files.bring_back_unfinished() == []


def test_undo_brings_back_all_where_a_new_one_is_gone(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide", "wave")
    place.replaced()
    (place.mine / "tide" / "SKILL.md").unlink()
    (place.mine / "tide").rmdir()
    place.work.take_back()
    assert place.there == place.old


def test_undo_leaves_what_was_changed_since_and_brings_the_old_one_back_beside_it(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide", "wave")
    place.replaced()
    place.write(place.mine / "tide" / "notes.txt", "of the person")
    place.write(place.mine / "wave" / "__pycache__" / "run.pyc", "by running it")
    words = place.work.take_back().words
    assert place.there == {"tide": "NEW tide", "tide-2": "MINE tide", "wave": "MINE wave"}
    assert (place.mine / "tide" / "notes.txt").read_text() == "of the person"
    assert "tide was changed" in words
    assert "tide-2" in words
    assert "wave" not in words


def test_undo_leaves_what_cannot_be_looked_through_and_brings_all_old_ones_back(tmp_path: Path) -> None:
    place = Place(tmp_path, "ebb", "tide")
    place.replaced()
    _too_deep(place.mine / "ebb")
    back = place.work.take_back()
    assert "ebb was changed since it was imported, and stays." in back.words
    assert (place.mine / "ebb-2" / "SKILL.md").read_text() == "MINE ebb"
    assert (place.mine / "tide" / "SKILL.md").read_text() == "MINE tide"
    shutil.rmtree(place.mine / "ebb")


def _too_deep(folder: Path) -> None:
    """A file whose path is too long to be asked about: its folder is just short enough to be listed."""
    at, length = os.open(folder, os.O_RDONLY), len(str(folder))
    while length < 4_000:
        name = "d" * min(200, 4_080 - length)
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at, length = inner, length + len(name) + 1
    os.close(os.open("f" * 200, os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def test_undo_goes_on_past_what_cannot_be_moved_and_another_one_goes_on_with_that(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide", "wave")
    place.replaced()
    held = place.root / "trash" / place.work.put_aside_so_far[0].token
    away = held.rename(tmp_path / "away")
    with pytest.raises(CannotSave, match="tide could not be brought back"):
        place.work.take_back()
    assert place.there == {"wave": "MINE wave"}
    away.rename(held)
    place.work.take_back()
    assert place.there == place.old


def test_undoing_a_second_time_changes_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide")
    place.replaced()
    place.work.take_back()
    assert place.work.take_back().paths == ()
    assert place.there == place.old


def test_the_sweep_leaves_what_can_still_be_brought_back(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide", "wave")
    for number in range(TRASH_KEPT + 5):
        other = place.root / "trash" / f"other-{number}"
        other.mkdir(parents=True)
        os.utime(other, (4e9, 4e9))  # those of this import are the oldest
    place.replaced()
    place.work.take_back()
    assert place.there == place.old
    others = [name for name in os.listdir(place.root / "trash") if name.startswith("other")]
    assert len(others) == TRASH_KEPT, "what nobody can bring back is swept as before"


def test_where_no_more_can_be_written_the_old_one_is_back(tmp_path: Path) -> None:
    place = Place(tmp_path, "tide")
    (place.new / "tide" / "SKILL.md").write_text("x" * 50_000)
    place.work.put_aside(str(place.mine / "tide" / "SKILL.md"), "tide")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(CannotSave):
            place.work.bring_in(place.new / "tide" / "SKILL.md", (), str(place.mine), "tide")
        place.work.take_back()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert place.there == place.old
    assert os.listdir(place.mine) == ["tide"]


def test_a_skill_md_in_small_letters_is_put_aside_with_its_folder(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write(place.mine / "tide" / "skill.md", "MINE")
    place.write(place.new / "tide" / "SKILL.md", "NEW")
    place.work.put_aside(str(place.mine / "tide" / "skill.md"), "tide")
    place.work.bring_in(place.new / "tide" / "SKILL.md", (), str(place.mine), "tide")
    place.work.finish()
    assert place.there == {"tide": "NEW"}
    assert place.work.take_back().paths == (str(place.mine / "tide" / "skill.md"),)
    assert os.listdir(place.mine / "tide") == ["skill.md"]


@pytest.fixture
def other_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("shut", ["", "tide"])
def test_what_may_not_be_moved_stays_whole_where_it_is(tmp_path: Path, shut: str) -> None:
    if os.geteuid():
        pytest.skip("only root may be somebody else for a moment")
    with tempfile.TemporaryDirectory() as root:
        place = Place(Path(root), "tide")
        place.write(place.mine / "tide" / "scripts" / "run.py", "MINE run")
        for folder, _, names in os.walk(root):
            for path in (folder, *(os.path.join(folder, name) for name in names)):
                os.chown(path, 65534, 65534)
        (place.mine / shut).chmod(0o555)
        os.seteuid(65534)  # root may move everything
        try:
            with pytest.raises(CannotSave, match="could not be deleted"):
                place.work.put_aside(str(place.mine / "tide" / "SKILL.md"), "tide")
            place.work.take_back()
            assert place.files.bring_back_unfinished() == []
        finally:
            os.seteuid(0)
        assert place.there == place.old
        assert (place.mine / "tide" / "scripts" / "run.py").read_text() == "MINE run"
        assert os.listdir(place.mine) == ["tide"]


def test_on_another_disk_it_is_there_whole_or_not_at_all(tmp_path: Path, other_disk: Path) -> None:
    place = Place(tmp_path, "tide", "wave")
    place.files = SkillFiles(other_disk / "trash", lambda: (str(place.mine),), lambda path: None)
    place.work = Replacement(place.files)
    place.write(place.mine / "tide" / "scripts" / "long.py", "x" * 50_000)
    (place.mine / "tide" / "link").symlink_to("SKILL.md")
    place.replaced()
    assert place.there == {"tide": "NEW tide", "wave": "NEW wave"}
    with _no_room():
        with pytest.raises(CannotSave, match="could not be brought back"):
            place.work.take_back()
        assert place.there == {"wave": "MINE wave"}, "no half of the long one"
    place.work.take_back()
    assert place.there == place.old
    assert (place.mine / "tide" / "scripts" / "long.py").stat().st_size == 50_000
    assert (place.mine / "tide" / "link").is_symlink()
    with _no_room(), pytest.raises(CannotSave, match="could not be deleted"):
        place.work.put_aside(str(place.mine / "tide" / "SKILL.md"), "tide")
    assert place.files.bring_back_unfinished() == []
    assert place.there == place.old
    assert sorted(os.listdir(place.mine)) == ["tide", "wave"], "nothing half-done"


@contextlib.contextmanager
def _no_room() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_of_two_imports_at_once_one_gets_the_name(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.mine.mkdir()
    for kind in ("one", "other"):
        place.write(place.new / f"{kind}.skill.md", kind)
    for number in range(200):
        both, made = threading.Barrier(2), list[str]()

        def bring_in(kind: str, name: str, both: threading.Barrier = both, made: list[str] = made) -> None:
            both.wait()
            with contextlib.suppress(CannotSave):
                place.files.bring_in(place.new / f"{kind}.skill.md", (), str(place.mine), name)
                made.append(kind)

        racing = [threading.Thread(target=bring_in, args=(kind, f"tide{number}")) for kind in ("one", "other")]
        for one in racing:
            one.start()
        for one in racing:
            one.join()
        (kind,) = made
        assert (place.mine / f"tide{number}.skill.md").read_text() == kind
    assert len(os.listdir(place.mine)) == 200
