"""A field for a secret: never shown, nothing of it learnt by the input method, nothing left behind in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.fields import Field

SHOWN_MS = 10_000

_HINTS = (
    Qt.InputMethodHint.ImhHiddenText
    | Qt.InputMethodHint.ImhSensitiveData
    | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhNoAutoUppercase
)

_TEXTS = frozenset(
    (
        Qt.InputMethodQuery.ImSurroundingText,
        Qt.InputMethodQuery.ImCurrentSelection,
        Qt.InputMethodQuery.ImTextBeforeCursor,
        Qt.InputMethodQuery.ImTextAfterCursor,
    )
)

Cleaner = Callable[[str], tuple[str, str]]
"""What was pasted -> (what is kept of it, what was taken out in words)."""


class SecretField(Field):
    """``cleaned(sentence)`` when something was taken out of what was pasted. The clipboard is not touched: not read
    but for pasting, and nothing can be copied or dragged out."""

    cleaned = Signal(str)
    trailing = 24
    """The eye."""

    def __init__(self, name: str, clean: Cleaner, *, hint: str = "", shown_ms: int = SHOWN_MS) -> None:
        super().__init__(name, hint=hint, secret=True)
        self._clean = clean
        self._before = 0
        self.setInputMethodHints(_HINTS)
        self.setDragEnabled(False)
        self.textEdited.connect(self._edited)
        self._eye = IconButton("read", "", side=26)
        self._eye.setParent(self)
        self._eye.setCheckable(True)
        self._eye.setCursor(Qt.CursorShape.ArrowCursor)
        self._eye.toggled.connect(self._show)
        self._cover = QTimer(self, singleShot=True, interval=shown_ms)
        self._cover.timeout.connect(lambda: self._eye.setChecked(False))
        self._show(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The eye at the right end, in the middle. (An action of the field's own has 16 pixels at every text size.)"""
        super().resizeEvent(event)
        side = theme().px(26)
        self._eye.setFixedSize(side, side)
        self._eye.move(self.width() - side - theme().px(3), (self.height() - side) // 2)

    def _show(self, shown: bool) -> None:
        self.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        words = "Hide what was typed" if shown else "Show what was typed for 10 seconds"
        self._eye.set_name(words)
        self._eye.set_icon("hidden" if shown else "read")
        if shown:
            self._cover.start()
        else:
            self._cover.stop()

    def _edited(self, text: str) -> None:
        """More than one character at once was pasted; a space that is typed may be followed by a word."""
        before, self._before = self._before, len(text)
        if len(text) - before < 2:
            return
        kept, sentence = self._clean(text)
        if sentence:
            self.setText(kept)
            self._before = len(kept)
            self.cleaned.emit(sentence)

    def inputMethodQuery(self, *query: Any) -> Any:
        """Qt would hand the whole text to the input method, which may learn words or send them elsewhere."""
        return "" if query and query[0] in _TEXTS else super().inputMethodQuery(*query)

    def taken(self) -> str:
        """What was entered, cleaned; the field is empty and has forgotten it afterwards."""
        kept, _ = self._clean(self.text())
        self.wipe()
        return kept

    def wipe(self) -> None:
        """Empty, without anything to undo: ``clear`` would keep the text for Ctrl+Z."""
        self.setText("")
        self._before = 0
        self._eye.setChecked(False)


def taken(field: Field) -> str:
    """The text that was entered; a field for a secret has forgotten it afterwards."""
    return field.taken() if isinstance(field, SecretField) else field.text()
