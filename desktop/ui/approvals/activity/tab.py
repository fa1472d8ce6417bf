"""The Activity tab: every call and decision, newest first, filtered; one of them in full beside the list."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QStackedLayout, QWidget

from desktop.domain.approval.audit import AuditRow
from desktop.domain.approval.audit_chain import ChainReport
from desktop.presenter.approvals.activity import ActivityViewModel
from desktop.ui.approvals.activity.bar import ActivityBar, ActivityFoot, BrokenNotice
from desktop.ui.approvals.activity.detail import WIDTH, ActivityDetail
from desktop.ui.approvals.activity.table import INSET, ROW, ActivityModel, ActivityRows, heads
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.layout.column_heads import ColumnHeads
from desktop.ui.widgets.layout.containers import EmptyState
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.shown import shown_line

BESIDE = 440
"""Pixels at 100 % that the list keeps beside the entry; where there are fewer, the entry lies over it."""
GROWN_AFTER = 400
"""Milliseconds after a call before a list that is seen is read anew."""
EMPTY = ("Nothing here yet", "Each call and each decision will be listed here.")
NOTHING = ("Nothing found", "No entry matches all of this.")


class Activity(QWidget):
    """Reads anew each time it is shown, and while it is seen at its top after each call. ``rule_wanted`` carries the
    id or the pattern of the rule that decided."""

    rule_wanted = Signal(str)

    def __init__(self, activity: ActivityViewModel, thread_title: Callable[[str], str] = str) -> None:
        super().__init__()
        self._activity = activity
        self._number = 0
        self.model = ActivityModel(activity.titles)
        self.model.setParent(self)
        self.list = ActivityRows(self.model)
        self.bar = ActivityBar(activity, thread_title)
        self.filter = self.bar.field
        self.foot = ActivityFoot(activity)
        self.notice = BrokenNotice(activity)
        self._left = QFrame(self)
        self._left.setProperty("pane", "surface")
        self.detail = ActivityDetail(thread_title, activity.titles)
        self.detail.setParent(self)
        self.detail.hide()
        self._follows = False
        self._grows = QTimer(self, singleShot=True, interval=GROWN_AFTER)
        self._grows.timeout.connect(self._grown)
        self._lay_out()
        self.toast = Toast(self._left, self.foot)
        self._connect()

    def _lay_out(self) -> None:
        column = Column(self._left, spacing=0)
        column.addWidget(self.notice)
        column.addWidget(self.bar)
        column.addWidget(ColumnHeads(self.list, heads, INSET))
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        everything = Button("Show all")
        everything.clicked.connect(self.bar.show_all)
        self._pages: dict[str, QWidget] = {
            "rows": self.list,
            "none": EmptyState("activity", *EMPTY),
            "nothing": EmptyState("search", *NOTHING, (everything,)),
        }
        for page in self._pages.values():
            self._stack.addWidget(page)
        column.addWidget(holder, 1)
        column.addWidget(self.foot)

    def _connect(self) -> None:
        activity, rows, detail = self._activity, self.list, self.detail
        activity.replaced.connect(self._replaced)
        activity.older.connect(lambda found, gone: rows.add(found, gone, newer=False))
        activity.newer.connect(lambda found, gone: rows.add(found, gone, newer=True))
        activity.grown.connect(self._later)
        activity.said.connect(self.say)
        activity.failed.connect(self.say)
        activity.exported.connect(self._exported)
        rows.shown.connect(self.show_row)
        rows.older_wanted.connect(activity.read_older)
        rows.newer_wanted.connect(activity.read_newer)
        rows.top_wanted.connect(self._to_top)
        rows.copy_wanted.connect(self._copy)
        rows.search_wanted.connect(self.filter.setFocus)
        rows.left.connect(self._close)
        rows.selectionModel().currentChanged.connect(self._moved)
        self.bar.left.connect(self._to_list)
        self.notice.wanted.connect(self._show_report)
        detail.closed.connect(self._close)
        detail.said.connect(self.say)
        detail.thread_wanted.connect(activity.open_thread)
        detail.rule_wanted.connect(self.rule_wanted)

    def say(self, sentence: str) -> None:
        """Show a toast over the list."""
        self.toast.say(shown_line(sentence[:300]))

    def showEvent(self, event: QShowEvent) -> None:
        """Read what is there now."""
        super().showEvent(event)
        self._activity.read()
        self._activity.look_for_choices()
        self.place()

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _later(self) -> None:
        if self.isVisible() and not self._grows.isActive():
            self._grows.start()

    def _grown(self) -> None:
        """Read the list again after new entries, where that moves nothing that a person looks at."""
        if self.isVisible() and self.list.at_top and not self._activity.has_newer:
            self._follows = True
            self._activity.read()
            self._activity.look_for_choices()

    def _replaced(self, rows: tuple[AuditRow, ...]) -> None:
        had_focus = self.list.hasFocus()
        follows, self._follows = self._follows and self.list.at_top, False
        self.model.replace(rows)
        calls = any(not row.note for row in rows)
        page = "rows" if calls or (rows and rows[-1].kind == "break") else "nothing" if self._narrowed else "none"
        self._stack.setCurrentWidget(self._pages[page])
        if not self._number:
            return
        place = self.model.place(self._number)
        if place >= 0:
            self.list.setCurrentIndex(self.model.index(place))
            if follows:  # marking a row scrolls to it, and the person looks at the newest
                self.list.scrollToTop()
            if self.detail.isVisible():
                self.detail.show_row(self.model.index(place).data(ROW))
        if had_focus and page == "rows":
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _narrowed(self) -> bool:
        return self._activity.chosen.narrowed

    def _moved(self, now: QModelIndex, _before: QModelIndex) -> None:
        row = now.data(ROW) if now.isValid() else None
        if row is not None:
            self._number = row.number
            if self.detail.isVisible():
                self.detail.show_row(row)

    def _to_top(self) -> None:
        """The newest entry, however far one has scrolled."""
        if self._activity.has_newer:
            self._number = 0
            self.list.scrollToTop()
            self._activity.read()

    def _to_list(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self.list.currentIndex().isValid() and self.model.rowCount():
            self.list.setCurrentIndex(self.model.index(0))

    # -- the entry ----------------------------------------------------------------------------------------------------

    def show_row(self, row: AuditRow) -> None:
        """An entry in full."""
        self._number = row.number
        self.detail.show_row(row)
        self._show_detail()

    def _show_report(self, report: object) -> None:
        """What the last check found, in full."""
        if isinstance(report, ChainReport):
            self._number = 0
            self.list.setCurrentIndex(QModelIndex())
            self.detail.show_report(report)
            self._show_detail()

    def _show_detail(self) -> None:
        if self.detail.isHidden():
            self.detail.show()
            self.place()
        if self._over:
            self.detail.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close(self) -> None:
        if self.detail.isHidden():
            return
        self.detail.hide()
        self.place()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _copy(self) -> None:
        row = self.list.current
        if row is not None:
            self.detail.show_row(row)
            self.detail.copy()

    def _exported(self, path: str, rows: int) -> None:
        entries = "1 entry" if rows == 1 else f"{rows:,} entries"
        self.say(f"{entries} written to {path.rpartition('/')[2]}")

    # -- places -------------------------------------------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        return self.width() - theme().px(WIDTH) < theme().px(BESIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the detail anew at the new size."""
        super().resizeEvent(event)
        self.place()

    def place(self) -> None:
        """Put the detail beside the list, or over it where there is no room."""
        width, height, side = self.width(), self.height(), theme().px(WIDTH)
        open_here = not self.detail.isHidden()
        beside = open_here and not self._over
        self._left.setGeometry(QRect(0, 0, width - side if beside else width, height))
        if open_here:
            left = width - side if beside else 0
            self.detail.setGeometry(QRect(left, 0, width - left, height))
            self.detail.raise_()
