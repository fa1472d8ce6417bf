"""The answers to one request: the safe one first, what allows last, and all of them within reach at any width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import PermissionRequest
from desktop.presenter.approvals.rules_editing import may_always
from desktop.presenter.transcript.last_answer import LastAnswer
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import Button, Kind, OneClickButton
from desktop.ui.widgets.controls.patient_button import PatientButton
from desktop.ui.widgets.controls.slip import last_pressed
from desktop.ui.widgets.tips import plain_tip

DROP, DROP_REASON, MORE = "Drop all", "Drop with a reason…", "More answers…"
"""Of a call that was made in a copy."""
TAKE_TIP = "Take over what is ticked, all of it or nothing (Ctrl+Enter)"
NOTHING_TICKED = "Tick what is to be taken over"
SKIP_TIP = "Do not do it; the model is told that nobody knows whether it was done (Esc)"
DONE_TIP = "It was done: the model is told so, and goes on"
STOP_TIP = "End the run; you are asked again when you continue it"
AGAIN_TIP = "Make exactly this call, perhaps a second time (Ctrl+Enter)"
ALLOW_TIP = "Allow exactly this call (Ctrl+Enter)"
RUN_TIP = "Allow calls like this one until the run ends"
ALWAYS_TIP = "See the rule that would allow this, change it, and try it"
UNREAD_TIP = "Scroll through all of this call first"
FEW_TIP = "Allow this call and some like it: so many, for so long"
REASON, EDIT, ALWAYS, FEW = "Deny with a reason…", "Edit and allow…", "Always allow…", "Allow a few…"
SHORT = {REASON: "Reason…", DROP_REASON: "Reason…", MORE: "More…", EDIT: "Edit…", ALWAYS: "Always…", FEW: "A few…"}
"""What stands on a button where the whole of it has no room; a screen reader and the tooltip say all of it."""
GAP = 8
Line = tuple[list[Button], list[Button]]
"""What stands at the left and at the right."""


class Answers(QWidget):
    """The buttons that answer a request, the safe one first. Allow is deaf until ``arm`` is 400 ms old (R-PRM-3,
    R-PRM-14)."""

    chosen = Signal(str)

    def __init__(
        self, request: PermissionRequest, *, compact: bool = False, always: bool = False, few: bool = False
    ) -> None:
        super().__init__()
        self._request_id = request.request_id
        self._last_answer: LastAnswer | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        admin = request.category is Category.ADMIN
        keys = "F6, then Esc" if compact else "Esc"
        self.deny = PatientButton("Deny", key="" if compact else "Esc", tip=f"Deny this call ({keys})")
        self.reason = PatientButton(REASON, tip="Deny, and tell the model why")
        self.edit = OneClickButton(
            EDIT, "quiet", tip="Edit and allow: change the arguments; you see what they would do before anything runs"
        )
        self.always = OneClickButton(ALWAYS, "quiet", tip=ALWAYS_TIP)
        self.few = OneClickButton(FEW, "quiet", tip=FEW_TIP)
        self.allow_run = AllowButton("Allow for this run", "normal")
        self.allow_run.setToolTip(RUN_TIP)
        look: Kind = "admin" if admin else "primary"
        self._look: Kind = look
        key = "" if compact else "Ctrl+Enter"
        self.allow = AllowButton("Allow once", look, icon="admin" if admin else "allow", key=key)
        self.allow.setToolTip(ALLOW_TIP)
        self.more = _ask_unknown(self.deny, self.allow, self.chosen.emit) if request.unknown else []
        self.unfold = OneClickButton(MORE, "quiet", tip="Edit it, or allow calls like it")
        self._is_outcome = request.is_outcome
        self._allow_tip = AGAIN_TIP if request.unknown else ALLOW_TIP
        always = always and not request.unknown and may_always(request)
        offered: tuple[tuple[Button, bool], ...] = (
            (self.deny, True),
            *((one, True) for one in self.more),
            (self.reason, not request.unknown),
            (self.unfold, self._is_outcome),
            (self.edit, "allow_edited" in request.choices),
            (self.always, always),
            (self.few, few and "allow_bounded" in request.choices),
            (self.allow_run, "allow_run" in request.choices),
            (self.allow, "allow_once" in request.choices),
        )
        for button, is_offered in offered:
            button.setParent(self)
            button.setVisible(is_offered)
        self._folded = self._of_outcome(keys) if self._is_outcome else ()
        self._is_short = False
        self._offered = [button for button, is_offered in offered if is_offered]
        self._careful: tuple[PatientButton | AllowButton, ...] = (
            self.deny,
            self.reason,
            *self.more,
            self.allow_run,
            self.allow,
        )
        self._connect()
        theme().changed.connect(self._place)

    def _of_outcome(self, keys: str) -> tuple[Button, ...]:
        """The words for what ran in a copy; returns the answers that are folded away."""
        self.deny.set_label(DROP)
        self.deny.setToolTip(plain_tip(f"Drop the copy with all that it did there ({keys})"))
        self.reason.set_label(DROP_REASON)
        self.reason.setToolTip("Drop it, and tell the model why")
        folded = tuple(one for one in (self.edit, self.always, self.few, self.allow_run) if not one.isHidden())
        for button in folded:
            button.hide()
        return folded

    def _connect(self) -> None:
        self.deny.clicked.connect(lambda: self.chosen.emit("deny"))
        self.reason.clicked.connect(lambda: self.chosen.emit("reason"))
        self.edit.clicked.connect(lambda: self.chosen.emit("edit"))
        self.unfold.clicked.connect(self._unfold)
        self.always.clicked.connect(lambda: self.chosen.emit("always"))
        self.few.clicked.connect(lambda: self.chosen.emit("few"))
        self.allow_run.agreed.connect(lambda: self.chosen.emit("allow_run"))
        self.allow.agreed.connect(lambda: self.chosen.emit("allow_once"))
        self.allow.too_soon.connect(self.allow_run.arm)
        self.allow_run.too_soon.connect(self.allow.arm)

    def _unfold(self) -> None:
        """Show the answers that are seldom given."""
        for button in self._folded:
            button.show()
        self.unfold.hide()
        self._place()
        if self._folded:
            self._folded[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def say_taken(self, words: str, *, some: bool, decided: bool) -> None:
        """What would be taken over: nothing is no answer, and what is not decided yet is not the filled one."""
        if self.allow.label != words:
            self.allow.set_label(words)
            self.allow.setAccessibleName(words)
            self._place()
        self.allow.setEnabled(some)
        self.allow_run.setEnabled(some)
        self.allow.set_awake(self._look if decided else "normal")
        self._allow_tip = TAKE_TIP if some else NOTHING_TICKED
        self.allow.setToolTip(plain_tip(self._allow_tip))

    def arm(self) -> None:
        """The request has just come into sight."""
        self.allow.arm()
        self.allow_run.arm()

    def heed(self, last: LastAnswer) -> None:
        """Follow answers to other requests: after one, the next press may have been meant for that, so every button is
        deaf for a moment."""
        self._last_answer = last
        last.changed.connect(self._rest)
        self._rest()

    def _rest(self) -> None:
        last = self._last_answer
        if last and last.request_id != self._request_id:
            for button in self._careful:
                button.pause(last.at)

    @property
    def pressed_at(self) -> QPointF | None:
        """Where on the screen the answer was given; None if by a key, or in a dialog."""
        return last_pressed(self._careful)

    def hold(self, held: bool) -> None:
        """There is something that nobody has seen yet: no rule can be made of it either."""
        self.always.setEnabled(not held)
        self.few.setEnabled(not held)
        tips = {self.allow: self._allow_tip, self.allow_run: RUN_TIP, self.always: ALWAYS_TIP, self.few: FEW_TIP}
        for button, tip in tips.items():
            button.setToolTip(plain_tip(UNREAD_TIP if held else tip))

    def fold(self, folded: bool) -> None:
        """Without what allows, as long as that is held anyway and its room is needed."""
        for button in (self.allow_run, self.allow):
            if button in self._offered and (button not in self._folded or self.unfold.isHidden()):
                button.setVisible(not folded)
        self._place()

    # -- where they stand ---------------------------------------------------------------------------------------------

    def hasHeightForWidth(self) -> bool:
        """The height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height in pixels at this width."""
        return self._height(self._lines(width))

    def sizeHint(self) -> QSize:
        """At the present width."""
        width = max(self.width(), theme().px(120))
        return QSize(theme().px(120), self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """The width of one button."""
        return QSize(theme().px(120), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the buttons in lines for the new width."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        gap, top, lines = theme().px(GAP), 0, self._lines(self.width())
        self._name(short=any(_needed(left + right, short=False) > self.width() for left, right in lines))
        for left, right in lines:
            at = 0
            for button in left:
                at = _put(button, at, top) + gap
            at = self.width() - _needed(right, short=self._is_short)
            for button in right:
                at = _put(button, at, top) + gap
            top += max(button.sizeHint().height() for button in left + right) + gap
        if self.minimumHeight() != top - gap:
            self.setFixedHeight(top - gap)

    def _name(self, *, short: bool) -> None:
        self._is_short = short
        reason = DROP_REASON if self._is_outcome else REASON
        names = ((self.reason, reason), (self.edit, EDIT), (self.always, ALWAYS), (self.few, FEW), (self.unfold, MORE))
        for button, name in names:
            words = SHORT[name] if short else name
            if button.label != words:
                button.set_label(words)
                button.setAccessibleName(name)

    def _lines(self, width: int) -> list[Line]:
        """The buttons in lines: one line; or what denies and changes over what allows, if need be with short names; or
        as many as it takes, and never what denies beside what allows."""
        shown = [button for button in self._offered if not button.isHidden()]
        yes: list[Button] = [button for button in shown if isinstance(button, AllowButton)]
        change: list[Button] = [one for one in shown if one in (self.edit, self.always, self.few, self.unfold)]
        no: list[Button] = [button for button in shown if button not in yes and button not in change]
        if _needed(shown, short=False) <= width:
            return [(no, change + yes)]
        two: list[Line] = [(no, change), *([([], yes)] if yes else [])]
        if all(_needed(left + right, short=True) <= width for left, right in two):
            return two
        rest: list[Line] = [([], line) for line in _broken(yes, width)]
        return [*((line, []) for line in _broken(no + change, width)), *rest]

    @staticmethod
    def _height(lines: Sequence[Line]) -> int:
        heights = [max(button.sizeHint().height() for button in left + right) for left, right in lines]
        return sum(heights) + theme().px(GAP) * (len(lines) - 1)


def _put(button: Button, at: int, top: int) -> int:
    size = button.sizeHint()
    button.setGeometry(at, top, size.width(), size.height())
    return at + size.width()


def _needed(buttons: Sequence[Button], *, short: bool) -> int:
    """Pixels of a line of these under their whole or their short names."""
    return sum(_width(button, short=short) for button in buttons) + theme().px(GAP) * max(0, len(buttons) - 1)


def _width(button: Button, *, short: bool) -> int:
    whole = button.accessibleName()
    return button.width_with(SHORT.get(whole, whole) if short else whole)


def _broken(buttons: Sequence[Button], width: int) -> Iterator[list[Button]]:
    line: list[Button] = []
    for button in buttons:
        if line and _needed([*line, button], short=True) > width:
            yield line
            line = []
        line.append(button)
    if line:
        yield line


def _ask_unknown(deny: PatientButton, allow: AllowButton, chosen: Callable[[str], None]) -> list[PatientButton]:
    """Skip and Do it again in the places of Deny and Allow, and two more answers. None looks like the harmless one."""
    deny.set_label("Skip it")
    deny.setToolTip(SKIP_TIP)
    allow.set_label("Do it again")
    allow.set_icon("")
    allow.set_awake("normal")
    allow.setToolTip(AGAIN_TIP)
    done, stop = PatientButton("It was done", tip=DONE_TIP), PatientButton("Stop the run", tip=STOP_TIP)
    for button, answer in ((done, "done"), (stop, "stop")):
        button.clicked.connect(lambda _=False, answer=answer: chosen(answer))
    return [done, stop]
