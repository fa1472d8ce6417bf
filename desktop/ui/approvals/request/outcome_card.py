"""What a command did, file by file: rows with ticks at the left, what is behind the chosen one at the right."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QFrame, QSizePolicy, QStackedLayout, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.files.outcomes import ChangeSides, CommandCopy
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.approvals.outcome_row_words import count_of, listing, summary_words
from desktop.presenter.approvals.outcome_rows import OutcomeRows, TickedFile, TickedFolder
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.body import arguments_view
from desktop.ui.approvals.request.diffing import DiffRow, diff, new_file, plain_rows
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.approvals.request.outcome_list import OutcomeList, figures_words, tick_box
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.focus import Ringed
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

LIST, HEIGHT, NARROW = 338, 210, 640
"""Pixels at 100 %: the list, the least height of the card, and the width below which the list stands over the rest."""
_VIEWS = (("diff", "Diff"), ("result", "Result"), ("arguments", "Arguments"))
_SIDES = (("both", "Both"), ("real", "Real"), ("copy", "Copy"))
REPLACE, KEEP = "Replace it with the copy’s", "Keep the real one"


@dataclass(frozen=True, slots=True)
class FileRows:
    """What is shown of one row."""

    changes: tuple[DiffRow, ...]
    """What changed; of a file that somebody else changed meanwhile, both."""
    result: tuple[DiffRow, ...]
    """The file afterwards, as it is in the copy."""
    real: tuple[DiffRow, ...] = ()
    """The real file as it is now, where somebody else changed it."""


class TickAll(Ringed, QAbstractButton):
    """The tick over all rows: all, some or none."""

    def __init__(self, rows: OutcomeRows) -> None:
        super().__init__()
        self._rows = rows
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        sized(self, height=20)
        self.setFixedWidth(theme().px(18))
        self.setAccessibleName("Everything that it did")
        self.clicked.connect(lambda: rows.tick(None, rows.ticked != "all"))
        rows.changed.connect(self._say)
        self._say()

    def _say(self) -> None:
        words = {"all": "all of it is ticked", "some": "some of it is ticked", "none": "nothing is ticked"}
        self.setAccessibleDescription(words[self._rows.ticked])
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The box."""
        states = {"all": Qt.CheckState.Checked, "some": Qt.CheckState.PartiallyChecked}
        tick_box(QPainter(self), self.rect(), states.get(self._rows.ticked, Qt.CheckState.Unchecked))


class MeanwhileBar(QFrame):
    """What becomes of a file that somebody else changed while the request was open."""

    def __init__(self, rows: OutcomeRows) -> None:
        super().__init__()
        self.setProperty("pane", "footer")
        self._rows = rows
        self._leaf: TickedFile | None = None
        row = Row(self, margins=(12, 6, 8, 6), spacing=8)
        row.addWidget(Text("For this file", "small", "2", elide="right"), 1)
        self.replace, self.keep = Button(REPLACE, small=True), Button(KEEP, small=True)
        for button, ticked in ((self.replace, True), (self.keep, False)):
            button.clicked.connect(lambda _=False, ticked=ticked: self._decide(ticked))
            row.addWidget(button)
        rows.changed.connect(self._say)
        self.hide()

    def show_leaf(self, node: TickedFile | TickedFolder) -> None:
        """Of another row; there is nothing to decide of most."""
        self._leaf = node if isinstance(node, TickedFile) and node.meanwhile else None
        self.setVisible(self._leaf is not None)
        self._say()

    def _decide(self, ticked: bool) -> None:
        if self._leaf is not None:
            self._rows.tick(self._leaf, ticked)

    def _say(self) -> None:
        """What is not chosen can be; nothing before the file was seen."""
        leaf = self._leaf
        if leaf is not None:
            self.replace.setEnabled(leaf.opened and not leaf.ticked)
            self.keep.setEnabled(leaf.opened and leaf.ticked)


class CopyDialog(Dialog):
    """A look into the copy: a file as it would be, as large as the window lets it be. Nothing can be changed here."""

    help_page = "approvals"

    def __init__(self, window: QWidget, name: str, rows: tuple[DiffRow, ...]) -> None:
        super().__init__(window, name, "As it is in the copy. Nothing of it is real yet.", width=960)
        self.view = LinesView("The file as it is in the copy")
        self.view.set_rows(rows)
        self.body.addWidget(self.view)

    def resized(self) -> None:
        """As high as the window lets it be."""
        if hasattr(self, "view"):  # not built yet
            self.view.setFixedHeight(max(theme().px(120), self.height() - theme().px(220)))
        super().resized()


class OutcomeCard(QFrame):
    """``opened`` when a person has a row before them."""

    opened = Signal()

    def __init__(self, request: PermissionRequest, rows: OutcomeRows, copy: CommandCopy) -> None:
        super().__init__()
        self.setProperty("pane", "card")
        self._rows, self._copy = rows, copy
        self._node: TickedFile | TickedFolder | None = None
        self._found = FileRows((), ())
        self._filled = False
        self._head = self._make_head()
        self.list = OutcomeList(rows)
        self.list.opened.connect(self._open)
        self.diff_view, self.result_view = LinesView("Changes of the chosen file"), LinesView("The file afterwards")
        self.views = QStackedLayout()
        for view in (self.diff_view, self.result_view, arguments_view(request.arguments)):
            self.views.addWidget(view)
        column = Column(self, margins=1, spacing=0)
        column.addWidget(self._head)
        self._split = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._split.setSpacing(0)
        self._side = QFrame()
        self._side.setProperty("pane", "side")
        Column(self._side, spacing=0).addWidget(self.list)
        self._split.addWidget(self._side)
        self.bar = MeanwhileBar(rows)
        self._split.addLayout(self._make_right(), 1)
        column.addLayout(self._split, 1)
        sized(self, min_height=HEIGHT)
        self._background = Background(self, self._show)
        rows.changed.connect(self._say)
        self._say()
        self.list.show_first()

    def _make_right(self) -> Column:
        shown = QWidget()
        shown.setLayout(self.views)
        right = Column(spacing=0)
        right.addWidget(shown, 1)
        right.addWidget(self.bar)
        return right

    def _make_head(self) -> QWidget:
        head = sized(pane("header"), height=36)
        row = Row(head, margins=(12, 0, 8, 0), spacing=8)
        self.tick_all = TickAll(self._rows)
        row.addWidget(self.tick_all)
        self.count, self.summary = Text("", "medium"), Text("", "small", "2", elide="right")
        row.addWidget(self.count)
        row.addWidget(self.summary, 1)
        self._plus, self._minus = Text("", "small", "diff-add"), Text("", "small", "diff-del")
        row.addWidget(self._plus)
        row.addWidget(self._minus)
        self.choice = Segmented("What to show", _VIEWS, small=True)
        self.choice.chosen.connect(self._show_view)
        row.addWidget(self.choice)
        self.sides = Segmented("What to show of a file that changed meanwhile", _SIDES, small=True)
        self.sides.chosen.connect(self._show_side)
        self.sides.hide()
        row.addWidget(self.sides)
        self.look = IconButton("file", "Open the copy: this file as it would be", side=28)
        self.look.clicked.connect(self._look)
        row.addWidget(self.look)
        return head

    def _say(self) -> None:
        """The figures follow the ticks."""
        self.count.setText(count_of(self._rows))
        self.summary.setText(summary_words(self._rows))
        words = {token: text for text, token in figures_words(self._rows.lines())}
        for label, token in ((self._plus, "diff-add"), (self._minus, "diff-del")):
            label.setText(words.get(token, ""))
            label.setVisible(token in words)

    def _show_view(self, name: str) -> None:
        self.views.setCurrentIndex([value for value, _ in _VIEWS].index(name))
        self._fill_result()

    def _show_side(self, name: str) -> None:
        """Of a file that changed meanwhile: what both did to it, or one of the two as it is."""
        found = self._found
        self.diff_view.set_rows({"both": found.changes, "real": found.real, "copy": found.result}[name])

    def _open(self, node: TickedFile | TickedFolder) -> None:
        self._node, self._found = node, FileRows((), ())
        self.look.setEnabled(False)
        self._dress(isinstance(node, TickedFile) and node.meanwhile)
        self.bar.show_leaf(node)
        self.diff_view.set_rows((DiffRow("hunk", 0, "comparing…"),))
        copy = self._copy

        def find() -> FileRows:
            if isinstance(node, TickedFolder):
                return FileRows(rows := plain_rows(listing(node), numbered=False), rows)
            return rows_of(node, copy.sides(node.change))

        self._background.start(find)

    def _show(self, found: object) -> None:
        if isinstance(found, FileRows):
            self._found, self._filled = found, False
            self.look.setEnabled(True)
            if self.sides.isVisibleTo(self):
                self._show_side(self.sides.value)
            else:
                self.diff_view.set_rows(found.changes)
            self._fill_result()
            self._looked_at()

    def _dress(self, meanwhile: bool) -> None:
        """A file that changed meanwhile has two sides to look at instead."""
        self.choice.setVisible(not meanwhile)
        self.sides.setVisible(meanwhile)
        self._show_view("diff" if meanwhile else self.choice.value)

    def _fill_result(self) -> None:
        """Only where it is looked at: it may be long."""
        if self.views.currentWidget() is self.result_view and not self._filled:
            self.result_view.set_rows(self._found.result)
            self._filled = True

    def _look(self) -> None:
        if self._node is not None:
            CopyDialog(self.window(), shown_line(self._node.label), self._found.result).open()

    def _looked_at(self) -> None:
        if self._node is not None:
            self._rows.open(self._node)
            self.opened.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The list beside the file, or over it where that is narrow."""
        super().resizeEvent(event)
        t = theme()
        narrow = self.width() < t.px(NARROW)
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if way != self._split.direction():
            self._split.setDirection(way)
        if narrow:
            self._side.setMinimumWidth(0)
            self._side.setMaximumWidth(16_777_215)
            self._side.setFixedHeight(min(t.px(150), self.list.content_height + 2))
        else:
            self._side.setMinimumHeight(0)
            self._side.setMaximumHeight(16_777_215)
            self._side.setFixedWidth(min(t.px(LIST), self.width() * 2 // 5))


_EMPTY = (DiffRow("hunk", 0, "there is no such file, or it is empty"),)


def rows_of(leaf: TickedFile, sides: ChangeSides) -> FileRows:
    """The difference of one file, and the file afterwards. Pure, for a thread."""
    change, name = leaf.change, shown_line(leaf.label)
    if leaf.kind == "rights":
        words = f"{name}: rights {change.before.mode:o} become {change.after.mode:o}"
        return FileRows(only := (DiffRow("hunk", 0, words),), only, only)
    if "folder" in (change.before.kind, change.after.kind) and "file" not in (change.before.kind, change.after.kind):
        words = f"{name}: the folder is {leaf.kind}"
        return FileRows(only := (DiffRow("hunk", 0, words),), only, only)
    if sides.why:
        words = f"{name} {sides.why}, so that it is not shown line by line"
        sizes = f"{change.before.size:,} bytes before, {change.after.size:,} bytes after"
        only = (DiffRow("hunk", 0, words),)
        return FileRows((*only, DiffRow("hunk", 0, sizes)), only, only)
    real = (plain_rows(sides.before) or _EMPTY) if leaf.meanwhile else ()
    if sides.was is not None:
        return FileRows(meanwhile_rows(leaf, sides.was, sides), plain_rows(sides.after) or _EMPTY, real)
    if leaf.kind == "renamed":
        moved = (DiffRow("hunk", 0, f"moved from {shown_line(leaf.detail)}, with the same content"),)
        return FileRows(moved, (*moved, *plain_rows(sides.after)), real)
    found = new_file(sides.after) if change.before.kind == "absent" else diff(sides.before, sides.after)
    empty = (DiffRow("hunk", 0, "the file is empty" if not sides.after else "its lines are the same"),)
    return FileRows(found.rows or empty, plain_rows(sides.after), real)


def meanwhile_rows(leaf: TickedFile, was: str, sides: ChangeSides) -> tuple[DiffRow, ...]:
    """What somebody else made of the real file, and below it, struck, what the command made of the file as it was."""
    real, copied = diff(was, sides.before), diff(was, sides.after)
    saved = f", {leaf.detail}" if leaf.detail else " is gone" if leaf.change.before.kind == "absent" else ""
    head = DiffRow("hunk", 0, f"the real file{saved}: +{real.added} −{real.removed}")
    below = DiffRow("hunk", 0, f"the copy, made from the file as it was: +{copied.added} −{copied.removed}")
    return (head, *real.rows, below, *(replace(row, struck=True) for row in copied.rows))
