"""``dev.py licences``: looks at everything that is handed out and writes ``resources/licences``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from ..environment import ROOT, VENV
from ..words import Stop, say
from .collector import Collector, Inputs
from .decisions import Decisions, read_decisions
from .listing import differences, missing_texts, write_list
from .qt_source import read_sources
from .wheels import installed, read_lock

FOLDER = ROOT / "packaging/licences"
LISTED = ROOT / "resources/licences"
LOCK = ROOT / "packaging/requirements.lock"


def collected(site: Path | None = None) -> Collector:
    """What the environment of this checkout would hand out."""
    locked = read_lock(LOCK)
    return Collector(Inputs(installed(site or site_packages(), locked), locked, decided(), FOLDER, ROOT))


def collected_for(site: Path, system: str, wanted: Collection[str]) -> Collector:
    """What a package for another system would hand out: the wheels in ``site``, of which the lock names ``wanted``."""
    locked = {name: one for name, one in read_lock(LOCK).items() if name in wanted}
    every = decided()
    decisions = replace(every, wheels={name: one for name, one in every.wheels.items() if name in wanted})
    return Collector(Inputs(installed(site, locked), locked, decisions, FOLDER, ROOT, system))


def decided() -> Decisions:
    """The table of decisions."""
    return read_decisions(FOLDER / "decisions.toml")


def problems() -> list[str]:
    """Why a build must not be made: what is unknown, missing or not allowed, and a list that is not of today."""
    found = collected()
    locked = read_lock(LOCK)
    here = installed(site_packages(), locked)
    stale = differences(LISTED, found.components, found.texts.kept, set(locked) - set(here))
    return found.problems + [f"resources/licences: {one}." for one in stale + missing_texts(LISTED)]


def write_licences(qt_sources: list[Path]) -> int:
    """Writes the list anew and says what is wrong; 1 when something is."""
    if qt_sources:
        rows = read_sources(qt_sources)
        (FOLDER / "qt.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
        say(f"{len(rows)} parts of Qt")
    found = collected()
    for one in found.problems:
        print(one)
    if found.problems:
        raise Stop(
            f"{len(found.problems)} licences are not in order, so nothing was written.",
            "Look into them and write what you found to packaging/licences/decisions.toml.",
        )
    write_list(LISTED, found.components, found.texts.kept)
    for name, count in Counter(name for one in found.components for name in one.used).most_common():
        print(f"{count:5} {name}")
    say(f"{len(found.components)} rows and {len(found.texts.kept)} texts are in {LISTED}")
    return 0


def check_licences() -> int:
    """Says what is wrong and writes nothing; 1 when something is."""
    found = problems()
    for one in found:
        print(one)
    return 1 if found else 0


def site_packages() -> Path:
    """Where the environment keeps its packages."""
    places = [*VENV.glob("lib/python3*/site-packages"), VENV / "Lib/site-packages"]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise Stop(f"There is no environment in {VENV}.", "Run `python3 packaging/dev.py setup` first.")
    return found
