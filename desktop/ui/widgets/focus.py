"""The focus ring: one frame a window, shown around buttons that keys reached, never after a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFocusFrame, QProxyStyle, QStyle, QStyleHintReturn, QStyleOption, QWidget

from desktop.ui.theme import theme
from desktop.ui.theme.paint import focus_ring

if TYPE_CHECKING:
    _Widget = QWidget
else:
    _Widget = object  # a second Qt class among the bases would make a second widget

MARGIN = 4
"""Pixels at 100 % between the control's edge and the ring's outer edge: 2 of gap, 2 of ring."""

KEYBOARD = frozenset(
    {
        Qt.FocusReason.TabFocusReason,
        Qt.FocusReason.BacktabFocusReason,
        Qt.FocusReason.ShortcutFocusReason,
        Qt.FocusReason.OtherFocusReason,
    }
)
"""Reasons that show the ring; ``OtherFocusReason`` is focus that we placed, as on Deny."""


class _RingStyle(QProxyStyle):
    """Tells QFocusFrame how far outside to draw; belongs to the frame alone, so nothing else pays for Python here."""

    def pixelMetric(
        self, metric: QStyle.PixelMetric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        """The margins of the focus frame."""
        if metric in (QStyle.PixelMetric.PM_FocusFrameHMargin, QStyle.PixelMetric.PM_FocusFrameVMargin):
            return theme().px(MARGIN)
        return super().pixelMetric(metric, option, widget)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,  # noqa: N803 - Qt's name
    ) -> int:
        """Above the widget, which makes the window the frame's parent: a narrow container would clip it."""
        if hint == QStyle.StyleHint.SH_FocusFrame_AboveWidget:
            return 1
        return super().styleHint(hint, option, widget, returnData)


class FocusRing(QFocusFrame):
    """The frame around the focused widget; it follows the widget through moves, scrolling and hiding."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.last: QWidget | None = None
        self._style = _RingStyle("Fusion")
        self.setStyle(self._style)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Two pixels of ink."""
        painter = QPainter(self)
        focus_ring(painter, QRectF(self.rect()), theme().px(9))


def ring_in(widget: QWidget, reason: Qt.FocusReason) -> None:
    """Show the ring when keys brought the focus; called from ``focusInEvent``."""
    ring = _ring_of(widget)
    back = reason == Qt.FocusReason.ActiveWindowFocusReason
    if reason in KEYBOARD or (back and ring is not None and ring.last is widget):
        if ring is None:
            ring = FocusRing(widget.window())
        ring.setWidget(widget)
    elif ring is not None:
        ring.last = None
        ring.setWidget(None)  # type: ignore[arg-type]


def ring_is_at(widget: QWidget) -> bool:
    """Whether keys brought the focus to it; of what draws its own ring, whether it has the focus."""
    ring = _ring_of(widget)
    return (ring is not None and ring.widget() is widget) or not isinstance(widget, Ringed)


def ring_out(widget: QWidget) -> None:
    """Hide the ring; called from ``focusOutEvent``. The ring comes back with the window, if it goes with it."""
    ring = _ring_of(widget)
    if ring is not None and ring.widget() is widget:
        ring.last = widget
        ring.setWidget(None)  # type: ignore[arg-type]


class Ringed(_Widget):
    """For a widget that keys can reach: first of its bases, it shows the ring when they do."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring for keys."""
        super().focusInEvent(event)
        ring_in(self, event.reason())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        ring_out(self)


def _ring_of(widget: QWidget) -> FocusRing | None:
    window = widget.window()
    found = window.findChild(FocusRing)
    return found if isinstance(found, FocusRing) else None
