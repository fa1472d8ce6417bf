"""Dialogs inside the window, over a scrim: opened, never executed; the safe answer comes first and has the keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, Kind
from desktop.ui.widgets.focus_place import FocusPlace
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shadow import REACH, RaisedBox
from desktop.ui.widgets.text import Paragraph, Piece, Text


@dataclass(frozen=True, slots=True)
class DialogAnswer:
    """A button of a dialog; ``value`` is what ``answered`` carries."""

    value: str
    label: str
    kind: Kind = "normal"
    key: str = ""


class Scrim(QWidget):
    """Darkens the window and takes its clicks; follows the window's size."""

    clicked = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setGeometry(window.rect())
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the window's size."""
        if event.type() == QEvent.Type.Resize and watched is self.parentWidget() and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
            self.resized()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        """Cover the window as it is now: its size may have changed while this was hidden."""
        super().showEvent(event)
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())
        self.resized()

    def resized(self) -> None:
        """Called after a resize, for subclasses that have something lie on it."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill the window with the scrim colour."""
        QPainter(self).fillRect(self.rect(), theme().color("scrim"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside what lies on it."""
        self.clicked.emit()


class Dialog(Scrim):
    """Title, text, anything in ``body``, answers at the right. ``answered`` comes once; Escape gives the safe answer.

    ``answers[0]`` is the safe one; without any, ``body`` brings its own buttons and the safe one is ``cancel``. The
    dialog keeps Tab inside itself and gives the focus back when it closes.
    """

    answered = Signal(str)
    help_page = ""
    """The page of help for it; without one, that of the page below it."""

    def __init__(
        self,
        window: QWidget,
        title: str,
        text: str | Sequence[Piece] = "",
        answers: Sequence[DialogAnswer] = (DialogAnswer("close", "Close", key="Esc"),),
        *,
        width: int = 400,
    ) -> None:
        super().__init__(window)
        self._base_width = width
        self._safe = answers[0].value if answers else "cancel"
        self._done = False
        self._before = FocusPlace.of(window)
        self._box = RaisedBox(self)
        self.setAccessibleName(title)
        reach = REACH
        column = Column(self._box, margins=(24 + reach, 20 + reach, 24 + reach, 16 + reach), spacing=8)
        self._title = Text(title, "title", elide="right")
        column.addWidget(self._title)
        self._text = Paragraph(text, "body", "2")
        column.addWidget(self._text)  # before it is shown: without a parent it would be a window and take the keys
        self._text.setVisible(bool(text))
        self.body = Column(spacing=8)
        column.addLayout(self.body, 1)
        if answers:
            column.addSpacing(theme().px(8))
        self.buttons = self._make_buttons(answers, column)

    def set_title(self, title: str) -> None:
        """Call it something else, as what it shows changes."""
        self._title.setText(title)
        self.setAccessibleName(title)

    def _make_buttons(self, answers: Sequence[DialogAnswer], column: Column) -> dict[str, Button]:
        row = Row(spacing=8)
        row.addStretch(1)
        made: dict[str, Button] = {}
        for answer in answers:
            button = Button(answer.label, answer.kind, key=answer.key)
            button.clicked.connect(lambda _=False, value=answer.value: self.answer(value))
            made[answer.value] = button
            row.addWidget(button)
        column.addLayout(row)
        return made

    def open(self, focus: QWidget | None = None) -> None:
        """Show it and give it the keys (the person asked for it): to the safe answer, or to ``focus``."""
        self.resized()
        self.show()
        self.raise_()
        (focus or self.buttons[self._safe]).setFocus(Qt.FocusReason.OtherFocusReason)

    def answer(self, value: str) -> None:
        """Close with an answer; later answers are ignored."""
        if self._done:
            return
        self._done = True
        self.hide()
        self._before.give_back()
        self.answered.emit(value)
        self.deleteLater()

    def resized(self) -> None:
        """Centre the box, slightly above the middle."""
        px = theme().px
        width = min(px(self._base_width), self.width() - px(32))
        inner = width + 2 * px(REACH)
        layout = self._box.layout()
        height = layout.heightForWidth(inner) if layout is not None and layout.hasHeightForWidth() else 0
        if layout is not None and height <= 0:
            height = layout.sizeHint().height()
        height = min(height - 2 * px(REACH), self.height() - px(32))
        top = max(px(16), (self.height() - height) * 2 // 5)
        self._box.place(QRect((self.width() - width) // 2, top, width, height))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape is the safe answer; Return is that of the button which has the keys, and no other."""
        if event.key() == Qt.Key.Key_Escape:
            self.answer(self._safe)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            for button in self.buttons.values():
                if button.hasFocus() and button.isEnabled():
                    button.click()
                    break
        event.accept()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes around inside the dialog."""
        chain = [w for w in self._box.findChildren(QWidget) if w.isVisible() and w.isEnabled() and _takes_tab(w)]
        if not chain:
            return True
        current = self.window().focusWidget()
        at = chain.index(current) if current in chain else -1
        step = 1 if forward else -1
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        chain[(at + step) % len(chain)].setFocus(reason)
        return True


def dialog_open(window: QWidget) -> bool:
    """Whether a dialog lies over this window."""
    found = window.findChildren(Dialog, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return any(dialog.isVisible() for dialog in found)


def _takes_tab(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
