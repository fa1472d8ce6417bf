"""Pictures of the Run panel for ``dev.py shots``: agents in every state, a debate, long names. Never in the app."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.errors import NotFound
from desktop.domain.runs.events import RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget, Priority
from desktop.domain.runs.tree import NodeFacts, NodeState, StoredRun
from desktop.presenter.run_panel.panel import RunTreeViewModel

THREAD, RUN = "t", "7f3a91c2"
LIMITS = ExecutionBudget(max_tokens=200_000, max_cost_usd=0.5, max_rounds=30)


class SampleService:
    """In the runtime's place: it does to its facts what a person asks."""

    def __init__(self, nodes: Sequence[NodeFacts]) -> None:
        self.nodes = {node.path: node for node in nodes}
        self.over = False
        self.done: list[tuple[Any, ...]] = []

    async def last(self, thread_id: str) -> StoredRun | None:
        """Nothing is kept."""
        return None

    def facts(self, run_id: str) -> Sequence[NodeFacts]:
        """All of them."""
        if self.over:
            raise NotFound("This run is over.")
        return tuple(self.nodes.values())

    def watch(self, thread_id: str, before: str = "") -> None:
        """Nobody waits for anything here."""

    def change(self, path: str, **facts: Any) -> NodeFacts:
        """Another state of one."""
        self.nodes[path] = replace(self.nodes[path], **facts)
        return self.nodes[path]

    def pause(self, run_id: str, path: str) -> None:
        """Asked."""
        self._find(path)
        self.done.append(("pause", path))
        self.change(path, pause_asked=True)

    def resume(self, run_id: str, path: str) -> None:
        """Asked."""
        self._find(path)
        self.done.append(("resume", path))
        self.change(path, pause_asked=False)

    def cancel(self, run_id: str, path: str) -> None:
        """At once."""
        self._find(path)
        self.done.append(("cancel", path))
        for node in list(self.nodes.values()):
            if node.path == path or node.path.startswith(f"{path}."):
                self.change(node.path, state=NodeState.CANCELLED, ended_at=time.time())

    def change_budget(self, run_id: str, path: str, budget: ExecutionBudget) -> None:
        """Taken over."""
        self._find(path)
        self.done.append(("budget", path, budget))
        self.change(path, budget=budget)

    def _find(self, path: str) -> None:
        if self.over or path not in self.nodes:
            raise NotFound("This agent has ended.")


def node(path: str, agent: str, state: NodeState, **facts: Any) -> NodeFacts:
    """One agent, with what most have in common."""
    rounds = int(facts.setdefault("rounds", 3))
    facts = {
        "model": "mistral/mistral-large",
        "thread_id": THREAD,
        "input_tokens": 3_900 * rounds,
        "output_tokens": 210 * rounds,
        "cost_usd": 0.0103 * rounds,
        "started_at": time.time() - 200,
        "elapsed_s": 41.0,
        "tool_calls": rounds * 2,
        **facts,
    }
    budget, where = facts.pop("budget", ExecutionBudget()), facts.pop("where", f"the agent {agent}")
    return NodeFacts(
        path,
        path.rpartition(".")[0],
        agent,
        state,
        facts.pop("priority", Priority.NORMAL),
        path.count("."),
        budget,
        where,
        **facts,
    )


def _tree() -> list[NodeFacts]:
    ended = {"ended_at": time.time() - 60}
    return [
        node(
            "0",
            "Workbench",
            NodeState.JOINING,
            doing="maintenance-log/0.1",
            rounds=19,
            budget=LIMITS,
            where="the run's budget",
            elapsed_s=201,
            waited_s=134,
        ),
        node("0.1", "maintenance-log", NodeState.CALLING, doing="read_file", rounds=4, thread_id="log"),
        node("0.1.1", "translate", NodeState.COMPLETED, rounds=1, elapsed_s=4.2, **ended),
        node(
            "0.1.2",
            "check-spelling",
            NodeState.LIMIT,
            rounds=2,
            elapsed_s=9.4,
            detail="The budget is used up: max_rounds 2 (set by the agent check-spelling/0.1.2).",
            budget=ExecutionBudget(max_rounds=2),
            **ended,
        ),
        node(
            "0.2",
            "plot",
            NodeState.WAITING,
            doing="write_file",
            rounds=2,
            elapsed_s=12,
            waited_s=22,
            budget=ExecutionBudget(max_tokens=20_000, max_rounds=5),
            budget_changed=(("max_rounds", "you"),),
        ),
        node(
            "0.3",
            "harbour-office",
            NodeState.THINKING,
            rounds=6,
            cost_known=False,
            cost_usd=0.0,
            model="lab/qwen3-next-80b",
            pause_asked=True,
        ),
        node("0.4", "tide-tables", NodeState.PAUSED, pause_asked=True, rounds=3),
        node("0.5", "archive", NodeState.QUEUED, rounds=0, elapsed_s=2.1, priority=Priority.BACKGROUND),
        node("0.6", "weather", NodeState.FAILED, rounds=1, detail="The provider did not answer.", **ended),
        node("0.7", "gauge-8", NodeState.CANCELLED, rounds=2, detail="stopped by the person", **ended),
    ]


def _debate() -> list[NodeFacts]:
    return [
        node(
            "0",
            "Red team",
            NodeState.JOINING,
            doing="critic/0.2",
            rounds=9,
            model="",
            budget=LIMITS,
            where="the debate's budget",
            elapsed_s=312,
        ),
        node("0.1", "author", NodeState.PAUSED, side="a", rounds=5, pause_asked=True),
        node(
            "0.2",
            "critic",
            NodeState.THINKING,
            side="b",
            rounds=4,
            model="anthropic/claude-sonnet-4-5",
            cost_known=False,
        ),
    ]


def _judged() -> list[NodeFacts]:
    """As it runs: both sides, an agent that one has called, and a judge."""
    return [
        node(
            "0",
            "debate",
            NodeState.JOINING,
            doing="Caution",
            rounds=9,
            model="",
            budget=LIMITS,
            where="the run's budget",
            elapsed_s=312,
        ),
        node("0.1", "Open data", NodeState.JOINING, doing="Caution", side="a", rounds=4, elapsed_s=301),
        node(
            "0.2",
            "Caution",
            NodeState.JOINING,
            doing="archive",
            side="b",
            rounds=5,
            model="ollama/qwen3:30b",
            elapsed_s=290,
        ),
        node("0.2.1", "archive", NodeState.THINKING, rounds=2, thread_id="log", elapsed_s=8),
        replace(node("7f3a91c2:0.1", "judge", NodeState.THINKING, rounds=1, elapsed_s=3), parent="0"),
    ]


def _long() -> list[NodeFacts]:
    name = "an-agent-whose-name-is-really-much-longer-than-a-panel-could-ever-be-wide"
    lies = "invoice\u202efdp.exe"
    found = [
        node(
            "0",
            name,
            NodeState.CALLING,
            doing="a_tool_with_a_very_long_name_of_its_own_too",
            rounds=1_204,
            model="openai/gpt-with-a-name-that-is-really-very-long-2026-06-preview",
            elapsed_s=48_212,
            waited_s=7_301,
            budget=LIMITS,
            where=f"the policy of the job {name}",
        )
    ]
    path = "0"
    for _ in range(9):
        path += ".1"
        found.append(node(path, lies, NodeState.JOINING, doing=f"{name}/0", cost_known=False))
    return found


def _stopping() -> list[NodeFacts]:
    """Cancelled this moment: what winds up, and what had ended."""
    return [replace(one, stopping=not one.state.over) for one in _tree()]


def _interrupted() -> list[NodeFacts]:
    """After a restart."""
    detail, state = "Assent ended before it did.", NodeState.INTERRUPTED
    return [one if one.state.over else replace(one, state=state, detail=detail, doing="") for one in _tree()]


def _many() -> list[NodeFacts]:
    root = node("0", "Workbench", NodeState.JOINING, doing="helper-1/0.1", rounds=140)
    states = (NodeState.THINKING, NodeState.CALLING, NodeState.WORKING)
    return [root, *(node(f"0.{n}", f"helper-{n}", states[n % 3], doing="bash", rounds=n % 7) for n in range(1, 50))]


def request(tool: str = "write_file") -> PermissionRequest:
    """What the agent ``plot`` asks."""
    return PermissionRequest(
        "r1", RUN, THREAD, "c1", tool, "", Category.WRITE, "", ("Workbench", "plot"), {}, (), (), {}, "d", time.time()
    )


def sample(nodes: Sequence[NodeFacts], *, over: bool = False) -> tuple[RunTreeViewModel, SampleService]:
    """A view-model that shows these."""
    service = SampleService(nodes)
    made = RunTreeViewModel(service, lambda: (request(),), {})
    made.open_thread(THREAD)
    if nodes:
        made.take((RunTreeChanged(thread_id=THREAD, run_id=RUN, nodes=tuple(nodes)),))
    if over:
        service.over = True
        assert made.tree is not None
        made.tree.end()
    return made, service


SAMPLES: Mapping[str, Callable[[], RunTreeViewModel]] = {
    "live": lambda: sample(_tree())[0],
    "over": lambda: sample(_tree(), over=True)[0],
    "debate": lambda: sample(_debate())[0],
    "judged": lambda: sample(_judged())[0],
    "long": lambda: sample(_long())[0],
    "many": lambda: sample(_many())[0],
    "stopping": lambda: sample(_stopping())[0],
    "interrupted": lambda: sample(_interrupted(), over=True)[0],
    "empty": lambda: sample(())[0],
}
