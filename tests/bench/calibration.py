"""What this machine is worth just now: fixed pieces of work, measured beside each bench, against the machine that the
targets were written for. So a slow machine, or one that others work on, does not make a good figure a bad one.

A figure is judged by what it would be on that machine. A faster machine changes nothing: there it is judged as it is.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.bench.processes import bare_command, first_paint, screen

Kind = Literal["interpreter", "cpu", "disk", "process", "window", "gap"]

NORMAL: dict[Kind, float] = {"interpreter": 3.5, "cpu": 3.5, "disk": 0.2, "process": 10.0, "window": 300.0, "gap": 0.0}
"""Milliseconds on the machine of the targets: two cores, nobody else at work."""

WORDS: dict[Kind, str] = {
    "interpreter": "a loop of the interpreter",
    "cpu": "a loop of the interpreter, its processor time",
    "disk": "4 KB on the disk",
    "process": "a start of Python",
    "window": "a bare window",
    "gap": "the longest that a loop is kept from going on",
}


@dataclass(frozen=True)
class Calibration:
    """One kind of work, in milliseconds, and how many times slower than normal that is; a gap is taken off."""

    kind: Kind
    took: float
    slower: float
    gap: float = 0.0

    def scaled(self, measured: float, *, rate: bool) -> float:
        """What a figure would be on the machine of the targets. ``rate``: more is better."""
        return measured * self.slower if rate else max(0.0, measured - self.gap) / self.slower

    def against(self, milliseconds: float) -> str:
        """A duration as so many times this work, or as what stands beside this gap."""
        words = f"{WORDS[self.kind]} ({self.took:.3g} ms)"
        return words if self.kind == "gap" else f"{milliseconds / self.took:.3g}x {words}"


def loop() -> None:
    """Calls, dicts, texts and numbers, as code of ours has them."""
    table: dict[str, int] = {}
    for number in range(20_000):
        key = f"word {number % 997}"
        table[key] = table.get(key, 0) + len(key)
    sorted(table.items(), key=lambda pair: pair[1])


def _timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return (clock() - started) * 1000


def _interpreter() -> float:
    return statistics.median(_timed(loop) for _ in range(5))


def _cpu() -> float:
    return statistics.median(_timed(loop, time.thread_time) for _ in range(5))


def _disk() -> float:
    with tempfile.TemporaryFile(buffering=0) as file:

        def write() -> None:
            file.write(b"x" * 4096)
            os.fsync(file.fileno())

        return statistics.median(_timed(write) for _ in range(15))


def _process() -> float:
    command = [sys.executable, "-I", "-S", "-c", "pass"]
    return statistics.median(_timed(lambda: subprocess.run(command, check=True)) for _ in range(5))


def _window() -> float:
    with screen() as environment:
        return statistics.median(first_paint(bare_command(), environment) for _ in range(5))


def _gap() -> float:
    """Of 300 ms, in which nothing is done but looking at the clock."""
    worst, last = 0.0, time.perf_counter()
    end = last + 0.3
    while last < end:
        now = time.perf_counter()
        worst, last = max(worst, now - last), now
    return worst * 1000


_MEASURES: dict[Kind, Callable[[], float]] = {
    "interpreter": _interpreter,
    "cpu": _cpu,
    "disk": _disk,
    "process": _process,
    "window": _window,
    "gap": _gap,
}


def measure(kind: Kind) -> Calibration:
    """This machine, now."""
    took = _MEASURES[kind]()
    if kind == "gap":
        return Calibration(kind, took, measure("interpreter").slower, took)
    return Calibration(kind, took, max(1.0, took / NORMAL[kind]))


def around(kind: Kind, work: Callable[[], None]) -> Calibration:
    """Measured before and after, for the machine may become busy meanwhile: the slower one counts."""
    before = measure(kind)
    work()
    after = measure(kind)
    return max(before, after, key=lambda found: (found.slower, found.gap))


def machine() -> dict[str, dict[str, float]]:
    """All kinds, for the head of a report."""
    found = [measure(kind) for kind in _MEASURES]
    return {one.kind: {"ms": round(one.took, 3), "times normal": round(one.slower, 2)} for one in found}
