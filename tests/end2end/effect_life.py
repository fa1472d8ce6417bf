"""The process that is killed at a chosen line of its journal: a run of agents in code, with writes, agents below
agents, and a sleep.

Everything that it does to the world is a line appended to a file, so that it can be counted. A journal line is written
on its own here, so that every one of them is a place to die at, before it and after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.messages import ChatMessage
from desktop.domain.models import ModelRequest
from desktop.domain.runs.effects import EffectLog, EffectRecord
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import SpawnBudget
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.domain.tools import ToolResult
from desktop.store import Store
from desktop.workers.python_skill.run_context import RunContext
from tests.unit.pipeline.kit import Person
from tests.unit.supervision.kit import Bench, said

WRITES = ("r1", "r2", "r3", "a1", "a2", "b1", "b2", "g1")
Inbox = Sequence[Mapping[str, Any]]


def line(path: Path, text: str) -> None:
    """One write, which is there or not."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"{text}\n".encode())
    os.close(handle)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


class Killing:
    """An ``EffectLog`` that ends the process at the place ``kill_at``; 0: never. ``passed`` counts the places."""

    def __init__(self, log: EffectLog, kill_at: int) -> None:
        self._log = log
        self._kill_at = kill_at
        self.passed = 0

    def _pass(self, _done: object = None) -> None:
        self.passed += 1
        if self.passed == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def append(self, records: Sequence[EffectRecord]) -> asyncio.Future[None]:
        for record in records:
            self._pass()
            written = self._log.append([record])
            written.add_done_callback(self._pass)
        return written

    async def load(self, run_id: str) -> list[EffectRecord]:
        return await self._log.load(run_id)


async def root(ctx: RunContext, inbox: Inbox) -> Any:
    started, name = await ctx.now(), await ctx.uuid()
    await ctx.llm(f"plan-{inbox[0]['text']}")
    await ctx.tool("write", {"of": "r1", "name": name})
    children = [await ctx.spawn("a-agent", "one"), await ctx.spawn("b-agent", "two", priority="high")]
    await ctx.tool("write", {"of": "r2", "name": name})
    await ctx.sleep_until(started.timestamp() + 0.02)
    await ctx.emit("news", {"name": name})
    joined = [(await ctx.join(child)).value for child in children]
    await ctx.tool("read", {"of": "root"})
    await ctx.tool("write", {"of": "r3", "joined": joined, "luck": await ctx.random()})
    return [*joined, name]


async def a(ctx: RunContext, inbox: Inbox) -> Any:
    await ctx.llm(f"a-{inbox[0]['text']}")
    await ctx.tool("write", {"of": "a1"})
    below = await ctx.spawn("g-agent", "x")
    await ctx.tool("write", {"of": "a2"})
    return (await ctx.join(below)).value


async def b(ctx: RunContext, inbox: Inbox) -> Any:
    """Does two things side by side."""

    async def reads_first() -> None:
        await ctx.tool("read", {"of": "b"})
        await ctx.tool("write", {"of": "b2", "name": await ctx.uuid()})

    async def asks_then() -> str:
        await ctx.tool("write", {"of": "b1", "name": await ctx.uuid()})
        return str((await ctx.llm(f"b-{inbox[0]['text']}"))["text"])

    return (await asyncio.gather(reads_first(), asks_then()))[1]


async def g(ctx: RunContext, inbox: Inbox) -> Any:
    await ctx.tool("read", {"of": "g"})
    return [(await ctx.tool("write", {"of": "g1"})).ok]


class Life:
    """One process's part of the run in ``folder``."""

    def __init__(self, folder: Path, kill_at: int) -> None:
        self.folder = folder
        self.kill_at = kill_at

    async def answer(self, request: ModelRequest) -> ChatMessage:
        text = request.messages[-1].text
        line(self.folder / "reads", text)
        return said(f"re {text}")

    async def act(self, name: str, arguments: Mapping[str, Any], meta: RunMeta) -> ToolResult:
        await asyncio.sleep(0)
        line(self.folder / ("writes" if name == "write" else "reads"), arguments["of"])
        return ToolResult(f"{name} {arguments['of']}")

    def judge(self, request: PermissionRequest) -> Decision:
        """A person who allows what is asked, and of what may have been done looks whether the line is there."""
        word = str(request.arguments["of"])
        if not request.unknown:
            return Decision("allow_once", "digest")
        line(self.folder / "asked", word)
        done = word in lines(self.folder / "writes")
        return Decision("done" if done else "allow_once", "digest")

    async def live(self) -> None:
        store = Store(self.folder / "assent.db")
        await store.open()
        before = lines(self.folder / "runs")
        run_id = f"run-{len(before)}"
        await store.runs.start(record=RunRecord(run_id, "t", 1.0, "root", "demo/demo"))
        line(self.folder / "runs", run_id)
        log = Killing(store.effects, self.kill_at)
        bench = Bench(
            log=log,
            run_id=run_id,
            before=before,
            spawn=SpawnBudget(max_agents=8),
            answer=self.answer,
            act=self.act,
            person=Person(*[self.judge] * 99),
        )
        outcome = await bench.run(root, a=a, b=b, g=g)
        await store.close()
        (self.folder / "outcome").write_text(json.dumps([outcome.status, outcome.value, log.passed]))


async def prepare(path: Path) -> None:
    """A database with the thread of the run."""
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "T", 1.0, 1.0))
    await store.close()
