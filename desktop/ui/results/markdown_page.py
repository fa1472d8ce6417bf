"""A text in Markdown as answers are drawn: it loads nothing, and its links are pressed and asked about as theirs."""

from __future__ import annotations

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import theme
from desktop.ui.transcript.overlays import Overlays
from desktop.ui.transcript.view import TranscriptView


class _NoBars(Overlays):
    """Nothing is done with a text but reading it."""

    def hover(self, index: int | None) -> None:
        """No bar comes."""

    def actions(self, index: int) -> list[tuple[str, str]]:
        """There is nothing to do."""
        del index
        return []


class MarkdownPage(TranscriptView):
    """One text."""

    overlays_class = _NoBars

    def __init__(self) -> None:
        super().__init__(theme())
        self.setAccessibleName("Text")

    def show_text(self, name: str, text: str) -> None:
        """Show it from its beginning."""
        self.set_items((TranscriptItem("result", "a", name, "", (TextPart("result:text", text),)),))
        self.stick = False
        self.verticalScrollBar().setValue(0)
