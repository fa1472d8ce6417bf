"""A number to type: the house's field, so that it looks like every other one."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QDoubleValidator, QIntValidator

from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.scaling import sized


class NumberField(Field):
    """``number`` is None while it is empty; ``changed`` carries it. ``decimals`` 0: whole numbers only."""

    changed = Signal()

    def __init__(
        self, name: str, low: float, high: float, *, width: int = 0, decimals: int = 0, prefix: str = "", hint: str = ""
    ) -> None:
        super().__init__(name, hint=hint)
        self._low, self._high, self._decimals, self._prefix = low, high, decimals, prefix
        locale = QLocale.c()
        check = QDoubleValidator(low, high, decimals, self) if decimals else QIntValidator(int(low), int(high), self)
        check.setLocale(locale)
        if not prefix:
            self.setValidator(check)
        if width:
            sized(self, width=width)
            self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.textEdited.connect(lambda _: self.changed.emit())

    @property
    def number(self) -> float | None:
        """What is typed, inside the bounds; None for nothing that is a number."""
        text = self.text().strip().removeprefix(self._prefix).replace(",", ".").strip()
        try:
            value = float(text)
        except ValueError:
            return None
        return min(self._high, max(self._low, value)) if value == value else None

    def show_number(self, value: float | None) -> None:
        """Show a number without a signal; what a person types at the moment stays when it means the same."""
        if value != self.number or value is None:
            self.setText("" if value is None else f"{self._prefix}{value:.{self._decimals}f}")
