"""Nothing of a request is ever a window of its own: a window that opens takes the keys from whoever is typing."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QTest

from desktop.domain.approval.permission import PermissionRequest
from desktop.ui.approvals.request.answers import Answers
from tests.gui.approvals.conftest import DEAF_OVER, DialogBench, settled


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
def windows(bench: DialogBench) -> Iterator[Windows]:
    watch = Windows()
    application = QCoreApplication.instance()
    assert application is not None
    application.installEventFilter(watch)
    yield watch
    application.removeEventFilter(watch)


def answers(bench: DialogBench) -> Answers:
    assert bench.dialog.view.answers is not None
    return bench.dialog.view.answers


@pytest.mark.spec("R-PRM-7", "R-PRM-14")
async def test_neither_a_request_nor_a_dialog_about_it_is_a_window(
    bench: DialogBench, windows: Windows, write: PermissionRequest, shell: PermissionRequest
) -> None:
    for request in (write, shell):
        await bench.ask(request)
        for button in (answers(bench).reason, answers(bench).edit):
            button.click()
            await settled()
            assert bench.dialog.view.dialog_open
            bench.dialog.view.close_dialog()
            await settled()
        bench.approvals.answer(request.request_id, "deny", digest=request.digest)
        await settled()
    assert windows.shown == []


@pytest.mark.spec("R-PRM-14", "R-PRM-7")
async def test_the_window_stays_the_one_with_the_keys_through_a_whole_request(
    bench: DialogBench, windows: Windows, write: PermissionRequest
) -> None:
    await bench.ask(write)
    assert bench.window.isActiveWindow()
    answers(bench).reason.click()
    await settled(DEAF_OVER)
    assert bench.window.isActiveWindow()
    QTest.keyClick(bench.window.focusWidget(), Qt.Key.Key_Escape)
    await settled()
    assert bench.window.isActiveWindow()
    assert bench.dialog.view.request == write
