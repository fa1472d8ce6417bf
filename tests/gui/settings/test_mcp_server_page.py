"""The page of one MCP server, with sample data: its calls that go on by themselves, and what it lists."""

import time
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from desktop.domain.servers.mcp import McpOffers, McpPrompt, McpResource, McpTask
from desktop.presenter.mcp.rows import McpInstructions, McpRow, McpToolRow
from desktop.ui.settings.mcp.card import ServerCard
from desktop.ui.settings.mcp.offered_view import PAGE
from desktop.ui.settings.mcp.server_page import ServerPage
from desktop.ui.settings.mcp.tool_list import PAGE as TOOLS
from desktop.ui.settings.mcp.tool_row import ToolRow
from desktop.ui.widgets.controls.buttons import Button
from tests.harness.timeouts import WAIT_S


def row(**more: object) -> McpRow:
    first = McpRow("files", "running", "", "npx files", False, True, "", "", "", "", (), (), 1)
    return replace(first, **more)  # type: ignore[arg-type]


def words(page: QWidget) -> list[str]:
    return [label.text() for label in page.findChildren(QLabel) if label.isVisible()]


@pytest.mark.spec("R-MCP-5")
def test_a_call_that_goes_on_by_itself_stands_there_until_it_is_over_and_can_be_ended(qtbot, theme):
    page = ServerPage()
    qtbot.addWidget(page)
    ended: list[str] = []
    page.task_ended.connect(ended.append)
    open_one = McpTask("files", "t1", "files-index", "working", "half\u202e way", time.time())
    page.show_row(row(tasks=(McpTask("files", "t0", "files-old", "completed"), open_one)))
    page.show()
    (end,) = [button for button in page.findChildren(Button) if button.label == "End it"]
    end.click()
    assert ended == ["t1"]
    assert any("half\\u{202e} way" in text for text in words(page))
    page.show_row(row(tasks=(McpTask("files", "t1", "files-index", "cancelled"),)))
    assert [button.label for button in page.findChildren(Button) if button.isVisible() and "End" in button.label] == []
    page.show_row(row())
    assert not page.tasks.isVisible()


@pytest.mark.spec("R-MCP-3")
def test_thousands_of_resources_are_a_page_at_a_time_and_any_of_them_is_found(qtbot, theme):
    page = ServerPage()
    qtbot.addWidget(page)
    many = tuple(McpResource("files", f"x://{at}", f"number {at}", size=at) for at in range(1_000))
    refused = McpResource("files", "file:///etc/shadow", "shadow", problem="a file of this computer")
    offers = McpOffers("files", True, resources=(*many, refused), prompts=(McpPrompt("files", "ask", "Ask"),))
    offering = McpInstructions("Resources", "new, not switched on yet", True, "offers:")
    page.show_row(row(offers=offers, offering=offering))
    page.show()
    page.show_tab("resources")
    view = page.stack.currentWidget()
    qtbot.waitUntil(lambda: view._list.count() == PAGE, timeout=int(WAIT_S * 1000))
    assert page.tabs._tabs["resources"].accessibleName() == "Resources, 1001"
    view.pager.next.click()
    qtbot.waitUntil(lambda: f"number {PAGE}" in words(page), timeout=int(WAIT_S * 1000))
    view.field.setText("shadow")
    qtbot.waitUntil(lambda: "Refused: a file of this computer." in words(page), timeout=int(WAIT_S * 1000))
    switched: list[object] = []
    page.switched.connect(lambda what, on: switched.append((what, on)))
    view._on.click()
    assert switched == [(offering, True)]
    left: list[bool] = []
    page.back.connect(lambda: left.append(True))
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert left == [True]


@pytest.mark.spec("R-MCP-5")
def test_a_start_that_fetches_says_so_and_is_cancelled_from_its_page_and_its_card(qtbot, theme):
    page, card = ServerPage(), ServerCard()
    waits = "npx is fetching pkg: 3 files so far."
    for shown in (page, card):
        qtbot.addWidget(shown)
        shown.show_row(replace(row(), state="starting"))
        shown.show()
        assert [button for button in shown.findChildren(Button) if button.label == "Cancel"] == []
        shown.show_row(replace(row(), state="starting", reason=waits))
        qtbot.waitUntil(lambda shown=shown: waits in words(shown), timeout=int(WAIT_S * 1000))
        (cancel,) = [button for button in shown.findChildren(Button) if button.label == "Cancel"]
        with qtbot.waitSignal(shown.stop, timeout=int(WAIT_S * 1000)):
            cancel.click()
        shown.show_row(replace(row(), state="off", reason=""))
        qtbot.waitUntil(lambda shown=shown: waits not in words(shown), timeout=int(WAIT_S * 1000))


def tool(number: int, **more: object) -> McpToolRow:
    return McpToolRow(f"files-{number}", str(number), "admin", f"Number {number}.", "new", True, (), **more)  # type: ignore[arg-type]


@pytest.mark.spec("R-FS-10")
def test_no_click_switches_on_a_tool_whose_words_are_still_being_laid_out(qtbot, theme):
    shown_row = ToolRow(tool(1), is_open=True)
    qtbot.addWidget(shown_row)
    switched: list[bool] = []
    shown_row.switched.connect(switched.append)
    assert not shown_row.whole
    shown_row.switch.click()
    assert switched == [], "nothing of what it says is in sight yet"
    for _ in shown_row.rest:
        shown_row.switch.click()
    assert (shown_row.whole, switched) == (True, [])
    shown_row.take.click()
    assert switched == [True]


@pytest.mark.spec("R-FS-10")
def test_five_hundred_tools_are_laid_out_a_row_at_a_time_and_keys_stay_where_they_were(qtbot, theme):
    page = ServerPage()
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    many = tuple(tool(at) for at in range(500))
    page.show_row(row(tools=many))
    rows = page.tools._rows
    counts: set[int] = set()
    qtbot.waitUntil(lambda: counts.add(len(rows)) or len(rows) == TOOLS, timeout=int(WAIT_S * 1000))  # type: ignore[func-returns-value]
    assert rows[0][1].height() == rows[-2][1].height() == rows[0][1].sizeHint().height(), "nothing is stretched"
    third = rows[2][1]
    third.chooser.setFocus(Qt.FocusReason.TabFocusReason)
    assert [third.chooser.itemData(at) for at in range(third.chooser.count())] == ["read", "write", "admin"]
    page.show_row(row(tools=tuple(replace(one, description="Another.") for one in many)))
    qtbot.waitUntil(lambda: all(one.description == "Another." for (one, *_), _ in rows), timeout=int(WAIT_S * 1000))
    assert page.window().focusWidget() is rows[2][1].chooser
    page.show_row(replace(row(tools=many[:1]), name="other"))
    assert not [one for _, one in rows if one.isVisible()], "no row of another server stays in sight"


@pytest.mark.spec("R-FS-10")
def test_a_row_that_was_being_laid_out_when_its_server_said_something_is_laid_out_to_its_end(qtbot, theme):
    page = ServerPage()
    qtbot.addWidget(page)
    page.show()
    page.show_row(row(tools=(tool(1, before="{}", now="[]"), tool(2))))
    rows = page.tools._rows
    while not (rows and rows[0][1]._body.count()):
        page.tools._making._take()
    assert not rows[0][1].whole
    page.show_row(row(tools=(tool(1, before="{}", now="[]"), tool(2)), log=("a line",)))
    qtbot.waitUntil(lambda: rows[0][1].whole, timeout=int(WAIT_S * 1000))
