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

from desktop.app.wiring.runtime import build_services
from desktop.app.wiring.services import Services
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.runs.events import Event, RunTreeChanged
from desktop.recovery.resume import conclude_settled
from desktop.settings import SettingsService
from tests.end2end.effect_life import line, lines

WRITES = ("a1", "a2", "h1", "h2", "n1", "s1", "n2", "c1", "c2", "a3")
"""In order: those of the agent; of the agent that it calls; of a skill in words, and the agent that this calls; of
code; and of the agent again."""
LOOKS = ("above", "below", "deeper", "first", "far", "second", "coded", "end")
"""What they read in between."""
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
PEEK = """#!/bin/sh
if [ -f "before-$1" ] || [ -f "after-$1" ]; then : > kill-me; sleep 3; fi
echo "looked $1"
"""
PEEKING = """  - name: peek
    description: Looks at something.
    category: read
    cmd: {script}
    args: ["{{{{word}}}}"]
    parameters:
      word: {{type: string, pattern: "^[a-z0-9]+$"}}
"""
AGENT = """name: {name}
type: ai_human
description: Helps.
exposeAsTool: true
toolDescription: Helps with writing.
sideA:
  prompt: assistant
"""
NOTING = """---
name: noting
description: Notes something down.
allowed-tools: "*"
metadata:
  params:
    type: object
    properties: {what: {type: string}}
---
Note it down.
"""
NOTE = {"what": "note this down"}
CODE = """await ctx.manager.invoke('append', {word: 'c1'});
const seen = await ctx.manager.invoke('peek', {word: 'coded'});
await ctx.manager.invoke('append', {word: 'c2'});
return seen.includes('looked coded') ? 'all is coded' : seen;"""


def writing(word: str) -> dict[str, Any]:
    return {"call": {"tool": "append", "arguments": {"word": word}}}


def reading(name: str) -> dict[str, Any]:
    return {"call": {"tool": "read_file", "arguments": {"path": f"{name}.txt"}}}


def peeking(word: str) -> dict[str, Any]:
    return {"call": {"tool": "peek", "arguments": {"word": word}}}


def rounds() -> list[dict[str, Any]]:
    """Each answers what the message before it ends with, so that the script goes on where the thread does."""
    said = {
        "please begin": [{"text": "I begin."}, writing("a1"), writing("a2"), peeking("above")],
        "looked above": [{"call": {"tool": "helper", "arguments": {"message": "help me"}}}],
        "help me": [writing("h1"), peeking("below")],
        "looked below": [writing("h2"), peeking("deeper")],
        "looked deeper": [{"text": "helped"}],
        "helped": [{"call": {"tool": "skill_invoke", "arguments": {"ref": "noting", "args": NOTE}}}],
        "note this down": [writing("n1"), peeking("first")],
        "looked first": [{"call": {"tool": "scout", "arguments": {"message": "have a look"}}}],
        "have a look": [writing("s1"), peeking("far")],
        "looked far": [{"text": "scouted"}],
        "scouted": [writing("n2"), peeking("second")],
        "looked second": [{"text": "all is noted"}],
        "all is noted": [{"call": {"tool": "invoke", "arguments": {"code": CODE}}}],
        "all is coded": [writing("a3"), peeking("end")],
        "looked end": [{"text": "All is done."}],
    }
    return [{"when": when, "steps": steps} for when, steps in said.items()]


def prepare(home: Path) -> None:
    """A home with the tools, the agents, the skill and the model's lines."""
    for name in ("data", "agents", "workspace", "skills"):
        (home / name).mkdir(parents=True)
    for name, text in (("append", SCRIPT), ("peek", PEEK)):
        script = home / "workspace" / f"{name}.sh"
        script.write_text(text)
        script.chmod(0o755)
    work = home / "workspace"
    tools = TOOLS.format(script=work / "append.sh") + PEEKING.format(script=work / "peek.sh")
    (home / "tools.yaml").write_text(tools)
    for name in ("helper", "scout"):
        (home / "agents" / f"{name}.yaml").write_text(AGENT.format(name=name))
    (home / "skills" / "noting.skill.md").write_text(NOTING)
    (home / "script.json").write_text(json.dumps({"rounds": rounds()}))


class Looking:
    """A person who allows what is asked, and of what may have been done looks whether it was. That there is anything to
    look for is a matter of the question: what is no single write is put down as one that nobody could answer."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def ask(self, request: PermissionRequest) -> Decision:
        word = str(request.arguments.get("word") or "")
        if not request.unknown:
            line(self._home / "ordinary", word)
            return Decision("allow_once", request.digest)
        if not word:
            line(self._home / "boxes", f"{request.tool}: {request.unknown}")
            return Decision("deny", request.digest)
        line(self._home / "asked", word)
        done = word in lines(self._home / "workspace" / "writes")
        return Decision("done" if done else "allow_once", request.digest)


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
    services = await build_services(home, settings, Looking(home), windows=lambda _: None, script=home / "script.json")
    while any(services.skills.table.find(name) is None for name in ("append", "peek", "helper", "scout")):
        await asyncio.sleep(0.01)
    await services.modes.choose("assistant", "both")
    counting = Counting(kill_at)
    watch = asyncio.create_task(killed_by_the_tool(home / "workspace" / "kill-me"))
    services.bus.listen(counting)
    await _seen_again(services, home)
    thread = await _go(services, home)
    while not await services.chats.wait(thread, 60):
        pass
    watch.cancel()
    found = await _told(services, thread)
    await services.chats.close()
    await services.stop_children()
    await services.close()
    (home / "outcome").write_text(json.dumps({**found, "passed": counting.passed}))


async def _seen_again(services: Services, home: Path) -> None:
    """How the agents of the run that was cut off stand in the Run panel now."""
    for thread in await services.chats.threads():
        kept = await services.run_trees.last(thread.thread_id)
        for facts in kept.nodes if kept is not None else ():
            line(home / "kept", f"{facts.agent} {facts.state.value}")


async def _go(services: Services, home: Path) -> str:
    known = await services.chats.threads()
    thread = known[0] if known else await services.chats.create_thread(model="scripted/scripted")
    path = await services.chats.path(thread.thread_id)
    if not path:
        await services.chats.send(thread.thread_id, "please begin")
    elif path[-1].role != "assistant" or path[-1].text != "All is done.":
        await services.chats.continue_answer(thread.thread_id)
    return thread.thread_id


async def _told(services: Services, thread: str) -> dict[str, Any]:
    path = await services.chats.path(thread)
    calls = [call.call_id for message in path for call in message.blocks if type(call).__name__ == "ToolCallBlock"]
    results = [b.call_id for m in path for b in m.blocks if type(b).__name__ == "ToolResultBlock"]
    return {
        "last": path[-1].text if path else "",
        "calls": len(calls),
        "results": len(results),
        "unfinished": len(await conclude_settled(services.store)),
        "texts": [b.text for m in path for b in m.blocks if type(b).__name__ == "ToolResultBlock"],
    }


async def killed_by_the_tool(marker: Path) -> None:
    while not marker.exists():
        await asyncio.sleep(0.005)
    marker.unlink()
    os.kill(os.getpid(), signal.SIGKILL)
