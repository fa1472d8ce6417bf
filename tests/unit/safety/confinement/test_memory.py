"""A command that takes more memory than it may is ended, with all that it started, and never the app before it."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop.domain.errors import ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessOutcome, ProcessSpec
from desktop.safety.confinement import reports as confinement_reports
from desktop.safety.confinement.linux.memory import is_over
from desktop.safety.confinement.memory_limit import limit_of
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.tools.builtin.process_result import result_of
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.world import World

MEGABYTE = 1_000_000
GROWS = "held = []\nwhile True: held.append(b'x' * 10_000_000); print(len(held), flush=True)"
"""It would go on until the computer has nothing left; its limit is what stops it."""
FAMILY = """
import os, sys, time
held = bytearray(b"x" * int(sys.argv[1]))
for _ in range(3):
    if os.fork() == 0:
        own = bytearray(b"y" * int(sys.argv[2]))
        os.write(1, b"ready\\n")
        time.sleep(600)
os.write(1, b"ready\\n")
time.sleep(600)
"""


def python(world: World, code: str, *arguments: str, limit: int) -> ProcessSpec:
    argv = (sys.executable, "-I", "-S", "-c", code, *arguments)
    return ProcessSpec(argv, str(world.workspace), {"PATH": "/usr/bin:/bin"}, WAIT_S, memory_limit=limit)


async def run(spec: ProcessSpec) -> ProcessOutcome:
    return await GroupRunner().run(spec, CancellationToken())


async def test_a_program_that_outgrows_its_limit_is_ended_and_its_result_says_so(world: World) -> None:
    spec = python(world, GROWS, limit=100 * MEGABYTE)
    outcome = await run(spec)
    assert (outcome.ended, outcome.exit_code) == ("memory", None)
    with pytest.raises(ToolFailure, match=r"it used more than 0\.1 GB of memory, with everything it had started"):
        result_of(outcome, spec)


HIDES = {
    "in a file without a name": "f = os.memfd_create('x')\nfor _ in range(80): os.write(f, b'x' * 1_000_000)",
    "in a deleted file in memory": "f = os.open('/dev/shm', os.O_TMPFILE | os.O_RDWR)\n"
    "for _ in range(80): os.write(f, b'x' * 1_000_000)",
    "in a thread behind an ended one": """
def works():
    while open(f"/proc/{os.getpid()}/stat").read().split()[2] != "Z": time.sleep(0.005)
    held = b"x" * 80_000_000
    time.sleep(600)
threading.Thread(target=works).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)""",
    "in a child of one whose first thread has ended": """
def works():
    while open(f"/proc/{os.getpid()}/stat").read().split()[2] != "Z": time.sleep(0.005)
    if os.fork() == 0: held = b"x" * 80_000_000
    time.sleep(600)
threading.Thread(target=works).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)""",
}
"""80 MB where a look at the pages of a process does not find them."""
MAPS = """
import mmap, os, sys, time
file = os.memfd_create("x")
os.ftruncate(file, 60_000_000)
pages = mmap.mmap(file, 60_000_000)
pages.write(b"x" * 60_000_000)
copies = [os.dup(file) for _ in range(5)]
if os.fork(): os.write(1, b"ready\\n")
time.sleep(600)
"""
"""One file in memory, mapped by two processes, which hold it open six times each."""


@contextmanager
def family(shared: int, own: int) -> Iterator[int]:
    """A process with three children: what they share, and what each has for itself, in bytes."""
    argv = [sys.executable, "-I", "-S", "-c", FAMILY, str(shared), str(own)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            for _ in range(4):
                assert process.stdout.readline() == b"ready\n"
            yield process.pid
        finally:
            subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=True)


def test_children_count_and_what_they_share_counts_once() -> None:
    with family(0, 40 * MEGABYTE) as root:
        assert is_over(root, 100 * MEGABYTE)
        assert not is_over(root, 300 * MEGABYTE)
    with family(60 * MEGABYTE, 0) as root:
        assert not is_over(root, 120 * MEGABYTE)


@pytest.mark.parametrize("where", HIDES)
async def test_memory_that_is_no_page_of_a_living_first_thread_counts(world: World, where: str) -> None:
    code = f"import ctypes, os, threading, time\n{HIDES[where]}\ntime.sleep(600)"
    assert (await run(python(world, code, limit=60 * MEGABYTE))).ended == "memory"


def test_a_file_in_memory_that_is_mapped_and_open_counts_once() -> None:
    argv = [sys.executable, "-I", "-S", "-c", MAPS]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            assert is_over(process.pid, 60 * MEGABYTE)
            assert not is_over(process.pid, 100 * MEGABYTE)
        finally:
            subprocess.run(["kill", "-9", "--", f"-{process.pid}"], check=True)


SCORE = """
import os
def told():
    while open("/proc/self/oom_score_adj").read() != "1000\\n": pass
for _ in range(3):
    told()
    open("/proc/self/oom_score_adj", "w").write("0")
told()
print("told again")
"""


async def test_a_command_that_wants_to_be_ended_last_is_told_again(world: World) -> None:
    outcome = await run(python(world, SCORE, limit=0))
    assert (outcome.ended, outcome.output) == ("exited", "told again\n")


SHARED_BY_NUMBER = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0, ctypes.c_size_t(4096), 0o1600), ctypes.get_errno())
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_memory_that_is_shared_by_number_is_refused_inside_walls(world: World, kind: Kind) -> None:
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=(kind,))) as confinement:
        if confinement.probe().kind != kind:
            pytest.skip(f"{kind} does not work here")
        outcome = await run(confinement.wrap(python(world, SHARED_BY_NUMBER, limit=0)))
    assert outcome.output == f"-1 {errno.EPERM}\n"


async def test_the_kernel_is_told_to_end_it_before_every_other(world: World) -> None:
    code = "while open('/proc/self/oom_score_adj').read() != '1000\\n': pass\nprint('told')"
    outcome = await run(python(world, code, limit=0))
    assert (outcome.ended, outcome.output) == ("exited", "told\n")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
async def test_files_in_a_folder_of_its_own_are_memory(world: World) -> None:
    code = "f = open('/tmp/held', 'wb')\nfor _ in range(80): f.write(b'x' * 1_000_000)\nimport time; time.sleep(600)"
    with closing(SystemConfinement(world.policy, lambda: world.settings, kinds=("bubblewrap",))) as confinement:
        if confinement.probe().kind != "bubblewrap":
            pytest.skip("bubblewrap does not work here")
        outcome = await run(confinement.wrap(python(world, code, limit=60 * MEGABYTE)))
    assert outcome.ended == "memory"


def test_without_a_setting_it_is_half_of_the_computer() -> None:
    total = next(int(line.split()[1]) * 1024 for line in Path("/proc/meminfo").read_text().splitlines())
    assert limit_of(0) == total // 2
    assert limit_of(1.5) == 1_500_000_000


def test_what_a_look_at_memory_does_not_see_is_said() -> None:
    for report in (confinement_reports.bubblewrap(filtered=True, ports=True), confinement_reports.landlock(6)):
        assert any("memory above the limit" in held for held in report.holds)
        assert any("memory that a program hides on purpose" in loose for loose in report.lacks)
