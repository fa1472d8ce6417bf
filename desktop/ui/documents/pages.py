"""A part of a document as it is shown: its picture with marks on it, or its text; keys that reach its ends turn on."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollArea, QTextEdit, QWidget

from desktop.presenter.documents.viewer import ShownPart
from desktop.ui.theme import theme
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown, shown_line

MOST = 1_800
"""Pixels of a page in width."""
ABOVE = 64
"""Pixels above a mark that are seen with it."""
STEPS = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}
"""Keys that turn pages where there is nothing to scroll."""
_SCROLLS = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -1, Qt.Key.Key_Up: -1}


def _turns(area: QAbstractScrollArea, event: QKeyEvent) -> int:
    """Whether a key turns to the next part (1) or the one before (-1): it scrolls, and the end is reached."""
    bar, key = area.verticalScrollBar(), Qt.Key(event.key())
    if key == Qt.Key.Key_Space:
        step = -1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
    else:
        step = _SCROLLS.get(key, 0)
    at_end = bar.value() >= bar.maximum() if step > 0 else bar.value() <= bar.minimum()
    return step if step and at_end else 0


class PageScroll(QScrollArea):
    """The page, as wide as there is room. ``resized`` with the width of the page; ``turned`` by a key that goes over
    its end (1) or its beginning (-1); ``asked_for`` the last part (True) or the first."""

    resized = Signal(int)
    turned = Signal(int)
    asked_for = Signal(bool)

    def __init__(self, page: DocumentPage) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Page")
        self._page = page
        held = self._held = pane("plain")
        column = Column(held, margins=(24, 16, 24, 16), spacing=0)
        column.addWidget(page)
        column.addStretch(1)
        self.setWidget(held)

    def go_to(self, top: int, *, from_end: bool) -> None:
        """Show the page from its beginning, from a mark on, or its end."""
        held = self._held
        if (layout := held.layout()) is not None:
            layout.activate()
        held.resize(held.width(), max(held.sizeHint().height(), self.viewport().height()))
        bar = self.verticalScrollBar()
        place = self._page.y() + top - theme().px(ABOVE)
        bar.setValue(bar.maximum() if from_end and top <= 0 else max(0, place) if top > 0 else 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """It scrolls, and goes on at its ends; Home and End are those of the document, right and left its parts."""
        key = Qt.Key(event.key())
        if step := _turns(self, event):
            self.turned.emit(step)
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self.turned.emit(STEPS[key])
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.asked_for.emit(key == Qt.Key.Key_End)
        elif key == Qt.Key.Key_Space:
            bar = self.verticalScrollBar()
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            bar.setValue(bar.value() + (-1 if back else 1) * bar.pageStep())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The page follows."""
        super().resizeEvent(event)
        room = self.viewport().width() - theme().px(48)
        self._page.fit(room)
        self.resized.emit(room)


class DocumentPage(QWidget):
    """One page as it is printed."""

    def __init__(self) -> None:
        super().__init__()
        self._pool = Pool(self)
        self._image = QImage()
        self._now = ShownPart("")
        self._room = 0
        self._wanted = 0

    def show_picture(self, now: ShownPart, then: Callable[[], None]) -> None:
        """Decoded in a thread; what was there stays until then."""
        self._wanted += 1
        wanted, same = self._wanted, now.picture == self._now.picture and not self._image.isNull()
        self.setAccessibleName(shown_line(now.label))
        marked = "; places on it are marked" if now.marks else ""
        self.setAccessibleDescription(f"A page as a picture; its text is under What the model read{marked}")

        def done(image: QImage | None) -> None:
            if wanted == self._wanted:
                self._image, self._now = image or QImage(), now
                self.fit(self._room)
                self.update()
                then()

        if same:
            done(self._image)
        else:
            self._pool.run(lambda: raster_image(now.picture, QSize(MOST, 20 * MOST)), done)

    def clear(self) -> None:
        """Of another document; a picture that is still being decoded is not shown either."""
        self._wanted += 1
        self._image, self._now = QImage(), ShownPart("")
        self.setAccessibleName("")
        self.update()

    def fit(self, room: int) -> None:
        """As wide as there is room, never larger than it is."""
        self._room = room
        if not self._image.isNull() and room > 0:
            width = min(room, self._image.width())
            self.setFixedHeight(max(1, width * self._image.height() // self._image.width()))

    def top_of(self, at: int) -> int:
        """Where on the page a mark begins, in pixels; 0 where there is none."""
        marks = self._now.marks
        return int(marks[min(at, len(marks) - 1)][0][1] * self.height()) if marks and at >= 0 else 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """The page with its marks, and a hairline around it."""
        if self._image.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        width = min(self.width(), self._image.width())
        box = QRect((self.width() - width) // 2, 0, width, self.height())
        painter.drawImage(box, self._image)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        for number, lines in enumerate(self._now.marks):
            color = theme().color(
                "paper-mark-now" if number == self._now.at and not self._now.is_cited else "paper-mark"
            )
            for left, top, right, bottom in lines:
                x, y = box.x() + left * box.width(), top * box.height()
                mark = QRectF(x, y, (right - left) * box.width(), (bottom - top) * box.height())
                painter.fillRect(mark.adjusted(-1, -1, 1, 1), color)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.setPen(theme().color("border"))
        painter.drawRect(box.adjusted(0, 0, -1, -1))


class ReadText(MonoView):
    """What the model read of a part. The signals are those of ``PageScroll``."""

    turned = Signal(int)
    asked_for = Signal(bool)

    def __init__(self) -> None:
        super().__init__("What the model read", wrap=True)

    def show_part(self, now: ShownPart) -> None:
        """Its text, with what is cited or looked for marked."""
        self.setAccessibleName(shown_line(f"What the model read of {now.label}"))
        text = shown(now.text)
        if text != self.toPlainText():
            self.setPlainText(text)
        at = min(now.at, len(now.stretches) - 1)
        marks = [
            self._mark(now.text, *stretch, here=number == at and not now.is_cited)
            for number, stretch in enumerate(now.stretches)
        ]
        self.setExtraSelections(marks)
        cursor = self.textCursor()
        if at >= 0:
            cursor.setPosition(marks[at].cursor.selectionStart())
        else:
            cursor.movePosition(QTextCursor.MoveOperation.End if now.from_end else QTextCursor.MoveOperation.Start)
        self.setTextCursor(cursor)
        if at >= 0:
            self.centerCursor()

    def _mark(self, text: str, start: int, end: int, *, here: bool) -> QTextEdit.ExtraSelection:
        look = QTextCharFormat()
        look.setBackground(theme().color("write" if here else "write-soft"))
        if here:
            look.setForeground(theme().color("surface"))
        made = QTextEdit.ExtraSelection()
        made.format = look
        made.cursor = QTextCursor(self.document())
        made.cursor.setPosition(_units(text, start))
        made.cursor.setPosition(_units(text, end), QTextCursor.MoveMode.KeepAnchor)
        return made

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that scroll go on at its ends; with Ctrl, Home and End are those of the document."""
        key, control = Qt.Key(event.key()), event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if control and key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            self.turned.emit(STEPS[key])
        elif control and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.asked_for.emit(key == Qt.Key.Key_End)
        elif not event.modifiers() & Qt.KeyboardModifier.ShiftModifier and (step := _turns(self, event)):
            self.turned.emit(step)
        else:
            super().keyPressEvent(event)


def _units(text: str, characters: int) -> int:
    """Python counts code points, Qt UTF-16 units."""
    return len(shown(text[:characters]).encode("utf-16-le", "surrogatepass")) // 2
