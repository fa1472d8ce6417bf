"""The methods of the result host: ``open`` the one result whose handle it was given, then ``draw`` and ``tile`` of a
page, ``rows`` and ``sort`` of a table, ``nodes`` of a tree, ``page`` of a PDF.

It reads the file, loads its libraries, and then shuts itself in as the document host does. From there on it can
compute, read fonts, read and write its pipes, and end.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import blitz_py

from desktop.systems.polling import polling_loop
from desktop.workers.document_host.pdf import Pdf
from desktop.workers.hardening import bound_memory, bound_time, harden, shut_in
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.result_host import limits
from desktop.workers.result_host.drawn import Drawn
from desktop.workers.result_host.table import ResultTable
from desktop.workers.result_host.tree import ResultTree
from desktop.workers.serving import load_codecs, read_whole
from desktop.workers.web_host.decoding import decoded

SERVICE = "result-host"
VERSION = "1"
FONTS = Path(__file__).resolve().parents[3] / "resources" / "fonts"
OWN = ("Inter-Regular.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "Inter-Italic.otf")
MONO = ("JetBrainsMono-Regular.ttf", "JetBrainsMono-Medium.ttf")
PLACES = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/usr/share/fontconfig",
    "/etc/fonts",
    "/var/cache/fontconfig",
    "~/.fonts",
    "~/.local/share/fonts",
    "~/.cache/fontconfig",
    "~/.config/fontconfig",
)


class ResultHost:
    """``readable``: whether the fonts of this computer can be read."""

    def __init__(self, data: bytes, *, readable: bool = True) -> None:
        self._data = data
        self.readable = readable
        self._result: Drawn | ResultTable | ResultTree | Pdf | None = None
        self._turn = asyncio.Lock()

    def methods(self) -> dict[str, Any]:
        """By name."""
        return {
            "open": self.open,
            "draw": self.draw,
            "tile": self.tile,
            "page": self.page,
            "rows": self.rows,
            "sort": self.sort,
            "nodes": self.nodes,
        }

    async def open(self, call: WorkerCall) -> Mapping[str, Any]:
        """Reads the result as what ``kind`` says."""
        kind, name = str(call.params["kind"]), str(call.params.get("name", ""))
        async with self._working():
            result = self._result = self._opened(kind, name)
        if isinstance(result, Drawn):
            return {"title": result.title, "left": result.left, "more": result.more}
        if isinstance(result, ResultTable):
            return {"rows": result.rows, "columns": result.columns, "names": result.names, "notes": result.notes}
        if isinstance(result, ResultTree):
            return {"root": result.about(), "notes": result.notes}
        return {"pages": result.count, "title": result.title}

    async def draw(self, call: WorkerCall) -> Mapping[str, Any]:
        """Draws the page so wide; how large it is, in pixels."""
        async with self._working():
            result = self._as(Drawn)
            result.draw(int(call.params["width"]), float(call.params["scale"]))
            return {"width": result.width, "height": result.height, "tile": limits.TILE, "note": result.note}

    async def tile(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams a piece of what was drawn, as PNG."""
        async with self._working():
            return await _send(call, self._as(Drawn).tile(int(call.params["number"])))

    async def page(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams a page of a PDF, as PNG."""
        async with self._working():
            document, part = self._as(Pdf), int(call.params["part"])
            if not 1 <= part <= document.count:
                raise CallError("result.no_piece", f"There is no page {part}.")
            return await _send(call, document.picture(part, int(call.params["width"])))

    async def rows(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams rows of a table."""
        async with self._working():
            first, count = int(call.params["first"]), min(int(call.params["count"]), limits.WINDOW)
            room = limits.COPIED if call.params.get("whole") is True else limits.CELL
            for row in self._as(ResultTable).window(first, count, room):
                await _send_row(call, row)
        return {}

    async def sort(self, call: WorkerCall) -> Mapping[str, Any]:
        """Orders a table by a column."""
        async with self._working():
            self._as(ResultTable).sort(int(call.params["column"]), call.params.get("descending") is True)
        return {}

    async def nodes(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams what is inside a value of a tree."""
        async with self._working():
            path = [int(at) for at in call.params["path"]]
            count = min(int(call.params["count"]), limits.WINDOW)
            for node in self._as(ResultTree).children(path, int(call.params["first"]), count):
                await call.emit(node)
        return {}

    # -- inside -------------------------------------------------------------------------------------------------------

    def _opened(self, kind: str, name: str) -> Drawn | ResultTable | ResultTree | Pdf:
        if kind == "table":
            return ResultTable(self._data, name)
        if kind == "tree":
            return ResultTree(self._data, name)
        if kind == "pdf":
            return Pdf(self._data, "")
        fonts = [FONTS / one for one in (*OWN, *MONO)]
        is_svg = kind == "drawing"
        text = decoded(self._data, "image/svg+xml" if is_svg else "text/html")
        return Drawn(text, is_svg=is_svg, fonts=fonts, readable=self.readable)

    def _as(self, kind: type[Any]) -> Any:
        if not isinstance(self._result, kind):
            raise CallError("result.closed", "It is not open as that.")
        return self._result

    @contextlib.asynccontextmanager
    async def _working(self) -> Any:
        async with self._turn:
            with _bounded():
                yield


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    try:
        with bound_time(limits.CALL_S):
            yield
    except (MemoryError, RecursionError):
        raise CallError("result.too_large", "It takes more memory to show than there is for it.") from None


async def _send(call: WorkerCall, data: bytes) -> Mapping[str, Any]:
    encoded = base64.b64encode(data).decode("ascii")
    for at in range(0, len(encoded), limits.PIECE):
        await call.emit({"data": encoded[at : at + limits.PIECE]})
    return {"size": len(data)}


async def _send_row(call: WorkerCall, row: list[str]) -> None:
    """A row in pieces that fit: the cells of one may be more than goes at once."""
    held, size = list[str](), 0
    for cell in row:
        if held and size + len(cell) > limits.PIECE:
            await call.emit({"cells": held, "more": True})
            held, size = [], 0
        held.append(cell)
        size += len(cell) + 4
    await call.emit({"cells": held, "more": False})


def _warm() -> None:
    """Have the libraries loaded, and what they know of fonts; only our own families where none can be read later."""
    blitz_py.register_fonts([(FONTS / name).read_bytes() for name in MONO])
    blitz_py.render_rgba("<p>Assent <b>b</b> <i>i</i> 日本 <code>c</code>", width=64)


def places() -> list[str]:
    """Where the fonts of this computer are."""
    return [place for one in PLACES if os.path.isdir(place := os.path.expanduser(one))]


async def _serve(host: ResultHost, launcher: str, strict: str, fonts: str) -> None:
    reader, writer = await pipes()
    host.readable = shut_in(launcher, strict, bounds=("FSIZE",), reading=(fonts, [*places(), str(FONTS)]))
    await ChildServer(SERVICE, VERSION, host.methods()).serve(reader, writer)


def main(handle: int, launcher: str = "", strict: str = "", fonts: str = "") -> None:
    """Run the process until its parent is gone."""
    harden()
    bound_memory(limits.MEMORY)
    load_codecs()
    host = ResultHost(read_whole(handle, limits.FILE))
    _warm()
    sys.setrecursionlimit(limits.DEPTH + 1_000)
    run(lambda: _serve(host, launcher, strict, fonts), SERVICE, loop=polling_loop)
