"""One run of one child process: its pipes, its calls, and its end. A restart makes a new link."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from desktop.domain.errors import ChildDied, ProtocolViolation
from desktop.domain.processes import ChildRefused
from desktop.systems import processes
from desktop.workers import frames
from desktop.workers.calls import SLICE_SECONDS, CallStream

STDERR_KEPT = 16 * 1024  # bytes, the last ones
PARTS_FRAME = 64 * 1024  # characters of parts sent at once
PIPES_SECONDS = 0.5  # for what a process wrote before it ended
DEAF_SECONDS = 1.0  # which a child has to end after it stopped reading


class Link:
    """``on_ready`` is called when the child has introduced itself. ``serve`` lasts as long as the process."""

    def __init__(self, process: asyncio.subprocess.Process, service: str, on_ready: Callable[[], None]) -> None:
        self.process = process
        self._service = service
        self._on_ready = on_ready
        self._calls: dict[int, CallStream] = {}
        self._next_id = 1
        self._stderr = bytearray()
        self.ready = False
        self.closed = False

    # -- reading

    async def serve(self) -> ProtocolViolation | None:
        """Read until the child ends or breaks the protocol; then the whole group is dead and reaped.

        What it still had to say when it was ended is thrown away: nobody learns that a process is over before its
        pipes are empty."""
        violation: ProtocolViolation | None = None
        errors = asyncio.ensure_future(self._read_stderr())
        exited = asyncio.ensure_future(self.process.wait())
        exited.add_done_callback(lambda _: self._kill_group())  # what it left behind could hold its pipes open
        try:
            await self._read_frames()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except frames.BadFrame as broken:
            violation = ProtocolViolation(f"A helper process of Assent sent something it may not: {broken}.")
        finally:
            self.closed = True
            self._kill_group()
            await self._reap(exited, errors)
        return violation

    async def _reap(self, exited: asyncio.Future[int], errors: asyncio.Future[None]) -> None:
        """Python waits for the pipes too, or (3.14 does) for the process alone: then what is in them is still read."""
        rest = asyncio.ensure_future(self._throw_away_rest())
        try:
            await exited
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PIPES_SECONDS):
                    await asyncio.gather(rest, errors)
        finally:
            rest.cancel()
            transport = getattr(self.process, "_transport", None)
            if transport is not None:
                transport.close()

    async def _throw_away_rest(self) -> None:
        stdout = self.process.stdout
        with contextlib.suppress(ConnectionError):
            while stdout is not None and await stdout.read(PARTS_FRAME):
                pass

    async def _read_frames(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        self._check_hello(frames.from_child(await self._frame(stdout)))
        started = time.monotonic()
        while True:
            self._dispatch(frames.from_child(await self._frame(stdout)))
            if time.monotonic() - started > SLICE_SECONDS:
                await asyncio.sleep(0)
                started = time.monotonic()

    @staticmethod
    async def _frame(stdout: asyncio.StreamReader) -> dict[str, Any]:
        size = frames.length(await stdout.readexactly(frames.HEADER.size))
        return frames.decode(await stdout.readexactly(size))

    def _check_hello(self, hello: frames.FromChild) -> None:
        if not isinstance(hello, frames.Hello):
            raise frames.BadFrame("the first frame is no greeting")
        if (hello.protocol, hello.service) != (frames.PROTOCOL, self._service):
            raise frames.BadFrame(f"protocol {hello.protocol} of another version or service")
        self.send({"t": "hello", "protocol": frames.PROTOCOL, "service": self._service})
        self.ready = True
        self._on_ready()

    def _dispatch(self, frame: frames.FromChild) -> None:
        if isinstance(frame, frames.Hello):
            raise frames.BadFrame("a second greeting")
        call = self._calls.get(frame.call_id)
        if frame.call_id >= self._next_id:
            raise frames.BadFrame("an answer to no question")
        if call is None:  # cancelled; its last items were on their way
            return
        if isinstance(frame, frames.Items):
            call.push(frame.items)
            return
        del self._calls[frame.call_id]
        if isinstance(frame, frames.Result):
            call.finish(frame.value)
        else:
            call.finish(error=ChildRefused(frame.code, frame.message, frame.data))

    async def _read_stderr(self) -> None:
        stderr = self.process.stderr
        assert stderr is not None
        while chunk := await stderr.read(8192):
            self._stderr += chunk
            del self._stderr[:-STDERR_KEPT]

    @property
    def stderr(self) -> str:
        """The end of what the child wrote to stderr, not redacted yet."""
        return self._stderr.decode(errors="replace")

    # -- writing

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a small frame; never waits. Nothing happens when the pipe is closed."""
        stdin = self.process.stdin
        if stdin is not None and not self.closed and not stdin.is_closing():
            stdin.write(frames.encode(message))

    async def begin(self, call: CallStream, method: str, params: Mapping[str, Any], parts: Iterable[Any]) -> None:
        """Send a call with its parts, in slices. Raises ChildDied when the pipe breaks."""
        call_id = self._next_id
        self._next_id += 1
        self._calls[call_id] = call
        call.acknowledge = lambda: self.send({"t": "ack", "id": call_id})
        call.tell_cancelled = lambda: self._cancelled(call_id)
        try:
            await self._send_parts(call_id, parts)
            self.send({"t": "call", "id": call_id, "method": method, "params": params})
            await self._drain()
        except ConnectionError:
            self._deaf()
            raise died() from None
        except frames.BadFrame as large:
            self._cancelled(call_id)
            raise ChildRefused("child.too_large", f"The request is too large: {large}.") from None

    async def _send_parts(self, call_id: int, parts: Iterable[Any]) -> None:
        encoded: list[str] = []
        size = 0
        started = time.monotonic()
        for part in parts:
            encoded.append(json.dumps(part, separators=(",", ":")))
            size += len(encoded[-1])
            if size > PARTS_FRAME or time.monotonic() - started > SLICE_SECONDS:
                await self._flush_parts(call_id, encoded)
                await asyncio.sleep(0)
                size, started = 0, time.monotonic()
        await self._flush_parts(call_id, encoded)

    async def _flush_parts(self, call_id: int, encoded: list[str]) -> None:
        stdin = self.process.stdin
        if encoded and stdin is not None and not self.closed:
            payload = f'{{"t":"parts","id":{call_id},"items":[{",".join(encoded)}]}}'
            stdin.write(frames.framed(payload.encode()))
            encoded.clear()
            await self._drain()

    async def _drain(self) -> None:
        stdin = self.process.stdin
        if stdin is None or self.closed:
            raise died()
        await stdin.drain()

    def _cancelled(self, call_id: int) -> None:
        if self._calls.pop(call_id, None) is not None:
            self.send({"t": "cancel", "id": call_id})

    def _deaf(self) -> None:
        """The child reads no more: it is ending, else it is ended. The next call waits for another one; what this one
        still says is read."""
        self.closed = True
        asyncio.get_running_loop().call_later(DEAF_SECONDS, self._kill_if_alive)

    def _kill_if_alive(self) -> None:
        if self.process.returncode is None:  # else its number may be another process's by now
            self._kill_group()

    # -- the end

    def fail_all(self, error: BaseException) -> None:
        """Every call under way ends with ``error``."""
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.finish(error=error)

    def close(self) -> None:
        """Ask the child to end by closing its stdin."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _kill_group(self, number: int = processes.KILL) -> None:
        """Signal the child and everything it started that stayed in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            processes.signal_all(self.process.pid, number)

    def terminate(self) -> None:
        """The polite signal, to the whole group."""
        self._kill_group(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the child's process group."""
        self._kill_group()


def died(how: str = "") -> ChildDied:
    """The error of calls whose child ended."""
    ending = f" ({how})" if how else ""
    return ChildDied(
        f"A helper process of Assent ended unexpectedly{ending}.", next_step="It has been started again; try once more."
    )
