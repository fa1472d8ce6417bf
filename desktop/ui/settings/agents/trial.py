"""The dry run of a definition: what each side would be told, what it could use, what bounds it. No model is asked."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from desktop.domain.debates import SidePreview
from desktop.domain.definitions import AgentDefinition, SideName
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

MAX_TOOLS = 60
MAX_TEXT = 60_000
WORDS = "What would be sent with the first message. Nothing is sent now."


class AgentTrial(Scroller):
    """The dry run of an agent: what would be sent, one card a side."""

    def __init__(self) -> None:
        super().__init__(margins=(24, 16, 24, 24), spacing=12)
        self.setAccessibleName("Dry run")

    def load(self, agent: AgentDefinition | None, previews: Mapping[SideName, SidePreview]) -> None:
        """Show the sides of what the text says."""
        clear(self.column)
        if agent is None:
            words = "Correct what is marked below to see what each side would get."
            self.column.addWidget(EmptyState("failed", "It has mistakes", words, (), framed=True))
            self.column.addStretch(1)
            return
        self.column.addWidget(Paragraph(WORDS, "body", "2"))
        for name, preview in previews.items():
            self.column.addWidget(self._side(agent.label_of(name), preview))
        self.column.addStretch(1)

    def _side(self, label: str, preview: SidePreview) -> QWidget:
        card = pane("card")
        card.setAccessibleName(f"{label}: {len(preview.tools)} tools")
        column = Column(card, margins=(16, 12, 16, 16), spacing=8)
        head = Row(spacing=8)
        head.addWidget(Text(shown_line(label), "strong"))
        head.addStretch(1)
        head.addWidget(Text(shown_line(preview.model) or "the model of the chat", "small", "2"))
        column.addLayout(head)
        for problem in preview.problems:
            column.addWidget(Notice("ask" if problem.warning else "failed", shown(f"{problem.path}: {problem.text}")))
        column.addWidget(Text("Limits", "caption", "3"))
        column.addWidget(Paragraph(shown("; ".join(preview.limits)), "body"))
        column.addWidget(Text(f"Tools ({len(preview.tools)})", "caption", "3"))
        for tool in preview.tools[:MAX_TOOLS]:
            column.addLayout(_tool(tool.name, tool.category, tool.description))
        if len(preview.tools) > MAX_TOOLS:
            column.addWidget(Text(f"and {len(preview.tools) - MAX_TOOLS} more", "small", "2"))
        if not preview.tools:
            column.addWidget(Text("none", "body", "2"))
        if preview.system:
            column.addWidget(Text("System text", "caption", "3"))
            text = MonoView(f"System text of {label}", shown(preview.system[:MAX_TEXT]), rows=14, wrap=True)
            text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            column.addWidget(text)
        return card


def _tool(name: str, category: str, description: str) -> Row:
    row = Row(spacing=8)
    row.addWidget(Text(shown_line(name), "code"), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(Badge(category), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(Text(shown_line(description[:160]), "small", "2", elide="right"), 1)
    return row
