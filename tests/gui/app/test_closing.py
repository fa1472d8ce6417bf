"""Closing the window or quitting while something works asks what becomes of it."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSystemTrayIcon

from desktop.ui.widgets.dialogs.base import Dialog
from tests.gui.app.kit import HELLO, Running, call
from tests.harness.windows import activated

LONG = [{"text": "One. "}, {"wait": 600}, {"text": "Two."}]


def question(app: Running) -> Any:
    return next((d for d in app.window.findChildren(Dialog) if d.isVisible() and set(d.buttons) >= {"keep"}), None)


async def closed_at_work(start: Any) -> Running:
    app: Running = await start(LONG, joined=True)
    app.say("go")
    await app.until(lambda: "One." in app.text and app.running, "a run under way")
    app.window.close()
    assert question(app) is not None
    assert app.quits == []
    return app


async def test_with_nothing_at_work_closing_is_the_end(start):
    app = await start(HELLO, joined=True)
    app.say("hello")
    await app.answered("Hello there.")
    await app.until(lambda: not app.startup._services.chats.running(), "the end of the run")
    app.window.close()
    assert question(app) is None
    assert app.quits == [True]


async def test_closing_while_a_run_works_asks_and_cancelling_changes_nothing(start):
    app = await closed_at_work(start)
    asked = question(app)
    assert asked.accessibleName() == "A run is still working"
    assert asked.buttons["stay"].hasFocus()
    app.window.close()
    assert [d for d in app.window.findChildren(Dialog) if d.isVisible()] == [asked], "asked once"
    QTest.keyClick(asked.buttons["stay"], Qt.Key.Key_Escape)
    await asyncio.sleep(0.05)
    assert question(app) is None
    assert app.window.isVisible()
    assert app.running
    assert app.quits == []


@pytest.mark.spec("R-UI-8")
async def test_stop_ends_the_app_in_the_orderly_way(start):
    app = await closed_at_work(start)
    question(app).buttons["stop"].click()
    assert app.quits == [True]


async def test_without_a_tray_the_window_is_minimised_and_the_run_goes_on(start):
    assert not QSystemTrayIcon.isSystemTrayAvailable(), "this platform has none"
    app = await closed_at_work(start)
    keep = question(app).buttons["keep"]
    assert keep.label == "Minimise and keep working"
    keep.click()
    await app.until(app.window.isMinimized, "minimised")
    assert app.window.isVisible(), "a hidden window without a tray could not be brought back"
    assert app.running
    assert app.quits == []


async def test_ctrl_q_asks_as_well_where_a_request_waits(start):
    app: Running = await start(call("write_file", path="a.txt", content="x"), joined=True)
    app.say("Write it")
    await app.asked()
    await activated(app.window)
    for _ in range(2):
        QTest.keyClick(app.window.focusWidget(), Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert app.quits == []
    asked = question(app)
    assert [d for d in app.window.findChildren(Dialog) if d.isVisible() and "keep" in d.buttons] == [asked], "once"
    assert asked.accessibleName() == "A run is still working"
    asked.buttons["stay"].click()
    assert app.quits == []
    assert len(app.models.approvals.requests) == 1, "it waits on"


@pytest.mark.spec("R-UI-8")
async def test_quitting_by_a_command_stops_what_works_once_it_is_said(start):
    app: Running = await start(LONG, joined=True)
    app.say("go")
    await app.until(lambda: "One." in app.text and app.running, "a run under way")
    app.startup._shell.run_command("quit")
    assert app.quits == []
    question(app).buttons["stop"].click()
    assert app.quits == [True]
