"""Why Assent cannot start, for a person who has no terminal: in our look, read with any key that closes."""

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from desktop.app.lifecycle import startup_error as refusal
from desktop.domain.errors import KnownError
from desktop.ui.shell.startup_error import StartupErrorWindow


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_it_says_why_and_what_to_do_and_goes_with_a_key(qtbot, theme, key):
    window = StartupErrorWindow("The folder /home/x/.agent cannot be written.", "Give yourself permission.")
    qtbot.addWidget(window)
    window.show()
    words = "\n".join(label.text() for label in window.findChildren(QLabel))
    assert "cannot be written" in words + window.accessibleName()
    assert "Give yourself permission." in window.accessibleName()
    assert window.height() >= window.layout().heightForWidth(window.width()), "nothing is cut"
    told = []
    window.closed.connect(lambda: told.append(True))
    QTest.keyClick(window, key)
    assert told == [True]
    assert not window.isVisible()


def test_the_refusal_returns_when_it_was_read(qapp, theme):
    def read() -> None:
        (window,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, StartupErrorWindow) and w.isVisible()]
        window.button.click()
        window.deleteLater()

    QTimer.singleShot(100, read)
    refusals: list[KnownError] = []
    refusal.show(KnownError("Another Assent uses this home.", next_step="Close it first."), refusals.append)
    assert refusals == []
