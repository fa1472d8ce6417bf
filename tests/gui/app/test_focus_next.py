"""After a choice the keys are where the next one should go."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from desktop.domain.models import Connection
from desktop.ui.settings.mcp.page import McpPage
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.widgets.controls.buttons import Button
from tests.gui.app.kit import HELLO
from tests.harness.windows import activated


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("which", ["model", "agent"])
async def test_after_choosing_who_answers_one_types_on(start: Callable[..., Any], which: str) -> None:
    app = await start(HELLO)
    button = getattr(app.composer, which)
    button.setFocus()
    button.click()
    await app.until(lambda: QApplication.activePopupWidget() is not None, "the list")
    popup = QApplication.activePopupWidget()
    QTest.keyClick(popup.focusWidget() or popup, Qt.Key.Key_Return)  # as keys go in an active window
    await app.until(lambda: QApplication.activePopupWidget() is None, "a choice")
    await app.until(lambda: app.window.focusWidget() is app.composer.text, "the keys in the composer")


async def settings(app: Any, name: str) -> Any:
    app.startup._shell.go("settings")
    page = app.window.page("settings")
    page.show_settings(name)
    await activated(app.window)
    return page


def visible(page: QWidget, label: str) -> Button:
    return next(one for one in page.findChildren(Button) if one.label == label and one.isVisible())


def named(app: Any) -> str:
    focus = app.window.focusWidget()
    return focus.accessibleName() if focus is not None else ""


async def test_after_a_connection_was_tested_or_deleted_one_goes_on_beside_it(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    page = await settings(app, "Models and keys")
    setup = app.models.setup
    lab = [Connection(f"lab{at}", "openai_compatible", f"Lab {at}", "http://127.0.0.1:9/v1") for at in (1, 2)]
    await app.startup._services.settings.update("models.connections", tuple(lab))
    setup.changed.emit()

    def cards() -> dict[str, QFrame]:
        return {one.accessibleName(): one for one in page.findChildren(QFrame) if one.isVisible()}

    def card(title: str) -> QFrame:
        return cards()[title]

    def place() -> tuple[str, str]:
        focus = app.window.focusWidget()
        around = [name for name, one in cards().items() if name[:3] == "Lab" and one.isAncestorOf(focus or one)]
        return (around[0] if around else "", named(app))

    await app.until(lambda: "Lab 2" in cards(), "the cards")

    button = visible(card("Lab 1"), "Test")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Return)
    await app.until(lambda: "lab1" in page.findChild(ModelsPage).cards.outcomes, "the outcome")
    await app.until(lambda: place() == ("Lab 1", "Test"), "the keys on the same button of the card made anew")
    button = visible(card("Lab 1"), "Delete…")
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Qt.Key.Key_Return)
    visible(app.window, "Delete connection").click()
    await app.until(lambda: len(setup.connections) == 1, "the connection gone")
    await app.until(lambda: place() == ("Lab 2", "Test"), "the keys on the next card")


async def test_after_mcp_yaml_was_saved_one_types_on(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    page = await settings(app, "MCP servers")
    mcp = page.findChild(McpPage)
    mcp.show_view("text")
    mcp.editor.source.replace("servers: []\n")
    app.models.mcp.edited("servers: []\n")
    await app.until(mcp.editor.save.isEnabled, "a text that can be saved")
    mcp.editor.save.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(mcp.editor.save, Qt.Key.Key_Return)
    await app.until(lambda: not mcp.editor.save.isEnabled() and "Saved" in mcp.editor._words.text(), "the file")
    source = mcp.editor.source
    await app.until(lambda: source.isAncestorOf(app.window.focusWidget() or source.window()), "the keys in the text")


async def test_a_job_that_is_not_saved_takes_one_to_what_is_wrong(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    app.startup._shell.go("schedules")
    await app.until_true(lambda: app.models.jobs.loaded, "the jobs")
    await activated(app.window)
    page = app.window.page("schedules")
    page.new_job()
    QTest.keyClicks(page.form.name, "Report")
    page.form.message.setPlainText("Write it.")
    page.form.schedule.setText("every now and then")
    page.form.schedule.textEdited.emit("every now and then")
    page.form.name.setFocus()
    await app.until_true(page.save.isEnabled, "something to save")
    page.save.click()
    await app.until_true(lambda: app.window.focusWidget() is page.form.schedule, "the keys in the schedule")
    page.form.schedule.setText("0 9 * * *")
    page.form.schedule.textEdited.emit("0 9 * * *")
    QTest.keyClicks(page.form.limits["max_tokens"], "many")
    await app.until_true(lambda: not app.models.jobs.problem_of("schedule"), "a schedule that is right")
    page.form.name.setFocus()
    page.save.click()
    assert app.window.focusWidget() is page.form.limits["max_tokens"]
    field = page.form.limits["max_tokens"]
    assert field.visibleRegion().boundingRect() == field.rect(), "scrolled to where it can be seen"


@pytest.mark.qt_log_ignore("This plugin does not support")
async def test_from_the_rail_keys_of_the_page_work_and_going_to_it_again_enters_it(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    shell, rail = app.startup._shell, app.window.rail
    await activated(app.window)
    QTest.keyClick(app.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    page = app.window.page("skills")
    await app.until_true(lambda: shell.page == "skills" and page.isVisible(), "the page")
    rail.button("skills").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(rail.button("skills"), Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert page.isAncestorOf(app.window.focusWidget())
    rail.button("skills").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(rail.button("skills"), Qt.Key.Key_Space)
    assert page.isAncestorOf(app.window.focusWidget())
    page.list.field.setFocus()
    QTest.keyClick(page.list.field, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert app.window.focusWidget() is page.list.field, "whoever is in the page stays where they are"
    rail.button("skills").setFocus(Qt.FocusReason.TabFocusReason)
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(rail.button("skills"), Qt.Key.Key_N, keys)

    menu = QApplication.activePopupWidget()
    assert menu is not None
    assert menu.accessibleName() == "New skill"
    menu.close()
    page.make()
    await app.until_true(lambda: named(app) == "Name", "the question what the new skill is called")
    QTest.keyClick(app.window.focusWidget(), Qt.Key.Key_N, keys)
    assert QApplication.activePopupWidget() is None, "not from below a dialog"
