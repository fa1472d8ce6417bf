"""Tools from tools.yaml: what is in force, what is wrong with the file, its text, and trying a tool."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.presenter.settings.cli_tools import CliRow, CliToolsViewModel
from desktop.ui.settings.cli_tools.trial import CliTry
from desktop.ui.settings.declared_page import DeclaredPage
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import EmptyState, clear
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

INTRO = (
    "Programs on this computer that agents may run with arguments that you declare. There is no shell in between: "
    "what a model writes stays one argument. They are confined like commands."
)


class CliPage(DeclaredPage):
    """The page of declared tools with three views: the tools, the text, and one tool that is tried."""

    def __init__(self, cli: CliToolsViewModel) -> None:
        super().__init__(cli)
        self._cli = cli
        self.trying = CliTry(cli)
        self.stack.addWidget(self.trying)
        self.trying.back.connect(lambda: self.show_view("tools"))
        cli.adding.connect(self._add)
        self._begin()

    def _head_buttons(self) -> tuple[QWidget, ...]:
        self.add = Button("Add a tool", "quiet", icon="new", small=True)
        self.add.clicked.connect(self._add)
        return (self.add,)

    def _add(self) -> None:
        """Write on at the end of the file."""
        self._edit(self._cli.shown.count("\n") + 1)

    def refresh(self) -> None:
        """Show what the view-model has now."""
        cli, column = self._cli, self.list.column
        clear(column)
        column.addWidget(Paragraph(INTRO, "body", "2"))
        for widget in self._wrong():
            column.addWidget(widget)
        rows = cli.rows
        self.add.setVisible(bool(rows))  # else it is offered where the first one would be
        for row in rows:
            column.addWidget(self._card(row))
        if not rows:
            column.addWidget(self._nothing())
        column.addWidget(Selectable(f"Saved in {cli.path}", "small", "3"))
        column.addStretch(1)
        if self.stack.currentWidget() is self.trying and self.trying.name not in {row.name for row in rows}:
            self.show_view("tools")

    def _nothing(self) -> QWidget:
        write = Button("Add a tool", "primary", icon="new")
        write.clicked.connect(self._add)
        words = "Name a program, its arguments, and what a model may fill in."
        return EmptyState("terminal", "No tools yet", words, (write,), framed=True)

    def _card(self, row: CliRow) -> QWidget:
        card = pane("card")
        card.setAccessibleName(f"{row.name}, {row.category}: {shown_line(row.description)}")
        column = Column(card, margins=(16, 10, 12, 12), spacing=6)
        head = Row(spacing=8)
        head.addWidget(Text(shown_line(row.name), "code"))
        head.addWidget(Badge(row.category))
        head.addStretch(1)
        edit = Button("Edit", "quiet", small=True, tip=f"Edit {row.name} in the file")
        edit.clicked.connect(lambda: self._edit(row.line))
        attempt = Button("Try it", small=True, icon="play", tip=f"Call {row.name} now")
        attempt.clicked.connect(lambda: self.try_tool(row.name))
        head.addWidget(edit)
        head.addWidget(attempt)
        column.addLayout(head)
        column.addWidget(Paragraph(shown(row.description), "body", "2"))
        column.addWidget(Text(shown_line("  ".join(row.command)), "code", "2", elide="right"))
        if row.note:
            column.addWidget(Paragraph(f"Every call asks you, as an admin call: {shown(row.note)}.", "small", "2"))
        if row.offline:
            column.addWidget(Paragraph(f"It has no network: {shown(row.offline)}.", "small", "2"))
        if row.reads:
            column.addLayout(self._reads(row))
        return card

    def _reads(self, row: CliRow) -> Row:
        """The denied folders that it names, and the way back where a person agreed."""
        line = Row(spacing=8)
        if row.agreed:
            words = f"You agreed that it may read {', '.join(row.agreed)}, which is closed to all other tools."
        else:
            words = f"It names {', '.join(row.reads)}. A call that would read there asks you once."
        line.addWidget(Paragraph(shown(words), "small", "2"), 1)
        if row.agreed:
            back = Button("Take back", "quiet", small=True, tip=f"Close it to {row.name} again")
            back.clicked.connect(lambda: self._cli.take_back(row.name))
            line.addWidget(back)
        return line

    def try_tool(self, name: str) -> None:
        """Show the form of a tool."""
        row = next((row for row in self._cli.rows if row.name == name), None)
        if row is not None:
            self.trying.show_tool(row)
            self.stack.setCurrentWidget(self.trying)
            first = self.trying.form.first()
            if first is not None:
                first.setFocus(Qt.FocusReason.OtherFocusReason)
