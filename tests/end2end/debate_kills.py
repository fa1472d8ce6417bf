"""Kills the app's runtime at places of a debate's turns with writes, lets it go on, and counts what was done.

`python -m tests.end2end.debate_kills FOLDER STEP FIRST` tries every STEP-th event from FIRST on, and writes in the
middle of their tool. Prints the figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.debates import DebateSetup, SideSetup
from desktop.domain.messages import ToolCallBlock, ToolResultBlock
from desktop.recovery.resume import conclude_settled
from desktop.settings import SettingsService
from tests.end2end import lives
from tests.end2end.continue_kills import MAX_LIVES, Figures
from tests.end2end.continue_life import SCRIPT, TOOLS, Counting, Looking, killed_by_the_tool, reading, writing
from tests.end2end.effect_life import lines

WRITES = ("a1", "a2", "a3", "b1", "b2")
PROMPT = "---\nname: {name}\ndescription: {name}\nallowed-tools: append read-file\n---\nYou are {name}.\n"
MODEL = "scripted/scripted"
ENDS = ["A is done.", "B is done."]


def rounds() -> list[dict[str, Any]]:
    """Each answers what the message before it ends with, so that the script goes on where the turn does."""
    steps = {
        "please begin": [{"text": "I begin."}, writing("a1"), writing("a2"), reading("above")],
        "looked above": [writing("a3"), reading("end")],
        "looked end": [{"text": ENDS[0]}],
        ENDS[0]: [{"text": "Now I."}, writing("b1"), writing("b2"), reading("below")],
        "looked below": [{"text": ENDS[1]}],
    }
    return [{"when": when, "steps": found} for when, found in steps.items()]


def prepare(home: Path) -> None:
    """A home with the tool, the two prompts and the model's lines."""
    for name in ("data", "skills", "workspace"):
        (home / name).mkdir(parents=True)
    script = home / "workspace" / "append.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    (home / "tools.yaml").write_text(TOOLS.format(script=script))
    for name in ("pro", "con"):
        (home / "skills" / f"{name}.skill.md").write_text(PROMPT.format(name=name))
    for name in ("above", "below", "end"):
        (home / "workspace" / f"{name}.txt").write_text(f"looked {name}")
    (home / "script.json").write_text(json.dumps({"rounds": rounds()}))


async def live(home: Path, kill_at: int) -> None:
    """Begin the debate, or go on with it, and write down how it stands at its end."""
    settings = SettingsService(home)
    await settings.load()
    services = await build_services(home, settings, Looking(home), windows=lambda _: None, script=home / "script.json")
    while services.skills.table.find("append") is None:
        await asyncio.sleep(0.01)
    watch = asyncio.create_task(killed_by_the_tool(home / "workspace" / "kill-me"))
    services.bus.listen(Counting(kill_at))
    thread = await _go(services)
    while not await services.debates.wait(thread, 60):
        pass
    watch.cancel()
    found = await _told(services, thread)
    await services.debates.close()
    await services.chats.close()
    await services.stop_children()
    await services.close()
    (home / "outcome").write_text(json.dumps(found))


async def _go(services: Services) -> str:
    known = await services.debates.debates()
    sides = [SideSetup(name, name.title(), MODEL) for name in ("pro", "con")]
    made = DebateSetup("please begin", *sides, max_turns=2)
    thread = known[0].thread_id if known else await services.debates.create(made)
    if len(await services.debates.turns(thread)) < len(ENDS):  # else it was killed after its last turn
        await services.debates.start(thread)
    return thread


async def _told(services: Services, thread: str) -> dict[str, Any]:
    path, turns = await services.store.messages.path(thread_id=thread), await services.debates.turns(thread)
    blocks = [block for message in path for block in message.blocks]
    return {
        "outcomes": [turn.outcome for turn in turns],
        "rounds": [turn.rounds for turn in turns],
        "made": [turn.calls for turn in turns],
        "calls": sum(isinstance(block, ToolCallBlock) for block in blocks),
        "results": sum(isinstance(block, ToolResultBlock) for block in blocks),
        "unfinished": len(await conclude_settled(services.store)),
    }


WHOLE = {"outcomes": ENDS, "rounds": [3, 2], "made": [5, 3], "calls": 8, "results": 8, "unfinished": 0}


def course(home: Path, kill_at: int, figures: Figures, marker: str = "") -> bool:
    """A debate from its first to its last life; whether the first was killed."""
    prepare(home)
    work, killed = home / "workspace", 0
    if marker:
        (work / marker).touch()
    for place in [kill_at, *([0] * MAX_LIVES)]:
        was_killed = lives.live(partial(live, home, place))
        figures.lives += 1
        killed += was_killed
        if marker:
            (work / marker).unlink(missing_ok=True)
        if not was_killed:
            break
    figures.kills += killed
    written, again = Counter(lines(work / "writes")), set(lines(home / "again"))
    figures.asked += len(lines(home / "asked"))
    figures.lost += sum(1 for name in WRITES if not written[name])
    figures.doubled += sum(count - 1 for count in written.values())
    found = json.loads((home / "outcome").read_text())
    if found != WHOLE or set(written) != set(WRITES) or len(lines(home / "ordinary")) > len(WRITES) + len(again) + 1:
        figures.faults.append(f"killed at {kill_at} {marker}: {dict(written)} {found} asked {lines(home / 'asked')}")
    shutil.rmtree(home)
    return bool(killed)


def main(arguments: list[str]) -> None:
    figures, started = Figures(), time.monotonic()
    base, step, place = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    prepare(base / "rehearsal")
    lives.rehearse(partial(live, base / "rehearsal", 0))
    chosen = WRITES[place % step :: step] if step > 1 else WRITES
    for marker in [f"{when}-{word}" for word in chosen for when in ("before", "after")]:
        figures.kill_points += course(base / marker, 0, figures, marker)
    while course(base / f"at{place}", place, figures):
        figures.kill_points += 1
        place += step
    figures.seconds = round(time.monotonic() - started, 1)
    print(json.dumps(asdict(figures)))


if __name__ == "__main__":
    main(sys.argv[1:])
