"""What middleware of a person's own did stands in the trace of its run, while it goes on and when it is over (D-7)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.runs.events import MiddlewareRan
from desktop.models.scripted import ScriptedModel, says
from desktop.presenter.trace.tree import TraceTree
from desktop.presenter.trace.words import detail_of
from desktop.services.chats.traces import TraceKeeper, assembled
from tests.unit.services.kit import World
from tests.unit.services.skills.test_levels import Levelled, registered


async def watches(ctx: Any, args: Any) -> None:
    await ctx.manager.next()


async def shouts(ctx: Any, args: Any) -> Any:
    return (await ctx.manager.next())["text"].upper()


async def closed(ctx: Any, args: Any) -> Any:
    return "We are closed."


async def slow(ctx: Any, args: Any) -> None:
    await asyncio.sleep(0.05)
    await ctx.manager.next()


async def refuses(ctx: Any, args: Any) -> None:
    ctx.manager.fail("not on Sundays, hunter2")


class Batches:
    """Keeps what the trace's keeper writes."""

    def __init__(self) -> None:
        self.entries: list[Any] = []

    def add(self, *, run_id: str, sequence: int, entries: Any) -> asyncio.Future[None]:
        self.entries += entries
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


def masked(data: Any) -> Any:
    return {key: value.replace("hunter2", "***") if isinstance(value, str) else value for key, value in data.items()}


async def traced(
    w: World, stopped_at: asyncio.Event | None = None
) -> tuple[list[tuple[str, str, str]], dict[str, list[str]]]:
    """(what was told, what is shown by kind of node) of one run with one round; shown from what is kept alone."""
    kept = Batches()
    w.bus.listen(TraceKeeper(kept, masked).take)
    thread = await w.thread()
    if stopped_at is None:
        await w.ask(thread, "good day")
    else:
        await w.service.send(thread, "good day")
        await stopped_at.wait()
        await w.service.stop(thread)
        await w.settled(thread)
    (run,) = await w.store.runs.of_thread(thread_id=thread, limit=5)
    messages = await w.store.traces.messages(run_id=run.run_id)
    tree = TraceTree(run.run_id)
    for entry in assembled(run, messages, kept.entries):
        tree.add(entry)
    root = tree.root
    assert root is not None
    shown: dict[str, list[str]] = {"agent": [], "round": []}
    for node in (root, *root.children):
        facts = detail_of(node, tree.axis(root.started), root.started).facts
        shown[node.kind] += [fact.text for fact in facts if fact.name == "Middleware"]
    told = [(one.name, one.level, one.did) for one in w.events if isinstance(one, MiddlewareRan)]
    return told, shown


CASES = [
    (watches, "agent", "watched", "agent", "watches went on, changed nothing"),
    (watches, "chat", "watched", "round", "watches went on, changed nothing"),
    (shouts, "chat", "changed", "round", "shouts changed the answer"),
    (closed, "agent", "answered", "agent", "closed answered itself"),
    (closed, "chat", "answered", "round", "closed answered itself"),
    (refuses, "agent", "refused", "agent", "refuses refused"),
    (refuses, "chat", "refused", "round", "refuses refused"),
]


@pytest.mark.parametrize(("code", "level", "did", "kind", "words"), CASES)
async def test_its_run_says_what_ones_own_middleware_did(
    tmp_path: Path, code: Any, level: str, did: str, kind: str, words: str
) -> None:
    bench = Levelled(tmp_path, ScriptedModel([says("hello")]))
    registered(bench, code.__name__, level, code)
    async with bench.worlds() as w:
        told, shown = await traced(w)
    assert told == [(code.__name__, level, did)]
    (line,) = shown[kind]
    assert line.startswith(f"{words}, ")
    assert "hunter2" not in line
    assert ("not on Sundays, ***" in line) == (did == "refused")
    assert sum(map(len, shown.values())) == 1


@pytest.mark.parametrize(("level", "kind"), [("agent", "agent"), ("chat", "round")])
async def test_one_that_was_stopped_before_it_went_on_is_not_said_to_have_gone_on(
    tmp_path: Path, level: str, kind: str
) -> None:
    begun = asyncio.Event()

    async def waits(ctx: Any, args: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    bench = Levelled(tmp_path, ScriptedModel([says("never")]))
    registered(bench, "waits", level, waits)
    async with bench.worlds() as w:
        told, shown = await traced(w, begun)
    assert told == [("waits", level, "stopped")]
    assert [line.startswith("waits was stopped, ") for line in shown[kind]] == [True]


async def test_each_is_told_of_with_its_own_time_and_only_the_one_that_refused_has_refused(tmp_path: Path) -> None:
    bench = Levelled(tmp_path, ScriptedModel([says("never")]))
    registered(bench, "watches", "agent", watches)
    registered(bench, "slow", "chat", slow)
    registered(bench, "waits-within", "chat", refuses)
    async with bench.worlds() as w:
        told, _ = await traced(w)
        times = {one.name: one.elapsed_ms for one in w.events if isinstance(one, MiddlewareRan)}
    assert told == [("waits-within", "chat", "refused"), ("slow", "chat", "watched"), ("watches", "agent", "watched")]
    assert times["slow"] >= 50 > 0 <= times["watches"]


async def test_the_librarys_say_nothing_beside_what_they_do(tmp_path: Path) -> None:
    bench = Levelled(tmp_path, ScriptedModel([says("hello")]))
    async with bench.worlds() as w:
        assert await traced(w) == ([], {"agent": [], "round": []})
