"""A model server that is installed here: not running, starting, running for us, or failed; and what can be done."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from desktop.domain.models import LocalServer
from desktop.domain.servers.starting import PROGRAMS, TITLES, ServerState, StartKind
from desktop.presenter.settings.local_starts import LocalStartsViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.settings.models.start_dialog import LogDialog, StartDialog
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

STATES = {
    "idle": ("", ""),
    "starting": ("running", "starting"),
    "running": ("found", "started by Assent"),
    "ending": ("running", "ending"),
    "failed": ("failed", "ended"),
}
OFFER = "Installed and not running. You see the exact command before it runs."
LOADING = "A large model takes minutes to load."
ENDS, GOES_ON = "It ends with Assent.", "It goes on when Assent ends."
LAST_ROWS, LINE = 6, 200


class StartRow(QFrame):
    """Shows itself only where there is something to start, to watch or to tell."""

    def __init__(self, kind: StartKind, setup: ModelSetupViewModel, starts: LocalStartsViewModel) -> None:
        super().__init__()
        self._kind, self._setup, self._starts = kind, setup, starts
        title = self._title = TITLES[kind]
        self._shown: object = None
        self.setProperty("pane", "card")
        self.setAccessibleName(title)
        column = Column(self, margins=(16, 10, 16, 10), spacing=6)
        head = Row(spacing=8)
        head.addWidget(Text(title, "medium"))
        head.addStretch(1)
        self.state = StateLabel()
        head.addWidget(self.state)
        column.addLayout(head)
        self.words = Paragraph("", "small", "2")
        column.addWidget(self.words)
        self.last = Selectable("", "code")
        self.last.setAccessibleName(f"The last lines of {title}")
        column.addWidget(self.last)
        foot = Row(spacing=8)
        self.start = Button("Start it…", small=True, icon="play", tip=f"Choose how, and see what would run: {title}")
        self.start.clicked.connect(self._open)
        self.stop = Button("Stop", small=True, icon="stop", tip=f"End {title}")
        self.stop.clicked.connect(lambda: starts.stop(kind))
        self.log = Button("What it wrote", "quiet", small=True, tip=f"Read what {title} wrote")
        self.log.clicked.connect(self._read)
        for button in (self.start, self.stop, self.log):
            button.setAccessibleName(f"{button.label.rstrip('…')}: {title}")
            foot.addWidget(button)
        foot.addStretch(1)
        column.addLayout(foot)
        setup.changed.connect(self.refresh)
        starts.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show how it goes now."""
        state, server = self._starts.state(self._kind), self._found()
        now = (state, server is not None and server.running)
        if now == self._shown:
            return
        self._shown = now
        elsewhere = server is not None and server.running
        if state is None or (state.phase in ("idle", "failed") and elsewhere):
            self.hide()
            return
        name, word = STATES[state.phase]
        self.state.set_state(name, word)
        self.words.set_tone("failed" if state.phase == "failed" else "2")
        self.words.set_pieces(shown_line(_words(state)))
        lines = [line[:LINE] for line in shown(state.last_words).splitlines() if line.strip()][-LAST_ROWS:]
        self.last.setText("\n".join(lines))
        self.last.setVisible(bool(lines))
        self.start.setVisible(state.phase in ("idle", "failed"))
        again = "Start it again" if state.phase == "failed" else "Start it"
        self.start.set_label(f"{again}…")
        self.start.setAccessibleName(f"{again}: {self._title}")
        self.stop.setVisible(state.phase in ("starting", "running"))
        self.log.setVisible(state.phase != "idle")
        self.show()

    def _found(self) -> LocalServer | None:
        return next((server for server in self._setup.servers if server.kind == self._kind), None)

    def _open(self) -> None:
        dialog = StartDialog(self.window(), self._title, self._kind, self._starts)
        dialog.open(dialog.first())

    def _read(self) -> None:
        LogDialog(self.window(), self._title, self._kind, self._starts).open()


def _words(state: ServerState) -> str:
    if state.phase == "failed":
        return state.problem
    if state.phase == "idle":
        return f"{PROGRAMS[state.kind]}: {OFFER[0].lower()}{OFFER[1:]}"
    end = GOES_ON if state.leave_running else ENDS
    return f"{LOADING} {end}" if state.phase == "starting" else f"{state.base_url.removeprefix('http://')}. {end}"
