"""Pipes on Windows: a thread for each end.

What a program there gets as its standard streams is a pipe that knows only calls which wait, and asyncio's loop takes
none of these ("the handle is invalid"). Nothing here is Windows' alone, so that it is tested anywhere.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import queue
import threading
from typing import Any

PIECE = 64 * 1024
"""Bytes of one read."""
MOST_WAITING, FEW = 256 * 1024, 64 * 1024
"""Bytes that wait to be written: whoever writes more is held up until there are few."""
LAST_WORDS_S = 2.0
"""Seconds that the end of the program waits for what was written before a close."""


async def reader_of(descriptor: int, limit: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    """Reads what comes; ``limit`` as of asyncio's streams. Closing the transport closes it."""
    reader = asyncio.StreamReader(limit=limit)
    transport = _ReadEnd(descriptor, reader, asyncio.get_running_loop())
    reader.set_transport(transport)
    threading.Thread(target=transport.read, name="read a pipe", daemon=True).start()
    return reader, transport


async def writer_of(descriptor: int) -> asyncio.StreamWriter:
    """Writes into it."""
    loop = asyncio.get_running_loop()
    protocol = asyncio.streams.FlowControlMixin(loop)
    transport = _WriteEnd(descriptor, protocol, loop)
    transport.thread.start()
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _ReadEnd(asyncio.ReadTransport):
    """One piece at a time is on its way, so that no more comes than somebody takes."""

    def __init__(self, descriptor: int, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._descriptor, self._reader, self._loop = descriptor, reader, loop
        self._wanted = threading.Event()
        self._paused = self._closing = False

    def read(self) -> None:
        """The thread: until the other end is closed, or this one."""
        try:
            while not self._closing:
                try:
                    piece = os.read(self._descriptor, PIECE)
                except OSError:  # Windows says so of an end that is closed
                    piece = b""
                self._wanted.clear()
                self._loop.call_soon_threadsafe(self._take, piece)
                if not piece:
                    return
                self._wanted.wait()
        except RuntimeError:
            return  # the loop is closed: nobody listens any more
        finally:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)

    def _take(self, piece: bytes) -> None:
        if not piece:
            self._reader.feed_eof()
        elif not self._closing:
            self._reader.feed_data(piece)
        if not self._paused:
            self._wanted.set()

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._wanted.set()

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        """The thread ends with the next piece that comes."""
        self._closing = True
        self._wanted.set()


class _WriteEnd(asyncio.WriteTransport):
    """What is written is put into a queue."""

    def __init__(self, descriptor: int, protocol: asyncio.BaseProtocol, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._descriptor, self._protocol, self._loop = descriptor, protocol, loop
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._size = 0
        self._held = self._closing = False
        self.thread = threading.Thread(target=self._work, name="write a pipe", daemon=True)

    def _work(self) -> None:
        error: OSError | None = None
        while (piece := self._queue.get()) is not None:
            try:
                _write_all(self._descriptor, piece)
            except OSError as broken:
                error = broken
                break
            self._tell(self._written, len(piece))
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        self._tell(self._lost, error)

    def _tell(self, function: Any, value: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(function, value)

    def _written(self, size: int) -> None:
        self._size -= size
        if self._held and self._size <= FEW:
            self._held = False
            self._protocol.resume_writing()

    def _lost(self, error: OSError | None) -> None:
        self._closing = True
        self._protocol.connection_lost(error)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Never waits."""
        if self._closing or not data:
            return
        self._queue.put(bytes(data))
        self._size += len(data)
        if not self._held and self._size > MOST_WAITING:
            self._held = True
            self._protocol.pause_writing()

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        """After what was written before."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
            atexit.register(self.thread.join, LAST_WORDS_S)

    def abort(self) -> None:
        self.close()


def _write_all(descriptor: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(descriptor, left) :]
