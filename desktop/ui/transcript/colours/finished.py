"""Finished code gets the colours of its language from elsewhere; until they have come it has those of ``highlight``.

What has come is shown a few milliseconds at a time: twenty long blocks that arrive together hold nothing up.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol
from weakref import WeakSet

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from desktop.domain.fences.colours import CodeRole, ColourSpans
from desktop.domain.fences.drawing import Drawing, Undrawn
from desktop.ui.transcript.colours.highlight import Span

BUDGET = 0.003
"""Seconds of one go."""
TOKENS: dict[CodeRole, str] = {
    "keyword": "code-keyword",
    "name": "code-name",
    "string": "code-string",
    "number": "code-number",
    "comment": "code-comment",
    "inserted": "diff-add",
    "deleted": "diff-del",
}
"""The colour of each role in the theme."""


class ColourSource(Protocol):
    """Who knows the colours (``FencesViewModel`` of the presenter)."""

    @property
    def coloured(self) -> SignalInstance: ...
    def key(self, language: str, code: str) -> str: ...
    def colours(self, key: str, language: str, code: str) -> ColourSpans | None: ...


class ColouredPart(Protocol):
    """A part of a code."""

    def recolour(self) -> None:
        """Take the colours of the block."""


class CodeBlock:
    """What the parts of one code block share: its colours and what it draws, once they are known."""

    __slots__ = ("__weakref__", "as_text", "colours", "drawing", "drawing_key", "key", "parts")

    def __init__(self) -> None:
        self.key = ""
        self.colours: ColourSpans | None = None
        self.parts: Sequence[ColouredPart] = ()
        self.drawing_key = ""
        self.drawing: Drawing | Undrawn | None = None
        self.as_text = False

    @property
    def drawn(self) -> Drawing | None:
        """What is shown in the place of the code."""
        return self.drawing if isinstance(self.drawing, Drawing) and not self.as_text else None

    def spans(self, start: int, end: int) -> list[Span] | None:
        """The colours of a part of it; None while they are not known, or where nothing is known of its language."""
        if self.colours is None or not self.colours.spans:
            return None
        return [(first, last, TOKENS[role]) for first, last, role in self.colours.within(start, end)]


class CodeColours(QObject):
    """The colours of the code on one page. ``shown``: a part was drawn anew."""

    shown = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source: ColourSource | None = None
        self._waiting: dict[str, WeakSet[CodeBlock]] = {}
        self._queue: deque[Callable[[], None]] = deque()
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._go)

    def set_source(self, source: ColourSource) -> None:
        """Who knows the colours; without one code stays as it is."""
        self._source = source
        source.coloured.connect(self._arrived)

    def finished(self, block: CodeBlock, language: str, code: str) -> None:
        """A block of code is whole: its colours, now or later."""
        if self._source is None or not language:
            return
        key = self._source.key(language, code)
        if key == block.key:
            return
        block.key = key
        colours = self._source.colours(key, language, code)
        if colours is None:
            self._waiting.setdefault(key, WeakSet()).add(block)
        else:
            self._show(block, colours)

    def _arrived(self, key: str, colours: ColourSpans) -> None:
        for block in self._waiting.pop(key, ()):
            if block.key == key:
                self._show(block, colours)

    def _show(self, block: CodeBlock, colours: ColourSpans) -> None:
        block.colours = colours
        if colours.spans and block.parts:
            self._queue.extend(part.recolour for part in block.parts)
            self._timer.start()

    def _go(self) -> None:
        started = time.perf_counter()
        while self._queue:
            self._queue.popleft()()
            if time.perf_counter() - started > BUDGET:
                break
        if self._queue:
            self._timer.start()
        self.shown.emit()
