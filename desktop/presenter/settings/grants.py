"""Folders opened for this session, for the settings and for the card of a refused call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge


class Grants(Protocol):
    """``desktop.safety.boundary.session_grants.SessionGrants``."""

    @property
    def folders(self) -> tuple[str, ...]: ...

    def open(self, folder: str) -> str: ...

    def close(self, folder: str) -> None: ...


class GrantsViewModel(QObject):
    """``changed`` when a folder was opened or closed, ``opened(folder)`` after the first, ``refused`` with the reason
    why one was not."""

    changed = Signal()
    opened = Signal(str)
    refused = Signal(str)

    def __init__(self, grants: Grants, bridge: Bridge) -> None:
        super().__init__()
        self._grants = grants
        self._bridge = bridge

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that are open for this session."""
        return self._grants.folders

    def open(self, folder: str) -> None:
        """Open it until Assent ends; the person has confirmed it."""

        async def work() -> None:
            try:
                opened = await asyncio.to_thread(self._grants.open, folder)
            except KnownError as error:
                self.refused.emit(error.advice)
            else:
                self.changed.emit()
                self.opened.emit(opened)

        self._bridge.spawn(work(), name="open a folder for this session")

    def close(self, folder: str) -> None:
        """Close a folder again, from the next call on."""
        self._grants.close(folder)
        self.changed.emit()
