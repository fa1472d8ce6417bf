"""The Settings page: a list of pages at the left, the chosen one at the right, mistakes of config.yaml above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, QRect, QStringListModel, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.presenter.settings.page import SettingsViewModel
from desktop.presenter.settings.pages import MODELS
from desktop.ui.settings.boundaries.lists import UndoOffer
from desktop.ui.settings.page_row import Models, PageRow
from desktop.ui.settings.rows import setting_card
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.controls.help_button import HelpButton
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.focus_place import first_in, give_keys
from desktop.ui.widgets.layout.containers import Notice, PaneHeader, Scroller
from desktop.ui.widgets.layout.folding import FoldingPane
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Selectable, Text


class NavDelegate(RowDelegate):
    """Draws an icon and a title. ``icons``: by title."""

    def __init__(self, icons: Mapping[str, str]) -> None:
        super().__init__()
        self._icons = icons

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one page of the list."""
        t = theme()
        title = str(index.data())
        side = t.px(16)
        glyph(painter, QRect(box.x() + t.px(8), box.y(), side, box.height()), self._icons[title], "text-2", side)
        left = t.px(32)
        weight = 500 if selected else None
        painter.setFont(t.font("body", weight))
        painter.setPen(t.color("text"))
        text = elided(title, "body", box.width() - left - t.px(4), weight=weight)
        painter.drawText(box.adjusted(left, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)


class SettingsPage(QFrame):
    """The pages of ``rows``, each made of ``models`` when it is first shown. ``show_settings(page)`` opens one by its
    name in the schema."""

    approvals_wanted = Signal()
    chat_wanted = Signal(str)
    command_wanted = Signal(str)
    topic_changed = Signal()

    def __init__(self, settings: SettingsViewModel, rows: Sequence[PageRow[Models]], models: Models) -> None:
        super().__init__()
        self._rows = tuple(rows)
        self._builders: dict[str, Callable[[], QWidget]] = {row.name: self._builder(row, models) for row in rows}
        self.settings = settings
        self._built: dict[str, QWidget] = {}
        self.setProperty("pane", "surface")
        self.nav = RowList("Settings pages", NavDelegate({row.title: row.icon for row in rows}))
        self.nav.setModel(QStringListModel([row.title for row in rows], self.nav))
        self.nav.selectionModel().currentChanged.connect(self._moved)
        side = pane("list")
        column = Column(side, margins=(0, 0, 0, 8), spacing=0)
        column.addWidget(head := sized(QWidget(), height=48))
        Row(head, margins=(16, 0, 16, 0)).addWidget(Text("Settings", "title"))
        column.addWidget(self.nav, 1)
        self._header, self._note = PaneHeader(""), Text("", "small", "2", elide="right")
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._header.row.addWidget(self._note, 1)
        self._header.add(HelpButton())
        self.problems = Notice("failed", banner=True)
        self._stack = QStackedWidget()
        work = pane("surface")
        right = Column(work, spacing=0)
        right.addWidget(self._header)
        right.addWidget(self.problems)
        right.addWidget(self._stack, 1)
        self.folding = FoldingPane(side, work, width=216, name="Show the settings pages")
        self._header.row.insertWidget(0, self.folding.button)
        Column(self, spacing=0).addWidget(self.folding)
        self._make_toast()
        settings.problems_changed.connect(self.refresh_problems)
        self.refresh_problems()
        self.show_settings(MODELS)

    def _make_toast(self) -> None:
        """The toast that says what was done, with Undo."""
        self.toast = Toast(self)
        self.offer = UndoOffer(self.settings, self)
        self.offer.say.connect(self.toast.say)
        self.toast.undone.connect(self.offer.undo)

    def first_focus(self) -> QWidget:
        """Keys go to the list of pages."""
        return self.nav

    def show_settings(self, page: str) -> None:
        """Open a page; an unknown name is ignored."""
        names = [row.name for row in self._rows]
        if page in names:
            self.nav.setCurrentIndex(self.nav.model().index(names.index(page), 0))

    def help_topic(self) -> str:
        """The page of help for the page that shows."""
        index = self.nav.currentIndex()
        return self._rows[index.row()].help if index.isValid() else ""

    def give_head(self, is_own: bool) -> None:
        """A page has a head of its own now, or no longer."""
        self._header.setVisible(not is_own)

    def open_settings(self, page: str) -> None:
        """Open a page and go on in it: keys go to its first control, or to the place that stands behind a ``#``."""
        name, _, place = page.partition("#")
        self.show_settings(name)
        shown = self._stack.currentWidget()
        show_place = getattr(shown, "show_place", None) if place else None
        if callable(show_place) and show_place(place):
            return
        give_keys((shown and first_in(shown)) or self.nav)

    def refresh_problems(self) -> None:
        """Say what is wrong in config.yaml, and that the last good values hold."""
        problems = self.settings.problems
        self.problems.setVisible(bool(problems))
        if problems:
            lines = "\n".join(problems[:8])
            more = f"\nand {len(problems) - 8} more" if len(problems) > 8 else ""
            self.problems.say(f"{lines}{more}\nWrong values are not used; the last good ones stay in force.")

    def _moved(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        row = self._rows[index.row()]
        widget = self._built.get(row.name)
        if widget is None:
            widget = self._built[row.name] = self._builders[row.name]()
            self._stack.addWidget(widget)
        self._header.title.setText(row.title)
        self._note.setText(row.head)
        self._stack.setCurrentWidget(widget)
        self.folding.put_away()
        self.topic_changed.emit()

    def _builder(self, row: PageRow[Models], models: Models) -> Callable[[], QWidget]:
        """Makes the page of a row."""

        def build() -> QWidget:
            if row.build is not None:
                return row.build(models, self)
            return self._settings_of(row.name, row.note, row.below(models) if row.below else None)

        return build

    def _settings_of(self, name: str, note: str, below: QWidget | None) -> QWidget:
        """The settings of the schema that name this page."""
        specs = [spec for spec in self.settings.schema() if spec.page == name]
        scroller = Scroller(margins=(24, 20, 24, 24), spacing=12)
        if note:
            scroller.column.addWidget(Paragraph(note, "body", "2"))
        scroller.column.addWidget(setting_card(self.settings, specs))
        scroller.column.addWidget(Selectable(f"Saved in {self.settings.path}", "small", "3"))
        if below is not None:
            scroller.column.addWidget(below)
        scroller.column.addStretch(1)
        return scroller
