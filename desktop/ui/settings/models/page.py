"""Models and keys: the default model, connections with their keys, one more connection, servers on this machine.

Keys are write-only: they can be replaced, tested and deleted, and are never shown (R-UI-6).
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.models import LocalServer
from desktop.domain.servers.starting import STARTABLE
from desktop.presenter.common.model_rows import plain_name
from desktop.presenter.settings.local_starts import LocalStartsViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.model_picker.field import ModelField
from desktop.ui.settings.models.connections import CardWords, ConnectionCards
from desktop.ui.settings.models.context_words import context_words
from desktop.ui.settings.models.fallback_card import FallbackCard
from desktop.ui.settings.models.local_card import port_of
from desktop.ui.settings.models.provider_form import ProviderForm
from desktop.ui.settings.models.start_row import StartRow
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.layout.beside import Beside
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

SHOWN = 20
"""Models of a server that are named."""
SPECIAL = frozenset({"bedrock", "bedrock_access_key", "azure"})
"""Kinds that are found in the form alone: they need more than a key."""
BY_ADDRESS = "by address…"
NO_PROVIDER, GONE = "No provider is connected.", "Chats that used it stay, and need another model to go on."


class ModelsPage(Scroller):
    """The page of models, servers on this machine, and keys."""

    def __init__(self, setup: ModelSetupViewModel, starts: LocalStartsViewModel) -> None:
        super().__init__(margins=(24, 20, 24, 24), spacing=12)
        self._setup, self._starts = setup, starts
        self._shown: object = None
        self.notice = Notice("ask", "")
        self.column.addWidget(self.notice)
        self.default = ModelField("Default model", setup)
        self.default.chosen.connect(setup.use)
        self.fallbacks = FallbackCard(setup)
        self.column.addWidget(self._default_card())
        self.demo = Notice("info")
        self.use = Button("Use it for new chats", small=True)
        self.use.clicked.connect(self._use_instead)
        self.demo.add(self.use)
        self.column.addWidget(self.demo)
        self.add = Button("Add a connection", small=True, icon="new")
        self.add.clicked.connect(self.begin_adding)
        head = Row(spacing=8)
        head.addWidget(Text("Connections", "strong"))
        head.addStretch(1)
        head.addWidget(self.add)
        self.column.addLayout(head)
        self.cards = ConnectionCards(setup, CardWords(NO_PROVIDER, GONE))
        self.column.addWidget(self.cards)
        self.column.addWidget(self._ready())
        self._add = self._add_card()
        self.column.addWidget(self._add)
        self._add.setVisible(not setup.connections)  # only here: without a place it would be a window of its own
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
        self.starts = [StartRow(kind, setup, starts) for kind in STARTABLE]
        for row in self.starts:
            self.column.addWidget(row)
        self._missing = Paragraph("", "small", "3")
        self.column.addWidget(self._missing)
        self.column.addStretch(1)
        starts.changed.connect(self._say_missing)
        starts.look()
        setup.changed.connect(self.refresh)
        self.refresh()

    def _default_card(self) -> QWidget:
        card = pane("card")
        column = Column(card, margins=(16, 12, 16, 12), spacing=8)
        words = QWidget()
        lines = Column(words, spacing=2)
        lines.addWidget(Text("Model of new chats", "medium"))
        lines.addWidget(Paragraph("Debates and schedules start with it too. Each chat can use another.", "small", "2"))
        column.addWidget(Beside(words, self.default, minimum=280))
        column.addWidget(pane("line"))
        column.addWidget(self.fallbacks)
        return card

    def _ready(self) -> QWidget:
        """The kinds of connections by name, each of which opens the form."""
        row = FlowRow(gap=6)
        chips: list[QWidget] = [Text("Ready to fill in:", "small", "3")]
        for info in self._setup.providers:
            if info.provider not in SPECIAL:
                title = BY_ADDRESS if info.provider == "openai_compatible" else info.title
                chip = Button(title, small=True, tip=f"Connect: {info.title}")
                chip.clicked.connect(lambda _=False, kind=info.provider: self.begin_adding(kind))
                chips.append(chip)
        row.set_items(chips)
        return row

    def begin_adding(self, kind: object = "") -> None:
        """Open the form of one more connection, with the keys in its first field."""
        self._add.show()
        if isinstance(kind, str) and kind:
            self.form.choose(kind)
        field = next((one for one in self.form.findChildren(Field) if not one.isHidden()), None)
        if field is not None:
            field.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(self._add)

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
        self.default.show_ref(setup.default_model)
        self.fallbacks.refresh()
        instead = setup.instead_of_demo
        self.demo.setVisible(instead is not None)
        if instead is not None:
            place = shown_line(setup.place(instead.ref.connection_id))
            ready = f"{plain_name(instead.title)} of {place} is ready."
            self.demo.say(f"New chats still use the demo, which is no AI. {ready}")
        state = (setup.servers, setup.looking)
        if state != self._shown:
            self._shown = state
            self._fill()

    def _fill(self) -> None:
        setup = self._setup
        clear(self._servers)
        running = [server for server in setup.servers if server.running]
        for server in running:
            self._servers.addWidget(_server(server))
        self._say_missing()
        if not setup.servers and not setup.looking:
            words = "Start Ollama, LM Studio, llama.cpp or vLLM, then press Look again."
            self._servers.addWidget(EmptyState("server", "Not searched yet", words, framed=True))

    def _say_missing(self) -> None:
        """The servers of which nothing else is said."""
        rest = [s for s in self._setup.servers if not s.running and self._starts.state(s.kind) is None]
        missing = ", ".join(server.title for server in rest)
        self._missing.set_pieces(f"{missing}: not running" if missing else "")
        self._missing.setVisible(bool(missing))

    def _use_instead(self) -> None:
        instead = self._setup.instead_of_demo
        if instead is not None:
            self.default.setFocus(Qt.FocusReason.OtherFocusReason)  # the button goes with its notice
            self._setup.use(str(instead.ref))


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
    if server.note:
        column.addWidget(Paragraph(shown_line(server.note), "small", "2"))
    for model in server.models[:SHOWN]:
        line = Row(spacing=12)
        line.addWidget(Text(plain_name(model.title or model.ref.model), "code", elide="middle"), 1)
        line.addWidget(Text(f"{context_words(model.context_window)} context", "small", "2"))
        column.addLayout(line)
    if len(server.models) > SHOWN:
        column.addWidget(Paragraph(f"and {len(server.models) - SHOWN:,} more", "small", "2"))
    return card
