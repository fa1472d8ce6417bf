"""The methods of the file search: ``lines`` and ``names``. It ends when nobody has asked for a while.

It goes where the app says that the boundary lets it, and hands over what it found with the device and inode of each
file that it opened, so that the app can hold both against the boundary once more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from desktop.workers.file_search import limits
from desktop.workers.file_search.ignoring import WantedPaths
from desktop.workers.file_search.lines import BadExpression, FoundLine, LineCollector, compiled, found_spans, readable
from desktop.workers.file_search.walking import FoundEntry, SearchGround, TreeWalk, opened_file, packed
from desktop.workers.hardening import bound_memory
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run

SERVICE = "file-search"
VERSION = "1"
IDLE = 60.0
"""Seconds without a call after which the process ends. Starting it again takes a tenth of a second."""

Emit = Callable[[Mapping[str, Any]], None]


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class FileSearch:
    """``working`` is told True when a call begins and False when none is left."""

    def __init__(self) -> None:
        self._calls = 0
        self.working: Callable[[bool], None] = lambda _: None

    def methods(self) -> dict[str, Any]:
        """By name."""
        return {"lines": self.lines, "names": self.names}

    async def lines(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams the files with their lines; the value says what was left aside."""
        return await self._work(call, TextSearch)

    async def names(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams the names."""
        return await self._work(call, NameSearch)

    async def _work(self, call: WorkerCall, kind: type[TextSearch] | type[NameSearch]) -> Mapping[str, Any]:
        self._calls += 1
        self.working(True)
        over = threading.Event()
        loop = asyncio.get_running_loop()

        def emit(item: Mapping[str, Any]) -> None:
            if over.is_set():
                raise Stopped
            asyncio.run_coroutine_threadsafe(call.emit(item), loop).result()

        try:
            return await asyncio.to_thread(lambda: kind(call.params, emit, over).run())
        except BadExpression as why:
            raise CallError("search.expression", str(why)) from None
        except Stopped:
            raise CallError("search.stopped", "The search was stopped.") from None
        finally:
            over.set()
            self._calls -= 1
            self.working(self._calls > 0)


class TreeSearch:
    """What the searches have in common."""

    def __init__(self, params: Mapping[str, Any], emit: Emit, over: threading.Event) -> None:
        self._walk = TreeWalk(SearchGround.of(params["ground"]))
        self._wanted = WantedPaths(params["globs"])
        self._skip, self._limit = int(params["skip"]), min(int(params["limit"]), limits.FOUND)
        self._emit, self._over = emit, over

    def _entries(self) -> Iterator[FoundEntry]:
        for batch in self._walk.batches():
            if self._over.is_set():
                raise Stopped
            yield from batch

    def _said(self, *, more: bool) -> dict[str, Any]:
        walk = self._walk
        return {
            "more": more,
            "files": walk.files,
            "ignored": walk.ignored,
            "too_deep": walk.too_deep,
            "unread": walk.unread,
            "unreadable": [packed(path) for path in walk.unreadable],
        }


class NameSearch(TreeSearch):
    """Files, or folders, whose paths fit globs."""

    def __init__(self, params: Mapping[str, Any], emit: Emit, over: threading.Event) -> None:
        super().__init__(params, emit, over)
        self._folders = bool(params.get("folders"))

    def run(self) -> Mapping[str, Any]:
        """Go through the tree until there are enough."""
        count = 0
        for entry in self._entries():
            if entry.is_folder is not self._folders:
                continue
            if not self._wanted.takes(entry.path or entry.name, is_folder=entry.is_folder):
                continue
            count += 1
            if count > self._skip + self._limit:
                return self._said(more=True)
            if count > self._skip:
                self._emit({"path": packed(entry.path)})
        return self._said(more=False)


class TextSearch(TreeSearch):
    """Lines in which an expression is found."""

    def __init__(self, params: Mapping[str, Any], emit: Emit, over: threading.Event) -> None:
        super().__init__(params, emit, over)
        self._expression = compiled(params["pattern"], literal=params["literal"], case=params["case"])
        self._context = min(int(params["around"]), limits.CONTEXT)
        self._names_only = bool(params["names_only"])
        self._seen, self._room, self._binary = 0, limits.OUTPUT, 0

    def run(self) -> Mapping[str, Any]:
        """Go through the tree until there is enough."""
        more, search, takes = False, self._search, self._wanted.takes
        for entry in self._entries():
            if entry.is_folder or not takes(entry.path or entry.name):
                continue
            if self._over.is_set():
                raise Stopped
            try:
                more = search(entry)
            except OSError:
                self._walk.aside(entry.path)
            if more:
                break
        return {**self._said(more=more), "binary": self._binary}

    def _search(self, entry: FoundEntry) -> bool:
        """One file; whether there is more than is handed over."""
        opened = opened_file(entry)
        if opened is None:
            return False
        handle, status = opened
        try:
            data = os.read(handle, min(status.st_size + 1, limits.BLOCK))
            if len(data) > status.st_size or (len(data) < status.st_size and len(data) < limits.BLOCK):
                data += _rest(handle, limits.BLOCK - len(data))  # it grows, or comes in pieces
            text = readable(data)
            if text is None:
                self._binary += 1
            elif len(data) >= limits.BLOCK:
                return self._hand_over(entry, status, _blocks(handle, text, self._over))
            elif self._expression.search(text) is not None:
                return self._hand_over(entry, status, [text])
            return False
        finally:
            os.close(handle)

    def _hand_over(self, entry: FoundEntry, status: os.stat_result, blocks: Iterable[bytes]) -> bool:
        if self._names_only:
            return self._name(entry, status, blocks)
        collector = LineCollector(self._context)
        skip = max(0, self._skip - self._seen)
        stop = self._skip + self._limit - self._seen
        for block in blocks:
            collector.collect(self._expression, block, stop + 1)
            if collector.found > stop or collector.size > self._room:
                break
        self._seen += min(collector.found, stop)
        lines = [line for line in collector.lines if skip < line.match <= stop]
        kept = _within(lines, self._room)
        if kept:
            self._room -= sum(len(line.text) + 8 for line in kept)
            shown = [[line.number, line.text, line.found] for line in kept]
            self._emit({**_named(entry, status), "lines": shown})
        return collector.found > stop or len(kept) < len(lines)

    def _name(self, entry: FoundEntry, status: os.stat_result, blocks: Iterable[bytes]) -> bool:
        count = sum(1 for block in blocks for _ in found_spans(self._expression, block))
        if not count:
            return False
        self._seen += 1
        if self._seen > self._skip + self._limit:
            return True
        if self._seen > self._skip:
            self._emit({**_named(entry, status), "count": count})
        return False


def _within(lines: list[FoundLine], room: int) -> list[FoundLine]:
    """The first of the lines, as far as there is room."""
    for at, line in enumerate(lines):
        room -= len(line.text) + 8
        if room < 0:
            return lines[:at]
    return lines


def _rest(handle: int, room: int) -> bytes:
    pieces = []
    while room > 0 and (piece := os.read(handle, room)):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


def _blocks(handle: int, first: bytes, over: threading.Event) -> Iterator[bytes]:
    """A large file in blocks that end with a line."""
    kept = first
    while kept:
        if over.is_set():
            raise Stopped
        cut = kept.rfind(b"\n") + 1 or len(kept)
        block, kept = kept[:cut], kept[cut:]
        yield block
        more = _rest(handle, limits.BLOCK)
        kept += more
        if not more and kept:
            yield kept
            return


def _named(entry: FoundEntry, status: os.stat_result) -> dict[str, Any]:
    return {"path": packed(entry.path), "device": status.st_dev, "inode": status.st_ino}


async def serve(search: FileSearch, idle: float) -> None:
    """Until the app is gone, or nobody has asked for ``idle`` seconds."""
    reader, writer = await pipes()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(idle) as limit:
            search.working = lambda working: limit.reschedule(None if working else loop.time() + idle)
            await ChildServer(SERVICE, VERSION, search.methods()).serve(reader, writer)


def main(idle: float = IDLE) -> None:
    """Run the process until it is idle or its parent is gone."""
    bound_memory(limits.MEMORY)
    run(lambda: serve(FileSearch(), idle), SERVICE)
