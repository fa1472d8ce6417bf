"""One MCP server in the list: its state and why, what it runs, how much of it is on; the rest is on its own page."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.servers.mcp import McpOffers
from desktop.domain.servers.sign_in import SignInFacts
from desktop.domain.text.words import count_words
from desktop.presenter.mcp.rows import McpRow
from desktop.ui.settings.mcp.sign_in import SignInPanel, WaitingClock
from desktop.ui.settings.mcp.state import LAST_LINES, start_waits, state_of, trouble, unseen_words
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, clear
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text


class ServerCard(QFrame):
    """``opened``: its page is wanted; ``look`` at what was not seen yet."""

    opened = Signal()
    look = Signal()
    restart = Signal()
    stop = Signal()
    switch_on = Signal()
    sign_out = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        self._known: object = None
        self._open: Button | None = None
        column = Column(self, margins=(16, 10, 12, 12), spacing=6)
        self._column = Column(spacing=6)
        column.addLayout(self._column)
        self.signing = SignInPanel()
        column.addWidget(self.signing)

    def show_row(self, row: McpRow) -> bool:
        """Show the server as it is now; it is built anew only when something that it shows changed, because a server
        may write to its log without end. Returns whether it was."""
        signs = self.signing.show_facts(row.sign_in if row.state != "off" else SignInFacts(), row.host)
        broken = row.state in ("waiting", "failed")
        facts = (len(row.tools), row.on, row.unseen, row.waiting, _beside(row))
        log = row.log[-LAST_LINES:] if broken else ()
        bare = replace(row, tools=(), instructions=None, offering=None, offers=McpOffers(""), tasks=(), log=log)
        key = (bare, facts)
        if key == self._known:
            return signs
        self._known = key
        clear(self._column)
        self.setAccessibleName(f"{row.name}, {state_of(row)[1]}: {shown_line(row.where)}")
        for widget in self._widgets(row, broken=broken):
            self._column.addWidget(widget)
        return True

    def take_keys(self) -> None:
        """Keys go to the way into its page, from which a person came back."""
        if self._open is not None:
            self._open.setFocus(Qt.FocusReason.OtherFocusReason)

    def _widgets(self, row: McpRow, *, broken: bool) -> list[QWidget]:
        widgets: list[QWidget] = [self._head(row), Text(shown_line(row.where), "code", "2", elide="right")]
        said = (row.confinement, row.weak and f"Every call asks you, as an admin call: {row.weak}.")
        widgets += [Paragraph(shown(words), "small", "2") for words in said if words]
        tools = f"{row.on} of {len(row.tools)} tools on" if row.tools else ""
        if has := ", ".join(filter(None, (tools, _beside(row)))):
            widgets.append(Text(has, "small", "2"))
        if broken:
            widgets.append(trouble(row))
        elif row.state == "starting" and row.reason:
            widgets.append(start_waits(row, self.stop))
        if row.waiting:
            widgets.append(self._unseen(row))
        return widgets

    def _head(self, row: McpRow) -> QWidget:
        holder = QWidget()
        head = Row(holder, spacing=8)
        head.addWidget(Text(shown_line(row.name), "code"))
        state = StateLabel()
        state.set_state(*state_of(row))
        head.addWidget(state)
        if row.sign_in.stage == "waiting":
            head.addWidget(WaitingClock(row.sign_in.until))
        head.addStretch(1)
        for button in run_buttons(row, self.stop, self.restart, self.switch_on):
            head.addWidget(button)
        if row.sign_in.stage == "in":
            out = Button("Sign out", small=True, tip=f"Sign out of {row.name}")
            out.clicked.connect(self.sign_out)
            head.addWidget(out)
        self._open = show = Button(
            "Open", small=True, icon="right", tip=f"What {row.name} offers, its log, and how it is started"
        )
        show.clicked.connect(self.opened)
        head.addWidget(show)
        return holder

    def _unseen(self, row: McpRow) -> Notice:
        strip = Notice("ask", unseen_words(row))
        button = Button("Look at them" if row.waiting != 1 else "Look at it", small=True)
        button.clicked.connect(self.look)
        strip.add(button)
        return strip


def _beside(row: McpRow) -> str:
    """What it offers beside tools, counted."""
    offers = row.offers
    counted = ((len(offers.resources) + len(offers.templates), "resource"), (len(offers.prompts), "prompt"))
    return ", ".join(count_words(count, noun) for count, noun in counted if count)


def run_buttons(row: McpRow, stop: SignalInstance, restart: SignalInstance, switch_on: SignalInstance) -> list[Button]:
    """Stop, Start, Restart and Switch on, as far as the server's state has them."""
    running = row.state in ("running", "starting", "waiting")
    buttons: list[Button] = []
    if running:
        end = Button("Stop", "quiet", small=True, icon="stop", tip=f"End {row.name}")
        end.clicked.connect(stop)
        buttons.append(end)
    if (row.enabled and row.state != "sign_in") or running:
        words = "Restart" if running else "Start"
        again = Button(words, small=True, icon="retry" if running else "play", tip=f"{words} {row.name}")
        again.clicked.connect(restart)
        buttons.append(again)
    if not row.enabled and row.state == "off":
        on = Button("Switch on", small=True, icon="play", tip=f"Start {row.name} now, and whenever Assent starts")
        on.clicked.connect(switch_on)
        buttons.append(on)
    return buttons
