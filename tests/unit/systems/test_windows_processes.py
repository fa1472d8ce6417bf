"""Processes on Windows itself: what was started is ended with all that it started, also when the app dies."""

import asyncio
import ctypes
import subprocess
import sys

import pytest

from tests.harness.timeouts import WAIT_S, until

if sys.platform != "win32":
    pytest.skip("needs Windows, or a Windows Python under Wine", allow_module_level=True)

from desktop.systems import limits, processes
from desktop.systems.windows.jobs import SUSPENDED, JobObject, Jobs

SLEEPS = "import time; time.sleep(600)"
PARENT = f"import subprocess, sys\nx = subprocess.Popen([sys.executable, '-c', {SLEEPS!r}], creationflags=FLAGS)\n"
TELLS = "print(x.pid, flush=True)\n"
DETACHED = 0x8 | 0x200
BREAKAWAY = 0x1000000


def parent(flags: int, then: str = SLEEPS) -> list[str]:
    """A program that starts one that sleeps, says its number, and goes on."""
    return [sys.executable, "-c", PARENT.replace("FLAGS", str(flags)) + TELLS + then]


class Watched:
    """A process by its number, which is nobody else's while this lives."""

    def __init__(self, process: int) -> None:
        self._kernel = ctypes.WinDLL("kernel32")
        self._kernel.OpenProcess.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._kernel.OpenProcess(0x100000, 0, process))
        assert self._handle, "it has ended already"

    def ended(self) -> bool:
        return bool(self._kernel.WaitForSingleObject(self._handle, 0) == 0)

    def close(self) -> None:
        self._kernel.CloseHandle(self._handle)


async def number_said(process: asyncio.subprocess.Process) -> int:
    assert process.stdout is not None
    async with asyncio.timeout(WAIT_S):
        return int(await process.stdout.readline())


@pytest.mark.spec("R-PKG-3")
@pytest.mark.parametrize("flags", [0, DETACHED])
async def test_what_is_ended_ends_with_all_it_started(flags: int) -> None:
    process = await processes.start(*parent(flags), stdout=subprocess.PIPE)
    child = Watched(await number_said(process))
    processes.signal_all(process.pid, processes.KILL)
    async with asyncio.timeout(WAIT_S):
        await process.wait()
    await until(child.ended)
    child.close()


@pytest.mark.spec("R-PKG-3")
async def test_what_outlived_the_one_that_started_it_is_ended_too() -> None:
    process = await processes.start(*parent(DETACHED, then=""), stdout=subprocess.PIPE)
    child = Watched(await number_said(process))
    async with asyncio.timeout(WAIT_S):
        await process.wait()
    assert not child.ended()
    processes.signal_all(process.pid, processes.KILL)
    await until(child.ended)
    child.close()


@pytest.mark.spec("R-PKG-3")
async def test_all_that_an_app_started_ends_when_it_dies() -> None:
    app = (
        "import os, subprocess, sys\nfrom desktop.systems import processes\n"
        f"x = processes.start_blocking([sys.executable, '-c', {SLEEPS!r}])\nprint(x.pid, flush=True)\ninput()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen([sys.executable, "-c", app], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as dying:
        assert dying.stdout is not None
        child = Watched(int(dying.stdout.readline()))
        dying.communicate(b"\n", timeout=WAIT_S)
    await until(child.ended)
    child.close()


def test_a_server_that_is_left_running_goes_on() -> None:
    server = processes.start_blocking([sys.executable, "-c", SLEEPS], tied=False)
    processes.let_go(server.pid)
    assert server.poll() is None
    with pytest.raises(OSError):
        processes.signal_all(server.pid, processes.KILL)
    server.kill()
    server.wait(WAIT_S)


def test_nothing_breaks_away() -> None:
    jobs = Jobs()
    asks = (
        "import subprocess, sys\ntry:\n    subprocess.Popen([sys.executable, '-c', '0'], creationflags="
        f"{BREAKAWAY})\nexcept PermissionError:\n    print('refused')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", asks], stdout=subprocess.PIPE, creationflags=SUSPENDED)
    jobs.join(process.pid, {})
    assert process.communicate(timeout=WAIT_S)[0].split() == [b"refused"]


def test_what_cannot_be_held_is_an_error() -> None:
    process = subprocess.Popen([sys.executable, "-c", SLEEPS], creationflags=SUSPENDED)
    process.kill()
    process.wait(WAIT_S)
    with pytest.raises(OSError):
        Jobs().join(process.pid, {})


def test_an_end_that_was_made_cannot_be_made_again() -> None:
    process = processes.start_blocking([sys.executable, "-c", SLEEPS])
    processes.signal_all(process.pid, processes.KILL)
    process.wait(WAIT_S)
    with pytest.raises(ProcessLookupError):
        processes.signal_all(process.pid, processes.KILL)


async def test_the_time_that_a_process_computed_is_told() -> None:
    process = processes.start_blocking([sys.executable, "-c", "sum(range(3_000_000)); input()"], stdin=subprocess.PIPE)
    await until(lambda: (processes.computed_s(process.pid) or 0.0) > 0.0)
    process.communicate(b"\n", timeout=WAIT_S)


def test_an_empty_job_holds_nothing() -> None:
    job = JobObject()
    assert job.active() == 0
    job.close()
    assert limits.physical_memory() > 0
