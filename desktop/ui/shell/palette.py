"""The command palette (Ctrl+K): one field over everything, above a scrim. Escape or a click beside it closes it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop.presenter.shell.window import PaletteRow, ShellViewModel
from desktop.ui.shell.palette_list import ROW, PaletteDelegate, PaletteModel
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.toggles import Chip
from desktop.ui.widgets.dialogs.base import Scrim
from desktop.ui.widgets.focus_place import FocusPlace
from desktop.ui.widgets.marks import Icon, KeyCaps
from desktop.ui.widgets.rows import RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shadow import REACH, RaisedBox
from desktop.ui.widgets.text import Text

HEAD, FOOT = 56, 36


class _Box(RaisedBox):
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box with its two lines: below the head, above the foot."""
        super().paintEvent(event)
        t = theme()
        box = self.box()
        painter = QPainter(self)
        for y in (box.top() + t.px(HEAD) - 1, box.bottom() - t.px(FOOT)):
            painter.fillRect(QRect(box.x(), y, box.width(), 1), t.color("border"))


class Palette(Scrim):
    """Lives as long as the window; ``open`` and ``dismiss``."""

    def __init__(self, window: QWidget, shell: ShellViewModel) -> None:
        super().__init__(window)
        self._shell = shell
        self._rows: tuple[PaletteRow, ...] = ()
        self._groups: list[str] = [""]
        self._group = ""
        self._before = FocusPlace(None)
        self._box = _Box(self)
        self._field = QLineEdit()
        self._field.setProperty("kind", "bare")
        self._field.setPlaceholderText("Find a chat, a skill, a setting or an action")
        self._field.setAccessibleName("Command palette")
        self._field.textEdited.connect(self._typed)
        self._field.installEventFilter(self)
        self._model = PaletteModel()
        self._list = RowList("Results", PaletteDelegate())
        self._list.setUniformItemSizes(False)
        self._list.setModel(self._model)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.clicked.connect(self._activate)
        self._nothing = Text("Nothing found.", "body", "2")
        self._kind = Chip("Everything")
        self._kind.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._kind.clicked.connect(lambda: self._narrow(1))
        self._build()
        self.clicked.connect(self.dismiss)
        shell.palette_results.connect(self._show_results)
        self.hide()

    def _build(self) -> None:
        column = Column(self._box, margins=REACH, spacing=0)
        head = Row(margins=(21, 0, 20, 0), spacing=12)
        head.addWidget(Icon("search", "text-2", 18))
        head.addWidget(self._field, 1)
        head.addWidget(self._kind)
        holder = sized(QWidget(), height=HEAD)
        holder.setLayout(head)
        column.addWidget(holder)
        inner = Column(margins=(1, 0, 1, 8), spacing=0)
        inner.addWidget(self._list, 1)
        inner.addWidget(self._nothing, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(inner, 1)
        foot = sized(QWidget(), height=FOOT)
        row = Row(foot, margins=(21, 0, 20, 0), spacing=8)
        for keys, words in (("↑+↓", "move"), ("Enter", "open"), ("Tab", "narrow to one kind")):
            row.addWidget(KeyCaps(keys))
            row.addWidget(Text(words, "small", "3"))
            row.addSpacing(theme().px(8))
        row.addStretch(1)
        row.addWidget(KeyCaps("Esc"))
        row.addWidget(Text("close", "small", "3"))
        column.addWidget(foot)

    def open(self, text: str = "") -> None:
        """Show it with the keys in its field; the person pressed Ctrl+K."""
        if not self.isVisible():
            self._before = FocusPlace.of(self.window())
        self._group = ""
        self._field.setText(text)
        self._field.selectAll()
        self._shell.palette_query(text)
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def dismiss(self) -> None:
        """Close without doing anything; the keys go back where they were."""
        if self.isHidden():
            return
        self.hide()
        self._before.give_back(Qt.FocusReason.PopupFocusReason)

    def resized(self) -> None:
        """640 wide at 96 from the top, as high as its rows, inside the window."""
        px = theme().px
        width = min(theme().metric("palette-width"), self.width() - px(32))
        top = min(theme().metric("palette-top"), self.height() // 8)
        wanted = max(self._model.height(), 44) + 9
        height = min(px(HEAD + FOOT + min(wanted, 452)), self.height() - top - px(16))
        self._box.place(QRect((self.width() - width) // 2, top, width, height))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field that move, open, narrow and close."""
        if watched is self._field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(Qt.Key(event.key()))
        return super().eventFilter(watched, event)

    def _key(self, key: Qt.Key) -> bool:
        moves = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if key in moves:
            self._select(self._model.step(self._list.currentIndex().row(), moves[key]))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(self._list.currentIndex())
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self._narrow(1 if key == Qt.Key.Key_Tab else -1)
        elif key == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            return False
        return True

    def _typed(self, text: str) -> None:
        self._group = ""
        self._shell.palette_query(text)

    def _show_results(self, query: str, rows: tuple[PaletteRow, ...]) -> None:
        if query == self._field.text():
            self._rows = rows
            self._groups = ["", *dict.fromkeys(row.group for row in rows)]
            self._refresh()

    def _narrow(self, delta: int) -> None:
        at = self._groups.index(self._group) if self._group in self._groups else 0
        self._group = self._groups[(at + delta) % len(self._groups)]
        self._refresh()

    def _refresh(self) -> None:
        self._model.show(self._rows, self._group)
        self._kind.set_label(self._group or "Everything")
        self._kind.setChecked(bool(self._group))
        self._nothing.setVisible(not self._rows)
        self._list.setVisible(bool(self._rows))
        self._select(self._model.step(-1, 1))
        self.resized()

    def _select(self, row: int) -> None:
        if row >= 0:
            index = self._model.index(row)
            self._list.setCurrentIndex(index)
            if row <= 1:
                self._list.scrollToTop()

    def _activate(self, index: QModelIndex) -> None:
        row = index.data(ROW) if index.isValid() else None
        if isinstance(row, PaletteRow):
            self.dismiss()
            self._shell.run_command(row.id)
