"""Try a tool of an MCP server: a form from the schema that it declares, or JSON where no form can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from desktop.presenter.mcp_servers import McpServersViewModel, McpToolRow
from desktop.presenter.skills_forms import parse_object
from desktop.ui.settings.trial_view import TrialView
from desktop.ui.skills.try_form import ArgumentForm
from desktop.ui.widgets.buttons import Button
from desktop.ui.widgets.containers import Scroller, clear
from desktop.ui.widgets.fields import Labelled, TextArea
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text


class McpTry(QFrame):
    """``back``: the person is done here."""

    back = Signal()

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__()
        self._mcp = mcp
        self.name = ""
        self.form: ArgumentForm | None = None
        self.json: TextArea | None = None
        self._label: Labelled | None = None
        self.setProperty("pane", "surface")
        scroller = Scroller(margins=(24, 16, 24, 24), spacing=12)
        Column(self, spacing=0).addWidget(scroller)
        self._head, self._fields = Column(spacing=8), Column(spacing=12)
        self.result = TrialView(mcp.trials)
        scroller.column.addLayout(self._head)
        scroller.column.addLayout(self._fields)
        scroller.column.addWidget(self.result)
        scroller.column.addStretch(1)
        self.result.run_wanted.connect(self.run)
        self.result.requests_wanted.connect(mcp.requests_wanted)

    def show_tool(self, row: McpToolRow) -> None:
        """Another tool; the last result goes."""
        self.name = row.name
        self.result.follow(row.name)
        clear(self._head)
        head = Row(spacing=8)
        back = Button("All servers", "quiet", icon="left", small=True)
        back.clicked.connect(self.back)
        head.addWidget(back)
        head.addWidget(Text(shown_line(row.name), "code"))
        head.addWidget(Badge(row.category))
        head.addStretch(1)
        self._head.addLayout(head)
        self._head.addWidget(Paragraph(shown(row.description), "body", "2"))
        clear(self._fields)
        self.form = self.json = self._label = None
        fields = self._mcp.fields(row.name)
        if fields is None:
            self.json = sized(TextArea("Arguments as JSON", mono=True), height=156)
            self._label = Labelled("Arguments as JSON", self.json)
            self._fields.addWidget(self._label)
        else:
            self.form = ArgumentForm(fields)
            self._fields.addWidget(self.form)

    def run(self) -> None:
        """Call it through every gate."""
        values, good = self._values()
        if good and not self._mcp.trials.running:
            self._mcp.trials.run(self.name, values)

    def _values(self) -> tuple[Mapping[str, Any], bool]:
        if self.form is not None:
            return self.form.values()
        if self.json is None or self._label is None:
            return {}, False
        try:
            values = parse_object(self.json.toPlainText())
        except ValueError as error:
            self._label.set_error(str(error))
            return {}, False
        self._label.set_error("")
        return values, True
