"""Opening at the handle: what was checked is what is read and written, also against a neighbour that swaps links."""

import ctypes
import errno
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Callable

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.safety import Access
from desktop.safety.boundary.opening import PathWalker
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.world import World


@pytest.mark.spec("R-FS-9")
def test_a_file_is_read_by_its_resolved_path(world: World, walker: PathWalker) -> None:
    (world.workspace / "alias").symlink_to("note.txt")
    for name in ("note.txt", "alias", str(world.workspace / "note.txt")):
        with world.files(walker).open_read(name) as stream:
            assert stream.read() == b"note\n"


@pytest.mark.spec("R-FS-9")
def test_where_the_kernel_opens_without_following_links_it_is_left_to_the_kernel() -> None:
    """Asked here on its own, for all tests of that way are skipped where the walker says that there is none."""
    if sys.platform != "linux":
        assert not PathWalker().has_openat2
        return
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY | os.O_CLOEXEC, 0, 0)
    found = ctypes.CDLL(None).syscall(437, -100, b"/", how, ctypes.sizeof(how))
    if found >= 0:
        os.close(found)
    assert PathWalker().has_openat2 is (found >= 0)
    assert PathWalker(use_openat2=False).has_openat2 is False


@pytest.mark.spec("R-FS-9")
def test_the_walker_follows_no_link_anywhere(world: World, walker: PathWalker) -> None:
    (world.workspace / "final").symlink_to(world.outside / "secret.txt")
    (world.workspace / "folder").symlink_to(world.outside)
    for name in ("final", "folder/secret.txt"):
        with pytest.raises(OSError) as caught:
            walker.open(str(world.workspace), str(world.workspace / name), os.O_RDONLY)
        assert caught.value.errno == errno.ELOOP


@pytest.mark.spec("R-FS-7")
def test_outside_and_missing_and_folders_are_told_apart(world: World, walker: PathWalker) -> None:
    files = world.files(walker)
    with pytest.raises(BoundaryViolation):
        files.open_read(str(world.outside / "secret.txt"))
    with pytest.raises(ToolFailure) as missing:
        files.open_read("nope.txt")
    assert missing.value.code == "file.not_found"
    with pytest.raises(ToolFailure) as folder:
        files.open_read(".")
    assert folder.value.code == "file.is_folder"


@pytest.mark.spec("R-FS-13")
def test_a_pipe_is_refused_without_waiting_for_its_writer(world: World, walker: PathWalker) -> None:
    os.mkfifo(world.workspace / "pipe")
    began = time.monotonic()
    with pytest.raises(BoundaryViolation):
        world.files(walker).open_read("pipe")
    assert time.monotonic() - began < WAIT_S


@pytest.mark.spec("R-BLT-4")
def test_a_write_replaces_the_file_at_once_and_keeps_its_mode(world: World, walker: PathWalker) -> None:
    target = world.workspace / "run.sh"
    target.write_text("old")
    target.chmod(0o750)
    before = target.stat().st_ino
    done = world.files(walker).write_atomic("run.sh", b"new")
    assert (target.read_text(), done.created, done.size) == ("new", False, 3)
    assert stat.S_IMODE(target.stat().st_mode) == 0o750
    assert target.stat().st_ino != before
    assert sorted(p.name for p in world.workspace.iterdir()) == ["note.txt", "run.sh"]


@pytest.mark.spec("R-BLT-4")
def test_a_write_makes_parents_inside_the_boundary(world: World, walker: PathWalker) -> None:
    done = world.files(walker).write_atomic("a/b/c.txt", "grüße".encode())
    assert (world.workspace / "a/b/c.txt").read_text() == "grüße"
    assert done.folders_made == (str(world.workspace / "a"), str(world.workspace / "a/b"))


@pytest.mark.spec("R-BLT-4", "R-FS-7")
def test_a_write_makes_no_parents_outside(world: World, walker: PathWalker) -> None:
    (world.workspace / "link").symlink_to(world.outside)
    with pytest.raises(BoundaryViolation):
        world.files(walker).write_atomic("link/new/file.txt", b"x")
    assert not (world.outside / "new").exists()


def test_a_write_through_a_link_inside_the_boundary_changes_the_target(world: World, walker: PathWalker) -> None:
    (world.workspace / "alias").symlink_to("note.txt")
    world.files(walker).write_atomic("alias", b"changed")
    assert (world.workspace / "note.txt").read_text() == "changed"
    assert (world.workspace / "alias").is_symlink()


def test_a_single_file_can_be_allowed_and_only_it_is_written(world: World, walker: PathWalker) -> None:
    world.change(allowed=(str(world.outside / "secret.txt"),))
    world.files(walker).write_atomic(str(world.outside / "secret.txt"), b"new")
    assert (world.outside / "secret.txt").read_text() == "new"
    with pytest.raises(BoundaryViolation):
        world.files(walker).write_atomic(str(world.outside / "other.txt"), b"new")


@pytest.mark.spec("R-FS-9")
def test_writing_over_a_hard_link_leaves_the_other_name_alone(world: World, walker: PathWalker) -> None:
    os.link(world.outside / "secret.txt", world.workspace / "twin.txt")
    world.files(walker).write_atomic("twin.txt", b"mine")
    assert (world.outside / "secret.txt").read_text() == "OUTSIDE"


@pytest.mark.spec("R-PRM-5")
def test_a_write_that_expects_another_file_writes_nothing(world: World, walker: PathWalker) -> None:
    files = world.files(walker)
    approved = files.explain("note.txt", Access.WRITE).identity
    (world.workspace / "note.txt").write_text("somebody else was here")
    with pytest.raises(BoundaryViolation, match="changed since"):
        files.write_atomic("note.txt", b"x", expected=approved)
    with pytest.raises(BoundaryViolation, match="changed since"):
        files.write_atomic("note.txt", b"x", expected="absent")
    assert (world.workspace / "note.txt").read_text() == "somebody else was here"


def test_a_full_disk_is_said_in_words_and_leaves_the_old_file(world: World, walker: PathWalker) -> None:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # a limit on file sizes stands in for the full disk: the write fails half-way
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            world.files(walker).write_atomic("note.txt", b"x" * 100_000)
        except ToolFailure as error:
            os.write(write, str(error).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        assert str(world.workspace / "note.txt") in pipe.read()
    assert (world.workspace / "note.txt").read_text() == "note\n"
    assert [p.name for p in world.workspace.iterdir()] == ["note.txt"]


class Slow(PathWalker):
    """Another process is faster: it does something right after a folder was opened."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    def open(self, root: str, path: str, flags: int) -> int:
        found = super().open(root, path, flags)
        self._meanwhile()
        return found


@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("instead", ["link", "folder", "nothing"])
@pytest.mark.parametrize("place", ["outside", "workspace"])
def test_nothing_is_written_into_a_folder_that_is_moved_away_once_it_is_open(
    world: World, place: str, instead: str
) -> None:
    asked, moved = world.workspace / "sub", getattr(world, place) / "moved"
    asked.mkdir()

    def swap() -> None:
        asked.rename(moved)
        if instead == "link":
            asked.symlink_to(moved)
        elif instead == "folder":
            asked.mkdir()

    with pytest.raises(BoundaryViolation, match="changed while it was being opened"):
        world.files(Slow(swap)).write_atomic("sub/new.txt", b"x")
    assert list(moved.iterdir()) == []
    assert not (asked / "new.txt").exists()


@pytest.mark.spec("R-BLT-6")
def test_a_listing_is_sorted_marked_and_capped(world: World, walker: PathWalker) -> None:
    (world.workspace / "zoo").mkdir()
    (world.workspace / "Link").symlink_to("note.txt")
    os.mkfifo(world.workspace / "pipe")
    entries, total = world.files(walker).list_folder(".", 10)
    assert [(e.name, e.kind, e.size) for e in entries] == [
        ("Link", "link", None),
        ("note.txt", "file", 5),
        ("pipe", "special", None),
        ("zoo", "dir", None),
    ]
    few, total = world.files(walker).list_folder(".", 2)
    assert ([e.name for e in few], total) == (["Link", "note.txt"], 4)
