"""How a server is, as a glyph and a word; and what else its card and its page both show."""

from __future__ import annotations

import time

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from desktop.presenter.mcp.rows import McpRow
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.settings.mcp.sign_in import sign_in_state
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line

LOG_ROWS = 14
LAST_LINES = 4
"""Of the log, with a server that does not run."""
STATES = {
    "off": ("aborted", "off"),
    "starting": ("running", "starting"),
    "running": ("done", "running"),
    "waiting": ("failed", "failed, will start again"),
    "failed": ("failed", "failed"),
    "sign_in": ("waiting", "sign in first"),
}


def state_of(row: McpRow) -> tuple[str, str]:
    """Glyph and word of its state; where a person has to sign in, or is doing so, that is its state."""
    facts = row.sign_in
    if row.state != "off" and (words := sign_in_state(facts)) is not None:
        return words
    look, word = STATES[row.state]
    if row.state == "running" and facts.stage == "in":
        ends = facts.until if not facts.renews else 0.0
        word = f"{word}, signed in{time.strftime(' until %H:%M', time.localtime(ends)) if ends else ''}"
    return look, word


def unseen_words(row: McpRow) -> str:
    """What waits to be looked at: ``Its instructions and 2 tools are new or changed, and off until …``."""
    parts = ["its instructions"] if row.unseen_instructions else []
    parts += ["its resources and prompts"] if row.unseen_offering else []
    parts += [f"{row.unseen} tool{'s' * (row.unseen != 1)}"] if row.unseen else []
    what = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    are, them = ("is", "it") if parts == ["1 tool"] else ("are", "them")
    return f"{what[:1].upper()}{what[1:]} {are} new or changed, and off until you switch {them} on."


def trouble(row: McpRow) -> QWidget:
    """Why it does not run, with the last it said."""
    holder = QWidget()
    column = Column(holder, spacing=6)
    column.addWidget(Notice("failed", shown_line(row.reason) or "It ended."))
    if row.log:
        column.addWidget(log_card("Its last lines", row.log[-LAST_LINES:]))
    return holder


def start_waits(row: McpRow, cancel: SignalInstance) -> Notice:
    """What a start waits for, such as a download, and the way out of it."""
    strip = Notice("info", shown_line(row.reason))
    button = Button("Cancel", small=True, tip=f"Do not start {shown_line(row.name)} now")
    button.clicked.connect(cancel)
    strip.add(button)
    return strip


def log_card(name: str, lines: tuple[str, ...], rows: int = LOG_ROWS) -> QWidget:
    """Lines of a log on a card."""
    card = pane("quoted")
    view = LinesView(name, max_rows=rows)
    view.set_indent(12)
    view.set_text("\n".join(map(shown_line, lines)))
    view.setFixedHeight(view.sizeHint().height())
    Column(card, margins=(1, 8, 1, 8), spacing=0).addWidget(view)
    return card
