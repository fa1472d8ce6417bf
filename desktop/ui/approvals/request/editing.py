"""The two dialogs that belong to an answer: a reason for the model, and other arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from desktop.domain.approval.permission import PermissionRequest, same_json
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.fields import Field, Labelled, TextArea
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.scaling import sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

REASON_LIMIT = 2000
EDIT_LIMIT = 100_000
"""Characters of one argument up to which it can be edited here."""
CANCEL = DialogAnswer("cancel", "Cancel", key="Esc")


def ask_reason(window: QWidget, request: PermissionRequest, deny: Callable[[str], None]) -> Dialog:
    """Deny with a sentence that the model reads."""
    dialog = Dialog(
        window,
        "Deny with a reason",
        f"The model reads it and goes on without {shown_line(request.tool)[:60]}.",
        (CANCEL, DialogAnswer("deny", "Deny")),
        width=480,
    )
    area = sized(TextArea("Reason", hint="What should it do instead?"), height=96)
    dialog.body.addWidget(area)
    dialog.answered.connect(lambda value: deny(area.toPlainText().strip()[:REASON_LIMIT]) if value == "deny" else None)
    dialog.open(focus=area)
    return dialog


@dataclass(slots=True)
class _Edited:
    """The control of one argument. A value that the person did not touch stays exactly as it is."""

    name: str
    value: Any
    control: Field | TextArea
    box: Labelled

    @property
    def touched(self) -> bool:
        if isinstance(self.control, Field):
            return self.control.isModified()
        return self.control.document().isModified()

    def read(self) -> Any:
        """The value as edited; raises ValueError with a sentence."""
        if not self.touched:
            return self.value
        text = self.control.text() if isinstance(self.control, Field) else self.control.toPlainText()
        if isinstance(self.value, str):
            return text
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"This is not valid JSON: {error}") from error


def edit_arguments(window: QWidget, request: PermissionRequest, allow: Callable[[Mapping[str, Any]], None]) -> Dialog:
    """Change arguments. What they would do is seen and answered in a request of its own; without a change nothing
    happens."""
    dialog = Dialog(
        window,
        "Edit the arguments",
        "Nothing runs yet: you see what the edited call would do, and then allow or deny it. The model is told what "
        "you changed.",
        (CANCEL, DialogAnswer("allow", "See what it would do", "primary")),
        width=560,
    )
    scroller = Scroller(margins=(0, 0, 0, 0), spacing=12)
    edited = [_row(name, value) for name, value in request.arguments.items()]
    for row in edited:
        scroller.column.addWidget(row.box)
    if not edited:
        scroller.column.addWidget(Paragraph("This call has no arguments.", tone="2"))
    scroller.column.addStretch(1)
    wanted = round(scroller.column.sizeHint().height() / theme().scale)
    dialog.body.addWidget(sized(scroller, height=min(320, wanted + 4)))
    button = dialog.buttons["allow"]
    button.clicked.disconnect()
    button.clicked.connect(lambda: _finish(dialog, edited, request.arguments, allow))
    dialog.open(focus=next((row.control for row in edited if not row.control.isReadOnly()), None))
    return dialog


def _finish(
    dialog: Dialog, edited: list[_Edited], before: Mapping[str, Any], allow: Callable[[Mapping[str, Any]], None]
) -> None:
    values: dict[str, Any] = {}
    wrong = False
    for row in edited:
        try:
            values[row.name] = row.read()
            row.box.set_error("")
        except ValueError as error:
            row.box.set_error(str(error))
            wrong = True
    if wrong:
        return
    dialog.answer("allow")
    if not same_json(values, dict(before)):
        allow(values)


def _row(name: str, value: Any) -> _Edited:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    label = shown_line(name)[:80]
    long = len(text) > EDIT_LIMIT
    control: Field | TextArea
    if "\n" in text or len(text) > 80:
        control = sized(TextArea(label, mono=True), height=120)
        control.setPlainText(text[:EDIT_LIMIT])
        control.document().setModified(False)
        control.setReadOnly(long)
    else:
        control = Field(label, mono=True)
        control.setText(text)
        control.setModified(False)
    note = f"Too long to edit here ({len(text):,} characters); it stays as it is." if long else ""
    return _Edited(name, value, control, Labelled(label, control, note))
