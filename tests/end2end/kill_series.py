"""Kills the writing process again and again on one home, and compares the database with what was on screen.

`python -m tests.end2end.kill_series 200` prints the figures.
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop.app.home.folder import open_home
from desktop.domain.threads import MessageRecord
from desktop.store import Store
from desktop.store.database import verify
from tests.end2end.kill_writer import text_of
from tests.harness.store import calls_noted, search_faults

ROOT = Path(__file__).resolve().parents[2]
GRACE = 0.25  # seconds: what was on screen longer than this must be there
LONGEST_LIFE = 1.2  # seconds after it is ready
EARLY = 6  # one kill of so many falls into the start: imports, recovery, the first migration

Fact = dict[str, Any]


@dataclass
class Figures:
    """What a series found. `oldest_lost` is the longest time, in seconds, that any lost text had been on screen."""

    kills: int = 0
    before_ready: int = 0
    facts: int = 0
    parts: int = 0
    messages: int = 0
    interrupted_messages: int = 0
    interrupted_runs: int = 0
    oldest_lost: float = 0.0
    faults: list[str] = field(default_factory=list)


def live_and_die(home: Path, life: str, rng: random.Random) -> tuple[float, list[Fact], bool]:
    """When it was killed, what it had shown by then, and whether it was ready."""
    command = [sys.executable, "-m", "tests.end2end.kill_writer", str(home), life]
    early = rng.randrange(EARLY) == 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        first = b""
        if early:
            time.sleep(rng.uniform(0.02, 0.2))
        else:
            first = process.stdout.readline()
            _read_for(process, rng.uniform(0.0, LONGEST_LIFE), lines := [])
        killed = time.monotonic()
        os.kill(process.pid, signal.SIGKILL)
        raw = first + b"".join([] if early else lines) + process.stdout.read()
        process.wait(10)
    facts = [json.loads(line) for line in raw.splitlines()]
    return killed, [fact for fact in facts if fact["kind"] != "ready"], bool(facts)


def _read_for(process: subprocess.Popen[bytes], seconds: float, into: list[bytes]) -> None:
    """Keep the pipe empty, or the writer would wait for us."""
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            into.append(os.read(process.stdout.fileno(), 1 << 20))
        except BlockingIOError:
            time.sleep(0.001)
    os.set_blocking(process.stdout.fileno(), True)


async def series(home: Path, kills: int, seed: int = 1) -> Figures:
    """Kill so often on one home; what an earlier life had saved must be there after every later one."""
    rng = random.Random(seed)
    figures = Figures()
    saved: dict[str, str] = {}
    for number in range(kills):
        killed, facts, ready = await asyncio.to_thread(live_and_die, home, f"life{number}", rng)
        figures.kills += 1
        figures.before_ready += not ready
        await _compare(home, killed, facts, saved, figures)
    return figures


async def _compare(home: Path, killed: float, facts: list[Fact], saved: dict[str, str], figures: Figures) -> None:
    held = open_home(home)
    store = Store(home / "data" / "assent.db")
    recovery = await store.open()
    try:
        await asyncio.to_thread(verify, store.path)
        figures.interrupted_runs += len(recovery.runs)
        figures.interrupted_messages += recovery.messages
        messages = await _all(store)
        figures.messages = len(messages)
        figures.facts += len(facts)
        figures.faults += _tree_faults(home, messages) + await search_faults(store)
        figures.faults += [f"{run.run_id} still runs" for run in await store.runs.unfinished()]
        figures.faults += _lost(messages, saved) + _part_faults(messages, killed, facts, figures)
        figures.faults += await _fact_faults(store, messages, facts)
        saved.update({name: message.text for name, message in messages.items()})
    finally:
        await store.close()
        held.release()


async def _all(store: Store) -> dict[str, MessageRecord]:
    """Every message of every branch, walked from the roots: one that hangs nowhere is missing here."""
    found: dict[str, MessageRecord] = {}
    for thread in await store.threads.list_all():
        waiting: list[str | None] = [None]
        while waiting:
            for child in await store.messages.children(thread_id=thread.thread_id, message_id=waiting.pop()):
                found[child.message_id] = child
                waiting.append(child.message_id)
    return found


def _tree_faults(home: Path, messages: dict[str, MessageRecord]) -> list[str]:
    connection = sqlite3.connect(home / "data" / "assent.db")
    (stored,) = connection.execute("SELECT count(*) FROM messages").fetchone()
    broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    leaves = connection.execute(
        "SELECT t.thread_id FROM threads t JOIN messages m ON m.seq = t.active_leaf WHERE m.thread_id <> t.thread_id"
    ).fetchall()
    connection.close()
    faults = [] if stored == len(messages) else [f"{stored - len(messages)} messages hang nowhere"]
    faults += [f"a pointer into nothing: {row}" for row in broken] + [f"{row} shows another thread" for row in leaves]
    return faults + [f"{m.message_id} is still open" for m in messages.values() if m.status == "open"]


def _lost(messages: dict[str, MessageRecord], saved: dict[str, str]) -> list[str]:
    return [
        f"{name} was there before and has changed"
        for name, text in saved.items()
        if name not in messages or messages[name].text != text
    ]


def _part_faults(messages: dict[str, MessageRecord], killed: float, facts: list[Fact], figures: Figures) -> list[str]:
    """Streaming text: what is stored is a beginning of what was said, and misses at most the last 250 ms."""
    faults = []
    first_lost: dict[str, float] = {}
    for fact in (fact for fact in facts if fact["kind"] == "part"):
        figures.parts += 1
        name = fact["id"]
        stored = messages[name].text if name in messages else ""
        if not text_of(name).startswith(stored):
            faults.append(f"{name} holds what nobody said")
        if len(stored) < fact["length"]:
            first_lost.setdefault(name, killed - fact["at"])
    for name, age in first_lost.items():
        figures.oldest_lost = max(figures.oldest_lost, age)
        if age > GRACE:
            faults.append(f"{name}: text that was on screen for {age * 1000:.0f} ms is lost")
    return faults


def _is_whole(message: MessageRecord | None) -> bool:
    return message is not None and message.status == "complete" and message.text == text_of(message.message_id)


async def _fact_faults(store: Store, messages: dict[str, MessageRecord], facts: list[Fact]) -> list[str]:
    """What was shown only after its commit is there without any grace."""
    faults = []
    drafts = {fact["thread"]: fact["text"] for fact in facts if fact["kind"] == "draft"}
    decided = {entry.call_id for _, entry in await calls_noted(store.audit, limit=100_000)}
    for fact in facts:
        name = fact.get("id", "")
        message = messages.get(name)
        if fact["kind"] == "whole" and not _is_whole(message):
            faults.append(f"{name} was complete and is not")
        if fact["kind"] == "result" and (message is None or message.blocks[0].text != text_of(f"{fact['call']}.t")):  # type: ignore[union-attr]
            faults.append(f"the result {name} is gone")
        if fact["kind"] == "audit" and fact["call"] not in decided:
            faults.append(f"the decision about {fact['call']} is gone")
        if fact["kind"] == "run":
            run = await store.runs.get(run_id=name)
            if fact["ended"] and run.end_reason != "response":
                faults.append(f"run {name} had ended and says {run.end_reason!r}")
    for thread, text in drafts.items():
        draft = await store.drafts.get(thread_id=thread)
        if draft is None or not draft.text.startswith("draft ") or int(draft.text[6:]) < int(text[6:]):
            faults.append(f"the draft {text!r} is gone")
    return faults


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="assent-kill-") as folder:
        started = time.monotonic()
        found = asyncio.run(series(Path(folder), int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
        size = (Path(folder) / "data" / "assent.db").stat().st_size
    print(f"{found}\nin {time.monotonic() - started:.0f} s, database {size / 1e6:.1f} MB")
