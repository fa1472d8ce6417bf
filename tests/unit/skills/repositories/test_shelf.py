"""What was taken, on the disk: changed as a whole or not at all, also where the process is killed on the way."""

from __future__ import annotations

import json
import os
import signal
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
import sys
from pathlib import Path
from tests.unit.skills.repositories.test_shelf import filled, source, thing
home = Path(sys.argv[1])
shelf = filled(home)
number = 0
while True:
    number += 1
    fresh = [thing(home / "x", name, str(number)) for name in ("one", "two")]
    shelf.change(source("one", "two", commit="abcdef"[number % 6]), fresh, ())
    if number == 1:
        print("ready", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
@pytest.mark.parametrize("turn", range(6))
def test_killed_in_the_middle_the_files_of_a_change_are_all_of_one_set(turn: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        (sys.executable, "-c", KILLED, str(tmp_path)), cwd=HERE, stdout=subprocess.PIPE, env={**os.environ}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    place = tmp_path / "repositories" / "gauges"
    looks = iter(range(5_000 * turn))
    while next(looks, None) is not None and place.exists():
        continue  # to another moment each time; between two sets, where one is seen
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    shelf = Shelf(tmp_path)
    shelf.recover()
    found = texts(shelf)
    assert set(found) == {"one/SKILL.md", "one/run.py", "two/SKILL.md", "two/run.py"}
    assert len(set(found.values())) == 1, "one set, whole"


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
