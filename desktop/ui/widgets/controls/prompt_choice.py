"""The prompt of a side: a skill, or a text that is written here. The text grows with what is in it."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.controls.fields import Combo, TextArea
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Text

SKILL, HERE = "skill", "here"
HELP = "A skill is instructions with its own list of tools. Text written here is instructions alone."
MINIMUM, MAXIMUM = 4, 16
"""Lines of the text that are seen."""
_FRAME = 14


class PromptChoice(QWidget):
    """The choice between a prompt skill and a text written here. ``switched(True)``: to a text; ``picked`` a skill;
    ``typed`` in the text, and it was ``left``. The text stays when the choice changes, until ``show_text`` says
    another."""

    switched = Signal(bool)
    picked = Signal(str)
    typed = Signal()
    left = Signal()

    def __init__(self, skill: str, way: str, text: str) -> None:
        super().__init__()
        self.skill = Combo(skill)
        self.way = Segmented(way, ((SKILL, "A skill"), (HERE, "Written here")), small=True)
        self.area = TextArea(text, hint="You are …")
        self.area.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.count = Text("", "small", "3")
        column = Column(self, spacing=6)
        for part in (self.way, self.skill, self.area, self.count):
            column.addWidget(part)
        self.setFocusProxy(self.way)
        self.way.chosen.connect(lambda value: self.switched.emit(value == HERE))
        self.skill.activated.connect(lambda _: self.picked.emit(str(self.skill.currentData() or "")))
        self.area.textChanged.connect(self._changed)
        self.area.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self.area.installEventFilter(self)
        theme().changed.connect(self._fit)
        self._quiet = False
        self.show_here(False)
        self._measure()

    @property
    def here(self) -> bool:
        """Whether the text counts."""
        return self.way.value == HERE

    @property
    def text(self) -> str:
        """What is written, without what surrounds it."""
        return self.area.toPlainText().strip()

    def show_here(self, here: bool) -> None:
        """Show the one or the other. Emits nothing."""
        self.way.set_value(HERE if here else SKILL)
        self.skill.setVisible(not here)
        self.area.setVisible(here)
        self.count.setVisible(here)

    def show_text(self, text: str) -> None:
        """Show another text; one that differs by blanks around it alone stays as it is. Emits nothing."""
        if text.strip() != self.text:
            self._quiet = True
            self.area.setPlainText(text.strip())
            self._quiet = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leaving the text is told."""
        if watched is self.area and event.type() == QEvent.Type.FocusOut:
            self.left.emit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Narrower lines are more of them."""
        super().resizeEvent(event)
        self._fit()

    def _changed(self) -> None:
        self._measure()
        if not self._quiet:
            self.typed.emit()

    def _measure(self) -> None:
        letters = len(self.text)
        self.count.setText(f"{letters:,} character{'' if letters == 1 else 's'}")
        self._fit()

    def _fit(self) -> None:
        lines = min(max(int(self.area.document().size().height()), MINIMUM), MAXIMUM)
        margins = 2 * ceil(self.area.document().documentMargin()) + 2
        around = max(self.area.height() - self.area.viewport().height() + margins, theme().px(_FRAME))
        wanted = lines * ceil(QFontMetricsF(self.area.font()).lineSpacing()) + around
        if wanted != self.area.height():
            self.area.setFixedHeight(wanted)
