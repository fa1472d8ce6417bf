"""One tool of an MCP server: a switch, the server's words about it, its category, and what it takes; where it is new or
changed, that is shown before it can be switched on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from desktop.presenter.mcp.rows import McpToolRow, laid_out
from desktop.ui.approvals.request.background import Background
from desktop.ui.approvals.request.diffing import DiffRow, diff
from desktop.ui.approvals.request.lines_view import LinesView
from desktop.ui.settings.mcp.category import CategoryChooser
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.controls.fields import MonoView
from desktop.ui.widgets.controls.toggles import Segmented, Switch
from desktop.ui.widgets.marks import Badge, Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text
from desktop.ui.widgets.tips import plain_tip

WORDS, JSON = "words", "json"
MAX_PARAMS = 60
MAX_JSON = 60_000
JSON_ROWS = 14
ROWS = 18
"""Rows of a difference before it scrolls."""
BESIDE_SWITCH = 44
"""Pixels at 100 % that the lines below the name are moved in: the switch and the space beside it."""
WIDE = 620
"""Pixels at 100 % from which what the tool says of itself stands in a column of its own."""
SAYS = 176
LONG_NAME = 28
KEEP_OFF, TAKE = "Keep it off", "I have read it, switch on"


class ToolRow(QFrame):
    """``switched`` to on or off, ``attempt``: try it, ``opened``: what it takes is shown, or not any more,
    ``category``: the one that a person chose."""

    switched = Signal(bool)
    attempt = Signal()
    opened = Signal(bool)
    category = Signal(str)

    def __init__(
        self,
        tool: McpToolRow,
        *,
        is_open: bool,
        fixed: str = "",
        last: bool = False,
        warns: Callable[[str, str], str] = lambda *_: "",
    ) -> None:
        """``fixed``: why every call is an admin call whatever was configured. ``warns`` of a path that (before, now)
        names and is closed to all tools; it is called in a thread."""
        super().__init__()
        self.setProperty("pane", "row-last" if last else "row")
        self.tool, self.is_open, self._warns = tool, is_open, warns
        self.name = shown_line(tool.server_name or tool.name)[:80] or "a tool without a name"
        state = f"off: {tool.problem or tool.off}" if tool.off else f"on, {tool.category}"
        self.setAccessibleName(f"{shown_line(tool.name)[:80]}, {state}, {tool.says}")
        column = Column(self, margins=(12, 8, 8, 8), spacing=6)
        column.addLayout(self._line(fixed))
        self._body = Column(margins=(BESIDE_SWITCH, 0, 4, 0), spacing=6)
        column.addLayout(self._body)
        self._finding = Background(self, self._compared)
        self.take: Button | None = None
        self._asks = is_open and tool.switchable and bool(tool.off) and (tool.unseen or tool.changed)
        self.whole = not is_open
        self.rest = self._open_body() if is_open else iter(())
        """What is below its line, piece by piece: whoever shows the row has it made, and it is ``whole``."""

    @property
    def keys_at(self) -> str:
        """Which of its controls has the keys, or ""."""
        return next((name for name in ("switch", "chooser", "more") if getattr(self, name).hasFocus()), "")

    def take_keys(self, control: str) -> None:
        """Keys go to the control of that name, as far as there is one."""
        if control:
            getattr(self, control).setFocus(Qt.FocusReason.OtherFocusReason)

    # -- the line that is always there --------------------------------------------------------------------------------

    def _line(self, fixed: str) -> Row:
        tool = self.tool
        self.switch = Switch(f"{self.name} may be called")
        self.switch.setChecked(not tool.off)
        self.switch.setEnabled(tool.switchable)
        self.switch.clicked.connect(self._switched)
        self._says = sized(Text(tool.says, "small", "2"), width=SAYS)
        self.chooser = CategoryChooser(f"Category of {self.name}", tool.category)
        self.chooser.chosen.connect(self.category)
        self.chooser.setEnabled(not fixed)
        self.chooser.setToolTip(plain_tip(fixed and f"Every call asks you, as an admin call: {shown_line(fixed)}."))
        self.more = IconButton("down" if self.is_open else "right", f"{'Hide' if self.is_open else 'Show'} {self.name}")
        self.more.clicked.connect(lambda: self.opened.emit(not self.is_open))
        row = Row(spacing=12)
        row.addWidget(self.switch)
        row.addLayout(self._words(), 1)
        row.addWidget(self._says)
        row.addWidget(self.chooser)
        row.addWidget(self.more)
        if tool.problem:
            self._says.hide()
            self.chooser.hide()
        return row

    def _words(self) -> Column:
        tool = self.tool
        column = Column(spacing=1)
        head = Row(spacing=8)
        long = len(self.name) > LONG_NAME
        head.addWidget(Text(self.name, "code", "3" if tool.off else "1", elide="right" if long else "none"), int(long))
        if tool.unseen:
            head.addWidget(Badge("changed on disk", tool.changed_words) if tool.changed else Text("new", "small", "3"))
        if not long:
            head.addStretch(1)
        column.addLayout(head)
        if tool.problem:
            column.addWidget(Paragraph(shown(f"Cannot be used: {tool.problem}."), "small", "failed"))
        elif tool.changed and tool.off:
            column.addWidget(Paragraph(shown(f"Off: {tool.off}."), "small", "2"))
        elif not self.is_open:
            column.addWidget(Text(shown_line(tool.description), "small", "2", elide="right"))
        if self.is_open and tool.description:
            column.addWidget(Paragraph(shown(tool.description), "small", "2"))
        self._below = Text(tool.says, "small", "3", elide="right")
        self._below.hide()
        column.addWidget(self._below)
        return column

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow, what the tool says of itself stands below its name."""
        super().resizeEvent(event)
        wide = self.width() >= theme().px(WIDE)
        if not self.tool.problem:
            self._says.setVisible(wide)
            self._below.setVisible(not wide)

    def _switched(self, on: bool) -> None:
        self.switch.setChecked(not self.tool.off)  # it moves when it is so
        if on and not self.is_open and (self.tool.unseen or self.tool.changed):
            self.opened.emit(True)  # its words are read first
        elif on and self._asks:
            if self.take is not None:
                self.take.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.switched.emit(on)

    # -- what it says and takes ---------------------------------------------------------------------------------------

    def _open_body(self) -> Iterator[None]:
        for words in self._said():
            self._body.addWidget(Paragraph(shown(words), "small", "3"))
        yield
        if self._asks:
            self._body.addWidget(self._ask())
            yield
        self._body.addWidget(self._takes())
        self.whole = True

    def _said(self) -> list[str]:
        tool = self.tool
        said = [f"Its title is “{tool.title}”."] if tool.title and tool.title != tool.server_name else []
        if not tool.problem:
            said.append(f"Models call it {tool.name}.")
        if len(tool.claims) > 1 or (tool.claims and tool.problem):
            said.append(f"It says of itself: {', '.join(tool.claims)}. Nothing is decided by that.")
        if tool.off and not tool.problem and not tool.changed:
            said.append(f"Off: {tool.off}.")
        return said

    def _ask(self) -> QWidget:
        """What changed, and whether it shall be on; of a new one all there is stands around it."""
        card = pane("card")
        column = Column(card, margins=1, spacing=0)
        self._changes = LinesView(f"What changed in {self.name}", max_rows=ROWS)
        self._changes.hide()
        column.addWidget(self._changes)
        foot = pane("footer" if self.tool.changed else "plain")
        row = Row(foot, margins=(12, 6, 8, 6), spacing=8)
        words = "Models read these words, too." if self.tool.changed else "It is new. Models read these words, too."
        self._note = Paragraph(words, "small", "2")
        keep, self.take = Button(KEEP_OFF, small=True), Button(TAKE, small=True)
        keep.clicked.connect(self._keep)
        self.take.clicked.connect(lambda: self.switched.emit(True))
        self._alarm = Icon("failed", "failed", 16, line="small")
        self._alarm.hide()
        row.addWidget(self._alarm, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._note, 1)
        row.addWidget(keep)
        row.addWidget(self.take)
        column.addWidget(foot)
        if self.tool.changed:
            self.take.setEnabled(False)
            before, now, warns = self.tool.before, self.tool.now, self._warns
            self._finding.start(lambda: (_differences(before, now), warns(before, now)))
        return card

    def _compared(self, found: object) -> None:
        assert isinstance(found, tuple)
        rows, closed = found
        self._changes.set_rows(rows)
        if closed:
            self._alarm.show()
            named = (f"It names {shown_line(closed)[:80]}, which is closed to all tools. ", "strong")
            self._note.set_pieces([named, ("A model may take this for your wish.", "")])
        self._changes.setFixedHeight(self._changes.sizeHint().height())
        self._changes.show()
        if self.take is not None:
            self.take.setEnabled(True)

    def _keep(self) -> None:
        if self.tool.unseen:
            self.switched.emit(False)
        self.opened.emit(False)

    def _takes(self) -> QWidget:
        card = pane("card")
        column = Column(card, margins=(12, 8, 12, 10), spacing=8)
        head = Row(spacing=8)
        head.addWidget(Text("What it takes", "small", "2"))
        head.addStretch(1)
        if not self.tool.off:
            attempt = Button("Try it", "quiet", small=True, icon="play", tip=f"Call {self.name} now")
            attempt.clicked.connect(self.attempt)
            head.addWidget(attempt)
        self.how = Segmented("How to show what it takes", ((WORDS, "In words"), (JSON, "JSON")), small=True)
        self.how.chosen.connect(self._show_as)
        head.addWidget(self.how)
        column.addLayout(head)
        self._in_words = _in_words(self.tool)
        column.addWidget(self._in_words)
        self.json: MonoView | None = None
        self._takes_column = column
        return card

    def _show_as(self, how: str) -> None:
        if how == JSON and self.json is None:
            text = self.tool.schema
            self.json = MonoView("What it takes, as JSON", shown(text[:MAX_JSON]), wrap=True)
            self.json.setFixedHeight(theme().px(18 * min(JSON_ROWS, text.count("\n") + 1) + 8))
            self._takes_column.addWidget(self.json)
        self._in_words.setVisible(how == WORDS)
        if self.json is not None:
            self.json.setVisible(how == JSON)


def _differences(before: str, now: str) -> tuple[DiffRow, ...]:
    """What changed in the description, then what changed in the rest of the declaration."""
    (words, rest), (words_now, rest_now) = laid_out(before), laid_out(now)
    said = tuple(row for row in diff(words, words_now).rows if row.kind != "hunk") if words != words_now else ()
    return said + (diff(rest, rest_now).rows if rest != rest_now else ())


def _in_words(tool: McpToolRow) -> QWidget:
    holder, params = QWidget(), tool.params
    if not params:
        Column(holder, spacing=0).addWidget(Text("nothing", "small", "2"))
        return holder
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme().px(12))
    grid.setVerticalSpacing(theme().px(6))
    grid.setColumnStretch(2, 1)
    top = Qt.AlignmentFlag.AlignTop
    for at, (name, words, description) in enumerate(params[:MAX_PARAMS]):
        called = Text(shown_line(name)[:60] or "value", "code")
        called.setFixedHeight(theme().line_height("small"))
        grid.addWidget(called, at, 0, top)
        grid.addWidget(Text(shown_line(words)[:80], "small", "2"), at, 1, top)
        grid.addWidget(Paragraph(shown(description), "small", "2"), at, 2, top)
    if len(params) > MAX_PARAMS:
        grid.addWidget(Text(f"and {len(params) - MAX_PARAMS} more, see JSON", "small", "3"), MAX_PARAMS, 0)
    return holder
