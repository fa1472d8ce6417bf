"""Connections with their keys, a card each: tested, edited in its place, given another key, deleted.

Keys are write-only: they can be replaced, tested and deleted, and are never shown (R-UI-6).
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from desktop.domain.keyring import KeyPlace
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import Connection
from desktop.domain.web.addresses import without_user
from desktop.presenter.settings.connections.page import ConnectionsViewModel
from desktop.ui.settings.models.connection_edit import ConnectionEdit
from desktop.ui.settings.models.provider_form import entry_field, label_of
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.controls.secret_field import SecretField, taken
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.beside import Beside
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

KEY_WORDS: dict[KeyPlace, str] = {
    "kept": "key in the system keyring",
    "unasked": "key not looked up yet",
    "missing": "key missing",
    "silent": "the keyring does not answer",
    "session": "key for this session only",
    "waiting": "the keyring has not saved the key yet",
}
CANCEL = DialogAnswer("cancel", "Cancel", key="Esc")


@dataclass(frozen=True, slots=True)
class CardWords:
    """What the cards say of their kind of connections."""

    none: str
    """Where there is none."""
    gone: str
    """What follows when one is deleted."""


class ConnectionCards(QWidget):
    """The cards. ``editor`` is the one that is being changed, ``edits`` the buttons that begin that, ``outcomes`` how
    tests went, by connection."""

    def __init__(self, setup: ConnectionsViewModel[Any], words: CardWords) -> None:
        super().__init__()
        self._setup = setup
        self._said = words
        self._shown: object = None
        self.outcomes: dict[str, tuple[bool, str]] = {}
        self.editor: ConnectionEdit | None = None
        self.edits: dict[str, Button] = {}
        self._connections = Column(self, spacing=8)
        setup.changed.connect(self.refresh)
        setup.tested.connect(self._tested)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        setup = self._setup
        keys = [setup.key_place(connection) for connection in setup.connections]
        problems = [setup.problem(connection.connection_id) for connection in setup.connections]
        found = [setup.found(connection.connection_id) for connection in setup.connections]
        state = (setup.connections, dict(self.outcomes), keys, problems, found)
        if state != self._shown:
            self._shown = state
            self._fill()

    def _fill(self) -> None:
        setup = self._setup
        known = {connection.connection_id for connection in setup.connections}
        if self.editor is not None and self.editor.connection_id not in known:
            self.end_edit()
        if self.editor is not None:
            self._connections.removeWidget(self.editor)
        clear(self._connections)
        self.edits.clear()
        edited = self.editor.connection_id if self.editor is not None else ""
        for connection in setup.connections:
            same = connection.connection_id == edited
            self._connections.addWidget(self.editor if self.editor and same else self._connection(connection))
        if not setup.connections:
            self._connections.addWidget(Paragraph(self._said.none, "body", "2"))

    def more(self, connection: Connection) -> list[QWidget]:
        """What stands before the actions of a card."""
        return []

    def _connection(self, connection: Connection) -> QFrame:
        card = pane("card")
        card.setAccessibleName(connection.title)
        column = Column(card, margins=(16, 10, 16, 10), spacing=6)
        about = QWidget()
        words = Column(about, spacing=2)
        head = Row(spacing=8)
        title = Text(shown_line(connection.title), "medium", elide="right")
        title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        head.addWidget(title)
        found = self._setup.found(connection.connection_id)
        if self._setup.problem(connection.connection_id):
            head.addWidget(StateLabel("failed", "does not work now"))
        elif found:
            head.addWidget(StateLabel("found", f"works, {found}"))
        head.addStretch(1)
        words.addLayout(head)
        where = shown_line(without_user(connection.base_url)) or self._setup.info(connection).title
        key = KEY_WORDS[self._setup.key_place(connection)] if connection.secret_name else "no key"
        words.addWidget(Text(f"{where}, {key}", "small", "2", elide="right"))
        column.addWidget(Beside(about, self._actions(connection), minimum=0))
        outcome = self.outcomes.get(connection.connection_id)
        problem = self._setup.problem(connection.connection_id)
        if outcome is None and problem:
            outcome = (False, problem)
        if outcome is not None:
            column.addWidget(Notice("allow" if outcome[0] else "failed", outcome[1]))
        return card

    def _actions(self, connection: Connection) -> QWidget:
        actions = QWidget()
        row = Row(actions, spacing=4)
        for widget in self.more(connection):
            row.addWidget(widget)
            row.addSpacing(theme().px(8))
        name, title = connection.connection_id, connection.title
        test = Button("Test", "quiet", small=True, tip=f"Make one request to {title}")
        test.clicked.connect(lambda: self._setup.test_connection(name))
        row.addWidget(test)
        edit = Button("Edit", "quiet", small=True, icon="write", tip=f"Change the name, address or key of {title}")
        edit.clicked.connect(lambda: self._edit(connection))
        self.edits[name] = edit
        row.addWidget(edit)
        if connection.secret_name:
            replace = Button("Replace key…", "quiet", small=True)
            replace.clicked.connect(lambda: self._replace(connection))
            row.addWidget(replace)
        delete = Button("Delete…", "danger", small=True)
        delete.clicked.connect(lambda: self._delete(connection))
        row.addWidget(delete)
        row.addStretch()
        return actions

    def _replace(self, connection: Connection) -> None:
        dialog = Dialog(
            self.window(),
            f"Replace the key of {shown_line(connection.title)}",
            "The new key is tested first. The old one stays until the new one works.",
            (CANCEL, DialogAnswer("replace", "Test and replace", "primary")),
        )
        fields = {name: self._secret_field(name, dialog) for name in self._setup.info(connection).secrets}

        def answered(value: str) -> None:
            given = {name: taken(field) for name, field in fields.items()}
            if value == "replace" and next(iter(given.values())).strip():
                self._setup.replace_key(connection.connection_id, given)

        dialog.answered.connect(answered)
        dialog.open(focus=next(iter(fields.values())))

    def _edit(self, connection: Connection) -> None:
        """In the place of its card; one at a time."""
        self.outcomes.pop(connection.connection_id, None)
        self.end_edit()
        self.editor = ConnectionEdit(self._setup, connection)
        self.editor.left.connect(self._edited)
        self._fill()
        self.editor.fields["name"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _edited(self) -> None:
        """Back to its card, with the keys on its Edit."""
        name = self.editor.connection_id if self.editor is not None else ""
        self.end_edit()
        self._fill()
        if name in self.edits:
            self.edits[name].setFocus(Qt.FocusReason.OtherFocusReason)

    def end_edit(self) -> None:
        """Give up changing one."""
        if self.editor is not None:
            self._connections.removeWidget(self.editor)
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None

    def _secret_field(self, name: str, dialog: Dialog) -> Field:
        label, _, secret = label_of(name)
        caption = f"New {label[0].lower()}{label[1:]}"
        field = entry_field(caption, "", secret=secret)
        labelled = Labelled(caption, field)
        if isinstance(field, SecretField):
            field.cleaned.connect(labelled.set_note)
        dialog.body.addWidget(labelled)
        field.returnPressed.connect(lambda: dialog.answer("replace"))
        return field

    def _delete(self, connection: Connection) -> None:
        gone, does = "The connection is", "Delete connection"
        if connection.secret_name:
            gone, does = "The connection and its key are", "Delete connection and key"
        title = shown_line(connection.title)
        dialog = Dialog(
            self.window(),
            f"Delete {title}?",
            f"{gone} forgotten: {title}. {self._said.gone}",
            (CANCEL, DialogAnswer("delete", does, "admin")),
            width=440,
        )
        dialog.answered.connect(
            lambda value: self._setup.delete_connection(connection.connection_id) if value == "delete" else None
        )
        dialog.open()

    def _tested(self, name: str, worked: bool, sentence: str) -> None:
        if any(c.connection_id == name for c in self._setup.connections):
            self.outcomes[name] = (worked, sentence)
            self.refresh()
