"""Files and pictures dropped on the open thread, wherever on it, are attached."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication

from desktop.domain.messages import FileBlock, ImageBlock
from desktop.ui.widgets.dialogs.held_image import held_image
from tests.gui.app.kit import HELLO

COPY, LEFT, NONE = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def over(widget: Any, held: QMimeData) -> QDragEnterEvent:
    event = QDragEnterEvent(QPoint(50, 90), COPY, held, LEFT, NONE)
    QApplication.sendEvent(widget, event)
    return event


def drop(widget: Any, held: QMimeData) -> None:
    QApplication.sendEvent(widget, QDropEvent(QPointF(50, 90), COPY, held, LEFT, NONE))


async def test_what_is_dropped_anywhere_on_the_thread_is_attached(start: Callable[..., Any], tmp_path: Path) -> None:
    app = await start(HELLO)
    pane = app.page.pane
    noted = tmp_path / "notes.txt"
    noted.write_text("tide")
    held = QMimeData()
    held.setUrls([QUrl.fromLocalFile(str(noted))])
    assert over(pane, held).isAccepted()
    assert pane.drop_zone.isVisible()
    assert pane.drop_zone.size() == pane.size()
    QApplication.sendEvent(pane, QDragLeaveEvent())
    assert not pane.drop_zone.isVisible()
    over(pane, held)
    drop(pane, held)
    assert not pane.drop_zone.isVisible()
    await app.until(lambda: app.composer.attachments, "the file")
    assert app.composer.attachments == (FileBlock("notes.txt", "tide"),)
    picture = QMimeData()
    picture.setImageData(QImage(8, 8, QImage.Format.Format_RGB32))
    over(pane, picture)
    drop(pane, picture)
    await app.until(lambda: len(app.composer.attachments) == 2, "the picture")
    assert isinstance(app.composer.attachments[1], ImageBlock)


@pytest.mark.spec("R-MOD-6")
async def test_a_picture_in_a_format_that_is_not_opened_says_which_are(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    held = QMimeData()
    held.setData("image/heic", b"\0\0\0\x18ftypheic")
    app.page.pane.foot.take_image(held_image(held))
    await app.until(lambda: "PNG, JPEG, GIF, WebP, AVIF" in app.page.toast.text, "why")
    assert app.composer.attachments == ()


async def test_words_dragged_over_the_thread_are_nothing_to_attach(start: Callable[..., Any]) -> None:
    app = await start(HELLO)
    words = QMimeData()
    words.setText("no file")
    over(app.page.pane, words)
    assert not app.page.pane.drop_zone.isVisible()
