"""How much is kept of files that calls changed, and clearing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError
from desktop.domain.text.words import count_words
from desktop.presenter.changes.words import when

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.services.changes.service import ChangesService


class KeptViewModel(QObject):
    """``changed`` when the amount is known anew; ``failed`` with why it could not be cleared."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, changes: ChangesService, bridge: Bridge) -> None:
        super().__init__()
        self._changes, self._bridge = changes, bridge
        self.words = ""
        self.some = False

    def refresh(self) -> None:
        """Look again how much it is."""

        async def work() -> None:
            amount = await self._changes.amount()
            self.some = amount.contents > 0
            since = f", the oldest of {when(amount.oldest)}" if amount.oldest is not None and self.some else ""
            versions = count_words(amount.contents, "version")
            size = f"{amount.size / 1e6:,.1f} MB: {versions} of files{since}."
            self.words = size if self.some else "Nothing is kept."
            self.changed.emit()

        self._bridge.spawn(work(), name="look how much is kept of changes")

    def clear(self) -> None:
        """Nothing is kept any more of what was changed until now."""

        async def work() -> None:
            await self._changes.clear()
            self.refresh()

        self._bridge.spawn(work(), name="clear what is kept of changes", on_error=self._not_cleared)

    def _not_cleared(self, error: AssentError) -> None:
        self.failed.emit(str(error))
