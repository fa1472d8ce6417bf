"""Kills the app's runtime at every place of a chat's run, lets it go on, and counts what was done to the world.

`python -m tests.end2end.continue_kills FOLDER STEP FIRST` tries every STEP-th event and all writes from FIRST on;
`storm FOLDER SEED SERIES` kills the same run several times. Prints the figures as JSON.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from tests.end2end import lives
from tests.end2end.continue_life import LOOKS, WRITES, live, prepare
from tests.end2end.effect_life import lines

MAX_LIVES = 6


@dataclass
class Figures:
    """``lost`` and ``doubled`` are writes that are missing, or there twice; ``asked`` are questions whether one was
    done, ``boxes`` those about a call with all that was made in it, which nobody can answer. ``shown`` are agents that
    the Run panel had at a later start as interrupted."""

    kill_points: int = 0
    kills: int = 0
    lives: int = 0
    asked: int = 0
    lost: int = 0
    doubled: int = 0
    boxes: int = 0
    shown: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


def course(home: Path, kills: list[int], figures: Figures, marker: str = "") -> int:
    """A run from its first to its last life; how many of these were killed."""
    prepare(home)
    work, killed = home / "workspace", 0
    if marker:
        (work / marker).touch()
    for kill_at in [*kills, *([0] * MAX_LIVES)]:
        was_killed = lives.live(partial(live, home, kill_at))
        figures.lives += 1
        killed += was_killed
        (work / marker).unlink(missing_ok=True) if marker else None
        if not was_killed:
            break
    figures.kills += killed
    _count(home, f"{kills} {marker}", figures)
    shutil.rmtree(home)
    return killed


def _count(home: Path, where: str, figures: Figures) -> None:
    written = Counter(lines(home / "workspace" / "writes"))
    asked, boxes = lines(home / "asked"), lines(home / "boxes")
    figures.asked += len(asked)
    figures.boxes += len(boxes)
    kept = [one.rpartition(" ")[2] for one in lines(home / "kept")]
    figures.shown += kept.count("interrupted")
    if not {*kept} <= {"interrupted", "completed"}:
        figures.faults.append(f"killed at {where}: the agents are kept as {kept}")
    figures.lost += sum(1 for name in WRITES if not written[name])
    figures.doubled += sum(count - 1 for count in written.values() if count > 1)
    found = json.loads((home / "outcome").read_text())
    good = found["last"] == "All is done." and found["calls"] == found["results"] and not found["unfinished"]
    if not good or boxes or written != Counter(WRITES):
        figures.faults.append(f"killed at {where}: {dict(written)} {found} asked {asked} {boxes}")


def every(base: Path, step: int, first: int, figures: Figures) -> None:
    """Each ``step``-th event; then of the places in the middle of a call, which are the positions of the log, as many:
    before and after each write, and in each read."""
    place = first
    while course(base / f"at{place}", [place], figures):
        figures.kill_points += 1
        place += step
    markers = [f"{when}-{word}" for word in WRITES for when in ("before", "after")]
    markers += [f"before-{word}" for word in LOOKS]
    for marker in markers[first % step :: max(1, step // 5)]:
        figures.kill_points += course(base / marker, [], figures, marker)


def storm(base: Path, seed: int, series: int, figures: Figures) -> None:
    """Several kills of one and the same run."""
    rng = random.Random(seed)
    for number in range(series):
        kills = [rng.randint(3, 70) for _ in range(rng.randint(2, 5))]
        figures.kill_points += course(base / f"storm{number}", kills, figures)


def main(arguments: list[str]) -> None:
    figures, started = Figures(), time.monotonic()
    rehearsal = Path(arguments[arguments[0] == "storm"], "rehearsal")
    prepare(rehearsal)
    lives.rehearse(partial(live, rehearsal, 0))
    if arguments[0] == "storm":
        storm(Path(arguments[1]), int(arguments[2]), int(arguments[3]), figures)
    else:
        every(Path(arguments[0]), int(arguments[1]), int(arguments[2]), figures)
    figures.seconds = round(time.monotonic() - started, 1)
    print(json.dumps(asdict(figures)))


if __name__ == "__main__":
    main(sys.argv[1:])
