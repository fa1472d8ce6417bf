"""The process that is killed at a chosen line of its journal: a run with writes, agents below agents, and a sleep.

Everything that it does to the world is a line appended to a file, so that it can be counted. A journal line is written
on its own here, so that every one of them is a place to die at, before it and after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.domain.agent import Inbox, RunContext
from desktop.domain.cancellation import CancellationToken
from desktop.domain.effects import EffectLog, EffectRecord
from desktop.domain.ids import AgentId
from desktop.domain.messages import ChatMessage, TextBlock, Usage
from desktop.domain.models import ModelRef, ModelRequest
from desktop.domain.run_meta import RunMeta
from desktop.domain.supervision import Priority, SpawnBudget, Supervision
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.domain.tools import ToolResult
from desktop.recovery.effect_journal import EffectJournal
from desktop.store import Store
from desktop.supervision.hosting import AgentKinds, RunHost
from desktop.supervision.run_context import EffectPorts
from desktop.supervision.tree import RunTree

RUN = "the-run"
ROOT = AgentId("root", "0")
WRITES = ("r1", "r2", "r3", "a1", "a2", "b1", "b2", "g1")


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
    await ctx.llm(asking(f"plan-{inbox[0].text}"))
    await ctx.tool("append", {"text": "r1", "name": name})
    children = [await ctx.spawn("a", [message("one")]), await ctx.spawn("b", [message("two")], priority=Priority.HIGH)]
    await ctx.tool("append", {"text": "r2", "name": name})
    await ctx.sleep_until(started.timestamp() + 0.02)
    await ctx.emit("news", {"name": name})
    joined = [(await ctx.join(child)).value for child in children]
    await ctx.tool("look", {"text": "root"})
    await ctx.tool("append", {"text": "r3", "joined": joined, "luck": await ctx.random()})
    return [*joined, name]


async def a(ctx: RunContext, inbox: Inbox) -> Any:
    await ctx.llm(asking(f"a-{inbox[0].text}"))
    await ctx.tool("append", {"text": "a1"})
    below = await ctx.spawn("g", [])
    await ctx.tool("append", {"text": "a2"})
    return (await ctx.join(below)).value


async def b(ctx: RunContext, inbox: Inbox) -> Any:
    """Does two things side by side."""

    async def reads_first() -> None:
        await ctx.tool("look", {"text": "b"})
        await ctx.tool("append", {"text": "b2", "name": await ctx.uuid()})

    async def asks_then() -> str:
        await ctx.tool("append", {"text": "b1", "name": await ctx.uuid()})
        return (await ctx.llm(asking(f"b-{inbox[0].text}"))).text

    return (await asyncio.gather(reads_first(), asks_then()))[1]


async def g(ctx: RunContext, inbox: Inbox) -> Any:
    await ctx.tool("look", {"text": "g"})
    return (await ctx.tool("append", {"text": "g1"})).is_error


def message(text: str) -> ChatMessage:
    return ChatMessage("user", (TextBlock(text),))


def asking(text: str) -> ModelRequest:
    return ModelRequest(ModelRef("demo", "demo"), (message(text),))


class Life:
    """One process's part of the run in ``folder``."""

    def __init__(self, folder: Path, kill_at: int) -> None:
        self.folder = folder
        self.kill_at = kill_at

    async def llm(self, request: ModelRequest, meta: RunMeta) -> ChatMessage:
        text = request.messages[-1].text
        line(self.folder / "reads", text)
        return ChatMessage("assistant", (TextBlock(f"re {text}"),), "end", Usage(10, 5, cost_usd=0.01), "demo/demo")

    async def tool(self, name: str, arguments: Mapping[str, Any], meta: RunMeta, waits: object) -> ToolResult:
        await asyncio.sleep(0)
        line(self.folder / ("writes" if name == "append" else "reads"), arguments["text"])
        return ToolResult(f"{name} {arguments['text']}")

    def publish(self, topic: str, event: Any, key: str) -> None:
        """A listener that keeps what it hears knows an event again by its key."""
        if key not in lines(self.folder / "events"):
            line(self.folder / "events", key)

    async def ask(self, record: EffectRecord) -> Any:
        """A person who looks whether the line is there, and says so."""
        line(self.folder / "asked", record.summary)
        return "done" if record.summary in lines(self.folder / "writes") else "repeat"

    async def live(self) -> None:
        store = Store(self.folder / "assent.db")
        await store.open()
        log = Killing(store.effects, self.kill_at)
        outcome = await self._host(log).run_it()
        await store.close()
        (self.folder / "outcome").write_text(json.dumps([outcome.status, outcome.value, outcome.rounds, log.passed]))

    def _host(self, log: Killing) -> _Started:
        ports = EffectPorts(
            self.llm, self.tool, lambda name, _: name == "look", self.publish, lambda _, arguments: arguments["text"]
        )
        node = Supervision.root(ROOT, session_id="t", spawn_budget=SpawnBudget(max_agents=8))
        token = CancellationToken()
        kinds = AgentKinds({name: _maker(body) for name, body in {"a": a, "b": b, "g": g}.items()})
        return _Started(
            RunHost(
                tree=RunTree(ROOT, node, token),
                meta=RunMeta(RUN, token, "t", node),
                journal=EffectJournal(RUN, log),
                ports=ports,
                kinds=kinds,
                ask_unknown=self.ask,
            )
        )


class _Started:
    def __init__(self, host: RunHost) -> None:
        self._host = host

    async def run_it(self) -> Any:
        """A run whose terminal entry is there is over: nobody goes on with it."""
        journal = self._host.journal
        await journal.load()
        if journal.ended is not None:
            return journal.returned("0")
        return await self._host.run(Made(ROOT, root), [message("go")])


class Made:
    """An agent made of a function."""

    def __init__(self, agent_id: AgentId, body: Callable[[RunContext, Inbox], Any]) -> None:
        self.id = agent_id
        self._body = body

    async def run(self, ctx: RunContext, inbox: Inbox) -> Any:
        return await self._body(ctx, inbox)


def _maker(body: Callable[[RunContext, Inbox], Any]) -> Callable[[AgentId], Made]:
    return lambda agent_id: Made(agent_id, body)


async def prepare(path: Path) -> None:
    """A database in which the run has been started."""
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "T", 1.0, 1.0))
    await store.runs.start(record=RunRecord(RUN, "t", 1.0, "root", "demo/demo"))
    await store.close()
