"""A field of a form whose value is a model: it opens the list of models."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy

from desktop.presenter.common.model_rows import NOT_NOW, plain_name
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.model_picker.popup import ModelPopup
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.tips import plain_tip


class ModelField(Button):
    """``chosen(ref)``; ``first`` is what stands there for no model, (value, words), and a choice where ``optional``."""

    chosen = Signal(str)

    def __init__(
        self, name: str, setup: ModelSetupViewModel, first: tuple[str, str] | None = None, *, optional: bool = True
    ) -> None:
        super().__init__("", icon="model", chevron=True, shrinks=True)
        self._name, self.setup, self._first, self._optional = name, setup, first, optional
        self.ref = self._shown = self._place = ""
        self._there = True
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.open_list)
        setup.changed.connect(self._say)
        self._say()

    def minimumSizeHint(self) -> QSize:
        """It shrinks, but not to nothing."""
        hint = super().minimumSizeHint()
        return QSize(max(hint.width(), theme().px(120)), hint.height())

    def show_ref(self, ref: str) -> None:
        """Show another model."""
        self.ref = ref
        self._say()

    def fits(self, ref: str) -> bool:
        """Whether a model is offered."""
        return True

    def open_list(self) -> None:
        """Open the list of models below it, or above."""
        popup = _FieldPopup(self, self.setup, self.ref, self._first if self._optional else None)
        popup.chosen.connect(self._take)
        popup.open_at(self)

    def _take(self, ref: str) -> None:
        self.setFocus()
        if ref != self.ref:
            self.show_ref(ref)
            self.chosen.emit(ref)

    def _say(self) -> None:
        self._place, self._there = "", True
        if self._first is not None and self.ref == self._first[0]:
            self._shown = self._first[1]
        elif not self.ref:
            self._shown = "Choose a model"
        else:
            place = self.setup.place(self.ref.partition("/")[0])
            self._there = self.setup.model(self.ref) is not None or not self.setup.models
            self._shown = plain_name(self.setup.describe(self.ref)[0])
            self._place = plain_name(place) if self._there else NOT_NOW
        words = ", ".join(filter(None, (self._shown, self._place)))
        self.set_label(words)
        self.setAccessibleName(f"{self._name}: {words}")
        self.setToolTip(plain_tip(words))

    def _draw_contents(self, painter: QPainter) -> None:
        """Name and connection from the left, as in a field; what opens it at the right end."""
        t, px, height = theme(), theme().px, self.height()
        ink, side = self.ink(), theme().metric("icon-small")
        glyph(painter, QRect(px(10), 0, side, height), "model", "text-2" if self.isEnabled() else ink, side)
        glyph(painter, QRect(self.width() - px(24), 0, side, height), "down", ink, side)
        left, right = px(10) + side + px(8), self.width() - px(30)
        role = "code" if self._place else "body"
        name = elided(self._shown, role, right - left, middle=True)
        painter.setFont(t.font(role))
        painter.setPen(t.color(ink))
        painter.drawText(QRect(left, 0, right - left, height), int(Qt.AlignmentFlag.AlignVCenter), name)
        left += QFontMetrics(t.font(role)).horizontalAdvance(name) + px(8)
        if self._place and right - left > px(24):
            painter.setFont(t.font("small"))
            painter.setPen(t.color("text-2" if self._there else "ask"))
            words = elided(self._place, "small", right - left)
            painter.drawText(QRect(left, 0, right - left, height), int(Qt.AlignmentFlag.AlignVCenter), words)


class _FieldPopup(ModelPopup):
    def __init__(
        self, field: ModelField, setup: ModelSetupViewModel, current: str, first: tuple[str, str] | None
    ) -> None:
        self._field = field
        super().__init__(field, setup, current, first=first)

    def fits(self, ref: str) -> bool:
        return self._field.fits(ref)
