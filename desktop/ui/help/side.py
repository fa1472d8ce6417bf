"""Where Help stands: at the right of the pages while the window is wide, over them where it is not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QWidget

from desktop.domain.loading.lazy import lazy_module, load
from desktop.presenter.help.page import HelpViewModel
from desktop.ui.theme import theme
from desktop.ui.transcript.pieces.pooled import Pool
from desktop.ui.widgets.focus_place import FocusPlace

if TYPE_CHECKING:
    from desktop.ui.help import panel as help_panel
    from desktop.ui.help.panel import HelpPanel, HelpParts
else:
    help_panel = lazy_module("desktop.ui.help.panel")

WIDTH = 400
AFTER_PAINT = 20
"""Milliseconds in which the window is painted with it, before what is read is laid out."""
STEP = 0.004
"""Seconds after which what is done in steps lets Qt go on."""
BESIDE = 1180
"""Below this width of the window (at 100 %) it lies over the pages."""


class HelpSide(QObject):
    """Made when help is first wanted. ``made``: the panel, when it has come to be; ``shown``: it came or went;
    ``keys_left``: it goes, and what had the keys before it is gone."""

    made = Signal(object)
    keys_left = Signal()
    shown = Signal(bool)

    def __init__(self, window: QMainWindow, help: HelpViewModel) -> None:
        super().__init__(window)
        central = window.centralWidget()
        assert central is not None
        self._window, self._central, self._help = window, central, help
        self._pool = Pool(self)
        self._panel: HelpPanel | None = None
        self._before = FocusPlace(None)
        self._free = QWidget()
        self._free.hide()
        self._coming = False
        layout = central.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.addWidget(self._free)
        central.installEventFilter(self)
        self._steps: Iterator[None] = iter(())
        self._then: Callable[[], None] | None = None
        self._step = QTimer(self, interval=0)
        self._step.timeout.connect(self._go_on)
        self._again = QTimer(self, singleShot=True, interval=0)
        self._again.timeout.connect(self._place_again)
        theme().changed.connect(self._again.start)

    @property
    def panel(self) -> HelpPanel | None:
        """The panel, once it was made."""
        return self._panel

    @property
    def is_open(self) -> bool:
        """Whether it shows."""
        return self._panel is not None and not self._panel.isHidden()

    @property
    def is_over(self) -> bool:
        """Whether it lies over the pages."""
        return self._window.width() < theme().px(BESIDE)

    @property
    def has_keys(self) -> bool:
        """Whether the keys are in it."""
        focus = self._window.focusWidget()
        return self._panel is not None and focus is not None and self._panel.isAncestorOf(focus)

    def open(self, then: Callable[[], None] | None = None) -> None:
        """Show it with the keys in its search. Loaded, built and shown each in a turn of its own."""
        if not self.has_keys:
            self._before = FocusPlace.of(self._window)
        if self._panel is not None and not self._coming:
            self._show(then)
        elif not self._coming:
            self._coming = True
            self._pool.run(lambda: load(help_panel), lambda _: self._build(then))

    def close(self) -> None:
        """Take it away; the keys go back where they were."""
        if self._panel is None or self._panel.isHidden():
            return
        if self.has_keys:
            self._before.give_back()  # before it goes: else Qt looks through the whole window for who is next
        if self.has_keys:
            self.keys_left.emit()
        self._panel.hide()
        self.place()
        self.shown.emit(False)

    def _build(self, then: Callable[[], None] | None) -> None:
        """The panel, part by part and polished, hidden; each step is short, and the window goes on after it."""
        parts = help_panel.HelpParts(self._help)
        self._steps = self._made_in_steps(parts)
        self._then = then
        self._step.start()

    def _go_on(self) -> None:
        if next(self._steps, False) is False:
            self._step.stop()
            self._coming = False
            self._show(self._then)

    def _made_in_steps(self, parts: HelpParts) -> Iterator[None]:
        for _ in parts.made_in_turns():
            yield
        made = help_panel.HelpPanel(self._help, self._central, parts)
        made.hide()
        made.closed.connect(self.close)
        self._panel = made
        self.made.emit(made)
        yield
        until = time.monotonic() + STEP
        for widget in (made, *made.findChildren(QWidget)):
            widget.ensurePolished()
            if time.monotonic() > until:
                yield
                until = time.monotonic() + STEP

    def _show(self, then: Callable[[], None] | None) -> None:
        assert self._panel is not None
        was_open = self.is_open
        self._put(self._panel)
        self._panel.show()
        self._panel.raise_()
        self._panel.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)
        self._again.start()  # the pages make room in a turn of their own, and what is read comes after that
        if then is not None:
            then()
        if not was_open:
            self.shown.emit(True)

    def _place_again(self) -> None:
        self.place()
        if self._panel is not None:
            QTimer.singleShot(AFTER_PAINT, self._panel, self._panel.refresh)

    def _put(self, panel: QWidget) -> int:
        """Where it belongs; how wide that is."""
        width = min(theme().px(WIDTH), self._central.width() - theme().px(64))
        panel.setGeometry(self._central.width() - width, 0, width, self._central.height())
        return width

    def place(self) -> None:
        """At the right, as high as the window; beside the pages or over them."""
        beside = self.is_open and not self.is_over
        if self._panel is not None and self.is_open:
            self._free.setFixedWidth(self._put(self._panel))
            self._panel.raise_()
            self._panel.lies_over = self.is_over
        self._free.setVisible(beside)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size."""
        if event.type() == QEvent.Type.Resize and watched is self._central and self.is_open:
            self.place()
        return False
