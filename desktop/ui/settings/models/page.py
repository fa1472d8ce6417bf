"""Models and keys: the default model, connections with their keys, one more connection, servers on this machine.

Keys are write-only: they can be replaced, tested and deleted, and are never shown (R-UI-6).
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.keyring import KeyPlace
from desktop.domain.models import Connection, LocalServer
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.settings.models.connection_edit import ConnectionEdit
from desktop.ui.settings.models.local_card import context_words, port_of
from desktop.ui.settings.models.provider_form import ProviderForm, entry_field, label_of
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Field, Labelled
from desktop.ui.widgets.controls.secret_field import SecretField, taken
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.beside import Beside
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
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


class ModelsPage(Scroller):
    """The page of models, servers on this machine, and keys."""

    def __init__(self, setup: ModelSetupViewModel) -> None:
        super().__init__(margins=(24, 20, 24, 24), spacing=12)
        self._setup = setup
        self._outcomes: dict[str, tuple[bool, str]] = {}
        self._shown: object = None
        self.editor: ConnectionEdit | None = None
        self._edits: dict[str, Button] = {}
        self.notice = Notice("ask", "")
        self.column.addWidget(self.notice)
        self.default = Combo("Default model")
        self.default.activated.connect(self._default_chosen)
        self.column.addWidget(self._default_card())
        self.demo = Notice("info")
        self.use = Button("Use it for new chats", small=True)
        self.use.clicked.connect(self._use_instead)
        self.demo.add(self.use)
        self.column.addWidget(self.demo)
        self.column.addWidget(Text("Connections", "strong"))
        self._connections = Column(spacing=8)
        self.column.addLayout(self._connections)
        self.column.addWidget(Text("Add a connection", "strong"))
        self.column.addWidget(self._add_card())
        self._servers_head = Row(spacing=8)
        self._servers_head.addWidget(Text("Servers on this machine", "strong"))
        self._servers_head.addStretch(1)
        self._busy = StateLabel()
        self._servers_head.addWidget(self._busy)
        self.look = Button("Look again", small=True, icon="retry")
        self.look.clicked.connect(setup.look)
        self._servers_head.addWidget(self.look)
        self.column.addLayout(self._servers_head)
        self._servers = Column(spacing=8)
        self.column.addLayout(self._servers)
        self.column.addStretch(1)
        setup.changed.connect(self.refresh)
        setup.tested.connect(self._tested)
        self.refresh()

    def _default_card(self) -> QWidget:
        card = pane("card")
        column = Column(card, margins=(16, 12, 16, 12), spacing=8)
        words = QWidget()
        lines = Column(words, spacing=2)
        lines.addWidget(Text("Model of new chats", "medium"))
        lines.addWidget(Paragraph("Debates and schedules start with it too. Each chat can use another.", "small", "2"))
        column.addWidget(Beside(words, self.default, minimum=280))
        return card

    def _add_card(self) -> QWidget:
        card = pane("card")
        column = Column(card, margins=16, spacing=12)
        self.form = ProviderForm(self._setup, servers=True)
        self.form.test.set_kind("primary")
        column.addWidget(self.form)
        column.addWidget(self.form.buttons_row())
        return card

    def refresh(self) -> None:
        """Show what the view-model has now."""
        setup = self._setup
        self.notice.setVisible(bool(setup.keyring_note))
        if setup.keyring_note:
            self.notice.say(setup.keyring_note, "ask")
        self._busy.set_state("running" if setup.looking else "", "looking" if setup.looking else "")
        self.look.setEnabled(not setup.looking)
        places = [(model, setup.place(model.ref.connection_id)) for model in setup.models]
        choices = [(f"{model.title}  ·  {place}", str(model.ref)) for model, place in places]
        known = {ref for _, ref in choices}
        if setup.default_model and setup.default_model not in known:
            choices.insert(0, (f"{setup.default_model}  ·  not available now", setup.default_model))
        self.default.fill([*choices] if choices else [("No model yet", "")], setup.default_model)
        self.default.setEnabled(bool(choices))
        keys = [setup.key_place(connection) for connection in setup.connections]
        instead = setup.instead_of_demo
        self.demo.setVisible(instead is not None)
        if instead is not None:
            place = shown_line(setup.place(instead.ref.connection_id))
            ready = f"{shown_line(instead.title)} of {place} is ready."
            self.demo.say(f"New chats still use the demo, which is no AI. {ready}")
        state = (setup.connections, setup.servers, setup.looking, dict(self._outcomes), keys)
        if state != self._shown:
            self._shown = state
            self._fill()

    def _fill(self) -> None:
        setup = self._setup
        known = {connection.connection_id for connection in setup.connections}
        if self.editor is not None and self.editor.connection_id not in known:
            self._end_edit()
        if self.editor is not None:
            self._connections.removeWidget(self.editor)
        clear(self._connections)
        self._edits.clear()
        edited = self.editor.connection_id if self.editor is not None else ""
        for connection in setup.connections:
            same = connection.connection_id == edited
            self._connections.addWidget(self.editor if self.editor and same else self._connection(connection))
        if not setup.connections:
            self._connections.addWidget(Paragraph("No provider is connected.", "body", "2"))
        clear(self._servers)
        running = [server for server in setup.servers if server.running]
        for server in running:
            self._servers.addWidget(_server(server))
        missing = ", ".join(server.title for server in setup.servers if not server.running)
        if missing:
            self._servers.addWidget(Paragraph(f"{missing}: not running", "small", "3"))
        if not setup.servers and not setup.looking:
            words = "Start Ollama, LM Studio, llama.cpp or vLLM, then press Look again."
            self._servers.addWidget(EmptyState("server", "Not searched yet", words, framed=True))

    def _connection(self, connection: Connection) -> QFrame:
        card = pane("card")
        card.setAccessibleName(connection.title)
        column = Column(card, margins=(16, 10, 16, 10), spacing=6)
        about = QWidget()
        words = Column(about, spacing=2)
        words.addWidget(Text(shown_line(connection.title), "medium", elide="right"))
        where = shown_line(connection.base_url) or self._setup.info(connection).title
        key = KEY_WORDS[self._setup.key_place(connection)] if connection.secret_name else "no key"
        words.addWidget(Text(f"{where}, {key}", "small", "2", elide="right"))
        column.addWidget(Beside(about, self._actions(connection), minimum=0))
        outcome = self._outcomes.get(connection.connection_id)
        problem = self._setup.problem(connection.connection_id)
        if outcome is None and problem:
            outcome = (False, problem)
        if outcome is not None:
            column.addWidget(Notice("allow" if outcome[0] else "failed", outcome[1]))
        return card

    def _actions(self, connection: Connection) -> QWidget:
        actions = QWidget()
        row = Row(actions, spacing=4)
        name, title = connection.connection_id, connection.title
        test = Button("Test", "quiet", small=True, tip=f"Make one request to {title}")
        test.clicked.connect(lambda: self._setup.test_connection(name))
        row.addWidget(test)
        edit = Button("Edit", "quiet", small=True, icon="write", tip=f"Change the name, address or key of {title}")
        edit.clicked.connect(lambda: self._edit(connection))
        self._edits[name] = edit
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
        self._outcomes.pop(connection.connection_id, None)
        self._end_edit()
        self.editor = ConnectionEdit(self._setup, connection)
        self.editor.left.connect(self._edited)
        self._fill()
        self.editor.fields["name"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _edited(self) -> None:
        """Back to its card, with the keys on its Edit."""
        name = self.editor.connection_id if self.editor is not None else ""
        self._end_edit()
        self._fill()
        if name in self._edits:
            self._edits[name].setFocus(Qt.FocusReason.OtherFocusReason)

    def _end_edit(self) -> None:
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
            f"{gone} forgotten: {title}. Chats that used it stay, and need another model to go on.",
            (CANCEL, DialogAnswer("delete", does, "admin")),
            width=440,
        )
        dialog.answered.connect(
            lambda value: self._setup.delete_connection(connection.connection_id) if value == "delete" else None
        )
        dialog.open()

    def _use_instead(self) -> None:
        instead = self._setup.instead_of_demo
        if instead is not None:
            self.default.setFocus(Qt.FocusReason.OtherFocusReason)  # the button goes with its notice
            self._setup.use(str(instead.ref))

    def _default_chosen(self) -> None:
        ref = self.default.currentData()
        if ref:
            self._setup.use(str(ref))

    def _tested(self, name: str, worked: bool, sentence: str) -> None:
        if any(c.connection_id == name for c in self._setup.connections):
            self._outcomes[name] = (worked, sentence)
            self.refresh()


def _server(server: LocalServer) -> QFrame:
    card = pane("card")
    card.setAccessibleName(server.title)
    column = Column(card, margins=(16, 10, 16, 10), spacing=6)
    row = Row(spacing=8)
    row.addWidget(Text(f"{server.title}, port {port_of(server)}", "medium"))
    row.addStretch(1)
    row.addWidget(StateLabel("failed", "does not answer") if server.problem else StateLabel("found", "running"))
    column.addLayout(row)
    if server.problem:
        column.addWidget(Paragraph(server.problem, "small", "failed"))
    for model in server.models:
        line = Row(spacing=12)
        line.addWidget(Text(model.title or model.ref.model, "code", elide="middle"), 1)
        line.addWidget(Text(f"{context_words(model.context_window)} context", "small", "2"))
        column.addLayout(line)
    return card
