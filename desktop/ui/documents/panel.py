"""A document beside the chat: a page as it is printed, or what the model read of it. Nothing in it can be pressed."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QIntValidator, QKeyEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.presenter.documents.viewer import DocumentViewModel, ShownPart
from desktop.ui.documents.pages import STEPS, DocumentPage, PageScroll, ReadText
from desktop.ui.documents.unlock import UnlockPage
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.controls.find_bar import FindBar
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

FOOT = "Read by a confined program. Links and scripts in it do nothing."
SHARP = 2
"""A page is drawn with so many pixels for each that it takes, so that a closer look is sharp."""
MOST = 1_800
LONG_NAME = 30
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
        self.page = DocumentPage()
        self.text = ReadText()
        self.problem = EmptyState("file", "This page cannot be shown", "")
        self._scroll = PageScroll(self.page)
        self._pages = QStackedWidget()
        for widget in (self._scroll, self.text, self.problem):
            self._pages.addWidget(widget)
        column = self._column = Column(self, margins=(1, 0, 0, 0), spacing=0)
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
        document.opened.connect(self._hide_find)
        self.head.close_button.clicked.connect(self.closed)
        self.head.save.clicked.connect(document.save_copy)
        bar.back.clicked.connect(lambda: document.turn(-1))
        bar.on.clicked.connect(lambda: document.turn(1))
        for pages in (self._scroll, self.text):
            pages.turned.connect(document.turn)
            pages.asked_for.connect(self._end_wanted)
        bar.number.editingFinished.connect(self._number_given)
        bar.views.chosen.connect(document.set_view)
        self._scroll.resized.connect(self._room)

    def first_focus(self) -> QWidget:
        """Keys turn pages."""
        return self.text if self._pages.currentWidget() is self.text else self._scroll

    @cached_property
    def find_bar(self) -> FindBar:
        """Made when it is first wanted, so that the panel is there sooner."""
        made, document = FindBar(name="Find in this document"), self._document
        made.wanted.connect(document.find)
        made.closed.connect(lambda: self.first_focus().setFocus(Qt.FocusReason.OtherFocusReason))
        document.found.connect(made.show_count)
        document.looking.connect(made.say)
        self._column.insertWidget(2, made)
        return made

    @cached_property
    def unlock(self) -> UnlockPage:
        """The question for a password, made for the first document that has one."""
        made = UnlockPage()
        made.bar.given.connect(self._document.unlock)
        self._pages.addWidget(made)
        return made

    def _hide_find(self) -> None:
        if "find_bar" in self.__dict__:
            self.find_bar.setVisible(False)

    def begin_find(self) -> None:
        """Ctrl+F while the keys are here."""
        self.find_bar.begin()

    def _end_wanted(self, last: bool) -> None:
        self._document.go(self._document.shown.count if last else 1)

    def refresh(self) -> None:
        """Show what the view-model has now."""
        now = self._document.shown
        self.head.show_part(now)
        self.bar.show_part(now)
        if now.name != self._of:
            self._of = now.name
            self.page.clear()
            self.text.clear()
            self._hide_find()
        if now.locked and not now.loading:
            self.unlock.bar.ask(now.name, now.problem)
            self._pages.setCurrentWidget(self.unlock)
        elif now.problem:
            self.problem.say("This page cannot be shown", now.problem)
            self._pages.setCurrentWidget(self.problem)
        elif now.loading:
            return  # what is there stays until the other is
        elif now.view == "page":
            self._pages.setCurrentWidget(self._scroll)
            self.page.show_picture(now, lambda: self._scroll.go_to(self.page.top_of(now.at), from_end=now.from_end))
        else:
            self.text.show_part(now)
            self._pages.setCurrentWidget(self.text)

    def hideEvent(self, event: QHideEvent) -> None:
        """What reads it is ended."""
        super().hideEvent(event)
        self._document.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that turn pages, wherever they are pressed here."""
        key, control = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if (step := STEPS.get(key)) is not None:
            self._document.turn(step)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._end_wanted(key == Qt.Key.Key_End)
        elif key == Qt.Key.Key_F and control:
            self.begin_find()
        else:
            super().keyPressEvent(event)

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
        self.name.setText(_short(shown_line(now.name)))
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
        self.of = Text("", "small", "2")
        self.views = Segmented("How it is shown", (("page", "Page"), ("text", "What the model read")), small=True)
        row = Row(self, margins=(12, 0, 12, 0), spacing=8)
        for widget in (self.back, self.number, self.of, self.on):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.views)

    def show_part(self, now: ShownPart) -> None:
        """Where in the document that is."""
        unit = now.unit
        self.back.set_name(f"The {unit} before")
        self.on.set_name(f"The next {unit}")
        self.number.setAccessibleName(f"Which {unit}")
        self.number.setText(str(now.part))
        own = _short(now.label.removeprefix(now.name).strip()) if unit == "sheet" else ""
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


def _short(name: str) -> str:
    return name if len(name) <= LONG_NAME else f"{name[: LONG_NAME // 2]}…{name[-LONG_NAME // 2 :]}"
