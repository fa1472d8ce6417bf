"""The head of the trace panel: its tab, which run, as a tree or as events, export, close."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QToolButton

from desktop.presenter.trace.panel import SHORT, TraceViewModel
from desktop.ui.theme import theme
from desktop.ui.theme.paint import glyph
from desktop.ui.widgets.controls.buttons import IconButton
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.layout.panel_head import panel_tabs
from desktop.ui.widgets.never_cut import NeverCut
from desktop.ui.widgets.scaling import Row, sized
from desktop.ui.widgets.shown import shown_line

_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


class RunPicker(Ringed, NeverCut, QToolButton):
    """The id of the run, such as ``7f3a``; where the thread had more runs, a press lists them."""

    picked = Signal(str)

    def __init__(self, trace: TraceViewModel) -> None:
        super().__init__()
        self._trace = trace
        self._words = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._show_menu)
        self.refresh()

    def refresh(self) -> None:
        """Show what the view-model has now."""
        run_id, count = self._trace.run_id, len(self._trace.runs)
        self._words = shown_line(run_id[:SHORT])
        name = f"run {self._words}" if run_id else ""
        self.setVisible(bool(run_id))
        self.setEnabled(count > 1)
        self.setAccessibleName(f"{name}, one of {count} of this chat" if count > 1 else name)
        self.setToolTip("Show another run of this chat" if count > 1 else "The only run of this chat")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The words, and a chevron where there is a choice."""
        px = theme().px
        width = QFontMetrics(theme().font("code")).horizontalAdvance(self._words)
        return QSize(width + px(12) + (px(18) if self.isEnabled() else 0), px(24))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box from the style sheet, then the words."""
        super().paintEvent(event)
        t = theme()
        painter = QPainter(self)
        painter.setFont(t.font("code"))
        painter.setPen(t.color("text-2"))
        painter.drawText(self.rect().adjusted(t.px(6), 0, 0, 0), _LEFT, self._words)
        if self.isEnabled():
            glyph(painter, QRect(self.width() - t.px(20), 0, t.px(14), self.height()), "down", "text-2", t.px(14))

    def _show_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for choice in self._trace.runs:
            action = menu.addAction(shown_line(choice.words).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(choice.run_id == self._trace.run_id)
            action.triggered.connect(lambda _=False, run_id=choice.run_id: self.picked.emit(run_id))
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))


class TraceHead(QFrame):
    """The head of the trace, 48 pixels high; its signals say what was pressed."""

    def __init__(self, trace: TraceViewModel) -> None:
        super().__init__()
        self.setProperty("pane", "header")
        sized(self, height=48)
        self.tabs = panel_tabs("trace")
        self.picker = RunPicker(trace)
        self.views = Segmented("View of the trace", (("tree", "Tree"), ("events", "Events")), small=True)
        self.export = IconButton("export", "Export the trace as JSON Lines", side=32)
        self.close_button = IconButton("close", "Close the trace", shortcut="Ctrl+Shift+T", side=32)
        row = Row(self, margins=(16, 1, 8, 0), spacing=2)
        row.addWidget(self.tabs)
        row.addSpacing(theme().px(2))
        row.addWidget(self.picker)
        row.addStretch(1)
        row.addWidget(self.views)
        row.addSpacing(theme().px(2))
        row.addWidget(self.export)
        row.addWidget(self.close_button)
