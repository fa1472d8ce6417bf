"""Where the request over a thread stands: never over what one sends and stops with, however large the text."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.ui.approvals.request.body import DiffCard
from desktop.ui.approvals.request.dialog import RequestDialog
from desktop.ui.approvals.request.reading import UnreadNotice
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.shadow import REACH
from tests.gui.approvals.conftest import DialogBench, settled
from tests.harness.timeouts import until


@pytest.mark.spec("R-PRM-14", "R-PRM-7")
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
async def test_no_answer_comes_to_lie_over_what_one_sends_and_stops_with(
    bench: DialogBench, write: PermissionRequest, theme: Theme, scale: float
) -> None:
    theme.set_scale(scale)
    bench.window.resize(900, 600)
    composer = QWidget(bench.window)
    composer.setGeometry(0, 600 - round(120 * scale), 900, round(120 * scale))
    composer.show()
    dialog = RequestDialog(bench.window, bench.approvals, str, composer)
    dialog.show_for(write.thread_id)
    await bench.ask(write)
    await settled()
    assert dialog.isVisible()
    assert dialog.geometry().intersected(composer.geometry()).height() <= 2 * round(REACH * scale)
    for button in (button for button in dialog.findChildren(Button) if button.isVisible()):
        place = QRect(button.mapTo(bench.window, QPoint(0, 0)), button.size())
        assert not place.intersects(composer.geometry()), button.label
    grown = round(min(160 * scale, 240))
    composer.setGeometry(0, 600 - grown, 900, grown)
    await settled(0.2)  # longer than it takes to say that not all was seen
    await until(lambda: not too_low(dialog, composer), seen=lambda: too_low(dialog, composer))
    answers = dialog.view.answers
    assert answers is not None
    allow, notices = answers.allow, dialog.findChildren(UnreadNotice)
    assert allow.isVisible() or notices[0].button.isVisible()  # what cannot allow yet leaves its room to why
    while not allow.isVisible():
        QTest.mouseClick(dialog.findChildren(UnreadNotice)[0].button, Qt.MouseButton.LeftButton)
        await settled()
    await until(
        lambda: not too_low(dialog, composer), seen=lambda: too_low(dialog, composer)
    )  # it is laid out a turn later
    assert allow.isVisible()


def too_low(dialog: QWidget, composer: QWidget) -> list[str]:
    """The buttons that reach below where one writes."""
    shown = (button for button in dialog.findChildren(Button) if button.isVisible())
    window = composer.parentWidget()
    return [one.label for one in shown if one.mapTo(window, QPoint(0, one.height())).y() > composer.y()]


async def test_the_head_of_a_card_is_whole_however_little_there_is_to_see(
    bench: DialogBench, write: PermissionRequest
) -> None:
    same = {**write.preview, "after": write.preview["before"]}
    await bench.ask(replace(write, preview=same))
    card = bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    await settled(0.1)
    assert "nothing changes" in card.diff_view.rows[0].text
    assert card.minimumSizeHint().height() <= card.maximumHeight()
    head, holder = card._row.parentWidget(), card._holder
    assert head.geometry().bottom() < holder.geometry().top()
    assert card.choice.visibleRegion().boundingRect() == card.choice.rect()
