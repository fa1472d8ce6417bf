"""Ways out of the boundary by what a path says or what lies at it: each is tried for reading, listing and writing, by
both ways to open. Whatever answer comes, nothing secret is in it, nothing outside changes, and it comes at once."""

import os
import socket
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.safety import Access
from desktop.safety.boundary import paths
from desktop.safety.boundary.opening import PathWalker
from tests.harness.timeouts import WAIT_S
from tests.unit.safety import escapes
from tests.unit.safety.world import World

CANARIES = (b"PRIVATE", b"OUTSIDE", b"CONVERSATIONS")
NAMES = {"id_rsa", "secret.txt", "assent.db"}


def link(target: str | Path) -> Callable[[World], str]:
    return lambda world: made(world, str(target).format(w=world))


def made(world: World, target: str, name: str = "door") -> str:
    (world.workspace / name).symlink_to(target)
    return name


def below(*rest: str) -> Callable[[World], str]:
    """Through a folder that is a link."""

    def prepare(world: World) -> str:
        return os.path.join(made(world, str(world.outside)), *rest)

    return prepare


def chain(world: World) -> str:
    made(world, str(world.outside / "secret.txt"), "a")
    made(world, "a", "b")
    return made(world, "b")


def loop(world: World) -> str:
    made(world, "b", "a")
    return made(world, "a", "b")


def inner_loop(world: World) -> str:
    made(world, ".", "here")
    return "/".join(["here"] * 60) + "/../../../../outside/secret.txt"


def second_name(*of: str) -> Callable[[World], str]:
    def prepare(world: World) -> str:
        os.link(os.path.join(world.root, *of), world.workspace / "innocent.txt")
        return "innocent.txt"

    return prepare


def second_name_deep(world: World) -> str:
    (world.ssh / "deep/er").mkdir(parents=True)
    (world.ssh / "deep/er/key").write_text("PRIVATE")
    (world.workspace / "sub").mkdir()
    os.link(world.ssh / "deep/er/key", world.workspace / "sub/x")
    return "sub/x"


def open_in_the_app(path: str) -> Callable[[World], str]:
    """The app itself has a secret file open."""

    def prepare(world: World) -> str:
        HANDLES.append(os.open(world.home / "data/assent.db", os.O_RDONLY))  # closed at the end of the test
        return path.format(fd=HANDLES[-1], pid=os.getpid())

    return prepare


def here(path: str) -> Callable[[World], str]:
    return lambda world: path.format(w=world, o=world.outside, pid=os.getpid())


def special(kind: int, device: int = 0) -> Callable[[World], str]:
    def prepare(world: World) -> str:
        try:
            os.mknod(world.workspace / "special", kind | 0o666, device)
        except PermissionError:
            pytest.skip("making devices needs root")
        return "special"

    return prepare


def socket_file(world: World) -> str:
    os.chdir(world.workspace)  # the name of a socket may have 107 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
    return "s"


def named(name: str) -> Callable[[World], str]:
    """A link under an odd name."""
    return lambda world: made(world, str(world.outside), name) + "/secret.txt"


def swapped_case(world: World) -> str:
    return str(world.ssh / "id_rsa").replace(".ssh", ".SSH")


def composed(world: World) -> str:
    """Denied in one spelling, there in the other: two names on Linux, one on macOS."""
    folder = world.workspace / "cle\u0301"
    world.change(denied=(*world.settings.denied, str(folder), str(world.workspace / "cl\u00e9")))
    folder.mkdir()
    (folder / "secret.txt").write_text("OUTSIDE")
    return "cle\u0301/secret.txt"


HANDLES: list[int] = []
ATTACKS: dict[str, Callable[[World], str]] = {
    "a link to a file": link("{w.outside}/secret.txt"),
    "a relative link": link("../../../outside/secret.txt"),
    "a link to a folder": link("{w.outside}"),
    "a link to a denied folder": link("{w.ssh}"),
    "a link to the app's data": link("{w.home}/data/assent.db"),
    "a link to the root": link("/"),
    "below a link": below("secret.txt"),
    "below a link, twice": below("..", "outside", "secret.txt"),
    "a slash after a link": below(""),
    "a dot after a link": below("."),
    "dots after a link": below("..", "person", ".ssh", "id_rsa"),
    "slashes after a link": below("", "", "secret.txt"),
    "what does not exist below a link": below("new", "deep.txt"),
    "a chain of links": chain,
    "a loop of links": loop,
    "a loop through the folder itself": inner_loop,
    "a dangling link": link("{w.outside}/not-yet.txt"),
    "a dangling link in a missing folder": link("{w.outside}/not/yet.txt"),
    "a dangling link to a denied name": link("{w.ssh}/authorized_keys"),
    "a link through the root of /proc": link("/proc/self/root{w.outside}/secret.txt"),
    "a link through the folder of /proc": link("/proc/self/cwd"),
    "the root of /proc": here("/proc/self/root{o}/secret.txt"),
    "the root of this process": here("/proc/{pid}/root{o}/secret.txt"),
    "the root of this thread": here("/proc/thread-self/root{o}/secret.txt"),
    "the root of the first process": here("/proc/1/root{o}/secret.txt"),
    "the folder of this process": here("/proc/{pid}/cwd/../../../../../../../../..{o}/secret.txt"),
    "this process's task": here("/proc/self/task/{pid}/root{o}/secret.txt"),
    "this process's memory": here("/proc/self/mem"),
    "this process's environment": here("/proc/{pid}/environ"),
    "an open file, by /proc": open_in_the_app("/proc/self/fd/{fd}"),
    "an open file, by number": open_in_the_app("/proc/{pid}/fd/{fd}"),
    "an open file, by /dev": open_in_the_app("/dev/fd/{fd}"),
    "a folder of open files": open_in_the_app("/dev/fd"),
    "the standard input": here("/dev/stdin"),
    "the standard output": here("/proc/self/fd/1"),
    "a second name of a denied file": second_name("person", ".ssh", "id_rsa"),
    "a second name of the app's data": second_name("person", ".agent", "data", "assent.db"),
    "a second name of a file deep in a denied folder": second_name_deep,
    "a pipe": special(stat.S_IFIFO),
    "a device": special(stat.S_IFCHR, os.makedev(1, 5)),
    "a disk": special(stat.S_IFBLK, os.makedev(254, 0)),
    "a socket": socket_file,
    "a device of the system": here("/dev/zero"),
    "the terminal": here("/dev/tty"),
    "the kernel's settings": here("/sys/kernel"),
    "the folder above": here("../data/assent.db"),
    "many folders above": here("../" * 40 + "{o}/secret.txt"),
    "dots between": here("a/../../data/./assent.db"),
    "two slashes": here("/{o}/secret.txt"),
    "many slashes": here("////{o}//secret.txt"),
    "a slash at the end": here("{o}/secret.txt/"),
    "a home": here("~/.ssh/id_rsa"),
    "another's home": here("~root/../{o}/secret.txt"),
    "no such home": here("~nobody-of-that-name/../../../{o}/secret.txt"),
    "a denied name in another case": swapped_case,
    "a denied name, composed otherwise": composed,
    "a name with a newline": named("do\nor"),
    "a name with an escape": named("\x1b[2K"),
    "a name that is not UTF-8": named("b\udcffd"),
    "a name of spaces": named("  "),
    "a name of dots": named("..."),
    "a name with a backslash": named("a\\b"),
    "a name as long as can be": named("n" * 255),
    "NUL": here("note.txt\0{o}/secret.txt"),
    "too long a name": here("n" * 300 + "/../../../../outside/secret.txt"),
    "too long a path": here("a/" * 2100 + "x"),
    "half a character": here("\ud800/../../../../outside/secret.txt"),
    "nothing": here(""),
    "an address": here("file://{o}/secret.txt"),
    "a drive": here("C:{o}/secret.txt"),
}


def used(world: World, walker: PathWalker, path: str) -> bool:
    """Whether anything got out, or in."""
    files, got = world.files(walker), b""
    before = everything(world)

    def read() -> None:
        nonlocal got
        with files.open_read(path) as stream:
            got += stream.read(1_000_000)

    def listing() -> None:
        nonlocal got
        found = {entry.name for entry in files.list_folder(path, 1000)[0]}
        got += b"OUTSIDE" if found & NAMES else b""

    def write() -> None:
        files.write_atomic(path, b"WRITTEN")

    for use in (read, listing, write):
        began = time.monotonic()
        try:
            use()
        except (BoundaryViolation, ToolFailure):
            pass
        assert time.monotonic() - began < WAIT_S
    return any(canary in got for canary in CANARIES) or everything(world) != before


def everything(world: World) -> dict[str, str]:
    """All that lies outside the workspace."""
    found = {}
    for top in (world.outside, world.ssh, world.home / "data", world.home / "agents"):
        for path in top.rglob("*"):
            found[str(path)] = path.read_text() if path.is_file() else ""
    return found


@pytest.mark.spec("R-FS-1", "R-FS-2", "R-FS-3", "R-FS-9", "R-FS-13")
@pytest.mark.parametrize("name", ATTACKS)
def test_no_path_leads_out(world: World, walker: PathWalker, name: str) -> None:
    start = os.getcwd()
    try:
        path = ATTACKS[name](world)
        passed = used(world, walker, path)
    finally:
        os.chdir(start)
        for handle in HANDLES:
            os.close(handle)
        HANDLES.clear()
    escapes.tried("links and paths", passed)
    assert not passed


LEADING = (
    "a link to a file",
    "a relative link",
    "a link to a folder",
    "a link to a denied folder",
    "below a link",
    "below a link, twice",
    "a slash after a link",
    "a dot after a link",
    "dots after a link",
    "slashes after a link",
    "what does not exist below a link",
    "a chain of links",
    "a dangling link",
    "a dangling link to a denied name",
    "a link through the root of /proc",
    "the root of /proc",
    "the root of this process",
    "the root of this thread",
    "a second name of a denied file",
    "a second name of a file deep in a denied folder",
    "two slashes",
    "many slashes",
    "a home",
    "a name with a newline",
    "a name that is not UTF-8",
    "a name as long as can be",
)


@pytest.mark.parametrize("name", LEADING)
def test_the_same_measure_sees_the_escape_where_there_is_no_boundary(world: World, name: str) -> None:
    """So that the test above can fail."""
    world.change(allowed=("/",), denied=())
    assert used(world, PathWalker(), ATTACKS[name](world))


def test_a_file_of_a_terabyte_of_nothing_is_opened_at_once_and_read_as_far_as_asked(
    world: World, walker: PathWalker
) -> None:
    with open(world.workspace / "sparse", "wb") as file:
        file.truncate(1 << 40)
    with world.files(walker).open_read("sparse") as stream:
        assert stream.read(100) == bytes(100)
    assert world.files(walker).list_folder(".", 10)[0][1].size == 1 << 40


@pytest.mark.spec("R-FS-13")
def test_a_pipe_with_a_waiting_writer_is_neither_waited_for_nor_drained(world: World, walker: PathWalker) -> None:
    os.mkfifo(world.workspace / "pipe")
    writer = threading.Thread(target=lambda: (world.workspace / "pipe").write_bytes(b"x"), daemon=True)
    writer.start()
    with pytest.raises(BoundaryViolation):
        world.files(walker).open_read("pipe")
    with pytest.raises(BoundaryViolation):
        world.files(walker).write_atomic("pipe", b"x")
    assert (world.workspace / "pipe").read_bytes() == b"x"
    writer.join()


# -- names that a file system takes for one ---------------------------------------------------------------------------


@pytest.mark.spec("R-FS-6")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/w/.ssh/id_rsa", "/w/.SSH"),
        ("/w/cl\u00e9/x", "/w/cle\u0301"),
        ("/w/CLE\u0301/x", "/w/cl\u00e9"),
        ("/w/stra\u00dfe", "/w/STRASSE"),
        ("/w/.s\u200csh/x", "/w/.ssh"),
        ("/w/\ufb01le", "/w/file"),
        ("/w/se\u00adcret", "/w/secret"),
        ("/w/\u212aeys", "/w/keys"),
    ],
)
def test_spellings_that_some_file_system_takes_for_one_name_are_one(one: str, other: str) -> None:
    passed = not paths.is_within(one, other, fold=True)
    escapes.tried("names alike", passed)
    assert not passed
    assert not paths.is_within(one, other)


@pytest.mark.spec("R-FS-6")
@pytest.mark.parametrize(("one", "other"), [("/w/secret2", "/w/secret"), ("/w/\u00e8", "/w/\u00e9"), ("/v/a", "/w/a")])
def test_other_names_stay_other_names(one: str, other: str) -> None:
    assert not paths.is_within(one, other, fold=True)


@pytest.mark.spec("R-FS-6")
def test_composed_or_not_is_one_name_on_a_mac_whatever_the_case_means() -> None:
    assert paths.spelled_alike("/nowhere/cl\u00e9/x", "/nowhere/cle\u0301", platform="darwin")
    assert not paths.spelled_alike("/nowhere/clx", "/nowhere/cle\u0301", platform="darwin")


@pytest.mark.spec("R-FS-6")
def test_a_denied_name_that_does_not_exist_yet_is_closed_in_every_case_where_case_means_nothing(
    world: World, tmp_path: Path
) -> None:
    """In a folder whose names are compared without case, where this kernel has such folders."""
    folder = world.workspace / "folded"
    folder.mkdir()
    folds = os.system(f"mount -t tmpfs -o casefold none {folder} 2>/dev/null") == 0
    try:
        if folds:
            (folder / "in").mkdir()
            folds = os.system(f"chattr +F {folder}/in 2>/dev/null") == 0
        if not folds:
            pytest.skip("this kernel has no folders without case")
        world.change(denied=(str(folder / "in/secret"),))
        assert not world.policy.explain(str(folder / "in/SECRET/x"), Access.WRITE).allowed
    finally:
        os.system(f"umount {folder} 2>/dev/null")


def test_a_denied_entry_that_is_a_loop_of_links_still_closes_its_name(world: World) -> None:
    (world.workspace / "loop").symlink_to("loop")
    world.change(denied=(str(world.workspace / "loop"),))
    assert world.policy.lists().denied[0].resolved == str(world.workspace / "loop")
    (world.workspace / "loop").unlink()
    assert not world.policy.explain("loop", Access.WRITE).allowed
