"""A document beside the chat: a page as it is printed, or what the model read of it. Nothing in it can be pressed."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QImage, QIntValidator, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from desktop.presenter.documents.viewer import DocumentViewModel, ShownPart
from desktop.ui.theme import theme
from desktop.ui.theme.raster_images import raster_image
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import Field, MonoView
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Text

FOOT = "Read by a confined program. Links and scripts in it do nothing."
SHARP = 2
"""A page is drawn with so many pixels for each that it takes, so that a closer look is sharp."""
MOST = 1_800
LONG_NAME = 34
"""Letters of a name; of a longer one the middle is left out."""


class DocumentPanel(QFrame):
    """``closed`` by the person; ``save`` a path, and the bytes of the original. ``said`` is there as in every panel at
    the side: what is said of a document comes from the view-model, whether there is a panel or not."""

    closed = Signal()
    said = Signal(str)
    save = Signal(str, object)

    def __init__(self, document: DocumentViewModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setProperty("pane", "side")
        self.setAccessibleName("Document")
        self.head = _DocumentHead()
        self.bar = _Bar()
        self.page = _Page()
        self.text = MonoView("What the model read", wrap=True)
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.problem = EmptyState("file", "This page cannot be shown", "")
        self._scroll = _PageScroll(self.page)
        self._pages = QStackedWidget()
        for widget in (self._scroll, self.text, self.problem):
            self._pages.addWidget(widget)
        column = Column(self, margins=(1, 0, 0, 0), spacing=0)
        column.addWidget(self.head)
        column.addWidget(self.bar)
        column.addWidget(self._pages, 1)
        column.addWidget(_DocumentFoot())
        self._of = ""
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        document, bar = self._document, self.bar
        document.changed.connect(self.refresh)
        document.copied.connect(self._ask_where)
        self.head.close_button.clicked.connect(self.closed)
        self.head.save.clicked.connect(document.save_copy)
        bar.back.clicked.connect(lambda: document.go(document.shown.part - 1))
        bar.on.clicked.connect(lambda: document.go(document.shown.part + 1))
        bar.number.editingFinished.connect(self._number_given)
        bar.views.chosen.connect(document.set_view)
        self._scroll.resized.connect(self._room)

    def first_focus(self) -> QWidget:
        """Keys turn pages."""
        return self.text if self._pages.currentWidget() is self.text else self._scroll

    def refresh(self) -> None:
        """Show what the view-model has now."""
        now = self._document.shown
        self.head.show_part(now)
        self.bar.show_part(now)
        if now.name != self._of:
            self._of = now.name
            self.page.clear()
            self.text.clear()
        if now.problem:
            self.problem.say("This page cannot be shown", now.problem)
            self._pages.setCurrentWidget(self.problem)
        elif now.loading:
            return  # what is there stays until the other is
        elif now.view == "page":
            self.page.show_picture(now.picture, shown_line(now.label))
            self._pages.setCurrentWidget(self._scroll)
            self._scroll.verticalScrollBar().setValue(0)
        else:
            self.text.setAccessibleName(shown_line(f"What the model read of {now.label}"))
            self.text.setPlainText(shown(now.text))
            self._pages.setCurrentWidget(self.text)

    def hideEvent(self, event: QHideEvent) -> None:
        """What reads it is ended."""
        super().hideEvent(event)
        self._document.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Page up and down turn pages where there is nothing to scroll."""
        step = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(
            Qt.Key(event.key())
        )
        if step is None:
            super().keyPressEvent(event)
        else:
            self._document.go(self._document.shown.part + step)

    def _room(self, width: int) -> None:
        self._document.width = min(MOST, max(200, width * SHARP))

    def _number_given(self) -> None:
        text = self.bar.number.text()
        if text.isdigit() and int(text) != self._document.shown.part:
            self._document.go(int(text))

    def _ask_where(self, name: str, data: object) -> None:
        dialog = FileDialog(self, "Save this document")
        dialog.setAcceptMode(FileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(name.rpartition(".")[2])
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self.save.emit(path, data))
        dialog.open()


class _DocumentHead(QFrame):
    """The name of the document."""

    tabs = None

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48)
        self.name = Text("", "strong")
        self.title = Text("", "small", "2", elide="right")
        self.save = IconButton("export", "Save the original", side=32)
        self.close_button = IconButton("close", "Close the document", side=32)
        row = Row(self, margins=(16, 1, 8, 0), spacing=8)
        row.addWidget(Icon("file", "text-2", 16))
        row.addWidget(self.name)
        row.addWidget(self.title, 1)
        row.addWidget(self.save)
        row.addWidget(self.close_button)

    def show_part(self, now: ShownPart) -> None:
        """Whose page is shown."""
        name = shown_line(now.name)
        self.name.setText(name if len(name) <= LONG_NAME else f"{name[: LONG_NAME // 2]}…{name[-LONG_NAME // 2 :]}")
        self.title.setText(shown_line(now.title[:120]))


class _Bar(QFrame):
    """Which page, and how it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=40)
        self.back = IconButton("left", "The page before", side=24)
        self.on = IconButton("right", "The next page", side=24)
        self.number = Field("Page")
        self.number.setValidator(QIntValidator(1, 9_999_999, self.number))
        self.number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        sized(self.number, width=56)
        self.of = Text("", "small", "2", elide="right")
        self.views = Segmented("How it is shown", (("page", "Page"), ("text", "What the model read")), small=True)
        row = Row(self, margins=(12, 0, 12, 0), spacing=8)
        for widget in (self.back, self.number, self.on):
            row.addWidget(widget)
        row.addWidget(self.of, 1)
        row.addWidget(self.views)

    def show_part(self, now: ShownPart) -> None:
        """Where in the document that is."""
        unit = now.unit
        self.back.set_name(f"The {unit} before")
        self.on.set_name(f"The next {unit}")
        self.number.setAccessibleName(f"Which {unit}")
        self.number.setText(str(now.part))
        own = now.label.removeprefix(now.name).strip() if unit == "sheet" else ""
        of = f"of {now.count:,}" if unit == "page" else f"of {now.count:,} {unit}s"
        self.of.setText(shown_line(f"{of}: {own}" if own else of))
        self.back.setEnabled(now.part > 1)
        self.on.setEnabled(now.part < now.count)
        self.views.setVisible(now.has_pictures)
        self.views.set_value(now.view)


class _DocumentFoot(QFrame):
    """What may be trusted."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "footer")
        row = Row(self, margins=(16, 9, 16, 9), spacing=8)
        row.addWidget(Icon("lock", "text-2", 16))
        row.addWidget(Text(FOOT, "small", "2", elide="right"), 1)


class _PageScroll(QScrollArea):
    """The page, as wide as there is room. ``resized`` with the width of the page."""

    resized = Signal(int)

    def __init__(self, page: _Page) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._page = page
        held = pane("plain")
        column = Column(held, margins=(24, 16, 24, 16), spacing=0)
        column.addWidget(page)
        column.addStretch(1)
        self.setWidget(held)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The page follows."""
        super().resizeEvent(event)
        room = self.viewport().width() - theme().px(48)
        self._page.fit(room)
        self.resized.emit(room)


class _Page(QWidget):
    """One page as it is printed."""

    def __init__(self) -> None:
        super().__init__()
        self._pool = Pool(self)
        self._image = QImage()
        self._room = 0
        self._wanted = 0

    def show_picture(self, png: bytes, label: str) -> None:
        """Decoded in a thread; what was there stays until then."""
        self._wanted += 1
        wanted = self._wanted
        self.setAccessibleName(label)
        self.setAccessibleDescription("A page as a picture; its text is under What the model read")

        def done(image: QImage | None) -> None:
            if wanted == self._wanted:
                self._image = image or QImage()
                self.fit(self._room)
                self.update()

        self._pool.run(lambda: raster_image(png, QSize(MOST, 20 * MOST)), done)

    def clear(self) -> None:
        """Of another document; a picture that is still being decoded is not shown either."""
        self._wanted += 1
        self._image = QImage()
        self.setAccessibleName("")
        self.update()

    def fit(self, room: int) -> None:
        """As wide as there is room, never larger than it is."""
        self._room = room
        if not self._image.isNull() and room > 0:
            width = min(room, self._image.width())
            self.setFixedHeight(max(1, width * self._image.height() // self._image.width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The page with a hairline around it."""
        if self._image.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        width = min(self.width(), self._image.width())
        box = QRect((self.width() - width) // 2, 0, width, self.height())
        painter.drawImage(box, self._image)
        painter.setPen(theme().color("border"))
        painter.drawRect(box.adjusted(0, 0, -1, -1))
