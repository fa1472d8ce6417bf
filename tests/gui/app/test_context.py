"""What the model reads, in the whole app: the meter tells it, a message is pinned, and the thread stays as it is."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from desktop.domain.runs.events import ContextSummarising
from desktop.ui.chat.context_card import ContextCard
from desktop.ui.chat.context_popover import ContextPopover
from desktop.ui.transcript.overlays import MESSAGE_ACTIONS, UNPIN
from tests.gui.app.kit import call


def said(card: Any) -> str:
    return " ".join(label.text() for label in card.findChildren(QLabel) if label.isVisibleTo(card))


popup = pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
"""What the offscreen screen says of a popup."""


@popup
@pytest.mark.spec("R-CTX-3", "R-MOD-3")
async def test_the_meter_tells_what_was_sent_and_a_message_can_be_pinned_and_unpinned(start: Any) -> None:
    app = await start([{"text": "Good day."}])
    app.say("Remember 4711.")
    await app.answered("Good day.")
    context = app.models.context
    await app.until_true(lambda: context.account is not None and context.account.kept == 1, "the account")
    header = app.page.pane.header
    QTest.mouseClick(header.meters.context, Qt.MouseButton.LeftButton)
    popover = app.page.findChild(ContextPopover)
    assert popover is not None
    assert "Instructions and" in said(popover)
    assert not popover.older.isEnabled(), "there is nothing older"
    await app.until_true(popover.all.hasFocus, "the keys on its first action")
    popover.all.click()
    await app.until_true(lambda: not app.page.findChildren(ContextPopover), "that it is closed")
    card = app.window.findChild(ContextCard)
    assert card is not None
    await app.until_true(lambda: "1 message" in said(card), "what was sent")
    assert "Nothing is pinned" in said(card)
    assert "unless summaries are on" in said(card)

    first = next(iter(app.page.pane._items))
    app.page.pane._act(first, "pin")
    await app.until_true(lambda: context.overlay.pins == {first} and "Remember 4711." in said(card), "the pin")
    assert app.page.toast.text.startswith("Pinned")
    overlays = app.page.pane.transcript.overlays
    assert ("pin", UNPIN) in overlays.actions(0)
    overlays.hover(0)
    assert overlays.bar._made["pin"].toolTip() == UNPIN
    assert context.pinned[0].here
    app.page.pane._act(first, "pin")
    await app.until_true(lambda: "Nothing is pinned" in said(card), "that it is unpinned")
    assert not context.overlay.pins
    assert overlays.bar._made["pin"].toolTip() == MESSAGE_ACTIONS["pin"][1]
    assert ("pin", UNPIN) not in overlays.actions(0)
    QTest.keyClick(card, Qt.Key.Key_Escape)
    await app.until_true(lambda: not card.isVisible(), "that it is closed")


@pytest.mark.spec("R-CTX-3", "R-CTX-9")
async def test_the_card_follows_a_run_at_work_round_by_round(start: Any) -> None:
    app = await start(call("write_file", path="new.txt", content="short"), [{"text": "Written."}])
    app.say("Write it.")
    request = await app.asked()
    context, bus = app.models.context, app.startup._services.bus
    await app.until_true(lambda: context.account is not None, "the first round's account")
    app.page.show_context()
    card = app.window.findChild(ContextCard)
    assert card is not None
    await app.until_true(lambda: "1 message" in said(card), "what the first round held")
    bus.publish(ContextSummarising(thread_id=context.thread_id, run_id="r"))
    await app.until_true(lambda: "is being written" in said(card), "that a summary is being written")
    app.models.approvals.answer(request.request_id, "allow_once", digest=request.digest)
    await app.until_true(lambda: "3 messages" in said(card), "what the second round held")
    assert "is being written" not in said(card)
    await app.answered("Written.")
    QTest.keyClick(card, Qt.Key.Key_Escape)
    await app.until_true(lambda: not card.isVisible(), "that it is closed")
