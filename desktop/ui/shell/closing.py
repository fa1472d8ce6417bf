"""Closing the window while something works: keep working, stop, or stay."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer

KEEP, STOP, STAY = "keep", "stop", "stay"


def ask_close(window: QWidget, running: int, *, tray: bool, answered: Callable[[str], None]) -> Dialog:
    """``answered`` gets keep | stop | stay. Without a tray the window can only be minimised."""
    one = running == 1
    title = "A run is still working" if one else f"{running} runs are still working"
    it, they = ("it", "it works") if one else ("them", "they work")
    where = "in the tray: click the icon there to come back" if tray else "while the window is minimised"
    words = (
        f"Keep {it} working {where}. Or stop {it} and quit: you can go on with {it} at the next start. "
        f"While {they}, requests wait for your answer."
    )
    answers = (
        DialogAnswer(STAY, "Cancel", key="Esc"),
        DialogAnswer(STOP, f"Stop {it} and quit"),
        DialogAnswer(KEEP, "Keep working in the tray" if tray else "Minimise and keep working", "primary"),
    )
    dialog = Dialog(window, title, words, answers, width=520)
    dialog.answered.connect(answered)
    dialog.open()
    return dialog
