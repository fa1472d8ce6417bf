"""Agents that do things side by side go on after a restart: each branch where it stood, whoever overtakes whom."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from desktop.domain.ids import new_id
from desktop.domain.messages import ChatMessage
from desktop.domain.run_meta import RunMeta
from desktop.domain.tools import ToolResult
from tests.harness.patience import PATIENCE_S
from tests.unit.supervision.kit import Bench, MemoryLog, ask, request, said

Speed = Callable[[str], int]
SPEEDS: tuple[Speed, ...] = (lambda of: 30 if of[0] == "a" else 1, lambda of: 30 if of[0] == "b" else 1, lambda _of: 3)


async def branches(ctx, inbox):
    """Two branches with ids of their own, limits of time, requests that are alike, a child, and a third level."""

    async def branch(name: str) -> str:
        mine = await ctx.uuid()
        await ctx.tool("write", {"of": f"{name}1", "id": mine})
        text = (await ctx.llm(request("the same"))).text
        await asyncio.wait_for(ctx.tool("write", {"of": f"{name}2", "text": text, "id": mine}), PATIENCE_S)
        await asyncio.gather(*(ctx.tool("write", {"of": f"{name}{at}", "id": mine}) for at in (3, 4)))
        child = await ctx.spawn("child", [ask(name)])
        return str((await ctx.join(child)).value)

    await ctx.tool("write", {"of": "first"})
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(branch(name)) for name in "ab"]
    await asyncio.wait_for(ctx.tool("write", {"of": "last"}), PATIENCE_S)
    return [task.result() for task in tasks]


async def child(ctx, inbox):
    name = inbox[0].text
    await asyncio.gather(*(ctx.tool("write", {"of": f"{name}{at}"}) for at in (5, 6)))
    return name


WRITES = Counter(["first", "last", *(f"{name}{at}" for name in "ab" for at in range(1, 7))])


def bench(log: MemoryLog, speed: Speed) -> Bench:
    async def act(_name: str, arguments: Mapping[str, Any], _meta: RunMeta) -> ToolResult:
        for _ in range(speed(arguments["of"])):
            await asyncio.sleep(0)
        return ToolResult(arguments["of"])

    async def answer(_request: object) -> ChatMessage:
        await asyncio.sleep(0)
        return said(new_id())

    async def not_done(_record: object) -> str:
        return "repeat"

    return Bench(log=log, act=act, answer=answer, options={"ask_unknown": not_done})


def cut(log: MemoryLog, after: int) -> MemoryLog:
    """The log of a process that died after so many lines."""
    found = MemoryLog()
    found.records = log.records[:after]
    return found


def finished(log: MemoryLog) -> Counter[str]:
    """The writes that it knows to be done."""
    return Counter(json.loads(r.value)["text"] for r in log.records if r.kind == "tool" and r.phase == "completed")


async def goes_on(log: MemoryLog, speed: Speed) -> MemoryLog:
    """The run of this log goes on to its end; each write is done once, in one life or the other."""
    before, after = finished(log), len(log.records)
    again = bench(log, speed)
    outcome = await again.run(branches, child=child)
    assert (outcome.status, outcome.detail, outcome.value) == ("completed", "", ["a", "b"]), after
    made = Counter(words.removeprefix("write ") for words in again.done if words.startswith("write"))
    assert before + made == WRITES == finished(log), after
    return log


@pytest.mark.spec("R-JRN-1", "R-JRN-2")
@pytest.mark.parametrize("then", range(len(SPEEDS)))
@pytest.mark.parametrize("first", range(len(SPEEDS)))
async def test_branches_that_are_cut_at_any_line_go_on_whoever_is_faster_then(first: int, then: int) -> None:
    whole = await goes_on(MemoryLog(), SPEEDS[first])
    places = {(r.agent, r.step, r.phase == "begun") for r in whole.records}
    assert len(places) == len(whole.records)
    for after in range(len(whole.records)):
        log = await goes_on(cut(whole, after), SPEEDS[then])
        if after % 7 == first:
            for later in range(after, len(log.records), 5):
                await goes_on(cut(log, later), SPEEDS[first])


@pytest.mark.spec("R-JRN-2")
async def test_a_task_that_does_something_else_than_before_is_a_clear_error() -> None:
    def wanting(of: str) -> Any:
        async def body(ctx, inbox):
            await asyncio.wait_for(ctx.tool("write", {"of": of}), PATIENCE_S)

        return body

    whole = Bench()
    await whole.run(wanting("a"))
    again = Bench(log=cut(whole.log, 2))
    outcome = await again.run(wanting("b"))
    assert (outcome.status, outcome.code, again.done) == ("failed", "run.changed", [])
    assert "step 1 of its agent 0/0-1 was tool write with other arguments" in outcome.detail


@pytest.mark.spec("R-JRN-2")
async def test_branches_are_known_again_by_what_they_begin_with_where_others_come_first_now() -> None:
    slow = {"a": 9, "b": 0, "c": 4}

    async def body(ctx, inbox):
        async def branch(name: str) -> None:
            for _ in range(slow[name]):
                await asyncio.sleep(0)  # something that no journal knows of
            await ctx.tool("write", {"of": f"{name}1"})
            await ctx.tool("write", {"of": f"{name}2"})

        await asyncio.gather(*map(branch, "abc"))

    whole = bench(MemoryLog(), SPEEDS[2])
    await whole.run(body)
    slow |= {"a": 0, "b": 9}
    for after in range(len(whole.log.records)):
        again = bench(cut(whole.log, after), SPEEDS[2])
        before = finished(again.log)
        outcome = await again.run(body)
        assert (outcome.status, outcome.detail) == ("completed", ""), after
        made = Counter(words.removeprefix("write ") for words in again.done)
        assert before + made == Counter(f"{name}{at}" for name in "abc" for at in (1, 2)), after
