"""The reach explorer's eyes and hands: one folder at a time, and attempts that change nothing (R-FS-11, C-33)."""

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.safety.boundary import reach_probe
from desktop.safety.boundary.reach import Attempt, ProvenFiles, Prover, first_link, level
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from tests.unit.safety.world import World


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder, as it is: kind, mode, size, time of change, content."""
    found: dict[str, tuple[object, ...]] = {}
    for here, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(here, name)
            status = os.lstat(path)
            regular = os.path.isfile(path) and not os.path.islink(path)
            content = hashlib.sha256(Path(path).read_bytes()).hexdigest() if regular else ""
            when = status.st_mtime_ns if regular else 0  # making and removing a name is seen in its folder's time
            found[path] = (status.st_ino, status.st_mode, when, content)
    return found


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def confinement(request: pytest.FixtureRequest, world: World) -> Iterator[SystemConfinement]:
    kinds = () if request.param == "none" else (request.param,)
    made = SystemConfinement(world.policy, lambda: world.settings, kinds=kinds)
    with contextlib.closing(made):
        if made.probe().kind != request.param:
            pytest.skip(f"{request.param} does not work here")
        yield made


@pytest.fixture
def prover(world: World, confinement: SystemConfinement) -> Prover:
    return prover_of(world, confinement)


def prover_of(world: World, confinement: SystemConfinement) -> Prover:
    policy = world.policy
    return Prover(policy, ProvenFiles(policy), confinement, GroupRunner(), lambda: world.settings)


# -- looking ----------------------------------------------------------------------------------------------------------


def test_a_level_has_folders_first_then_the_rest_by_name_whatever_their_case(tmp_path: Path) -> None:
    for name in ("b.txt", "A.txt", "c.txt"):
        (tmp_path / name).write_text("")
    for name in ("zoo", "Ant"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "zoo")
    os.mkfifo(tmp_path / "pipe")
    found = level(str(tmp_path))
    assert found.names == ("Ant", "zoo", "A.txt", "b.txt", "c.txt", "link", "pipe")
    assert found.kinds == ("dir", "dir", "file", "file", "file", "link", "special")
    assert (found.folders, found.left_out, found.problem) == (2, 0, "")


def test_a_folder_that_cannot_be_read_says_why_and_one_that_is_too_large_says_how_many_are_left_out(
    tmp_path: Path,
) -> None:
    assert level(str(tmp_path / "nowhere")).problem == "No such file or directory"
    (tmp_path / "file").write_text("")
    assert level(str(tmp_path / "file")).problem == "Not a directory"
    for at in range(12):
        (tmp_path / f"n{at:02d}").write_text("")
    found = level(str(tmp_path), limit=5)
    assert (len(found.names), found.left_out) == (5, 8)


def test_a_large_level_is_sorted_whole_and_lets_other_threads_go_on(tmp_path: Path) -> None:
    names = [f"{at * 7919 % 20_000:05d}" for at in range(20_000)]
    for name in names:
        os.close(os.open(tmp_path / name, os.O_CREAT | os.O_WRONLY))
    turns = []
    over = threading.Event()

    def beside() -> None:
        while not over.is_set():
            turns.append(time.monotonic())
            time.sleep(0.0005)

    thread = threading.Thread(target=beside)
    thread.start()
    found = level(str(tmp_path))
    over.set()
    thread.join()
    assert list(found.names) == sorted(names)
    assert len(turns) > 5


def test_links_are_told_and_not_followed_and_loops_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert level(str(tmp_path / "a")).kinds == ("link",)
    assert level(str(tmp_path / "a/up/a/up/a")).names == ("up",), "opened as often as one likes, a level at a time"
    assert level(str(tmp_path / "self")).problem


@pytest.mark.spec("R-FS-11")
def test_the_link_that_leads_elsewhere_is_named(world: World) -> None:
    (world.workspace / "keys").symlink_to(world.ssh)
    settings = lambda: world.settings  # noqa: E731
    assert first_link("keys/config", settings) == "keys"
    assert first_link(str(world.workspace / "keys" / "id_rsa"), settings) == "keys"
    assert first_link("note.txt", settings) == ""
    assert first_link("\0", settings) == ""


# -- trying -----------------------------------------------------------------------------------------------------------


@pytest.mark.spec("R-FS-11", "R-FS-3")
async def test_what_is_allowed_opens_in_both_ways_and_nothing_of_it_changes(world: World, prover: Prover) -> None:
    secret = world.workspace / "docs" / "secret"
    secret.mkdir(parents=True)
    (world.workspace / "docs" / "a.md").write_text("A")
    (secret / "key").write_text("KEY")
    confined = prover._confinement.probe().kind != "none"
    before = tree(world.root)
    for path in (world.workspace / "note.txt", world.workspace / "docs", secret / "key", world.workspace):
        command, files = await prover.by_command(str(path)), prover.by_file_tools(str(path))
        assert [a.outcome for a in (command.read, command.write, files.read, files.write)] == ["opened"] * 4, path
    world.change(denied=(str(secret),))
    for path in (secret, secret / "key"):
        command, files = await prover.by_command(str(path)), prover.by_file_tools(str(path))
        assert (files.read.code, files.write.code) == ("Assent", "Assent"), path
        assert (command.read.outcome == "opened", command.write.outcome == "opened") == (not confined,) * 2, path
    assert tree(world.root) == before


@pytest.mark.spec("R-FS-3", "R-FS-7", "R-FS-10")
async def test_what_is_denied_or_the_apps_own_is_refused_in_both_ways(world: World, prover: Prover) -> None:
    inner = world.workspace / "secrets"
    inner.mkdir()
    (inner / "key").write_text("KEY")
    (world.home / "config.yaml").write_text("x: 1\n")
    world.change(allowed=(str(world.home), str(world.workspace)), denied=(str(world.ssh), str(inner)))
    confined = prover._confinement.probe().kind != "none"
    before = tree(world.root)
    for path in (inner, inner / "key", world.ssh, world.ssh / "id_rsa", world.home / "data" / "assent.db"):
        files = prover.by_file_tools(str(path))
        assert (files.read.code, files.write.code) == ("Assent", "Assent"), path
        command = await prover.by_command(str(path))
        outcomes = {command.read.outcome, command.write.outcome}
        assert outcomes <= {"refused", "hidden"} if confined else outcomes == {"opened"}, (path, command)
    own = str(world.home / "config.yaml")
    command, files = await prover.by_command(own), prover.by_file_tools(own)
    assert (files.read.outcome, files.write.code) == ("opened", "Assent")
    assert (command.read.outcome, command.write.outcome) == ("opened", "refused" if confined else "opened")
    assert tree(world.root) == before


@pytest.mark.spec("R-FS-2")
async def test_a_link_is_tried_where_it_leads(world: World, prover: Prover) -> None:
    (world.workspace / "keys").symlink_to(world.ssh)
    world.change(denied=(str(world.ssh),))
    confined = prover._confinement.probe().kind != "none"
    command, files = (
        await prover.by_command(str(world.workspace / "keys")),
        prover.by_file_tools(str(world.workspace / "keys")),
    )
    assert (command.read.outcome != "opened") == confined
    assert files.read.code == files.write.code == "Assent"
    assert str(world.ssh) in files.read.sentence


@pytest.mark.spec("R-FS-13")
async def test_pipes_sockets_and_devices_are_left_alone(world: World, prover: Prover) -> None:
    """Nobody hangs on them, and whoever waits at the other end is not woken."""
    pipe = world.workspace / "pipe"
    os.mkfifo(pipe)
    waiting = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w')"])
    ear = socket.socket(socket.AF_UNIX)
    ear.bind(str(world.workspace / "ear"))
    try:
        for path in (pipe, world.workspace / "ear", Path("/dev/null"), Path("/proc/self/mem")):
            command, files = await prover.by_command(str(path)), prover.by_file_tools(str(path))
            assert {a.outcome for a in (command.read, command.write, files.read, files.write)} == {"untried"}, path
        assert waiting.poll() is None
    finally:
        ear.close()
        waiting.kill()
        waiting.wait()


async def test_where_nothing_is_nothing_stays(world: World, prover: Prover) -> None:
    absent = world.workspace / "later.txt"
    command, files = await prover.by_command(str(absent)), prover.by_file_tools(str(absent))
    assert command.read == files.read == Attempt("untried", "ENOENT")
    assert (command.write.outcome, files.write.outcome) == ("opened", "opened")
    below = str(world.workspace / "no" / "such" / "file")
    command, files = await prover.by_command(below), prover.by_file_tools(below)
    assert (command.write.outcome, files.write.outcome) == ("untried", "untried")
    assert sorted(os.listdir(world.workspace)) == ["note.txt"]


async def test_names_that_are_no_text_are_tried_too(world: World, prover: Prover) -> None:
    odd = os.fsencode(world.workspace) + b"/caf\xe9 'x\" \n$(id)"
    Path(os.fsdecode(odd)).write_text("x")
    command = await prover.by_command(os.fsdecode(odd))
    assert (command.read.outcome, command.write.outcome) == ("opened", "opened")


async def test_without_a_workspace_it_says_so_and_does_not_fail(world: World, prover: Prover) -> None:
    world.change(workspace=str(world.workspace / "gone"), allowed=(str(world.workspace),))
    found = await prover.by_command(str(world.workspace / "note.txt"))
    assert found.read.outcome == "untried"
    assert "does not exist" in found.read.sentence


@pytest.mark.spec("R-FS-12")
async def test_a_change_of_the_lists_counts_at_the_next_try(world: World, prover: Prover) -> None:
    path = str(world.workspace / "note.txt")
    assert prover.by_file_tools(path).read.outcome == "opened"
    world.change(denied=(path,))
    assert prover.by_file_tools(path).read.code == "Assent"
    if prover._confinement.probe().kind != "none":
        assert (await prover.by_command(path)).read.outcome in ("refused", "hidden")


def test_the_child_tells_another_file_in_the_same_place_from_the_real_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    status = path.stat()
    assert reach_probe.attempt("read", str(path), f"{status.st_dev}:{status.st_ino}", "p") == ("opened", "")
    assert reach_probe.attempt("read", str(path), f"{status.st_dev}:1", "p") == ("hidden", "another")
    assert reach_probe.attempt("write", str(path), f"{status.st_dev}:1", "p") == ("hidden", "another")
    assert reach_probe.attempt("read", str(tmp_path / "no"), "1:2", "p") == ("hidden", "ENOENT")


def test_the_child_needs_nothing_of_ours() -> None:
    wish = json.dumps({"path": "/", "identity": "1:1", "probe": "p"})
    argv = [sys.executable, "-I", "-S", reach_probe.__file__, wish]
    done = subprocess.run(argv, capture_output=True, text=True, cwd="/", env={})
    assert json.loads(done.stdout) == {"read": ["hidden", "another"], "write": ["hidden", "another"]}
