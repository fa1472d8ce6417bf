"""The Run panel: rows that stay, keys, what is asked before a branch is cancelled, budgets that are typed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shots import chat as chat_shots
from shots import run_panel as shots
from shots.run_panel import RUN, THREAD, node

from desktop.domain.runs.events import RunEnded, RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.domain.runs.tree import NodeState
from desktop.ui.run_panel.panel import RunPanel
from desktop.ui.theme import Theme
from desktop.ui.widgets.dialogs.base import Dialog
from tests.harness.timeouts import WAIT_MS

Make = Callable[..., tuple[RunPanel, shots.SampleService]]


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> Iterator[Make]:
    """A panel of 384 x 800 with these agents, and what stands for the runtime."""
    made: list[RunPanel] = []

    def make(*nodes: Any) -> tuple[RunPanel, shots.SampleService]:
        model, service = shots.sample(nodes or shots._tree())
        shown = RunPanel(model)
        model.setParent(shown)
        qtbot.addWidget(shown)
        made.append(shown)
        shown.resize(384, 800)
        with qtbot.waitActive(shown, timeout=WAIT_MS):
            shown.show()
            shown.activateWindow()
        return shown, service

    yield make
    for one in made:
        one.hide()


def model_of(panel: RunPanel) -> Any:
    return panel._agents


def tell(panel: RunPanel, *nodes: Any) -> None:
    model_of(panel).take((RunTreeChanged(thread_id=THREAD, run_id=RUN, nodes=nodes),))
    model_of(panel)._tell()


def names(panel: RunPanel) -> list[str]:
    return [panel.model.index(row).data() for row in range(panel.model.rowCount())]


def press(panel: RunPanel, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(panel.rows, key)


def words(widget: QWidget) -> str:
    """All labels that show; new ones show a turn later."""
    QApplication.processEvents()
    return " | ".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def dialog_of(panel: RunPanel) -> Dialog:
    (found,) = [one for one in panel.findChildren(Dialog) if one.isVisible()]
    return found


def test_everything_about_the_chosen_agent(panel: Make) -> None:
    shown, _ = panel()
    assert shown.head.count.text() == "6 agents at work"
    assert shown.rows.current.path == "0"
    shown.rows.select("0.2")
    said = words(shown.detail)
    for text in (
        "plot",
        "write-file",
        "mistral/mistral-large",
        "8.2k (7,800 read, 420 written)",
        "$0.021",
        "12 s",
        "22 s for you, not counted as time",
    ):
        assert text in said
    assert shown.detail.accessibleName() == "plot, waiting for you"
    assert [button.label for button in (shown.detail.request, shown.detail.pause) if button.isVisible()] == [
        "Show request",
        "Pause",
    ]
    said = words(shown.budget)
    assert "set by the agent plot" in said
    assert "set by you" in said
    shown.rows.select("0.1.2")
    assert "max_rounds 2 (set by the agent check-spelling/0.1.2)" in words(shown.detail)
    assert not shown.detail.pause.isVisible()
    assert not shown.budget.fields["max_rounds"].isEnabled()


def test_keys_fold_and_unfold_and_a_folded_branch_shows_who_is_above(panel: Make) -> None:
    shown, _ = panel()
    shown.rows.setFocus()
    press(shown, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert shown.rows.current.facts.agent == "translate"
    press(shown, Qt.Key.Key_Left, Qt.Key.Key_Left)
    assert (shown.rows.current.path, shown.rows.current.is_open) == ("0.1", False)
    assert names(shown)[:3] == ["Workbench", "maintenance-log", "plot"]
    assert "folded, 2 agents below" in shown.rows.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    press(shown, Qt.Key.Key_Right, Qt.Key.Key_End)
    model_of(shown).fold("0", True)
    assert (names(shown), shown.rows.current.path) == (["Workbench"], "0")


def test_a_click_on_the_chevron_folds_and_one_on_waiting_for_you_leads_to_the_request(panel: Make) -> None:
    shown, _ = panel()
    wanted: list[Any] = []
    shown.request_wanted.connect(wanted.append)
    place = shown.rows.visualRect(shown.model.index(shown.model.row_of("0.2")))
    QTest.mouseClick(shown.rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(120, place.y() + 14))
    assert (shown.rows.current.path, wanted) == ("0.2", [])
    QTest.mouseClick(shown.rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.right() - 40, place.y() + 14))
    assert [one.request_id for one in wanted] == ["r1"]
    press(shown, Qt.Key.Key_Return)
    assert len(wanted) == 2
    QTest.mouseClick(shown.rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(8 + 14, 8 + 14))
    assert names(shown) == ["Workbench"]


def test_in_the_thread_of_a_called_agent_that_agent_is_the_chosen_one(panel: Make) -> None:
    shown, _ = panel()
    model_of(shown).open_thread("log")
    assert shown.rows.current.path == "0.1"
    assert shown.detail.accessibleName().startswith("maintenance-log")
    model_of(shown).open_thread(THREAD)
    assert shown.rows.current.path == "0"


def test_keys_that_waited_for_agents_go_to_them_when_they_come(panel: Make, qtbot: QtBot) -> None:
    shown, _ = panel()
    model = model_of(shown)
    model.open_thread("new")
    shown.first_focus().setFocus()
    assert shown.head.close_button.hasFocus()
    fresh = (node("0", "Workbench", NodeState.THINKING),)
    model.take((RunTreeChanged(thread_id="new", run_id="another", nodes=fresh),))
    assert shown.rows.hasFocus()
    shown.head.close_button.setFocus()
    tell(shown, node("0", "Workbench", NodeState.COMPLETED))
    assert shown.head.close_button.hasFocus()


def test_where_no_limit_holds_nothing_stands_below_it_and_no_gap_stays_after_undo(panel: Make, qtbot: QtBot) -> None:
    shown, _ = panel(node("0", "Workbench", NodeState.THINKING))
    form = shown.budget
    before = {name: row.height() for name, row in form._rows.items()}
    assert words(form).count("no limit") == 0
    assert form.fields["max_cost_usd"].placeholderText() == "no limit"
    for name in form.fields:
        QTest.keyClicks(form.fields[name], "x" * 30)
    QTest.keyClick(form.fields["max_tokens"], Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: all(form._rows[name].height() > before[name] for name in before), timeout=WAIT_MS)
    form.take_back()
    qtbot.waitUntil(lambda: {name: row.height() for name, row in form._rows.items()} == before, timeout=WAIT_MS)


def test_return_opens_the_thread_of_an_agent_that_has_its_own(panel: Make) -> None:
    shown, _ = panel()
    threads: list[str] = []
    shown.thread_wanted.connect(threads.append)
    shown.rows.select("0.1")
    assert shown.detail.open_thread.isVisible()
    press(shown, Qt.Key.Key_Return)
    shown.rows.select("0.3")
    press(shown, Qt.Key.Key_Return)
    assert threads == ["log"]
    assert not shown.detail.open_thread.isVisible()


@pytest.mark.spec("R-SUP-6")
def test_space_pauses_and_resumes_and_nothing_happens_to_who_has_ended(panel: Make) -> None:
    shown, service = panel()
    shown.rows.setFocus()
    shown.rows.select("0.1")
    press(shown, Qt.Key.Key_Space)
    assert "calling read-file, then pauses" in words(shown.detail)
    assert shown.detail.pause.label == "Resume"
    press(shown, Qt.Key.Key_Space)
    shown.rows.select("0.6")
    press(shown, Qt.Key.Key_Space, Qt.Key.Key_Delete)
    assert service.done == [("pause", "0.1"), ("resume", "0.1")]
    assert shown.rows.current.path == "0.6"


@pytest.mark.spec("R-CAN-10")
def test_a_branch_with_agents_at_work_in_it_is_cancelled_only_after_a_question(panel: Make) -> None:
    shown, service = panel()
    shown.rows.setFocus()
    press(shown, Qt.Key.Key_Delete)
    asked = dialog_of(shown)
    assert asked.accessibleName() == "Cancel Workbench?"
    assert "The 5 agents that it has called end with it." in words(asked)
    assert asked.buttons["keep"].hasFocus()
    QTest.keyClick(asked, Qt.Key.Key_Escape)
    assert (service.done, shown.rows.hasFocus()) == ([], True)
    press(shown, Qt.Key.Key_Delete)
    dialog_of(shown).buttons["cancel"].click()
    assert service.done == [("cancel", "0")]
    tell(shown, *service.nodes.values())
    assert shown.head.count.text() == "the run is over"


def test_one_without_agents_at_work_below_is_cancelled_at_once(panel: Make) -> None:
    shown, service = panel()
    shown.rows.select("0.1")  # what is below it has ended
    press(shown, Qt.Key.Key_Delete)
    shown.rows.select("0.3")
    shown.detail.cancel.click()
    assert service.done == [("cancel", "0.1"), ("cancel", "0.3")]
    assert not [one for one in shown.findChildren(Dialog) if one.isVisible()]


def test_what_comes_and_ends_moves_neither_the_rows_in_sight_nor_the_choice(panel: Make) -> None:
    nodes = shots._many()
    shown, _ = panel(*nodes)
    shown.rows.select("0.30")
    shown.rows.scrollTo(shown.rows.currentIndex())
    place = shown.rows.visualRect(shown.rows.currentIndex()).y()
    assert shown.rows.verticalScrollBar().value() > 0
    tell(
        shown,
        node("0.3.1", "late", NodeState.THINKING),
        node("0.5.1", "later", NodeState.THINKING),
        replace(nodes[7], state=NodeState.COMPLETED),
    )
    assert shown.rows.current.path == "0.30"
    assert shown.rows.visualRect(shown.rows.currentIndex()).y() == place
    assert names(shown).index("late") == names(shown).index("helper-3") + 1


def test_ten_pictures_a_second_at_most_however_much_comes(panel: Make, qtbot: QtBot) -> None:
    shown, _ = panel(*shots._many())
    moved: list[int] = []
    model_of(shown).moved.connect(lambda: moved.append(1))
    for number in range(500):
        nodes = (node("0.1", "a", NodeState.THINKING, rounds=number),)
        model_of(shown).take((RunTreeChanged(thread_id=THREAD, run_id=RUN, nodes=nodes),))
    assert not moved
    qtbot.waitUntil(lambda: bool(moved), timeout=WAIT_MS)
    assert model_of(shown)._later.interval() >= 100


@pytest.mark.spec("R-SUP-7", "R-LIM-5")
def test_limits_are_typed_refused_with_a_reason_and_then_count(panel: Make, qtbot: QtBot) -> None:
    shown, service = panel()
    shown.resize(384, 420)
    shown.rows.select("0.2")
    form = shown.budget
    assert [form.fields[name].text() for name in form.fields] == ["20,000", "", "5", ""]
    form.fields["max_rounds"].setFocus()
    form.fields["max_rounds"].selectAll()
    QTest.keyClicks(form.fields["max_rounds"], "1")
    QTest.keyClick(form.fields["max_rounds"], Qt.Key.Key_Return)
    assert "2 rounds are used already. Give it more, or cancel the agent." in words(form)
    assert form.fields["max_rounds"].wrong
    assert form.fields["max_rounds"].hasFocus()
    qtbot.waitUntil(lambda: not form.fields["max_rounds"].visibleRegion().isEmpty(), timeout=WAIT_MS)
    tell(shown, replace(service.nodes["0.2"], rounds=3))
    assert form.fields["max_rounds"].text() == "1"
    form.fields["max_rounds"].setText("9")
    form.fields["deadline_s"].setText("5 min")
    form._follow_buttons()
    form.apply.click()
    assert service.done == [("budget", "0.2", ExecutionBudget(max_tokens=20_000, max_rounds=9, deadline_s=300.0))]
    assert not form.dirty
    assert not form.fields["max_rounds"].wrong
    assert not form.apply.isVisible()


def test_escape_takes_back_what_was_typed_and_another_agent_has_its_own_fields(panel: Make) -> None:
    shown, service = panel()
    shown.rows.select("0.2")
    field = shown.budget.fields["max_rounds"]
    for leave in (lambda: QTest.keyClick(field, Qt.Key.Key_Escape), lambda: shown.rows.select("0.1")):
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, "77")
        assert (shown.budget.dirty, shown.budget.apply.isVisible()) == (True, True)
        leave()
        assert (field.text(), shown.budget.dirty) == ("5" if shown.rows.current.path == "0.2" else "", False)
    assert service.done == []


def test_an_ended_run_stays_to_be_read_and_an_empty_thread_says_what_will_be_here(panel: Make) -> None:
    shown, service = panel()
    service.over = True
    model_of(shown).take((RunEnded(thread_id=THREAD, run_id=RUN, reason="cancelled"),))
    model_of(shown)._tell()
    assert shown.head.count.text() == "the run is over"
    assert "its run is over" in words(shown.detail)
    assert not shown.budget.fields["max_tokens"].isEnabled()
    model_of(shown).open_thread("another")
    assert "No agents yet" in words(shown)
    assert shown.head.count.text() == ""


def test_the_menu_of_an_agent_has_what_can_be_done_with_it(panel: Make) -> None:
    shown, service = panel()
    shown.rows.select("0.2")
    acts = {text.partition("\t")[0]: (act, enabled) for text, act, enabled in shown._acts(shown.rows.current)}
    assert {name: enabled for name, (_, enabled) in acts.items()} == {
        "Show request": True,
        "Pause": True,
        "Cancel": True,
        "Open its chat": False,
    }
    acts["Pause"][0]("0.2")
    assert service.done == [("pause", "0.2")]


def test_names_that_lie_are_shown_as_they_are(panel: Make) -> None:
    shown, _ = panel(*shots._long())
    shown.rows.select("0.1")
    assert "invoice\\u{202e}fdp.exe" in words(shown.detail)
    assert "\u202e" not in words(shown) + "".join(names(shown))
    assert shown.detail.width() <= shown.width()


@pytest.mark.parametrize(("width", "height", "scale"), [(1280, 800, 1.0), (960, 600, 1.0), (1280, 800, 2.0)])
def test_trace_and_agents_share_the_side_of_the_thread(
    qtbot: QtBot, theme: Theme, width: int, height: int, scale: float
) -> None:
    theme.set_scale(scale)
    page = chat_shots._page(chat_shots.sample_items(), running=True, trace="live", agents="live")
    qtbot.addWidget(page)
    page.resize(width, height)
    with qtbot.waitActive(page, timeout=WAIT_MS):
        page.show()
        page.activateWindow()
    said: list[str] = []
    page.side_changed.connect(said.append)
    page.pane.header.agents.click()
    agents = page.side.agents
    assert agents is not None
    assert agents.rows.hasFocus()
    assert agents.geometry().right() == width - 1
    assert page.pane.header.agents.isChecked()
    agents.head.tabs._tabs["trace"].click()
    assert (page.side.shown, agents.head.tabs.value) == ("trace", "agents")
    trace = page.side.trace
    assert trace is not None
    assert trace.geometry() == agents.geometry()
    head, close = trace.head, trace.head.close_button
    QApplication.processEvents()
    assert close.mapTo(trace, QPoint(close.width(), 0)).x() <= trace.width()
    assert head.tabs.width() >= head.tabs.sizeHint().width()
    assert [page.pane.header.trace.isChecked(), page.pane.header.agents.isChecked()] == [True, False]
    page.toggle_agents()
    QTest.keyClick(agents.rows, Qt.Key.Key_Escape)
    if width < 1040 * scale:
        assert page.side.shown == ""
    page.show_side("")
    assert said[:3] == ["agents", "trace", "agents"]
    assert page.side.shown == ""
