"""The composer's text: grows from one line to ten, sends on Enter, and never loses a composition or a paste."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QTextOption
from PySide6.QtWidgets import QSizePolicy

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.undo_text import UndoText
from desktop.ui.widgets.dialogs.held_image import held_image

LINES = 10
"""Most lines before the text scrolls inside the composer."""

PASTE_AS_FILE = 100_000
"""A pasted text longer than this (characters) is attached as a file: a 5 MB paste must not freeze the editor."""

WORD_AS_FILE = 10_000
"""So is one with a longer word, such as data in base64: an editor lays it out in quadratic time, at every key."""

HINT = "Ask, or type / for a skill and @ for a file"


class ComposerText(UndoText):
    """Enter sends, Shift+Enter breaks the line; an input method's Enter only commits its composition."""

    send_pressed = Signal()
    files_dropped = Signal(object)
    text_dropped = Signal(str)
    image_pasted = Signal(object)
    key_for_offers = Signal(object)
    focus_changed = Signal(bool)
    history_back = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._composing = False
        self.send_on_enter = True
        self.offers_open = False
        self.offers_look = False
        self.setAccessibleName("Message")
        self.show_project("")
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self.updateGeometry())
        self.dress()
        theme().changed.connect(self.dress)

    def show_project(self, name: str) -> None:
        """Say what can be written here, and where files are looked for; "": in no project."""
        self.setPlaceholderText(f"{HINT} in {name}" if name else HINT)

    def dress(self) -> None:
        """Take the theme's font and size."""
        self.setFont(theme().font("reading"))
        self.viewport().setFont(theme().font("reading"))  # what Qt draws the hint with
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's
        """The height of the text, one to ten lines."""
        line = self.fontMetrics().lineSpacing()
        lines = min(LINES, max(1, int(self.document().size().height())))
        return QSize(theme().px(400), lines * line + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's
        """One line, however narrow."""
        return QSize(theme().px(120), self.fontMetrics().lineSpacing() + 2)

    # -- keys -------------------------------------------------------------------------------------------------------

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:  # noqa: N802 - Qt's
        """Remember whether a composition is under way."""
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's
        """Enter, the keys that the list of offers takes, and the rest as usual."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self.offers_open and self.offers_look and event.key() == Qt.Key.Key_Space and not self._composing:
            self.key_for_offers.emit(event.key())
            return
        if self.offers_open and event.key() in (
            Qt.Key.Key_Up,
            Qt.Key.Key_Down,
            Qt.Key.Key_Tab,
            Qt.Key.Key_Return,
            Qt.Key.Key_Enter,
            Qt.Key.Key_Escape,
        ):
            self.key_for_offers.emit(event.key())
            return
        if enter and not self._composing:
            self._enter(event)
            return
        if event.key() == Qt.Key.Key_Up and not self.toPlainText():
            self.history_back.emit()
            return
        super().keyPressEvent(event)

    def _enter(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        plain = modifiers == Qt.KeyboardModifier.NoModifier
        if control or (plain and self.send_on_enter):
            if not event.isAutoRepeat():  # a key still held from somewhere else, as from a request, sends nothing
                self.send_pressed.emit()
        else:
            self.insertPlainText("\n")
            self.ensureCursorVisible()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's
        """The frame shows where keys go."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's
        """The frame shows where keys go."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    # -- pasting and dropping ---------------------------------------------------------------------------------------

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 - Qt's
        """Text, files and images."""
        return source.hasUrls() or source.hasImage() or source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802 - Qt's
        """Files and images become attachments, long text too; other text is inserted without its formatting."""
        files = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if files:
            self.files_dropped.emit(tuple(files))
        elif source.hasImage() and not source.hasFormat("text/plain"):  # a browser adds the address of its picture
            self.image_pasted.emit(held_image(source))
        elif source.hasText():
            text = source.text()
            if len(text) > PASTE_AS_FILE or max(map(len, text.split()), default=0) > WORD_AS_FILE:
                self.text_dropped.emit(text)
            else:
                self.insertPlainText(text)
                self.ensureCursorVisible()
