"""Files and pictures dropped anywhere on a pane are taken; while they hang over it, it says what for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QDropEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import outline
from desktop.ui.widgets.dialogs.held_image import held_image

VEIL = 0.85
"""How much of the ground covers what is below."""


class DropZone(QWidget):
    """Lies over ``host`` while something that it can take is dragged over it, and says ``words``. What is dropped goes
    to ``files`` (paths) or ``image``; without ``image`` pictures are not taken."""

    def __init__(
        self,
        host: QWidget,
        words: str,
        files: Callable[[tuple[str, ...]], None],
        image: Callable[[object], None] | None = None,
    ) -> None:
        super().__init__(host)
        self._host, self._words, self._files, self._image = host, words, files, image
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(words)
        self.hide()
        host.setAcceptDrops(True)
        host.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what is dragged over the host."""
        if event.type() == QEvent.Type.DragLeave:
            self.hide()
        elif isinstance(event, QDropEvent) and self._wants(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._show() if event.type() != QEvent.Type.Drop else self._take(event.mimeData())
            return True
        return False

    def _wants(self, held: QMimeData) -> bool:
        return bool(_paths(held)) or (self._image is not None and _is_picture(held))

    def _show(self) -> None:
        self.setGeometry(self._host.rect())
        self.show()
        self.raise_()

    def _take(self, held: QMimeData) -> None:
        self.hide()
        paths = _paths(held)
        if paths:
            self._files(paths)
        elif self._image is not None:
            self._image(held_image(held))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A veil, a frame in the accent colour, and the words."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(t.color("surface"))
        veil.setAlphaF(VEIL)
        painter.fillRect(self.rect(), veil)
        inset = t.px(12)
        box = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        outline(painter, box, t.metric("radius-dialog"), t.color("accent"), 2.0)
        painter.setFont(t.font("title"))
        painter.setPen(t.color("text"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self._words)


def _paths(held: QMimeData) -> tuple[str, ...]:
    return tuple(url.toLocalFile() for url in held.urls() if url.isLocalFile())


def _is_picture(held: QMimeData) -> bool:
    return held.hasImage() and not held.hasFormat("text/plain")
