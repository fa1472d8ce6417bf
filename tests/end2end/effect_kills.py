"""Kills a run at every line of its journal, lets it go on, and counts what was done to the world.

`python -m tests.end2end.effect_kills every FOLDER STEP` tries each place, or each second, third … one;
`storm FOLDER SEED SERIES` kills the same run again and again at random places. Prints the figures as JSON. Each life is
a process of its own, killed with SIGKILL.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.end2end.effect_life import WRITES, Life, lines, prepare
from tests.end2end.lives import live, rehearse

LONGEST = 400


@dataclass
class Figures:
    """`lost` and `doubled` are writes that are missing, or there twice; `unasked` are writes that had begun and were
    begun again without a question; `repeated` are finished reads done again."""

    kill_points: int = 0
    kills: int = 0
    lives: int = 0
    asked: int = 0
    lost: int = 0
    doubled: int = 0
    unasked: int = 0
    repeated: int = 0
    faults: list[str] = field(default_factory=list)


def finished(folder: Path) -> set[str]:
    """Words of what the journal holds as done."""
    connection = sqlite3.connect(folder / "assent.db")
    rows = connection.execute(
        "SELECT value_json FROM effects WHERE phase = 'completed' AND name IN ('read', 'write', 'model-ask')"
    )
    found = {word for (text,) in rows for word in _words(json.loads(text))}
    connection.close()
    return found


def begun(folder: Path) -> set[str]:
    """Writes that the journal holds as begun and no more: nobody knows whether they were done."""
    connection = sqlite3.connect(folder / "assent.db")
    query = "SELECT summary, max(phase = 'completed') FROM effects WHERE name = 'write' GROUP BY agent, step"
    found = {summary.partition("'of': '")[2][:2] for summary, done in connection.execute(query) if not done}
    connection.close()
    return found


def _words(plain: dict[str, object]) -> list[str]:
    structured = plain.get("structured")
    text = structured["text"] if isinstance(structured, dict) else plain["text"]
    return str(text).split()[-1:]


def course(folder: Path, template: Path, kills: list[int], figures: Figures) -> bool:
    """A run from its first to its last life, killed at these places; whether the first was killed at all."""
    folder.mkdir()
    shutil.copy(template, folder / "assent.db")
    first = False
    for number, kill_at in enumerate([*kills, 0]):
        done, reads = finished(folder), Counter(lines(folder / "reads"))
        open_writes, written, asked = begun(folder), lines(folder / "writes"), len(lines(folder / "asked"))
        killed = live(Life(folder, kill_at).live)
        anew = set(lines(folder / "writes")[len(written) :]) & open_writes
        figures.unasked += len(anew - set(lines(folder / "asked")[asked:]))
        figures.lives += 1
        figures.kills += killed
        again = Counter(lines(folder / "reads")) - reads
        figures.repeated += sum(again[word] for word in again if word in done)
        first = first or (killed and not number)
        if not killed:
            break
    _count(folder, kills, figures)
    shutil.rmtree(folder)
    return first


def _count(folder: Path, kills: list[int], figures: Figures) -> None:
    written = Counter(lines(folder / "writes"))
    figures.asked += len(lines(folder / "asked"))
    figures.lost += sum(1 for name in WRITES if not written[name])
    figures.doubled += sum(count - 1 for count in written.values() if count > 1)
    status, value, _ = json.loads((folder / "outcome").read_text())
    connection = sqlite3.connect(folder / "assent.db")
    ends = connection.execute("SELECT phase FROM effects WHERE kind = 'end'").fetchall()
    connection.close()
    good = status == "completed" and value[:2] == [[True], "re b-two"] and ends[-1:] == [("completed",)]
    if not good or set(written) != set(WRITES):
        figures.faults.append(f"killed at {kills}: {status} {value} {ends} {dict(written)}")


def every(base: Path, template: Path, step: int) -> Figures:
    """Each ``step``-th place once, until there is none left."""
    figures = Figures()
    for place in range(1, LONGEST, step):
        if not course(base / f"at{place}", template, [place], figures):
            return figures
        figures.kill_points += 1
    raise SystemExit("the journal does not end")


def storm(base: Path, template: Path, seed: int, series: int) -> Figures:
    """Many kills of one and the same run."""
    rng, figures = random.Random(seed), Figures()
    for number in range(series):
        kills = [rng.randint(1, 40) for _ in range(rng.randint(2, 12))]
        course(base / f"storm{number}", template, kills, figures)
        figures.kill_points += len(kills)
    return figures


def main(arguments: list[str]) -> None:
    base = Path(arguments[1])
    template, rehearsal = base / "template.db", base / "rehearsal"
    asyncio.run(prepare(template))
    rehearsal.mkdir()
    shutil.copy(template, rehearsal / "assent.db")
    rehearse(Life(rehearsal, 0).live)
    numbers = [int(one) for one in arguments[2:]]
    figures = every(base, template, *numbers) if arguments[0] == "every" else storm(base, template, *numbers)
    print(json.dumps(asdict(figures)))


if __name__ == "__main__":
    main(sys.argv[1:])
