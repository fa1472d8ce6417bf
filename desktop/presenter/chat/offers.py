"""What the composer offers while a person types ``/`` (skills) or ``@`` (files inside the boundary)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.presenter.chat.state import Offer
from desktop.presenter.common.fuzzy import match

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge

MAXIMUM = 40
"""Offers shown for one word."""
SHARE = 6
"""Of them for a group, where there are several."""
MANY = 200
"""Rows up to which they are looked through on the loop."""
BARRED = 1_000
"""What cannot be chosen stands last in its group."""

_COMMAND = lazy_pattern(r"\s*/(?:skill:)?([a-z0-9]+(?:-[a-z0-9]+)*)(?=\s|$)", re.IGNORECASE)
"""A message that begins like a command; a path such as /tmp/x is none."""

Source = Callable[[str], Awaitable[Sequence[Offer]]]
"""(what was typed after the prefix) -> everything that might fit; it may itself narrow by folder."""


class OffersViewModel(QObject):
    """One request at a time: a newer one overtakes an older."""

    ready = Signal(str, str, object)

    def __init__(self, bridge: Bridge, sources: dict[str, Source]) -> None:
        super().__init__()
        self._bridge = bridge
        self._sources = sources
        self._number = 0
        self._names: frozenset[str] | None = None

    def learn(self) -> None:
        """Look which names can stand after ``/``, for ``unknown_name``."""
        self._bridge.spawn(self._learn(), name="names of skills")

    async def _learn(self) -> None:
        if (source := self._sources.get("/")) is not None:
            self._names = frozenset(row.label for row in await source("") if row.item is None)

    def unknown_name(self, text: str) -> str:
        """The name that a message begins with as if it named a skill, where there is none of it; else ""."""
        begins = _COMMAND.match(text)
        return begins[1] if begins and self._names is not None and begins[1] not in self._names else ""

    def want(self, prefix: str, text: str) -> None:
        """Offer for ``prefix`` and the word typed after it; anything else takes the offers away."""
        self._number += 1
        source = self._sources.get(prefix)
        if source is None:
            self.ready.emit("", "", ())
        else:
            self._bridge.spawn(self._find(self._number, prefix, text, source), name="offers")

    async def _find(self, number: int, prefix: str, text: str, source: Source) -> None:
        rows = await source(text)
        found = await asyncio.to_thread(best, prefix, text, rows) if len(rows) > MANY else best(prefix, text, rows)
        if number == self._number:
            self.ready.emit(prefix, text, found)


def best(prefix: str, text: str, rows: Sequence[Offer]) -> tuple[Offer, ...]:
    """What fits the word, best first in each group; groups in their order, each with a share of the room."""
    wanted = text.rsplit("/", 1)[-1] if prefix == "@" else text
    groups: dict[str, list[tuple[int, int, Offer]]] = {}
    for place, row in enumerate(rows):
        named = match(text if row.group else wanted, row.label)
        fit = named or (match(text, row.detail) if row.detail else None)
        if fit is not None:
            groups.setdefault(row.group, []).append((-fit.score + row.barred * BARRED, place, row))
    share = MAXIMUM if len(groups) < 2 else max(SHARE, MAXIMUM // len(groups))
    ordered = (sorted(found, key=lambda one: one[:2])[:share] for found in groups.values())
    return tuple(row for found in ordered for _, _, row in found)[:MAXIMUM]
