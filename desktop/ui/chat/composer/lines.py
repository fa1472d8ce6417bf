"""Lines above the composer's text: queued messages, each with a cross, and what is waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.messages import Block
from desktop.ui.widgets.controls.buttons import Button, IconButton
from desktop.ui.widgets.layout.containers import clear
from desktop.ui.widgets.marks import Icon, StateLabel
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Text

SOON_MS = 600
"""Milliseconds after a run in which the next waiting message usually goes out by itself."""

SHOWN = 4
"""Lines shown by name; more are counted."""


@dataclass(frozen=True, slots=True)
class ComposerLine:
    """``icon``, the text, a note at the right, and what the cross calls it."""

    icon: str
    text: str
    note: str
    what: str


class _LineRow(QWidget):
    removed = Signal()

    def __init__(self, line: ComposerLine) -> None:
        super().__init__()
        row = Row(self, spacing=8)
        row.addWidget(Icon(line.icon, "text-2", 16))
        row.addWidget(Text(" ".join(line.text[:500].split()), "small", "2", elide="right"), 1)
        if line.note:
            row.addWidget(Text(line.note, "small", "3"))
        cross = IconButton("close", f"Remove {line.what}", side=20, glyph_side=14)
        cross.clicked.connect(self.removed)
        row.addWidget(cross)


class ComposerLines(QWidget):
    """A column of lines; hidden while empty."""

    def __init__(self) -> None:
        super().__init__()
        self._column = Column(self, spacing=4)
        self.setVisible(False)

    def show_lines(self, lines: Sequence[ComposerLine], removed: Callable[[int], None]) -> None:
        """Show these lines; ``removed(i)`` is called when the cross of line i is pressed."""
        clear(self._column)
        for place, line in enumerate(lines[:SHOWN]):
            row = _LineRow(line)
            row.removed.connect(lambda place=place: removed(place))
            self._column.addWidget(row)
        if len(lines) > SHOWN:
            self._column.addWidget(Text(f"and {len(lines) - SHOWN} more", "small", "3"))
        self.setVisible(bool(lines))
        self.updateGeometry()


class ReadingBar(QWidget):
    """What is being read for the message; ``stop``: the person does not wait for it."""

    def __init__(self, stop: str = "Do not wait", tip: str = "Take the message back") -> None:
        super().__init__()
        row = Row(self, spacing=8)
        self._state = StateLabel()
        row.addWidget(self._state)
        self._words = Text("", "small", "2", elide="right")
        row.addWidget(self._words, 1)
        self.stop = Button(stop, "quiet", small=True, tip=tip)
        row.addWidget(self.stop)
        self.hide()

    def say(self, words: str) -> None:
        """Say what is read; "" when it is over."""
        self._words.setText(shown_line(words))
        self._state.set_state("running" if words else "", "reading")
        self.setVisible(bool(words))


class WaitingBar(QWidget):
    """What to do with messages that wait while nothing runs."""

    def __init__(self, send_next: Callable[[], None], clear_all: Callable[[], None]) -> None:
        super().__init__()
        row = Row(self, spacing=8)
        self._words = Text("", "small", "2", elide="right")
        row.addWidget(self._words, 1)
        self.clear = Button("Clear", "quiet", small=True, tip="Take back all that waits")
        self.send = Button("Send next", small=True, tip="Send the first of them now")
        self.clear.clicked.connect(clear_all)
        self.send.clicked.connect(send_next)
        row.addWidget(self.clear)
        row.addWidget(self.send)
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self.show)
        self.hide()

    def show_for(self, count: int, *, running: bool, held: bool) -> None:
        """``count`` messages wait for the person; 0: none does. Those that no Stop holds may be going out right now."""
        noun = "message waits" if count == 1 else "messages wait"
        self._words.setText(f"{count} {noun} until you send {'it' if count == 1 else 'them'}.")
        self.send.setEnabled(not running)
        self._soon.stop()
        if count and not held and self.isHidden():
            self._soon.start()
        else:
            self.setVisible(count > 0)


class UnseenNote(Text):
    """Says before a message is sent what the model does not see of it; ``words`` knows that."""

    def __init__(self) -> None:
        super().__init__("", "small", "ask", elide="right")
        self.words: Callable[[Sequence[Block]], str] = lambda _: ""
        self._blocks: Sequence[Block] = ()
        self.hide()

    def show_for(self, blocks: Sequence[Block]) -> None:
        """For what goes out with the message."""
        self._blocks = tuple(blocks)
        self.again()

    def again(self) -> None:
        """What is known of the model may be another."""
        said = self.words(self._blocks)
        self.setText(said)
        self.setVisible(bool(said))
