"""Hosts of the web that can be reached: a line each, with what becomes of a call to it."""

from __future__ import annotations

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.approval.reach import HostRow
from desktop.presenter.settings.reach import ReachViewModel, host_words
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

HEAD = (
    "By web_fetch and web_search. What you allow for a run holds for that run alone. Commands and other programs reach "
    "the network as the requests for them say, not by this list."
)
EVERY_OTHER = "any other host"
LOOKS = {"passes": "allow", "asks": "ask", "denied": "deny"}


class ReachHosts(QWidget):
    """The list; read when it is shown, and anew whenever something changes that it depends on."""

    def __init__(self, reach: ReachViewModel) -> None:
        super().__init__()
        self._reach = reach
        self.setAccessibleName("Hosts that can be reached")
        column = Column(self, spacing=8)
        column.addWidget(Paragraph(HEAD, "small", "2"))
        card = pane("card")
        inside = Scroller(margins=(0, 0, 0, 0), spacing=0)
        self._rows = inside.column
        Column(card, margins=1, spacing=0).addWidget(inside)
        column.addWidget(card, 1)
        reach.hosts_changed.connect(self.refresh)
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Look now."""
        super().showEvent(event)
        self._reach.look_at_hosts()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody sees it."""
        super().hideEvent(event)
        self._reach.leave_hosts()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        clear(self._rows)
        for at, row in enumerate(self._reach.hosts):
            if at:
                self._rows.addWidget(sized(pane("line"), height=1))
            self._rows.addWidget(_line(row))
        self._rows.addStretch(1)


def _line(row: HostRow) -> QWidget:
    name, words = shown_line(row.host) or EVERY_OTHER, host_words(row)
    line = QWidget()
    line.setAccessibleName(f"{name}: {words}")
    line.setToolTip(plain_tip(shown_line(row.reached.sentence)))
    inside = Row(line, margins=(12, 7, 12, 7), spacing=8)
    inside.addWidget(Icon("search" if row.searches else "network", "text-2", 16, line="body"))
    about = Column(spacing=1)
    about.addWidget(Text(name, "code" if row.host else "body", elide="middle"))
    if row.known:
        about.addWidget(Text(row.known, "small", "2", elide="right"))
    inside.addLayout(about, 1)
    inside.addWidget(StateLabel(LOOKS[row.reached.what], words))
    return line
