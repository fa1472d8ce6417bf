"""A text in Markdown as answers are drawn: it loads nothing, and its links are pressed as theirs are."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import theme
from desktop.ui.transcript.overlays import Overlays
from desktop.ui.transcript.view import TranscriptView

ITEM, PART = "result", "result:text"
AT_ONCE, EVERY = 1_500, 20
"""Characters that are laid out at once, and milliseconds until the next."""


class _NoBars(Overlays):
    """Nothing is done with a text but reading it."""

    def hover(self, index: int | None) -> None:
        """No bar comes."""

    def actions(self, index: int) -> list[tuple[str, str]]:
        """There is nothing to do."""
        del index
        return []


class MarkdownPage(TranscriptView):
    """One text, laid out piece by piece."""

    overlays_class = _NoBars

    def __init__(self) -> None:
        super().__init__(theme())
        self.setAccessibleName("Text")
        self._name = self._rest = ""
        self._turn = QTimer(self, interval=EVERY)
        self._turn.timeout.connect(self._go_on)

    def show_text(self, name: str, text: str) -> None:
        """Show it from its beginning."""
        self._name, self._rest = name, text[AT_ONCE:]
        self.set_items((self._item(text[:AT_ONCE], live=bool(self._rest)),))
        self.stick = False
        self.verticalScrollBar().setValue(0)
        self._turn.start() if self._rest else self._turn.stop()

    def _go_on(self) -> None:
        some, self._rest = self._rest[:AT_ONCE], self._rest[AT_ONCE:]
        self.append_text(ITEM, PART, some)
        if not self._rest:
            self._turn.stop()
            self.change_item(self._item(self.page.messages[0].source(), live=False))

    def _item(self, text: str, *, live: bool) -> TranscriptItem:
        return TranscriptItem(ITEM, "a", self._name, "", (TextPart(PART, text, live=live),))
