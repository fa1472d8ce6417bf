"""One toast at a time, bottom left of its pane: a sentence and perhaps Undo; pointer and focus keep it.

It stands above what is in use at the pane's foot (``above``), and above what else is pressed there (``find_spot``).
Ctrl+Z takes back what it tells of, as long as it shows and keys are in no text: there it takes back what was typed.
"""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QRect, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QEnterEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget
from shiboken6 import isValid

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.undo_text import UndoText
from desktop.ui.widgets.focus_place import FocusPlace
from desktop.ui.widgets.layout.free_spot import find_spot, focus_in
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.shadow import REACH, RaisedBox
from desktop.ui.widgets.text import Text

EDGE, GAP, HEIGHT = 24, 8, 40


class Toast(RaisedBox):
    """A message at the foot of a pane. Shown with ``say``; ``undone`` carries the token of the thing to undo."""

    undone = Signal(str)

    def __init__(self, pane: QWidget, above: QWidget | None = None) -> None:
        super().__init__(pane, "radius-card")
        self._pane = pane
        self._above = above
        self._token, self._stays = "", "toast"
        self._words = Text("", elide="right")
        self._undo = Button("Undo", "quiet", icon="undo", small=True, tip="Undo (Ctrl+Z)")
        self._keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self)
        self._keys.activated.connect(self._undo.click)
        self._spot = QRect()
        self._watched: list[QWidget] = []
        self._before = FocusPlace(None)
        row = Row(self, margins=(16 + REACH, REACH, 8 + REACH, REACH), spacing=12)
        row.addWidget(self._words, 1)
        row.addWidget(self._undo)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._maybe_leave)
        self._undo.clicked.connect(self._undone)
        self._slide = QVariantAnimation(self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._slide.valueChanged.connect(self._moved)
        for watched in (pane, above):
            if watched is not None:
                watched.installEventFilter(self)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow_keys)
        self.hide()

    def stand_above(self, above: QWidget | None) -> None:
        """What is in use at the pane's foot now, or nothing."""
        if above is self._above:
            return
        if self._above is not None and isValid(self._above) and self._above is not self._pane:
            self._above.removeEventFilter(self)
        self._above = above
        if above is not None:
            above.installEventFilter(self)

    def say(self, text: str, undo_token: str = "", *, label: str = "Undo", stays: str = "toast") -> None:
        """Show a sentence, replacing the last; with a token also Undo, under this label. ``stays``: how long, by the
        name of the duration."""
        self._stays = stays
        self._undo.set_label(label)
        self._token = undo_token
        self._words.setText(text)
        self._undo.setVisible(bool(undo_token))
        self._keys.setEnabled(bool(undo_token))
        self.setAccessibleName(text)
        if not self._undo.hasFocus():
            self._before = FocusPlace.of(self.window())
        self._find_spot()
        self.show()
        self.raise_()
        self._follow_keys()
        self._timer.start(theme().duration(self._stays))
        self._slide.stop()
        self._slide.setDuration(theme().duration("settle"))
        self._slide.setStartValue(float(theme().px(8)))
        self._slide.setEndValue(0.0)
        self._slide.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.spoken))

    @property
    def text(self) -> str:
        """The words that it shows."""
        return self._words.text()

    @property
    def spoken(self) -> str:
        """What is read aloud of it: the keys only where they work."""
        at = self.window().focusWidget()
        typing = at.takes_undo if isinstance(at, UndoText) else isinstance(at, QLineEdit | QPlainTextEdit | QTextEdit)
        return f"{self.text}. Ctrl+Z takes it back." if self._token and not typing else self.text

    def dismiss(self) -> None:
        """Take it away now; keys that are at its button go back to where they were."""
        self._timer.stop()
        self._slide.stop()
        had_keys = self._undo.hasFocus()
        self.hide()
        self._watch(None)
        if had_keys:
            self._before.give_back()

    def _undone(self) -> None:
        token = self._token
        self.dismiss()
        self.undone.emit(token)

    def _maybe_leave(self) -> None:
        if self.underMouse() or self._undo.hasFocus():
            self._timer.start(1000)
        else:
            self.dismiss()

    def _moved(self, offset: float) -> None:
        self.place(self._spot.translated(0, round(offset)))

    def _find_spot(self) -> None:
        px = theme().px
        wanted = self._words.sizeHint().width() + px(40)
        if self._token:
            wanted += self._undo.sizeHint().width() + px(12)
        width = min(wanted, self._pane.width() - 2 * px(EDGE))
        foot = self._pane.height() - px(EDGE)
        if self._above is not None and isValid(self._above) and self._above.isVisible():
            foot = self._above.mapTo(self._pane, QPoint(0, 0)).y() - px(GAP)
        box = QRect(px(EDGE), foot - px(HEIGHT), width, px(HEIGHT))
        self._spot = find_spot(self._pane, box, self, px(GAP))
        self._moved(0)

    def _follow_keys(self) -> None:
        """A field that is being filled is never below it, also when the keys come there later or the page scrolls."""
        if self.isVisible():
            focus = self.window().focusWidget()
            self._watch(focus if focus is not None and self._pane.isAncestorOf(focus) else None)
            self._make_way()

    def _watch(self, focus: QWidget | None) -> None:
        """What moves where the keys are: all that lies around it."""
        for widget in self._watched:
            if isValid(widget):
                widget.removeEventFilter(self)
        self._watched.clear()
        around = focus.parentWidget() if focus is not None else None
        while around is not None and around is not self._pane:
            if around is not self._above:
                around.installEventFilter(self)
                self._watched.append(around)
            around = around.parentWidget()

    def _make_way(self) -> None:
        field = focus_in(self._pane)
        if field is not None and field.intersects(self._spot):
            self._find_spot()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner, and off the field that is being filled."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.isVisible():
            self._find_spot() if watched in (self._pane, self._above) else self._make_way()
        return False

    def enterEvent(self, event: QEnterEvent) -> None:
        """The pointer keeps it."""
        self._timer.start(theme().duration(self._stays))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys are for the button alone."""
        event.ignore()
