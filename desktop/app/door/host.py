"""The app's side of the door: who comes in, and what is shown to whom. One ``Door`` a home."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from desktop import __version__
from desktop.app.door import wire
from desktop.app.door.peer import Peer
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.words import plain_line
from desktop.systems import local_lines

GUESTS_MAX = 16
HELLO_S = 10.0
"""Seconds for a greeting."""
END_S = 2.0
"""Seconds in which guests have to be gone when the door is closed."""
NAME_MAX = 80
STARTING, CLOSED = "app.starting", "app.closed"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Guest:
    """A program that is connected. ``name`` and ``version`` are what it says of itself, made fit to be shown."""

    number: int
    """Counts those who have come in."""
    kind: str
    """What kind of program it is."""
    name: str
    """What it calls itself, or whom it works for."""
    version: str
    """Its version, as it says."""
    pid: int
    """Its process, as the system says."""
    since: float
    """When it came, in seconds since the epoch."""


class GuestRoom(Protocol):
    """What the app does for one program."""

    async def answer(self, method: str, params: Mapping[str, Any]) -> Any:
        """Do what a call asks. Cancelled when the program cancels it or leaves. Raises KnownError."""
        ...

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """Take note of an event."""
        ...

    async def left(self) -> None:
        """The program is gone: what it began ends."""
        ...


RoomMaker = Callable[[Peer, Guest], GuestRoom]
Rooms = Mapping[str, RoomMaker]
"""By the kind of program."""


class Door:
    """``rooms`` None: Assent is still starting. ``window``: whether a person sees one; ``closed``: why nobody comes in,
    or ""."""

    def __init__(self, rooms: Callable[[], Rooms | None], *, window: bool, closed: str = "") -> None:
        self._rooms = rooms
        self._window = window
        self._guests: dict[int, tuple[Guest, Peer]] = {}
        self._numbers = 0
        self._closed = closed
        self._listeners: list[Callable[[], None]] = []

    @property
    def guests(self) -> tuple[Guest, ...]:
        """Who is connected, the first first."""
        return tuple(guest for guest, _ in self._guests.values())

    def on_change(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call ``changed`` when somebody comes or goes. Returns how to stop."""
        self._listeners.append(changed)

        def forget() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(changed)

        return forget

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One program, from its greeting to its end. Raises nothing but CancelledError."""
        pid, uid = local_lines.other_end(writer.get_extra_info("socket"))
        if uid is not None and uid != local_lines.own_user():
            logger.warning("a process of user %d wanted to come in and was sent away", uid)
            writer.close()
            return
        peer = Peer(reader, writer, f"process {pid}")
        try:
            async with asyncio.timeout(HELLO_S):
                hello = await peer.greeting()
            guest, room = self._let_in(peer, hello, pid)
        except (KnownError, wire.BadFrame, OSError, EOFError, TimeoutError) as error:
            await self._send_away(peer, error)
            return
        try:
            await peer.greet({"version": __version__, "window": self._window})
            await peer.serve(room.answer, room.hear)
        except Exception:  # the boundary to another program: a bug of ours ends its visit, and nothing else
            logger.exception("the connection with process %d failed", pid)
        finally:
            del self._guests[guest.number]
            self._tell()
            logger.info("%s (%s, process %d) has left: %s", guest.name, guest.kind, pid, peer.gone)
            await room.left()

    def _let_in(self, peer: Peer, hello: Mapping[str, Any], pid: int) -> tuple[Guest, GuestRoom]:
        """Raises KnownError for one that cannot stay."""
        if self._closed:
            raise KnownError(self._closed, next_step="Try again when it is over.", code=CLOSED)
        rooms, kind = self._rooms(), hello.get("kind")
        if rooms is None:
            raise KnownError("Assent is still starting.", next_step="Try again in a moment.", code=STARTING)
        if not isinstance(kind, str) or kind not in rooms:
            raise KnownError("Assent has nothing for programs of this kind.", code="door.kind")
        if len(self._guests) >= GUESTS_MAX:
            raise KnownError(
                f"{GUESTS_MAX} programs are connected with Assent already.",
                next_step="End one of them.",
                code="door.full",
            )
        self._numbers += 1
        name, version = (plain_line(str(hello.get(key) or ""), NAME_MAX) for key in ("name", "version"))
        guest = Guest(self._numbers, kind, name or "A program without a name", version, pid, time.time())
        room = rooms[kind](peer, guest)
        self._guests[guest.number] = (guest, peer)
        logger.info("%s (%s, process %d) is connected", guest.name, kind, pid)
        self._tell()
        return guest, room

    async def _send_away(self, peer: Peer, error: Exception) -> None:
        if isinstance(error, KnownError):
            peer.close(str(error), error.next_step, error.code)
        else:
            logger.info("a program that wanted to come in was sent away: %s", type(error).__name__)
            peer.close("That is no greeting.", code="door.greeting")
        await peer.leave()

    def rename(self, guest: Guest, name: str, version: str) -> Guest:
        """What a connected program says of itself has changed: whom it works for has said who they are."""
        known = self._guests.get(guest.number)
        if known is None:
            return guest
        name, version = plain_line(name, NAME_MAX), plain_line(version, NAME_MAX)
        renamed = Guest(guest.number, guest.kind, name or guest.name, version, guest.pid, guest.since)
        self._guests[guest.number] = (renamed, known[1])
        self._tell()
        return renamed

    async def close(self, why: str, next_step: str = "") -> None:
        """Say why to everybody and let nobody in any more; over when all have left, or soon after."""
        self._closed = why
        peers = [peer for _, peer in self._guests.values()]
        for peer in peers:
            peer.close(why, next_step, CLOSED)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await asyncio.gather(*(peer.wait_closed() for peer in peers))

    def _tell(self) -> None:
        for changed in tuple(self._listeners):
            changed()
