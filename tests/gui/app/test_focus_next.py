"""After a choice the keys are where the next one should go."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.app.kit import HELLO


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("which", ["model", "agent"])
async def test_after_choosing_who_answers_one_types_on(start: Callable[..., Any], which: str) -> None:
    app = await start(HELLO)
    button = getattr(app.composer, which)
    button.setFocus()
    button.click()
    await app.until(lambda: QApplication.activePopupWidget() is not None, "the list")
    QTest.keyClick(QApplication.activePopupWidget(), Qt.Key.Key_Return)
    await app.until(lambda: QApplication.activePopupWidget() is None, "a choice")
    await app.until(lambda: app.window.focusWidget() is app.composer.text, "the keys in the composer")
