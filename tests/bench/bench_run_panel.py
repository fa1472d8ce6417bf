"""The Run panel with 50 agents at work: how late the Qt thread is while all tell what they do, and how soon one that
presses Cancel sees it, and all of them are quiet. Offscreen, painted."""

import asyncio
import functools
import time
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from shots.run_panel import SampleService

from desktop.domain.errors import CancellationError
from desktop.domain.ids import AgentId
from desktop.domain.messages import Usage
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.events import RunTreeChanged
from desktop.domain.runs.scopes import Interrupt
from desktop.domain.runs.supervision import ExecutionBudget, SpawnBudget, Supervision
from desktop.domain.runs.tree import NodeState
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.run_panel.panel import RunTreeViewModel
from desktop.supervision.tree import RunTree, TreeNode
from desktop.ui.run_panel.panel import RunPanel
from desktop.ui.widgets.dialogs.base import Dialog
from tests.bench.application import in_app_loop
from tests.bench.bench_debate_page import Lateness
from tests.bench.bench_transcript import percentile
from tests.bench.registry import Figure, bench

AGENTS, SECONDS, CHANGES = 50, 5.0, 1_000
"""``CHANGES`` a second, over all agents: more than a hundred tool calls a second."""
STATES = (NodeState.THINKING, NodeState.CALLING, NodeState.WORKING, NodeState.JOINING)


class TreeService(SampleService):
    """The tree itself."""

    def __init__(self, tree: RunTree) -> None:
        super().__init__(())
        self.facts = lambda _run_id: tree.facts()  # type: ignore[method-assign]
        self.cancel = lambda _run_id, path: tree.cancel(path)  # type: ignore[method-assign]


def grown(bridge: Bridge) -> tuple[RunTree, list[TreeNode]]:
    """Seven branches of seven agents below one."""

    def publish(nodes: object) -> None:
        bridge.sink(RunTreeChanged(thread_id="t", run_id="r", nodes=tuple(nodes)))  # type: ignore[arg-type]

    root = AgentId("Workbench", "0")
    place = Supervision.root(
        root, session_id="t", spawn_budget=SpawnBudget(AGENTS), execution_budget=ExecutionBudget(max_rounds=10_000)
    )
    tree = RunTree(root, place, CancellationToken(), publish=publish)
    nodes = [tree.root]
    for at in range(AGENTS - 1):
        above = tree.root if at < 7 else nodes[1 + at % 7]
        path = f"{above.path}.{len(above.children) + 1}"
        place = above.supervision.spawn_child(above.agent_id)
        nodes.append(tree.add(above, path, AgentId(f"helper-{at}", path), place))
    return tree, nodes


def work(nodes: list[TreeNode]) -> Iterator[None]:
    """One change of one agent at a time."""
    for number in range(10**9):
        node = nodes[number % len(nodes)]
        node.does(STATES[number % len(STATES)], "read_file", "mistral/mistral-large")
        if number % 5 == 0:
            node.budget.consume(Usage(900, 40, cost_usd=0.001))
        yield


@bench("Run panel: 50 agents at work, 1,000 changes a second, lateness p99", target="<= 16", unit="ms", by="gap")
def fifty_agents() -> Figure:
    async def go() -> tuple[list[float], float, int]:
        bridge = Bridge()
        tree, nodes = grown(bridge)
        model = RunTreeViewModel(TreeService(tree), tuple, {})
        bridge.events.connect(model.take)
        model.open_thread("t")
        panel = RunPanel(model)
        panel.resize(384, 800)
        panel.show()
        await asyncio.sleep(0.5)
        assert panel.model.rowCount() == AGENTS
        pictures = 0

        def count() -> None:
            nonlocal pictures
            pictures += 1

        model.moved.connect(count)
        late, begun, cpu = Lateness(), time.perf_counter(), time.thread_time()
        for sent, _ in enumerate(work(nodes), 1):
            now = time.perf_counter() - begun
            if now >= SECONDS:
                break
            if sent >= now * CHANGES:
                await asyncio.sleep(0.004)
        used = (time.thread_time() - cpu) / SECONDS * 100
        panel.hide()
        panel.deleteLater()
        tree.close()
        await bridge.shutdown(2.0)
        return late.late, used, pictures

    found, used, pictures = in_app_loop(go)
    note = f"max {max(found):.1f} ms, {used:.0f} % of a core, {pictures / SECONDS:.1f} pictures a second"
    return Figure(percentile(found, 0.99), note=note)


async def at_work(tree: RunTree, node: TreeNode) -> None:
    """An agent that is in the middle of a command, with children, until it is ended."""
    try:
        async with Interrupt(node.token):
            command = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
            try:
                await command.wait()
            finally:
                command.kill()
                await command.wait()
    except CancellationError as error:
        await asyncio.gather(*(child.outcome for child in node.children.values()))
        tree.end(node, AgentOutcome("cancelled", detail=error.reason))


@functools.cache
def cancelled() -> tuple[float, float]:
    """Milliseconds from the press of Delete on the run's own agent, and the answer to the question whether it is meant,
    to rows that show it; and to the end of the last agent and its command."""

    async def go() -> tuple[float, float]:
        bridge = Bridge()
        tree, nodes = grown(bridge)
        model = RunTreeViewModel(TreeService(tree), tuple, {})
        bridge.events.connect(model.take)
        model.open_thread("t")
        panel = RunPanel(model)
        panel.resize(384, 800)
        panel.show()
        working = [asyncio.ensure_future(at_work(tree, node)) for node in nodes]
        await asyncio.sleep(2.0)
        panel.rows.select("0")
        QTest.keyClick(panel.rows, Qt.Key.Key_Delete)
        (asked,) = panel.findChildren(Dialog)
        begun = time.perf_counter()
        QTest.mouseClick(asked.buttons["cancel"], Qt.MouseButton.LeftButton)
        panel.rows.viewport().repaint()
        seen = time.perf_counter() - begun
        assert all(line.facts.stopping for line in panel.model.lines)
        await asyncio.gather(*working)
        quiet = time.perf_counter() - begun
        assert tree.agent_slots.alive == 1
        panel.hide()
        panel.deleteLater()
        tree.close()
        await bridge.shutdown(2.0)
        return seen * 1000, quiet * 1000

    seen, quiet = in_app_loop(go)
    return seen, quiet


@bench("Run panel: Cancel pressed to 50 rows that show it", target="<= 100", unit="ms")
def cancel_shows() -> Figure:
    return Figure(cancelled()[0])


@bench("Run panel: Cancel pressed to the last of 50 agents and their commands quiet", target="<= 1000", unit="ms")
def cancel_is_quiet() -> Figure:
    return Figure(cancelled()[1])
