"""Runs a process to its end, bounded in time and output, and leaves nothing of it behind.

What holds: inside a PID namespace (bubblewrap) every descendant ends, always. Elsewhere on Linux a small parent
(``linux/launcher.py``) adopts orphans, so that also children that called ``setsid`` or forked twice are found by their
ancestry and ended; only a command that first kills that parent escapes, which Landlock (ABI 6) forbids. On macOS the
process group is ended, on Windows the job object, which nothing leaves.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from desktop.domain.errors import ToolFailure
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessOutcome, ProcessSpec
from desktop.safety.confinement import trees
from desktop.safety.confinement.output import OutputCollector
from desktop.safety.confinement.trees import default_launcher, held
from desktop.systems import processes

TERM_GRACE_S = 2.0
KILL_GRACE_S = 5.0
_PIPE_GRACE_S = 1.0
_FLOOD_PAUSE_S = 0.005

_LOOK_S = 0.1

__all__ = ["GroupRunner", "default_launcher", "end_process", "held"]

Ended = Literal["exited", "timeout", "aborted", "memory", "disk"]


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
                growing = group.create_task(trees.outgrown(process.pid, spec.memory_limit, spec.fleeting))
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
            trees.end_leftovers(process.pid, ended=process.returncode is not None)
            _close(process)
        text, truncated = await asyncio.to_thread(output.text)
        code = process.returncode if ended == "exited" else None
        return ProcessOutcome(text, code, ended, time.monotonic() - began, output.total, truncated)

    async def _start(self, spec: ProcessSpec) -> asyncio.subprocess.Process:
        wrapped = held(spec)
        try:
            return await processes.start(
                *wrapped.argv,
                cwd=wrapped.cwd,
                env=dict(wrapped.env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=wrapped.inherited,
                memory=wrapped.memory_limit,
            )
        except (OSError, ValueError) as error:
            what = f"{spec.argv[0]} cannot be started: {getattr(error, 'strerror', None) or error}."
            raise ToolFailure(what, code="tool.not_started") from error


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
    await asyncio.to_thread(trees.signal_tree, process.pid, signal.SIGTERM)
    await asyncio.wait({exiting}, timeout=TERM_GRACE_S)
    deadline = time.monotonic() + KILL_GRACE_S
    while not exiting.done() and time.monotonic() < deadline:
        await asyncio.to_thread(trees.kill_tree, process.pid)
        await asyncio.wait({exiting}, timeout=0.05)
    if not exiting.done():
        await asyncio.to_thread(trees.signal_tree, process.pid, processes.KILL, group=True)


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
