"""The colours of code that is shown: asked for once, kept while there is room for them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.fences.colours import CODE_LONGEST, ColourSpans

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.fences.service import FenceService

KEPT_BYTES = 16_000_000
"""Bytes of spans that are kept: those of some 50,000 lines of code."""
LEAST = 400
"""What one code is counted as at least, whatever it has."""


class FencesViewModel(QObject):
    """``coloured``: the colours of the code with this key have come, and these are they."""

    coloured = Signal(str, object)

    def __init__(self, service: FenceService, bridge: Bridge) -> None:
        super().__init__()
        self._service, self._bridge = service, bridge
        self._known: OrderedDict[str, ColourSpans] = OrderedDict()
        self._asked: set[str] = set()
        self._size = 0

    def key(self, language: str, code: str) -> str:
        """Names a code in a language."""
        told = f"{language.casefold()}\n{code}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, digest_size=16).hexdigest()

    def colours(self, key: str, language: str, code: str) -> ColourSpans | None:
        """The colours of a code; None while they are not known: then they are asked for, and ``coloured`` tells when
        they have come."""
        if not language or len(code) > CODE_LONGEST:
            return ColourSpans()
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        elif key not in self._asked:
            self._asked.add(key)
            self._bridge.spawn(self._ask(key, language, code), name="fences: colours of a code")
        return found

    async def _ask(self, key: str, language: str, code: str) -> None:
        try:
            found = await self._service.colours(language, code)
        finally:
            self._asked.discard(key)
        self._known[key] = found
        self._size += max(LEAST, len(found.spans))
        while self._size > KEPT_BYTES:
            _, gone = self._known.popitem(last=False)
            self._size -= max(LEAST, len(gone.spans))
        self.coloured.emit(key, found)
