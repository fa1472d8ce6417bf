"""The app's whole runtime in a process that is killed at a chosen place of a run, and goes on with it the next time.

``live`` is one life. Places are the events on the bus, counted; and for each write the moment before it and the moment
after it, in the middle of its tool. Everything that is done to the world is a line in a file.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

from desktop.app.rooms import Rooms, open_rooms
from desktop.conversation.unfinished import conclude_settled
from desktop.domain.events import Event, RunTreeChanged
from desktop.domain.permission import Decision, PermissionRequest
from desktop.settings import SettingsService
from tests.end2end.effect_life import line, lines

WRITES = ("a1", "a2", "h1", "h2", "a3")
"""Those of the agent, and of the agent that it calls, in order."""
SCRIPT = """#!/bin/sh
if [ -f "before-$1" ]; then : > kill-me; sleep 3; exit 1; fi
echo "$1" >> writes
if [ -f "after-$1" ]; then : > kill-me; sleep 3; fi
echo "wrote $1"
"""
TOOLS = """tools:
  - name: append
    description: Writes a line.
    category: write
    cmd: {script}
    args: ["{{{{word}}}}"]
    parameters:
      word: {{type: string, pattern: "^[a-z0-9]+$"}}
"""
HELPER = """name: helper
type: ai_human
description: Helps.
exposeAsTool: true
toolDescription: Helps with writing.
sideA:
  prompt: assistant
"""


def writing(word: str) -> dict[str, Any]:
    return {"call": {"tool": "append", "arguments": {"word": word}}}


def reading(name: str) -> dict[str, Any]:
    return {"call": {"tool": "read_file", "arguments": {"path": f"{name}.txt"}}}


def rounds() -> list[dict[str, Any]]:
    """Each answers what the message before it ends with, so that the script goes on where the thread does."""
    go = [{"text": "I begin."}, writing("a1"), writing("a2"), reading("above")]
    ask = [{"call": {"tool": "helper", "arguments": {"message": "help me"}}}]
    last = [writing("a3"), reading("end")]
    help_ = [writing("h1"), writing("h2"), reading("below")]
    end = [{"text": "All is done."}]
    return [
        {"when": "please begin", "steps": go}, {"when": "help me", "steps": help_},
        {"when": "looked above", "steps": ask}, {"when": "looked below", "steps": [{"text": "helped"}]},
        {"when": "helped", "steps": last}, {"when": "nobody knows", "steps": last},
        {"when": "what it gave is not known", "steps": last}, {"when": "looked end", "steps": end},
    ]  # fmt: skip


def prepare(home: Path) -> None:
    """A home with the tool, the agent and the model's lines."""
    for name in ("data", "agents", "workspace"):
        (home / name).mkdir(parents=True)
    script = home / "workspace" / "append.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    (home / "tools.yaml").write_text(TOOLS.format(script=script))
    (home / "agents" / "helper.yaml").write_text(HELPER)
    for name in ("above", "below", "end"):
        (home / "workspace" / f"{name}.txt").write_text(f"looked {name}")
    (home / "script.json").write_text(json.dumps({"rounds": rounds()}))


class Looking:
    """A person who allows what is asked, and of what may have been done looks whether it was."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def ask(self, request: PermissionRequest) -> Decision:
        word = str(request.arguments.get("word") or "h2")
        kind = "asked" if request.unknown else "ordinary"
        line(self._home / kind, word)
        done = word in lines(self._home / "workspace" / "writes")
        if request.unknown and not done:
            line(self._home / "again", word if "word" in request.arguments else "helper")
        return Decision("done" if done and request.unknown else "allow_once", request.digest)


class Counting:
    """Kills the process at its event ``kill_at``; 0: never."""

    def __init__(self, kill_at: int) -> None:
        self._kill_at = kill_at
        self.passed = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunTreeChanged):  # those come when they come
            return
        self.passed += 1
        if self.passed == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


async def live(home: Path, kill_at: int) -> None:
    """Begin the run, or go on with it, and write down how the thread ends."""
    settings = SettingsService(home)
    await settings.load()
    rooms = await open_rooms(home, settings, Looking(home), windows=lambda _: None, script=home / "script.json")
    while any(rooms.skills.table.find(name) is None for name in ("append", "helper")):
        await asyncio.sleep(0.01)
    counting = Counting(kill_at)
    watch = asyncio.create_task(killed_by_the_tool(home / "workspace" / "kill-me"))
    rooms.bus.listen(counting)
    await _seen_again(rooms, home)
    thread = await _go(rooms, home)
    while not await rooms.service.wait(thread, 60):
        pass
    watch.cancel()
    found = await _told(rooms, thread)
    await rooms.service.close()
    await rooms.stop_children()
    await rooms.close()
    (home / "outcome").write_text(json.dumps({**found, "passed": counting.passed}))


async def _seen_again(rooms: Rooms, home: Path) -> None:
    """How the agents of the run that was cut off stand in the Run panel now."""
    for thread in await rooms.service.threads():
        kept = await rooms.run_desk.last(thread.thread_id)
        for facts in kept.nodes if kept is not None else ():
            line(home / "kept", f"{facts.agent} {facts.state.value}")


async def _go(rooms: Rooms, home: Path) -> str:
    known = await rooms.service.threads()
    thread = known[0] if known else await rooms.service.create_thread(model="scripted/scripted")
    path = await rooms.service.path(thread.thread_id)
    if not path:
        await rooms.service.send(thread.thread_id, "please begin")
    elif path[-1].role != "assistant" or path[-1].text != "All is done.":
        await rooms.service.continue_answer(thread.thread_id)
    return thread.thread_id


async def _told(rooms: Rooms, thread: str) -> dict[str, Any]:
    path = await rooms.service.path(thread)
    calls = [call.call_id for message in path for call in message.blocks if type(call).__name__ == "ToolCallBlock"]
    results = [b.call_id for m in path for b in m.blocks if type(b).__name__ == "ToolResultBlock"]
    return {
        "last": path[-1].text if path else "", "calls": len(calls), "results": len(results),
        "unfinished": len(await conclude_settled(rooms.store)),
        "texts": [b.text for m in path for b in m.blocks if type(b).__name__ == "ToolResultBlock"],
    }  # fmt: skip


async def killed_by_the_tool(marker: Path) -> None:
    while not marker.exists():
        await asyncio.sleep(0.005)
    marker.unlink()
    os.kill(os.getpid(), signal.SIGKILL)
