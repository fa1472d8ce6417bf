"""`--check`: is what Assent stands on there and working? One line each; a failing probe says what to do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from desktop import __file__ as package_file
from desktop.app.home.installation import own_start
from desktop.domain.errors import KnownError
from desktop.domain.safety import SafetySettings
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.confinement.walls import unproved_words
from desktop.safety.secrets.keyring import KeyringSecrets
from desktop.store import database
from desktop.store.audit import check_closed
from desktop.workers.keyring_child import keyring_host
from desktop.workers.model_child import model_host

TIMEOUT = 60.0
"""Seconds that one probe may take."""

REFUSED = 2
"""The exit code of a process that says in words why it did not begin."""

CHAINED = 3
"""The format of the database that made the activity log a chain."""

State = Literal["ok", "notice", "broken"]


class Health(NamedTuple):
    """What a probe found. ``notice``: worth knowing, but Assent works."""

    state: State
    sentence: str


class Probe(NamedTuple):
    """One probe. ``run`` blocks; an exception from it means broken."""

    name: str
    run: Callable[[], Health]


def main(home: Path) -> int:
    """All probes of this installation and this home, on the terminal; 0 when none is broken."""
    return run_checks(probes(home), sys.stdout.write)


def probes(home: Path) -> tuple[Probe, ...]:
    """The probes, in the order in which they are printed."""
    return (
        Probe("Qt", qt),
        Probe("Database", lambda: database_of(home)),
        Probe("Activity log", lambda: activity_log(home)),
        Probe("Keyring", lambda: asyncio.run(keyring())),
        Probe("Confinement", lambda: confinement(home)),
        Probe("Model host", lambda: asyncio.run(models())),
    )


def run_checks(chosen: Sequence[Probe], write: Callable[[str], object], *, timeout: float = TIMEOUT) -> int:
    """Run the probes and print ``name: state: sentence`` for each; returns 1 when one is broken, else 0."""
    broken = False
    for probe in chosen:
        health = _health(probe, timeout)
        broken = broken or health.state == "broken"
        write(f"{probe.name}: {health.state}: {' '.join(health.sentence.split())}\n")
    return int(broken)


def _health(probe: Probe, timeout: float) -> Health:
    """In a thread that is left behind when it hangs."""
    found: list[Health] = []
    thread = threading.Thread(target=lambda: found.append(_tried(probe)), name=f"check {probe.name}", daemon=True)
    thread.start()
    thread.join(timeout)
    return found[0] if found else Health("broken", f"It did not answer within {timeout:g} seconds.")


def _tried(probe: Probe) -> Health:
    try:
        return probe.run()
    except KnownError as error:
        return Health("broken", error.advice)
    except Exception as error:  # noqa: BLE001 - a probe that fails in any way is what a check is there to tell
        return Health("broken", f"{type(error).__name__}: {error}")


# -- the probes -----------------------------------------------------------------------------------------------------


def qt() -> Health:
    """In a process of its own, because Qt ends a process that finds no screen."""
    folder = Path(package_file).resolve().parents[1]
    done = subprocess.run(own_start("--probe-qt"), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        lines = done.stderr.strip().removeprefix("assent: ").splitlines()
        said = lines if done.returncode == REFUSED else lines[-1:]  # in words; else the last line of a traceback
        return Health("broken", " ".join(said) or "Qt does not start, and gives no reason.")
    found: dict[str, str] = json.loads(done.stdout)
    return Health("ok", f"Qt {found['qt']} on {found['platform']}, PySide6 {found['pyside']}.")


def database_of(home: Path) -> Health:
    """The library, and the home's database, read only; without one, whether it could be made."""
    with contextlib.closing(sqlite3.connect(":memory:")) as memory:
        memory.execute("CREATE VIRTUAL TABLE probe USING fts5(text, tokenize='trigram')")
    library = f"SQLite {sqlite3.sqlite_version} with full-text search"
    file = home / "data" / "assent.db"
    place = next(folder for folder in (home / "data", home, *home.parents) if folder.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        return Health("broken", f"{place} cannot be written. Give yourself permission or choose another --home.")
    if not file.exists():
        with tempfile.TemporaryFile(dir=place) as probe:
            probe.write(b"probe")
        return Health("ok", f"{library}; {file} will be made at the first start.")
    database.verify(file)
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        found = database.version(connection)
    known = max(int(path.name[:4]) for path in database.MIGRATIONS.glob("*.sql"))
    if found > known:
        return Health("broken", f"{file} was written by a newer Assent (format {found}; this one knows {known}).")
    return Health("ok", f"{library}; {file} is sound, format {found}.")


def activity_log(home: Path) -> Health:
    """Check the chain of hashes of the activity log, without writing."""
    file = home / "data" / "assent.db"
    if not file.exists():
        return Health("ok", "Nothing is in it yet.")
    try:
        with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            if database.version(connection) < CHAINED:
                return Health("ok", "It becomes a chain at the next start.")
        report = check_closed(file)
    except sqlite3.Error as error:
        return Health("broken", f"It cannot be read ({error}).")
    if not report.whole:
        return Health("notice", "It is not as Assent wrote it. The Activity page says which entries.")
    return Health("ok", f"Lines: {report.lines:,}, each vouching for all before it, up to {report.head.link[:16]}.")


async def keyring() -> Health:
    """Without one Assent works, and keys last until it closes (R-SEC-2)."""
    secrets = KeyringSecrets(keyring_host())
    try:
        report = await secrets.probe()
    finally:
        await secrets.close()
    if report.usable:
        return Health("ok", report.sentence)
    return Health("notice", f"{report.sentence} Keys are kept for the session only.")


def confinement(home: Path) -> Health:
    """What holds shell commands; really tried."""
    settings = SafetySettings(workspace=str(home / "workspace"))
    confinement = SystemConfinement(BoundaryPolicy(str(home), lambda: settings), lambda: settings)
    try:
        report = confinement.probe()
    finally:
        confinement.close()
    return Health("notice" if report.kind == "none" else "ok", f"{report.sentence}{unproved_words()}")


async def models() -> Health:
    """Starts the model host and waits until its library is loaded; nothing goes to the network."""
    child = model_host(secrets=tuple)
    try:
        child.start()
        answer: dict[str, Any] = await child.call("ping", {"wait": True}, timeout=TIMEOUT - 5)
    finally:
        await child.stop()
    return Health("ok", f"It starts, and loads its library in {float(answer['load_s']):.1f} s.")
