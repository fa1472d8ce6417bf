"""A press that was meant for one request answers no other one, wherever the two are shown."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from desktop.presenter.transcript.last_answer import LastAnswer
from tests.gui.app.kit import HELLO, Running, call
from tests.harness.windows import activated

LEFT = Qt.MouseButton.LeftButton


def press(widget: QWidget, place: QPointF) -> None:
    """Press and let go on a widget, as if it lay at this place of the screen."""
    local = QPointF(widget.rect().center())
    for kind, held in ((QEvent.Type.MouseButtonPress, LEFT), (QEvent.Type.MouseButtonRelease, Qt.MouseButton.NoButton)):
        QApplication.sendEvent(widget, QMouseEvent(kind, local, place, LEFT, held, Qt.KeyboardModifier.NoModifier))


async def two_asked(start: Callable[..., Any]) -> Running:
    """Two requests of one thread in a window of 1,000: the first is put aside, the second lies over its card."""
    app: Running = await start(call("write_file", path="a.txt", content="a"), HELLO)
    app.window.resize(1000, 800)
    await activated(app.window)
    app.say("Write it")
    first = await app.asked()
    second = replace(first, request_id="second", call_id="second")
    app.startup._services.owner.spawn(app.bridge.ask(second), "another request")
    await app.until(lambda: len(app.models.approvals.requests) == 2, "two requests")
    await app.until(lambda: app.startup._pages._dialog.dialog is not None, "the dialog")
    dialog = app.startup._pages._dialog.dialog
    dialog.put_aside()
    await app.until(lambda: dialog.view.request == app.models.approvals.requests[1], "the second request")
    await app.until(lambda: app.page.pane.transcript.overlays.answers, "the card")
    return app


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
@pytest.mark.parametrize("choice", ["allow", "deny"])
async def test_a_second_press_answers_no_card_below_the_dialog_that_closed(
    start: Callable[..., Any], choice: str
) -> None:
    app = await two_asked(start)
    approvals, dialog = app.models.approvals, app.startup._pages._dialog.dialog
    first, second = approvals.requests
    (card,) = app.page.pane.transcript.overlays.answers.values()
    await app.until(lambda: not card.allow.deaf and not dialog.view.answers.allow.deaf, "the end of the deaf time")
    button = getattr(dialog.view.answers, choice)
    place = QPointF(button.mapToGlobal(button.rect().center()))
    press(button, place)
    await app.until(dialog.isHidden, "the dialog to close")
    press(getattr(card, choice), place)
    QTest.keyClick(getattr(card, choice), Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier)
    await app.until(lambda: approvals.request(second.request_id) is None, "the answer to the second")
    assert approvals.requests == (first,)
    await app.until(lambda: not card.allow.deaf and not card.deny.deaf, "the end of the rest")
    press(getattr(card, choice), place)
    await app.until(lambda: not approvals.requests, "the answer that was meant")


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_what_was_answered_on_a_card_is_known_in_the_inbox_and_the_dialog(start: Callable[..., Any]) -> None:
    app = await two_asked(start)
    approvals, dialog = app.models.approvals, app.startup._pages._dialog.dialog
    second = approvals.requests[1]
    (card,) = app.page.pane.transcript.overlays.answers.values()
    await app.until(lambda: not card.allow.deaf, "the end of the deaf time")
    dialog.put_aside()
    assert (dialog.isHidden(), card.allow.deaf) == (True, True), "seen only now, since nothing lies over it"
    dialog.reopen(second.request_id)
    app.startup._shell.go("approvals")
    inbox = app.window.page("approvals")
    inbox.inbox.list.setCurrentIndex(inbox.inbox.model.index(1))
    assert inbox.view.request == dialog.view.request == second
    deaf = [view.answers.deny for view in (inbox.view, dialog.view)]
    await app.until(lambda: not any(button.deaf for button in deaf), "the end of the deaf time")
    card.deny.click()
    assert [button.deaf for button in deaf] == [True, True]


def test_only_the_request_that_was_answered_last_starts_another_rest_when_it_goes() -> None:
    last, heard = LastAnswer(), []
    last.changed.connect(lambda: heard.append(last.request_id))
    last.gone("")
    last.note("one")
    last.gone("other")
    last.gone("one")
    assert heard == ["one", "one"]
