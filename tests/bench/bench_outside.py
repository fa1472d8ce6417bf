"""Other programs at the door of the whole app: how many events a second they hear, and how late the window comes while
one makes 10,000 calls. The app is in this process; the client is the official SDK's, with `assent mcp` below it."""

import asyncio
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from desktop.agents.skill.trace import TopicEvents, Whose
from desktop.app.door.host import Door, Rooms
from desktop.app.home.crash import CrashReporter
from desktop.app.home.folder import open_home
from desktop.app.home.instance import InstanceServer
from desktop.app.lifecycle import wiring
from desktop.app.lifecycle.composition import App, Hooks
from desktop.app.lifecycle.garbage import settle
from desktop.presenter.events.bridge import Bridge
from tests.bench.application import app, in_app_loop
from tests.bench.bench_streams import SKILL
from tests.bench.bench_transcript import Lateness, percentile
from tests.bench.registry import Figure, bench
from tests.gui.app.kit import Running

ROOT = Path(__file__).resolve().parents[2]
EVENTS, CALLS = 10_000, 10_000
ROUND = [{"hang": True}]


async def _running(folder: Path) -> tuple[Running, InstanceServer, Door]:
    """The app with its window and its door, as ``Session.life`` makes them."""
    held = open_home(folder)
    window = wiring.make_window(held)
    window.show()
    for _ in wiring.furnish(window):
        pass
    bridge, crashes = Bridge(), CrashReporter(held.logs)
    apps: list[App] = []

    def rooms() -> Rooms | None:
        return apps[0].rooms()

    door = Door(rooms, window=True)
    made = wiring.build(held, window, bridge, Hooks(crashes, lambda: None, window.show, door))
    apps.append(made)
    server = InstanceServer(held.socket, None, made.post, receive=door.receive)
    running = Running(held, bridge, window, made, crashes, [])
    bridge.spawn(running.start(joined=True), name="start")
    await server.start()
    await running.opened()
    return running, server, door


async def _client(folder: Path, what: str, count: int) -> asyncio.subprocess.Process:
    words = (sys.executable, "-m", "tests.bench.outside_client", str(folder), what, str(count))
    return await asyncio.create_subprocess_exec(*words, cwd=ROOT, stdout=asyncio.subprocess.PIPE)


def _in_app(rounds: list[Any], work: Callable[[Running, Path], Awaitable[Any]]) -> Any:
    async def go(folder: Path) -> Any:
        running, server, door = await _running(folder)
        try:
            return await work(running, folder)
        finally:
            await server.stop()
            await door.close("over")
            await running.end()

    app()
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        folder = Path(name, "h")
        (folder / "skills").mkdir(parents=True)
        (folder / "skills" / "writer.skill.md").write_text(SKILL)
        config = "models: {default: scripted/scripted}\nother_apps: {offered: [writer]}\n"
        (folder / "config.yaml").write_text(config)
        (folder / "script.json").write_text(json.dumps({"rounds": rounds, "repeat": True}))
        os.environ["ASSENT_SCRIPT"] = str(folder / "script.json")
        return in_app_loop(lambda: go(folder))


async def _heard(running: Running, folder: Path, what: str) -> dict[str, Any]:
    """An agent of one call does 10,000 things as fast as the app can tell them."""
    services = running.startup._services
    client = await _client(folder, what, 1)
    await running.until(lambda: services.outside._running, "the call")
    await asyncio.sleep(0.3)
    (run_id,) = services.outside._running
    whose = Whose(thread_id="", run_id=run_id, call_id="c", context_id="x", ancestor="", agent="writer")
    told = TopicEvents(whose, services.skills.topics)
    for number in range(EVENTS):
        data = {"tool": "read_file", "args": {"path": f"docs/{number}.md"}, "callId": f"c{number}", "result": "x" * 200}
        told.publish("tool-result", data, 1000 + number, time.time())
        if number % 20 == 0:
            await asyncio.sleep(0)
    services.outside._running[run_id][1].cancel("it has done all that it should")
    assert client.stdout is not None
    found: dict[str, Any] = json.loads(await client.stdout.read())
    await client.wait()
    assert found["events"] == EVENTS, found
    assert found["in_order"], found
    return found


@bench("events a second that a client of assent mcp hears", target=">= 2000", unit="events/s")
def events_as_logs() -> Figure:
    found = _in_app([ROUND], lambda running, folder: _heard(running, folder, "events"))
    return Figure(found["rate"], note=f"{found['events']:,} log notifications, all in order")


@bench("events a second as logs and progress", target=">= 2000", unit="events/s")
def events_as_both() -> Figure:
    found = _in_app([ROUND], lambda running, folder: _heard(running, folder, "progress"))
    return Figure(found["rate"], note=f"two notifications each, {found['progress']:,} of progress, all in order")


async def _called(running: Running, folder: Path) -> tuple[list[float], dict[str, Any]]:
    gc.collect()
    settle()
    client = await _client(folder, "calls", CALLS)
    await running.until(lambda: running.startup._models.door.guests, "the client")
    lateness = Lateness()
    lateness.begin()
    assert client.stdout is not None
    found: dict[str, Any] = json.loads(await client.stdout.read())
    await client.wait()
    lateness.end()
    return lateness.values, found


@cache
def _calls() -> tuple[list[float], dict[str, Any]]:
    found: tuple[list[float], dict[str, Any]] = _in_app([[{"text": "Written."}]], _called)
    return found


@bench("the window's longest wait while a client makes 10,000 calls", target="<= 16", unit="ms", by="gap")
def window_while_called() -> Figure:
    late, found = _calls()
    made = f"{found['done']} done, {found['refused']:,} refused by their schema, {found['unknown']:,} of no tool"
    return Figure(max(late), note=f"p99 {percentile(late, 0.99):.1f} ms; {made}, in {found['seconds']:.0f} s")
