"""The drawings of one page: asked for once a fence is whole, painted in another thread, shown as drawing or as text."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakSet

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtGui import QImage

from desktop.domain.fences.drawing import Drawing, DrawingKind, Undrawn
from desktop.ui.theme import Theme
from desktop.ui.transcript.colours.finished import CodeBlock
from desktop.ui.transcript.drawings.painting import PIXELS, PaintLook, paint, points_of

DRAWN: dict[str, DrawingKind] = {
    "mermaid": "diagram",
    "mmd": "diagram",
    "vega-lite": "chart",
    "vegalite": "chart",
    "vega": "chart",
    "chart": "chart",
    "chartjs": "chart",
}
"""What a fence of this name is drawn as."""
KEPT_POINTS = 40_000_000
"""Points of painted pictures that are kept."""
COARSE = 1_000_000
"""Points of a picture where others that are in sight have taken all of those."""
LATELY = 2.0
"""A picture that was asked for so many seconds before another one is not in sight with it."""
BUDGET = 0.003
"""Seconds of one go."""
TOGETHER = 30
"""Milliseconds within which what has come is shown together."""
RunInThread = Callable[[Callable[[], Any], Callable[[Any], None]], None]


class DrawingSource(Protocol):
    """Who knows the drawings (``FencesViewModel`` of the presenter)."""

    @property
    def drawn(self) -> SignalInstance: ...
    def key(self, language: str, code: str) -> str: ...
    def drawing(self, key: str, kind: DrawingKind, source: str) -> Drawing | Undrawn | None: ...


class FenceDrawings(QObject):
    """``changed``: these blocks of code have another look now; ``painted``: a picture has come."""

    changed = Signal(object)
    painted = Signal()

    def __init__(self, run_in_thread: RunInThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run_in_thread
        self._source: DrawingSource | None = None
        self._blocks: dict[str, WeakSet[CodeBlock]] = {}
        self._as_text: set[str] = set()
        self._pictures: OrderedDict[tuple[str, str, float, float], QImage] = OrderedDict()
        self._painting: dict[tuple[str, str, float, float], int] = {}
        """Those that are being painted, with their points."""
        self._asked: dict[tuple[str, str, float, float], float] = {}
        """When each was asked for last."""
        self._late: set[CodeBlock] = set()
        self._timer = QTimer(self, singleShot=True, interval=TOGETHER)
        self._timer.timeout.connect(self._tell)

    def set_source(self, source: DrawingSource) -> None:
        """Who knows the drawings; without one a fence stays its text."""
        self._source = source
        source.drawn.connect(self._arrived)

    def finished(self, block: CodeBlock, language: str, code: str) -> None:
        """A fence is whole: its drawing, now or later."""
        kind = _kind(language.casefold(), code)
        if self._source is None or kind is None:
            return
        key = self._source.key(kind, code)
        if key == block.drawing_key:
            return
        block.drawing_key, block.as_text = key, key in self._as_text
        self._blocks.setdefault(key, WeakSet()).add(block)
        block.drawing = self._source.drawing(key, kind, code)
        if block.drawing is not None and block.parts:
            self._later(block)

    def show_text(self, key: str, as_text: bool) -> None:
        """A person wants to see a fence as it is written, or as it is drawn."""
        (self._as_text.add if as_text else self._as_text.discard)(key)
        blocks = list(self._blocks.get(key, ()))
        for block in blocks:
            block.as_text = as_text
        self.changed.emit(blocks)

    def picture(self, key: str, drawing: Drawing, theme: Theme, scale: float, ratio: float) -> QImage | None:
        """A painted drawing; None while it is being painted."""
        wanted = (key, f"{theme.mode} {theme.hex('text')} {theme.hex('border')}", round(scale, 4), ratio)
        found = self._pictures.get(wanted)
        self._asked[wanted] = now = time.monotonic()
        if found is not None:
            self._pictures.move_to_end(wanted)
        elif wanted not in self._painting:
            in_sight = sum(_points(one) for key, one in self._pictures.items() if now - self._asked[key] < LATELY)
            room = max(COARSE, min(PIXELS, KEPT_POINTS - in_sight - sum(self._painting.values())))
            self._painting[wanted] = min(room, round(points_of(drawing, scale, ratio)))
            look = PaintLook.of(theme)
            self._run(lambda: paint(drawing, look, scale, ratio, room), lambda image: self._keep(wanted, image))
        return found

    def _keep(self, wanted: tuple[str, str, float, float], image: Any) -> None:
        """What is in sight is not given up for others that are: they would take each other's room for ever."""
        self._painting.pop(wanted, None)
        if not isinstance(image, QImage):
            return
        self._pictures[wanted] = image
        held, seen = sum(map(_points, self._pictures.values())), self._asked[wanted]
        for key, one in list(self._pictures.items()):
            if held > KEPT_POINTS and seen - self._asked[key] > LATELY:
                held -= _points(one)
                del self._pictures[key]
        self._asked = {key: at for key, at in self._asked.items() if key in self._pictures or key in self._painting}
        self.painted.emit()

    def _arrived(self, key: str, drawing: Drawing | Undrawn) -> None:
        for block in self._blocks.get(key, ()):
            block.drawing = drawing
            self._later(block)

    def _later(self, block: CodeBlock) -> None:
        self._late.add(block)
        if not self._timer.isActive():
            self._timer.start()

    def _tell(self) -> None:
        """One after the other while there is time, then the rest in the next turn."""
        started = time.perf_counter()
        while self._late and time.perf_counter() - started < BUDGET:
            self.changed.emit([self._late.pop()])
        if self._late:
            self._timer.start(0)
        else:
            self._timer.setInterval(TOGETHER)


def _kind(language: str, code: str) -> DrawingKind | None:
    """What a fence is drawn as; a chart often stands in one of JSON."""
    if language in ("json", "jsonc") and "vega.github.io/schema/vega-lite/" in code[:400]:
        return "chart"
    return DRAWN.get(language)


def _points(image: QImage) -> int:
    return image.width() * image.height()
