"""Says once which font package is missing, when a text is shown that nothing on this system draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject
from PySide6.QtGui import QFont

from desktop.presenter.chat import ChatViewModel
from desktop.presenter.transcript_items import TextPart, TranscriptItem
from desktop.ui.theme import theme
from desktop.ui.theme.missing_glyphs import SCRIPTS, advice, missing_scripts, os_release

MOST_TEXT = 20_000
"""Characters of one part of a message that are looked at."""


class MissingFonts(QObject):
    """``told`` are the scripts that were named before, also in an earlier start; ``keep`` remembers them."""

    def __init__(
        self, chat: ChatViewModel, say: Callable[[str], None], told: Iterable[str], keep: Callable[[str], None],
        parent: QObject, font: Callable[[], QFont] = lambda: theme().font("reading"),
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._say, self._keep, self._font = say, keep, font
        self._told = set(told) & SCRIPTS.keys()
        chat.items_reset.connect(self._look)
        chat.item_added.connect(lambda item: self._look((item,)))
        chat.item_changed.connect(lambda item: self._look((item,)))

    def _look(self, items: Iterable[TranscriptItem]) -> None:
        """An answer that still streams is looked at when it has ended."""
        if len(self._told) == len(SCRIPTS):
            return
        parts = [part for item in items if not item.live for part in item.parts]
        texts = [part.markdown[:MOST_TEXT] for part in parts if isinstance(part, TextPart)]
        missing = missing_scripts("\n".join(texts), self._font(), self._told)
        if missing:
            self._told.update(missing)
            self._keep(" ".join(sorted(self._told)))
            self._say(advice(missing, os_release()))
