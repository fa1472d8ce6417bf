"""What may end a debate: turns, a tool, cost, tokens; the first that comes true does."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.definitions import SIDES
from desktop.presenter.debates.setup import DebateSetupViewModel
from desktop.ui.debates.numbers import NumberField
from desktop.ui.widgets.controls.fields import Combo
from desktop.ui.widgets.controls.toggles import CheckBox
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph, Text

TURNS, COST, TOKENS = 10, 0.5, 200_000
"""What a box holds when it is first switched on."""
PATHS = ("maxSessionTurns", "maxTurns", "maxCost", "maxTokens", "sideA.endSessionTool", "sideB.endSessionTool")


class EndsCard(QFrame):
    """Four conditions with a check each."""

    def __init__(self, setup: DebateSetupViewModel) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        self._setup = setup
        self.turns, self.turns_box = CheckBox("after"), NumberField("Turns of both sides", 1, 10_000, width=56)
        self.tool, self.tool_box = CheckBox("a side calls"), Combo("Tool that ends it")
        self.cost = CheckBox("cost reaches")
        self.cost_box = NumberField("Cost in US dollars", 0.01, 10_000, width=72, decimals=2, prefix="$")
        self.tokens, self.tokens_box = CheckBox("tokens reach"), NumberField("Tokens", 1, 1_000_000_000, width=96)
        self._turn_words = Text("turns of both", "body")
        self._wrong = Paragraph("", "small", "failed")
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        column = Column(self, margins=(16, 14, 16, 14), spacing=8)
        column.addWidget(Text("Ends at the first of these", "strong"))
        flow = FlowRow(gap=24)
        items: list[QWidget] = []
        for parts in (
            (self.turns, self.turns_box, self._turn_words),
            (self.tool, self.tool_box),
            (self.cost, self.cost_box),
            (self.tokens, self.tokens_box),
        ):
            holder = QWidget()
            row = Row(holder, spacing=8)
            for part in parts:
                row.addWidget(part)
            items.append(holder)
        flow.set_items(items)
        column.addWidget(flow)
        column.addWidget(self._wrong)
        self._wrong.hide()

    def _connect(self) -> None:
        for check in (self.turns, self.tool, self.cost, self.tokens):
            check.clicked.connect(lambda _: self._checked())
        self.turns_box.changed.connect(self._checked)
        self.cost_box.changed.connect(self._checked)
        self.tokens_box.changed.connect(self._checked)
        self.tool_box.activated.connect(lambda _: self._tool_chosen())
        self.tool.clicked.connect(lambda _: self._tool_chosen())

    def _checked(self) -> None:
        self._setup.set(
            max_turns=int(self.turns_box.number or 1) if self.turns.isChecked() else None,
            max_cost=round(self.cost_box.number or 0.01, 2) if self.cost.isChecked() else None,
            max_tokens=int(self.tokens_box.number or 1) if self.tokens.isChecked() else None,
        )
        self._enable()

    def _tool_chosen(self) -> None:
        tool = str(self.tool_box.currentData() or "")
        self._setup.set_end_tool(tool if self.tool.isChecked() else "")
        self._enable()

    def _enable(self) -> None:
        turns = int(self.turns_box.number or 0)
        each = f", {turns // 2} a side" if turns % 2 == 0 else f", {turns // 2 + 1} and {turns // 2}"
        self._turn_words.setText(f"turns{each}")
        self._turn_words.updateGeometry()
        pairs = (
            (self.turns, self.turns_box),
            (self.tool, self.tool_box),
            (self.cost, self.cost_box),
            (self.tokens, self.tokens_box),
        )
        for check, box in pairs:
            box.setEnabled(check.isChecked())

    def refresh(self) -> None:
        """Read the values from the set-up, without a signal."""
        setup = self._setup.setup
        values = (
            (self.turns, self.turns_box, setup.max_turns, TURNS),
            (self.cost, self.cost_box, setup.max_cost, COST),
            (self.tokens, self.tokens_box, setup.max_tokens, TOKENS),
        )
        for check, box, value, usual in values:
            check.setChecked(value is not None)
            box.show_number(usual if value is None else value)
        tool = setup.a.end_session_tool or setup.b.end_session_tool
        names = dict.fromkeys(name for side in SIDES for name in self._setup.tools_of(side))
        if tool:
            names[tool] = None
        self.tool_box.fill([(name, name) for name in names] or [("no tools", "")], tool)
        self.tool.setChecked(bool(tool))
        self.tool.setEnabled(bool(names))
        self._enable()

    def show_problems(self) -> None:
        """Show the problems of the conditions below them."""
        wrong = [p.text for p in self._setup.problems if p.path in PATHS and not p.warning]
        self._wrong.set_pieces(" ".join(wrong))
        self._wrong.setVisible(bool(wrong))
