"""The Run panel in the whole app: what a person does in it happens to the run, and what happens shows in it."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop.domain.ids import AgentId
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.tree import NodeState
from desktop.presenter.run_panel.words import word_of
from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.kit import HELLO, Running, call

USED = {"usage": {"input": 900, "output": 100, "cost": 0.01}}
WRITES = [*call("write_file", path="o.txt", content="x"), USED]


def panel_of(app: Running) -> Any:
    return app.page.side.agents


def root(app: Running) -> Any:
    lines = app.models.run_tree.lines()
    return lines[0].facts if lines else None


async def opened(start: Any, *rounds: Any) -> Running:
    """The panel beside a thread whose run waits for the person."""
    app: Running = await start(*rounds)
    app.window.resize(1280, 800)
    app.startup._shell.run_command("agents")
    assert panel_of(app).isVisible()
    app.say("write it")
    await app.until(lambda: root(app) is not None, "the run's agent")
    return app


async def state(app: Running, wanted: NodeState) -> None:
    await app.until(lambda: root(app).state is wanted, wanted.value)


async def allow(app: Running) -> None:
    request = await app.asked()
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)


def press(app: Running, key: Qt.Key) -> None:
    panel = panel_of(app)
    panel.rows.setFocus()
    QTest.keyClick(panel.rows, key)


@pytest.mark.spec("R-SUP-6", "R-SUP-10")
async def test_pause_holds_the_next_model_call_until_resume_and_the_request_is_one_key_away(start: Any) -> None:
    app = await opened(start, WRITES, HELLO)
    await state(app, NodeState.WAITING)
    await app.asked()
    wanted: list[str] = []
    app.page.request_wanted.connect(wanted.append)
    press(app, Qt.Key.Key_Return)
    assert wanted == [app.models.approvals.requests[0].request_id]
    press(app, Qt.Key.Key_Space)
    await allow(app)
    await state(app, NodeState.PAUSED)
    assert (root(app).rounds, app.running) == (1, True)
    await app.until(lambda: panel_of(app).detail.pause.label == "Resume", "the button")
    assert (root(app).input_tokens, root(app).cost_usd, root(app).cost_known) == (900, 0.01, True)
    assert "Hello there." not in app.text
    panel_of(app).detail.pause.click()
    await app.answered("Hello there.")
    await state(app, NodeState.COMPLETED)
    assert root(app).rounds == 2
    await app.until(lambda: panel_of(app).head.count.text() == "the run is over", "the end in the panel")
    assert not panel_of(app).budget.fields["max_rounds"].isEnabled()


@pytest.mark.spec("R-CAN-10", "R-SUP-11")
async def test_cancelling_the_runs_agent_ends_the_run_and_says_so(start: Any) -> None:
    app = await opened(start, [{"text": "I begin. "}, {"hang": True}], HELLO)
    await state(app, NodeState.THINKING)
    press(app, Qt.Key.Key_Delete)
    await app.until(lambda: not app.running, "the end of the run")
    await state(app, NodeState.CANCELLED)
    assert root(app).detail == "stopped by the person"
    await app.until(lambda: panel_of(app).detail.state.state == "aborted", "the end in the panel")
    app.say("again")
    await app.answered("Hello there.")
    await state(app, NodeState.COMPLETED)


@pytest.mark.spec("R-SUP-7", "R-SUP-11", "R-LIM-5")
async def test_a_limit_that_is_typed_ends_the_run_at_its_next_call_and_names_the_panel(start: Any) -> None:
    app = await opened(start, WRITES, HELLO)
    await state(app, NodeState.WAITING)
    await app.asked()
    form = panel_of(app).budget
    form.fields["max_tokens"].setFocus()
    QTest.keyClicks(form.fields["max_tokens"], "500")
    QTest.keyClick(form.fields["max_tokens"], Qt.Key.Key_Return)
    assert form.fields["max_tokens"].wrong
    assert root(app).budget.max_tokens is None
    form.fields["max_tokens"].clear()
    form.fields["max_rounds"].clear()
    QTest.keyClicks(form.fields["max_rounds"], "1")
    QTest.keyClick(form.fields["max_rounds"], Qt.Key.Key_Return)
    assert (root(app).budget.max_tokens, root(app).budget.max_rounds) == (None, 1)
    assert "set by you, in the Run panel" in form.fields["max_rounds"].accessibleDescription()
    await allow(app)
    await app.until(lambda: not app.running, "the end of the run")
    await state(app, NodeState.LIMIT)
    assert "max_rounds 1 (set by you, in the Run panel)" in root(app).detail
    assert "max_rounds 1 (set by you, in the Run panel)" in app.notices
    said = "Assistant, round limit reached"
    await app.until(
        lambda: panel_of(app).model.index(0).data(Qt.ItemDataRole.AccessibleTextRole).startswith(said), said
    )


@pytest.mark.spec("R-CAN-10", "R-CAN-4")
async def test_a_branch_is_cancelled_without_the_rest_and_the_whole_only_after_a_question(start: Any) -> None:
    app = await opened(start, [{"text": "I begin. "}, {"hang": True}])
    await state(app, NodeState.THINKING)
    tree = app.startup._services.chats._runtime.live.tree(app.models.run_tree.run_id)
    tokens: list[CancellationToken] = []
    for path in ("0.1", "0.2"):
        child = tree.root.supervision.spawn_child(tree.root.agent_id)
        tokens.append(tree.add(tree.root, path, AgentId("helper", path), child).token)
    panel = panel_of(app)
    await app.until(lambda: panel.model.rowCount() == 3, "the helpers")
    panel.rows.select("0.1")
    press(app, Qt.Key.Key_Delete)
    assert [token.cancelled for token in tokens] == [True, False]
    assert app.running
    panel.rows.select("0")
    press(app, Qt.Key.Key_Delete)
    (asked,) = [one for one in app.window.findChildren(Dialog) if one.isVisible()]
    assert app.running
    asked.buttons["cancel"].click()
    await app.until(lambda: not app.running, "the end of the run")
    assert [token.cancelled for token in tokens] == [True, True]
    await app.until(lambda: panel.head.count.text() == "the run is over", "all of them have ended")


NAP = "sleep 613.7"
WORKER = "---\nname: worker\ndescription: Works.\nallowed-tools: bash\n---\nYou work.\n"


def naps() -> bool:
    """Whether the command is still at work, anywhere on this machine."""
    found = (path for path in Path("/proc").glob("[0-9]*/cmdline"))
    return any(NAP.encode().replace(b" ", b"\0") in _read(path) for path in found)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def words(app: Running) -> list[str]:
    """What the rows say, as they are painted now."""
    return [word_of(line) for line in panel_of(app).model.lines]


@pytest.mark.spec("R-CAN-10", "R-CAN-4", "R-AG-12")
async def test_cancel_shows_at_once_and_ends_the_last_child_first_down_to_its_command(
    start: Any, tmp_path: Path
) -> None:
    skills = tmp_path / "home" / "skills"
    skills.mkdir(parents=True)
    (skills / "worker.skill.md").write_text(WORKER)
    app = await opened(start, call("skill_invoke", ref="worker"), call("bash", command=NAP), HELLO)
    await app.until(naps, "the command, in its copy")
    await app.until(lambda: words(app) == ["waiting for worker", "calling bash"], "the agent in the call")
    press(app, Qt.Key.Key_Delete)
    (asked,) = [one for one in app.window.findChildren(Dialog) if one.isVisible()]
    asked.buttons["cancel"].click()
    assert words(app) == ["stopping", "stopping"], "before anything else happens"
    assert panel_of(app).detail.state.accessibleName() == "stopping"
    assert not panel_of(app).detail.cancel.isVisible()
    await app.until(lambda: not app.running, "the end of the run")
    await app.until(lambda: not naps(), "the end of the command")
    await app.until(lambda: words(app) == ["cancelled", "cancelled"], "both have ended")
    above, below = (line.facts for line in app.models.run_tree.lines())
    assert below.ended_at <= above.ended_at
    assert below.detail == above.detail == "stopped by the person"
    await app.end()
    again = await start(HELLO)
    assert panel_of(again).isVisible()
    await again.until(lambda: words(again) == ["cancelled", "cancelled"], "as they ended, after a restart")
    assert again.models.run_tree.lines()[1].facts.agent == "worker"
    again.say("again")
    await again.answered("Hello there.")
    await again.until(lambda: words(again) == ["done"], "the new run")


async def test_the_window_remembers_which_of_the_two_stood_beside_the_thread(start: Any) -> None:
    app = await start(HELLO)
    app.startup._shell.run_command("agents")
    kept = app.startup._window_state.values
    assert (kept["chat.agents"], kept["chat.trace"]) == (True, False)
    await app.end()
    again = await start(HELLO)
    assert again.page.side.shown == "agents"
    assert again.page.pane.header.agents.isChecked()
    again.startup._shell.run_command("agents")
    assert again.page.side.shown == ""
