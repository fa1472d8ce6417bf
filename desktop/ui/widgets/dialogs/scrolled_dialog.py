"""A dialog whose body is scrolled where the window is too low for it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from desktop.ui.theme import theme
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.shadow import REACH
from desktop.ui.widgets.text import Piece

BAR = 12
CLOSE = (DialogAnswer("close", "Close", key="Esc"),)


class ScrolledDialog(Dialog):
    """Put widgets into ``scroller.column``, and say ``resized`` when they changed."""

    def __init__(
        self,
        window: QWidget,
        title: str,
        text: str | Sequence[Piece] = "",
        answers: Sequence[DialogAnswer] = CLOSE,
        *,
        width: int = 400,
    ) -> None:
        super().__init__(window, title, text, answers, width=width)
        self.scroller = Scroller(margins=(0, 0, BAR, 0), spacing=8)
        self.body.addWidget(self.scroller)

    def resized(self) -> None:
        """Make the dialog as high as its contents, or as the window: the rest is scrolled."""
        layout = self._box.layout()
        if layout is None or not hasattr(self, "scroller"):  # not built yet
            return
        px, column = theme().px, self.scroller.column
        width = min(px(self._base_width), self.width() - px(32))
        self.scroller.setFixedHeight(0)
        layout.activate()
        turns = layout.hasHeightForWidth()  # without a text at its top it does not
        whole = layout.heightForWidth(width + 2 * px(REACH)) if turns else layout.sizeHint().height()
        around = whole - 2 * px(REACH)
        inside = width - px(48)
        needed = column.heightForWidth(inside) if column.hasHeightForWidth() else column.sizeHint().height()
        self.scroller.setFixedHeight(max(px(64), min(needed, self.height() - px(32) - around)))
        layout.activate()
        super().resized()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the keys on, and scroll to what has them then."""
        moved = super().focusNextPrevChild(forward)
        focus = self.window().focusWidget()
        if focus is not None and self.scroller.isAncestorOf(focus):
            self.scroller.ensureWidgetVisible(focus, 0, theme().px(16))
        return moved
