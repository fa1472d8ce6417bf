"""One request in full, with its answers: the same in the inbox and in the dialog over the thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from desktop.domain.approval.permission import Choice, PermissionRequest
from desktop.presenter.approvals.command_summary import summarise_command
from desktop.presenter.approvals.inbox import ApprovalsViewModel
from desktop.presenter.approvals.request_words import (
    CHANGED,
    EDITED,
    HIDDEN,
    confinement_words,
    hides_something,
    is_unconfined,
    refused_words,
    unknown_words,
)
from desktop.presenter.approvals.rules_editing import RulesModels, may_always
from desktop.ui.approvals.request.allowing import AlwaysDialog, always_allow
from desktop.ui.approvals.request.answers import Answers
from desktop.ui.approvals.request.body import ArgumentsCard, Card, DiffCard
from desktop.ui.approvals.request.commands import CommandBlock, CommandCard
from desktop.ui.approvals.request.editing import ask_reason, edit_arguments
from desktop.ui.approvals.request.granting import grant_some
from desktop.ui.approvals.request.head import RequestHead
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.approvals.request.outcome_body import OutcomeBody
from desktop.ui.approvals.request.outside import OutsideCard, show_as_read
from desktop.ui.approvals.request.reading import ChangeSteps, CommandSummaryLine, UnreadNotice
from desktop.ui.approvals.request.web import WebCard
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.toggles import CheckBox
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.layout.containers import Notice, Scroller, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph

ThreadTitle = Callable[[str], str]
NETWORK_TIP = (
    "Assent cannot tell whether this command needs the network. "
    "If you tick this, it can reach any computer while it runs."
)
ROOMY = 420
"""Pixels at 100 % in height, below which its answers take too much of it."""
WAITS = 20
"""Times that a call which is not on the screen yet is waited for before that is said."""
LOOKED_AFTER = 60
"""Milliseconds after which a short call has been painted whole, so that nothing need be said about it."""


class RequestView(QWidget):
    """Shows one request: ``show_request`` and ``clear``. Answers go to the view-model with the digest of what is on
    screen (R-PRM-5). ``left``: a dialog about a request closed, and its request is gone, so the keys have no place any
    more."""

    answered = Signal(str)
    left = Signal()
    rule_wanted = Signal(str)

    def __init__(
        self,
        approvals: ApprovalsViewModel,
        thread_title: ThreadTitle,
        *,
        compact: bool = False,
        rules: RulesModels | None = None,
    ) -> None:
        super().__init__()
        self._approvals = approvals
        self._rules = rules
        self._always: AlwaysDialog | None = None
        self._thread_title = thread_title
        self._head: RequestHead | None = None
        self._request: PermissionRequest | None = None
        self._answers: Answers | None = None
        self._dialog: Dialog | None = None
        self._card: Card | OutcomeBody | None = None
        self._words: LinesView | None = None
        self._unread: UnreadNotice | None = None
        self.steps = ChangeSteps()
        self._waits_to_say = 0
        self._summary: CommandSummaryLine | None = None
        self._network: CheckBox | None = None
        self._compact, self._cramped = compact, False
        side = 20 if compact else 24
        outer = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._scroller = Scroller(margins=(side, 4 if compact else 20, side, 12), spacing=12)
        outer.addWidget(sized(self._scroller, min_height=36), 1)
        self._notice = QWidget()
        self._notices = Column(self._notice, margins=(side, 4, side, 4), spacing=8)
        outer.addWidget(self._notice)
        self._notice.hide()
        self._foot = pane("footer")
        self._foot_row = Column(self._foot, margins=(side, 11, 17 if not compact else side, 11), spacing=10)
        outer.addWidget(self._foot)
        self._foot.hide()

    @property
    def request(self) -> PermissionRequest | None:
        """The request that is shown."""
        return self._request

    @property
    def answers(self) -> Answers | None:
        """The buttons that answer the request."""
        return self._answers

    def show_request(self, request: PermissionRequest) -> None:
        """Build the view of a request; a request already shown stays as it is."""
        shown = self._request
        if shown is not None and (shown.request_id, shown.digest) == (request.request_id, request.digest):
            return
        self.clear()
        self._request = request
        column = self._scroller.column
        for notice in _warnings(request):
            self._notices.addWidget(notice)
        self._notice.setVisible(self._notices.count() > 0)
        title, titles = self._thread_title(request.seen_in), self._approvals.titles
        head = RequestHead(request, title, titles=titles, with_deny_all=not self._compact)
        head.deny_all.connect(self.deny_all)
        head.rule_wanted.connect(self.rule_wanted)
        column.addWidget(head)
        self._head = head
        if hides_something(request):
            column.addWidget(Notice("ask", HIDDEN))
        if request.outside:
            read = OutsideCard(request.outside, compact=self._compact)
            read.wanted.connect(lambda text: self._hold(show_as_read(self.window(), text)))
            column.addWidget(read)
        self._add_body(request)
        if not is_unconfined(request):
            column.addLayout(_note(request))
        column.addStretch(0)
        few = self._approvals.grants is not None
        self._answers = Answers(request, compact=self._compact, always=self._rules is not None, few=few)
        self._answers.chosen.connect(self._chosen)
        summary = summarise_command(request)
        if summary is not None:
            self._summary = CommandSummaryLine(summary)
            self._foot_row.addWidget(self._summary)
        self._network = _network_tick(request, self._foot_row)
        self._foot_row.addWidget(self._answers)
        self._answers.heed(self._approvals.last_answer)
        if isinstance(self._card, OutcomeBody):
            self._card.follow(self._answers)
        self._foot.show()
        if self._words is not None:
            self._words.read.connect(self._read)
        self._scroller.verticalScrollBar().setValue(0)
        self._settled()

    @property
    def dialog_open(self) -> bool:
        """Whether a reason, other arguments or a rule are being written."""
        return self._dialog is not None or self._always is not None

    def close_dialog(self) -> None:
        """An open dialog about the request closes with its safe answer. A rule that is being written stays: it is kept
        as a draft of its own."""
        if self._dialog is not None:
            self._dialog.answer("cancel")

    def clear(self) -> None:
        """Show nothing."""
        self.close_dialog()
        self._request = self._answers = self._card = self._head = None
        self._words = self._unread = self._summary = self._network = None
        clear(self._scroller.column)
        clear(self._foot_row)
        clear(self._notices)
        self._notice.hide()
        self._foot.hide()

    def focus_safe(self) -> None:
        """Give the keys to Deny; only ever because the person came here."""
        if self._answers is not None:
            self._answers.deny.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_body(self, request: PermissionRequest) -> None:
        column = self._scroller.column
        self._card, self._words, above = _make_card(request, self._approvals.voided(request))
        if above is not None:
            column.addWidget(above)
        if self._card is None:
            column.addStretch(1)
            return
        column.addWidget(self._card, 1)
        if isinstance(self._card, OutcomeBody):
            self._card.again.connect(self._again)
            if self._head is not None:
                self._head.put_below_title(self._card.notice(request))
        if isinstance(self._card, DiffCard):
            self._card.settled.connect(self._settled)
            self._card.start()
        else:
            self._card.fit()

    def _again(self, network: bool) -> None:
        """Make it in a new copy, unless the press may be meant for the request before."""
        if self._answers is not None and not self._answers.deny.deaf:
            self._answer("again", network=network)

    def _settled(self) -> None:
        """All of the call is there to be seen. Allowing waits until every line of it has been on the screen; what to do
        about it is said once the first of them has been."""
        self._arm()
        self._waits_to_say = 0
        if self._words is not None:
            QTimer.singleShot(LOOKED_AFTER, self._words, self._say_unread)

    def _say_unread(self) -> None:
        view, card = self._words, self._card
        if view is None or card is None or view.is_read or self._unread is not None or self._answers is None:
            return
        if self._request is not None and self._request.refused:  # there is nothing to allow
            return
        unpainted = view.unread == len(view.rows) and self._waits_to_say < WAITS  # a slow machine has yet to show it
        if not self.isVisible() or unpainted:  # nothing is painted there, so nothing can have been seen
            self._waits_to_say += 1
            QTimer.singleShot(LOOKED_AFTER * 4, view, self._say_unread)
            return
        self._unread = UnreadNotice(view, self._scroller, card.noun)
        self._unread.wanted.connect(card.show_words)
        self._notices.addWidget(self._unread)
        self._notice.show()
        self._answers.hold(True)
        self._share_room()

    def set_cramped(self, cramped: bool) -> None:
        """Where there is too little room for all that never scrolls away (always below ``ROOMY``, as with large text),
        what a command comes to goes over the command, and what cannot allow yet leaves its place to the request."""
        self._cramped = cramped
        self._share_room()

    def _share_room(self) -> None:
        cramped = self._cramped or self.height() < theme().px(ROOMY)
        column = self._scroller.column if cramped else self._foot_row
        if self._summary is not None and column.indexOf(self._summary) < 0:
            column.insertWidget(0, self._summary)
        if cramped and self._unread is not None and self._answers is not None:
            self._answers.fold(True)

    def _read(self) -> None:
        """Note that all of the request has been on the screen."""
        if self._unread is not None and self._answers is not None:
            self._unread.give_keys_to(self._answers.deny)
            self._unread.hide()
            self._unread.deleteLater()
            self._unread = None
            self._notice.setVisible(any(not notice.isHidden() for notice in self._notice.findChildren(Notice)))
        if self._answers is not None:
            self._answers.hold(False)
            self._answers.fold(False)
        self._arm()

    def _arm(self) -> None:
        """Begin the deaf time once everything to judge by is in sight."""
        settled = not isinstance(self._card, DiffCard) or self._card.ready
        settled = settled and (self._words is None or self._words.is_read)
        if self._answers is not None and self.isVisible() and settled:
            self._answers.arm()

    def showEvent(self, event: QShowEvent) -> None:
        """Coming into sight begins the deaf time anew."""
        super().showEvent(event)
        self._arm()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less room for the request."""
        super().resizeEvent(event)
        self._share_room()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Deny on Escape, which never allows; allow what is in sight on Ctrl+Enter.

        One press is one answer: a key that is still held when the next request comes answers nothing (R-PRM-14).
        F7 goes to the next change, Shift+F7 to the one before.
        """
        if event.key() == Qt.Key.Key_F7 and self._card is not None:
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.steps.step(self._card.views.currentWidget(), self._scroller, onward=not back)
            return
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        escape = event.key() == Qt.Key.Key_Escape
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        allows = enter and modifiers == Qt.KeyboardModifier.ControlModifier
        if self._request is None or self._answers is None or not (escape or allows):
            super().keyPressEvent(event)
        elif event.isAutoRepeat() or (escape and self._answers.deny.deaf):
            event.accept()
        elif escape:
            self._answer("deny")
        elif not self._answers.allow.isHidden():
            self._answers.allow.click()

    def _chosen(self, what: str) -> None:
        request = self._request
        if request is None:
            return
        if what == "reason":
            self._hold(ask_reason(self.window(), request, lambda reason: self._answer("deny", reason=reason)))
        elif what == "edit":
            edited = partial(self._answer, "allow_edited")
            self._hold(edit_arguments(self.window(), request, lambda made: edited(edited_arguments=made)))
        elif what == "few" and self._approvals.grants is not None:
            few = partial(self._answer, "allow_bounded")
            self._hold(grant_some(self.window(), request, self._approvals.grants, lambda made: few(bounds=made)))
        elif what == "always" and self._rules is not None and may_always(request):
            self._always = always_allow(self.window(), request, self._rules, self._thread_title)
            self._always.answered.connect(self._rule_done)
        elif what in ("deny", "allow_once", "allow_run", "done", "stop"):
            self._answer(what)  # type: ignore[arg-type]  # the literals of Choice

    def deny_all(self) -> None:
        """Everything that this run asks, unless it may be meant for the run before."""
        if self._request is not None and self._answers is not None and not self._answers.deny.deaf:
            self._approvals.last_answer.note(self._request.request_id)
            self._approvals.deny_all(self._request.run_id)

    def _hold(self, dialog: Dialog) -> None:
        self._dialog = dialog
        dialog.answered.connect(self._let_go)

    def _let_go(self) -> None:
        self._dialog = None

    def _rule_done(self, answer: str) -> None:
        """The rule was saved, which also answered, or the person goes back to the request."""
        self._always = None
        if answer == "saved":
            self.answered.emit("allow_once")
        self.left.emit()

    def _answer(self, choice: Choice, *, network: bool = False, **more: Any) -> None:
        """``more``: what else ``ApprovalsViewModel.answer`` takes."""
        request = self._request
        if request is None:
            return
        at = self._answers.pressed_at if self._answers is not None else None
        self._approvals.last_answer.note(request.request_id, at)
        self._approvals.answer(
            request.request_id,
            choice,
            digest=request.digest,
            with_network=network or _is_ticked(self._network),
            taken=self._card.taken() if isinstance(self._card, OutcomeBody) else None,
            **more,
        )
        self.answered.emit(choice)


def _make_card(
    request: PermissionRequest, voided: PermissionRequest | None
) -> tuple[Card | OutcomeBody | None, LinesView | None, QWidget | None]:
    """What would happen, the words of it that have to be seen, and what stands over it; none of it for a call that has
    no arguments, whose facts say all."""
    kind = request.preview.get("kind")
    if request.is_outcome:
        body = OutcomeBody(request)
        return body, body.words, None
    if kind == "diff":
        diff = DiffCard(request, voided)
        return diff, diff.words, None
    if kind == "command":
        block = CommandBlock(str(request.preview.get("command", "")))
        return CommandCard(request), block.view, block
    if kind in ("web", "search"):
        return None, None, WebCard(request)
    if not request.arguments and kind != "argv":
        return None, None, None
    card = ArgumentsCard(request)
    return card, card.words, None


def _network_tick(request: PermissionRequest, column: Column) -> CheckBox | None:
    """*With network*, over the answers, for what nobody can judge."""
    if request.preview.get("network_offered") is not True:
        return None
    box = CheckBox("With network")
    box.setToolTip(NETWORK_TIP)
    column.addWidget(box, 0, Qt.AlignmentFlag.AlignLeft)
    return box


def _is_ticked(box: CheckBox | None) -> bool:
    return box is not None and box.isChecked()


def _warnings(request: PermissionRequest) -> Iterator[Notice]:
    """Why a call that was answered already is here again, and that nothing confines it: over the answers, where nothing
    scrolls it away."""
    if request.refused:
        yield Notice("failed", refused_words(request))
    edited = request.original is not None and not request.unknown and not request.refused
    stale = request.stale and not request.is_outcome  # which says so itself
    for holds, words, icon in ((stale, CHANGED, "retry"), (edited, EDITED, "write")):
        if holds:
            yield Notice("info", words, icon=icon)
    if request.unknown:
        yield Notice("ask", shown_line(unknown_words(request)), icon="unknown")
    if is_unconfined(request):
        yield Notice("ask", confinement_words(request), icon="lock")


def _note(request: PermissionRequest) -> Row:
    row = Row(spacing=6)
    row.addWidget(Icon("lock", "text-3", 14, line="small"), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(Paragraph(confinement_words(request), "small", "2"), 1)
    return row
