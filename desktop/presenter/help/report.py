"""Report a problem: a text that shows exactly what would be sent, to be changed, copied or saved. It sends nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import KnownError
from desktop.presenter.common.exporting import write_whole
from desktop.presenter.events.bridge import Bridge

if TYPE_CHECKING:
    from desktop.services.help.report import ProblemReport

FILE_NAME = "assent-report.txt"


class ReportViewModel(QObject):
    """``begin``: then ``begun`` carries the text, and ``checked`` later (what stands there now, what belongs there)."""

    begun = Signal(str)
    checked = Signal(str, str)
    said = Signal(str)

    def __init__(self, make: Callable[[], ProblemReport], waiting: str, bridge: Bridge) -> None:
        super().__init__()
        self._make, self._waiting, self._bridge = make, waiting, bridge
        self._report: ProblemReport | None = None

    def begin(self) -> None:
        """Gather a new report."""
        self._bridge.spawn(self._gather(), name="gather a report")

    def ready(self, text: str) -> str:
        """A text as it may leave the window."""
        return self._report.ready(text) if self._report is not None else text

    def save(self, path: str, text: str) -> None:
        """Write it to a file of the person's choice."""

        async def work() -> None:
            try:
                await self._bridge.in_thread(write_whole, path, self.ready(text).encode())
            except KnownError as error:
                self.said.emit(error.advice)
            else:
                self.said.emit("Saved")

        self._bridge.spawn(work(), name="save a report")

    async def _gather(self) -> None:
        self._report = report = await self._bridge.in_thread(self._make)
        self.begun.emit(await self._bridge.in_thread(report.begin))
        self.checked.emit(self._waiting, await report.checks())
