"""How a command that serves another program reaches a home: through the Assent that has it open, else by a runtime in
this process, whose door is open for others, too. Whoever has the home may change meanwhile: the next ``peer`` is right.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from desktop.app.commands.windowless import windowless
from desktop.app.door.client import NO_ANSWER, NOBODY, connect, greet
from desktop.app.door.host import CLOSED, STARTING, Door
from desktop.app.door.peer import Answer, Hear, Peer
from desktop.app.guests.rooms import rooms
from desktop.app.home.folder import DATA, SOCKET, open_home
from desktop.app.wiring.services import Services
from desktop.domain.errors import HomeInUse, KnownError
from desktop.supervision.tasks import TaskOwner
from desktop.systems import local_lines

PATIENCE_S = 30.0
"""Seconds for an Assent that starts, ends, or takes the home over from another."""
RETRY_S = 0.1
HANDOVER_S = 5.0
"""Seconds for which a home that was given up is left to whoever asked for it."""
OPENED = "Assent's window was opened and has taken over."

logger = logging.getLogger(__name__)


class HomeReach:
    """``peer`` connects when it is first wanted and whenever the connection was lost; ``close`` at the end. ``hello``
    gives ``kind`` and ``name``; ``answer`` and ``hear`` serve what the app says; ``gone`` is told why it left."""

    def __init__(
        self,
        home: Path,
        hello: Callable[[], Mapping[str, Any]],
        answer: Answer,
        hear: Hear,
        *,
        gone: Callable[[str], None] = lambda _why: None,
        script: Path | None = None,
    ) -> None:
        self._home, self._hello = home, hello
        self._answer, self._hear, self._gone = answer, hear, gone
        self._script = script
        self._tasks = TaskOwner()
        self._lock = asyncio.Lock()
        self._peer: Peer | None = None
        self._serving: asyncio.Task[None] | None = None
        self._own: asyncio.Task[None] | None = None
        self._give_up = asyncio.Event()
        self._given_up = -HANDOVER_S
        self._closed = False
        self.window = False
        """Whether a person has a window open, as of the last connection."""

    async def peer(self) -> Peer:
        """The connection. Raises KnownError where there can be none now."""
        async with self._lock:
            if self._peer is not None and not self._peer.gone:
                return self._peer
            if self._serving is not None:
                await asyncio.wait([self._serving])
            return await self._found()

    async def close(self) -> None:
        """Leave, and end a runtime of our own. Safe to call twice."""
        self._closed = True
        if self._peer is not None:
            self._peer.close()
        self._give_up.set()
        for task in (self._serving, self._own):
            if task is not None:
                await asyncio.wait([task])
        await self._tasks.close()

    async def _found(self) -> Peer:
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_S
        while True:
            try:
                return self._served(*await self._tried())
            except KnownError as error:
                may_pass = error.code in (STARTING, CLOSED, NOBODY, NO_ANSWER, HomeInUse.code)
                if self._closed or not may_pass or loop.time() > until:
                    raise
            await asyncio.sleep(RETRY_S)

    async def _tried(self) -> tuple[Peer, Mapping[str, Any]]:
        try:
            return await connect(self._home / DATA / SOCKET, self._hello())
        except KnownError as error:
            if error.code != NOBODY:
                raise
        return await self._opened()

    def _served(self, peer: Peer, greeting: Mapping[str, Any]) -> Peer:
        self._peer = peer
        self.window = greeting.get("window") is True
        self._serving = self._tasks.spawn(self._serve(peer), "door: serve")
        return peer

    async def _serve(self, peer: Peer) -> None:
        try:
            await peer.serve(self._answer, self._hear)
        finally:
            if not self._closed:
                self._gone(peer.gone)

    # -- a runtime of our own -----------------------------------------------------------------------------------------

    async def _opened(self) -> tuple[Peer, Mapping[str, Any]]:
        """Raises KnownError: HomeInUse where another process has the home and does not answer yet."""
        if self._own is not None:
            await asyncio.wait([self._own])
        if asyncio.get_running_loop().time() < self._given_up + HANDOVER_S:
            raise KnownError("Assent's window is opening.", next_step="Try again in a moment.", code=STARTING)
        ready: asyncio.Future[Door] = asyncio.get_running_loop().create_future()
        self._give_up.clear()
        self._own = self._tasks.spawn(self._have_home(ready), "door: a runtime of our own")
        door = await ready
        ours, theirs = socket.socketpair()
        self._tasks.spawn(self._let_in(door, theirs), "door: ourselves")
        return await greet(ours, self._hello())

    async def _have_home(self, ready: asyncio.Future[Door]) -> None:
        """Hold the home until it is given up."""
        try:
            held = await asyncio.to_thread(open_home, self._home)
        except KnownError as error:
            ready.set_exception(error)
            return
        try:
            async with windowless(held, _door, give_up=self._give_up.set, script=self._script) as (_, door):
                ready.set_result(door)
                await self._give_up.wait()
                if not self._closed:
                    self._given_up = asyncio.get_running_loop().time()
                    await door.close(OPENED, "Look there for what was under way.")
        except Exception as error:  # what keeps it from beginning is whoever wanted it told; else it is ours
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            held.release()

    @staticmethod
    async def _let_in(door: Door, line: socket.socket) -> None:
        reader, writer = await local_lines.streams(line)
        await door.receive(reader, writer)


def _door(services: Services) -> Door:
    made = rooms(services)
    return Door(lambda: made, window=False)
