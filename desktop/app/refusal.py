"""A refusal to start, in a window of its own, for a person who has no terminal to read it on."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from desktop.domain.errors import KnownError


def show(error: KnownError) -> None:
    """Returns when it was read. There is no loop of ours that it could stall."""
    application = QCoreApplication.instance() or QApplication(["assent"])
    box = QMessageBox(QMessageBox.Icon.Warning, "Assent", str(error))
    box.setInformativeText(error.next_step)
    box.finished.connect(application.quit)
    box.open()
    application.exec()
