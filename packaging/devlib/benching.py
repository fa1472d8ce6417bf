"""Runs the benches of tests/bench, each in a fresh process, and reports. A bench never fails the command."""

import fnmatch
import json
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .environment import ROOT, clean_environment, python
from .words import Stop, say

Row = dict[str, Any]
DEADLINE = 600.0  # seconds for one bench
NOTHING = {"scaled": None, "reference": None, "against": ""}


@dataclass(frozen=True)
class Bench:
    """A bench as tests/bench/registry.py lists it: its name and the file it is in."""

    name: str
    file: str


def run_benches(names: list[str], json_file: Path | None) -> int:
    """Prints a table, writes `{"rows": [...]}` when asked to, and returns 0 even when targets are missed."""
    found, rows = _listed()
    chosen = [bench for bench in found if not names or any(_matches(bench.name, name) for name in names)]
    if names and not chosen:
        raise Stop(f"No bench is called {', '.join(names)}.", "These exist: " + ", ".join(b.name for b in found) + ".")
    if names:
        rows = []
    machine = {**_machine(), "calibration": _calibration()}
    say("this machine: " + _shown(machine["calibration"]))
    for bench in chosen:
        say(f"measuring {bench.name}")
        rows.append(_measure(bench))
    print(_table(rows))
    if json_file is not None:
        json_file.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


def _matches(name: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(name.casefold(), wanted.casefold()) or name.casefold().startswith(wanted.casefold())


def _call(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment()
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    command = [str(python()), "-m", "tests.bench.registry", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=DEADLINE)


def _listed() -> tuple[list[Bench], list[Row]]:
    """The benches, and a row that says why for each file that could not be loaded."""
    done = _call("list")
    if done.returncode != 0:
        raise Stop(f"The benches could not be listed: {done.stderr.strip()[-400:]}", "Repair tests/bench/registry.py.")
    listed = json.loads(done.stdout.splitlines()[-1])
    broken = [_failed(item["file"], item["error"]) for item in listed["broken"]]
    return [Bench(item["name"], item["file"]) for item in listed["benches"]], broken


def _measure(bench: Bench) -> Row:
    try:
        done = _call("run", bench.file, bench.name)
    except subprocess.TimeoutExpired:
        return _failed(bench.name, f"did not end within {DEADLINE:.0f} s")
    try:
        row: Row = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return _failed(bench.name, last)
    return row


def _failed(name: str, why: str) -> Row:
    return {"name": name, "measured": None, "unit": "", "target": "", "met": False, **NOTHING, "note": why}


def _machine() -> dict[str, Any]:
    return {"system": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count()}


def _calibration() -> dict[str, dict[str, float]]:
    """By kind of work what this machine takes for it; nothing where that could not be measured."""
    try:
        found: dict[str, dict[str, float]] = json.loads(_call("machine").stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return {}
    return found


def _shown(calibration: dict[str, dict[str, float]]) -> str:
    each = (f"{kind} {one['ms']:.3g} ms ({one['times normal']:.2g}x)" for kind, one in calibration.items())
    return ", ".join(each) or "not measured"


def _table(rows: list[Row]) -> str:
    heads = ["what", "measured", "unit", "scaled", "target", "met", "reference", "against", "note"]
    lines = [heads] + [[_cell(row.get(key)) for key in ("name", *heads[1:])] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1000 else str(value)
