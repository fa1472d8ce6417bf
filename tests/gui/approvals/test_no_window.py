"""Nothing of a request is ever a window of its own: a window that opens takes the keys from whoever is typing."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QTest

from desktop.domain.permission import PermissionRequest
from desktop.ui.approvals.request.answers import Answers
from tests.gui.approvals.conftest import DEAF_OVER, Desk, settled


class Windows(QObject):
    """Every window that is shown from now on, but for those of the tips and lists that Qt makes."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        shown = event.type() == QEvent.Type.Show and isinstance(watched, QWindow)
        if shown and watched.type() not in (Qt.WindowType.Popup, Qt.WindowType.ToolTip):
            self.shown.append(watched.objectName())
        return False


@pytest.fixture
def windows(desk: Desk) -> Iterator[Windows]:
    watch = Windows()
    application = QCoreApplication.instance()
    assert application is not None
    application.installEventFilter(watch)
    yield watch
    application.removeEventFilter(watch)


def answers(desk: Desk) -> Answers:
    assert desk.dialog.view.answers is not None
    return desk.dialog.view.answers


@pytest.mark.spec("R-PRM-7", "R-PRM-14")
async def test_neither_a_request_nor_a_dialog_about_it_is_a_window(
    desk: Desk, windows: Windows, write: PermissionRequest, shell: PermissionRequest
) -> None:
    for request in (write, shell):
        await desk.ask(request)
        for button in (answers(desk).reason, answers(desk).edit):
            button.click()
            await settled()
            assert desk.dialog.view.dialog_open
            desk.dialog.view.close_dialog()
            await settled()
        desk.approvals.answer(request.request_id, "deny", digest=request.digest)
        await settled()
    assert windows.shown == []


@pytest.mark.spec("R-PRM-14", "R-PRM-7")
async def test_the_window_stays_the_one_with_the_keys_through_a_whole_request(
    desk: Desk, windows: Windows, write: PermissionRequest
) -> None:
    await desk.ask(write)
    assert desk.window.isActiveWindow()
    answers(desk).reason.click()
    await settled(DEAF_OVER)
    assert desk.window.isActiveWindow()
    QTest.keyClick(desk.window.focusWidget(), Qt.Key.Key_Escape)
    await settled()
    assert desk.window.isActiveWindow()
    assert desk.dialog.view.request == write
