"""Choosing the folder that a chat works in: those used before at the left, what one brings at the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.files.projects import ProjectLook
from desktop.presenter.projects.page import LEFT_BY_OTHERS, NOTHING_STARTS, FolderLine, ProjectsViewModel, about, parts
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.dialogs.files import FileDialog
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Text

USE, NONE, LEAVE = "use", "none", "leave"
LEFT, HEIGHT, AROUND = 344, 336, 32 + 140
_LOOKS = {"closed": ("failed", "failed"), "link": ("link", "info")}
NOTHING_YET = "No folder was used yet. Choose one, or write its path above."
NO_SUCH = "No folder that was used before is called so. A whole path is a folder, too."


class FolderLines(QAbstractListModel):
    """The folders to choose from."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[FolderLine] = ()

    def show(self, lines: Sequence[FolderLine]) -> None:
        """Show others."""
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many there are."""
        return len(self.lines)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A folder as a screen reader says it."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and index.isValid():
            line = self.lines[index.row()]
            return ", ".join(part for part in (line.name, line.shown, line.tail) if part)
        return None


class FolderDelegate(RowDelegate):
    """Two lines, 48 pixels: the folder's name over its path, and at the right when it was used or what is odd."""

    height = 48

    def __init__(self, model: FolderLines) -> None:
        super().__init__()
        self._model = model

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """Draw one folder."""
        t, line = theme(), self._model.lines[index.row()]
        closed = line.tone == "closed"
        icon, token = _LOOKS.get(line.tone, ("", "text-2"))
        side, middle = t.metric("icon-small"), int(Qt.AlignmentFlag.AlignVCenter)
        glyph(painter, QRect(box.x() + t.px(8), box.y(), side, box.height()), "folder", "text-2", side)
        painter.setFont(t.font("small"))
        painter.setPen(t.color(token))
        tail = elided(line.tail, "small", box.width() // 2)
        wide = painter.fontMetrics().horizontalAdvance(tail)
        right = QRect(box.right() - t.px(8) - wide, box.y(), wide + 1, box.height())
        painter.drawText(right, middle, tail)
        if icon:
            glyph(painter, QRect(right.x() - t.px(20), box.y(), t.px(14), box.height()), icon, token, t.px(14))
        x = box.x() + t.px(8) + side + t.px(10)
        room = right.x() - x - t.px(28 if icon else 10)
        painter.setPen(t.color("text-disabled" if closed else "text"))
        painter.setFont(t.font("code", 500))
        name = QRect(x, box.y() + t.px(5), room, t.px(20))
        painter.drawText(name, middle, elided(shown_line(line.name), "code", room, weight=500))
        painter.setPen(t.color("text-disabled" if closed else "text-2"))
        painter.setFont(t.font("small"))
        path = QRect(x, box.y() + t.px(25), room, t.px(18))
        painter.drawText(path, middle, elided(shown_line(line.shown), "small", room, middle=True))


class ProjectDialog(Dialog):
    """``chosen`` carries the folder, "" for none; Escape leaves all as it is. Choosing starts nothing."""

    help_page = "projects"

    chosen = Signal(str)
    look_wanted = Signal(str)
    """what other apps left in this folder is to be looked at"""

    def __init__(self, window: QWidget, projects: ProjectsViewModel) -> None:
        leave = DialogAnswer(LEAVE, "Leave as it is", "quiet", "Esc")
        answers = (leave, DialogAnswer(USE, "Use this folder", "primary", "Enter"))
        super().__init__(window, f"Choose the folder of this {projects.what}", "", answers, width=800)
        self._projects = projects
        self._path = ""
        self._model = FolderLines()
        self.field = Field("Find a folder", hint="Find a folder, or write its path", icon="search")
        self.rows = RowList("Folders used before", FolderDelegate(self._model))
        self.rows.setModel(self._model)
        self.none = Button("No folder", "quiet", icon="chats")
        self.other = Button("Choose a folder…", "quiet", icon="new", shrinks=True)
        self.name, self.about = Text("", "medium", elide="right"), Paragraph("", "small", "2")
        self._empty = Paragraph(NOTHING_YET, "small", "3")
        self.scroller = Scroller(margins=(0, 0, 12, 0), spacing=10)
        self._lay_out()
        self._connect()
        projects.read()

    def _lay_out(self) -> None:
        body = Row(spacing=20)
        self._left, self._right = QFrame(), QFrame()
        column = Column(self._left, spacing=6)
        column.addWidget(self.field)
        column.addWidget(self._empty)
        column.addWidget(self.rows, 1)
        column.addStretch(0)
        below = Row(spacing=4)
        below.addWidget(self.none)
        below.addWidget(self.other)
        below.addStretch(1)
        column.addLayout(below)
        body.addWidget(self._left)
        column = Column(self._right, spacing=4)
        column.addWidget(self.name)
        column.addWidget(self.about)
        column.addWidget(self.scroller, 1)
        body.addWidget(self._right, 1)
        self.body.addLayout(body)
        self.buttons[USE].set_icon("folder")
        self.buttons[USE].setEnabled(False)

    def _connect(self) -> None:
        projects = self._projects
        projects.listed.connect(self._listed)
        projects.looked.connect(self._looked)
        self.field.textChanged.connect(self._listed)
        self.rows.selectionModel().currentChanged.connect(lambda now, _before: self._at(now))
        self.rows.activated.connect(lambda _: self._use())
        self.none.clicked.connect(lambda: self.answer(NONE))
        self.other.clicked.connect(self._choose_other)
        self.answered.connect(self._answered)

    def _listed(self) -> None:
        self._show(self._projects.lines(self.field.text()))

    def _show(self, lines: Sequence[FolderLine]) -> None:
        self._model.show(lines)
        self.rows.setVisible(bool(lines))
        self._empty.setVisible(not lines)
        self._empty.set_pieces(NO_SUCH if self.field.text().strip() else NOTHING_YET)
        at = next((i for i, line in enumerate(lines) if line.path == self._projects.current), 0)
        if lines:
            self.rows.setCurrentIndex(self._model.index(at))
        else:
            self._leave("")

    def _at(self, index: QModelIndex) -> None:
        if index.isValid():
            self._leave(self._model.lines[index.row()].path)

    def _leave(self, path: str) -> None:
        """Another folder is looked at: what was known of the last one goes."""
        self._path = path
        self.buttons[USE].setEnabled(False)
        clear(self.scroller.column)
        self.name.setText("")
        self.about.set_pieces("")
        if path:
            self._projects.look(path)

    def _looked(self, look: ProjectLook) -> None:
        """What a folder brings, before it is used."""
        if look.row.folder.given != self._path and look.row.folder.path != self._path:
            return
        name, words = about(look)
        self.name.setText(shown_line(name))
        self.about.set_pieces(shown_line(words))
        column = self.scroller.column
        clear(column)
        for icon, title, where, note in parts(look):
            column.addWidget(self._looked_at(_part(icon, title, where, note), icon, title, look.row.folder.path))
        if not look.row.folder.closed:
            column.addWidget(_part("lock", "", "", NOTHING_STARTS))
        column.addStretch(1)
        self.buttons[USE].setEnabled(not look.row.folder.closed)

    def _looked_at(self, part: QWidget, icon: str, title: str, path: str) -> QWidget:
        """The same with the way to look at it, where other apps left it."""
        row = part.layout()
        if icon in LEFT_BY_OTHERS and isinstance(row, Row):
            look = Button("Look…", "quiet", small=True)
            look.setAccessibleName(f"Look at {title}")
            look.clicked.connect(lambda: self._look(path))
            row.addWidget(look, 0, Qt.AlignmentFlag.AlignTop)
        return part

    def _look(self, path: str) -> None:
        self.answer(LEAVE)
        self.look_wanted.emit(path)

    def _use(self) -> None:
        if self.buttons[USE].isEnabled():
            self.answer(USE)

    def _answered(self, answer: str) -> None:
        if answer != LEAVE:
            self.chosen.emit(self._path if answer == USE else "")

    def _choose_other(self) -> None:
        dialog = FileDialog(self, "Choose a folder")
        dialog.setFileMode(FileDialog.FileMode.Directory)
        dialog.setOption(FileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.field.setText)
        dialog.open()

    def resized(self) -> None:
        """The two halves are as high as the window lets them."""
        px = theme().px
        if hasattr(self, "_left"):  # not built yet
            room = min(px(HEIGHT), self.height() - px(AROUND))
            self._left.setFixedSize(min(px(LEFT), (self.width() - px(100)) * 9 // 20), max(px(96), room))
            self._right.setFixedHeight(max(px(96), room))
        super().resized()

    def open(self, focus: QWidget | None = None) -> None:
        """Show it, with the keys in its field."""
        super().open(focus or self.field)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down go through the folders, also from the field; Return uses the one that is marked."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and self._model.lines:
            row = min(max(self.rows.currentIndex().row() + step, 0), len(self._model.lines) - 1)
            self.rows.setCurrentIndex(self._model.index(row))
            event.accept()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.field.hasFocus():
            self._use()
            event.accept()
        elif event.key() == Qt.Key.Key_O and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self._choose_other()
            event.accept()
        else:
            super().keyPressEvent(event)


def _part(icon: str, title: str, where: str, note: str) -> QWidget:
    """One thing that a folder means or brings."""
    holder = QWidget()
    row = Row(holder, spacing=10)
    mark = Icon(icon)
    row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
    words = Column(spacing=1)
    if title:
        head = Row(spacing=6)
        head.addWidget(Text(shown_line(title), "medium"))
        if where:
            head.addWidget(Text(shown_line(where), "code", "2", elide="middle"), 1)
        else:
            head.addStretch(1)
        words.addLayout(head)
    words.addWidget(Paragraph(shown_line(note), "small", "2"))
    row.addLayout(words, 1)
    return holder
