"""Says once which font package is missing, when a text is shown that nothing on this system draws.

Qt answers that in its own thread only, and takes milliseconds for the first character of each script. So texts wait,
and are looked at one by one between other events; so are scripts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QFont

from desktop.presenter.transcript.items import PlainPart, TextPart, TranscriptItem
from desktop.ui.theme import theme
from desktop.ui.theme.missing_glyphs import SCRIPTS, advice, characters_by_script, draws, os_release
from desktop.ui.transcript.pieces.pooled import Pool

MAX_TEXT = 20_000
"""Characters of one part of a message that are looked at."""
MAX_WAITING = 200
"""Parts of messages, the latest ones."""


class MissingFonts(QObject):
    """``shown`` are view-models with items: of a chat, of debates. ``told`` gives the scripts that were named before,
    on any page and in any start; ``keep`` remembers them."""

    def __init__(
        self,
        shown: Iterable[Any],
        say: Callable[[str], None],
        told: Callable[[], str],
        keep: Callable[[str], None],
        parent: QObject,
        font: Callable[[], QFont] = lambda: theme().font("reading"),
    ) -> None:
        super().__init__(parent)
        self._say, self._kept, self._keep, self._font = say, told, keep, font
        self._told: set[str] = set()
        self._texts: deque[str] = deque(maxlen=MAX_WAITING)
        self._found: deque[tuple[str, list[str]]] = deque()
        self._missing: list[str] = []
        self._pool = Pool(self)
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._step)
        for one in shown:
            one.items_reset.connect(self._take)
            one.item_added.connect(lambda item: self._take((item,)))
            one.item_changed.connect(lambda item: self._take((item,)))

    @property
    def busy(self) -> bool:
        """Whether texts wait to be looked at."""
        return self._timer.isActive()

    def _take(self, items: Iterable[TranscriptItem]) -> None:
        """An answer that still streams is looked at when it has ended."""
        self._told |= SCRIPTS.keys() & self._kept().split()
        if len(self._told) == len(SCRIPTS):
            return
        parts = [part for item in items if not item.live for part in item.parts]
        self._texts.extend(part.markdown for part in parts if isinstance(part, TextPart))
        self._texts.extend(part.shown for part in parts if isinstance(part, PlainPart))
        self._timer.start()

    def _step(self) -> None:
        """One script, or one text; then whatever else waits for this thread."""
        if self._found:
            script, characters = self._found.popleft()
            if script not in self._told and not draws(self._font(), script, characters):
                self._told.add(script)
                self._missing.append(script)
        elif self._texts:
            text = self._texts.popleft()[:MAX_TEXT]
            if not text.isascii():
                self._found.extend(characters_by_script(text, self._told).items())
        else:
            self._timer.stop()
            self._tell()

    def _tell(self) -> None:
        missing, self._missing = self._missing, []
        if missing:
            self._keep(" ".join(sorted(self._told)))
            self._pool.run(lambda: advice(missing, os_release()), self._say)
