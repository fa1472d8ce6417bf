"""The first word of an answer: how much later the app has it than whoever asks the same server by hand.

The whole app runs, with its window on the offscreen platform, a real model host and a real server that answers at once.
"""

import asyncio
import json
import os
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from desktop.domain.runs.events import Event, TextArrived
from tests.bench.application import app, in_app_loop
from tests.bench.bench_streams import _running
from tests.bench.bench_transcript import percentile
from tests.bench.registry import Figure, bench
from tests.gui.app.kit import Running
from tests.servers.fixtures import ProviderSpace, running_provider

TURNS, WARM = 24, 4
WORD = "Hello"


@dataclass
class FirstWords:
    """Milliseconds, of each turn: until the runtime had it, until the window held it, until it came by hand."""

    heard: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    by_hand: list[float] = field(default_factory=list)

    def later(self, times: Sequence[float]) -> float:
        return percentile(times, 0.5) - percentile(self.by_hand, 0.5)


def _by_hand(space: ProviderSpace, model: str) -> float:
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": "say it"}]}
    request = urllib.request.Request(
        space.openai_url + "/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    began = time.perf_counter()
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        while WORD.encode() not in answer.readline():
            pass
        took = time.perf_counter() - began
        answer.read()
    return took * 1000


async def _turn(running: Running, found: FirstWords, number: int) -> None:
    heard: list[float] = []

    def hear(event: Event) -> None:
        if isinstance(event, TextArrived) and not heard:
            heard.append(time.perf_counter())

    stop = running.startup._services.bus.listen(hear)
    said = f"{WORD} {number}."
    began = time.perf_counter()
    running.say(f"turn {number}")
    while said not in running.text:
        await asyncio.sleep(0.001)
    shown = time.perf_counter()
    await running.until(lambda: not running.running, "the end of the turn")
    stop()
    if number >= WARM:
        found.heard.append((heard[0] - began) * 1000)
        found.shown.append((shown - began) * 1000)


async def _measured(folder: Path, space: ProviderSpace) -> FirstWords:
    found = FirstWords()
    running = await _running(folder)
    for number in range(TURNS):
        space.steps({"text": f"{WORD} {number}."}, {"finish": "stop"})
        await _turn(running, found, number)
        found.by_hand.append(await asyncio.to_thread(_by_hand, space, "m"))
    await running.end()
    return found


@cache
def _first_words() -> FirstWords:
    app()
    with tempfile.TemporaryDirectory() as name, running_provider() as port:
        folder, space = Path(name), ProviderSpace(port)
        (folder / "home").mkdir()
        lab = f"{{id: lab, provider: openai_compatible, title: Lab, base_url: '{space.openai_url}'}}"
        config = f"models:\n  default: lab/m\n  connections: [{lab}]\n"
        (folder / "home" / "config.yaml").write_text(config)
        os.environ["HOME"] = str(folder / "person")
        result: FirstWords = in_app_loop(lambda: _measured(folder, space))
        return result


@bench("first word of an answer, in the runtime, less the same asked by hand", target="<= 15", unit="ms", by="gap")
def in_the_runtime() -> Figure:
    found = _first_words()
    worst = percentile(found.heard, 0.9)
    return Figure(found.later(found.heard), None, f"medians of {len(found.heard)}; p90 {worst:.1f} ms in all")


@bench("first word of an answer, in the window, less the same asked by hand", target="<= 15", unit="ms", by="gap")
def in_the_window() -> Figure:
    found = _first_words()
    hand = percentile(found.by_hand, 0.5)
    return Figure(found.later(found.shown), None, f"medians of {len(found.shown)}; by hand {hand:.1f} ms")
