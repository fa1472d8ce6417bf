"""Runs the hostile programs of tests/data/hostile_code through the real worker, and counts.

``python -m tests.unit.library.hostile_summary`` runs everything and prints one table.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop.domain.code import CodeCall, CodeLimits, CodeOutcome
from desktop.domain.errors import ToolFailure
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.harness.timeouts import HELD_S, WAIT_S

FOLDER = Path(__file__).resolve().parents[2] / "data" / "hostile_code"
CLASSES = ("loops", "exhaustion", "protocol", "language", "sessions")
LIMITS = CodeLimits(cpu_s=1.0)
LOOPS = CodeLimits(cpu_s=0.05)
"""For what is expected to loop for ever."""
BRIEF = CodeLimits(cpu_s=0.1)
"""For what may also end by its time, in an ordinary run."""
AT_ONCE = 3
_HEAD = re.compile(r"//([#+]) (?:([\w-]+) )?([=!*]) ?(.*)")
_TELLING = (str(Path(__file__).resolve().parents[3]), sys.prefix, "site-packages", ".py", "assent-")


@dataclass(frozen=True)
class Piece:
    """``sign``: ``=`` a value, ``!`` a failure with one of ``codes``, ``*`` anything; ``marks`` is what else holds."""

    sign: str
    expected: Any
    marks: tuple[str, ...]
    code: str


@dataclass
class Program:
    """Pieces of code for one session."""

    name: str
    pieces: list[Piece] = field(default_factory=list)


def programs(name: str) -> list[Program]:
    """The programs of one file."""
    found: list[Program] = []
    lines: list[str] = []
    for line in (*(FOLDER / f"{name}.js").read_text("utf-8").split("\n"), "//# end *"):
        head = _HEAD.fullmatch(line)
        if head is None:
            lines.append(line)
            continue
        if found:
            found[-1].pieces[-1] = _with_code(found[-1].pieces[-1], "\n".join(lines))
        lines = []
        if head[1] == "#":
            found.append(Program(head[2]))
        found[-1].pieces.append(_piece(head[3], head[4]))
    return found[:-1]


def _piece(sign: str, rest: str) -> Piece:
    value, *marks = rest.split("; ") if sign != "=" else _split_value(rest)
    expected: Any = json.loads(value) if sign == "=" else value.split()
    return Piece(sign, expected, tuple(mark.strip() for mark in marks), "")


def _split_value(rest: str) -> list[str]:
    """A JSON value may itself contain what separates the marks."""
    value, end = json.JSONDecoder().raw_decode(rest)
    return [json.dumps(value), *rest[end:].split("; ")[1:]]


def _with_code(piece: Piece, code: str) -> Piece:
    return Piece(piece.sign, piece.expected, piece.marks, code.removesuffix("\n"))


MANY: dict[str, Any] = {
    "objects": [{str(i): i} for i in range(9_900)],
    "more-objects": [{str(i): i} for i in range(20_000)],
    "numbers": list(range(19_900)),
    "more-numbers": list(range(49_000)),
    "halves": "\ud800" * 43_000,
}


class Host:
    """What answers the code: every call is remembered, none does anything."""

    def __init__(self) -> None:
        self.calls: list[CodeCall] = []
        self.withdrawn = 0

    async def __call__(self, call: CodeCall) -> Any:
        self.calls.append(call)
        if call.op == "finish" and sum(one.op == "finish" for one in self.calls) > 1:
            raise ToolFailure("twice", code="t.twice")
        if call.ref == "no":
            raise ToolFailure("no", code="t.no")
        if call.ref == "slow":
            try:
                await asyncio.sleep(3600)
            finally:
                self.withdrawn += 1
        if call.ref == "mixed":
            await asyncio.sleep(0.001 * (int((call.args or {})["i"]) % 7))
        special = {"echo": call.args, "mixed": call.args, "big": "x" * 300_000, "odd": {1, 2}, **MANY}
        return special.get(call.ref, {"ok": True}) if call.op == "invoke" else None


LATE_MS = 1000 * HELD_S
"""What the loop's thread may compute between two of its beats, whatever a model's code does. The figure is in bench."""


class Heart:
    """How late the loop is: the worst time between two beats, and what of it this thread spent computing, which a busy
    machine does not change. Meanwhile no garbage is collected, unless ``collects``: what thousands of other tests left
    would be looked through as well, which takes tens of milliseconds."""

    def __init__(self, *, collects: bool = False) -> None:
        self.worst_ms = self.worst_cpu_ms = 0.0
        self._collects = collects

    async def beat(self) -> None:
        if not self._collects:
            gc.disable()
        try:
            await self._count()
        finally:
            gc.enable()

    async def _count(self) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            later, used = time.perf_counter(), time.thread_time()
            self.worst_ms = max(self.worst_ms, (later - wall) * 1000 - 1)
            self.worst_cpu_ms = max(self.worst_cpu_ms, (used - cpu) * 1000)
            wall, cpu = later, used


async def steady(run: Callable[[], Awaitable[Count]]) -> Count:
    """The best of up to three: what stalls the loop does so each time, and what the machine did is gone the next."""
    count = await run()
    for _ in range(2):
        if count.problems or count.heart.worst_cpu_ms < LATE_MS:
            break
        count = await run()
    return count


@dataclass
class Count:
    """What came of one class."""

    name: str
    tried: int = 0
    problems: list[str] = field(default_factory=list)
    heart: Heart = field(default_factory=Heart)

    @property
    def held(self) -> int:
        return self.tried - len({problem.split(":")[0] for problem in self.problems})


async def run_class(name: str, folder: str, *, brief: CodeLimits = LIMITS, heart: Heart | None = None) -> Count:
    """All programs of one class, a few at a time, each in a session of its own. ``brief``: what those get that may end
    by their time as well as by something else; ``heart``: one of the caller's own."""
    made = {
        limits: JsEngine(lambda: WorkerSpec(folder, *code_sandbox_profile()), limits)
        for limits in ((LOOPS,) if name == "loops" else (LIMITS, brief))
    }
    engine = next(iter(made.values()))
    short = made.get(brief, engine)
    count, room = Count(name, heart=heart or Heart()), asyncio.Semaphore(AT_ONCE)
    beat = asyncio.ensure_future(count.heart.beat())

    async def one(program: Program) -> None:
        async with room:
            count.tried += 1
            try:
                async with asyncio.timeout(WAIT_S):
                    ends = any("code.time" in piece.expected for piece in program.pieces if piece.sign == "!")
                    found = await _run(short if ends else engine, program)
            except TimeoutError:
                found = ["it does not end"]
            count.problems += [f"{program.name}: {problem}" for problem in found]

    try:
        await asyncio.gather(*(one(program) for program in programs(name)))
        last = await engine.session().run("return [typeof memory.x, 6 * 7]", Host())
        if last.value != ["undefined", 42]:
            count.problems.append(f"next session: {last}")
    finally:
        beat.cancel()
        for one in made.values():
            await one.close()
    if os.listdir(folder):
        count.problems.append(f"folder: {os.listdir(folder)}")
    return count


async def _run(engine: JsEngine, program: Program) -> list[str]:
    session, host, problems = engine.session(), Host(), []
    try:
        for number, piece in enumerate(program.pieces):
            outcome = await session.run(piece.code, host)
            problems += [f"piece {number}: {what}" for what in _judged(piece, outcome, host)]
        after = await session.run("return 42", host)
        if after.value != 42 and not any(piece.sign == "*" for piece in program.pieces):
            problems.append(f"afterwards: {after}")
    finally:
        await session.close()
    if host.withdrawn != sum(call.ref == "slow" for call in host.calls):
        problems.append("a call was left behind")
    return problems


def _judged(piece: Piece, outcome: CodeOutcome, host: Host) -> Iterable[str]:
    failure = outcome.failure
    if piece.sign == "=" and (failure is not None or json.dumps(outcome.value) != json.dumps(piece.expected)):
        yield f"expected {piece.expected!r}, got {str(outcome)[:300]}"
    if piece.sign == "!" and (failure is None or failure.code not in piece.expected):
        yield f"expected {piece.expected}, got {str(outcome)[:300]}"
    for telling in _TELLING:
        if telling in str(outcome.value) + outcome.stdout + str(failure):
            yield f"it tells {telling}: {str(outcome)[:300]}"
    marks = {shlex.split(mark)[0]: shlex.split(mark)[1:] for mark in piece.marks}
    if outcome.memory_lost != ("lost" in marks):
        yield f"memory lost: {outcome.memory_lost}"
    if "calls" in marks and len(host.calls) != int(marks["calls"][0]):
        yield f"{len(host.calls)} calls"
    for number, call in enumerate(host.calls if "lines" in marks else ()):
        if str(call.line) != [*marks["lines"], *marks["lines"][-1:] * number][number]:
            yield f"line {call.line}"
    if "finished" in marks and not outcome.finished:
        yield "not finished"


def table(counts: Iterable[Count]) -> str:
    """One line a class."""
    rows = [f"{'class':<12}{'tried':>7}{'held':>7}{'worst lateness':>17}{'of it computing':>17}"]
    rows += [
        f"{c.name:<12}{c.tried:>7}{c.held:>7}{c.heart.worst_ms:>14.1f} ms{c.heart.worst_cpu_ms:>14.1f} ms"
        for c in counts
    ]
    return "\n".join(rows)
