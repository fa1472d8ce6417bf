"""Several agents at once for one call: gated, seen, bounded, ended and gone on with like calls of those agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.skill.fan_out import AT_ONCE
from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision
from desktop.domain.messages import ToolCallBlock, ToolResultBlock, Usage
from desktop.domain.models import Finished, ModelRequest, StreamItem, TextDelta
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from desktop.recovery.resume import conclude_settled
from desktop.services.delegation.retention import forget_children
from tests.harness.timeouts import WAIT_S, until
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.delegation.test_one_tree import told
from tests.unit.services.delegation.test_tools import BOSS, HELPER, OTHER, Chains, House, house, one

WRITES = {"boss": "", "helper": "allowed-tools: write-file", "other": "allowed-tools: write-file"}
AGENTS = (one(BOSS, "boss", exposed=False), one(HELPER, "helper"), one(OTHER, "other"))


class Model:
    """The boss fans out ``tasks``; the others answer with what they were asked, in capitals. A message in ``stuck`` is
    never answered; ``write`` first writes."""

    def __init__(self, *tasks: tuple[str, str], stuck: str = "", write: bool = False) -> None:
        self.tasks = [{"agent": agent, "message": message} for agent, message in tasks]
        self.stuck, self.write = stuck, write
        self.asked: list[str] = []
        self.maximum = self.now = 0
        self.together = asyncio.Event()
        self.wait_for = 0

    async def stream(self, request: ModelRequest, meta: RunMeta) -> AsyncGenerator[StreamItem, None]:
        first, last = request.messages[0].text, request.messages[-1]
        if first == "Please.":
            block = ToolCallBlock("f", "agent-fan-out", {"tasks": self.tasks})
            if last.role == "user":
                yield Finished("tool_calls", (block,), Usage(10, 5, cost_usd=0.01), "m")
            else:
                yield TextDelta("All done.")
                yield Finished("end", (), Usage(10, 5, cost_usd=0.01), "m")
            return
        self.asked.append(first)
        if self.write and last.role == "user":
            yield Finished("tool_calls", (ToolCallBlock("w", "write_file", {"path": first}),), Usage(10, 5), "m")
            return
        self.now += 1
        self.maximum = max(self.maximum, self.now)
        try:
            if first == self.stuck:
                await asyncio.sleep(3600)
            if self.now >= self.wait_for:
                self.together.set()
            await asyncio.wait_for(self.together.wait(), WAIT_S)
            yield TextDelta(first.upper())
            yield Finished("end", (), Usage(10, 5, cost_usd=0.01), "m")
        finally:
            self.now -= 1


def rows(results: list[ToolResultBlock]) -> list[dict[str, Any]]:
    return json.loads(results[-1].text)


def at_work(h: House) -> list[str]:
    return [path for path, node in told(h.world).items() if not node.state.over and path != "0"]


@pytest.mark.spec("R-SUP-16", "R-JRN-3", "R-AAT-4", "R-AAT-9")
async def test_agents_work_at_the_same_time_each_gated_and_below_the_caller_and_answer_in_order(tmp_path: Path) -> None:
    model, person = Model((HELPER, "one"), (OTHER, "two"), (HELPER, "three"), write=True), Chains()
    model.wait_for = 3
    tool = FakeTool("write-file", Category.WRITE)
    async with house(tmp_path, model, *AGENTS, tools=(tool,), skills=WRITES, person=person) as h:
        _, results = await h.ask()
        assert [(row["agent"], row["status"], row["result"]) for row in rows(results)] == [
            ("helper-agent", "completed", "ONE"),
            ("other-agent", "completed", "TWO"),
            ("helper-agent", "completed", "THREE"),
        ]
        assert model.maximum == 3
        called = [chain for chain in person.chains if chain[-1].endswith("-agent")]
        names = ("helper-agent", "other-agent", "helper-agent")
        assert sorted(called) == sorted((BOSS, "boss", "agent-fan-out", name) for name in names)
        assert sorted(chain[-1] for chain in person.chains if chain not in called) == ["write-file"] * 3
        nodes = told(h.world)
        assert {path: (node.state, node.parent) for path, node in nodes.items() if path != "0"} == {
            f"0.{number}": (NodeState.COMPLETED, "0") for number in (1, 2, 3)
        }
        assert nodes["0"].rounds == 8
        assert len(await h.children()) == 3


@pytest.mark.spec("R-AAT-4", "R-PRM-1")
async def test_one_that_is_refused_or_used_up_is_a_row_and_what_is_no_agent_starts_nobody(tmp_path: Path) -> None:
    class Picky(Chains):
        async def decide(self, call: Any, asking: Any) -> Decision:
            return Decision("deny" if call.tool == "other-agent" else "allow_once", "", by="user")

    model = Model((HELPER, "one"), (OTHER, "two"))
    (tmp_path / "a").mkdir()
    async with house(tmp_path / "a", model, *AGENTS, skills=WRITES, person=Picky()) as h:
        found = rows((await h.ask())[1])
        assert [(row["status"], row.get("code", "")) for row in found] == [
            ("completed", ""),
            ("failed", "denied.permission"),
        ]
    model = Model((HELPER, "one"), (OTHER, "two"))
    listed = {**WRITES, "boss": "allowed-tools: agent-fan-out helper-agent"}
    (tmp_path / "b").mkdir()
    async with house(tmp_path / "b", model, *AGENTS, skills=listed) as h:
        found = rows((await h.ask())[1])
        assert [row["status"] for row in found] == ["completed", "failed"]
        assert found[1]["code"].startswith("denied.")
        assert model.asked == ["one"]
    for name in ("nobody", "skill-list", "write-file", BOSS):
        model = Model((HELPER, "one"), (name, "two"))
        (tmp_path / name).mkdir()
        async with house(tmp_path / name, model, *AGENTS, tools=(FakeTool("write-file", Category.WRITE),)) as h:
            _, results = await h.ask()
            assert results[-1].is_error
            assert "nothing was started" in results[-1].text
            assert (model.asked, await h.children()) == ([], [])


@pytest.mark.spec("R-SUP-8", "R-SUP-11")
async def test_the_budget_of_the_caller_bounds_all_of_them(tmp_path: Path) -> None:
    model = Model(*((HELPER, f"task {number}") for number in range(5)))
    budget = ExecutionBudget(max_rounds=3)
    async with house(tmp_path, model, *AGENTS, budget=budget) as h:
        await h.ask()
        assert (len(model.asked), h.world.ends()[-1].reason) == (2, "global_limit")


@pytest.mark.spec("R-CAN-10", "R-CAN-4")
async def test_stopping_the_chat_ends_all_of_them_and_at_most_sixteen_begin(tmp_path: Path) -> None:
    model = Model(*((HELPER, f"{number}") for number in range(AT_ONCE)))
    model.wait_for = 99
    async with house(tmp_path, model, *AGENTS) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread, "Please.")
        await until(lambda: model.now == AT_ONCE)
        await h.world.service.stop(thread)
        assert await h.world.service.wait(thread, 30)
        await until(lambda: not at_work(h) and model.now == 0)
        assert {node.state for path, node in told(h.world).items() if path != "0"} == {NodeState.CANCELLED}
    model = Model(*((HELPER, f"{number}") for number in range(17)))
    (tmp_path / "b").mkdir()
    async with house(tmp_path / "b", model, *AGENTS) as h:
        _, results = await h.ask()
        assert (results[-1].is_error, model.asked) == (True, [])


@pytest.mark.spec("R-JRN-2", "R-JRN-3")
async def test_a_run_that_goes_on_does_not_repeat_the_agents_that_had_answered(tmp_path: Path) -> None:
    tasks = ((HELPER, "one"), (OTHER, "two"), (HELPER, "three"))
    first, tool = Model(*tasks, stuck="two", write=True), FakeTool("write-file", Category.WRITE)
    async with house(tmp_path, first, *AGENTS, tools=(tool,), skills=WRITES) as h:
        thread = await h.world.thread(agent=BOSS)
        await h.world.service.send(thread, "Please.")
        await until(lambda: len(at_work(h)) == 1 and first.now == 1)
    assert sorted(call["path"] for call in tool.calls) == ["one", "three", "two"]
    model, again = Model(*tasks, write=True), FakeTool("write-file", Category.WRITE)
    async with house(tmp_path, model, *AGENTS, tools=(again,), skills=WRITES) as h:
        await conclude_settled(h.world.store)
        await forget_children(h.world.runtime)
        await h.world.service.continue_answer(thread)
        path = await h.world.settled(thread)
        found = rows([block for m in path for block in m.blocks if isinstance(block, ToolResultBlock)])
        assert [(row["status"], row["result"]) for row in found] == [
            ("completed", "ONE"),
            ("completed", "TWO"),
            ("completed", "THREE"),
        ]
        assert (model.asked, again.calls) == (["two"], [])
