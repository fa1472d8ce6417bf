"""On this machine: the model servers that were found, their models, and the context each really gives."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QWidget

from desktop.domain.models import LocalServer, ModelInfo
from desktop.domain.servers.starting import STARTABLE
from desktop.domain.text import words
from desktop.presenter.settings.local_starts import LocalStartsViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.settings.models.context_words import context_words
from desktop.ui.settings.models.start_row import StartRow
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import RadioRow
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Heading, Paragraph, Piece, Text

CONTEXT, SIZE = 60, 52
ROWS_SHOWN = 5
REAL = "Context is what the server really gives, not what the model could."


class CardHead(Row):
    """Icon, title, and a mark at the right."""

    def __init__(self, icon: str, title: str, mark: QWidget) -> None:
        super().__init__(spacing=12)
        self.addWidget(Icon(icon, "text", 20))
        self.addWidget(Heading(title, "title"), 1)
        self.addWidget(mark)


class LocalCard(QFrame):
    """``use(ref)`` when a model is chosen. Enter inside the card uses the marked model."""

    use = Signal(str)

    def __init__(self, setup: ModelSetupViewModel, starts: LocalStartsViewModel) -> None:
        super().__init__()
        self._setup, self._starts = setup, starts
        self._shown: tuple[LocalServer, ...] | None = None
        self.setProperty("pane", "card")
        self.setAccessibleName("On this machine")
        column = Column(self, margins=20, spacing=8)
        self.state = StateLabel()
        column.addLayout(CardHead("server", "On this machine", self.state))
        self._intro = Paragraph("", "body", "2")
        column.addWidget(self._intro)
        column.addSpacing(4)
        self._table = pane("card")
        self._rows = Column(self._table, margins=1, spacing=0)
        column.addWidget(self._table)
        self.starts = [StartRow(kind, setup, starts) for kind in STARTABLE]
        for row in self.starts:
            column.addWidget(row)
        self._others = Paragraph("", "small", "3")
        self._real = Paragraph(REAL, "small", "3")
        column.addWidget(self._others)
        column.addWidget(self._real)
        column.addStretch(1)
        foot = Row(spacing=8)
        self.use_button = Button("Use", "primary", key="Enter")
        self.use_button.clicked.connect(self._use)
        self.look = Button("Look again", "quiet", icon="retry")
        self.look.clicked.connect(setup.look)
        foot.addWidget(self.look)
        foot.addStretch(1)
        foot.addWidget(self.use_button)
        column.addLayout(foot)
        self._group = QButtonGroup(self)
        self._group.idToggled.connect(lambda _id, _on: self._name_choice())
        self._models: list[ModelInfo] = []
        setup.changed.connect(self.refresh)
        starts.changed.connect(self.refresh)
        self.refresh()

    @property
    def chosen(self) -> ModelInfo | None:
        """The marked model, or None."""
        at = self._group.checkedId()
        return self._models[at] if 0 <= at < len(self._models) else None

    def refresh(self) -> None:
        """Show what the view-model has now."""
        servers = self._setup.servers
        running = [server for server in servers if server.running]
        self._intro.set_pieces(_intro(running, self._setup.looking, startable=bool(self._starts.states)))
        if self._setup.looking:
            self.state.set_state("running", "looking")
        else:
            self.state.set_state("found" if running else "", "")
        self.look.setEnabled(not self._setup.looking)
        if self._shown != servers:
            self._shown = servers
            self._fill(running)
        missing = [s.title for s in servers if not s.running and self._starts.state(s.kind) is None]
        self._others.set_pieces(f"{', '.join(missing)}: not running" if missing and running else "")
        self._others.setVisible(bool(missing and running))
        self._real.setVisible(bool(self._models))
        self._table.setVisible(bool(self._models))
        self.use_button.setVisible(bool(self._models))
        self.look.set_kind("quiet" if self._models else "normal")
        self._name_choice()

    def _fill(self, running: Sequence[LocalServer]) -> None:
        before = self.chosen
        for button in self._group.buttons():
            self._group.removeButton(button)
        clear(self._rows)
        self._models = [model for server in running for model in server.models]
        if not self._models:
            return
        self._rows.addWidget(_heads())
        scroller = Scroller(margins=(0, 0, 0, 0), spacing=0)
        for at, model in enumerate(self._models):
            facts = ((context_words(model.context_window), CONTEXT), (size_words(model.size_bytes), SIZE))
            row = RadioRow(model.title or model.ref.model, facts, last=at == len(self._models) - 1)
            self._group.addButton(row, at)
            scroller.column.addWidget(row)
        sized(scroller, height=36 * min(ROWS_SHOWN, len(self._models)))
        self._rows.addWidget(scroller)
        at = next((i for i, m in enumerate(self._models) if before is not None and m.ref == before.ref), 0)
        self._group.button(at).setChecked(True)

    def _name_choice(self) -> None:
        model = self.chosen
        if model is not None:
            name = model.title or model.ref.model
            self.use_button.set_label(f"Use {name if len(name) <= 24 else name[:23] + '…'}")
            self.use_button.setAccessibleName(f"Use {name}")

    def _use(self) -> None:
        model = self.chosen
        if model is not None:
            self.use.emit(str(model.ref))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter uses the marked model."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._models:
            self._use()
        else:
            super().keyPressEvent(event)


def _intro(running: Sequence[LocalServer], looking: bool, *, startable: bool) -> str | list[Piece]:
    if running:
        places = [f"{server.title} answers on port {port_of(server)}" for server in running]
        told = f"{', '.join(places)}. Nothing you write leaves this computer."
        problems = [f"{s.title}: {shown_line(s.problem or s.note)}" for s in running if s.problem or s.note]
        empty = [f"{s.title} has no model yet." for s in running if not s.models and not s.problem]
        return " ".join((told, *problems, *empty))
    if looking:
        return "Looking for Ollama, LM Studio, llama.cpp and vLLM."
    if startable:
        return "No model server answers here yet. One that is installed can be started from here."
    return "No model server answers here. Start Ollama, LM Studio, llama.cpp or vLLM, then look again."


def port_of(server: LocalServer) -> str:
    """The port of a server's address, or the address."""
    try:
        port = urlsplit(server.base_url).port
    except ValueError:
        port = None
    return str(port) if port else server.base_url


def size_words(size: int | None) -> str:
    """``18 GB``; nothing when it is not known."""
    return "" if size is None else words.size_words(size)


def _heads() -> QWidget:
    heads = sized(pane("header"), height=29)
    row = Row(heads, margins=(12, 0, 12, 0), spacing=0)
    row.addWidget(Text("Model", "caption", "2"), 1)
    for title, width in (("Context", CONTEXT), ("Size", SIZE)):
        text = sized(Text(title, "caption", "2"), width=width)
        text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(text)
    return heads
