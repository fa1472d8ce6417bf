"""A child process that is kept alive: started ahead of need, restarted when it dies, ended with all its offspring."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.processes import ChildHealth, ChildState
from desktop.domain.text.scrub import scrub
from desktop.systems import processes
from desktop.workers.calls import CallStream
from desktop.workers.link import Link, died

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """What to run and how patient to be. Times are seconds."""

    service: str
    """What the child calls itself."""
    argv: tuple[str, ...]
    """The command."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment: nothing is inherited."""
    folder: str | None = None
    """Where it runs."""
    start_timeout: float = 20.0
    """How long it may take to say hello."""
    backoff_first: float = 0.1
    """The pause before its second life."""
    backoff_max: float = 10.0
    """The longest pause."""
    healthy_after: float = 30.0
    """A child that lived for so long starts its next life without delay added by earlier deaths."""
    end_grace: float = 1.0
    """How long it may take to end by itself."""
    once: bool = False
    """It has one life, and its end is the end of its one call."""
    on_demand: bool = False
    """It may end by itself with exit code 0, and is started again when it is called."""
    handles: tuple[int, ...] = ()
    """Open files that it is handed over, under their own numbers. Not on Windows."""


class ChildProcess:
    """Implements ``desktop.domain.processes.Child``. One owner task runs it from ``start`` to ``stop``.

    Works on any asyncio loop that can run subprocesses, the app's Qt loop included. ``secrets`` returns the values to
    keep out of what is told of the child's stderr.
    """

    def __init__(self, spec: ChildSpec, *, secrets: Callable[[], Iterable[str]] = tuple) -> None:
        self._spec = spec
        self._secrets = secrets
        self._owner: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._changed = asyncio.Event()
        self._stopping = False
        self._resting = False
        self._waiting = 0
        self._generation = 0
        self._restarts = 0
        self._last_end = ""
        self._detail = ""

    # -- the Child protocol

    @property
    def health(self) -> ChildHealth:
        link = self._link
        pid = link.process.pid if link is not None else None
        return ChildHealth(self._state(), pid, self._generation, self._restarts, self._last_end, self._detail)

    def _state(self) -> ChildState:
        if self._owner is None or self._owner.done() or self._stopping or self._resting:
            return "stopped"
        if self._link is not None and self._link.ready and not self._link.closed:
            return "ready"
        return "restarting" if self._restarts else "starting"

    def start(self) -> None:
        if self._owner is None or self._owner.done():
            self._stopping = False
            self._owner = asyncio.get_running_loop().create_task(self._run(), name=f"child {self._spec.service}")

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float) -> Any:
        stream = self.stream(method, params or {}, deadline_s=timeout)
        return await stream.result()

    def stream(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        parts: Iterable[Any] = (),
        deadline_s: float | None = None,
        idle_s: float | None = None,
    ) -> CallStream:
        async def begin(call: CallStream) -> None:
            link = await self._ready_link()
            await link.begin(call, method, params, parts)

        return CallStream(begin, deadline_s=deadline_s, idle_s=idle_s)

    async def stop(self) -> None:
        owner, link = self._owner, self._link
        self._stopping = True
        self._announce()
        if owner is None:
            return
        try:
            if link is not None:
                await self._end(link, owner)
            await asyncio.wait([owner])
        except asyncio.CancelledError:  # no time left for manners; the owner task ends with the process
            if self._link is not None:
                self._link.kill()
            raise
        self._owner = None

    # -- the life of the process

    async def _end(self, link: Link, owner: asyncio.Task[None]) -> None:
        """Close its stdin, then terminate, then kill, each with its share of patience."""
        link.fail_all(died("Assent is closing"))
        for act, timeout in ((link.close, self._spec.end_grace), (link.terminate, 0.5), (link.kill, 1.0)):
            act()
            done, _ = await asyncio.wait([owner], timeout=timeout)
            if done:
                return

    async def _ready_link(self) -> Link:
        self.start()
        self._waiting += 1
        self._announce()
        try:
            return await self._when_ready(time.monotonic() + self._spec.start_timeout)
        finally:
            self._waiting -= 1

    async def _when_ready(self, deadline: float) -> Link:
        while True:
            link = self._link
            if self._stopping:
                raise died(self._last_end if self._spec.once and self._last_end else "it is being stopped")
            if link is not None and link.ready and not link.closed:
                return link
            self._changed.clear()
            try:
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                    await self._changed.wait()
            except TimeoutError:
                raise died(f"it did not start within {self._spec.start_timeout:g} s") from None

    def _announce(self) -> None:
        self._changed.set()

    async def _run(self) -> None:
        delay = self._spec.backoff_first
        while not self._stopping:
            began = time.monotonic()
            await self._one_life()
            if self._stopping:
                return
            if self._spec.once:
                self._stopping = True
                self._announce()
                return
            if self._resting:
                await self._rest()
                continue
            if time.monotonic() - began > self._spec.healthy_after:
                delay = self._spec.backoff_first
            self._restarts += 1
            await self._pause(delay)
            delay = min(delay * 2, self._spec.backoff_max)

    async def _rest(self) -> None:
        """Wait until someone wants the child again."""
        while not self._waiting and not self._stopping:
            self._changed.clear()
            await self._changed.wait()
        self._resting = False

    async def _pause(self, seconds: float) -> None:
        """Wait, unless it is stopped meanwhile."""
        end = time.monotonic() + seconds
        while not self._stopping and (left := end - time.monotonic()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                return

    async def _one_life(self) -> None:
        """Start it, serve it until it ends, and tell its callers."""
        self._generation += 1
        try:
            process = await self._spawn()
        except OSError as error:
            self._last_end = f"could not be started: {error.strerror}"
            log.warning("%s %s", self._spec.service, self._last_end)
            return
        link = self._link = Link(process, self._spec.service, self._announce)
        timers = [asyncio.get_running_loop().call_later(self._spec.start_timeout, self._kill_silent, link)]
        if self._stopping:  # while the process was being made, so that ``stop`` had nothing to end yet
            timers += self._ending(link)
        violation = None
        try:
            violation = await link.serve()
        finally:
            for timer in timers:
                timer.cancel()
            self._link = None
            self._resting = self._spec.on_demand and violation is None and link.process.returncode == 0
            how = self._obituary(link, str(violation or ""))
            link.fail_all(violation or died(how))

    def _ending(self, link: Link) -> list[asyncio.TimerHandle]:
        """End the child like ``_end``, but by timers and without waiting."""
        loop, grace = asyncio.get_running_loop(), self._spec.end_grace
        link.close()
        return [loop.call_later(grace, link.terminate), loop.call_later(grace + 0.5, link.kill)]

    def _kill_silent(self, link: Link) -> None:
        if not link.ready:
            link.kill()

    def _obituary(self, link: Link, why: str) -> str:
        code = link.process.returncode or 0
        how = why or (f"signal {-code}" if code < 0 else f"exit code {code}")
        self._detail = scrub(link.stderr, self._secrets(), limit=8000)
        self._last_end = self._last_end if self._stopping else how
        if not self._stopping and not self._spec.once and not self._resting:
            log.warning(
                "%s ended with %s, starting it again. Its last words: %s",
                self._spec.service,
                how,
                self._detail[-600:].strip() or "none",
            )
        return how

    async def _spawn(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await processes.start(
            *self._spec.argv,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=dict(self._spec.environment),
            cwd=self._spec.folder,
            pass_fds=self._spec.handles,
        )
