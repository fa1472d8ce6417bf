"""What was begun and not finished is taken back, and what somebody wrote meanwhile is never lost."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from desktop.domain.errors import ToolFailure
from desktop.domain.files.changes import ABSENT, FileChange
from desktop.safety.boundary.opening import PathWalker
from desktop.safety.changes.checking import Checking
from desktop.safety.changes.handles import OpenFolders
from desktop.safety.changes.journal import JournalFile, journals_in
from desktop.safety.changes.laying import Laying
from desktop.safety.changes.plan import planned
from desktop.safety.changes.steps import Steps
from tests.unit.safety.changes.kit import KeptContents, Tree, between, build, contents_of, file_state, tree_of
from tests.unit.safety.changes.test_apply import AFTER, BEFORE, applier, journals
from tests.unit.safety.world import World


@pytest.fixture
def root(world: World) -> Path:
    (world.workspace / "note.txt").unlink()
    build(world.workspace, BEFORE)
    return world.workspace


class WhileLaidReady:
    """Contents of which the last one is read only after somebody else did something."""

    def __init__(self, kept: KeptContents, meanwhile: Callable[[], object]) -> None:
        self._kept, self._meanwhile = kept, meanwhile

    def open(self, digest: str) -> BinaryIO:
        self._meanwhile()
        self._meanwhile = lambda: None
        return self._kept.open(digest)


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        (lambda root: (root / "notes.md").write_text("mine"), "notes.md has another content now."),
        (lambda root: (root / "old/deep/b.bin").write_text("mine"), "b.bin has another content now."),
        (lambda root: (root / "old/mine").write_text("mine"), "old is not empty any more."),
        (lambda root: (root / "new").write_text("mine"), "There is a file at"),
        (lambda root: os.replace(root / "stays.txt", root / "notes.md"), "notes.md has another content now."),
        (lambda root: (root / "notes.md").unlink(), "notes.md is not there any more."),
    ],
)
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "in two steps"])
@pytest.mark.spec("R-OUT-3")
def test_somebody_who_writes_while_things_are_laid_ready_loses_nothing(
    world: World, root: Path, meanwhile: Callable[[Path], object], said: str, at_once: bool
) -> None:
    expected = world.root / "expected"
    shutil.copytree(root, expected, symlinks=True)
    meanwhile(expected)

    contents = WhileLaidReady(contents_of(AFTER), lambda: meanwhile(root))
    conflicts = applier(world, at_once=at_once).apply(between(root, BEFORE, AFTER), contents)

    assert [said in conflict.why for conflict in conflicts] == [True], [conflict.why for conflict in conflicts]
    assert tree_of(root) == tree_of(expected)
    assert journals(world) == []


class Interrupted:
    """A change of one file, one new, one removed and one new folder, by a process that ends at a chosen point."""

    OLD: Tree = {"changed": "old", "removed": "old", "folder": None}
    NEW: Tree = {"changed": "new", "folder": None, "made": "new", "fresh": None, "fresh/in": "new"}

    def __init__(self, world: World) -> None:
        self.world, self.root = world, world.workspace
        (self.root / "note.txt").unlink()
        build(self.root, self.OLD)

    def run(self, *, until: str) -> None:
        """All that ``JournaledApplier.apply`` does, as far as ``laid``, ``first``, ``all`` or ``done``."""
        changes = between(self.root, self.OLD, self.NEW)
        with OpenFolders(PathWalker()) as folders:
            checking = Checking(self.world.policy, folders, changes)
            assert checking.conflicts() == []
            plan = planned(changes)
            laying = Laying(folders, checking, contents_of(self.NEW), many=False)
            journal = JournalFile(str(self.world.home / "data" / "changes"))
            journal.begin(laying.places_for(plan))
            steps = laying.lay(plan)
            if until == "laid":
                return
            journal.go(steps)
            work = Steps(folders, laying.places)
            for number, step in enumerate(steps):
                work.do(number, step)
                if until == "first":
                    return
            if until == "done":
                journal.done()

    def now(self) -> dict[str, str]:
        """What the person's folder holds, by name; of folders nothing."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            found[str(path.relative_to(self.root))] = "" if path.is_dir() else path.read_text()
        return found


NOTHING_DONE = {"changed": "old", "removed": "old", "folder": ""}
ALL_DONE = {"changed": "new", "folder": "", "made": "new", "fresh": "", "fresh/in": "new"}

# What the next start makes of a change that was interrupted: (the last thing that was done; what somebody did before
# that start; what is there then, beside or instead of the state before; what could not get its place back).
DECISIONS: list[tuple[str, str, dict[str, str | None], list[str]]] = [
    ("laid", "nothing", {}, []),
    ("first", "nothing", {}, []),
    ("all", "nothing", {}, []),
    ("laid", "edit changed", {"changed": "mine"}, []),
    ("all", "edit changed", {"changed": "mine", "kept changed": "old"}, ["changed"]),
    ("all", "replace changed", {"changed": "mine", "kept changed": "old"}, ["changed"]),
    ("all", "delete changed", {}, []),
    ("all", "edit made", {"made": "mine"}, []),
    ("all", "delete made", {}, []),
    ("all", "make removed", {"removed": "mine", "kept removed": "old"}, ["removed"]),
    ("all", "write into fresh", {"fresh": "", "fresh/mine": "mine"}, []),
    ("all", "edit fresh/in", {"fresh": "", "fresh/in": "mine"}, []),
]


def by_somebody(root: Path, what: str) -> None:
    name = what.split()[-1]
    if what.startswith(("edit", "make")):
        (root / name).write_text("mine")
    elif what.startswith("replace"):
        (root / "aside").write_text("mine")
        os.replace(root / "aside", root / name)
    elif what.startswith("delete"):
        (root / name).unlink()
    elif what.startswith("write into"):
        (root / name / "mine").write_text("mine")


@pytest.mark.expects_log
@pytest.mark.spec("R-OUT-3")
@pytest.mark.parametrize(("until", "meanwhile", "differs", "kept"), DECISIONS)
def test_the_next_start_takes_back_what_was_not_finished(
    world: World, until: str, meanwhile: str, differs: dict[str, str], kept: list[str]
) -> None:
    interrupted = Interrupted(world)
    interrupted.run(until=until)
    by_somebody(interrupted.root, meanwhile)

    recovered = applier(world).recover()

    expected = {**NOTHING_DONE, **differs}
    now = interrupted.now()
    for path in recovered.kept:
        name = os.path.basename(path)
        now[f"kept {name.split(' ')[0]}"] = now.pop(name)
    assert now == expected
    assert sorted(os.path.basename(path).split(" ")[0] for path in recovered.kept) == kept
    assert recovered.taken_back == (until != "laid")
    assert journals(world) == []
    assert applier(world).recover().taken_back == 0


def test_what_was_finished_stays_and_is_only_tidied_up(world: World) -> None:
    interrupted = Interrupted(world)
    interrupted.run(until="done")
    recovered = applier(world).recover()
    assert interrupted.now() == ALL_DONE
    assert (recovered.taken_back, recovered.kept, journals(world)) == (0, (), [])


@pytest.mark.expects_log("still to do")
def test_what_was_made_and_not_tidied_up_is_not_taken_back(world: World, root: Path) -> None:
    def get_in_the_way() -> None:
        (place,) = world.workspace.glob(".assent-*.tmp")
        (place / "stranger").mkdir()
        (place / "stranger" / "file").write_text("mine")

    contents = WhileLaidReady(contents_of(AFTER), get_in_the_way)
    assert applier(world).apply(between(root, BEFORE, AFTER), contents) == ()
    assert journals(world) != [], "it could not be tidied up"
    recovered = applier(world).recover()
    assert (recovered.taken_back, (root / "notes.md").read_text()) == (0, "one\nzwei\n")
    assert list(root.glob(".assent-*.tmp/stranger/file")) != [], "what is not ours stays"


@pytest.mark.expects_log
def test_a_line_of_the_journal_that_is_not_whole_was_never_written(world: World) -> None:
    interrupted = Interrupted(world)
    interrupted.run(until="all")
    path = Path(journals_in(str(world.home / "data" / "changes"))[0])
    path.write_bytes(path.read_bytes() + b'"don')
    applier(world).recover()
    assert interrupted.now() == NOTHING_DONE


@pytest.mark.expects_log("cannot be read")
def test_a_journal_that_cannot_be_read_is_left_and_said(world: World) -> None:
    folder = world.home / "data" / "changes"
    folder.mkdir()
    (folder / "x.changes").write_text("{}\n")
    applier(world).recover()
    assert (folder / "x.changes").exists()


@pytest.mark.expects_log("still to do")
def test_what_cannot_be_reached_now_is_taken_back_by_a_later_start(world: World) -> None:
    interrupted = Interrupted(world)
    interrupted.run(until="all")
    aside = world.root / "aside"
    interrupted.root.rename(aside)
    interrupted.root.symlink_to(aside)  # nothing is taken back through a link
    assert applier(world).recover().waiting
    assert journals(world) != []
    interrupted.root.unlink()
    aside.rename(interrupted.root)
    assert applier(world).recover().taken_back == 1
    assert interrupted.now() == NOTHING_DONE


def test_a_disk_that_is_full_leaves_all_as_it_was(world: World, small_disk: Path) -> None:
    root = small_disk
    world.change(allowed=(str(root),))
    (root / "changed").write_text("old")
    (root / "changed").chmod(0o644)
    big = os.urandom(3_000_000)
    changes = [
        FileChange(str(root / "changed"), file_state(b"old"), file_state(b"new")),
        FileChange(str(root / "big"), ABSENT, file_state(big)),
    ]
    with pytest.raises(ToolFailure, match="The disk is full"):
        applier(world).apply(changes, KeptContents(b"new", big))
    assert {path.name: path.read_bytes() for path in root.iterdir()} == {"changed": b"old"}
    assert journals(world) == []


def test_a_disk_that_cannot_be_written_leaves_all_as_it_was(world: World, small_disk: Path) -> None:
    root = small_disk
    world.change(allowed=(str(root),))
    (root / "changed").write_text("old")
    (root / "changed").chmod(0o644)
    subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
    with pytest.raises(ToolFailure, match="cannot be written"):
        applier(world).apply(
            [FileChange(str(root / "changed"), file_state(b"old"), file_state(b"new"))], KeptContents(b"new")
        )
    assert (root / "changed").read_text() == "old"
    assert journals(world) == []


def test_a_journal_that_cannot_be_written_comes_before_any_change(world: World) -> None:
    (world.home / "data" / "changes").write_text("a file where the folder should be")
    change = [FileChange(str(world.workspace / "new"), ABSENT, file_state(b"x"))]
    with pytest.raises(ToolFailure, match="written down first"):
        applier(world).apply(change, KeptContents(b"x"))
    assert os.listdir(world.workspace) == ["note.txt"]
