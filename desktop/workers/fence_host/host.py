"""The methods of the fence host: ``colours`` of a code, and the ``drawing`` of a diagram.

It loads its libraries and then shuts itself in: from there on it can compute, read and write its pipes, and end.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from desktop.domain.fences.colours import CODE_LONGEST, ColourSpans
from desktop.domain.fences.drawing import UNDRAWN, Drawing, to_plain
from desktop.systems.polling import polling_loop
from desktop.workers.fence_host import colouring, diagrams, limits
from desktop.workers.fence_host.bounded import TimeUp, bounded, prepare
from desktop.workers.fence_host.charts import drawn as charts
from desktop.workers.fence_host.undrawn import NotDrawn
from desktop.workers.hardening import bound_memory, harden
from desktop.workers.inside import CallError, WorkerCall, run
from desktop.workers.serving import Idle, serve_shut_in

DRAWS: Mapping[str, Callable[[str], Drawing]] = {"diagram": diagrams.drawn, "chart": charts.drawn}
"""By kind what draws it; raises NotDrawn."""
SERVICE = "fence-host"
VERSION = "1"
IDLE = 120.0
"""Seconds without a call after which the process ends."""


class FenceHost:
    """``idle`` is told of each call."""

    def __init__(self) -> None:
        self.idle = Idle()
        self._turn = asyncio.Lock()
        self._calls = 0

    def methods(self) -> dict[str, Any]:
        """By name."""
        return {"colours": self.colours, "drawing": self.drawing}

    async def colours(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams the spans of a code, whose pieces are the parts of the call; the value says whether its language is
        known."""
        code = "".join(str(part) for part in call.parts)[:CODE_LONGEST]
        async with self._working():
            lexer = colouring.lexer_of(str(call.params.get("language", "")), code)
            if lexer is None:
                return {"known": False}
            with _bounded():
                packed = ColourSpans.packed(colouring.coloured(lexer, code)).spans
        for at in range(0, len(packed), limits.PIECE):
            await call.emit({"spans": base64.b64encode(packed[at : at + limits.PIECE]).decode("ascii")})
        return {"known": True}

    async def drawing(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams the marks of what a source draws, whose pieces are the parts of the call; the value is what there is
        to be told of all of it."""
        source = "".join(str(part) for part in call.parts)
        draw = DRAWS.get(str(call.params.get("kind", "")))
        if draw is None:
            raise CallError(UNDRAWN, "Nothing here draws that.")
        async with self._working():
            try:
                with _bounded():
                    drawing = draw(source)
            except NotDrawn as why:
                raise CallError(UNDRAWN, str(why)) from None
        for at in range(0, len(drawing.marks), limits.MARKS):
            await call.emit({"marks": [to_plain(mark) for mark in drawing.marks[at : at + limits.MARKS]]})
        return {"width": drawing.width, "height": drawing.height, "kind": drawing.kind, "spoken": drawing.spoken}

    @contextlib.asynccontextmanager
    async def _working(self) -> Any:
        """One call after the other."""
        self._calls += 1
        self.idle.working(True)
        try:
            async with self._turn:
                yield
        finally:
            self._calls -= 1
            self.idle.working(self._calls > 0)


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    try:
        with bounded(limits.CALL_S, limits.ENDS_S):
            yield
    except TimeUp:
        raise CallError(UNDRAWN, "It takes too long to read.") from None
    except (MemoryError, RecursionError):
        raise CallError(UNDRAWN, "It takes more memory to read than it may.") from None


def main(launcher: str = "", program: str = "", idle: float = IDLE) -> None:
    """Run the process until it is idle or its parent is gone."""
    harden()
    bound_memory(limits.MEMORY)
    colouring.load()
    diagrams.load()
    prepare()
    host = FenceHost()
    served = (SERVICE, VERSION), host.methods(), host.idle, (launcher, program), idle
    run(lambda: serve_shut_in(*served), SERVICE, loop=polling_loop)
