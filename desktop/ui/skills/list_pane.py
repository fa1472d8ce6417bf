"""The middle pane of the Skills page: search, how many, and the rows. Rows are read as they come into sight."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QStackedLayout, QStyleOptionViewItem, QWidget

from desktop.presenter.skills.page import SkillsViewModel
from desktop.presenter.skills.rows import SkillRole
from desktop.presenter.skills.words import EVERYTHING, count_of, nothing_words
from desktop.ui.theme import theme
from desktop.ui.theme.paint import badge, badge_size, elided, keycap, keycap_width
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.layout.containers import EmptyState, Notice
from desktop.ui.widgets.rows import Index, RowDelegate, RowList, search_took
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

WIDTH = 352
_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)


class SearchField(Field):
    """The search field with its shortcut drawn inside while it is empty."""

    def __init__(self) -> None:
        super().__init__("Search skills", hint="Search names, text and #tags", icon="search")
        self.setToolTip("Words in names, descriptions and tags; #tag; globs such as data-* (Ctrl+F)")

    def paintEvent(self, event: QPaintEvent) -> None:
        """The key cap at the right."""
        super().paintEvent(event)
        width = keycap_width("Ctrl+F")
        if not self.text() and self.width() > theme().px(300):
            painter = QPainter(self)
            keycap(painter, QRect(self.width() - width - theme().px(8), 0, width, self.height()), "Ctrl+F")


class SkillDelegate(RowDelegate):
    """Draws a skill: name and badges; below, what it does and whose it is."""

    height = 50

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Boxes of 48 with 2 between."""
        option.rect = option.rect.adjusted(0, 0, 0, -theme().px(2))
        super().paint(painter, option, index)

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw the two lines of a skill."""
        t = theme()
        left, right = box.x() + t.px(8), box.right() - t.px(8)
        top = QRect(left, box.y() + t.px(5), right - left, t.px(20))
        below = QRect(left, box.y() + t.px(25), right - left, t.px(18))
        used = self._badges(painter, top, index.data(SkillRole.BADGES) or ())
        painter.setFont(t.font("code", 500 if selected else None))
        painter.setPen(t.color("text"))
        room = top.width() - used
        name = shown_line(str(index.data(Qt.ItemDataRole.DisplayRole)))
        painter.drawText(top, _LEFT, elided(name, "code", room, weight=500 if selected else None))
        painter.setFont(t.font("small"))
        painter.setPen(t.color("text-3"))
        source = str(index.data(SkillRole.SOURCE))
        width = painter.fontMetrics().horizontalAdvance(source)
        painter.drawText(below, _RIGHT, source)
        painter.setPen(t.color("text-2"))
        line = shown_line(str(index.data(SkillRole.LINE))[:300])
        painter.drawText(below, _LEFT, elided(line, "small", below.width() - width - t.px(12)))

    @staticmethod
    def _badges(painter: QPainter, line: QRect, names: tuple[str, ...]) -> int:
        """From the right, as many as leave the name half of the line; returns the width used."""
        gap, used = theme().px(4), 0
        for name in names:
            width = badge_size(name).width()
            if used and used + width + gap > line.width() // 2:
                break
            badge(painter, QRect(line.right() + 1 - used - width, line.y(), width, line.height()), name)
            used += width + gap
        return used + theme().px(4) if used else 0


class SkillRows(RowList):
    """The list of skills. Keys: Delete, F2, E to edit, the menu key; typing goes on to the search."""

    wanted = Signal(str)
    typed = Signal(str)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys on a row: Delete, F2 to rename, E to edit, / to search."""
        act = {Qt.Key.Key_Delete: "delete", Qt.Key.Key_F2: "rename", Qt.Key.Key_E: "edit"}.get(Qt.Key(event.key()))
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if act and plain and self.currentIndex().isValid():
            self.wanted.emit(act)
        elif event.key() == Qt.Key.Key_Slash and plain:
            self.typed.emit("")
        else:
            super().keyPressEvent(event)


class SkillList(QFrame):
    """``picked`` carries a key; ``clicked`` that its row was; ``opened`` that keys shall go to the skill;
    ``acted`` (act) is for the current row."""

    picked = Signal(object)
    clicked = Signal()
    opened = Signal()
    acted = Signal(str)
    menu_wanted = Signal(QPoint)
    new_wanted = Signal()

    def __init__(self, skills: SkillsViewModel) -> None:
        super().__init__()
        self._skills = skills
        self._showing = False
        self.setProperty("pane", "surface-list")
        self.field = SearchField()
        self.rows = SkillRows("Skills", SkillDelegate())
        self.rows.setModel(skills.model)
        self.rows.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.head = Row(margins=(8, 8, 8, 0), spacing=4)
        self._count = Text("", "small", "2")
        self._lay_out()
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(lambda: skills.choose(query=self.field.text()))
        self._connect()

    def _lay_out(self) -> None:
        column = Column(self, spacing=0)
        self.head.addWidget(self.field, 1)
        column.addLayout(self.head)
        line = sized(QWidget(), height=36)
        row = Row(line, margins=(16, 4, 16, 0))
        row.addWidget(self._count)
        row.addStretch(1)
        self.clear = Button("Show all", "quiet", small=True)
        self.clear.clicked.connect(self._clear)
        row.addWidget(self.clear)
        column.addWidget(line)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        everything = Button("Show all skills")
        everything.clicked.connect(self._show_everything)
        self._nothing = EmptyState("search", "Nothing found", "No skill matches all of this.", (everything,))
        self.make = Button("New skill", icon="new")
        self.make.clicked.connect(self.new_wanted)
        sentence = "A skill is a file that teaches an agent something: a procedure, a tool, a way of working."
        self._own = EmptyState("skills", "No skills of your own yet", sentence, (self.make,))
        self._wait = EmptyState("skills", "Looking for skills", "One moment.")
        for widget in (self._wait, self.rows, self._nothing, self._own):
            self._stack.addWidget(widget)
        column.addWidget(holder, 1)
        self.folders = Notice("ask", "", banner=True)
        self.folders.hide()
        column.addWidget(self.folders)

    def _connect(self) -> None:
        self.field.textChanged.connect(lambda _: self._later.start())
        self._skills.listed.connect(self.refresh)
        self._skills.counted.connect(self._say_count)
        self.rows.selectionModel().currentChanged.connect(self._current)
        self.rows.clicked.connect(lambda _: self.clicked.emit())
        self.rows.activated.connect(lambda _: self.opened.emit())
        self.rows.customContextMenuRequested.connect(
            lambda spot: self.menu_wanted.emit(self.rows.viewport().mapToGlobal(spot))
        )
        self.rows.wanted.connect(self.acted)
        self.rows.typed.connect(lambda _: self.field.setFocus())

    def _clear(self) -> None:
        self._show_all("")

    def _show_everything(self) -> None:
        self._show_all(EVERYTHING)

    def _show_all(self, source: str) -> None:
        self.field.clear()
        self._skills.clear(source)
        self._skills.choose(visibility="all" if not self._skills.model.rowCount() else self._skills.chosen.visibility)
        self.rows.setFocus()

    def refresh(self) -> None:
        """Show other rows; the open skill stays marked, if it is among them."""
        skills = self._skills
        if self.field.text() != skills.chosen.query and not self._later.isActive():
            self.field.setText(skills.chosen.query)
        empty = not skills.model.rowCount()
        own = empty and skills.chosen.source in ("", "mine") and not replace(skills.chosen, source="").narrowed
        page = self._wait if not skills.loaded else self._own if own else self._nothing if empty else self.rows
        chosen = skills.chosen
        more = bool(chosen.query.strip() or chosen.tags)
        self._nothing.say(*nothing_words(chosen.source, chosen.kind, chosen.look, chosen.visibility, more=more))
        self._stack.setCurrentWidget(page)
        self.mark()
        self.clear.setVisible(skills.chosen.narrowed)
        self._say_folders()
        self._say_count()

    def mark(self) -> None:
        """Mark the open skill."""
        place = self._skills.model.place(self._skills.key) if self._skills.key is not None else -1
        self._showing = True
        if place >= 0:
            self.rows.setCurrentIndex(self._skills.model.index(place))
        else:
            self.rows.clearSelection()
            self.rows.setCurrentIndex(QModelIndex())
        self._showing = False

    def _say_folders(self) -> None:
        """What is wrong with whole folders: nothing in them can be listed, so it stands below the list."""
        problems = self._skills.folder_problems()
        self.folders.setVisible(bool(problems))
        if problems:
            more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
            self.folders.say(shown_line(f"{problems[0].path}: {problems[0].message}")[:400] + more)
            self.folders.setToolTip(plain_tip(shown("\n".join(f"{p.path}: {p.message}" for p in problems[:20]))))

    def _say_count(self) -> None:
        shown = self._skills.model.rowCount()
        self._count.setText(count_of(shown, *self._skills.totals) if self._skills.loaded else "")
        self._count.updateGeometry()

    def _current(self, now: QModelIndex, _before: QModelIndex) -> None:
        if not self._showing and now.isValid():
            self.picked.emit(now.data(SkillRole.KEY))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes from the search to the rows, Escape empties it."""
        if not search_took(event, self.field, self.rows):
            super().keyPressEvent(event)
