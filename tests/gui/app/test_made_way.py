"""An agent that makes way for a more important one is shown to do so, in the whole app (D-8)."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from desktop.domain.ids import AgentId
from desktop.domain.runs.agent import AgentOutcome
from desktop.domain.runs.supervision import Priority
from desktop.domain.runs.tree import NodeState
from tests.gui.app.kit import HELLO, call
from tests.gui.app.test_run_panel import allow, opened, panel_of

pytestmark = pytest.mark.spec("D-8")

WORKER = "---\nname: worker\ndescription: Works.\nallowed-tools: write-file\n---\nYou work.\n"


@pytest.mark.spec("R-SUP-6")
async def test_an_agent_whose_place_is_taken_says_so_in_the_panel_and_goes_on_when_one_is_free(
    start: Any, tmp_path: Path
) -> None:
    skills = tmp_path / "home" / "skills"
    skills.mkdir(parents=True)
    (skills / "worker.skill.md").write_text(WORKER)
    rounds = (call("skill_invoke", ref="worker"), call("write_file", path="o.txt", content="x"), [{"text": "W."}])
    app = await opened(start, *rounds, HELLO)
    panel, model = panel_of(app), app.models.run_tree
    await app.asked()
    tree = app.startup._services.chats._runtime.live.tree(model.run_id)
    above = tree.root.supervision

    def comes(path: str) -> Any:
        agent = AgentId("urgent", path)
        return tree.add(tree.root, path, agent, above.spawn_child(tree.root.agent_id, priority=Priority.HIGH))

    while tree.agent_slots.alive < above.spawn_budget.max_agents:
        comes(f"0.{100 + tree.agent_slots.alive}")
    urgent = comes("0.99")

    def row() -> str:
        texts = [panel.model.index(n).data(Qt.ItemDataRole.AccessibleTextRole) for n in range(panel.model.rowCount())]
        return next((text for text in texts if text.startswith("worker")), "")

    await app.until(lambda: "waiting for you" in row(), "what is under way comes to its end")
    (worker,) = [line.facts.path for line in model.lines() if line.facts.agent == "worker"]
    await allow(app)
    await app.until(lambda: "paused for another agent" in row(), "the row")
    assert tree.find(worker).state is NodeState.PREEMPTED
    assert "W." not in app.text
    panel.rows.select(worker)

    def said() -> str:
        return " ".join(label.text() for label in panel.detail.findChildren(QLabel) if label.isVisible())

    await app.until(lambda: "A more important agent is at work in its place" in said(), "why")
    assert panel.detail.state.accessibleName() == "paused for another agent"
    assert panel.detail.state.state == "paused"
    tree.end(urgent, AgentOutcome("completed"))
    await app.answered("Hello there.")
    assert tree.find(worker).state is NodeState.COMPLETED
    await app.until(lambda: row().startswith("worker, done"), "its end")
