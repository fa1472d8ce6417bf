"""The method of the picture host: ``picture``, the one picture whose handle it was given, made anew.

It reads the file, loads what its kind needs, and then shuts itself in: from there on it can compute, read and write its
pipes, and end. A picture that makes a library run code of its own finds nothing that it could open or reach.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.files.pictures import HEAD, OPENED, picture_kind
from desktop.domain.loading.lazy import lazy_module
from desktop.systems.polling import polling_loop
from desktop.workers.hardening import bound_memory, bound_time, harden
from desktop.workers.inside import CallError, WorkerCall, run
from desktop.workers.picture_host import limits
from desktop.workers.picture_host.remade import Remade
from desktop.workers.serving import Idle, load_codecs, read_whole, serve_shut_in

if TYPE_CHECKING:
    from desktop.workers.picture_host import remaking
else:
    remaking = lazy_module("desktop.workers.picture_host.remaking")

SERVICE = "picture-host"
VERSION = "1"
IDLE = 60.0
"""Seconds without a call after which the process ends."""


class PictureHost:
    """``idle`` is told of each call."""

    def __init__(self, data: bytes) -> None:
        self.idle = Idle()
        self._data = data
        self._kind = picture_kind(data[:HEAD])

    def prepare(self) -> None:
        """Load what this kind of picture needs."""
        if self._kind in OPENED:
            remaking.prepare()

    def methods(self) -> dict[str, Callable[[WorkerCall], Any]]:
        """By name."""
        return {"picture": self.picture}

    async def picture(self, call: WorkerCall) -> Mapping[str, Any]:
        """Streams the picture, at most ``side`` points on its longest side and ``size`` bytes, in base64."""
        side, size = min(int(call.params["side"]), limits.SIDE), min(int(call.params["size"]), limits.SIZE)
        self.idle.working(True)
        try:
            with bound_time(limits.CALL_S):
                made = self._made(max(1, side), max(1, size))
        except (MemoryError, RecursionError):
            raise CallError("picture.too_large", "It takes more memory to open than a picture may.") from None
        finally:
            self.idle.working(False)
        encoded = base64.b64encode(made.data).decode("ascii")
        for at in range(0, len(encoded), limits.PIECE):
            await call.emit({"data": encoded[at : at + limits.PIECE]})
        return {
            "kind": self._kind,
            "media_type": made.media_type,
            "width": made.width,
            "height": made.height,
            "notes": list(made.notes),
        }

    def _made(self, side: int, size: int) -> Remade:
        if not self._data:
            raise CallError("picture.empty", "The file is empty.")
        if self._kind not in OPENED:
            known = f"It is {self._kind}, which is not opened here." if self._kind else ""
            raise CallError("picture.unknown", known or "It is no picture of a known kind.")
        return remaking.remade(self._data, self._kind, side, size)


def main(handle: int, launcher: str = "", program: str = "", idle: float = IDLE) -> None:
    """Run the process until it is idle or its parent is gone."""
    harden()
    bound_memory(limits.MEMORY)
    load_codecs()
    host = PictureHost(read_whole(handle, limits.FILE))
    host.prepare()
    served = (SERVICE, VERSION), host.methods(), host.idle, (launcher, program), idle
    run(lambda: serve_shut_in(*served), SERVICE, loop=polling_loop)
