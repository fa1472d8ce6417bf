"""The answers about a call that had begun when Assent ended, so that nobody knows whether it was done."""

from __future__ import annotations

from collections.abc import Callable

from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.patient_button import PatientButton

SKIP_TIP = "Do not do it; the model is told that nobody knows whether it was done (Esc)"
DONE_TIP = "It was done: the model is told so, and goes on"
STOP_TIP = "End the run; you are asked again when you continue it"
AGAIN_TIP = "Make exactly this call, perhaps a second time (Ctrl+Enter)"


def ask_unknown(deny: PatientButton, allow: AllowButton, chosen: Callable[[str], None]) -> list[PatientButton]:
    """Skip and Do it again in the places of Deny and Allow, and two more answers. None looks like the harmless one."""
    deny.set_label("Skip it")
    deny.setToolTip(SKIP_TIP)
    allow.set_label("Do it again")
    allow.set_icon("")
    allow.set_awake("normal")
    allow.setToolTip(AGAIN_TIP)
    done, stop = PatientButton("It was done", tip=DONE_TIP), PatientButton("Stop the run", tip=STOP_TIP)
    for button, answer in ((done, "done"), (stop, "stop")):
        button.clicked.connect(lambda _=False, answer=answer: chosen(answer))
    return [done, stop]
