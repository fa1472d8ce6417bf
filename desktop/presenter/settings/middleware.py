"""The three levels of middleware for the settings: chains in their order, each with a switch (D-7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.skills import Level
from desktop.services.skills.levels import LevelRow, switched

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.settings import Settings, SettingsService

SHIPPED = ("rate-limit", "content-filter", "response-cache")
"""The library's that have settings of their own, below their row: ``middleware.rate_limit.…``."""


class Chains(Protocol):
    """The part of ``desktop.services.skills.levels.Levels`` that is used."""

    def rows(self, level: Level) -> list[LevelRow]: ...


@dataclass(frozen=True, slots=True)
class MiddlewareRow:
    """One line of a chain."""

    title: str
    """Its name."""
    about: str
    """What it does."""
    note: str
    """What a person should know of it now: where it is from, why it cannot work."""
    key: str
    """What its switch is remembered by."""
    on: bool
    """Whether it is at work."""
    switchable: bool
    """Whether a person can switch it."""
    problem: bool = False
    """Whether ``note`` says what is wrong."""
    settings: str = ""
    """The group of settings below the line, or ""."""


class MiddlewareViewModel(QObject):
    """``changed`` when a chain or a switch did; ``refused`` with the reason why a switch was not kept."""

    changed = Signal()
    refused = Signal(str)

    def __init__(
        self,
        chains: Chains,
        settings: SettingsService,
        bridge: Bridge,
        on_change: Callable[[Callable[[object], None]], Callable[[], None]] | None = None,
    ) -> None:
        super().__init__()
        self._chains = chains
        self._settings = settings
        self._bridge = bridge
        self._one_by_one = asyncio.Lock()
        settings.subscribe(self._told)
        if on_change is not None:  # in the thread that saw the change; the signal is queued from there
            end = on_change(lambda _changes: self.changed.emit())
            self.destroyed.connect(end)

    def rows(self, level: Level) -> Sequence[MiddlewareRow]:
        """A chain, outermost first."""
        return tuple(_row(row) for row in self._chains.rows(level))

    def switch(self, key: str, on: bool) -> None:
        """Remembered in the settings; from the next agent, request or call on."""

        async def work() -> None:
            try:
                async with self._one_by_one:  # each is a change of what the one before has made
                    now_on, now_off = switched(self._settings.current.middleware, key, on=on)
                    await self._settings.update_many(
                        {"middleware.switched_on": now_on, "middleware.switched_off": now_off}
                    )
            except KnownError as error:
                self.refused.emit(error.advice)
                self.changed.emit()

        self._bridge.spawn(work(), name=f"switch {key}")

    def _told(self, _settings: Settings, keys: frozenset[str]) -> None:
        if any(key.startswith("middleware.") for key in keys):
            self.changed.emit()


def _row(row: LevelRow) -> MiddlewareRow:
    if row.state == "needed":
        return MiddlewareRow(row.title, row.about, "Needed by Assent: it cannot be switched off.", "", True, False)
    on = row.state == "on"
    note = ""
    if row.problem:
        then = "What it applies to does not start until you look at it or switch it off." if on else ""
        note = f"It cannot work: {row.problem}. {then}".strip()
    elif row.path:
        note = row.path
    settings = row.title.replace("-", "_") if row.source == "library" and row.title in SHIPPED else ""
    return MiddlewareRow(row.title, row.about, note, row.key, on, True, bool(row.problem), settings)
