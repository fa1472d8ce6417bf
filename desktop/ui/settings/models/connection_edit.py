"""A connection that is being changed, in the place of its card: name, address, options and secrets.

What is asked for with other values than before is tested with one request; nothing changes until that works, and what
was typed stays until then.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame

from desktop.domain.models import Connection
from desktop.presenter.settings.connections.page import ConnectionsViewModel
from desktop.ui.settings.models.provider_form import HINTS, NOT_KEPT, WAITING, entry_field, label_of
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.controls.secret_field import SecretField
from desktop.ui.widgets.focus_place import give_keys
from desktop.ui.widgets.layout.columns import Columns
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.properties import set_property
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

OWN, UNCHANGED = "the provider's own", "leave empty to keep it"
NOTHING_YET = "Nothing changes until a test works."
KEPT = f"The key stays in the keyring of your system, never in a file. {NOTHING_YET}"
NARROWEST, MAXIMUM = 220, 3
"""Pixels at 100 % of a field, and how many stand beside each other."""


class ConnectionEdit(QFrame):
    """``left`` when it was saved or given up. A secret that is left empty stays as it is."""

    left = Signal()

    def __init__(self, setup: ConnectionsViewModel[Any], connection: Connection) -> None:
        super().__init__()
        self._setup, self._connection = setup, connection
        self._asked = False
        set_property(self, "pane", "card")
        self.setAccessibleName(f"Edit {shown_line(connection.title)}")
        column = Column(self, margins=(16, 10, 16, 12), spacing=10)
        head = Row(spacing=8)
        head.addWidget(Text(shown_line(connection.title), "medium", elide="right"), 1)
        self._state = StateLabel("info", "being edited")
        head.addWidget(self._state)
        column.addLayout(head)
        self.fields = self._make_fields()
        labelled = [self._labelled(name, field) for name, field in self.fields.items()]
        column.addWidget(Columns(labelled, minimum=NARROWEST, maximum=MAXIMUM))
        self.outcome = Notice("failed")
        self.outcome.hide()
        column.addWidget(self.outcome)
        column.addLayout(self._make_foot())
        setup.changed.connect(self._follow)
        setup.tested.connect(self._tested)
        self._follow()

    @property
    def connection_id(self) -> str:
        """The id of the connection that is edited."""
        return self._connection.connection_id

    def _make_fields(self) -> dict[str, Field]:
        info, now = self._setup.info(self._connection), self._connection
        said = {"name": now.title, "base_url": now.base_url, **now.options}
        fields: dict[str, Field] = {}
        for name in dict.fromkeys(("name", "base_url", *(need.rstrip("?") for need in info.needs))):
            caption, hint, secret = label_of(name)
            hint = UNCHANGED if secret and now.secret_name else HINTS.get((info.provider, name), hint)
            if name == "base_url" and name not in info.needs:
                hint = OWN
            field = fields[name] = entry_field(caption, hint, secret=secret)
            field.setText("" if secret else said.get(name, ""))
            field.returnPressed.connect(self._save)
            field.textEdited.connect(self._edited)
        return fields

    @staticmethod
    def _labelled(name: str, field: Field) -> Labelled:
        labelled = Labelled(label_of(name)[0], field)
        if isinstance(field, SecretField):
            field.cleaned.connect(labelled.set_note)
        return labelled

    def _make_foot(self) -> Row:
        foot = Row(spacing=8)
        lock = "lock" if self._has_secret else "info"
        foot.addWidget(Icon(lock, "text-2", 14, line="small"), 0, Qt.AlignmentFlag.AlignTop)
        foot.addWidget(Paragraph(self._kept_words(), "small", "2"), 1)
        self.cancel = Button("Cancel", "quiet", small=True, key="Esc")
        self.cancel.clicked.connect(self._give_up)
        self.save = Button("Test and save", "primary", small=True, tip="Make one request, and keep this if it works")
        self.save.clicked.connect(self._save)
        foot.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignTop)
        foot.addWidget(self.save, 0, Qt.AlignmentFlag.AlignTop)
        return foot

    @property
    def _has_secret(self) -> bool:
        return any(isinstance(field, SecretField) for field in self.fields.values())

    def _kept_words(self) -> str:
        if not self._has_secret:
            return NOTHING_YET
        if self._setup.keyring_waiting:
            return WAITING
        return NOT_KEPT if self._setup.keyring_note else KEPT

    def _edited(self) -> None:
        for field in self.fields.values():
            field.set_error(False)

    def _save(self) -> None:
        if self._setup.testing:
            return
        self.outcome.hide()
        self._asked = True
        given = {name: field.text() for name, field in self.fields.items()}
        self._setup.edit_connection(self.connection_id, given)

    def _follow(self) -> None:
        testing = self._asked and self._setup.testing
        self._state.set_state("running" if testing else "info", "testing" if testing else "being edited")
        self.save.setEnabled(not self._setup.testing)

    def _tested(self, name: str, worked: bool, sentence: str) -> None:
        if name != self.connection_id or not self._asked:
            return
        self._asked = False
        if worked:
            self._leave()
            return
        self.outcome.say(sentence, "failed")
        self.outcome.show()
        for need, field in self.fields.items():
            field.set_error(need == self._setup.wrong_field)
        wrong, now = self.fields.get(self._setup.wrong_field), self.window().focusWidget()
        if wrong is not None and now is not None and self.isAncestorOf(now):
            give_keys(wrong)

    def _give_up(self) -> None:
        """Stop a test that goes on; nothing was kept."""
        if self._asked and self._setup.testing:
            self._setup.cancel_test()
        self._asked = False
        self._leave()

    def _leave(self) -> None:
        for field in self.fields.values():
            if isinstance(field, SecretField):
                field.wipe()
        self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Give up on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self._give_up()
        else:
            super().keyPressEvent(event)
