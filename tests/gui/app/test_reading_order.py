"""Every page by Tab alone, in the order in which it is read; and what a screen reader is told of choices."""

from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop.app.wiring.settings_pages import SETTINGS_PAGES
from desktop.presenter.shell.window import PAGES
from desktop.ui.widgets.reading_order import children_of, put_in_order
from tests.gui.app.kit import HELLO, Running

Place = tuple[str, str]
PLACES: list[Place] = [(name, "") for name in PAGES if name != "settings"] + [
    ("settings", row.name) for row in SETTINGS_PAGES
]


async def shown(app: Running, place: Place) -> QWidget:
    app.startup._shell.go(place[0])
    page: Any = app.window.page(place[0])
    if place[1]:
        page.show_settings(place[1])
    await app.until(lambda: page.isVisible() and "open thread" not in app.bridge.task_names, "the page")
    return app.window


def by_tab(window: QWidget) -> list[QWidget]:
    """What Tab stops at until it is back where it began."""
    seen: list[QWidget] = []
    while (now := window.focusWidget()) not in seen and len(seen) < 400:
        seen.append(now)
        QTest.keyClick(now, Qt.Key.Key_Tab)
    return seen


def controls_of(window: QWidget) -> list[QWidget]:
    """All that Tab may stop at, found without regard to layouts and order."""
    return [
        one
        for one in window.findChildren(QWidget)
        if one.window() is window and one.isVisible() and one.isEnabled()
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.focusProxy() is None
    ]


def content(app: Running, place: Place) -> QWidget:
    """The page itself, of Settings without the list of its pages."""
    page: Any = app.window.page(place[0])
    inside: QWidget = page._stack.currentWidget() if place[1] else page
    return inside


def name_of(widget: QWidget) -> str:
    told = QAccessible.queryAccessibleInterface(widget)
    return f"{type(widget).__name__} {told.text(QAccessible.Text.Name)!r}"


def box(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def out_of_order(widgets: list[QWidget]) -> list[tuple[str, str]]:
    """Pairs of neighbours of one container of which the later one is wholly above the earlier, in the same column."""
    pairs = []
    for first, later in pairwise(widgets):
        a, b = box(first), box(later)
        if b.bottom() <= a.top() and b.left() < a.right() and a.left() < b.right():
            pairs.append((name_of(first), name_of(later)))
    return pairs


async def test_tab_alone_reaches_every_control_of_every_page_by_name_and_in_reading_order(start: Any) -> None:
    app = await start(HELLO)
    app.window.resize(1280, 800)
    for place in PLACES:
        window = await shown(app, place)
        app.window.rail.button(place[0]).setFocus()
        reached = by_tab(window)
        assert any(content(app, place).isAncestorOf(one) for one in reached), (place, "nothing on it is reached")
        missed = [name_of(one) for one in controls_of(window) if one not in reached]
        assert missed == [], (place, missed)
        unnamed = [name_of(one) for one in reached if name_of(one).endswith(" ''")]
        assert unnamed == [], (place, unnamed)
        assert out_of_order([one for one in reached if _scrolled(one)]) == [], place
        back = window.focusWidget()
        QTest.keyClick(back, Qt.Key.Key_Tab)
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Backtab)
        assert window.focusWidget() is back, place


def _scrolled(widget: QWidget) -> bool:
    """On the page itself, not in the panes beside it."""
    at: QWidget | None = widget
    while at is not None and at.property("pane") != "scrolled":
        at = at.parentWidget()
    return at is not None


@pytest.mark.parametrize("name", ["Models and keys", "Keyring"])
async def test_the_accessible_tree_is_in_reading_order_also_after_the_page_was_filled_again(
    start: Any, name: str
) -> None:
    app = await start(HELLO)
    window = await shown(app, ("settings", name))
    app.models.setup.changed.emit()
    put_in_order(window)
    for container in [window, *window.findChildren(QWidget)]:
        told = QAccessible.queryAccessibleInterface(container)
        inside = [one for one in children_of(container) if one.isVisible()]
        by_tree = [told.child(at).object() for at in range(told.childCount())] if told is not None else []
        assert [one for one in by_tree if one in inside] == [one for one in inside if one in by_tree], container
    page = window.page("settings")._stack.currentWidget()
    assert out_of_order([one for one in children_of(page.widget()) if one.isVisible() and one.height()]) == []


async def test_entries_of_navigation_are_tabs_and_items_with_one_selected_and_no_check_boxes(start: Any) -> None:
    app = await start(HELLO)
    await shown(app, ("skills", ""))
    rail = [QAccessible.queryAccessibleInterface(app.window.rail.button(page)) for page in PAGES]
    assert {one.role() for one in rail} == {QAccessible.Role.PageTab}
    assert [bool(one.state().selected) for one in rail] == [page == "skills" for page in PAGES]
    assert all(one.state().focusable and not one.state().checkable for one in rail)
    app.window.rail.button("skills").setFocus()
    for _ in PAGES:
        QTest.keyClick(app.window.focusWidget(), Qt.Key.Key_Down)
    assert app.window.focusWidget() is app.window.rail.button("skills"), "arrow keys go around"
    for button in app.window.findChildren(QAbstractButton):
        if role := getattr(type(button), "spoken_role", ""):
            told = QAccessible.queryAccessibleInterface(button)
            assert told.role() != QAccessible.Role.CheckBox, (button, role)
