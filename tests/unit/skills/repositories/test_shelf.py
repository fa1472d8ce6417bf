"""What was taken, on the disk: changed as a whole or not at all, also where the process is killed on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from desktop.skills.formats.folder import FolderFile
from desktop.skills.repositories.lock import Taken, read_lock
from desktop.skills.repositories.shelf import Shelf, Source

HERE = Path(__file__).resolve().parents[4]


@dataclass(frozen=True)
class Thing:
    """Something that can be taken."""

    name: str
    main: Path | None
    files: tuple[FolderFile, ...] = ()


def thing(folder: Path, name: str, text: str) -> Thing:
    place = folder / f"{name}-{abs(hash(text))}" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(text)
    (place / "run.py").write_text(text)
    return Thing(name, place / "SKILL.md", (FolderFile("run.py", len(text)),))


def source(*names: str, commit: str = "a") -> Source:
    taken = tuple(Taken("skill", name, f"{name}/SKILL.md", commit * 40, "b" * 64) for name in names)
    return Source("gauges", "https://git.harbour.example/gauges", "git", commit * 40, 1.0, taken)


def texts(shelf: Shelf) -> dict[str, str]:
    place = shelf.place("gauges")
    return {path.relative_to(place).as_posix(): path.read_text() for path in place.rglob("*") if path.is_file()}


def filled(home: Path) -> Shelf:
    """One and two were taken."""
    shelf = Shelf(home)
    shelf.change(source("one", "two"), [thing(home / "x", "one", "1"), thing(home / "x", "two", "2")], ())
    return shelf


def test_a_change_puts_in_takes_out_and_leaves_the_others(tmp_path: Path) -> None:
    shelf = filled(tmp_path)
    shelf.change(
        source("two", "three"), [thing(tmp_path / "x", "two", "2b"), thing(tmp_path / "x", "three", "3")], ["one"]
    )
    assert texts(shelf) == {"two/SKILL.md": "2b", "two/run.py": "2b", "three/SKILL.md": "3", "three/run.py": "3"}
    assert [one.name for one in read_lock(shelf.lock_file.read_bytes())[0].taken] == ["three", "two"]
    assert Shelf(tmp_path).source("gauges") == shelf.source("gauges"), "it is on the disk"


def test_a_change_can_be_undone_and_done_again(tmp_path: Path) -> None:
    shelf = filled(tmp_path)
    before = texts(shelf)
    shelf.change(source("two", commit="c"), [thing(tmp_path / "x", "two", "2b")], ["one"])
    after = texts(shelf)
    undone = shelf.undo("gauges")
    assert undone is not None
    assert {one.name for one in undone.taken} == {"one", "two"}
    assert texts(shelf) == before
    shelf.undo("gauges")
    assert texts(shelf) == after


def test_the_first_change_is_undone_to_nothing(tmp_path: Path) -> None:
    shelf = filled(tmp_path)
    shelf.undo("gauges")
    assert texts(shelf) == {}
    assert shelf.folders() == ()


def test_a_change_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    shelf = filled(tmp_path)
    before = texts(shelf)
    lost = Thing("three", tmp_path / "nowhere" / "SKILL.md")
    with pytest.raises(Exception, match="three"):
        shelf.change(source("one", "two", "three"), [thing(tmp_path / "x", "two", "2b"), lost], ())
    assert texts(shelf) == before
    assert Shelf(tmp_path).recover() == ()
    assert not (shelf.data("gauges") / "next").exists()


@pytest.mark.parametrize("stage", ["half", "decided", "moved", "placed", "written"])
def test_wherever_a_change_was_cut_off_the_next_start_has_one_set_or_the_other(stage: str, tmp_path: Path) -> None:
    shelf = filled(tmp_path)
    old = texts(shelf)
    data, place = shelf.data("gauges"), shelf.place("gauges")
    done = filled(tmp_path / "other")
    done.change(source("two", commit="c"), [thing(tmp_path / "x", "two", "2b")], ["one"])
    change = json.loads((done.data("gauges").parent / "sources.json").read_text())["sources"][0]
    new = texts(done)
    os.rename(done.place("gauges"), data / "next")
    if stage != "half":
        (data / "change.json").write_text(json.dumps(change))
    if stage in ("moved", "placed", "written"):
        os.rename(place, data / "before")
    if stage in ("placed", "written"):
        os.rename(data / "next", place)
    if stage == "written":
        other = (done.data("gauges").parent / "sources.json").read_text()
        (data.parent / "sources.json").write_text(other)
    again = Shelf(tmp_path)
    carried = again.recover()
    assert texts(again) == (old if stage == "half" else new)
    assert [one.name for one in carried] == ([] if stage == "half" else ["gauges"])
    assert not (data / "next").exists()
    assert not (data / "change.json").exists()
    known = again.source("gauges")
    assert known is not None
    assert {one.name for one in known.taken} == {path.split("/")[0] for path in texts(again)}
    assert again.recover() == (), "a second start has nothing left to do"


KILLED = """
import os, sys
from pathlib import Path
from tests.unit.skills.repositories.test_shelf import filled, source, thing
home, left = Path(sys.argv[1]), [int(sys.argv[2])]
shelf = filled(home)
fresh = [thing(home / "x", name, "new") for name in ("one", "two")]

def count(event, _arguments):
    if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir"):
        left[0] -= 1
        if left[0] < 0:
            os._exit(9)

sys.addaudithook(count)
shelf.change(source("one", "two", commit="c"), fresh, ())
os._exit(0)
"""
OLD = {"one/SKILL.md": "1", "one/run.py": "1", "two/SKILL.md": "2", "two/run.py": "2"}


def test_ended_before_any_step_of_a_change_the_next_start_has_one_set_or_the_other(tmp_path: Path) -> None:
    """Each time one step later, until the change comes to its end."""
    ends: list[bool] = []
    for step in range(200):
        home = tmp_path / str(step)
        done = subprocess.run((sys.executable, "-c", KILLED, str(home), str(step)), cwd=HERE, capture_output=True)
        assert done.returncode in (0, 9), done.stderr
        shelf = Shelf(home)
        shelf.recover()
        new = dict.fromkeys(OLD, "new")
        assert texts(shelf) in (OLD, new), f"step {step}"
        ends.append(texts(shelf) == new)
        known = shelf.source("gauges")
        assert known is not None
        assert (known.commit == "c" * 40) is ends[-1], f"step {step}: what is known is what lies there"
        if done.returncode == 0:
            break
    assert ends == sorted(ends), "once it is decided it is carried out"
    assert ends.count(True) > 2, "also where it was ended after that"


def test_a_list_of_repositories_that_cannot_be_read_is_set_aside_and_never_written_over(tmp_path: Path) -> None:
    shelf = filled(tmp_path)
    state = tmp_path / "data" / "repositories" / "sources.json"
    state.write_text("{ not JSON")
    again = Shelf(tmp_path)
    assert again.sources() == ()
    assert state.with_name("sources.json.unreadable").read_text() == "{ not JSON"
    assert texts(shelf), "what was taken still lies there"


def test_a_source_on_this_computer_stands_in_the_lock_file_without_its_path(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    one = Source("gauges", str(tmp_path / "x"), "git", "", 1.0, source("one").taken)
    shelf.change(one, [thing(tmp_path / "x", "one", "1")], ())
    assert str(tmp_path) not in shelf.lock_file.read_text()
    assert read_lock(shelf.lock_file.read_bytes())[0].address == ""
