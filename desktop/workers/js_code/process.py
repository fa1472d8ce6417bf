"""One worker process: its pipe, its time, its end. What comes over the pipe is checked in ``messages``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop.domain.code import CodeLimits
from desktop.domain.errors import ChildDied
from desktop.systems import processes
from desktop.workers.js_code.messages import Violation, read

SCRIPT = Path(__file__).parent / "__main__.py"
START_S = 20.0
PROCESS_BYTES = 192 << 20
"""What the worker may hold beside the engine's heap."""
ENVELOPE = 1024
"""Bytes of a line beyond what ``message_bytes`` counts."""
PROFILED = -27
"""Exit code of a process that its own watch ended: SIGPROF."""


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """How to start a worker: ``launcher`` is the file that shuts it in and ``program`` the filter of system calls in
    hexadecimal; both empty where the system has no such sandbox. ``folder`` is an empty one."""

    folder: str
    launcher: str = ""
    program: str = ""
    python: str = sys.executable


class CodeProcess:
    """One worker process with its pipe."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, spec: WorkerSpec, limits: CodeLimits) -> CodeProcess:
        """Start a worker and wait until it is ready for code. Raises ChildDied."""
        given = json.dumps(
            {
                "heap": limits.heap_bytes,
                "stack": limits.stack_bytes,
                "message": limits.message_bytes,
                "output": limits.output_bytes,
                "process": limits.heap_bytes + PROCESS_BYTES,
                "cpu": limits.cpu_s,
            }
        )
        pipe = asyncio.subprocess.PIPE
        process = await processes.start(
            spec.python,
            "-I",
            "-B",
            "-X",
            "utf8",
            str(SCRIPT),
            spec.launcher,
            spec.program,
            given,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            cwd=spec.folder,
            limit=limits.message_bytes + ENVELOPE,
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(START_S):
                ready = await worker.hear()
        except (TimeoutError, Violation) as error:
            await worker.end()
            raise ChildDied("The code sandbox could not be started.", next_step="Try once more.") from error
        except BaseException:
            await worker.end()
            raise
        if ready.get("t") != "ready":
            await worker.end()
            raise ChildDied("The code sandbox could not be started.", next_step="Try once more.")
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.returncode is not None

    @property
    def timed_out(self) -> bool:
        """Whether its own watch ended it."""
        return self._process.returncode == PROFILED

    def cpu_s(self) -> float | None:
        """Seconds that it has computed since it began, as this system counts them; None where it does not tell."""
        return processes.computed_s(self._process.pid)

    def say(self, message: Mapping[str, Any]) -> None:
        """Queue a message for the worker."""
        self.write(json.dumps(message).encode())

    def write(self, line: bytes) -> None:
        """Queue a line for the worker's stdin."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(line + b"\n")

    async def drained(self) -> None:
        """Wait until it has taken most of what was queued."""
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):
                await stdin.drain()

    async def hear(self) -> Mapping[str, Any]:
        """The next message from the worker. Raises Violation at the end of the pipe and for what is no JSON object of a
        fair size."""
        stdout = self._process.stdout
        assert stdout is not None
        try:
            line = await stdout.readline()
        except ValueError as error:
            raise Violation("a line is too long") from error
        if not line.endswith(b"\n"):
            raise Violation("it ended")
        return read(line)

    async def end(self) -> None:
        """Kill it with its group. The group of one that has ended by itself may be another's by now."""
        if not self.ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                processes.signal_all(self._process.pid, processes.KILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        while not self.ended:  # its pipe may be full of what nobody reads: waiting for that to end would be for ever
            await asyncio.sleep(0.001)
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()
        await self._process.wait()
