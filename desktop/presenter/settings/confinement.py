"""What confines shell commands on this machine, as soon as that has been found out."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from desktop.domain.safety import ConfinementReport


class ConfinementViewModel(QObject):
    """Finding out starts processes, so no page waits for it: ``found`` comes once, and ``report`` is None before."""

    found = Signal()

    def __init__(self, report: ConfinementReport | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.report = report

    def tell(self, report: ConfinementReport) -> None:
        """Show how commands are confined on this machine, now that it is known."""
        self.report = report
        self.found.emit()
