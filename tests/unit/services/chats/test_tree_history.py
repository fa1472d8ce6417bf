"""What is kept of a run's agents, so that the Run panel shows them after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import ConfigurationError, StoreError
from desktop.domain.runs.events import RunEnded, RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.runs.tree import NodeFacts, NodeState, facts_from_plain, facts_to_plain
from desktop.domain.threads import RunRecord, ThreadRecord
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.services.chats.tree_actions import RunTreeService
from desktop.services.chats.tree_history import CUT_OFF, MAX_ENDED, TreeKeeper
from desktop.store import Store
from desktop.supervision.live_runs import LiveRuns
from tests.harness.timeouts import until
from tests.unit.agents.script import Hang, Script
from tests.unit.services.delegation.test_one_tree import told
from tests.unit.services.delegation.test_tools import BOSS, HELPER, asks, call, house, one
from tests.unit.services.kit import world

LIMITS = ExecutionBudget(max_tokens=900, max_cost_usd=0.5)


def node(path: str, state: NodeState = NodeState.THINKING, **facts: Any) -> NodeFacts:
    given = {"thread_id": "t", "started_at": 1.0 + len(path), **facts}
    return NodeFacts(path, path.rpartition(".")[0], f"agent-{path}", state, Priority.NORMAL, 0, LIMITS, "me", **given)


class Written:
    """Where a keeper writes; ``fails``: it cannot."""

    def __init__(self, *, fails: bool = False) -> None:
        self.rows: dict[str, NodeFacts] = {}
        self.times = 0
        self.fails = fails

    def keep(self, *, run_id: str, nodes: Sequence[NodeFacts], gone: Sequence[str] = ()) -> asyncio.Future[None]:
        self.times += 1
        self.rows |= {facts.path: facts for facts in nodes}
        for path in gone:
            del self.rows[path]
        done = asyncio.get_running_loop().create_future()
        done.set_exception(StoreError("full")) if self.fails else done.set_result(None)
        return done


def changed(*nodes: NodeFacts, run_id: str = "r") -> RunTreeChanged:
    return RunTreeChanged(thread_id="t", run_id=run_id, nodes=nodes)


async def test_an_agent_is_written_when_it_begins_and_ends_and_now_and_then_and_not_whenever_it_changes() -> None:
    kept, now = Written(), [100.0]
    keeper = TreeKeeper(kept, str.upper, lambda: now[0])
    for rounds in range(20):
        keeper.take(changed(node("0", rounds=rounds)))
    assert (kept.times, kept.rows["0"].rounds) == (1, 0)
    now[0] += 3
    keeper.take(changed(node("0", rounds=21), node("0.1")))
    assert (kept.times, kept.rows["0"].rounds) == (2, 21)
    keeper.take(changed(node("0.1", NodeState.FAILED, detail="a key"), node("0", NodeState.COMPLETED, rounds=22)))
    assert (kept.times, kept.rows["0"].rounds, kept.rows["0.1"].detail) == (3, 22, "A KEY")
    assert keeper._runs == {}, "nothing is left of a run whose agents have ended"


async def test_what_an_agent_last_did_before_it_waits_is_written_although_nothing_more_is_told() -> None:
    kept = Written()
    keeper = TreeKeeper(kept)
    for rounds in range(4):
        keeper.take(changed(node("0", rounds=rounds)))
    await until(lambda: kept.rows["0"].rounds == 3)
    assert kept.times == 2
    keeper.take(RunEnded(thread_id="t", run_id="r", reason="cancelled"))


@pytest.mark.expects_log("the agents of run r are not kept to its end: full")
async def test_of_thousands_of_agents_the_last_stay_and_of_a_full_disk_it_is_told_once() -> None:
    kept, broken = Written(), Written(fails=True)
    keeper, failing = TreeKeeper(kept), TreeKeeper(broken)
    for number in range(1, 1_000):
        for one_of in (keeper, failing):
            one_of.take(changed(node("0"), node(f"0.{number}", NodeState.COMPLETED)))
        await asyncio.sleep(0)
    assert len(kept.rows) == MAX_ENDED + 1
    assert {"0", "0.999"} <= set(kept.rows)
    assert broken.times < 5


def test_an_agent_comes_back_as_it_was_and_what_is_none_is_refused() -> None:
    facts = node(
        "0.1",
        NodeState.LIMIT,
        side="b",
        rounds=3,
        cost_known=False,
        ended_at=9.0,
        waited_s=2.5,
        budget_changed=(("max_rounds", "you"),),
        detail="x" * 5_000,
    )
    plain = facts_to_plain(facts)
    back = facts_from_plain("0.1", "t", facts.started_at, {**plain, "of_a_later_release": 1})
    assert back == replace(facts, detail="x" * 600)
    for wrong in ({}, {**plain, "state": "dancing"}, {**plain, "priority": "high"}):
        with pytest.raises(ConfigurationError):
            facts_from_plain("0.1", "t", 1.0, wrong)


def live() -> LiveRuns:
    return LiveRuns(None, None, lambda _event: None)  # type: ignore[arg-type]  # nobody opens a run in it


async def begun(store: Store, run_id: str, thread_id: str = "t", at: float = 5.0) -> None:
    await store.runs.start(record=RunRecord(run_id, thread_id, at, "boss", "m"))


@pytest.mark.spec("R-JRN-2")
async def test_a_run_that_was_killed_shows_as_interrupted_and_who_had_ended_as_it_ended(tmp_path: Path) -> None:
    store = Store(tmp_path / "assent.db")
    await store.open()
    for thread in ("t", "log", "other"):
        await store.threads.create(record=ThreadRecord(thread, thread, 1.0, 1.0))
    await begun(store, "old", at=1.0)
    await store.run_agents.keep(run_id="old", nodes=[node("0", NodeState.COMPLETED)])
    await begun(store, "r")
    nodes = [
        node("0", rounds=4, pause_asked=True),
        node("0.1", NodeState.COMPLETED, thread_id="log"),
        node("0.2", NodeState.WAITING, thread_id="purged", doing="bash"),
        node("0.10"),
    ]
    await store.run_agents.keep(run_id="r", nodes=nodes)
    await store.run_agents.keep(run_id="never started", nodes=nodes)
    await store.close()

    again = Store(tmp_path / "assent.db")
    await again.open()
    service = RunTreeService(live(), again.run_agents)
    kept = await service.last("t")
    assert kept is not None
    assert [(facts.path, facts.state, facts.thread_id) for facts in kept.nodes] == [
        ("0", NodeState.INTERRUPTED, "t"),
        ("0.1", NodeState.COMPLETED, "log"),
        ("0.2", NodeState.INTERRUPTED, ""),
        ("0.10", NodeState.INTERRUPTED, "t"),
    ]
    assert (kept.nodes[0].detail, kept.nodes[0].rounds, kept.nodes[0].pause_asked) == (CUT_OFF, 4, False)
    assert kept.nodes[0].budget == LIMITS
    below = await service.last("log")
    assert below is not None
    assert (below.run_id, len(below.nodes)) == ("r", 4)
    assert await service.last("other") is None
    assert await again.run_agents.last(thread_id="t") is not None
    await again.threads.delete(thread_id="t", at=9.0)
    await again.threads.purge(thread_id="t")
    assert await service.last("log") is None, "they go with their run"
    await again.close()


@pytest.mark.spec("R-SUP-13", "R-AAT-6")
async def test_closing_the_app_interrupts_and_does_not_cancel_and_the_next_run_takes_the_place(tmp_path: Path) -> None:
    model = Script(asks(call("1", "helper_agent", message="Go.")), [Hang()])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        w = h.world
        w.bus.listen(TreeKeeper(w.store.run_agents).take)
        thread = await w.thread(agent=BOSS)
        sent = await w.service.send(thread, "Please.")
        await until(lambda: "0.1" in told(w) and told(w)["0.1"].state is NodeState.THINKING)
        await w.service.close()
    async with world(tmp_path, ScriptedModel([says("done")])) as again:
        service = RunTreeService(again.live, again.store.run_agents)
        kept = await service.last(thread)
        assert kept is not None
        assert (kept.run_id, kept.reason) == (sent.run_id, "interrupted")
        assert [(facts.agent, facts.state) for facts in kept.nodes] == [
            (BOSS, NodeState.INTERRUPTED),
            (HELPER, NodeState.INTERRUPTED),
        ]


@pytest.mark.spec("R-SUP-8")
async def test_only_the_last_run_of_a_thread_is_kept(tmp_path: Path) -> None:
    model = ScriptedModel([calls("helper_agent", {"message": "go"}), says("helped"), says("done"), says("again")])
    async with house(tmp_path, model, one(BOSS, "boss"), one(HELPER, "helper")) as h:
        w = h.world
        w.bus.listen(TreeKeeper(w.store.run_agents).take)
        thread, _ = await h.ask()
        service = RunTreeService(w.live, w.store.run_agents)
        first = await service.last(thread)
        assert first is not None
        assert [(facts.agent, facts.state, facts.rounds) for facts in first.nodes] == [
            (BOSS, NodeState.COMPLETED, 3),
            (HELPER, NodeState.COMPLETED, 1),
        ]
        (child,) = await h.children()
        assert first.nodes[1].thread_id == child.thread_id
        await w.ask(thread, "And again.")
        second = await service.last(thread)
        assert second is not None
        assert [facts.path for facts in second.nodes] == ["0"]
        assert await service.last(child.thread_id) is None
