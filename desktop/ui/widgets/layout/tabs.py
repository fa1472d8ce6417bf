"""Tabs in a page's header: words with a count, the chosen one underlined in ink. Arrow keys move."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.scaling import Row


class _Tab(Ringed, QAbstractButton):
    spoken_role = "page tab"

    def __init__(self, text: str) -> None:
        super().__init__()
        self._label = text
        self._count: int | None = None
        self.setText(text)
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)

    def set_count(self, count: int | None) -> None:
        self._count = count
        self.setAccessibleName(self._label if count is None else f"{self._label}, {count}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        t = theme()
        width = QFontMetrics(t.font("body", 500)).horizontalAdvance(self._label)
        if self._count:
            width += t.px(6) + QFontMetrics(t.font("small")).horizontalAdvance(str(self._count))
        return QSize(width, t.px(47))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme()
        painter = QPainter(self)
        on = self.isChecked()
        painter.setFont(t.font("body", 500))
        painter.setPen(t.color("text" if on or self.underMouse() else "text-2"))
        painter.drawText(self.rect(), _LEFT, self._label)
        if self._count:
            x = QFontMetrics(t.font("body", 500)).horizontalAdvance(self._label) + t.px(6)
            painter.setFont(t.font("small"))
            painter.setPen(t.color("text-2"))
            painter.drawText(self.rect().adjusted(x, 0, t.px(20), 0), _LEFT, str(self._count))
        if on:
            painter.fillRect(QRect(0, self.height() - t.px(2), self.width(), t.px(2)), t.color("text"))


class Tabs(QWidget):
    """``chosen`` carries the value."""

    chosen = Signal(str)

    def __init__(self, name: str, choices: tuple[tuple[str, str], ...], *, spacing: int = 24) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self._tabs: dict[str, _Tab] = {}
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Expanding)
        row = Row(self, spacing=spacing)
        for at, (value, text) in enumerate(choices):
            tab = _Tab(text)
            self._tabs[value] = tab
            self._group.addButton(tab, at)
            tab.clicked.connect(lambda _=False, value=value: self.chosen.emit(value))
            row.addWidget(tab)
        self._group.button(0).setChecked(True)

    def set_count(self, value: str, count: int | None) -> None:
        """The figure after a tab's word; None or 0 shows none."""
        self._tabs[value].set_count(count)

    def set_value(self, value: str) -> None:
        """Choose without a signal."""
        self._tabs[value].setChecked(True)

    @property
    def value(self) -> str:
        """The chosen value."""
        return next(value for value, tab in self._tabs.items() if tab.isChecked())


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
