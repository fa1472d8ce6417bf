"""What was left out of a page, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.dialogs.scrolled_dialog import ScrolledDialog
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

SHOWN = 60
WIDTH = 560
SENTENCE = (
    "The page is drawn by a program without network and without files. What is named here was not run and not fetched."
)


class LeftOutDialog(ScrolledDialog):
    """Each kind with what there is of it."""

    help_page = "results"

    def __init__(self, window: QWidget, left: Sequence[tuple[str, str]]) -> None:
        super().__init__(window, "Left out of this page", SENTENCE, width=WIDTH)
        kinds: dict[str, list[str]] = {}
        for what, which in left:
            kinds.setdefault(what, []).append(which)
        for what, which_ones in kinds.items():
            self.scroller.column.addWidget(Text(shown_line(what).capitalize(), "strong"))
            lines = [shown_line(one) or "without a name" for one in which_ones[:SHOWN]]
            if len(which_ones) > SHOWN:
                lines.append(f"and {len(which_ones) - SHOWN} more")
            rows = min(6, len(lines))
            self.scroller.column.addWidget(MonoView(f"Left out: {shown_line(what)}", "\n".join(lines), rows=rows))
        self.resized()
