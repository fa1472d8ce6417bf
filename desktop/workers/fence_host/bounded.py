"""Ends what takes too long where it stands, also amid one match of an expression, and the process goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FrameType

from desktop.systems import timers
from desktop.workers.hardening import bound_time


class TimeUp(BaseException):
    """The time of a call is up. No ``Exception``: a library that catches all of those has to let it through."""


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise TimeUp


def prepare() -> None:
    """Once, while handlers can still be set."""
    timers.interrupts(_raise)


@contextlib.contextmanager
def bounded(seconds: float, at_last: int) -> Iterator[None]:
    """Raises TimeUp inside after so many seconds of the processor, and again each half second; what does not heed it
    costs the process its life after ``at_last`` seconds. POSIX only: elsewhere the app ends a process that is silent
    for too long."""
    with bound_time(at_last):
        timers.interrupted_after(seconds, 0.5)
        try:
            yield
        finally:
            timers.interrupted_after(0)
