"""The race between check and use: a process swaps what was checked for a way out, in a loop, while it is used.

Few tries in the ordinary run; ``-m soak`` makes a hundred thousand of them, spread over all ways to use a path.
"""

import asyncio
import itertools
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, GuardedFiles, ProcessSpec
from desktop.safety.boundary.opening import PathWalker
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from tests.harness.timeouts import WAIT_S
from tests.unit.safety import escapes
from tests.unit.safety.world import World

INSIDE, REFUSED, ESCAPED = "inside", "refused", "escaped"
Use = Callable[[GuardedFiles, World, int], str]


@contextmanager
def swapping(world: World, kind: str) -> Iterator[None]:
    """What lies outside has the names of what lies inside."""
    (world.outside / "deep").mkdir()
    for name in ("file.txt", "deep/file.txt"):
        (world.outside / name).write_text("OUTSIDE")
    script, denied = Path(__file__).with_name("swapper.py"), world.ssh / "id_rsa"
    arguments = [sys.executable, "-I", str(script), str(world.workspace), str(world.outside), kind, str(denied)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


def attempts(at_least: int, seen: Counter[str]) -> Iterator[int]:
    """Numbers of tries: ``at_least`` so many, then on until both outcomes were seen, for on a busy machine the swapper
    may not have had its turn yet. That one of them never comes is an answer too."""
    until = time.monotonic() + WAIT_S
    for number in itertools.count():
        if number >= at_least and ((seen[INSIDE] and seen[REFUSED]) or time.monotonic() > until):
            return
        yield number


def read(name: str) -> Use:
    def use(files: GuardedFiles, world: World, number: int) -> str:
        with files.open_read(name) as stream:
            return INSIDE if stream.read() == b"INSIDE" else ESCAPED

    return use


def listing(name: str) -> Use:
    def use(files: GuardedFiles, world: World, number: int) -> str:
        found = {entry.name for entry in files.list_folder(name, 100)[0]}
        return ESCAPED if "secret.txt" in found else INSIDE

    return use


def write(*names: str) -> Use:
    """Escaped: anything new or changed outside, or in what is denied."""

    def use(files: GuardedFiles, world: World, number: int) -> str:
        try:
            files.write_atomic(names[number % len(names)].format(number), b"WRITTEN")
            return INSIDE
        finally:
            assert outside_of(world) == OUTSIDE

    return use


OUTSIDE = {"deep": "", "deep/file.txt": "OUTSIDE", "file.txt": "OUTSIDE", "secret.txt": "OUTSIDE", "id_rsa": "PRIVATE"}


def outside_of(world: World) -> dict[str, str]:
    """Everything there, by name."""
    found = {"id_rsa": (world.ssh / "id_rsa").read_text()}
    for path in world.outside.rglob("*"):
        found[str(path.relative_to(world.outside))] = path.read_text() if path.is_file() else ""
    return found


RACES: dict[str, tuple[str, Use]] = {
    "read a file": ("file", read("target")),
    "read in a folder": ("folder", read("target/file.txt")),
    "read below a folder": ("parent", read("target/deep/file.txt")),
    "read or a pipe": ("pipe", read("target")),
    "read or a denied file's second name": ("second name", read("target")),
    "read or a way through /proc": ("magic", read("target")),
    "list a folder": ("folder", listing("target")),
    "list below a folder": ("parent", listing("target/deep")),
    "replace a file": ("file", write("target")),
    "replace or a dangling link": ("dangling", write("target")),
    "replace or a denied file's second name": ("second name", write("target")),
    "replace in a folder": ("folder", write("target/file.txt")),
    "create in a folder": ("folder", write("target/new-{}.txt")),
    "create folders": ("folder", write("target/made-{}/deep.txt", "target/deep/made-{}/more/x.txt")),
}


def race(world: World, walker: PathWalker, name: str, tries: int) -> Counter[str]:
    """How often it was the inside, refused, or got out."""
    kind, use = RACES[name]
    files, seen = world.files(walker), Counter[str]()
    with swapping(world, kind):
        for number in attempts(tries, seen):
            try:
                seen[use(files, world, number)] += 1
            except (BoundaryViolation, ToolFailure):
                seen[REFUSED] += 1
    escapes.tried(f"races: {name.split()[0]}", times=seen[INSIDE] + seen[REFUSED])
    escapes.tried(f"races: {name.split()[0]}", True, times=seen[ESCAPED])
    return seen


@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("name", RACES)
def test_no_use_of_a_path_escapes_while_it_is_swapped(world: World, walker: PathWalker, name: str) -> None:
    seen = race(world, walker, name, 80)
    assert not seen[ESCAPED]
    assert seen[INSIDE]
    assert seen[REFUSED]


@pytest.mark.soak
@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("name", RACES)
def test_no_escape_in_a_hundred_thousand_tries(world: World, walker: PathWalker, name: str) -> None:
    seen = race(world, walker, name, 98_000 // (2 * len(RACES)) + 1)
    print(f"{name}: {dict(seen)}")
    assert not seen[ESCAPED]
    assert seen[INSIDE]


def test_the_race_is_one_that_a_mere_check_before_use_loses(world: World) -> None:
    """Without it the tests above would prove nothing."""
    policy, path, until = world.policy, world.workspace / "target", time.monotonic() + WAIT_S
    with swapping(world, "file"):
        while time.monotonic() < until:
            if policy.explain(str(path), Access.READ).allowed and path.read_text() == "OUTSIDE":
                return
    pytest.fail("a check before use always held: the neighbour is asleep")


# -- where a program starts -------------------------------------------------------------------------------------------

WHERE = ProcessSpec(("sh", "-c", "cat file.txt; echo; pwd -P"), "", {"PATH": "/usr/bin:/bin"})


async def race_of_starts(world: World, kind: Kind, tries: int) -> Counter[str]:
    """Programs started in a folder that is swapped for a link: as the tools do it, judged, wrapped and run."""
    runner, seen = GroupRunner(), Counter[str]()
    settings = lambda: world.settings  # noqa: E731
    with closing(SystemConfinement(world.policy, settings, kinds=(kind,))) as confinement, swapping(world, "folder"):
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        for _ in attempts(tries, seen):
            place = world.policy.explain("target", Access.LIST)
            if not place.allowed:
                seen[REFUSED] += 1
                continue
            spec = ProcessSpec(WHERE.argv, place.resolved, WHERE.env)
            try:
                wrapped = await asyncio.to_thread(confinement.wrap, spec)
                outcome = await runner.run(wrapped, CancellationToken())
            except (BoundaryViolation, ToolFailure):
                seen[REFUSED] += 1
                continue
            if "OUTSIDE" in outcome.output or f"\n{world.outside}" in outcome.output:
                seen[ESCAPED] += 1
            else:
                seen[INSIDE if "INSIDE" in outcome.output else REFUSED] += 1
    escapes.tried("races: start", times=seen[INSIDE] + seen[REFUSED])
    escapes.tried("races: start", True, times=seen[ESCAPED])
    return seen


STARTS: list[Kind] = ["bubblewrap", "landlock", "none"]


@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("kind", STARTS)
async def test_no_program_starts_outside_while_its_folder_is_swapped(world: World, kind: Kind) -> None:
    seen = await race_of_starts(world, kind, 40)
    assert not seen[ESCAPED]
    assert seen[INSIDE]
    assert seen[REFUSED]


@pytest.mark.soak
@pytest.mark.spec("R-FS-9")
@pytest.mark.parametrize("kind", STARTS)
async def test_no_program_starts_outside_in_many_tries(world: World, kind: Kind) -> None:
    seen = await race_of_starts(world, kind, 700)
    print(f"start, {kind}: {dict(seen)}")
    assert not seen[ESCAPED]
    assert seen[INSIDE]
