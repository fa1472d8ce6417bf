"""Where benches are registered, listed and run. A bench measures one promise and never fails a test.

    @bench("send a message", target="<= 1.25x", unit="ms")
    def send_a_message() -> Figure:
        return Figure(measured=12.0, reference=11.0, note="reference: a bare window")

A target is `<= 80`, `>= 5000`, `<= 1.25x` (times the reference of the same run), or several joined by `and`. What is
absolute is judged by what it would be on the machine that the targets were written for, which calibration.py tells by
work of the kind ``by``; a part that is relative is judged as it was measured.
`packaging/dev.py bench` runs each in a process of its own: `python -m tests.bench.registry run FILE NAME`.
"""

import importlib
import json
import math
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.calibration import Calibration, Kind, around, machine

FOLDER = Path(__file__).resolve().parent
SAMPLES = str(FOLDER.parents[1] / "packaging")
"""Where the sample data of the pictures is imported from."""
CONDITION = re.compile(r"(<=|>=)\s*([0-9]+(?:\.[0-9]+)?)(x?)")


@dataclass(frozen=True)
class Figure:
    """What a bench found, in its unit. `reference` is measured in the same run; `note` says what it is."""

    measured: float
    reference: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Bench:
    """A registered bench."""

    name: str
    target: str
    unit: str
    function: Callable[[], Figure]
    by: Kind | None = None


MILLISECONDS = {"us": 0.001, "us CPU": 0.001, "ms": 1.0, "ms CPU": 1.0, "s": 1000.0}
"""Units of durations; what is counted a second ends with RATE, and what is neither does not depend on the machine."""
RATE = "/s"


BENCHES: dict[str, Bench] = {}


def bench(
    name: str, *, target: str, unit: str, by: Kind | None = None
) -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
    """Registers the function below it. ``by``: the work that a duration or a rate is scaled by, else the interpreter's.
    Raises ValueError for a name that is taken or a target that cannot be read."""
    absolute = any(not relative for _, _, relative in conditions(target))
    if by is None and absolute and (unit in MILLISECONDS or unit.endswith(RATE)):
        by = "cpu" if unit.endswith("CPU") else "interpreter"
    if name in BENCHES:
        raise ValueError(f"two benches are called {name!r}")

    def register(function: Callable[[], Figure]) -> Callable[[], Figure]:
        BENCHES[name] = Bench(name, target, unit, function, by)
        return function

    return register


def conditions(target: str) -> list[tuple[str, float, bool]]:
    """Each part of a target as (operator, number, whether it is times the reference)."""
    found = []
    for part in target.split(" and "):
        match = CONDITION.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"no target: {part.strip()!r}; write `<= 80`, `>= 5000` or `<= 1.25x`")
        found.append((match[1], float(match[2]), bool(match[3])))
    return found


def met(target: str, figure: Figure, scaled: float | None = None) -> bool:
    """Whether the figure keeps every part of its target. Without a reference a relative part is not kept. ``scaled``:
    to the machine of the targets."""
    absolute = figure.measured if scaled is None else scaled
    for operator, number, relative in conditions(target):
        if relative and figure.reference is None:
            return False
        limit = number * (figure.reference or 0.0) if relative else number
        measured = figure.measured if relative else absolute
        if not (measured <= limit if operator == "<=" else measured >= limit):
            return False
    return True


def row(found: Bench) -> dict[str, Any]:
    """Runs the bench; a bench that breaks is a row that says so."""
    head = {"name": found.name, "measured": None, "unit": found.unit, "target": found.target}
    try:
        figure, calibration = _run(found)
        if not math.isfinite(figure.measured):
            raise ValueError(f"measured {figure.measured}")
    except BaseException as error:
        traceback.print_exc()
        why = f"{type(error).__name__}: {error}"
        return {**head, "met": False, "scaled": None, "reference": None, "against": "", "note": why}
    scaled = None if calibration is None else calibration.scaled(figure.measured, rate=found.unit.endswith(RATE))
    return {
        **head,
        "measured": _rounded(figure.measured),
        "met": met(found.target, figure, scaled),
        "scaled": None if scaled is None else _rounded(scaled),
        "reference": None if figure.reference is None else _rounded(figure.reference),
        "against": "" if calibration is None else _against(found.unit, figure.measured, calibration),
        "note": figure.note,
    }


def _run(found: Bench) -> tuple[Figure, Calibration | None]:
    """The figure, and what the machine was worth meanwhile."""
    if found.by is None:
        return found.function(), None
    figures: list[Figure] = []
    calibration = around(found.by, lambda: figures.append(found.function()))
    return figures[0], calibration


def _against(unit: str, measured: float, calibration: Calibration) -> str:
    """Of a rate, how long one takes."""
    milliseconds = 1000 / measured if unit.endswith(RATE) and measured else measured * MILLISECONDS.get(unit, 1.0)
    return calibration.against(milliseconds)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def load(file: str) -> list[Bench]:
    """Imports tests/bench/FILE.py and returns what it registered."""
    before = set(BENCHES)
    if SAMPLES not in sys.path:
        sys.path.append(SAMPLES)
    importlib.import_module(f"tests.bench.{file}")
    return [found for name, found in BENCHES.items() if name not in before]


def listed(folder: Path = FOLDER) -> dict[str, list[dict[str, str]]]:
    """All benches by file, and the files that could not be loaded with their error."""
    benches, broken = [], []
    for path in sorted(folder.glob("bench_*.py")):
        try:
            benches += [{"name": found.name, "file": path.stem} for found in load(path.stem)]
        except Exception as error:
            broken.append({"file": path.stem, "error": f"{type(error).__name__}: {error}"})
    return {"benches": benches, "broken": broken}


def main(arguments: list[str]) -> int:
    match arguments:
        case ["list"]:
            print(json.dumps(listed()))
        case ["machine"]:
            print("\n" + json.dumps(machine()))
        case ["run", file, name]:
            chosen = next((found for found in load(file) if found.name == name), None)
            if chosen is None:
                raise SystemExit(f"{file} has no bench called {name}")
            print("\n" + json.dumps(row(chosen)))
        case _:
            raise SystemExit("usage: python -m tests.bench.registry list | machine | run FILE NAME")
    return 0


if __name__ == "__main__":
    # `python -m` makes this module __main__; benches register with the one that is imported by its name.
    sys.exit(importlib.import_module("tests.bench.registry").main(sys.argv[1:]))
