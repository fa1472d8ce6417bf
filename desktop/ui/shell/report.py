"""Errors shown to a person: a sentence, and for our own mistakes a report that can be copied."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column

REPORT_LIMIT = 200_000
"""Characters of a report that are shown; more is cut with a note."""


def show_report(window: QWidget, title: str, sentence: str, detail: str) -> Dialog:
    """Open the dialog; with ``detail`` it shows the report and offers to copy it."""
    close = DialogAnswer("close", "Close", key="Esc")
    if not detail:
        dialog = Dialog(window, title, sentence, (close,), width=440)
        dialog.open()
        return dialog
    dialog = Dialog(window, title, sentence, (close, DialogAnswer("copy", "Copy report", "primary")), width=560)
    frame = pane("quoted")
    cut = detail if len(detail) <= REPORT_LIMIT else detail[:REPORT_LIMIT] + "\n… cut here"
    Column(frame, spacing=0).addWidget(MonoView("Report", cut, rows=10))
    dialog.body.addWidget(frame)
    copy = dialog.buttons["copy"]
    copy.clicked.disconnect()
    copy.clicked.connect(lambda: _copy(detail, dialog))
    dialog.open()
    return dialog


def _copy(detail: str, dialog: Dialog) -> None:
    QGuiApplication.clipboard().setText(detail)
    dialog.buttons["copy"].set_label("Copied")
