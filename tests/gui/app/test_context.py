"""What the model reads, in the whole app: the meter tells it, a message is pinned, and the thread stays as it is."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from desktop.ui.chat.context_card import ContextCard


def said(card: Any) -> str:
    return " ".join(label.text() for label in card.findChildren(QLabel) if label.isVisibleTo(card))


@pytest.mark.spec("R-CTX-3")
async def test_the_meter_tells_what_was_sent_and_a_message_can_be_pinned_and_unpinned(start: Any) -> None:
    app = await start([{"text": "Good day."}])
    app.say("Remember 4711.")
    await app.answered("Good day.")
    context = app.models.context
    await app.until_true(lambda: context.account is not None and context.account.kept == 1, "the account")
    header = app.page.pane.header
    QTest.mouseClick(header._context, Qt.MouseButton.LeftButton)
    card = app.window.findChild(ContextCard)
    assert card is not None
    await app.until_true(lambda: "1 message" in said(card), "what was sent")
    assert "Nothing is pinned" in said(card)
    assert "unless summaries are on" in said(card)

    first = next(iter(app.page.pane._items))
    app.page.pane._act(first, "pin")
    await app.until_true(lambda: context.overlay.pins == {first} and "Remember 4711." in said(card), "the pin")
    assert app.page.toast.text.startswith("Pinned")
    app.page.pane._act(first, "pin")
    await app.until_true(lambda: "Nothing is pinned" in said(card), "that it is unpinned")
    assert not context.overlay.pins
    QTest.keyClick(card, Qt.Key.Key_Escape)
    await app.until_true(lambda: not card.isVisible(), "that it is closed")
