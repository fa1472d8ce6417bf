"""Forking: from which turn, and what one side gets instead; and both branches beside each other."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from desktop.domain.debates import DebateSetup, DebateState
from desktop.domain.definitions import SIDES, SideName
from desktop.presenter.debates.items import TurnItem, common_item
from desktop.presenter.debates.open import OpenDebate
from desktop.presenter.debates.page import DebatesViewModel
from desktop.presenter.debates.setup import DebateSetupViewModel
from desktop.presenter.debates.words import label_of, prompt_words
from desktop.presenter.transcript.items import TranscriptItem
from desktop.ui.debates.lanes import debate_view
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.fields import Combo, Labelled, TextArea
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Text

Models = list[tuple[str, object]]
WRITTEN = "Written below"
"""In place of a skill's name, for a side whose prompt is the text."""


class ForkDialog(Dialog):
    """From a turn, with one side's model, prompt or prompt text changed. ``setup`` and ``turn`` are what was chosen."""

    help_page = "debates"

    def __init__(
        self, window: QWidget, state: DebateState, turn: int, models: Models, offers: DebateSetupViewModel
    ) -> None:
        answers = (DialogAnswer("cancel", "Cancel", key="Esc"), DialogAnswer("fork", "Fork", "primary"))
        words = "Everything up to this turn is shared, nothing is copied. The fork waits until you resume it."
        super().__init__(window, "Fork this debate", words, answers, width=560)
        self._state = state
        row = Row(spacing=12)
        self.turn_box = Combo("After turn")
        self.turn_box.fill([("the topic", 0), *((f"turn {n}", n) for n in range(1, state.turn + 1))], turn)
        row.addWidget(Labelled("After", self.turn_box), 1)
        self.side_box = Segmented("Side that changes", tuple((s, label_of(state.setup.side(s), s)) for s in SIDES))
        row.addWidget(Labelled("Side that changes", self.side_box), 2)
        self.body.addLayout(row)
        self.model_box, self.prompt_box = Combo("Model"), Combo("Prompt")
        self._models, self._offers = models, offers
        both = Row(spacing=12)
        both.addWidget(Labelled("Model", self.model_box), 1)
        both.addWidget(Labelled("Prompt", self.prompt_box), 1)
        self.body.addLayout(both)
        self.text = TextArea("Prompt text", hint="Leave empty to use the prompt as it is")
        sized(self.text, height=96)
        self.body.addWidget(Labelled("Prompt text, in this fork only", self.text))
        self.side_box.chosen.connect(lambda _: self._fill())
        self._fill()
        offers.loaded.connect(self._offer)
        offers.reload()

    @property
    def side(self) -> SideName:
        """The side that is changed in the copy."""
        return "a" if self.side_box.value == "a" else "b"

    def _fill(self) -> None:
        side = self._state.setup.side(self.side)
        known = {data for _, data in self._models}
        extra: Models = [] if side.model in known else [(side.model or "The default model", side.model)]
        self.model_box.fill([*extra, *self._models], side.model)
        self._fill_prompts(side.prompt)
        self.text.setPlainText(side.prompt_text)

    def _offer(self) -> None:
        """The prompts that there are by now; what is chosen stays."""
        self._fill_prompts(str(self.prompt_box.currentData()))

    def _fill_prompts(self, chosen: str) -> None:
        names = dict.fromkeys((self._state.setup.side(self.side).prompt, *self._offers.prompts))
        self.prompt_box.fill([(name or WRITTEN, name) for name in names], chosen)

    @property
    def turn(self) -> int:
        """The number of the turn after which the copy goes on."""
        return int(self.turn_box.currentData())

    @property
    def setup(self) -> DebateSetup:
        """The origin's, with what was changed."""
        side = self._state.setup.side(self.side)
        changed = replace(
            side,
            model=str(self.model_box.currentData()),
            prompt=str(self.prompt_box.currentData()),
            prompt_text=self.text.toPlainText().strip(),
        )
        setup = self._state.setup.with_side(self.side, changed)
        room = None if setup.max_turns is None else max(setup.max_turns, self.turn + 2)
        return replace(setup, max_turns=room)


class Branch(QFrame):
    """One of two branches: its name and its turns after the fork."""

    def __init__(self, debate: OpenDebate, name: str) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self._debate, self._name, self.after = debate, name, 0
        self._unread = True
        self.view = debate_view(arrangement="column")
        self.view.setAccessibleName(f"Turns of the {name.lower()}")
        self._words = Text(name, "strong", elide="right")
        column = Column(self, spacing=0)
        head = pane("header")
        row = Row(head, margins=(16, 8, 16, 8))
        row.addWidget(self._words, 1)
        column.addWidget(head)
        column.addWidget(self.view, 1)
        debate.items_reset.connect(lambda _: self.draw())
        debate.items_prepended.connect(lambda _: self.draw())
        debate.state_changed.connect(self._named)
        debate.item_added.connect(self._put)
        debate.item_changed.connect(self._put)
        debate.text_appended.connect(self.view.append_text)

    def _named(self, state: DebateState) -> None:
        self._words.setText(f"{self._name} · {', '.join(side_words(state, side) for side in SIDES)}")

    def draw(self) -> None:
        """The topic, what both share in one line, then the branch."""
        kept: list[TranscriptItem] = [common_item(self.after)]
        below = self.after == 0
        for item in self._debate.items.values():
            if isinstance(item, TurnItem) and item.number <= self.after:
                below = item.number == self.after
            elif below or item.message_id.startswith("debate:"):
                kept.append(item)
        self.view.set_items([item for item in kept if item.author != "Topic"])
        self.view.scroll_to(kept[0].message_id)
        self._unread = True

    def _put(self, item: TranscriptItem) -> None:
        if not isinstance(item, TurnItem) or item.number > self.after:
            self.view.change_item(item)
            if item.live and self._unread:
                self._unread = False
                self.view.scroll_to_end()  # from where the branches part to what is said now; then as the reader likes


def side_words(state: DebateState, name: SideName) -> str:
    """A side's label with its model, prompt, and whether it has a text of its own."""
    side = state.setup.side(name)
    own = " with its own text" if side.prompt and side.prompt_text else ""
    return f"{label_of(side, name)}: {side.model.partition('/')[2] or 'default model'}, {prompt_words(side)}{own}"


class Comparison(QFrame):
    """Origin at the left, fork at the right; both begin at the turn where they part."""

    closed = Signal()
    opened = Signal(str)

    def __init__(self, debates: DebatesViewModel) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self._debates = debates
        self.origin = Branch(debates.beside, "Origin")
        self.fork = Branch(debates.open, "Fork")
        column = Column(self, spacing=0)
        bar = pane("bg")
        row = Row(bar, margins=(24, 8, 24, 8), spacing=8)
        self._words = Text("", "small", "2", elide="right")
        row.addWidget(self._words, 1)
        self.origin_button = Button("Open the origin", "quiet", small=True)
        self.close_button = Button("Show the fork alone", small=True, icon="close")
        row.addWidget(self.origin_button)
        row.addWidget(self.close_button)
        column.addWidget(bar)
        both = Row(spacing=0)
        both.addWidget(self.origin, 1)
        both.addWidget(pane("line-v"))
        both.addWidget(self.fork, 1)
        column.addLayout(both, 1)
        self.close_button.clicked.connect(self.closed)
        self.origin_button.clicked.connect(lambda: self.opened.emit(debates.beside.thread_id))

    def compare(self, state: DebateState) -> None:
        """The open debate with the one it was forked from."""
        for branch in (self.origin, self.fork):
            branch.after = state.forked_at
        after = f"turn {state.forked_at}" if state.forked_at else "the topic"
        self._words.setText(f"Both branches after {after}: the origin at the left, the fork at the right")
        self._debates.beside.open(state.forked_from)
        self.fork.draw()
