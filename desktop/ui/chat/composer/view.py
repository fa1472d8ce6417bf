"""The composer: queued messages, attachments, the text, and a bar with agent, model, Stop and Send."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from desktop.domain.messages import Block, GivenBlock
from desktop.presenter.chat.other_agent import OtherAgentShown
from desktop.presenter.chat.state import Meters, QueuedMessage, RunState
from desktop.presenter.common.model_rows import plain_name
from desktop.ui.chat.composer.chips import AttachmentChips, chips_of
from desktop.ui.chat.composer.effort_button import EffortButton
from desktop.ui.chat.composer.granted import GrantBar
from desktop.ui.chat.composer.lines import ComposerLine, ComposerLines, ReadingBar, UnseenNote, WaitingBar
from desktop.ui.chat.composer.text import ComposerText
from desktop.ui.documents.unlock import UnlockBar
from desktop.ui.theme import theme
from desktop.ui.theme.agent_looks import agent_icon
from desktop.ui.theme.paint import outline
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text
from desktop.ui.widgets.tips import plain_tip

SMALLEST = 300
"""Narrower than this many pixels (at 100 %) it never gets; its bar then shows only what is needed."""

NARROW = 460
"""Below this width Stop and Send are their icons."""


class Composer(QFrame):
    """Where a person writes. Knows nothing of threads: it says what was pressed."""

    send = Signal(str, object)
    draft_changed = Signal(str, object)
    queued_removed = Signal(str)
    send_next = Signal()
    queue_cleared = Signal()
    offers_wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._attachments: list[Block] = []
        self._newer: dict[tuple[str, str], str] = {}
        """Of resources that wait here: since when the server has another version, in words."""
        self._queue: tuple[QueuedMessage, ...] = ()
        self._state = RunState()
        self.text = ComposerText()
        self._queue_lines, self.chips, self.reading = ComposerLines(), AttachmentChips(), ReadingBar()
        self.attaching = ReadingBar("Stop", "Do not attach it")
        self.locked = UnlockBar("Leave out")
        self.granted = GrantBar()
        self.held = WaitingBar(self.send_next.emit, self.queue_cleared.emit)
        self.attach = IconButton("attach", "Attach files, documents or images", side=24)
        self.agent = Button("Assistant", "quiet", icon="agent", small=True, chevron=True, shrinks=True)
        self.model = Button("Choose a model", "quiet", icon="model", small=True, chevron=True, shrinks=True)
        self.code = IconButton("code", "Calls its tools in code", side=24)
        self.code.hide()
        self.mode = Button("Mode", "quiet", small=True, chevron=True, shrinks=True)
        self.mode.hide()
        self.effort = EffortButton()
        self._own: OtherAgentShown | None = None
        self._model_label = "Choose a model"
        self.stop = Button("Stop", icon="stop", key="Ctrl+.", tip="Stop the run (Ctrl+.)")
        self._send = Button("Send", "primary", icon="send")
        self._lay_out()
        self.text.send_pressed.connect(self.submit)
        self._send.clicked.connect(self.submit)
        self.text.textChanged.connect(self._changed)
        self.text.focus_changed.connect(lambda _: self.update())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        sized(self, min_width=SMALLEST)
        self.unknown_name: Callable[[str], str] = lambda _: ""
        """The name of no skill that a message begins with, or ""."""
        self._told = ""
        self._scale = 1.0
        self.show_state(self._state)

    def _lay_out(self) -> None:
        column = Column(self, margins=(16, 12, 8, 8), spacing=10)
        column.addWidget(self.granted)
        column.addWidget(self._queue_lines)
        column.addWidget(self.held)
        column.addWidget(self.reading)
        column.addWidget(self.attaching)
        column.addWidget(self.locked)
        column.addWidget(self.chips)
        self.note, self.unseen = Text("", "small", "ask", elide="right"), UnseenNote()
        self.note.hide()
        column.addWidget(self.unseen)
        column.addWidget(self.note)
        column.addWidget(self.text)
        bar = Row(margins=(0, 0, 0, 0), spacing=2)
        skill = Button("/ skill", "quiet", small=True, tip="Use a skill (type /)")
        file = Button("@ file", "quiet", small=True, tip="Name a file, or put in what a server gives (type @)")
        skill.clicked.connect(lambda: self._begin("/"))
        file.clicked.connect(lambda: self._begin("@"))
        self._spare = (skill, file)
        bar.addWidget(self.attach)
        bar.addWidget(skill)
        bar.addWidget(file)
        bar.addSpacing(theme().px(6))
        bar.addWidget(sized(pane("line-v"), height=16))
        bar.addSpacing(theme().px(6))
        bar.addWidget(self.agent)
        bar.addWidget(self.code)
        bar.addWidget(self.mode)
        bar.addWidget(self.model)
        bar.addWidget(self.effort)
        bar.addStretch(1)
        bar.addWidget(self.stop)
        bar.addSpacing(theme().px(4))
        bar.addWidget(self._send)
        column.addLayout(bar)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow, what can also be typed gives way; agent and model then shrink by themselves."""
        super().resizeEvent(event)
        self._show_spare()
        for button in (self.stop, self._send):
            button.set_bare(self.width() < theme().px(NARROW))

    def _show_spare(self) -> None:
        """Whether there is room for what can also be typed: a mode of the agent's own takes it."""
        for button in self._spare:
            button.setVisible(self.width() >= theme().px(600) and self.mode.isHidden())

    def paintEvent(self, event: QPaintEvent) -> None:
        """A rounded field; its outline is ink while keys go here."""
        t = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        radius = t.metric("radius-dialog")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.color("surface"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        focused = self.text.hasFocus()
        outline(painter, box, radius, t.color("text-2" if focused else "control-border"), 1.5 if focused else 1.0)

    # -- what it shows ----------------------------------------------------------------------------------------------

    def show_state(self, state: RunState) -> None:
        """Stop while something runs; Send queues then."""
        self._state = state
        self.stop.setVisible(state.running)
        self.stop.setEnabled(not state.stopping)
        self.stop.set_label("Stopping" if state.stopping else "Stop")
        self._send.set_label("Queue" if state.queues else "Send")
        self._send.set_kind("normal" if state.queues else "primary")
        self._show_held()
        self._show_send()

    def _show_send(self) -> None:
        ready = bool(self._attachments) or not self.text.document().isEmpty()
        self._send.setEnabled(ready and self._state.can_send)
        if not self._state.can_send:
            self._send.setToolTip("Choose a model first")
        else:
            self._send.setToolTip("Send when this run has ended (Enter)" if self._state.queues else "Send (Enter)")

    def show_meters(self, meters: Meters) -> None:
        """The names of agent and model."""
        self.agent.set_label(_short(meters.agent_title))
        self.agent.set_icon(agent_icon(meters.agent))
        self._model_label = _short(meters.model_title) or "Choose a model"
        self.model.set_label(self._model_label)
        agent, named = plain_name(meters.agent_title), plain_name(meters.model_title)
        self.agent.setToolTip(plain_tip(f"{agent}: choose the agent"))
        model = f"{named}: choose the model" if named else "Choose a model"
        self.model.setToolTip(plain_tip(f"{model} (Ctrl+M)"))
        if meters.token_scale != self._scale:
            self._scale = meters.token_scale
            self._show_attachments()
        self.unseen.show_for(self._attachments)
        self.show_own(self._own)

    def show_own(self, agent: OtherAgentShown | None) -> None:
        """The mode and the model of an agent of another maker, as it calls them."""
        was, self._own = self._own, agent
        self.mode.setVisible(agent is not None and bool(agent.mode))
        if agent is not None:
            self.mode.set_label(_short(agent.mode))
            self.model.set_label(_short(agent.model))
            for button, what in ((self.mode, "mode"), (self.model, "model")):
                button.setToolTip(plain_tip(f"Choose the {what} of {agent.title}"))
        elif was is not None:
            self.model.set_label(self._model_label)
        self.effort.show_own(agent is not None)
        self._show_spare()

    def show_mode(self, words: str, *, in_code: bool) -> None:
        """A mark beside the agent while it may write code."""
        self.code.setVisible(in_code)
        self.code.set_name(f"How the agent calls its tools: {words}")

    def show_queue(self, queue: tuple[QueuedMessage, ...]) -> None:
        """Messages that wait for this run, each with a cross."""
        self._queue = queue
        lines = [ComposerLine("queue", entry.text, self._wait_words(entry), "the queued message") for entry in queue]
        self._queue_lines.show_lines(lines, lambda place: self.queued_removed.emit(self._queue[place].queue_id))
        self._show_held()
        self.updateGeometry()

    def _wait_words(self, entry: QueuedMessage) -> str:
        return "held" if entry.held else "waits for this run" if self._state.running else "not sent"

    def _show_held(self) -> None:
        """Whatever waits while nothing runs, or is held back, goes out only when the person says so."""
        held, running = any(entry.held for entry in self._queue), self._state.running
        self.held.show_for(len(self._queue) if held or not running else 0, running=running, held=held)

    @property
    def attachments(self) -> tuple[Block, ...]:
        """What goes out with the text."""
        return tuple(self._attachments)

    def load_draft(self, text: str, attachments: tuple[Block, ...] = ()) -> None:
        """Show a thread's draft without reporting it as typed."""
        self.text.blockSignals(True)
        self.text.setPlainText(text)
        self.text.blockSignals(False)
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self._attachments = list(attachments)
        self._show_attachments()
        self._note_unknown(text)
        self.offers_wanted.emit("", "")

    def add_attachment(self, *blocks: Block) -> None:
        """An attachment was read; it goes out with the next message. Some are more than one block."""
        self._attachments = [*self._attachments, *blocks]
        self._show_attachments()
        self._tell_draft()

    def _show_attachments(self) -> None:
        chips = chips_of(self._attachments, self._newer_of, self._scale)
        self.chips.show_chips([words for words, _ in chips], lambda place: self._remove(*chips[place][1]))
        self.unseen.show_for(self._attachments)
        self.text.updateGeometry()
        self.updateGeometry()
        self._show_send()

    def _newer_of(self, block: Block) -> str:
        waits = isinstance(block, GivenBlock) and block.waits
        return self._newer.get((block.server, block.uri), "") if waits and isinstance(block, GivenBlock) else ""

    def mark_newer(self, server: str, uri: str, words: str) -> None:
        """The server has another version of a resource that waits here."""
        self._newer[(server, uri)] = words
        if any(self._newer_of(block) for block in self._attachments):
            self._show_attachments()

    def _remove(self, *places: int) -> None:
        self._attachments = [block for place, block in enumerate(self._attachments) if place not in places]
        self._show_attachments()
        self._tell_draft()

    # -- what a person does -----------------------------------------------------------------------------------------

    def submit(self) -> None:
        """Send or queue what is written; nothing is cleared before it is handed on. A name of no skill is said
        first."""
        text = self.text.toPlainText()
        if self._note_unknown(text):
            return
        if self._state.can_send and (text.strip() or self._attachments):
            self.send.emit(text, tuple(self._attachments))
            self.load_draft("")

    def _note_unknown(self, text: str) -> bool:
        """Say that the message begins with the name of no skill; whether that is said only now."""
        name = self.unknown_name(text)
        self.note.setText(f"There is no skill “/{name[:60]}” to bring in: this goes as plain text." if name else "")
        self.note.setVisible(bool(name))
        fresh, self._told = bool(name) and name != self._told, name
        return fresh

    def give_back(self, text: str, attachments: tuple[Block, ...]) -> None:
        """What could not be sent comes back, before whatever was written since."""
        later = self.text.toPlainText()
        self._attachments = [*attachments, *self._attachments]
        self._show_attachments()
        self.text.setPlainText(f"{text}\n\n{later}" if later.strip() else text)
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)

    def quote(self, text: str) -> None:
        """Put text as a quotation before what is written."""
        quoted = "\n".join(f"> {line}" for line in text.strip().splitlines())
        self.text.setPlainText(f"{quoted}\n\n{self.text.toPlainText()}")
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self.text.setFocus()

    def _begin(self, prefix: str) -> None:
        cursor = self.text.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        self.text.insertPlainText(prefix if not before or before[-1].isspace() else f" {prefix}")
        self.text.setFocus()

    def _changed(self) -> None:
        self._show_send()
        self._tell_draft()
        word = self.ask_for_offers()
        if word[:1] != "/":  # it is not being typed any more
            self._note_unknown(self.text.toPlainText())

    def ask_for_offers(self) -> str:
        """Offers for the word being typed; returns it."""
        word = self.word_at_cursor()
        self.offers_wanted.emit(word[:1], word[1:])
        return word

    def _tell_draft(self) -> None:
        self.draft_changed.emit(self.text.toPlainText(), self.attachments)

    def word_at_cursor(self) -> str:
        """The word being typed, when it begins with /, $ or @ and the cursor stands at its end; else nothing."""
        cursor = self.text.textCursor()
        line = cursor.block().text()[: cursor.positionInBlock()]
        word = line.rsplit(None, 1)[-1] if line and not line[-1].isspace() else ""
        return word if word[:1] == "@" or (word[:1] in ("/", "$") and "/" not in word[1:]) else ""

    def complete(self, insert: str) -> None:
        """Replace the word being typed; with nothing, it only goes."""
        cursor = self.text.textCursor()
        cursor.beginEditBlock()
        for _ in self.word_at_cursor():
            cursor.deletePreviousChar()
        cursor.insertText(f"{insert} " if insert else "")
        cursor.endEditBlock()
        self.text.setFocus()


def _short(text: str) -> str:
    line = shown_line(text[:60])
    return line if len(line) <= 28 else line[:27] + "…"
