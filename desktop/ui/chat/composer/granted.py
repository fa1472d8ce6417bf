"""Above the composer's text: the grants that hold in the open chat, how much of each is left, and taking one back."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.text.words import count_words
from desktop.presenter.approvals.granted import GrantLine
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon, MeterBar
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip


class _GrantRow(QWidget):
    """One grant: what for, how much is left, the way to take it back; of one that ended, the way to grant it again."""

    taken_back = Signal()
    again = Signal()
    put_away = Signal()

    def __init__(self, line: GrantLine) -> None:
        super().__init__()
        row = Row(self, spacing=8)
        row.addWidget(Icon(line.icon, "ask" if line.low else "text-2", 16))
        what = f"{shown_line(line.tool)} {shown_line(line.about)}".strip()
        row.addWidget(Text(what, "small", elide="middle"), 1)
        if line.ended:
            self._show_ended(row, line, what)
            return
        bar = MeterBar(f"Left of {what}", "ask" if line.low else "text-2")
        bar.set_fraction(line.share)
        row.addWidget(bar)
        row.addWidget(Text(line.left, "medium", "ask" if line.low else "1"))
        row.addWidget(Text(line.until, "small", "2"))
        button = Button("Take it back", "quiet", small=True, tip="Such calls ask again from now on")
        button.setAccessibleName(f"Take back {what}")
        button.clicked.connect(self.taken_back)
        row.addWidget(button)
        self.setAccessibleName(f"Granted: {what}, {line.left}, {line.until}")

    def _show_ended(self, row: Row, line: GrantLine, what: str) -> None:
        how = Text(f"{line.until}, {line.left}", "small", "2")
        how.setToolTip(plain_tip(f"It ended: {line.ended}"))
        row.addWidget(how)
        again = Button("Grant again…", "quiet", small=True, tip="Such calls go by the mode of the chat until you do")
        again.setAccessibleName(f"Grant again {what}")
        again.clicked.connect(self.again)
        row.addWidget(again)
        close = IconButton("close", f"Put away that {what} ended", side=20, glyph_side=14)
        close.clicked.connect(self.put_away)
        row.addWidget(close)
        self.setAccessibleName(f"Grant {line.until}: {what}, {line.left}")


class GrantBar(QWidget):
    """Hidden where nothing is granted. Of two and more only their number shows until it is opened."""

    taken_back = Signal(str)
    again = Signal(str)
    put_away = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        column = Column(self, spacing=6)
        self._head = QWidget()
        head = Row(self._head, spacing=8)
        self.fold = IconButton("right", "Show the grants", side=20, glyph_side=14)
        self.fold.clicked.connect(self._turn)
        head.addWidget(self.fold)
        self.count = Text("", "medium")
        head.addWidget(self.count)
        self._first = Text("", "small", "2", elide="right")
        head.addWidget(self._first, 1)
        column.addWidget(self._head)
        self._rows = Column(spacing=4)
        column.addLayout(self._rows)
        column.addWidget(sized(pane("line"), height=1))
        self._lines: tuple[GrantLine, ...] = ()
        self._is_open = False
        self.hide()

    @property
    def rows(self) -> tuple[QWidget, ...]:
        """The rows that are shown."""
        found = (self._rows.itemAt(at) for at in range(self._rows.count()))
        return tuple(widget for item in found if item is not None and (widget := item.widget()) is not None)

    def show_grants(self, lines: Sequence[GrantLine]) -> None:
        """Show these, the latest first."""
        self._lines = tuple(lines)
        self._show()

    def _turn(self) -> None:
        self._is_open = not self._is_open
        self._show()

    def _show(self) -> None:
        several = len(self._lines) > 1
        self._head.setVisible(several)
        self.fold.set_icon("down" if self._is_open else "right")
        self.fold.set_name("Fold the grants" if self._is_open else "Show the grants")
        self.count.setText(count_words(len(self._lines), "grant"))
        self.count.set_tone("ask" if any(line.low for line in self._lines) else "1")
        names = ", ".join(f"{line.tool} {line.about} ({line.left})" for line in self._lines)
        self._first.setText("" if self._is_open else shown_line(names))
        clear(self._rows)
        for line in self._lines if self._is_open or not several else ():
            row = _GrantRow(line)
            for own, all_of_them in (
                (row.taken_back, self.taken_back),
                (row.again, self.again),
                (row.put_away, self.put_away),
            ):
                own.connect(lambda grant_id=line.grant_id, told=all_of_them: told.emit(grant_id))
            self._rows.addWidget(row)
        self.setVisible(bool(self._lines))
        self.updateGeometry()
