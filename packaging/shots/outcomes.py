"""Requests about commands that ran in a copy, for pictures: what they did is written out here, nothing runs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.files.changes import ABSENT, FileChange, FileState
from desktop.domain.files.copied_folders import CopyLayer
from desktop.domain.files.outcomes import ChangeSides, CommandTraces, LineFigures, OutcomeReading

ROOT = "/home/ada/work/harbour-sensors"
COMMAND = "python scripts/clean.py data/gauge-07 --month 2026-03 --out out/gauge-07"
OUTPUT = "".join(f"read day {n + 1}\n" for n in range(409)) + (
    "station list: could not reach api.tides.example, using the cached one\n"
    "gauge-07: 3 gaps, 63 samples flagged\nwrote 31 days, 7,377 samples kept\n"
)
BEFORE = (
    "station,month,samples,flagged\ngauge-05,2026-02,7440,0\ngauge-06,2026-03,7431,9\ngauge-07,2026-02,6720,0\n"
    "gauge-08,2026-03,7440,0\ngauge-10,2026-03,7440,0\ngauge-11,2026-03,7440,0\ngauge-12,2026-03,7402,38\n"
)
AFTER = BEFORE.replace("gauge-07,2026-02,6720,0", "gauge-07,2026-03,7377,63").replace(
    "gauge-08,2026-03,7440,0\n", "gauge-08,2026-03,7438,2\ngauge-09,2026-03,7440,0\n"
)


class SampleCopy:
    """Implements ``domain.outcomes.CommandCopy`` with texts that are written out."""

    kind = "overlay"
    made_at = 0.0
    layers: tuple[CopyLayer, ...] = ()
    mark = ""
    largest = 0
    report = -1

    def __init__(self, texts: Mapping[str, tuple[str, str]], *, meanwhile: bool = False) -> None:
        self._texts, self._meanwhile = texts, meanwhile

    def began(self) -> bool:
        return True

    def is_full(self) -> bool:
        return False

    def read(self, *, shown: bool = True) -> OutcomeReading:
        return OutcomeReading()

    def traces(self) -> CommandTraces:
        return CommandTraces()

    def look_again(self, reading: OutcomeReading) -> OutcomeReading:
        return reading

    def open(self, digest: str) -> BinaryIO:
        raise FileNotFoundError(digest)

    def sides(self, change: FileChange) -> ChangeSides:
        if change.path.endswith(".png"):
            return ChangeSides(why="is not text")
        if self._meanwhile and change.path.endswith("summary.csv"):
            return ChangeSides(BEFORE.replace("6720,0", "6720,14"), AFTER, was=BEFORE)
        return ChangeSides(*self._texts.get(change.path, ("", "day,level\n1,2.1\n")))

    def drop(self) -> None:
        return None


def _file(text: str) -> FileState:
    return FileState("file", 0o644, len(text), hashlib.sha256(text.encode()).hexdigest())


def _reading(*, binary: bool = False, meanwhile: bool = False) -> OutcomeReading:
    made = [FileChange(f"{ROOT}/out/gauge-07", ABSENT, FileState("folder", 0o755))]
    made += [FileChange(f"{ROOT}/out/gauge-07/day-{n:02}.csv", ABSENT, _file(f"{n}")) for n in range(1, 32)]
    changed = ["out/summary.csv", "data/stations.json", "docs/gaps.md", "docs/index.md"]
    changed += [f"docs/gauges/gauge-{n:02}.md" for n in (5, 6, 7)]
    changes = [*made, *(FileChange(f"{ROOT}/{name}", _file("a"), _file(f"b{name}")) for name in changed)]
    changes += [FileChange(f"{ROOT}/out/old-{name}.tmp", _file(name), ABSENT) for name in "ab"]
    changes.append(FileChange(f"{ROOT}/out/all.csv", _file("all"), ABSENT))
    changes.append(FileChange(f"{ROOT}/out/all-02.csv", ABSENT, _file("all"), f"{ROOT}/out/all.csv"))
    figures = {change.path: LineFigures(241, 0) for change in made[1:]}
    lines = {
        "out/summary.csv": (3, 2),
        "data/stations.json": (12, 12),
        "docs/gaps.md": (44, 12),
        "docs/index.md": (3, 3),
    }
    lines |= {f"docs/gauges/gauge-{n:02}.md": (32, 27) for n in (5, 6, 7)}
    figures |= {f"{ROOT}/{name}": LineFigures(*found) for name, found in lines.items()}
    figures |= {f"{ROOT}/out/old-{name}.tmp": LineFigures(0, 52) for name in "ab"}
    if binary:
        changes += [FileChange(f"{ROOT}/out/{name}.png", ABSENT, _file(name)) for name in ("levels", "gaps")]
    elsewhere = {f"{ROOT}/out/summary.csv", f"{ROOT}/data/stations.json"} if meanwhile else set()
    ordered = sorted(changes, key=lambda change: change.path.split("/"))
    saved = {path: time.time() - 24 + 9 * at for at, path in enumerate(sorted(elsewhere, reverse=True))}
    return OutcomeReading(tuple(ordered), frozenset(elsewhere), saved, figures=figures)


def outcome_request(*, binary: bool = False, meanwhile: bool = False) -> PermissionRequest:
    """A command that changed some forty files."""
    return PermissionRequest(
        request_id="r12",
        run_id="run12",
        thread_id="t3",
        call_id="c12",
        tool="bash",
        description="Run a shell command",
        category=Category.WRITE,
        raised_because="",
        chain=("Workbench", "march-cleanup"),
        arguments={"command": COMMAND},
        paths=(),
        judgements=(),
        preview={
            "kind": "outcome",
            "outcome": "d",
            "command": COMMAND,
            "cwd": ROOT,
            "confinement": "",
            "confined_by": "bubblewrap",
            "network": False,
            "copy": SampleCopy({f"{ROOT}/out/summary.csv": (BEFORE, AFTER)}, meanwhile=meanwhile),
            "reading": _reading(binary=binary, meanwhile=meanwhile),
            "copied": "overlay",
            "made_at": time.time() - 48,
            "exit_code": 0,
            "ended": "exited",
            "elapsed_s": 4.8,
            "output": OUTPUT,
            "tried": ["api.tides.example"],
            "heard": True,
            "left_by": {f"{ROOT}/out/summary.csv": "", f"{ROOT}/data/stations.json": "writer"} if meanwhile else {},
            "left": ("node", "node", "chrome_crashpad"),
        },
        digest="d12",
        asked_at=time.time() - 48,
        stale=meanwhile,
    )


def nothing_changed() -> PermissionRequest:
    """One that changed no file and failed."""
    request = outcome_request()
    words = {
        "reading": OutcomeReading(),
        "exit_code": 2,
        "output": "clean.py: no such month\n",
        "tried": [],
        "left": (),
    }
    return replace(request, request_id="r13", digest="d13", preview={**request.preview, **words})
