"""The child's end of the pipe: answers calls, streams in batches, stops when told or when its parent is gone.

Runs in a child on a plain asyncio loop. What libraries print goes to stderr: the protocol has descriptors of its own.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.text.scrub import scrub
from desktop.systems import inherited_pipes
from desktop.workers import frames

log = logging.getLogger(__name__)
END_GRACE = 0.5  # seconds for calls to close their sockets after the parent is gone


class CallError(Exception):
    """What a handler raises to answer with an error; the text must be fit for a person and free of secrets."""

    def __init__(self, code: str, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = dict(data or {})


class WorkerCall:
    """One call as its handler sees it: parameters, and ``emit`` for streaming."""

    def __init__(self, call_id: int, method: str, params: Mapping[str, Any], parts: list[Any], send: Send) -> None:
        self.call_id = call_id
        self.method = method
        self.params = params
        self.parts = parts
        self._send = send
        self._items: list[Any] = []
        self._size = 0
        self._sent_at = 0.0
        self._unacknowledged = 0
        self._timer: asyncio.TimerHandle | None = None
        self._credit = asyncio.Event()
        self._credit.set()

    async def emit(self, item: Mapping[str, Any], *, join: str = "") -> None:
        """Stream an item: at once after a pause, else batched for 16 ms.

        With ``join``, its text under that key is appended to the item before it in the batch when all else is equal.
        Waits while the reader is behind. Raises BadFrame for an item that no frame takes.
        """
        text = item[join] if join else ""
        size = len(text) if join else len(json.dumps(item))
        if size > frames.ITEM_MAX:
            raise frames.BadFrame(f"item of {size} characters, at most {frames.ITEM_MAX} are allowed")
        while self._items and self._size + size > frames.BATCH_MAX:  # others wait for the reader, too
            await self._pressure()
        last = self._items[-1] if self._items and join else None
        if last is not None and last.keys() == item.keys() and all(last[k] == item[k] for k in item if k != join):
            last[join] += text
        else:
            self._items.append(dict(item))
        self._size += size
        wait = self._sent_at + frames.BATCH_SECONDS - time.monotonic()
        if self._size >= frames.BATCH_MAX:
            await self._pressure()
        elif wait <= 0:
            self._on_timer()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._on_timer)

    async def _pressure(self) -> None:
        """The batch is full: send it, as soon as the reader allows."""
        while self._unacknowledged >= frames.WINDOW:
            self._credit.clear()
            await self._credit.wait()
        self._flush()

    def _on_timer(self) -> None:
        self._timer = None
        if self._unacknowledged < frames.WINDOW:
            self._flush()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._items:
            items, self._items, self._size = self._items, [], 0
            self._sent_at = time.monotonic()
            self._unacknowledged += 1
            self._send({"t": "items", "id": self.call_id, "items": items})

    def acknowledged(self) -> None:
        self._unacknowledged -= 1
        self._credit.set()
        if self._items and self._timer is None:
            self._on_timer()

    async def finish(self) -> None:
        """Wait until everything emitted has been sent."""
        while self._items:
            await self._pressure()

    def drop(self) -> None:
        """Send nothing more for this call."""
        self._items.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


Send = Callable[[Mapping[str, Any]], None]
Handler = Callable[[WorkerCall], Awaitable[Any]]


@dataclass
class ServedCalls:
    """What is known of the calls of one parent."""

    calls: dict[int, tuple[WorkerCall, asyncio.Task[None]]] = field(default_factory=dict)
    parts: dict[int, list[Any]] = field(default_factory=dict)
    parts_size: dict[int, int] = field(default_factory=dict)


class ChildServer:
    """Serves ``methods`` to the parent until it is gone. ``secrets`` are kept out of unforeseen errors' text."""

    def __init__(
        self,
        service: str,
        version: str,
        methods: Mapping[str, Handler],
        *,
        secrets: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._service = service
        self._version = version
        self._methods = methods
        self._secrets = secrets
        self._served = ServedCalls()
        self._writer: asyncio.StreamWriter | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Returns when the parent has closed its end, after calls under way have been cancelled."""
        self._writer = writer
        self._send({"t": "hello", "protocol": frames.PROTOCOL, "service": self._service, "version": self._version})
        try:
            while True:
                size = frames.length(await reader.readexactly(frames.HEADER.size))
                self._receive(frames.decode(await reader.readexactly(size)), size)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except frames.BadFrame as broken:
            log.error("the parent broke the protocol: %s", broken)
        tasks = [task for _, task in self._served.calls.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_GRACE)

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(frames.encode(message))

    def _receive(self, message: Mapping[str, Any], size: int) -> None:
        kind, call_id = message.get("t"), message.get("id")
        if kind == "hello":
            if (message.get("protocol"), message.get("service")) != (frames.PROTOCOL, self._service):
                raise frames.BadFrame("greeting of another version or service")
            return
        if not isinstance(call_id, int):
            raise frames.BadFrame("no id")
        if kind == "call":
            self._start(call_id, message)
        elif kind == "parts":
            self._add_parts(call_id, message.get("items"), size)
        elif kind == "ack" and call_id in self._served.calls:
            self._served.calls[call_id][0].acknowledged()
        elif kind == "cancel":
            self._cancel(call_id)

    def _add_parts(self, call_id: int, items: Any, size: int) -> None:
        total = self._served.parts_size.get(call_id, 0) + size
        if not isinstance(items, list) or total > frames.PARTS_MAX:
            raise frames.BadFrame("parts are no list, or too much")
        self._served.parts_size[call_id] = total
        self._served.parts.setdefault(call_id, []).extend(items)

    def _start(self, call_id: int, message: Mapping[str, Any]) -> None:
        params, method = message.get("params"), message.get("method")
        self._served.parts_size.pop(call_id, None)
        parts = self._served.parts.pop(call_id, [])
        handler = self._methods.get(str(method))
        if handler is None or not isinstance(params, dict):
            self._fail(call_id, "child.unknown_method", f"There is no method {method!r}.")
        elif len(self._served.calls) >= frames.CALLS_MAX:
            self._fail(call_id, "child.busy", f"More than {frames.CALLS_MAX} calls at once.")
        else:
            call = WorkerCall(call_id, str(method), params, parts, self._send)
            task = asyncio.get_running_loop().create_task(self._handle(call, handler), name=f"{method} {call_id}")
            self._served.calls[call_id] = (call, task)

    def _cancel(self, call_id: int) -> None:
        self._served.parts.pop(call_id, None)
        self._served.parts_size.pop(call_id, None)
        entry = self._served.calls.get(call_id)
        if entry is not None:
            entry[0].drop()
            entry[1].cancel()

    def _fail(self, call_id: int, code: str, message: str, data: Mapping[str, Any] | None = None) -> None:
        self._send({"t": "error", "id": call_id, "code": code, "message": message, "data": data or {}})

    async def _handle(self, call: WorkerCall, handler: Handler) -> None:
        try:
            value = await handler(call)
            await call.finish()
            self._send({"t": "result", "id": call.call_id, "value": value})
        except CallError as error:
            await call.finish()
            self._fail(call.call_id, error.code, str(error), error.data)
        except frames.BadFrame as large:
            self._fail(call.call_id, "child.too_large", f"The answer is too large: {large}.")
        except Exception as error:  # the boundary of the child: whatever a handler did costs this call only
            log.exception("%s failed", call.method)
            await call.finish()
            self._fail(call.call_id, "child.bug", scrub(f"{type(error).__name__}: {error}", self._secrets()))
        finally:
            call.drop()
            self._served.calls.pop(call.call_id, None)


async def pipes() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The protocol's reader and writer over stdin and stdout, which from now on are empty and stderr."""
    inward, outward = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    reader, _ = await inherited_pipes.reader_of(inward, frames.FRAME_MAX)
    return reader, await inherited_pipes.writer_of(outward)


def run(
    serve: Callable[[], Awaitable[None]], name: str, *, loop: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> None:
    """Run a child's ``serve`` and leave at once when it returns: no thread of a library may keep it alive. ``loop``
    makes the loop that it runs on."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format=f"{name} %(levelname)s %(name)s: %(message)s")

    async def main() -> None:
        code = 1
        try:
            await serve()
            code = 0
        except Exception:  # the boundary of the process: say what happened on stderr, the parent keeps its end
            log.exception("%s broke down", name)
        finally:
            sys.stderr.flush()
            os._exit(code)  # asyncio.run would wait for threads that import libraries

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())
