"""The trace panel: what it draws, what keys do in it, and that nothing untrusted is more than plain text there."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shots import chat as chat_shots
from shots import trace as shots

from desktop.domain.runs.traces import TraceEntry
from desktop.presenter.trace.node import TraceNode
from desktop.presenter.trace.panel import TraceViewModel
from desktop.ui.theme import Theme
from desktop.ui.trace.event_rows import ENTRY
from desktop.ui.trace.panel import TracePanel
from desktop.ui.trace.tree_model import NODE
from tests.harness.timeouts import WAIT_MS

Make = Callable[..., TracePanel]


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> Iterator[Make]:
    """A panel of 384 x 800 with one of the sample traces."""
    made: list[TracePanel] = []

    def make(sample: str | TraceViewModel = "done") -> TracePanel:
        shown = TracePanel(shots.SAMPLES[sample]() if isinstance(sample, str) else sample)
        qtbot.addWidget(shown)
        made.append(shown)
        shown.resize(384, 800)
        with qtbot.waitActive(shown, timeout=WAIT_MS):
            shown.show()
            shown.activateWindow()
        return shown

    yield make
    for one in made:
        one.hide()


def lines(panel: TracePanel) -> list[str]:
    return [panel.model.index(row).data() for row in range(panel.model.rowCount())]


def at(panel: TracePanel, title: str) -> int:
    return next(row for row, node in enumerate(panel.model.lines) if node.title == title)


def press(panel: TracePanel, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(panel.rows, key)


def words(widget: QWidget) -> str:
    """All labels that show in a widget; new ones show a turn later."""
    QApplication.processEvents()
    return " | ".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def test_the_tree_of_the_mock_up(panel: Make) -> None:
    shown = panel("live")
    assert lines(shown) == [
        "Workbench",
        "round 1",
        "read-file 2026-03.csv",
        "round 2",
        "write-file 2026-03.clean.csv",
        "maintenance-log-agent",
        "round 1",
        "round 2",
        "round 3",
        "bash python plot.py 07 08",
        "round 4",
        "bash python plot.py --tz UTC 07 08",
        "round 5",
    ]
    assert shown.head.picker.accessibleName() == "run 7f3a"
    shown.rows.select(shown.model.lines[at(shown, "write-file")])
    said = words(shown.detail)
    for text in (
        "write-file",
        "allowed once by you",
        "2 min 14 s, not counted as time",
        "data/gauge-07/2026-03.clean.csv",
        "241 KB written",
    ):
        assert text in said
    assert (shown.detail.state.state, shown.detail.accessibleName()) == ("done", "write-file, done")
    assert "5 of 20, 2 more by agents | maxIterations, set by the loop's default" in words(shown.budget)


def test_keys_move_through_the_tree_and_the_chosen_line_shows_in_full(panel: Make) -> None:
    shown = panel()
    shown.rows.setFocus()
    press(shown, Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Right)
    assert shown.chosen_node is not None
    assert shown.chosen_node.title == "read-file"
    press(shown, Qt.Key.Key_Right, Qt.Key.Key_Left)
    assert shown.chosen_node.title == "round 1"
    press(shown, Qt.Key.Key_Left)
    assert lines(shown)[1:3] == ["round 1", "round 2"]
    assert "folded" in shown.rows.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
    press(shown, Qt.Key.Key_Left, Qt.Key.Key_Left)
    assert lines(shown) == ["Workbench"]
    press(shown, Qt.Key.Key_Right, Qt.Key.Key_End)
    assert shown.chosen_node.title == "round 5"
    assert "the model was done" in words(shown.detail)
    press(shown, Qt.Key.Key_PageUp, Qt.Key.Key_Up, Qt.Key.Key_Home)
    assert shown.chosen_node.title == "Workbench"


def test_a_click_on_the_chevron_folds_and_one_on_the_name_chooses(panel: Make) -> None:
    shown = panel()
    viewport = shown.rows.viewport()
    place = shown.rows.visualRect(shown.model.index(1)).center()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(8 + 14 + 14, place.y()))
    assert lines(shown)[2] == "round 2"
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(150, place.y() + 28))
    assert shown.chosen_node is shown.model.lines[2]
    QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(150, place.y() + 28))
    assert lines(shown)[3] == "round 3"


def test_lines_say_their_state_to_who_does_not_see_them(panel: Make) -> None:
    shown = panel("failed")
    said = [shown.model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(shown.model.rowCount())]
    assert said[0].startswith("Workbench, agent, failed, 26.0 s, open, 3 lines below")
    assert "write call, denied" in said[2]
    assert "waited 4.0 s for you" in said[2]
    assert said[4].startswith("deep-research, agent, limit reached")
    assert shown.rows.accessibleName() == "Trace of the run"


@pytest.mark.spec("R-LIM-5")
def test_the_limit_that_ended_an_agent_is_named_with_where_it_was_set(panel: Make) -> None:
    shown = panel("failed")
    shown.rows.select(shown.model.lines[at(shown, "deep-research")])
    assert "maxTurns 1 (set by the skill deep-research)" in words(shown.detail)


@pytest.mark.spec("R-PRM-15", "R-TRC-9")
def test_what_a_model_or_tool_says_is_plain_text_with_everything_hidden_made_visible(panel: Make) -> None:
    shown = panel("failed")
    assert lines(shown)[2] == "write-file invoice\\u{202e}fdp.exe"
    shown.rows.select(shown.model.lines[2])
    assert "invoice\\u{202e}fdp.exe" in words(shown.detail)
    shown.detail.arguments.click()
    assert "invoice\\u{202e}fdp.exe" in shown.text_page.view.toPlainText()
    shown.rows.fold(shown.model.lines[5], True)
    shown.rows.select(shown.model.lines[5])
    assert "<b>not bold</b>" in words(shown.detail)
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in shown.findChildren(QLabel))
    shown.show_view("events")
    assert any("\\u{202e}" in shown.events.model.index(row).data() for row in range(shown.events.model.rowCount()))


def test_a_whole_text_opens_in_place_is_copied_and_closed_with_escape(panel: Make) -> None:
    shown = panel("live")
    shown.rows.setFocus()
    press(shown, Qt.Key.Key_End)
    assert "Reasoning" in words(shown.detail)
    boxes = [box for box in shown.detail._boxes if box.more.isVisible()]
    assert len(boxes) == 2
    boxes[0].more.click()
    text = shown.text_page.view.toPlainText()
    assert text == "Gauge 8 kept running through the cut. " * 20
    shown.text_page.copy_button.click()
    assert QGuiApplication.clipboard().text() == text
    QTest.keyClick(shown.text_page.view, Qt.Key.Key_Escape)
    assert not shown.text_page.isVisible()
    assert shown.rows.hasFocus()


def test_of_a_huge_text_a_part_is_laid_out_and_the_rest_is_counted(panel: Make) -> None:
    entries = [
        TraceEntry(0, "agent-start", shots.RUN, {}, "a"),
        TraceEntry(0, "turn-start", shots.RUN, {"turnNumber": 1}),
        TraceEntry(1, "tool-call", shots.RUN, {"tool": "look", "callId": "c", "args": {}}),
        TraceEntry(2, "tool-result", shots.RUN, {"callId": "c", "result": "line\n" * 1_000_000, "isError": False}),
    ]
    shown = panel(shots.sample(entries))
    shown.rows.select(shown.model.lines[at(shown, "look")])
    shown.detail.result.click()
    assert len(shown.text_page.view.toPlainText()) == 65_536
    assert "4,934,464 characters more" in words(shown.text_page)


def test_a_search_goes_through_what_it_finds_and_opens_what_is_folded(panel: Make, qtbot: QtBot) -> None:
    shown = panel()
    shown.rows.setFocus()
    shown.begin_find()
    QTest.keyClicks(shown.find_bar.field, "log/2026-03.md")
    qtbot.waitUntil(lambda: shown.chosen_node is not None and shown.chosen_node.title == "read-file", timeout=WAIT_MS)
    assert "1 of 1" in words(shown.find_bar)
    assert shown.rows.visualRect(shown.rows.currentIndex()).intersects(shown.rows.viewport().rect())
    shown.find_bar.field.setText("plot")
    qtbot.waitUntil(lambda: "1 of 3" in words(shown.find_bar), timeout=WAIT_MS)
    QTest.keyClick(shown.find_bar.field, Qt.Key.Key_Return)
    assert "2 of 3" in words(shown.find_bar)
    QTest.keyClick(shown.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert "1 of 3" in words(shown.find_bar)
    shown.find_bar.field.setText("nowhere")
    qtbot.waitUntil(lambda: "Nothing found" in words(shown.find_bar), timeout=WAIT_MS)
    QTest.keyClick(shown.find_bar.field, Qt.Key.Key_Escape)
    assert not shown.find_bar.isVisible()
    assert shown.rows.hasFocus()


def test_events_are_filtered_looked_at_and_copied_one_by_one_or_all(panel: Make, qtbot: QtBot) -> None:
    shown = panel("failed")
    shown.show_view("events")
    view, count = shown.events, shown.events.model.rowCount()
    assert "25 events" in words(view)
    view.types.setCurrentIndex(view.types.findData("retry"))
    assert view.model.rowCount() == 2
    view.types.setCurrentIndex(0)
    shown.begin_find()
    assert view.field.hasFocus()
    QTest.keyClicks(view.field, "overloaded")
    qtbot.waitUntil(lambda: view.model.rowCount() == 1, timeout=WAIT_MS)
    said: list[str] = []
    shown.said.connect(said.append)
    QTest.keyClick(view.field, Qt.Key.Key_Down)
    QTest.keyClick(view.list, Qt.Key.Key_Home)
    assert view.list.hasFocus()
    assert '"error": "The provider is overloaded (529)."' in shown.text_page.view.toPlainText()
    QTest.keyClick(view.list, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().count("\n") == 1
    QTest.keyClick(view.field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: view.model.rowCount() == count, timeout=WAIT_MS)
    view.copy_all.click()
    assert QGuiApplication.clipboard().text().count("\n") == count
    assert said == ["The event copied as JSON Lines", "25 events copied as JSON Lines"]


def test_a_line_is_copied_and_leads_to_its_card_and_to_the_activity(panel: Make) -> None:
    shown = panel()
    cards: list[str] = []
    tools: list[str] = []
    shown.card_wanted.connect(cards.append)
    shown.activity_wanted.connect(tools.append)
    agent = shown.model.lines[at(shown, "maintenance-log-agent")]
    inner = agent.children[0].children[0]
    shown.rows.show_node(inner)
    shown.rows.setFocus()
    press(shown, Qt.Key.Key_Return)
    assert cards == [agent.call_id]  # what an agent calls has no card of its own
    shown.detail.activity.click()
    shown.detail.card.click()
    assert (tools, len(cards)) == (["read-file"], 2)
    QTest.keyClick(shown.rows, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().count('"type": "tool-') == 2


def test_what_comes_keeps_the_chosen_line_and_the_place_of_who_reads(panel: Make, qtbot: QtBot) -> None:
    shown = panel("live")
    trace: Any = shown._trace
    tree = trace.tree
    write = shown.model.lines[at(shown, "write-file")]
    shown.rows.select(write)
    shown.rows.verticalScrollBar().setValue(0)
    for number in range(6, 12):
        at_time = tree.log.entries[-1].at + 1
        tree.add(TraceEntry(at_time, "turn-start", shots.RUN, {"turnNumber": number}))
        call = {"tool": "bash", "callId": f"n{number}", "args": {"command": "ls"}}
        tree.add(TraceEntry(at_time, "tool-call", shots.RUN, call))
        trace._tell()
        assert shown.chosen_node is write
    assert lines(shown)[-1] == "bash ls"
    assert shown.rows.verticalScrollBar().value() == 0
    shown.rows.select(None)
    shown.rows.verticalScrollBar().setValue(shown.rows.verticalScrollBar().maximum())
    for number in range(20, 24):
        tree.add(TraceEntry(at_time, "tool-call", shots.RUN, {"tool": "bash", "callId": f"z{number}", "args": {}}))
        trace._tell()
    assert shown.rows.at_end


def test_nothing_to_show_something_being_read_and_what_cannot_be_read_are_said(panel: Make) -> None:
    shown = panel("empty")
    trace: Any = shown._trace
    assert "No run yet" in words(shown)
    assert not shown.head.export.isEnabled()
    trace.loading = True
    trace.shown.emit()
    assert "Reading the trace" in words(shown)
    trace.problem = "The database is damaged.\u202e"
    trace.shown.emit()
    assert "The database is damaged.\\u{202e}" in words(shown)


def test_ten_thousand_lines_are_drawn_and_scrolled_by_what_is_seen(panel: Make) -> None:
    entries = [TraceEntry(0, "agent-start", shots.RUN, {}, "a"), TraceEntry(0, "turn-start", shots.RUN, {})]
    calls = range(10_000)
    entries += [TraceEntry(1, "tool-call", shots.RUN, {"tool": f"t{n}", "callId": str(n), "args": {}}) for n in calls]
    shown = panel(shots.sample(entries))
    assert shown.model.rowCount() == 10_002
    asked: list[int] = []
    data = shown.model.data
    shown.model.data = lambda index, role=0: (asked.append(index.row()), data(index, role))[1]  # type: ignore[method-assign]
    shown.rows.setFocus()
    press(shown, Qt.Key.Key_End)
    shown.rows.viewport().repaint()
    assert shown.rows.at_end
    assert isinstance(shown.rows.currentIndex().data(NODE), TraceNode)
    assert len(set(asked)) < 100


def test_the_events_list_holds_entries_in_order(panel: Make) -> None:
    shown = panel()
    tree = shown._trace.tree
    assert tree is not None
    shown.show_view("events")
    model = shown.events.model
    assert [model.index(row).data(ENTRY) for row in range(model.rowCount())] == tree.log.entries


@pytest.mark.parametrize(("width", "beside", "folded"), [(1216, True, True), (1600, True, False), (960, False, False)])
def test_the_panel_stands_beside_the_thread_or_over_it(
    qtbot: QtBot, theme: Theme, width: int, beside: bool, folded: bool
) -> None:
    page: Any = chat_shots.pictures()["10-trace-done"]()
    qtbot.addWidget(page)
    page.resize(width, 700)
    page.show()
    qtbot.waitUntil(lambda: (page.pane.geometry().right() < page.trace.x()) is beside, timeout=WAIT_MS)
    assert page.trace.geometry().right() == width - 1
    foot = page.pane.foot
    qtbot.waitUntil(lambda: page.trace.height() == (page.height() if beside else foot.y()), timeout=WAIT_MS)
    foot.composer.text.setPlainText("a\nb\nc\nd")  # it grows, and stays free
    qtbot.waitUntil(lambda: page.trace.height() == (page.height() if beside else foot.y()), timeout=WAIT_MS)
    foot.composer.text.setPlainText("")
    assert page.threads.isHidden() is folded
    assert page.pane.header.trace.isChecked()
    page.pane.header.trace.click()
    assert page.trace.isHidden()
    qtbot.waitUntil(lambda: page.pane.geometry().right() == width - 1, timeout=WAIT_MS)
    assert page.pane.header.trace.accessibleName() == "Show the trace"
    page.pane.header.trace.click()
    assert page.trace.isVisible()
    page.trace.head.close_button.click()
    assert not page.pane.header.trace.isChecked()
    page.hide()
