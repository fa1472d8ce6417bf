"""The colours of code and the drawings of diagrams: asked for once, kept while there is room for them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from desktop.domain.fences.colours import CODE_LONGEST, ColourSpans
from desktop.domain.fences.drawing import Drawing, DrawingKind, Undrawn

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.fences.service import FenceService

KEPT_BYTES = 16_000_000
"""Bytes of spans that are kept: those of some 50,000 lines of code."""
KEPT_MARKS = 120_000
"""Shapes and words of drawings that are kept."""
LEAST = 100
"""What anything is counted as at least, whatever it has."""
T = TypeVar("T")


class FencesViewModel(QObject):
    """``coloured``: the colours of the code with this key have come, and these are they; ``drawn``: so has a drawing,
    or the reason why there is none."""

    coloured = Signal(str, object)
    drawn = Signal(str, object)

    def __init__(self, service: FenceService, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self._colours = _Kept[ColourSpans](KEPT_BYTES)
        self._drawings = _Kept[Drawing | Undrawn](KEPT_MARKS)
        self._asked: set[str] = set()

    def key(self, language: str, code: str) -> str:
        """Names a code in a language, or a source of a kind."""
        told = f"{language.casefold()}\n{code}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, digest_size=16).hexdigest()

    def colours(self, key: str, language: str, code: str) -> ColourSpans | None:
        """The colours of a code; None while they are not known: then they are asked for, and ``coloured`` tells when
        they have come."""
        if not language or len(code) > CODE_LONGEST:
            return ColourSpans()
        found = self._colours.get(key)
        if found is None and key not in self._asked:
            self._asked.add(key)
            self._bridge.spawn(self._colour(key, language, code), name="fences: colours of a code")
        return found

    def drawing(self, key: str, kind: DrawingKind, source: str) -> Drawing | Undrawn | None:
        """What a source draws, or why not; None while that is not known: then it is asked for, and ``drawn`` tells when
        it has come."""
        found = self._drawings.get(key)
        if found is None and key not in self._asked:
            self._asked.add(key)
            self._bridge.spawn(self._draw(key, kind, source), name="fences: a drawing")
        return found

    async def _colour(self, key: str, language: str, code: str) -> None:
        try:
            found = await self._service.colours(language, code)
        finally:
            self._asked.discard(key)
        self._colours.keep(key, found, len(found.spans))
        self.coloured.emit(key, found)

    async def _draw(self, key: str, kind: DrawingKind, source: str) -> None:
        try:
            found = await self._service.drawing(kind, source)
        finally:
            self._asked.discard(key)
        self._drawings.keep(key, found, len(found.marks) if isinstance(found, Drawing) else 1)
        self.drawn.emit(key, found)


class _Kept(Generic[T]):
    """What was asked for last, as much as there is room for."""

    def __init__(self, room: int) -> None:
        self._room, self._size = room, 0
        self._held: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def get(self, key: str) -> T | None:
        found = self._held.get(key)
        if found is None:
            return None
        self._held.move_to_end(key)
        return found[0]

    def keep(self, key: str, value: T, size: int) -> None:
        """One more; its size counts as ``LEAST`` at least."""
        size = max(LEAST, size)
        self._held[key] = value, size
        self._size += size
        while self._size > self._room and len(self._held) > 1:
            _, (_, gone) = self._held.popitem(last=False)
            self._size -= gone
