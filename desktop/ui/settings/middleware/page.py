"""Settings, Middleware: the chain of each level in its order, each with a switch, and the library's own settings."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from desktop.domain.skills import Level
from desktop.presenter.settings.middleware import MiddlewareRow, MiddlewareViewModel
from desktop.presenter.settings.page import SettingSpec, SettingsViewModel
from desktop.ui.settings.rows import SettingRow
from desktop.ui.widgets.controls.toggles import Switch
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text

LEVELS: tuple[tuple[Level, str, str], ...] = (
    ("agent", "Around an agent's work", "Each answer of a chat, turn of a debate, and agent that is called as a tool."),
    ("chat", "Around a request to a model", "Each round of an agent, and each summary."),
    (
        "call",
        "Around a tool call",
        "Those that Assent needs run around every call, the others around skills that ask "
        "for them, for example with retry: 3.",
    ),
)
WORDS = (
    "Middleware runs around what agents do, and may delay, watch, change or refuse it. The first of a list begins "
    "first and ends last. To add your own, write a skill with role: middleware and level: agent, chat or call."
)
BESIDE_SWITCH = 44
"""Pixels at 100 % that the lines below a name are moved in: the switch and the space beside it."""


class MiddlewareLine(QFrame):
    """One middleware in the chain of a level."""

    def __init__(self, row: MiddlewareRow, model: MiddlewareViewModel, *, last: bool) -> None:
        super().__init__()
        self.row = row
        self.setProperty("pane", "row-last" if last else "row")
        title = shown_line(row.title)[:80]
        column = Column(self, margins=(16, 10, 16, 10), spacing=2)
        head = Row(spacing=12)
        self.switch = Switch(title)
        self.switch.setChecked(row.on)
        self.switch.setEnabled(row.switchable)
        self.switch.setAccessibleDescription(row.note or row.about)
        self.switch.clicked.connect(lambda: model.switch(row.key, self.switch.isChecked()))
        head.addWidget(self.switch)
        head.addWidget(Text(title, "code" if row.switchable else "medium", elide="right"), 1)
        column.addLayout(head)
        below = Column(margins=(BESIDE_SWITCH, 0, 0, 0), spacing=2)
        below.addWidget(Paragraph(shown_line(row.about), "small", "2"))
        if row.note:
            below.addWidget(Paragraph(shown_line(row.note), "small", "failed" if row.problem else "3"))
        column.addLayout(below)


class ChainCard(QFrame):
    """The card of a level: its lines, and below a line that has settings those settings."""

    def __init__(self, level: Level, model: MiddlewareViewModel, settings: SettingsViewModel) -> None:
        super().__init__()
        self._level, self._model, self._settings = level, model, settings
        self._shown: tuple[MiddlewareRow, ...] = ()
        self.setProperty("pane", "card")
        self._column = Column(self, margins=0, spacing=0)
        model.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the chain as it is now; a switch that was clicked keeps the focus."""
        rows = tuple(self._model.rows(self._level))
        if rows == self._shown:
            return
        focused = next((line.row.key for line in self.lines() if line.switch.hasFocus()), "")
        self._shown = rows
        clear(self._column)
        for at, row in enumerate(rows):
            specs = self._specs(row)
            last = at == len(rows) - 1
            self._column.addWidget(line := MiddlewareLine(row, self._model, last=last and not specs))
            if focused and row.key == focused:
                line.switch.setFocus()
            for number, spec in enumerate(specs, 1):
                self._column.addWidget(SettingRow(self._settings, spec, last=last and number == len(specs)))

    def lines(self) -> list[MiddlewareLine]:
        """The lines that stand here now, in their order."""
        items = [self._column.itemAt(at) for at in range(self._column.count())]
        widgets = [item.widget() for item in items if item is not None]
        return [widget for widget in widgets if isinstance(widget, MiddlewareLine)]

    def _specs(self, row: MiddlewareRow) -> list[SettingSpec]:
        if not row.settings or not row.on:
            return []
        return [spec for spec in self._settings.schema() if spec.key.startswith(f"middleware.{row.settings}.")]


class MiddlewarePage(Scroller):
    """The chains of middleware of all three levels."""

    def __init__(self, model: MiddlewareViewModel, settings: SettingsViewModel) -> None:
        super().__init__(margins=(24, 20, 24, 24), spacing=12)
        self.column.addWidget(Paragraph(WORDS, "body", "2"))
        self._refusal = Notice("failed", "", icon="failed")
        self._refusal.hide()
        self.column.addWidget(self._refusal)
        self.cards: dict[Level, ChainCard] = {}
        for level, title, about in LEVELS:
            head = Column(margins=(0, 8, 0, 0), spacing=2)
            head.addWidget(Text(title, "strong"))
            head.addWidget(Paragraph(about, "small", "2"))
            self.column.addLayout(head)
            self.cards[level] = ChainCard(level, model, settings)
            self.column.addWidget(self.cards[level])
        self.column.addWidget(Selectable(f"Saved in {settings.path}", "small", "3"))
        self.column.addStretch(1)
        model.refused.connect(self._refused)
        model.changed.connect(self._refusal.hide)

    def _refused(self, sentence: str) -> None:
        self._refusal.say(shown_line(sentence))
        self._refusal.show()
