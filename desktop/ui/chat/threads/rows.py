"""The rows of a list of threads: keys, the row of the open thread, and glyphs that turn while something runs.

The chat's list and the debates' list both stand on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QToolTip

from desktop.presenter.chat.threads import ThreadListModel, ThreadRole
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.tips import plain_tip

SPIN = 50
"""Milliseconds between two pictures of a turning glyph; only while a listed thread runs."""

ONE_TURN = 1200
"""Milliseconds of a whole turn."""

TOOLS = 52
"""Pixels at 100 % at the right end of a row under the pointer, where its pin and menu stand."""

LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)
RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine)

WATCHED = 60
"""Rows from the top in which something that runs is looked for: it is sorted there."""


class ThreadRowDelegate(RowDelegate):
    """A group's name without a fill, or a thread, whose glyph stands at ``angle`` degrees while it runs."""

    angle = 0.0

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Headers are drawn here, threads by ``draw``."""
        if index.data(ThreadRole.KIND) != "header":
            super().paint(painter, option, index)
            return
        t = theme()
        painter.save()
        painter.setFont(t.font("caption"))
        painter.setPen(t.color("text-3"))
        painter.drawText(option.rect.adjusted(t.px(16), t.px(8), 0, 0), LEFT, index.data())
        painter.restore()

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """The whole of a title that is cut."""
        t = theme()
        title = shown_line(" ".join(str(index.data() or "").split()))
        room = option.rect.width() - t.px(32 + TOOLS)
        cut = QFontMetrics(t.font("body", 500)).horizontalAdvance(title) > room
        QToolTip.showText(event.globalPos(), plain_tip(title) if cut else "", view)
        return True

    @staticmethod
    def title(painter: QPainter, box: QRect, index: Index, tail: int, selected: bool, *, quiet: bool = False) -> None:
        """The thread's title in one line, ``tail`` pixels before the right end; ``quiet``: of what others stand in."""
        t = theme()
        weight = 500 if selected and not quiet else 400
        width = box.width() - t.px(16) - tail
        role = "code" if quiet else "body"
        painter.setFont(t.font(role, weight))
        painter.setPen(t.color("text-2" if quiet else "text"))
        text = elided(" ".join(str(index.data()).split()), role, width, weight=weight)
        painter.drawText(QRect(box.x() + t.px(8), box.y(), width, box.height()), LEFT, text)


class ThreadRows(RowList):
    """F2 renames, Delete deletes, the context menu key opens the menu; left and right fold and unfold a job's runs."""

    rename_wanted = Signal(str)
    delete_wanted = Signal(str)
    unfold_wanted = Signal(str, bool)
    """job, whether to show its runs"""
    several_wanted = Signal(str, object)
    """what to do (delete), and with which threads"""

    def __init__(
        self, name: str, delegate: ThreadRowDelegate, model: ThreadListModel, *, several: bool = False
    ) -> None:
        super().__init__(name, delegate)
        self._chosen: tuple[str, ...] = ()
        self._before: tuple[str, ...] = ()
        self._seen: dict[str, int] = {}
        self._scrolled: int | None = None
        if several:
            self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._turning, self._threads, self._wanted, self._marked = delegate, model, "", ""
        self._spin = QTimer(self, interval=SPIN)
        self._spin.timeout.connect(self._turn)
        self.setModel(model)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        model.dataChanged.connect(lambda *_: self.watch())
        model.modelAboutToBeReset.connect(self._remember)

    def select(self, thread_id: str) -> None:
        """Mark the open thread, now or as soon as it is listed (``rearranged``)."""
        self._wanted = self._marked = thread_id
        if thread_id not in self.chosen:  # opened a moment ago, and others were selected with it since
            self._mark(thread_id)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The threads that are selected together, from the top; none where it is only one."""
        return self._chosen if len(self._chosen) > 1 else ()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Remember the selected threads: they stay selected when the list is read anew."""
        super().selectionChanged(selected, deselected)
        rows = sorted(index.row() for index in self.selectedIndexes())
        found = (str(self._threads.index(row).data(ThreadRole.ID) or "") for row in rows)
        self._chosen = tuple(filter(None, found))

    def currentChanged(self, current: Index, previous: Index) -> None:
        """A row that the person went to keeps the mark when the list is read anew: keys act on what is marked."""
        super().currentChanged(current, previous)
        self._marked = str(current.data(ThreadRole.ID) or "") or self._marked

    def rearranged(self) -> None:
        """Called after rows came, went or changed places."""
        chosen, self._before = self._before or self.chosen, ()
        self._mark(self._marked if self._threads.place(self._marked) >= 0 else self._wanted)
        self._choose_again(chosen)
        self._stay()
        self.watch()

    def _remember(self) -> None:
        """A model that begins anew takes the selection with it, and marking a row scrolls to it."""
        self._before = self.chosen
        same = str(self.currentIndex().data(ThreadRole.ID) or "") == self._marked
        self._scrolled = self.verticalScrollBar().value() if same and self.isVisible() else None
        self._seen = dict(self._in_sight()) if self._scrolled else {}

    def _in_sight(self) -> Iterator[tuple[str, int]]:
        """The threads in sight, and where each is."""
        room = self.viewport().rect()
        for row in range(max(0, self.indexAt(QPoint(room.center().x(), 0)).row()), self._threads.rowCount()):
            index = self._threads.index(row)
            top = self.visualRect(index).top()
            if top > room.bottom():
                return
            if thread_id := index.data(ThreadRole.ID):
                yield thread_id, top

    def _stay(self) -> None:
        """What is in sight stays where it is, but for rows that have another place in the list; at the top one sees
        what is new, and a thread that was only now opened and listed is shown."""
        scrolled, self._scrolled = self._scrolled, None
        seen, self._seen = self._seen, {}
        bar = self.verticalScrollBar()
        places = {one: place for one in seen if (place := self._threads.place(one)) >= 0}
        if scrolled == 0:
            bar.setValue(0)
        elif places:
            moved = Counter(self.visualRect(self._threads.index(at)).top() - seen[one] for one, at in places.items())
            bar.setValue(bar.value() + moved.most_common(1)[0][0])

    def _choose_again(self, chosen: tuple[str, ...]) -> None:
        places = [place for one in chosen if (place := self._threads.place(one)) >= 0]
        selection = self.selectionModel()
        if len(places) > 1 and len(selection.selectedIndexes()) != len(places):
            selection.clearSelection()
            for place in places:
                selection.select(self._threads.index(place), QItemSelectionModel.SelectionFlag.Select)

    def _mark(self, thread_id: str) -> None:
        row = self._threads.place(thread_id)
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
        elif self.currentIndex().row() != row:
            # Not the view's own setCurrentIndex: with Ctrl held (Ctrl+Z) that adds the row to those selected before.
            alone = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.selectionModel().setCurrentIndex(self._threads.index(row), alone)

    def watch(self) -> None:
        """Turn glyphs while a listed thread runs, and only then."""
        model = self._threads
        states = (model.index(i).data(ThreadRole.STATE) for i in range(min(WATCHED, model.rowCount())))
        if "running" not in states:
            self._spin.stop()
        elif not self._spin.isActive() and not theme().less_motion:
            self._spin.start()

    def _turn(self) -> None:
        self._turning.angle = (self._turning.angle + 360 * SPIN / ONE_TURN) % 360
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys of the row under the cursor."""
        thread_id = self.currentIndex().data(ThreadRole.ID)
        if self.chosen and event.key() == Qt.Key.Key_Delete:
            self.several_wanted.emit("delete", self.chosen)
        elif thread_id and event.key() == Qt.Key.Key_F2:
            self.rename_wanted.emit(thread_id)
        elif thread_id and event.key() == Qt.Key.Key_Delete:
            self.delete_wanted.emit(thread_id)
        elif self.currentIndex().data(ThreadRole.JOB) and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.unfold_wanted.emit(self.currentIndex().data(ThreadRole.JOB), event.key() == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)
