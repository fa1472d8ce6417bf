"""The form of a server's prompt, or of a family of its resources: a field a value, with what the server proposes.

All texts of the server stand as plain text, under a line that says whose they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.servers.mcp import McpArgument, McpPrompt, McpPromptText, McpTemplate
from desktop.presenter.chat.from_servers import Fillable, FromServers
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Field, Labelled, MonoView
from desktop.ui.widgets.layout.containers import Scroller, clear
from desktop.ui.widgets.marks import Icon
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown, shown_line
from desktop.ui.widgets.text import Paragraph, Text

PROPOSED = 6
"""Values of the server that are shown under a field."""
WAIT_MS, PREVIEW_MS = 200, 600
MAX_FIELDS = 20
MAX_PREVIEW = 8_000
PREVIEW_ROWS = 9


class ValueField(QWidget):
    """One value: a field, and under it what the server proposes, which Up, Down and Enter choose from."""

    edited = Signal()
    asks = Signal(str, str)

    def __init__(self, argument: McpArgument) -> None:
        super().__init__()
        self.name, self.required = argument.name, argument.required
        caption = shown_line(argument.title or argument.name)[:80]
        self.field = Field(caption)
        row = Column(self, spacing=4)
        self.labelled = Labelled(
            caption if self.required else f"{caption}, may be left out", self.field, shown(argument.description)[:400]
        )
        row.addWidget(self.labelled)
        self._proposed = pane("card")
        self._values = Column(self._proposed, margins=4, spacing=0)
        row.addWidget(self._proposed)
        self._proposed.hide()
        self._buttons: list[Button] = []
        self._ask = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._ask.timeout.connect(lambda: self.asks.emit(self.name, self.field.text()))
        self.field.textEdited.connect(self._edited)
        self.field.installEventFilter(self)

    @property
    def value(self) -> str:
        """What is written."""
        return self.field.text().strip()

    def _edited(self) -> None:
        self.labelled.set_error("")
        self._ask.start()
        self.edited.emit()

    def propose(self, typed: str, values: Sequence[str]) -> None:
        """What the server knows for what was typed; of no use once something else is written."""
        if typed != self.field.text():
            return
        clear(self._values)
        self._buttons = []
        for value in [one for one in values if one != typed][:PROPOSED]:
            button = Button(shown_line(value)[:80], "quiet", small=True)
            button.clicked.connect(lambda _=False, value=value: self.take(value))
            button.installEventFilter(self)
            self._values.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            self._buttons.append(button)
        self._proposed.setVisible(bool(self._buttons))

    def take(self, value: str) -> None:
        """A proposed value was chosen."""
        self.field.setText(value)
        self._proposed.hide()
        self._buttons = []
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.labelled.set_error("")
        self.edited.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down goes to what is proposed, Up comes back."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._buttons:
            order: list[QWidget] = [self.field, *self._buttons]
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None and isinstance(watched, QWidget) and watched in order:
                order[(order.index(watched) + step) % len(order)].setFocus(Qt.FocusReason.TabFocusReason)
                return True
        return super().eventFilter(watched, event)


class FillIn(QFrame):
    """``done``: it is in the message, or in its text (``as_text``); ``left``: back to the list."""

    done = Signal()
    as_text = Signal(str)
    left = Signal()

    def __init__(self, servers: FromServers) -> None:
        super().__init__()
        self.setProperty("pane", "surface-side")
        self._servers = servers
        self._of: Fillable | None = None
        self.fields: list[ValueField] = []
        self._said: tuple[dict[str, str], McpPromptText] | None = None
        self._asked: dict[str, str] | None = None
        self._wanted = ""
        column = Column(self, spacing=0)
        self.scroller = Scroller(margins=(16, 12, 16, 8), spacing=8)
        column.addWidget(self.scroller, 1)
        inside = self.scroller.column
        self._title = Paragraph("", "strong")
        inside.addWidget(self._title)
        whose = Row(spacing=6)
        whose.addWidget(Icon("server", "text-2", 14, line="small"), 0, Qt.AlignmentFlag.AlignTop)
        self._whose = Paragraph("", "small", "2")
        whose.addWidget(self._whose, 1)
        inside.addLayout(whose)
        self._form = Column(spacing=8)
        inside.addLayout(self._form)
        self._will = Text("", "small", "2")
        inside.addWidget(self._will)
        self.preview = MonoView("What it will say", "", wrap=True)
        self.preview.setFixedHeight(theme().px(18 * PREVIEW_ROWS + 8))
        inside.addWidget(self.preview)
        inside.addStretch(1)
        column.addWidget(self._make_foot())
        self._look = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._look.timeout.connect(self._ask_for_preview)
        servers.completed.connect(self._propose)
        servers.previewed.connect(self._show_preview)

    def _make_foot(self) -> QWidget:
        foot = pane("footer")
        row = Row(foot, margins=(12, 8, 12, 8), spacing=8)
        self.back = Button("Back", "quiet", key="Esc", small=True, shrinks=True)
        self.back.clicked.connect(self.left)
        row.addWidget(self.back)
        row.addStretch(1)
        self.text = Button("Put in as text", "quiet", small=True, shrinks=True)
        self.text.clicked.connect(lambda: self._put("text"))
        self.put = Button("Put in", "primary", key="Enter", small=True)
        self.put.clicked.connect(lambda: self._put("card"))
        row.addWidget(self.text)
        row.addWidget(self.put)
        return foot

    # -- what it shows ------------------------------------------------------------------------------------------------

    def show_for(self, of: Fillable, where: str) -> None:
        """The form of another prompt or family; ``where`` its server is."""
        self._of, self._said, self._asked, self._wanted = of, None, None, ""
        is_prompt = isinstance(of, McpPrompt)
        self.setAccessibleName(f"{of.title or of.name} of {of.server}")
        self._title.set_pieces(shown(of.title or of.name or (of.template if isinstance(of, McpTemplate) else "")))
        who = shown_line(where or of.server)
        says = f" It says: {shown(of.description)[:600]}" if of.description else ""
        self._whose.set_pieces(f"{who} wrote this prompt.{says}" if is_prompt else f"Of {who}.{says}")
        clear(self._form)
        self.fields = [ValueField(one) for one in _arguments(of)[:MAX_FIELDS]]
        for field in self.fields:
            field.edited.connect(self._edited)
            field.asks.connect(self._complete)
            field.field.returnPressed.connect(lambda: self._put("card"))
            self._form.addWidget(field)
        self.text.setVisible(is_prompt)
        self.put.setEnabled(True)
        self._say("", "")
        self._edited()

    def first_focus(self) -> QWidget:
        """Keys go to the first value; without one to the button that puts it in."""
        return self.fields[0].field if self.fields else self.put

    @property
    def values(self) -> dict[str, str]:
        """What is filled in; what was left out is not there."""
        return {field.name: field.value for field in self.fields if field.value}

    @property
    def _missing(self) -> list[ValueField]:
        return [field for field in self.fields if field.required and not field.value]

    def _say(self, caption: str, text: str) -> None:
        self._will.setText(caption)
        self._will.setVisible(bool(caption))
        self.preview.setPlainText(shown(text[:MAX_PREVIEW]))
        self.preview.setVisible(bool(text))

    # -- what the server says -----------------------------------------------------------------------------------------

    def _complete(self, argument: str, typed: str) -> None:
        if self._of is not None:
            context = {name: value for name, value in self.values.items() if name != argument}
            self._servers.complete(self._of, argument, typed, context)

    def _propose(self, argument: str, typed: str, values: Sequence[str]) -> None:
        for field in self.fields:
            if field.name == argument:
                field.propose(typed, values)

    def _edited(self) -> None:
        self._wanted = ""
        self.put.setEnabled(True)
        if isinstance(self._of, McpPrompt) and not self._missing:
            self._look.start()
        else:
            self._look.stop()

    def _ask_for_preview(self) -> None:
        of, values = self._of, self.values
        if isinstance(of, McpPrompt) and self._asked != values:
            self._asked = values
            if self._said is None:
                self._say(f"Asking {shown_line(of.server)} what it will say", "")
            self._servers.preview(of, values)

    def _show_preview(self, values: dict[str, str], said: object) -> None:
        if values != self._asked:
            return
        if isinstance(said, McpPromptText):
            self._said = (values, said)
            count = len(said.messages)
            self._say(f"What it will say, {count} message{'s' * (count != 1)}", said.text)
            if self._wanted:
                self._put(self._wanted)
        else:
            self._asked = None
            self._wanted = ""
            self.put.setEnabled(True)
            self._say("It said nothing", str(said))

    # -- putting it in ------------------------------------------------------------------------------------------------

    def _put(self, how: str) -> None:
        if missing := self._missing:
            missing[0].labelled.set_error("This is needed.")
            missing[0].field.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        of, values = self._of, self.values
        if isinstance(of, McpTemplate):
            self._servers.take_filled(of, values)
            self.done.emit()
        elif isinstance(of, McpPrompt):
            if self._said is None or self._said[0] != values:
                self._wanted = how
                self.put.setEnabled(False)
                self._look.stop()
                self._ask_for_preview()
                return
            self._wanted = ""
            if how == "text":
                self.as_text.emit(self._said[1].text)
            else:
                self._servers.take_prompt(of, self._said[1])
            self.done.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back to the list."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


def _arguments(of: Fillable) -> tuple[McpArgument, ...]:
    if isinstance(of, McpPrompt):
        return of.arguments
    return tuple(McpArgument(name, required=True) for name in of.variables)
