"""A field for a secret: never shown, nothing of it learnt by the input method, nothing left behind in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal

from desktop.ui.widgets.fields import Field

_HINTS = (
    Qt.InputMethodHint.ImhHiddenText | Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhNoAutoUppercase
)  # fmt: skip

_TEXTS = frozenset((
    Qt.InputMethodQuery.ImSurroundingText, Qt.InputMethodQuery.ImCurrentSelection,
    Qt.InputMethodQuery.ImTextBeforeCursor, Qt.InputMethodQuery.ImTextAfterCursor,
))  # fmt: skip

Cleaner = Callable[[str], tuple[str, str]]
"""What was pasted -> (what is kept of it, what was taken out in words)."""


class SecretField(Field):
    """``cleaned(sentence)`` when something was taken out of what was pasted. The clipboard is not touched: not read
    but for pasting, and nothing can be copied or dragged out."""

    cleaned = Signal(str)

    def __init__(self, name: str, clean: Cleaner, *, hint: str = "") -> None:
        super().__init__(name, hint=hint, secret=True)
        self._clean = clean
        self._before = 0
        self.setInputMethodHints(_HINTS)
        self.setDragEnabled(False)
        self.textEdited.connect(self._edited)

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


def taken(field: Field) -> str:
    """What was entered; a field for a secret has forgotten it afterwards."""
    return field.taken() if isinstance(field, SecretField) else field.text()
