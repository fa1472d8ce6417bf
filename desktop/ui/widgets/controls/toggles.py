"""Switches, checks, radio rows, segmented choices and chips: painted, because QSS cannot recolour their glyphs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QCheckBox, QFrame, QRadioButton, QSizePolicy

from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph, outline
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.never_cut import NeverCut
from desktop.ui.widgets.scaling import Row
from desktop.ui.widgets.tips import plain_tip


class Switch(Ringed, NeverCut, QCheckBox):
    """On or off, at once. ``name`` is read aloud."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """The size of a switch, from the theme."""
        return QSize(theme().metric("switch-width"), theme().metric("switch-height"))

    def hitButton(self, pos: object) -> bool:
        """The whole switch can be clicked, not its mark alone."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """A pill with a knob; off is outline only."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0.5, 0.5, self.width() - 1, self.height() - 1)
        radius = box.height() / 2
        on, enabled = self.isChecked(), self.isEnabled()
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("accent" if enabled else "pressed"))
            painter.drawRoundedRect(box, radius, radius)
        else:
            outline(painter, QRectF(self.rect()), radius, t.color("control-border" if enabled else "border"))
        side = t.px(12)
        x = self.width() - side - t.px(4) if on else t.px(4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color(("on-accent" if on else "control-border") if enabled else "text-disabled"))
        painter.drawEllipse(QRectF(x, (self.height() - side) / 2, side, side))


class CheckBox(Ringed, NeverCut, QCheckBox):
    """A check box with its text."""

    def __init__(self, text: str) -> None:
        super().__init__(text.replace("&", "&&"))
        self._label = text
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        """The size of box, gap and text."""
        t = theme()
        width = QFontMetrics(t.font("body")).horizontalAdvance(self._label)
        return QSize(t.px(16) + (t.px(8) + width if self._label else 0), max(t.px(24), t.line_height("body")))

    def hitButton(self, pos: object) -> bool:
        """The text counts too."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """A box, filled and ticked when on."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = t.px(16)
        box = QRectF(0, (self.height() - side) // 2, side, side)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("accent" if self.isEnabled() else "pressed"))
            painter.drawRoundedRect(box, t.px(4), t.px(4))
            glyph(painter, box.toRect(), "allow", "on-accent" if self.isEnabled() else "text-disabled", t.px(14))
        else:
            outline(painter, box, t.px(4), t.color("control-border" if self.isEnabled() else "border"))
        painter.setPen(t.color("text" if self.isEnabled() else "text-disabled"))
        painter.setFont(t.font("body"))
        painter.drawText(self.rect().adjusted(side + t.px(8), 0, 0, 0), _LEFT, self._label)


class RadioRow(QRadioButton):
    """A row of a list from which one is chosen: dot, mono name, and facts in columns at the right."""

    def __init__(self, name: str, facts: tuple[tuple[str, int], ...] = (), *, last: bool = False) -> None:
        super().__init__()
        self._name = name
        self._facts = facts
        self._last = last
        self.setAccessibleName(" ".join((name, *(text for text, _ in facts))))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self.update)

    def sizeHint(self) -> QSize:
        """A row 36 pixels high."""
        return QSize(theme().px(200), theme().px(36))

    def hitButton(self, pos: object) -> bool:
        """The whole row can be clicked, not its mark alone."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Selected rows are grey; only the dot is green."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self.rect()
        if self.isChecked() or self.underMouse():
            painter.fillRect(box, t.color("selected" if self.isChecked() else "hover"))
        if not self._last:
            painter.fillRect(QRect(0, box.height() - 1, box.width(), 1), t.color("border"))
        self._dot(painter)
        right = box.width() - t.px(12)
        for text, column in reversed(self._facts):
            painter.setFont(t.font("small"))
            painter.setPen(t.color("text-2"))
            painter.drawText(QRect(right - t.px(column), 0, t.px(column), box.height()), _RIGHT, text)
            right -= t.px(column)
        font = t.font("code")
        painter.setFont(font)
        painter.setPen(t.color("text"))
        left = t.px(36)
        name = QFontMetrics(font).elidedText(self._name, Qt.TextElideMode.ElideMiddle, right - left - t.px(4))
        painter.drawText(QRect(left, 0, right - left, box.height()), _LEFT, name)
        if self.hasFocus():
            outline(painter, QRectF(box).adjusted(1, 1, -1, -1), t.px(6), t.color("focus"), t.px(2))

    def _dot(self, painter: QPainter) -> None:
        t = theme()
        side = t.px(16)
        box = QRectF(t.px(12), (self.height() - side) / 2, side, side)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("accent"))
            painter.drawEllipse(box)
            painter.setBrush(t.color("on-accent"))
            inner = t.px(6)
            painter.drawEllipse(QRectF(box.center().x() - inner / 2, box.center().y() - inner / 2, inner, inner))
        else:
            outline(painter, box, side / 2, t.color("control-border"))


class _Segment(NeverCut, QAbstractButton):
    spoken_role = "radio button"

    def __init__(self, text: str, small: bool, icon: str) -> None:
        super().__init__()
        self._label = text
        self._small = small
        self._icon = icon
        self.setText(text)
        self.setCheckable(True)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def sizeHint(self) -> QSize:
        t = theme()
        width = QFontMetrics(t.font("small" if self._small else "body", 500)).horizontalAdvance(self._label)
        width += t.px(22) if self._icon else 0
        return QSize(width + t.px(16 if self._small else 24), t.px(22 if self._small else 30))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        on = self.isChecked()
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("surface"))
            painter.drawRoundedRect(box, t.px(6), t.px(6))
            outline(painter, box, t.px(6), t.color("border-strong"))
        token = (self._icon or "text") if on else "text-2"
        room = self.rect()
        if self._icon:
            glyph(painter, QRect(t.px(12), 0, t.px(16), self.height()), self._icon, token, t.px(16))
            room = room.adjusted(t.px(22), 0, 0, 0)
        painter.setFont(t.font("small" if self._small else "body", 500))
        painter.setPen(t.color(token))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, self._label)
        if self.hasFocus():
            outline(painter, box, t.px(6), t.color("focus"), t.px(2))


class Segmented(QFrame):
    """A few choices side by side, one of them chosen; arrow keys move. ``chosen`` carries the value. ``decisions``:
    the values are allow, ask, deny; each has its glyph, and the chosen one its colour."""

    chosen = Signal(str)

    def __init__(
        self, name: str, choices: tuple[tuple[str, str], ...], *, small: bool = False, decisions: bool = False
    ) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._group = QButtonGroup(self)
        self._values: list[str] = []
        self._small = small
        row = Row(self, margins=1, spacing=0)
        for value, text in choices:
            segment = _Segment(text, small, value if decisions else "")
            self._group.addButton(segment, len(self._values))
            self._values.append(value)
            row.addWidget(segment)
        self._group.idClicked.connect(lambda index: self.chosen.emit(self._values[index]))
        self._group.button(0).setChecked(True)

    @property
    def value(self) -> str:
        """The chosen value."""
        return self._values[max(0, self._group.checkedId())]

    def set_tips(self, tips: Mapping[str, str]) -> None:
        """Set what each choice means, by its value."""
        for index, value in enumerate(self._values):
            self._group.button(index).setToolTip(plain_tip(tips.get(value, "")))
            self._group.button(index).setAccessibleDescription(tips.get(value, ""))

    def set_value(self, value: str) -> None:
        """Choose without a signal; an unknown value is ignored."""
        if value in self._values:
            self._group.button(self._values.index(value)).setChecked(True)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the common outline."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color("bg"))
        painter.drawRoundedRect(QRectF(self.rect()), t.px(6), t.px(6))
        outline(painter, QRectF(self.rect()), t.px(6), t.color("border-strong"))


class Chip(Ringed, NeverCut, QAbstractButton):
    """A small toggle, as for a tag; when on it shows a cross."""

    def __init__(self, text: str, *, checked: bool = False) -> None:
        super().__init__()
        self._label = text
        self.setText(text)
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setChecked(checked)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self.updateGeometry)

    def set_label(self, text: str) -> None:
        """Show another text."""
        self._label = text
        self.setText(text)
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Text, and the cross when on."""
        t = theme()
        weight = 500 if self.isChecked() else None
        width = QFontMetrics(t.font("small", weight)).horizontalAdvance(self._label)
        return QSize(width + t.px(17) + (t.px(17) if self.isChecked() else 0), t.metric("chip"))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Outline, and a fill when on."""
        t = theme()
        on = self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if on or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(t.color("selected" if on else "hover"))
            painter.drawRoundedRect(box, t.px(6), t.px(6))
        outline(painter, box, t.px(6), t.color("border-strong" if on else "border"))
        painter.setFont(t.font("small", 500 if on else None))
        painter.setPen(t.color("text" if on else "text-2"))
        painter.drawText(self.rect().adjusted(t.px(8), 0, 0, 0), _LEFT, self._label)
        if on:
            side = t.px(14)
            glyph(painter, QRect(self.width() - side - t.px(6), 0, side, self.height()), "close", "text", side)


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)
