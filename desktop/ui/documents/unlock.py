"""Asks for the password of a document. It goes to the program that reads the document, and is kept nowhere."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.secret_field import SecretField
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

PROMISE = "It goes only to the program that reads the document, and is forgotten when Assent ends."


class UnlockBar(QFrame):
    """``given`` a password; with ``leave`` also "" when the person gives none."""

    given = Signal(str)

    def __init__(self, leave: str = "") -> None:
        super().__init__()
        self._words = Paragraph("", "small", "2")
        self.field = SecretField("Password of the document", lambda text: (text, ""), hint="Password")
        self.open = Button("Open", "primary", small=True)
        self.leave = Button(leave, "quiet", small=True)
        if not leave:
            self.leave.hide()
        head = Row(spacing=8)
        head.addWidget(Icon("lock", "text-2", 16))
        head.addWidget(self._words, 1)
        row = Row(spacing=8)
        row.addWidget(sized(self.field, max_width=320), 1)
        row.addWidget(self.open)
        row.addWidget(self.leave)
        row.addStretch(1)
        column = Column(self, spacing=6)
        column.addLayout(head)
        column.addLayout(row)
        column.addWidget(Paragraph(PROMISE, "small", "3"))
        self.field.returnPressed.connect(self._give)
        self.open.clicked.connect(self._give)
        self.leave.clicked.connect(self._leave)
        self.hide()

    def ask(self, name: str, said: str) -> None:
        """Ask for the password of this document; "" takes the question back. ``said``: what was wrong."""
        self.field.wipe()
        short = shown_line(name[:80])
        wrong = bool(said) and not said.startswith("It is encrypted")
        words = f"That password does not open {short}." if wrong else f"{short} is encrypted."
        self._words.set_pieces(f"{words} Its password:")
        self.field.set_error(wrong)
        self.field.setAccessibleDescription(words)
        had = self.isVisible()
        self.setVisible(bool(name))
        if name and not had:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def words(self) -> str:
        """What is asked."""
        return self._words.text()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives none."""
        if event.key() == Qt.Key.Key_Escape and not self.leave.isHidden():
            self._leave()
        else:
            super().keyPressEvent(event)

    def _give(self) -> None:
        if password := self.field.taken():
            self.given.emit(password)

    def _leave(self) -> None:
        self.field.wipe()
        self.given.emit("")


class UnlockPage(QWidget):
    """The question in the place of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = UnlockBar()
        column = Column(self, margins=(24, 24, 24, 24))
        column.addWidget(self.bar)
        column.addStretch(1)
