"""Runs a process to its end, bounded in time and output, and leaves nothing of it behind.

What holds: inside a PID namespace (bubblewrap) every descendant ends, always. Elsewhere on Linux a small parent
(launcher.py) adopts orphans, so that also children that called ``setsid`` or forked twice are found by their ancestry
and ended; only a command that first kills that parent escapes, which Landlock (ABI 6) forbids. Without either (macOS)
the process group is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from desktop.domain.errors import ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessOutcome, ProcessSpec
from desktop.safety.boundary.paths import real
from desktop.safety.confinement.launcher import descendants
from desktop.safety.confinement.memory import outgrown
from desktop.safety.confinement.output import OutputCollector

TERM_GRACE_S = 2.0
KILL_GRACE_S = 5.0
_PIPE_GRACE_S = 1.0
_FLOOD_PAUSE_S = 0.005
_PLATFORM: str = sys.platform
_SUPERVISORS = ("bwrap",)

_LOOK_S = 0.1

Ended = Literal["exited", "timeout", "aborted", "memory", "disk"]


def default_launcher() -> tuple[str, ...]:
    """The command that runs launcher.py on its own."""
    return (sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")))


class GroupRunner:
    """Implements ``domain.safety.ProcessRunner`` on any asyncio loop. ``mask`` takes
    known secrets out of what a process wrote, before it is cut: half of one would not be known any more."""

    def __init__(self, *, mask: Callable[[str], str] = lambda text: text) -> None:
        self._mask = mask

    async def run(
        self, spec: ProcessSpec, token: CancellationToken, progress: Callable[[str], None] | None = None
    ) -> ProcessOutcome:
        """Start the process, wait for it, collect its output. On cancellation of the task, too, everything is ended
        first."""
        began = time.monotonic()
        process = await self._start(spec)
        output = OutputCollector(spec.output_limit, spec.keep, self._mask)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        detach = token.on_cancel(lambda _: _from_any_thread(loop, stop))
        try:
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(_read(process, output, progress))
                exiting = group.create_task(process.wait())
                stopping = group.create_task(stop.wait())
                growing = group.create_task(outgrown(process.pid, spec.memory_limit, spec.fleeting))
                filling = group.create_task(_filled(spec.too_much))
                ends: dict[asyncio.Task[Any], Ended] = {
                    exiting: "exited",
                    stopping: "aborted",
                    growing: "memory",
                    filling: "disk",
                }
                ended = await _first(ends, exiting, spec.timeout_s, process)
                for watching in (stopping, growing, filling):
                    watching.cancel()
                await asyncio.wait({reading, exiting}, timeout=_PIPE_GRACE_S)
                reading.cancel()
                exiting.cancel()  # it waits for the output to be closed, too, which what cannot be ended may never do
        finally:
            detach()
            _end_leftovers(process)
            _close(process)
        text, truncated = await asyncio.to_thread(output.text)
        code = process.returncode if ended == "exited" else None
        return ProcessOutcome(text, code, ended, time.monotonic() - began, output.total, truncated)

    async def _start(self, spec: ProcessSpec) -> asyncio.subprocess.Process:
        wrapped = held(spec)
        try:
            return await asyncio.create_subprocess_exec(
                *wrapped.argv,
                cwd=wrapped.cwd,
                env=dict(wrapped.env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=_PLATFORM != "win32",
                pass_fds=wrapped.inherited,
            )
        except (OSError, ValueError) as error:
            what = f"{spec.argv[0]} cannot be started: {getattr(error, 'strerror', None) or error}."
            raise ToolFailure(what, code="tool.not_started") from error


def held(spec: ProcessSpec) -> ProcessSpec:
    """The same process, ended with everything below it when its parent dies; where nothing does that yet, and Linux."""
    if spec.contained or _PLATFORM != "linux":
        return spec
    place = spec.cwd if spec.settled else real(spec.cwd)
    argv = (*default_launcher(), "plain", place, *spec.argv)
    return replace(spec, argv=argv, cwd=place, contained=True)


async def _first(
    ends: Mapping[asyncio.Task[Any], Ended],
    exiting: asyncio.Task[int],
    timeout_s: float,
    process: asyncio.subprocess.Process,
) -> Ended:
    """Wait for the end, the time limit, the abort, too much memory or too much on the disk; in all but the first end
    everything."""
    try:
        await asyncio.wait(ends, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if exiting.done():
            return "exited"
        ended: Ended = next((end for task, end in ends.items() if task.done()), "timeout")
        await end_process(process, exiting)
        return ended
    except asyncio.CancelledError:
        await end_process(process, exiting)
        raise


async def _filled(too_much: Callable[[], bool] | None) -> None:
    """Returns once the process wrote more than it may; never where nobody looks."""
    if too_much is None:
        await asyncio.Event().wait()
        return
    while not await asyncio.to_thread(too_much):
        await asyncio.sleep(_LOOK_S)


async def end_process(process: asyncio.subprocess.Process, exiting: asyncio.Task[int]) -> None:
    """TERM to everything, 2 s, KILL (R-TMO-2)."""
    await asyncio.to_thread(signal_tree, process.pid, signal.SIGTERM)
    await asyncio.wait({exiting}, timeout=TERM_GRACE_S)
    deadline = time.monotonic() + KILL_GRACE_S
    while not exiting.done() and time.monotonic() < deadline:
        await asyncio.to_thread(_kill_tree, process.pid)
        await asyncio.wait({exiting}, timeout=0.05)
    if not exiting.done():
        await asyncio.to_thread(signal_tree, process.pid, signal.SIGKILL, group=True)


def _kill_tree(root: int) -> None:
    """Send KILL to everything; but on Linux only TERM to the launcher or bubblewrap itself, upon which it leaves
    nothing behind: killed, it could no longer end what was started while we looked."""
    signal_tree(root, signal.SIGKILL, group=_PLATFORM != "linux")
    if _PLATFORM == "linux":
        with contextlib.suppress(OSError):
            os.kill(root, signal.SIGTERM)


def _end_leftovers(process: asyncio.subprocess.Process) -> None:
    """The last resort when waiting was cut short twice, and the only one where no launcher holds the tree."""
    if process.returncode is None:
        signal_tree(process.pid, signal.SIGKILL, group=True)
    elif _PLATFORM not in ("linux", "win32"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def signal_tree(root: int, number: int, *, group: bool = False) -> None:
    """Signal every descendant of ``root``; with ``group`` also ``root`` and its process group. Never raises."""
    if _PLATFORM == "win32":
        _taskkill(root, force=group)
        return
    found = descendants(root) if os.path.isdir("/proc/self") else []
    for process in reversed(found):
        if group or not _is_supervisor(process):
            with contextlib.suppress(OSError):
                os.kill(process, number)
    if group or not found:
        with contextlib.suppress(OSError):
            os.killpg(root, number)


def _is_supervisor(process: int) -> bool:
    """Whether it is bubblewrap's own process, which ends by itself when what it holds has ended."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip() in _SUPERVISORS
    except OSError:
        return False


def _taskkill(root: int, *, force: bool) -> None:
    argv = ["taskkill", "/T", "/PID", str(root), *(["/F"] if force else [])]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(argv, capture_output=True, timeout=5)


async def _read(
    process: asyncio.subprocess.Process, output: OutputCollector, progress: Callable[[str], None] | None
) -> None:
    """Collect until every writer has closed the pipe. A flood is read slowly: it must not own the loop."""
    assert process.stdout is not None
    while chunk := await process.stdout.read(1 << 16):
        text = output.feed(chunk)
        if progress is not None and text:
            progress(text)
        if output.over_hard_cap:
            await asyncio.sleep(_FLOOD_PAUSE_S)


def _from_any_thread(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


def _close(process: asyncio.subprocess.Process) -> None:
    """Close our end of the pipe even when an escaped process still holds the other one."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
