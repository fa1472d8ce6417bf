"""The request over the thread that asked: one at a time, never modal, never taking the keys (R-PRM-7, R-PRM-8).

It is a child of the window, not a window of its own: no window manager can give it the focus, so what a
person is typing goes on going where it went. Keys reach it only after a click, Tab, or F6.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeySequence, QMouseEvent, QShortcut
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.call_words import asks_words
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.approvals.request_words import ASKS
from desktop.presenter.approvals.rules_editing import RulesModels
from desktop.ui.approvals.inbox import summary
from desktop.ui.approvals.request.view import RequestView
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton, OneClickButton
from desktop.ui.widgets.dialogs.base import dialog_open
from desktop.ui.widgets.layout.side_room import SideRoom
from desktop.ui.widgets.marks import KeyCaps
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shadow import REACH, RaisedBox
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

WIDTH, TOP, HEIGHT, HEIGHT_BESIDE = 720, 56, 600, 800
BESIDE, NARROWEST, READABLE, EDGE = 1280, 340, 472, 16
"""Pixels at 100 %: from this width of the window on it stands beside the conversation that explains it, at least so
wide, and leaves it this width where it can; so far from the edge."""
DENY_ALL = "Deny all from this run", "Deny all"
"""With room, and without."""
LINGER_MS = 2000
"""How long the conversation stays narrow after a request: the next one often follows, and reading should not jump."""
MAY_IT, TAKE_IT = "May it do this?", "Take over what it did?"


class RequestDialog(RaisedBox):
    """Lies over ``host`` (the chat page's work pane). ``show_for(thread_id)`` says which thread is open there.

    It stays above ``composer``, so that no answer comes to lie where a person is just pressing Send or Stop, and in a
    wide window beside ``conversation``, which explains it.

    ``open_inbox`` carries a request id. ``put_aside`` hides one request until the person asks for it again.
    """

    help_page = "approvals"

    open_inbox = Signal(str)

    def __init__(
        self,
        host: QWidget,
        approvals: ApprovalsViewModel,
        thread_title: Callable[[str], str] = str,
        composer: QWidget | None = None,
        rules: RulesModels | None = None,
        conversation: SideRoom | None = None,
    ) -> None:
        super().__init__(host)
        self._host = host
        self._composer = composer
        self._conversation = conversation
        self._linger = QTimer(self, singleShot=True, interval=LINGER_MS)
        self._linger.timeout.connect(lambda: self._keep_room(0))
        self._approvals = approvals
        self._thread_id: str | None = None
        self._aside: set[str] = set()
        self._before: QWidget | None = None
        self._cramped_at = 0
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = Column(self, margins=REACH + 1, spacing=0)
        column.addWidget(self._make_head())
        self.view = RequestView(approvals, thread_title, compact=True, rules=rules)
        self.view.left.connect(self._keys_are_free)
        column.addWidget(self.view, 1)
        focus = QShortcut(QKeySequence("F6"), host.window(), context=Qt.ShortcutContext.WindowShortcut)
        focus.activated.connect(lambda: None if dialog_open(self.window()) else self.take_keys())
        approvals.changed.connect(self.refresh)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)
        for moves in (host, composer, conversation):
            if moves is not None:
                moves.installEventFilter(self)
        self.hide()

    def _make_head(self) -> QWidget:
        head = self._head = sized(QWidget(), height=44)
        row = Row(head, margins=(20, 4, 8, 0), spacing=8)
        self._asks = Text(MAY_IT, "title")
        row.addWidget(self._asks)
        self._keys = KeyCaps("F6")
        self._keys.setToolTip(plain_tip("F6: answer by keyboard, beginning at Deny"))
        row.addWidget(self._keys)
        row.addStretch(1)
        self._pending = Button("", "quiet", small=True, tip="Open all requests (Ctrl+4)")
        self._pending.clicked.connect(self._open_inbox)
        row.addWidget(self._pending)
        self._deny_all = OneClickButton(DENY_ALL[0], "danger", small=True)
        self._deny_all.setToolTip("Deny this and every other request of the same run")
        self._deny_all.clicked.connect(lambda: self.view.deny_all())  # noqa: PLW0108 - the view is made below
        row.addWidget(self._deny_all)
        aside = IconButton("close", "Decide later: it stays in Approvals and the run goes on waiting", side=28)
        aside.clicked.connect(self.put_aside)
        row.addWidget(aside)
        return head

    @property
    def asks(self) -> str:
        """What the person is asked."""
        return self._asks.text()

    def show_for(self, thread_id: str) -> None:
        """Show only the requests of this thread, which is open now."""
        self._thread_id = thread_id
        self.refresh()
        if self.isHidden():
            self._keep_room(0)

    def reopen(self, request_id: str) -> None:
        """The person asked for a request that was put aside, as with Open request on its card."""
        self._aside.discard(request_id)
        self.refresh()
        self.take_keys()

    def put_aside(self) -> None:
        """Hide the request, which keeps waiting."""
        if self.view.request is not None:
            self._aside.add(self.view.request.request_id)
        self.refresh()

    def refresh(self) -> None:
        """Show the oldest request of the open thread, if there is one, without touching the focus."""
        waiting = [r for r in self._approvals.requests if r.thread_id == self._thread_id]
        self._aside &= {r.request_id for r in waiting}
        current = next((r for r in waiting if r.request_id not in self._aside), None)
        if current is None:
            self._leave()
            return
        fresh = self.view.request is None or self.view.request.request_id != current.request_id
        had_keys = self.isAncestorOf(self.window().focusWidget() or self)
        self.view.show_request(current)
        others = self._approvals.pending_count - 1
        self._pending.setVisible(others > 0)
        self._asks.setText(ASKS if current.unknown else TAKE_IT if current.is_outcome else MAY_IT)
        self._deny_all.setVisible(not current.unknown)
        self.setAccessibleName(f"Request: {asks_words(current) or shown_line(current.tool)}, {summary(current)}")
        self._place()
        self.show()
        self.raise_()
        if fresh:
            self._announce(current)
            if had_keys:
                self.view.focus_safe()

    def _leave(self) -> None:
        """Nothing waits here any more; what changes elsewhere afterwards does not keep the conversation narrow."""
        self.view.close_dialog()
        self._give_keys_back()
        shown = not self.isHidden()
        self.hide()
        if shown and self._conversation is not None:
            self._conversation.uncovered.emit()
            self._linger.start()
        self.view.clear()

    def run_over(self, thread_id: str) -> None:
        """The run of a thread has ended, as by Stop: nothing more can follow, so the conversation has all its room."""
        if thread_id == self._thread_id and self.isHidden():
            self._keep_room(0)

    def take_keys(self) -> None:
        """Give the keys to Deny, because the person wants to answer by keyboard (F6)."""
        if self.isVisible():
            self._focus_changed(self.window().focusWidget(), self.view)
            self.view.focus_safe()

    def _keys_are_free(self) -> None:
        """A dialog over this one closed: on to the request that shows, or back to where the keys were."""
        if self.isVisible():
            self.view.focus_safe()
        else:
            self._keys_go_back()

    def _give_keys_back(self) -> None:
        focused = self.window().focusWidget()
        if focused is not None and self.isAncestorOf(focused):
            self._keys_go_back()

    def _keys_go_back(self) -> None:
        if self._before is not None and isValid(self._before) and self._before.isVisible():
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._host.setFocus(Qt.FocusReason.OtherFocusReason)

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        """Remember where the keys were before they came here."""
        if old is None or new is None or self.view.dialog_open:
            return
        if self.isAncestorOf(new) and not self.isAncestorOf(old):
            self._before = old

    def _announce(self, request: PermissionRequest) -> None:
        asks = f"{ASKS} " if request.unknown else ""
        what = asks_words(request) or shown_line(request.tool)
        words = f"{asks}{what} waits for your answer: {summary(request)}. Press F6 to answer."
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _open_inbox(self) -> None:
        if self.view.request is not None:
            self.open_inbox.emit(self.view.request.request_id)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the dialog gives it the keys, on Deny."""
        if self.covers(event.position().toPoint()):
            self.take_keys()
        else:
            event.ignore()

    def event(self, event: QEvent) -> bool:
        """What it holds has grown, as by the words about what was not seen: its answers keep their place."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self._place()
        return done

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep its place over the host and above the composer, which grows with its text."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        px = theme().px
        end = self._host.height() - px(EDGE)
        if self._composer is not None and self._composer.isVisible():
            end = self._composer.mapTo(self._host, QPoint(0, 0)).y()
        needed = self.minimumSizeHint().height() - 2 * px(REACH)
        if needed > end:
            self._cramped_at = end
            self.view.set_cramped(True)
        elif end > self._cramped_at:
            self.view.set_cramped(False)
        beside = self._width_beside()
        self._keep_room(beside + px(EDGE) if beside else 0)
        width = beside or min(px(WIDTH), self._host.width() - 2 * px(EDGE))
        left = self._host.width() - px(EDGE) - width if beside else (self._host.width() - width) // 2
        top = min(px(TOP) if beside else min(px(TOP), end // 12), max(0, end - needed))
        height = min(px(HEIGHT_BESIDE if beside else HEIGHT), end - top)
        self._fit_head(width)
        self.place(QRect(left, top, width, height))

    def _fit_head(self, width: int) -> None:
        """All of it in one line: where that is narrow the words are fewer, and only at last its key goes. What stays
        is left alone: a label that is set lays it out again."""
        others, layout = self._approvals.pending_count - 1, self._head.layout()
        words = ((self._pending, f"{others} more waiting", f"{others} more"), (self._deny_all, *DENY_ALL))
        shown = [one for one in words if not one[0].isHidden()]
        now = layout.minimumSize().width() if layout is not None else 0
        rest = now - sum(button.sizeHint().width() for button, _, _ in shown)
        key = self._keys.sizeHint().width() + theme().px(8)
        rest -= 0 if self._keys.isHidden() else key
        whole = sum(button.width_with(long) for button, long, _ in shown)
        few = sum(button.width_with(brief) for button, _, brief in shown)
        short = rest + whole + key > width
        for button, long, brief in words:
            label = brief if short else long
            if button.label != label:
                button.set_label(label)
            button.setAccessibleName(long)
        self._keys.setVisible(rest + (few if short else whole) + key <= width)

    def _width_beside(self) -> int:
        """The dialog's width beside the conversation; 0 where there is no room and it has to lie over it."""
        px, room = theme().px, self._host.width() - 2 * theme().px(EDGE)
        if self._conversation is None or self.window().width() < px(BESIDE) or room < 2 * px(NARROWEST):
            return 0
        return max(px(NARROWEST), min(px(WIDTH), room - px(READABLE)))

    def _keep_room(self, width: int) -> None:
        self._linger.stop()
        if self._conversation is not None and self._conversation.kept != width:
            self._conversation.keep(width)
