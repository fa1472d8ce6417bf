"""A change set is made whole or not at all, and only where everything is still as it was."""

import os
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, BugError, ToolFailure
from desktop.domain.files.changes import ABSENT, FileChange, FileState
from desktop.safety.boundary.opening import PathWalker
from desktop.safety.changes.apply import JournaledApplier
from desktop.safety.changes.renames import Renames
from tests.unit.safety.changes.kit import (
    KeptContents,
    Tree,
    between,
    build,
    contents_of,
    digest,
    file_state,
    rights,
    tree_of,
)
from tests.unit.safety.world import World

BEFORE: Tree = {
    "notes.md": "one\r\ntwo\n",
    "old": None,
    "old/a.txt": "a",
    "old/deep": None,
    "old/deep/b.bin": b"\0\xff",
    "becomes-folder": "I was a file",
    "becomes-file": None,
    "becomes-file/inner": "gone",
    "link": ("notes.md",),
    "stays.txt": "untouched",
}
AFTER: Tree = {
    "notes.md": "one\r\nzwei\n",
    "new": None,
    "new/a.txt": "a",
    "new/deep": None,
    "new/deep/b.bin": b"\0\xff",
    "becomes-folder": None,
    "becomes-folder/x": "x",
    "becomes-file": "I was a folder",
    "link": ("stays.txt",),
    "stays.txt": "untouched",
}


def applier(world: World, walker: PathWalker | None = None, *, at_once: bool = True) -> JournaledApplier:
    return JournaledApplier(world.policy, str(world.home / "data" / "changes"), walker, Renames(at_once=at_once))


def journals(world: World) -> list[str]:
    folder = world.home / "data" / "changes"
    return os.listdir(folder) if folder.exists() else []


@pytest.fixture
def root(world: World) -> Path:
    (world.workspace / "note.txt").unlink()
    build(world.workspace, BEFORE)
    return world.workspace


@pytest.mark.spec("R-OUT-3")
def test_folders_files_and_links_become_each_other_in_one_change(world: World, root: Path, walker: PathWalker) -> None:
    made = applier(world, walker).apply(between(root, BEFORE, AFTER), contents_of(AFTER))

    assert made == ()
    expected = world.root / "expected"
    expected.mkdir()
    build(expected, AFTER)
    assert tree_of(root) == tree_of(expected)
    assert journals(world) == []


def test_a_change_and_its_reverse_leave_every_byte_and_right_as_it_was(world: World, root: Path) -> None:
    before = tree_of(root)
    one = applier(world)
    one.apply(between(root, BEFORE, AFTER), contents_of(AFTER))
    assert one.apply(between(root, AFTER, BEFORE), contents_of(BEFORE)) == ()
    assert tree_of(root) == before


@pytest.mark.spec("R-OUT-3")
def test_rights_of_a_file_with_another_name_elsewhere_change_here_alone(world: World, root: Path) -> None:
    elsewhere = world.outside / "store.txt"
    elsewhere.write_text("one")
    elsewhere.chmod(0o600)
    os.link(elsewhere, root / "linked.txt")
    change = FileChange(str(root / "linked.txt"), file_state(b"one", 0o600), file_state(b"one", 0o755))

    assert applier(world).apply([change], KeptContents(b"one")) == ()

    assert (rights(root / "linked.txt"), rights(elsewhere)) == (0o755, 0o600)
    assert (elsewhere.read_text(), elsewhere.stat().st_nlink) == ("one", 1)


def test_two_folders_get_each_others_names(world: World) -> None:
    old: Tree = {"one": None, "one/x": "1", "two": None, "two/x": "2", "two/y": "3"}
    new: Tree = {"one": None, "one/x": "2", "one/y": "3", "two": None, "two/x": "1"}
    root = world.workspace
    build(root, old)
    assert applier(world).apply(between(root, old, new), contents_of(new)) == ()
    assert (root / "one/x").read_text() + (root / "one/y").read_text() + (root / "two/x").read_text() == "231"
    assert not (root / "two/y").exists()


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        ("(root / 'notes.md').write_text('mine')", "notes.md has another content now."),
        ("(root / 'notes.md').unlink()", "notes.md is not there any more."),
        ("(root / 'notes.md').chmod(0o600)", "notes.md has other rights now."),
        ("(root / 'new').mkdir()", "There is a folder at"),
        ("(root / 'old/mine.txt').write_text('mine')", "old holds mine.txt, which this does not remove."),
        ("(root / 'notes.md').unlink(), os.mkfifo(root / 'notes.md')", "notes.md is a pipe now."),
        ("(root / 'notes.md').unlink(), (root / 'notes.md').symlink_to('/etc/hostname')", "notes.md is a link now."),
        ("(root / 'notes.md').unlink(), (root / 'notes.md').mkdir()", "notes.md is a folder now."),
        ("(root / 'link').unlink(), (root / 'link').symlink_to('/etc')", "link leads elsewhere now."),
        (
            "(root / 'old/deep').rename(root / 'aside'), (root / 'old/deep').symlink_to(root / 'aside')",
            "old/deep is a link now.",
        ),
    ],
)
@pytest.mark.spec("R-OUT-3")
def test_what_changed_meanwhile_is_named_and_nothing_is_done(
    world: World, root: Path, meanwhile: str, said: str
) -> None:
    eval(meanwhile, {"root": root, "os": os})
    found = {path.name: path.lstat() for path in root.iterdir()}

    conflicts = applier(world).apply(between(root, BEFORE, AFTER), contents_of(AFTER))

    assert any(said in conflict.why for conflict in conflicts), [conflict.why for conflict in conflicts]
    now = {path.name: path.lstat() for path in root.iterdir()}
    assert {n: (s.st_ino, s.st_mtime_ns) for n, s in now.items()} == {
        n: (s.st_ino, s.st_mtime_ns) for n, s in found.items()
    }
    assert journals(world) == []


def test_all_conflicts_are_named_at_once(world: World, root: Path) -> None:
    (root / "notes.md").write_text("mine")
    (root / "becomes-folder").unlink()
    conflicts = applier(world).apply(between(root, BEFORE, AFTER), contents_of(AFTER))
    assert {os.path.basename(conflict.path) for conflict in conflicts} == {"notes.md", "becomes-folder"}


@pytest.mark.spec("R-OUT-3", "R-FS-3")
@pytest.mark.parametrize("place", ["outside", "ssh", "data", "home"])
def test_a_place_that_is_closed_is_written_by_no_change_set(world: World, place: str) -> None:
    closed = {
        "outside": world.outside / "new.txt",
        "ssh": world.ssh / "new",
        "data": world.home / "data" / "new",
        "home": world.home / "agents" / "new.md",
    }[place]
    world.change(allowed=(str(world.workspace), str(world.person)), denied=(str(world.ssh),))
    change = [
        FileChange(str(world.workspace / "fine.txt"), ABSENT, file_state(b"x")),
        FileChange(str(closed), ABSENT, file_state(b"x")),
    ]
    with pytest.raises(BoundaryViolation):
        applier(world).apply(change, KeptContents(b"x"))
    assert not closed.exists()
    assert not (world.workspace / "fine.txt").exists()


def test_a_link_on_the_way_leads_no_change_outside(world: World) -> None:
    (world.workspace / "out").symlink_to(world.outside)
    change = [FileChange(str(world.workspace / "out" / "new.txt"), ABSENT, file_state(b"x"))]
    conflicts = applier(world).apply(change, KeptContents(b"x"))
    assert [conflict.why for conflict in conflicts] == [f"{world.workspace / 'out'} is a link now."]
    assert os.listdir(world.outside) == ["secret.txt"]


def test_a_second_name_of_a_denied_file_is_not_replaced(world: World) -> None:
    world.change(allowed=(str(world.workspace),), denied=(str(world.ssh),))
    os.link(world.ssh / "id_rsa", world.workspace / "key.txt")
    change = [FileChange(str(world.workspace / "key.txt"), file_state(b"PRIVATE"), file_state(b"x"))]
    with pytest.raises(BoundaryViolation, match="another name"):
        applier(world).apply(change, KeptContents(b"x"))


def test_another_name_of_a_replaced_file_keeps_its_content(world: World) -> None:
    (world.workspace / "one").write_text("same")
    (world.workspace / "one").chmod(0o644)
    os.link(world.workspace / "one", world.workspace / "two")
    applier(world).apply(
        [FileChange(str(world.workspace / "one"), file_state(b"same"), file_state(b"new"))], KeptContents(b"new")
    )
    assert ((world.workspace / "one").read_text(), (world.workspace / "two").read_text()) == ("new", "same")


def test_rights_are_kept_and_changed_as_the_set_says(world: World) -> None:
    root = world.workspace
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o640)
    (root / "closed").mkdir(mode=0o755)
    changes = [
        FileChange(str(root / "run.sh"), file_state(b"#!/bin/sh\n", 0o640), file_state(b"#!/bin/sh\n", 0o755)),
        FileChange(str(root / "own"), ABSENT, file_state(b"x", 0o600)),
        FileChange(str(root / "sealed"), ABSENT, FileState("folder", 0o555)),
        FileChange(str(root / "sealed" / "in"), ABSENT, file_state(b"x", 0o444)),
        FileChange(str(root / "closed"), FileState("folder", rights(root / "closed")), FileState("folder", 0o500)),
        FileChange(str(root / "closed" / "in"), ABSENT, file_state(b"x")),
    ]
    before = tree_of(root)
    old_umask = os.umask(0o077)
    try:
        assert applier(world).apply(changes, KeptContents(b"x")) == ()
    finally:
        os.umask(old_umask)
    names = ("run.sh", "own", "sealed", "sealed/in", "closed", "closed/in")
    assert [rights(root / name) for name in names] == [0o755, 0o600, 0o555, 0o444, 0o500, 0o644]
    back = [FileChange(one.path, one.after, one.before) for one in changes]
    assert applier(world).apply(back, KeptContents(b"#!/bin/sh\n")) == ()
    assert tree_of(root) == before


def test_a_damaged_content_changes_nothing(world: World) -> None:
    class Tampered:
        def open(self, digest: str):
            return KeptContents(b"evil").open(digest_of_evil)

    digest_of_evil = digest(b"evil")
    changes = [
        FileChange(str(world.workspace / "a"), ABSENT, file_state(b"fine")),
        FileChange(str(world.workspace / "b"), ABSENT, file_state(b"evil")),
    ]
    with pytest.raises(ToolFailure, match="damaged"):
        applier(world).apply(changes, Tampered())
    assert sorted(os.listdir(world.workspace)) == ["note.txt"]
    assert journals(world) == []


def test_a_content_that_is_not_there_changes_nothing(world: World) -> None:
    changes = [
        FileChange(str(world.workspace / "a"), ABSENT, file_state(b"fine")),
        FileChange(str(world.workspace / "b"), ABSENT, file_state(b"missing")),
    ]
    with pytest.raises(ToolFailure, match="not kept"):
        applier(world).apply(changes, KeptContents(b"fine"))
    assert sorted(os.listdir(world.workspace)) == ["note.txt"]


def test_a_set_that_contradicts_itself_is_a_bug(world: World) -> None:
    twice = [FileChange(str(world.workspace / "a"), ABSENT, file_state(b"x"))] * 2
    with pytest.raises(BugError):
        applier(world).apply(twice, KeptContents(b"x"))
    crooked = [FileChange(f"{world.workspace}/../workspace/a", ABSENT, file_state(b"x"))]
    with pytest.raises(BugError):
        applier(world).apply(crooked, KeptContents(b"x"))


def test_a_file_in_a_folder_that_is_gone_is_a_conflict(world: World) -> None:
    change = [FileChange(str(world.workspace / "gone" / "a"), ABSENT, file_state(b"x"))]
    conflicts = applier(world).apply(change, KeptContents(b"x"))
    assert [conflict.why for conflict in conflicts] == [f"{world.workspace / 'gone'} is not there any more."]
