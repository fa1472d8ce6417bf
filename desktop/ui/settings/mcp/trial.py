"""Try a tool of an MCP server: a form from the schema that it declares, or JSON where no form can hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desktop.presenter.mcp.rows import McpToolRow
from desktop.presenter.mcp.servers import McpServersViewModel
from desktop.presenter.skills.forms import parse_object
from desktop.ui.settings.tool_try import ToolTry
from desktop.ui.skills.try_form import ArgumentForm
from desktop.ui.widgets.controls.fields import Labelled, TextArea
from desktop.ui.widgets.scaling import sized


class McpTry(ToolTry):
    """Either ``form`` or ``json`` is there."""

    def __init__(self, mcp: McpServersViewModel) -> None:
        super().__init__(mcp.trials, mcp.requests_wanted, all_of_them="Back")
        self._mcp = mcp
        self.form: ArgumentForm | None = None
        self.json: TextArea | None = None
        self._label: Labelled | None = None
        self.end_with_result()

    def show_tool(self, row: McpToolRow) -> None:
        """Show another tool; the last result is dropped."""
        self.show_head(row.name, row.category, row.description)
        self.form = self.json = self._label = None
        fields = self._mcp.fields(row.name)
        if fields is None:
            self.json = sized(TextArea("Arguments as JSON", mono=True), height=156)
            self._label = Labelled("Arguments as JSON", self.json)
            self.fields.addWidget(self._label)
        else:
            self.form = ArgumentForm(fields)
            self.fields.addWidget(self.form)

    def run(self) -> None:
        """Call it through every gate."""
        values, good = self._values()
        if good and not self.trials.running:
            self.trials.run(self.name, values)

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
