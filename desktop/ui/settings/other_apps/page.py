"""Settings, Assent for other apps: a switch for each skill and agent, what to paste, who is connected (R-MSV-1)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame

from desktop.presenter.settings.other_apps import OfferedRow, OtherAppsViewModel
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.controls.toggles import Segmented, Switch
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

WORDS = (
    "Claude Code, VS Code, Zed, Cursor and other programs can call what you switch on here, over MCP. Each call passes "
    "the same gates as any; what needs you is asked in this window, and denied while none is open."
)
NOBODY = "No program is connected. One that starts “assent mcp” is named here."
NO_ROWS = "No agent may be called by others, and there is no skill yet."
BESIDE_SWITCH = 44
"""Pixels at 100 % that the lines below a name are moved in: the switch and the space beside it."""
ABOUT_MAX = 300
ROWS = 5
"""Lines of the longest snippet with the usual home; a longer one scrolls."""


class OfferedLine(QFrame):
    """One skill or agent with its switch."""

    def __init__(self, row: OfferedRow, switched: Callable[[str, bool], None], *, last: bool) -> None:
        super().__init__()
        self.row = row
        self.setProperty("pane", "row-last" if last else "row")
        title = shown_line(row.name)[:80]
        column = Column(self, margins=(16, 10, 16, 10), spacing=2)
        head = Row(spacing=12)
        self.switch = Switch(title)
        self.switch.setChecked(row.on)
        self.switch.setAccessibleDescription(row.note)
        self.switch.clicked.connect(lambda: switched(row.name, self.switch.isChecked()))
        head.addWidget(self.switch)
        head.addWidget(Text(title, "code", elide="right"), 1)
        column.addLayout(head)
        below = Column(margins=(BESIDE_SWITCH, 0, 0, 0), spacing=2)
        if row.about:
            below.addWidget(Paragraph(shown_line(row.about)[:ABOUT_MAX], "small", "2"))
        below.addWidget(Paragraph(row.note, "small", "failed" if row.problem else "3"))
        column.addLayout(below)


class SnippetCard(QFrame):
    """What to paste into the other program, for the one that is chosen."""

    def __init__(self, model: OtherAppsViewModel, said: Callable[[str], None]) -> None:
        super().__init__()
        self._snippets = {one.program: one for one in model.snippets}
        self._said = said
        self.setProperty("pane", "card")
        column = Column(self, margins=(16, 12, 16, 14), spacing=8)
        head = Row(spacing=12)
        self.choice = Segmented("Program", tuple((name, name) for name in self._snippets))
        self.choice.chosen.connect(self._show)
        head.addWidget(self.choice)
        head.addStretch(1)
        self.copy = Button("Copy", small=True, icon="copy")
        self.copy.clicked.connect(self._copy)
        head.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(head)
        self._where = Paragraph("", "small", "2")
        column.addWidget(self._where)
        self.text = MonoView("What to paste", rows=ROWS, wrap=True)
        column.addWidget(self.text)
        self._show(next(iter(self._snippets)))

    def _show(self, program: str) -> None:
        self._now = self._snippets[program]
        self._where.set_pieces(self._now.where)
        self.text.setPlainText(self._now.text)
        self.copy.setAccessibleName(f"Copy what {program} needs")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._now.text)
        self._said(f"What {self._now.program} needs is copied")


class OtherAppsPage(Scroller):
    """``said`` shows a short sentence in the toast of Settings."""

    def __init__(self, model: OtherAppsViewModel, said: Callable[[str], None]) -> None:
        super().__init__(margins=(24, 20, 24, 24), spacing=12)
        self._model = model
        self._shown: tuple[OfferedRow, ...] | None = None
        self._seen: object = None
        self.column.addWidget(Paragraph(WORDS, "body", "2"))
        self._refusal = Notice("failed", "", icon="failed")
        self._refusal.hide()
        self.column.addWidget(self._refusal)
        self.column.addWidget(Text("What to tell the other program", "strong"))
        self.snippet = SnippetCard(model, said)
        self.column.addWidget(self.snippet)
        self.column.addWidget(Text("Connected now", "strong"))
        self._connected = Column(spacing=8)
        self.column.addLayout(self._connected)
        self._rows = Column(spacing=8)
        self.column.addLayout(self._rows)
        self._lately = Column(spacing=8)
        self.column.addLayout(self._lately)
        self.column.addStretch(1)
        model.changed.connect(self.refresh)
        model.refused.connect(self._refused)
        self.refresh()
        model.look()

    def refresh(self) -> None:
        """Show what the view-model has now; a switch that was clicked keeps the focus."""
        seen = (self._model.connected, self._model.lines)
        if seen != self._seen:
            self._seen = seen
            self._show_connected()
            self._show_lately()
        if self._model.rows != self._shown:
            self._shown = self._model.rows
            self._show_rows(self._shown or ())

    def lines(self) -> list[OfferedLine]:
        """The lines that stand here now, in their order."""
        return self.findChildren(OfferedLine)

    def _show_connected(self) -> None:
        clear(self._connected)
        if not self._model.connected:
            self._connected.addWidget(Paragraph(NOBODY, "body", "2"))
            return
        card = pane("card")
        column = Column(card, margins=(16, 10, 16, 10), spacing=6)
        for name, more in self._model.connected:
            line = Row(spacing=12)
            line.addWidget(Text(shown_line(name), "medium", elide="right"), 1)
            line.addWidget(Text(shown_line(more), "small", "2"))
            column.addLayout(line)
        self._connected.addWidget(card)

    def _show_rows(self, rows: tuple[OfferedRow, ...]) -> None:
        focused = next((line.row.name for line in self.lines() if line.switch.hasFocus()), "")
        clear(self._rows)
        if not rows:
            if self._model.rows is not None:
                self._rows.addWidget(EmptyState("skills", "Nothing to offer", NO_ROWS, framed=True))
            return
        for group, found in groupby(rows, lambda row: row.group):
            self._rows.addWidget(Text(group, "strong"))
            card = pane("card")
            self._rows.addWidget(card)
            column = Column(card, margins=0, spacing=0)
            some = list(found)
            for at, row in enumerate(some):
                line = OfferedLine(row, self._model.switch, last=at == len(some) - 1)
                column.addWidget(line)
                if focused == row.name:
                    line.switch.setFocus()

    def _show_lately(self) -> None:
        clear(self._lately)
        if not self._model.lines:
            return
        self._lately.addWidget(Text("Lately", "strong"))
        card = pane("card")
        column = Column(card, margins=(16, 10, 16, 10), spacing=4)
        for at, who, what in self._model.lines:
            column.addWidget(Selectable(shown_line(f"{at}  {who}: {what}")[:200], "small", "2"))
        self._lately.addWidget(card)

    def _refused(self, sentence: str) -> None:
        self._refusal.say(shown_line(sentence))
        self._refusal.show()
