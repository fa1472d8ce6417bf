"""Opening at the handle: what was checked is what is read and written, also against a neighbour that swaps links."""

import errno
import itertools
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.safety import Access
from desktop.safety.opening import Walker
from tests.unit.safety.world import World

WALKERS = [pytest.param(True, id="openat2"), pytest.param(False, id="step by step")]


@pytest.fixture(params=WALKERS)
def walker(request: pytest.FixtureRequest) -> Walker:
    made = Walker(use_openat2=request.param)
    if request.param and not made.has_openat2:
        pytest.skip("this kernel has no openat2")
    return made


@pytest.mark.spec("R-FS-9")
def test_a_file_is_read_by_its_resolved_path(world: World, walker: Walker) -> None:
    (world.workspace / "alias").symlink_to("note.txt")
    for name in ("note.txt", "alias", str(world.workspace / "note.txt")):
        with world.files(walker).open_read(name) as stream:
            assert stream.read() == b"note\n"


@pytest.mark.spec("R-FS-9")
def test_the_walker_follows_no_link_anywhere(world: World, walker: Walker) -> None:
    (world.workspace / "final").symlink_to(world.outside / "secret.txt")
    (world.workspace / "folder").symlink_to(world.outside)
    for name in ("final", "folder/secret.txt"):
        with pytest.raises(OSError) as caught:
            walker.open(str(world.workspace), str(world.workspace / name), os.O_RDONLY)
        assert caught.value.errno == errno.ELOOP


@pytest.mark.spec("R-FS-7")
def test_outside_and_missing_and_folders_are_told_apart(world: World, walker: Walker) -> None:
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
def test_a_pipe_is_refused_without_waiting_for_its_writer(world: World, walker: Walker) -> None:
    os.mkfifo(world.workspace / "pipe")
    began = time.monotonic()
    with pytest.raises(BoundaryViolation):
        world.files(walker).open_read("pipe")
    assert time.monotonic() - began < 1


@pytest.mark.spec("R-BLT-4")
def test_a_write_replaces_the_file_at_once_and_keeps_its_mode(world: World, walker: Walker) -> None:
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
def test_a_write_makes_parents_inside_the_boundary(world: World, walker: Walker) -> None:
    done = world.files(walker).write_atomic("a/b/c.txt", "grüße".encode())
    assert (world.workspace / "a/b/c.txt").read_text() == "grüße"
    assert done.folders_made == (str(world.workspace / "a"), str(world.workspace / "a/b"))


@pytest.mark.spec("R-BLT-4", "R-FS-7")
def test_a_write_makes_no_parents_outside(world: World, walker: Walker) -> None:
    (world.workspace / "link").symlink_to(world.outside)
    with pytest.raises(BoundaryViolation):
        world.files(walker).write_atomic("link/new/file.txt", b"x")
    assert not (world.outside / "new").exists()


def test_a_write_through_a_link_inside_the_boundary_changes_the_target(world: World, walker: Walker) -> None:
    (world.workspace / "alias").symlink_to("note.txt")
    world.files(walker).write_atomic("alias", b"changed")
    assert (world.workspace / "note.txt").read_text() == "changed"
    assert (world.workspace / "alias").is_symlink()


def test_a_single_file_can_be_allowed_and_only_it_is_written(world: World, walker: Walker) -> None:
    world.change(allowed=(str(world.outside / "secret.txt"),))
    world.files(walker).write_atomic(str(world.outside / "secret.txt"), b"new")
    assert (world.outside / "secret.txt").read_text() == "new"
    with pytest.raises(BoundaryViolation):
        world.files(walker).write_atomic(str(world.outside / "other.txt"), b"new")


@pytest.mark.spec("R-FS-9")
def test_writing_over_a_hard_link_leaves_the_other_name_alone(world: World, walker: Walker) -> None:
    os.link(world.outside / "secret.txt", world.workspace / "twin.txt")
    world.files(walker).write_atomic("twin.txt", b"mine")
    assert (world.outside / "secret.txt").read_text() == "OUTSIDE"


@pytest.mark.spec("R-PRM-5")
def test_a_write_that_expects_another_file_writes_nothing(world: World, walker: Walker) -> None:
    files = world.files(walker)
    approved = files.explain("note.txt", Access.WRITE).identity
    (world.workspace / "note.txt").write_text("somebody else was here")
    with pytest.raises(BoundaryViolation, match="changed since"):
        files.write_atomic("note.txt", b"x", expected=approved)
    with pytest.raises(BoundaryViolation, match="changed since"):
        files.write_atomic("note.txt", b"x", expected="absent")
    assert (world.workspace / "note.txt").read_text() == "somebody else was here"


def test_a_full_disk_is_said_in_words_and_leaves_the_old_file(world: World, walker: Walker) -> None:
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


@pytest.mark.spec("R-BLT-6")
def test_a_listing_is_sorted_marked_and_capped(world: World, walker: Walker) -> None:
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


# -- the race ---------------------------------------------------------------------------------------------


@contextmanager
def swapping(world: World, kind: str) -> Iterator[None]:
    script = Path(__file__).with_name("swapper.py")
    arguments = [sys.executable, str(script), str(world.workspace), str(world.outside), kind]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


def attempts(at_least: int, seen: Counter[str], good: str) -> Iterator[int]:
    """Numbers of tries: ``at_least`` so many, then on until both outcomes were seen, for on a busy machine the swapper
    may not have had its turn yet. Thirty seconds without one of them is an answer too."""
    until = time.monotonic() + 30
    for number in itertools.count():
        if number >= at_least and ((seen[good] and seen["refused"]) or time.monotonic() > until):
            return
        yield number


def race_reads(world: World, walker: Walker, kind: str, tries: int) -> Counter[str]:
    """Returns how often the inside was read, how often it was refused, and how often the outside got out."""
    (world.outside / "file.txt").write_text("OUTSIDE")
    files, name = world.files(walker), "target/file.txt" if kind == "folder" else "target"
    seen: Counter[str] = Counter()
    with swapping(world, kind):
        for _ in attempts(tries, seen, "inside"):
            try:
                with files.open_read(name) as stream:
                    text = stream.read()
            except (BoundaryViolation, ToolFailure):
                seen["refused"] += 1
                continue
            seen["inside" if text == b"INSIDE" else "escaped"] += 1
    return seen


def race_writes(world: World, walker: Walker, tries: int) -> Counter[str]:
    """The same for writing: an escape is any change in the folder outside."""
    files = world.files(walker)
    before = {p.name: p.read_text() for p in world.outside.iterdir()}
    seen: Counter[str] = Counter()
    with swapping(world, "write"):
        for number in attempts(tries, seen, "inside"):
            try:
                files.write_atomic("target/new/deep.txt" if number % 2 else "target/file.txt", b"WRITTEN")
                seen["inside"] += 1
            except (BoundaryViolation, ToolFailure):
                seen["refused"] += 1
            after = {p.name: p.read_text() for p in world.outside.iterdir() if p.is_file()}
            seen["escaped"] += after != before or (world.outside / "new").exists()
    return seen


@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_no_read_escapes_while_links_are_swapped(world: World, walker: Walker, kind: str) -> None:
    seen = race_reads(world, walker, kind, 400)
    assert not seen["escaped"]
    assert seen["inside"]
    assert seen["refused"]


@pytest.mark.spec("R-FS-9")
def test_no_write_escapes_while_links_are_swapped(world: World, walker: Walker) -> None:
    seen = race_writes(world, walker, 300)
    assert not seen["escaped"]
    assert seen["inside"]
    assert seen["refused"]


@pytest.mark.soak
@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("kind", ["file", "folder", "write"])
def test_no_escape_in_a_hundred_thousand_tries(world: World, walker: Walker, kind: str) -> None:
    tries = 100_000 // 6 + 1  # three kinds, two walkers
    seen = race_writes(world, walker, tries) if kind == "write" else race_reads(world, walker, kind, tries)
    print(f"{kind}: {dict(seen)}")
    assert not seen["escaped"]
    assert seen["inside"]
