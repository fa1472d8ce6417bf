"""The right pane for one thing of a repository: what changed in reach and words, its page, its files; the answers."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.text.words import size_words
from desktop.presenter.skills.repositories import Item, ItemDetail, Repositories
from desktop.presenter.skills.repository_words import Cell, banner_of, day_of, reach_table, take_words
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.file_card import card_of
from desktop.ui.skills.cards import problem_rows, row_card
from desktop.ui.skills.difference import differences
from desktop.ui.skills.markdown_view import MarkdownView
from desktop.ui.skills.repositories.foot_keys import FootKeys
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import EmptyState, Notice, Scroller, clear
from desktop.ui.widgets.marks import Badge
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

VIEWS = (("changes", "Changes"), ("page", "Page"), ("files", "Files"))
MAX_FILES = 200
_CAPTION = 84
_OUT_OF_FILE = "Take its entry out of mcp.yaml, which ends it; it stays in the repository"


class ItemPane(QFrame):
    """``back`` goes to the list, where the pane lies over it; ``keys_lost``: the button that had them has gone."""

    back = Signal()
    keys_lost = Signal()

    def __init__(self, repositories: Repositories) -> None:
        super().__init__()
        self._repositories = repositories
        self._detail: ItemDetail | None = None
        self.setProperty("pane", "surface")
        column = Column(self, spacing=0)
        column.addWidget(self._make_head())
        self._stack = QStackedWidget()
        self.changes = Scroller(spacing=12)
        self.page = Scroller()
        self.files = Scroller()
        self._body = MarkdownView("What it says")
        self.page.column.addWidget(self._body)
        self.page.column.addStretch(1)
        self._none = EmptyState("branch", "Nothing chosen", "Choose something on the left to see what it is.")
        for widget in (self._none, self.changes, self.page, self.files):
            self._stack.addWidget(widget)
        self.top, self.reach, self.text = Column(spacing=8), Column(spacing=6), Column(spacing=12)
        for part in (self.top, self.reach, self.text):
            self.changes.column.addLayout(part)
        self.changes.column.addStretch(1)
        column.addWidget(self._stack, 1)
        column.addWidget(self._make_foot())
        self._comparing = Background(self, self._compared)
        repositories.opened.connect(self.refresh)
        repositories.picked.connect(self.refresh)
        repositories.read.connect(self._read)

    def _make_head(self) -> QWidget:
        head = sized(pane("header"), height=48)
        row = Row(head, margins=(24, 1, 16, 0), spacing=8)
        self.leave = IconButton("left", "Back to the list", shortcut="Esc")
        self.leave.hide()
        self.leave.clicked.connect(self.back)
        self._name = Text("", "code")
        self._badge = Badge("read")
        self.views = Segmented("What to show of it", VIEWS, small=True)
        self.views.chosen.connect(self.show_view)
        row.addWidget(self.leave)
        row.addWidget(self._name)
        row.addWidget(self._badge)
        row.addStretch(1)
        row.addWidget(self.views)
        return head

    def _make_foot(self) -> QWidget:
        self.foot = sized(pane("footer"), height=56)
        row = Row(self.foot, margins=(24, 0, 24, 0), spacing=8)
        self.keep = Button("Keep what I have", key="Esc")
        self.keep.clicked.connect(self._keep)
        self.drop = Button("Take it out", "danger")
        self.drop.clicked.connect(self._repositories.drop)
        self.take = Button("", "primary", shrinks=True)
        self.take.clicked.connect(self._repositories.take)
        row.addWidget(self.keep)
        row.addWidget(self.drop)
        row.addStretch(1)
        row.addWidget(self.take)
        return self.foot

    def set_overlaid(self, overlaid: bool) -> None:
        """Whether it lies over the list, and so needs a way back."""
        self.leave.setVisible(overlaid)

    # -- what shows ---------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the item that is chosen now; what has to be read for it follows."""
        item = self._repositories.item
        self._detail = None
        self.foot.setVisible(item is not None)
        self.views.setVisible(item is not None)
        self._name.setText(shown_line(item.name) if item is not None else "")
        self._name.updateGeometry()
        self._badge.setVisible(item is not None and bool(item.category))
        if item is not None and item.category:
            self._badge.set_badge(item.category)
        if item is None:
            self._stack.setCurrentWidget(self._none)
            return
        self._show_top(item)
        clear(self.text)
        clear(self.files.column)
        self._body.set_markdown("")
        self._show_foot(item)
        self.show_view(self.views.value)

    def show_view(self, name: str) -> None:
        """changes | page | files."""
        self.views.set_value(name)
        self._stack.setCurrentWidget({"changes": self.changes, "page": self.page, "files": self.files}[name])

    def _show_foot(self, item: Item) -> None:
        words = take_words(item)
        keys = FootKeys(self, self.take, self.keep, self.drop)
        self.take.set_label(words)
        self.take.setVisible(bool(words))
        self.keep.setVisible(item.changed)
        server = item.kind == "server"
        self.drop.setVisible(item.taken is not None and (server or not item.changed))
        self.drop.setToolTip(plain_tip(_OUT_OF_FILE if server else "Have it no longer; it stays in the repository"))
        self.foot.setVisible(bool(words) or item.taken is not None)
        if keys.lost:
            self.keys_lost.emit()

    def _show_top(self, item: Item) -> None:
        clear(self.top)
        clear(self.reach)
        kind, pieces = banner_of(item)
        if kind:
            icon = "network" if item.status == "reach" else ""
            told = tuple((shown_line(text), style) for text, style in pieces)
            self.top.addWidget(Notice(kind, told, icon=icon))
        problems = item.offer.problems if item.offer is not None else ()
        rest = problems if kind != "failed" else problems[1:]
        for row in problem_rows(rest, None):
            self.top.addWidget(row)
        if item.kind != "server" and (item.takeable or item.taken is not None):
            self.reach.addWidget(Text("What it may reach", "strong"))
            self.reach.addWidget(_table(item, reach_table(item)))

    def _read(self, detail: ItemDetail) -> None:
        item = self._repositories.item
        if item is None:
            return
        self._detail = detail
        self._body.set_markdown(detail.text)
        column = self.files.column
        clear(column)
        rows = [_file_row(file.path, size_words(file.size)) for file in detail.files[:MAX_FILES]]
        if rows:
            column.addWidget(row_card(rows))
        if len(detail.files) > MAX_FILES:
            column.addWidget(Text(f"and {len(detail.files) - MAX_FILES:,} more", "small", "2"))
        column.addStretch(1)
        self._comparing.start(lambda: differences(detail.difference))

    def _compared(self, result: object) -> None:
        assert isinstance(result, list)
        clear(self.text)
        item = self._repositories.item
        if item is None or not result:
            if item is not None and item.status == "same":
                self.text.addWidget(Text("The same as what you took.", "body", "2"))
            return
        self.text.addWidget(Text("Text", "strong"))
        for name, words, compared in result:
            self.text.addWidget(card_of(name, words, compared))

    # -- answers ------------------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        self._repositories.keep()
        self.back.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape keeps what is there, or goes back to the list."""
        if event.key() == Qt.Key.Key_Escape:
            self._keep() if self.keep.isVisible() else self.back.emit()
        else:
            super().keyPressEvent(event)


def _file_row(name: str, size: str) -> QWidget:
    holder = QWidget()
    row = Row(holder, spacing=8)
    row.addWidget(Text(shown_line(name), "code", elide="middle"), 1)
    row.addWidget(Text(size, "small", "2"))
    return holder


def _table(item: Item, cells: tuple[Cell, ...]) -> QWidget:
    """Rows of what it may reach: as it was taken, and now."""
    both = item.taken is not None
    rows = [_line("", "", item)] if both else []
    rows += [_line(cell.row, cell, item) for cell in cells]
    card = row_card(rows)
    card.setAccessibleName("What it may reach")
    return card


def _line(caption: str, cell: Cell | str, item: Item) -> QWidget:
    holder = QWidget()
    row = Row(holder, spacing=12)
    row.addWidget(sized(Text(caption, "body", "2"), width=_CAPTION), 0, Qt.AlignmentFlag.AlignTop)
    if not isinstance(cell, Cell):
        when = day_of(item.taken.at) if item.taken is not None else ""
        row.addWidget(Text(f"Taken {when}", "small", "2", elide="right"), 1)
        row.addWidget(Text("Now", "small", "2", elide="right"), 1)
        return holder
    if item.taken is not None:
        row.addWidget(Paragraph(((shown(cell.before), _style(cell.before)),)), 1)
    now = Column(spacing=2)
    if item.offer is None:
        now.addWidget(Paragraph("gone", "body", "2"))
    else:
        if cell.stays:
            now.addWidget(Paragraph(((shown(cell.stays), _style(cell.stays)),)))
        for part in cell.added if item.taken is not None else ():
            now.addWidget(_DiffMark(f"+ {shown_line(part)}", "diff-add"))
        for part in cell.gone if item.taken is not None else ():
            now.addWidget(_DiffMark(f"− {shown_line(part)}", "diff-del"))
        if item.taken is None and cell.added:
            now.addWidget(Paragraph(((shown("  ".join(cell.added)), _style("  ".join(cell.added))),)))
    row.addLayout(now, 1)
    told = ", ".join((*(f"more: {part}" for part in cell.added), *(f"no longer: {part}" for part in cell.gone)))
    holder.setAccessibleName(shown_line(f"{caption}: {cell.before or cell.stays}. {told}"))
    return holder


def _style(words: str) -> str:
    plain = words in ("none", "every tool") or words.replace(",", "").isdigit()
    return "" if plain else "mono"


class _DiffMark(Text):
    """A part that came or went, on its ground."""

    def __init__(self, text: str, token: str) -> None:
        super().__init__(text, "code", token, elide="right")
        self._ground = f"{token}-bg"

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground is as wide as the words."""
        painter = QPainter(self)
        width = min(self.width(), self.sizeHint().width() + theme().px(4))
        painter.fillRect(0, 0, width, self.height(), theme().color(self._ground))
        painter.end()
        super().paintEvent(event)
