"""The card that says what the model reads: it fits its window whatever it has to tell, and keys stay in it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject, QPoint, QRect, Qt, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from desktop.domain.context import Account, Overlay, PinnedText
from desktop.domain.messages import Usage
from desktop.ui.chat.context_card import ELSEWHERE, ContextCard
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from tests.harness.timeouts import WAIT_MS

PIN = "a pinned message that is rather long, number "


class Told(QObject):
    """In the view-model's place."""

    changed = Signal()
    summaries, writing = True, False

    def __init__(self, pins: int, summary: str) -> None:
        super().__init__()
        self.overlay = Overlay(summary=summary)
        self.pinned = [PinnedText(str(at), f"{PIN * 3}{at}", at != 1) for at in range(pins)]
        self.used: Usage | None = None
        self.meters = self
        self.account: Account | None = Account(kept=98, shrunk=3, summarised=120, dropped=12, pinned=pins)

    def pin(self, message_id: str, _pinned: bool) -> None:
        self.pinned = [one for one in self.pinned if one[0] != message_id]
        self.changed.emit()

    def undo_summary(self) -> None:
        self.overlay = Overlay(off=True)
        self.changed.emit()

    def allow_summaries(self) -> None:
        self.overlay = Overlay()
        self.changed.emit()


Make = Callable[..., tuple[ContextCard, Told]]


@pytest.fixture
def make(qtbot: QtBot, theme: Theme) -> Iterator[Make]:
    windows: list[QWidget] = []

    def made(width: int, height: int, pins: int, summary: str = "They spoke of boats. " * 300) -> Any:
        told, window = Told(pins, summary), QWidget()
        told.setParent(window)
        qtbot.addWidget(window)
        windows.append(window)
        window.resize(width, height)
        with qtbot.waitActive(window, timeout=WAIT_MS):
            window.show()
            window.activateWindow()
        card = ContextCard(window, told, told)  # type: ignore[arg-type]
        card.open()
        QApplication.processEvents()
        return card, told

    yield made
    theme.set_scale(1.0)
    for one in windows:
        one.hide()


def places(card: ContextCard) -> list[QRect]:
    """Where each line of text stands, seen from the card; in the scrolled part the whole of it."""
    return [
        QRect(one.mapTo(card, QPoint(0, 0)), one.size())
        for one in card.findChildren(QLabel)
        if one.isVisibleTo(card) and one.text()
    ]


def free(card: ContextCard) -> list[IconButton]:
    return [one for one in card.findChildren(IconButton) if one.accessibleName().startswith("Unpin")]


@pytest.mark.spec("R-CTX-3")
@pytest.mark.parametrize(
    ("width", "height", "pins", "scale"),
    [(960, 600, 2, 1.0), (960, 600, 50, 1.0), (1280, 800, 7, 1.0), (1280, 800, 0, 2.0), (960, 600, 50, 2.0)],
)
def test_nothing_overlaps_in_the_card_however_small_the_window_and_however_much_is_pinned(
    make: Make, theme: Theme, width: int, height: int, pins: int, scale: float
) -> None:
    theme.set_scale(scale)
    card, _ = make(width, height, pins)
    found = places(card)
    assert len([one for one in card.findChildren(QLabel) if PIN in one.text()]) == pins
    assert len([one for one in card.findChildren(QLabel) if one.text() == ELSEWHERE]) == min(1, pins // 2)
    inside = [one for one in card.findChildren(QLabel) if one.isVisibleTo(card) and one.text()]
    for at, one in enumerate(inside):
        needed = one.heightForWidth(one.width()) if one.hasHeightForWidth() else one.sizeHint().height()
        assert one.height() >= needed, one.text()
        scrolled = card.scroller.isAncestorOf(one)
        for other, where in zip(inside[at + 1 :], found[at + 1 :], strict=True):
            if scrolled == card.scroller.isAncestorOf(other):
                assert not found[at].intersects(where), (one.text(), other.text())
    assert card._box.geometry().intersected(card.rect()).height() > theme.px(200)
    close = card.buttons["close"]
    assert card.rect().contains(QRect(close.mapTo(card, QPoint(0, 0)), close.size()))


@pytest.mark.spec("R-CTX-3")
def test_the_card_becomes_as_small_as_what_it_still_tells(make: Make) -> None:
    card, told = make(1280, 800, 1)
    before = card._box.height()
    next(one for one in card.findChildren(Button) if one.label == "Use the messages again").click()
    QApplication.processEvents()
    assert card._box.height() < before - 100
    assert card.scroller.verticalScrollBar().maximum() == 0
    bottom = max(one.bottom() for one in places(card))
    assert card.scroller.mapTo(card, QPoint(0, card.scroller.height())).y() - bottom < 24
    kept = card.findChildren(QLabel)
    told.changed.emit()  # a round went by that changed nothing
    assert card.findChildren(QLabel) == kept


def test_keys_stay_in_the_card_when_what_had_them_is_gone_and_what_has_them_is_in_sight(make: Make) -> None:
    card, told = make(960, 600, 12)
    for _ in range(30):
        if card.window().focusWidget() is free(card)[-1]:
            break
        QTest.keyClick(card, Qt.Key.Key_Tab)
    last = free(card)[-1]
    assert card.window().focusWidget() is last
    assert not last.visibleRegion().isEmpty()
    QTest.keyClick(last, Qt.Key.Key_Space)
    QApplication.processEvents()
    assert len(told.pinned) == 11
    assert card.window().focusWidget() is free(card)[-1]
    told.pinned = []
    told.changed.emit()
    assert card.window().focusWidget() is card.buttons["close"]


@pytest.mark.spec("R-MOD-3")
def test_it_says_how_much_came_from_the_cache_and_what_that_saved(make: Make) -> None:
    card, told = make(960, 700, 1)
    assert "cache" not in words_of(card)
    told.used = Usage(335_000, 9_000, cached_tokens=228_000, cost_usd=0.3, written_tokens=40_000, saved_usd=0.41)
    told.changed.emit()
    assert "68 % came from the cache, saved $0.410" in words_of(card)
    assert "In this chat 335k tokens were sent; 228k of them were the same as before." in words_of(card)


def words_of(card: ContextCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(QLabel) if label.isVisible())
