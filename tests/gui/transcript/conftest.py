"""A transcript on the screen, and ways to use it as a person would."""

import time
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QEventLoop, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import Theme
from desktop.ui.transcript import TranscriptView
from tests.harness.timeouts import WAIT_S


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme.install(qapp, "light", 1.0)
    yield made
    made.set_choice("light")
    made.set_scale(1.0)


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> TranscriptView:
    made = TranscriptView(theme)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    return made


def spin(milliseconds: int) -> None:
    """Lets the real loop run; unlike QTest.qWait it lets worker threads run, too."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if condition():
            return True
        spin(10)
    return condition()


def said(number: int, text: str = "", side: str = "a", live: bool = False) -> TranscriptItem:
    """A message of one text."""
    text = text or f"Message {number}. " + "Some words to read. " * (number % 40)
    part = TextPart(f"m{number}:0", text, live=live)
    author = "You" if side == "human" else "Agent"
    return TranscriptItem(f"m{number}", side, author, "12:00", (part,), live=live)  # type: ignore[arg-type]


def thread(count: int) -> tuple[TranscriptItem, ...]:
    return tuple(said(n, side="human" if n % 2 == 0 else "a") for n in range(count))


def middle(view: TranscriptView, message_id: str, words: str) -> QPoint:
    """A point in the viewport in the middle of some words."""
    index = view.page.place(message_id)
    assert index is not None
    message = view.page.messages[index]
    start = message.text().index(words)
    first, last = message.cursor_rect(start), message.cursor_rect(start + len(words))
    x, _ = view.column()
    y = view.page.top(index) - view.offset()
    return QPointF(x + (first.x() + last.x()) / 2, y + first.center().y()).toPoint()


def edge(view: TranscriptView, message_id: str, words: str, *, end: bool = False) -> QPoint:
    """A point at the start or the end of some words."""
    index = view.page.place(message_id)
    assert index is not None
    message = view.page.messages[index]
    at = message.text().index(words) + (len(words) if end else 0)
    rect = message.cursor_rect(at)
    x, _ = view.column()
    return QPointF(
        x + rect.x() + (1 if not end else 0), view.page.top(index) - view.offset() + rect.center().y()
    ).toPoint()


def drag(view: TranscriptView, start: QPoint, end: QPoint, *, release: bool = True) -> None:
    port = view.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for share in (0.3, 0.7, 1.0):
        point = start + (end - start) * share
        QTest.mouseMove(port, point)
        move_held(view, point)
    if release:
        QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)


def move_held(view: TranscriptView, point: QPoint) -> None:
    """A move with the left button down: QTest.mouseMove reports no buttons."""
    position = QPointF(point)
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        position,
        QPointF(view.viewport().mapToGlobal(point)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(view.viewport(), event)


def picture(view: TranscriptView) -> list[bytes]:
    """The rows of pixels on the screen."""
    image = view.viewport().grab().toImage()
    return [bytes(image.constScanLine(y)) for y in range(image.height())]
