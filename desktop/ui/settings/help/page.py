"""Settings, Help: every page of it, what is new, the keys, the report of a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QFrame

from desktop.domain.help.pages import HelpPage
from desktop.presenter.help.page import KEYS, NEWS, HelpViewModel
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.flowing import FlowRow
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.text import Paragraph

PAGE = int(Qt.ItemDataRole.UserRole)
WORDS = "F1 opens help beside any page of Assent, with the page for where you are. Nothing is looked up in the web."


class _PageModel(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.pages: tuple[HelpPage, ...] = ()

    def show(self, pages: tuple[HelpPage, ...]) -> None:
        self.beginResetModel()
        self.pages = pages
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.pages)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        page = self.pages[index.row()]
        if role == PAGE:
            return page
        if role == Qt.ItemDataRole.DisplayRole:
            return page.title
        return f"{page.title}. {page.about}" if role == Qt.ItemDataRole.AccessibleTextRole else None


class _PageDelegate(RowDelegate):
    height = 52
    inset = 12

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        del selected, hovered
        t = theme()
        page: HelpPage = index.data(PAGE)
        above, below = QFontMetrics(t.font("body", 500)), QFontMetrics(t.font("small"))
        around = (box.height() - above.height() - below.height()) // 2
        left, room = box.x() + t.px(12), box.width() - t.px(24)
        painter.setFont(t.font("body", 500))
        painter.setPen(t.color("text"))
        painter.drawText(left, box.y() + around + above.ascent(), elided(page.title, "body", room, weight=500))
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-2"))
        painter.drawText(left, box.bottom() - around - below.descent(), elided(page.about, "small", room))


class HelpPages(QFrame):
    """Made when it is first shown; what is chosen opens in the panel, by a command: ``run``."""

    def __init__(self, help: HelpViewModel, run: Callable[[str], object]) -> None:
        super().__init__()
        self._help, self._run = help, run
        self.setProperty("pane", "surface")
        self.news = Button("What is new", small=True)
        self.keys = Button("Keys", small=True, icon="keyboard")
        self.report = Button("Report a problem…", small=True)
        self.model = _PageModel()
        self.pages = RowList("Pages of help", _PageDelegate())
        self.pages.setModel(self.model)
        column = Column(self, margins=(0, 20, 0, 0), spacing=12)
        around = Column(margins=(24, 0, 24, 0), spacing=12)
        around.addWidget(Paragraph(WORDS, "body", "2"))
        buttons = FlowRow()
        buttons.set_items([self.news, self.keys, self.report])
        around.addWidget(buttons)
        column.addLayout(around)
        column.addWidget(pane("line"))
        inner = Row(margins=0, spacing=0)
        inner.addWidget(self.pages)
        column.addLayout(inner, 1)
        self.news.clicked.connect(lambda: run(f"help:{NEWS}"))
        self.keys.clicked.connect(lambda: run(f"help:{KEYS}"))
        self.report.clicked.connect(lambda: run("report"))
        self.pages.activated.connect(self._open)
        self.pages.clicked.connect(self._open)
        help.listed.connect(self._list)
        self._list()
        help.list_pages()

    def _list(self) -> None:
        self.model.show(self._help.pages)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self._run(f"help:{index.data(PAGE).name}")
