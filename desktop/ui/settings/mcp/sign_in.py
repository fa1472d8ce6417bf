"""Signing in to a server, on its card: who asks and for what, the wait for the browser, what was allowed.

The browser is opened by a click here and by nothing else; names of scopes are the server's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.servers.sign_in import SignInFacts, SignInScope
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import CheckBox
from desktop.ui.widgets.layout.containers import Notice, caption_value, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line, waited
from desktop.ui.widgets.text import Paragraph, Text

FACTS = 80
WAIT_S = 300
NEVER = "Assent never sees your password."
ONE_ANSWER = "Assent listens on this computer for one answer and stops after 5 minutes."

NOT_KEPT = "not kept, because no keyring of the system answers: it is forgotten when Assent is closed"


class SignInPanel(QWidget):
    """What there is to say and do about one server's sign-in: ``show_facts`` shows it. ``begin`` carries the chosen
    scopes, ``browser`` and ``copied`` the address. What a person has ticked stays until something about it changes."""

    begin = Signal(object)
    cancelled = Signal()
    look_again = Signal()
    browser = Signal(str)
    copied = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.facts, self._where = SignInFacts(), ""
        self._later = False
        self._checks: list[tuple[str, CheckBox]] = []
        self._column = Column(self, spacing=8)
        self.hide()

    def show_facts(self, facts: SignInFacts, where: str) -> bool:
        """Show how it stands now. Returns whether that is anything else than before."""
        if (facts, where) == (self.facts, self._where):
            return False
        self._later = self._later and facts.stage == self.facts.stage
        self.facts, self._where = facts, where
        self._build()
        return True

    def _build(self) -> None:
        had_keys = self.isAncestorOf(self.window().focusWidget() or self.window())
        clear(self._column)
        self._checks = []
        widgets = self._widgets()
        for widget in widgets:
            self._column.addWidget(widget)
        self.setVisible(bool(widgets))
        if had_keys and self.facts.stage == "waiting":
            self.cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def _put_off(self, later: bool) -> None:
        self._later = later
        self._build()

    def _widgets(self) -> list[QWidget]:
        if self._later and self.facts.stage == "asks":
            strip = Notice("ask", [(shown_line(self.facts.host), "strong"), (" asks you to sign in.", "")])
            show = Button("Sign in", small=True)
            show.clicked.connect(lambda: self._put_off(False))
            strip.add(show)
            return [strip]
        match self.facts.stage:
            case "wanted" | "looking":
                return [Paragraph("It wants you to sign in. Assent looks up where.", "small", "2")]
            case "asks":
                return [self._choice()]
            case "waiting":
                return [self._waiting()]
            case "refused":
                return [self._refused()]
            case "in":
                return self._allowed()
        return []

    # -- choosing -----------------------------------------------------------------------------------------------------

    def _choice(self) -> QWidget:
        facts = self.facts
        box = pane("quoted")
        column = Column(box, margins=0, spacing=0)
        column.addWidget(_inside(Paragraph(_asks(facts), "body", "2")))
        column.addWidget(pane("line"))
        rows = QWidget()
        lines = Column(rows, margins=(12, 8, 12, 8), spacing=4)
        for scope in facts.scopes:
            lines.addLayout(self._scope(scope))
        if facts.scopes:
            column.addWidget(rows)
            column.addWidget(pane("line"))
        column.addWidget(self._foot())
        return box

    def _scope(self, scope: SignInScope) -> Row:
        row = Row(spacing=8)
        name = shown_line(scope.name)
        check = CheckBox("")
        check.setChecked(scope.needed or bool(self.facts.granted and scope.name in self.facts.granted))
        check.setAccessibleName(f"{name}{', ' + scope.words if scope.words else ''}{', new' if scope.new else ''}")
        self._checks.append((scope.name, check))
        row.addWidget(check)
        row.addWidget(Text(name, "code", elide="right"), 2)
        row.addWidget(Text(shown_line(scope.words), "body", "2", elide="right"), 3)
        if scope.new:
            row.addWidget(Text("new", "small", "ask"))
        return row

    def _foot(self) -> QWidget:
        foot = QWidget()
        row = Row(foot, margins=(12, 8, 12, 8), spacing=8)
        row.addWidget(Icon("lock", "text-2", 16, line="small"), 0, Qt.AlignmentFlag.AlignVCenter)
        place = NOT_KEPT if self.facts.session_only else "kept in the system keyring"
        words = f"What comes back is {place}, and sent to {shown_line(self._where)} only."
        row.addWidget(Paragraph(words, "small", "2"), 1, Qt.AlignmentFlag.AlignVCenter)
        later = Button("Not now", "quiet")
        later.clicked.connect(lambda: self._put_off(True))
        row.addWidget(later)
        self.sign_in = Button("Sign in with the browser", "primary", icon="link")
        self.sign_in.clicked.connect(lambda: self.begin.emit(self.chosen))
        row.addWidget(self.sign_in)
        return foot

    @property
    def chosen(self) -> tuple[str, ...]:
        """The scopes that are ticked."""
        return tuple(name for name, check in self._checks if check.isChecked())

    # -- the others ---------------------------------------------------------------------------------------------------

    def _waiting(self) -> QWidget:
        host = shown_line(self.facts.host)
        strip = Notice("info", [("Go on in your browser, at ", ""), (host, "strong"), (f". {ONE_ANSWER}", "")])
        if self.facts.address:
            address = self.facts.address
            for label, signal in (("Open it again", self.browser), ("Copy the address", self.copied)):
                button = Button(label, "quiet", small=True)
                button.clicked.connect(lambda _=False, told=signal: told.emit(address))
                strip.add(button)
        self.cancel = Button("Cancel", small=True, key="Esc")
        self.cancel.clicked.connect(self.cancelled)
        strip.add(self.cancel)
        return strip

    def _refused(self) -> QWidget:
        strip = Notice("failed", shown(self.facts.problem))
        again = Button("Try again", small=True)
        again.clicked.connect(self.look_again)
        strip.add(again)
        return strip

    def _allowed(self) -> list[QWidget]:
        facts, found = self.facts, []
        may = [(f"{shown_line(one)}  ", "mono") for one in facts.granted] or [("what the server allows by itself", "")]
        found.append(_line("May", may))
        if facts.left_out:
            names = [(f"{shown_line(one)}  ", "mono") for one in facts.left_out]
            found.append(_line("May not", [*names, ("was asked for, and is not allowed", "")]))
        found.append(_line("Signed in", [(_since(facts), "")]))
        if facts.session_only:
            found.append(Notice("ask", "The keyring did not take this sign-in. It is forgotten when Assent is closed."))
        return found

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape ends the wait, where the keys are here."""
        if event.key() == Qt.Key.Key_Escape and self.facts.stage == "waiting":
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)


class WaitingClock(Text):
    """How long the browser has been waited for, as ``0:42``; goes on while it is seen."""

    def __init__(self, until: float) -> None:
        super().__init__("", "small", "running")
        self._since = until - WAIT_S
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._tell)
        self._timer.start()
        self._tell()

    def _tell(self) -> None:
        self.setText(waited(time.time() - self._since))


def sign_in_state(facts: SignInFacts) -> tuple[str, str] | None:
    """Look and words of the state on the card, where the sign-in has the say; else None."""
    match facts.stage:
        case "wanted" | "looking" | "asks" if facts.again:
            return "waiting", "sign in again"
        case "wanted" | "looking" | "asks":
            return "waiting", "sign in to allow more" if facts.granted else "sign in first"
        case "waiting":
            return "running", "waiting for the browser"
        case "refused":
            return "failed", "sign-in refused"
    return None


def _asks(facts: SignInFacts) -> list[tuple[str, str]]:
    host, name = shown_line(facts.host), shown_line(facts.name)
    of = f" for {name}" if name else ""
    more = any(one.new for one in facts.scopes)
    what = " The server needs more than you have allowed so far." if more else ""
    last = " Choose what it may do:" if facts.scopes else " The server does not say what it may do then."
    return [(host, "strong"), (f" asks who you are{of}, in your browser. {NEVER}{what}{last}", "")]


def _since(facts: SignInFacts) -> str:
    at = f"at {shown_line(facts.host)} since {_day(facts.since)}"
    if facts.renews:
        renews = f", renews by itself, last at {_time(facts.renewed)}" if facts.renewed else ", renews by itself"
    else:
        renews = f", until {_day(facts.until)}" if facts.until else ""
    back = "Signing out takes it back there, too." if facts.can_revoke else "Signing out forgets it here."
    return f"{at}{renews}. {back}"


def _day(at: float) -> str:
    then, now = time.localtime(at), time.localtime()
    return time.strftime("%H:%M" if then[:3] == now[:3] else "%d %b %Y %H:%M", then)


def _time(at: float) -> str:
    return time.strftime("%H:%M", time.localtime(at))


def _inside(widget: QWidget) -> QWidget:
    holder = QWidget()
    Column(holder, margins=(12, 8, 12, 8), spacing=0).addWidget(widget)
    return holder


def _line(caption: str, pieces: Sequence[tuple[str, str]]) -> QWidget:
    holder = QWidget()
    column = Column(holder, spacing=0)
    column.addLayout(caption_value(caption, Paragraph(pieces, "body", "2"), column=FACTS))
    return holder
