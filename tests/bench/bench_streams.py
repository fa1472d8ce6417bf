"""Eight agents writing 500 tokens a second each, at once, in the whole app: how late its loop comes.

Everything is there: conversation service, store, bus, traces, bridge, one window with real painting on the offscreen
platform. Only the model is a script in this process, which gives five tokens and then waits 8 ms; with what its
timers are late that is a little over 500 a second.
"""

import asyncio
import gc
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from desktop.app.door.host import Door
from desktop.app.home.crash import CrashReporter
from desktop.app.home.folder import open_home
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import Hooks
from desktop.app.lifecycle.garbage import settle
from desktop.domain.runs.events import AgentTraced, Event, TextArrived
from desktop.presenter.events.bridge import Bridge
from tests.bench.application import app, in_app_loop
from tests.bench.bench_transcript import Lateness, percentile, prose
from tests.bench.registry import Figure, bench
from tests.gui.app.kit import Running, call

AGENTS, TICK, A_TICK, TOKEN = 8, 0.008, 5, 4
SECONDS = 8.0
SKILL = "---\nname: writer\ndescription: Writes.\nmetadata:\n  model:\n    maxTurns: 2\n---\nWrite.\n"
EIGHT = f"await Promise.all(Array.from({{length: {AGENTS}}}, () => ctx.manager.invoke('writer', {{}}))); return 1"


def stream() -> list[dict[str, Any]]:
    """A minute of tokens: what a thread's answers hold, again and again."""
    text = prose(TOKEN * 5000)
    tokens = [{"text": text[at : at + TOKEN]} for at in range(0, len(text), TOKEN)]
    steps: list[dict[str, Any]] = []
    for at in range(0, len(tokens), A_TICK):
        steps += [*tokens[at : at + A_TICK], {"wait": TICK}]
    return [{"times": 6, "steps": steps}]


@dataclass
class Found:
    """Of one run of the app: lateness of the loop in milliseconds, the share of a core, tokens a second and agent."""

    late: Sequence[float]
    cpu: float
    tokens: float

    @property
    def p99(self) -> float:
        return percentile(self.late, 0.99)

    def note(self) -> str:
        return (
            f"p50 {percentile(self.late, 0.5):.1f}, max {max(self.late):.1f} ms; CPU of the process "
            f"{self.cpu * 100:.0f} %; {self.tokens:.0f} tokens/s came of each agent"
        )


async def _running(folder: Path) -> Running:
    held = open_home(folder / "home")
    window = wiring.make_window(held)
    window.resize(1280, 800)
    window.show()
    for _ in wiring.furnish(window):
        pass
    bridge, crashes = Bridge(), CrashReporter(held.logs)
    hooks = Hooks(crashes, lambda: None, window.show, Door(lambda: None, window=True))
    made = wiring.build(held, window, bridge, hooks)
    running = Running(held, bridge, window, made, crashes, [])
    bridge.spawn(running.start(joined=True), name="start")
    await running.opened()
    return running


async def _measured(running: Running) -> Found:
    """Wait until all eight write, then look at them."""
    came: dict[str, int] = {}

    def count(event: Event) -> None:
        if isinstance(event, TextArrived):
            came[event.run_id] = came.get(event.run_id, 0) + len(event.text)
        elif isinstance(event, AgentTraced) and event.type == "message":
            came[event.context_id] = came.get(event.context_id, 0) + len(str(event.data.get("text")))

    running.startup._services.bus.listen(count)
    await running.until(lambda: len(came) >= AGENTS, "eight agents that write")
    await asyncio.sleep(0.5)
    gc.collect()
    settle()  # as the app does at its start
    came.clear()
    lateness = Lateness()
    lateness.begin()
    await asyncio.sleep(SECONDS)
    cpu = lateness.end()
    return Found(lateness.values, cpu, sum(came.values()) / TOKEN / SECONDS / AGENTS)


def _in_app(rounds: list[Any], settings: str, act: Callable[[Running], Awaitable[None]], *, repeat: bool) -> Found:
    async def go(folder: Path) -> Found:
        running = await _running(folder)
        await act(running)
        found = await _measured(running)
        for thread in running.models.chat._board.running_threads:
            await running.startup._services.chats.stop(thread)
        await running.until(lambda: not running.models.chat._board.running_threads, "the end of all runs")
        await running.end()
        return found

    app()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home" / "skills").mkdir(parents=True)
        (folder / "home" / "skills" / "writer.skill.md").write_text(SKILL)
        (folder / "home" / "config.yaml").write_text(f"models:\n  default: scripted/scripted\n{settings}")
        (folder / "script.json").write_text(json.dumps({"rounds": rounds, "repeat": repeat}))
        os.environ["ASSENT_SCRIPT"] = str(folder / "script.json")
        os.environ["HOME"] = str(folder / "person")
        return in_app_loop(lambda: go(folder))


async def _eight_chats(running: Running) -> None:
    for number in range(AGENTS):
        running.page.new_chat()
        await running.until(lambda: not running.models.chat.thread_id and not running.items, "a new chat")
        running.say(f"write {number}")
        await running.until(lambda: running.models.chat.thread_id and running.running, "its run")


@cache
def _chats(trace: bool) -> Found:
    async def act(running: Running) -> None:
        running.page.show_trace(trace)
        await _eight_chats(running)

    return _in_app([stream()], f"limits:\n  concurrent_runs: {AGENTS}\n", act, repeat=True)


@bench("8 chats at 500 tokens/s each, one on screen: lateness of the loop, p99", target="<= 16", unit="ms", by="gap")
def chats() -> Figure:
    found = _chats(False)
    return Figure(found.p99, None, found.note())


@bench(
    "8 chats at 500 tokens/s each, and the trace open: lateness of the loop, p99", target="<= 16", unit="ms", by="gap"
)
def chats_traced() -> Figure:
    found = _chats(True)
    return Figure(found.p99, None, found.note())


@bench(
    "8 agents in one run at 500 tokens/s each, trace open: lateness of the loop, p99",
    target="<= 16",
    unit="ms",
    by="gap",
)
def nested() -> Figure:
    async def act(running: Running) -> None:
        running.page.show_trace(True)
        await running.startup._services.modes.choose(running.models.chat.meters.agent, "code")
        running.say("write")

    rounds = [{"when": "write", "steps": call("invoke", code=EIGHT)}, *[stream()] * AGENTS]
    found = _in_app(rounds, "", act, repeat=False)
    return Figure(found.p99, None, found.note())
