"""When a window is on the screen for the first time."""

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from desktop.ui.shell.first_paint import FirstPaint
from tests.harness.timeouts import WAIT_MS


class Window(QMainWindow):
    """Says when Qt has it painted."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._seen.append("paint")


def spin(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def test_it_comes_once_and_after_qt_has_painted(qtbot: QtBot) -> None:
    seen: list[str] = []
    window = Window(seen)
    qtbot.addWidget(window)
    FirstPaint.of(window).painted.connect(lambda: seen.append("seen"))
    window.show()
    qtbot.waitUntil(lambda: "seen" in seen, timeout=WAIT_MS)
    window.hide()
    window.show()
    qtbot.waitUntil(lambda: seen.count("paint") > 1, timeout=WAIT_MS)
    spin(50)
    assert seen.index("paint") < seen.index("seen")
    assert seen.count("seen") == 1


def test_a_window_that_is_not_shown_is_not_painted_and_is_looked_for_with_pauses(qtbot: QtBot) -> None:
    seen: list[str] = []
    window = Window(seen)
    qtbot.addWidget(window)
    watch = FirstPaint.of(window)
    watch.painted.connect(lambda: seen.append("seen"))
    timer = watch.findChild(QTimer)
    qtbot.waitUntil(lambda: timer.interval() > 0, timeout=WAIT_MS)
    assert seen == []
    window.show()
    qtbot.waitUntil(lambda: "seen" in seen, timeout=WAIT_MS)


def test_a_window_has_one(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    assert FirstPaint.of(window) is FirstPaint.of(window)
