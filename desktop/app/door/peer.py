"""One end of a connection through the door: the same class in the app and in the program outside.

Each side may call the other and tell it events; both are told in words when the other leaves. What is to be sent waits
in an outbox that never holds up whoever fills it: a reader that stays behind is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from desktop.app.door import wire
from desktop.domain.errors import KnownError

OUTBOX_MAX = 8 * 1024 * 1024
"""Bytes that wait for a slow reader; beyond them it is cut off."""
OUTBOX_CALM = 256 * 1024
"""Bytes up to which ``drained`` goes on."""
BATCH = 64 * 1024
"""Bytes written at once."""
CALLS_MAX = 64
"""Calls of the other side that are under way at once."""
SLICE_S = 0.004
"""Seconds of reading after which everything else gets its turn."""
LAST_WORDS_S = 1.0
"""Seconds for last words to be read."""
GONE = "door.gone"

logger = logging.getLogger(__name__)

Answer = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""(method, parameters) of a call of the other side; a KnownError is what it reads instead."""
Hear = Callable[[str, Mapping[str, Any]], None]
"""(method, parameters) of an event."""


class Peer:
    """``serve`` lasts as long as the connection and is awaited by its owner; everything else works meanwhile."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, other: str) -> None:
        self._reader, self._writer, self._other = reader, writer, other
        self._outbox: deque[bytes] = deque()
        self._waiting = 0
        self._news = asyncio.Event()
        self._calm = asyncio.Event()
        self._calm.set()
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._closing = False
        self._over = asyncio.Event()
        self._keys = itertools.count(1)
        self._deadline: asyncio.TimerHandle | None = None
        self.gone = ""
        """Why the other side left, in its words or ours; "" while it is there."""
        self.next_step = ""
        """What a person can do about that."""

    # -- what either side does ----------------------------------------------------------------------------------------

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Have the other side do something; its answer. Cancelling this cancels it there. Raises KnownError: what was
        refused there, ``door.gone`` when the other side is not there any more."""
        if self._closing or self.gone:
            raise self._left()
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        sent = False
        try:
            await self._send({"t": "call", "id": number, "method": method, "params": params})
            sent = True
            return await answer
        finally:
            if self._asked.pop(number, None) is not None and sent and answer.cancelled():
                self._queue({"t": "cancel", "id": number})

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell an event, in order with everything else that is said. Never waits; what no message holds is left out."""
        self._queue({"t": "event", "method": method, "params": params})

    async def drained(self) -> None:
        """Wait until the other side has read most of what waits for it, or is gone."""
        await self._calm.wait()

    def close(self, why: str = "", next_step: str = "", code: str = GONE) -> None:
        """Say why, and leave. ``serve`` returns soon after, whether or not that was read."""
        if not self._closing:
            self._queue({"t": "bye", "why": why, "next": next_step, "code": code})
            self._closing = True
            self._news.set()
            self._deadline = asyncio.get_running_loop().call_later(LAST_WORDS_S, self._writer.transport.abort)

    async def wait_closed(self) -> None:
        """Until ``serve`` is over."""
        await self._over.wait()

    # -- the connection -----------------------------------------------------------------------------------------------

    async def greet(self, hello: Mapping[str, Any]) -> None:
        """Send a greeting, before ``serve``. Raises OSError."""
        self._writer.write(wire.encoded({"t": "hello", "door": wire.VERSION, **hello}))
        await self._writer.drain()

    async def greeting(self) -> dict[str, Any]:
        """The other side's greeting. Raises KnownError with its words where it refuses, BadFrame, OSError, EOFError."""
        message = await self._message()
        if message.get("t") == "bye":
            raise KnownError(_text(message, "why"), next_step=_text(message, "next"), code=_text(message, "code"))
        if message.get("t") != "hello":
            raise wire.BadFrame("the first message is no greeting")
        if message.get("door") != wire.VERSION:
            raise KnownError(
                "The other side is another version of Assent.", next_step="Start both anew.", code="door.version"
            )
        return message

    async def leave(self) -> None:
        """Send what waits, and close a connection that is not served."""
        with contextlib.suppress(OSError):
            self._writer.write(b"".join(self._outbox))
        await self._hang_up()

    async def serve(self, answer: Answer, hear: Hear) -> None:
        """Read until the other side leaves or ``close`` was said; then nothing of its calls is under way any more."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                writing = group.create_task(self._write(), name=f"{self._other}: write")
                reading = group.create_task(self._read_all(answer, hear), name=f"{self._other}: read")
                await asyncio.wait([writing, reading], return_when=asyncio.FIRST_COMPLETED)
                self._closing = True
                self.gone = self.gone or f"{self._other} was left."
                self._fail_asked()
                for task in (writing, reading, *self._tasks.values()):
                    task.cancel()
        finally:
            self.gone = self.gone or f"{self._other} was left."
            self._fail_asked()
            await self._hang_up()

    def _fail_asked(self) -> None:
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(self._left())
                answer.exception()  # nobody may wait for it any more

    async def _hang_up(self) -> None:
        self._closing = True
        self._outbox.clear()
        self._waiting = 0
        self._calm.set()
        try:
            self._writer.close()
            async with asyncio.timeout(LAST_WORDS_S):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            pass
        finally:
            self._writer.transport.abort()
            if self._deadline is not None:
                self._deadline.cancel()
            self._over.set()

    def _left(self) -> KnownError:
        why = self.gone or f"{self._other} was left."
        return KnownError(why, next_step=self.next_step, code=GONE)

    # -- reading ------------------------------------------------------------------------------------------------------

    async def _message(self) -> dict[str, Any]:
        size = wire.frame_length(await self._reader.readexactly(wire.HEADER.size))
        return wire.decode(await self._reader.readexactly(size))

    async def _read_all(self, answer: Answer, hear: Hear) -> None:
        """Read to the end, and keep in words what that was."""
        try:
            await self._read(answer, hear)
        except wire.BadFrame as error:
            logger.info("%s broke the protocol: %s", self._other, error)
            self.gone = self.gone or f"{self._other} said something that is no message: {error}."
        except (EOFError, OSError):
            self.gone = self.gone or f"{self._other} has ended."

    async def _read(self, answer: Answer, hear: Hear) -> None:
        assembly = wire.LongTexts()
        started = time.monotonic()
        while True:
            message = assembly.take(await self._message())
            if message is not None and not self._dispatch(message, answer, hear):
                return
            if time.monotonic() - started > SLICE_S:
                await asyncio.sleep(0)
                started = time.monotonic()

    def _dispatch(self, message: dict[str, Any], answer: Answer, hear: Hear) -> bool:
        """Take one message; False for the last. Raises BadFrame."""
        kind = message.get("t")
        if kind == "call":
            self._begin(message, answer)
        elif kind == "event":
            hear(_text(message, "method"), _params(message))
        elif kind in ("result", "error"):
            self._answered(message)
        elif kind == "cancel":
            task = self._tasks.get(_number(message))
            if task is not None:
                task.cancel()
        elif kind == "bye":
            self.gone, self.next_step = _text(message, "why") or f"{self._other} has left.", _text(message, "next")
            return False
        else:
            raise wire.BadFrame("kind of message is unknown")
        return True

    def _answered(self, message: dict[str, Any]) -> None:
        waits = self._asked.get(_number(message))
        if waits is None or waits.done():  # it was cancelled; the answer was on its way
            return
        if message["t"] == "result":
            waits.set_result(message.get("value"))
        else:
            words, code = _text(message, "message"), _text(message, "code")
            waits.set_exception(KnownError(words, next_step=_text(message, "next"), code=code))

    def _begin(self, message: dict[str, Any], answer: Answer) -> None:
        number, method, params = _number(message), _text(message, "method"), _params(message)
        if number in self._tasks:
            raise wire.BadFrame("two calls of one number")
        if self._closing:
            return
        if len(self._tasks) >= CALLS_MAX:
            busy = f"More than {CALLS_MAX} calls at once."
            self._queue(_failure(number, KnownError(busy, next_step="Wait for one of them.", code="door.busy")))
            return
        assert self._group is not None
        work = self._work(number, answer, method, params)
        self._tasks[number] = self._group.create_task(work, name=f"{self._other}: {method[:40]}")

    async def _work(self, number: int, answer: Answer, method: str, params: Mapping[str, Any]) -> None:
        try:
            await self._send({"t": "result", "id": number, "value": await answer(method, params)})
        except asyncio.CancelledError:
            self._queue(_failure(number, KnownError("It was stopped.", code="door.cancelled")))
            raise
        except KnownError as error:
            self._queue(_failure(number, error))
        except Exception:  # the boundary to another program: a bug of ours costs this call, and its text is not told
            logger.exception("%s could not be answered for %s", method, self._other)
            self._queue(_failure(number, KnownError("Assent failed at this.", code="bug")))
        finally:
            self._tasks.pop(number, None)

    # -- writing ------------------------------------------------------------------------------------------------------

    async def _send(self, message: Mapping[str, Any]) -> None:
        """Queue a message, a long one piece by piece as the other side reads. Raises KnownError when it is too
        large."""
        key = next(self._keys)
        frames = wire.whole(message, key)
        try:
            for frame in frames[:-1]:
                self._put(frame)
                await self.drained()
        except asyncio.CancelledError:
            self._queue({"t": "drop", "key": key})
            raise
        self._put(frames[-1])

    def _queue(self, message: Mapping[str, Any]) -> None:
        """Queue a message without waiting."""
        try:
            frames = wire.whole(message, next(self._keys))
        except (KnownError, ValueError, TypeError, RecursionError) as error:
            logger.warning("a message to %s was left out: %s", self._other, type(error).__name__)
            return
        for frame in frames:
            self._put(frame)

    def _put(self, frame: bytes) -> None:
        if self._closing or self._over.is_set():
            return
        self._outbox.append(frame)
        self._waiting += len(frame)
        self._news.set()
        if self._waiting > OUTBOX_CALM:
            self._calm.clear()
        if self._waiting > OUTBOX_MAX:
            self._cut_off()

    def _cut_off(self) -> None:
        logger.warning("%s reads too slowly and was cut off", self._other)
        self._outbox.clear()
        self._waiting = 0
        self.gone = f"{self._other} reads too slowly."
        self.close("It reads too slowly, so Assent has cut the connection.", "Connect again.")

    async def _write(self) -> None:
        """Until ``close`` was said and the last words are out, or nobody reads them."""
        with contextlib.suppress(OSError):
            while not (self._closing and not self._outbox):
                await self._news.wait()
                self._news.clear()
                await self._write_waiting()

    async def _write_waiting(self) -> None:
        while self._outbox:
            batch = bytearray()
            while self._outbox and len(batch) < BATCH:
                batch += self._outbox.popleft()
            self._waiting = max(0, self._waiting - len(batch))
            self._writer.write(bytes(batch))
            await self._writer.drain()
            if self._waiting <= OUTBOX_CALM:
                self._calm.set()


def _failure(number: int, error: KnownError) -> dict[str, Any]:
    return {"t": "error", "id": number, "code": error.code, "message": str(error), "next": error.next_step}


def _number(message: Mapping[str, Any]) -> int:
    value = message.get("id")
    if type(value) is not int:
        raise wire.BadFrame("id is not a whole number")
    return value


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise wire.BadFrame(f"{name} is not text")
    return value


def _params(message: Mapping[str, Any]) -> Mapping[str, Any]:
    value = message.get("params")
    if not isinstance(value, dict):
        raise wire.BadFrame("params is not an object")
    return value
