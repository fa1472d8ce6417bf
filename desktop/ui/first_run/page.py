"""Who should answer? A local server, a provider's key, or the demo model, which is no AI and says so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QWidget

from desktop.presenter.settings.local_starts import LocalStartsViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.ui.settings.models.local_card import CardHead, LocalCard
from desktop.ui.settings.models.provider_form import ProviderForm
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Scroller
from desktop.ui.widgets.marks import Badge, Icon
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Heading, Paragraph, Text

DEMO_SHOWS = (
    ("write", "a tool call that wants to write a file"),
    ("approvals", "the question you get, with the diff"),
    ("folder", "what happens outside the boundary"),
)
NARROW = 960
"""Width of the page below which the three ways stand below each other."""
BESIDE = 424
"""Least height of a way beside the others; below each other each is as high as what it says."""


class FirstRunParts:
    """What of the page takes longest to make. A start makes each in a turn of its own, to not hold the window up."""

    def __init__(self, setup: ModelSetupViewModel, starts: LocalStartsViewModel) -> None:
        self._setup, self._starts = setup, starts

    @cached_property
    def scroller(self) -> Scroller:
        """What everything else stands in."""
        return Scroller(margins=(64, 24, 64, 24), spacing=8)

    @cached_property
    def local(self) -> LocalCard:
        """Servers on this machine."""
        return LocalCard(self._setup, self._starts)

    @cached_property
    def keyed(self) -> tuple[QFrame, ProviderForm]:
        """Providers that want a key."""
        return _key_card(self._setup)

    def made_in_turns(self) -> Iterator[QWidget]:
        """Make the parts of the page one after the other, for the start to do so in turns."""
        yield self.scroller
        yield self.local
        yield self.keyed[0]


class FirstRunPage(QFrame):
    """``demo_folder`` is where the demo may write, as shown to the person."""

    def __init__(
        self,
        setup: ModelSetupViewModel,
        starts: LocalStartsViewModel,
        demo_folder: str = "~/.agent/workspace/demo",
        *,
        parts: FirstRunParts | None = None,
    ) -> None:
        super().__init__()
        self._setup = setup
        parts = parts or FirstRunParts(setup, starts)
        self.setProperty("pane", "bg")
        scroller = parts.scroller
        Column(self, spacing=0).addWidget(scroller)
        column = scroller.column
        column.addStretch(1)
        column.addWidget(Heading("Who should answer?", "display"))
        column.addWidget(
            Paragraph("Choose one to start with. Add others later; you can use several at once.", "reading", "2")
        )
        column.addSpacing(theme().px(16))
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._cards.setSpacing(theme().px(16))
        self.local = parts.local
        self.local.use.connect(setup.use)
        self.key_card, self.form = parts.keyed
        self.demo = Button("Start the demo", icon="play", tip="Talk to a built-in script; it is not an AI")
        self.demo.clicked.connect(setup.start_demo)
        self._demo_card = _demo_card(self.demo, demo_folder)
        for card in (self.local, self.key_card, self._demo_card):
            self._cards.addWidget(card)
        self._arrange(narrow=False)
        column.addLayout(self._cards)
        column.addSpacing(theme().px(16))
        column.addLayout(_promise())
        column.addStretch(1)
        self.form.kept.connect(self._kept)
        setup.look()
        starts.look()

    def first_focus(self) -> QWidget:
        """Keys go to the best way on."""
        return self.local.use_button if self.local.chosen is not None else self.demo

    def _kept(self, provider: str) -> None:
        """A tested connection has models: its first one becomes the model of new chats."""
        models = [m for m in self._setup.models if m.ref.connection_id.startswith(provider)]
        if models:
            self._setup.use(str(models[0].ref))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Below each other when there is no room side by side."""
        super().resizeEvent(event)
        narrow = self.width() < theme().px(NARROW)
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if way != self._cards.direction():
            self._cards.setDirection(way)
            self._arrange(narrow)

    def _arrange(self, narrow: bool) -> None:
        """Below each other the demo, which has the keys where no server was found, is before the longer form."""
        self._cards.removeWidget(self._demo_card)
        self._cards.insertWidget(1 if narrow else 2, self._demo_card)
        for card in (self.local, self.key_card, self._demo_card):
            sized(card, min_height=0 if narrow else BESIDE)
            self._cards.setStretchFactor(card, 0 if narrow else 1)


def _key_card(setup: ModelSetupViewModel) -> tuple[QFrame, ProviderForm]:
    card = _card("With a provider key")
    column = Column(card, margins=20, spacing=8)
    column.addLayout(CardHead("key", "With a provider key", QWidget()))
    column.addWidget(Paragraph("Your messages go to the provider you choose, and cost what it charges.", "body", "2"))
    column.addSpacing(theme().px(4))
    form = ProviderForm(setup)
    column.addWidget(form)
    column.addStretch(1)
    column.addWidget(form.buttons_row())
    return card, form


def _demo_card(start: Button, folder: str) -> QFrame:
    card = _card("Look around first")
    column = Column(card, margins=20, spacing=8)
    column.addLayout(CardHead("demo", "Look around first", Badge("not-an-ai")))
    words = "A built-in script plays the model. It works without a network and costs nothing. In about a minute you see"
    column.addWidget(Paragraph(words, "body", "2"))
    column.addSpacing(theme().px(4))
    for icon, text in DEMO_SHOWS:
        row = Row(spacing=12)
        row.addWidget(Icon(icon, "text-2", 18))
        row.addWidget(Paragraph(text), 1)
        holder = sized(QWidget(), min_height=24)
        holder.setLayout(row)
        column.addWidget(holder)
    column.addSpacing(theme().px(8))
    column.addWidget(
        Paragraph(
            [("It writes only into a new folder, ", ""), (folder, "mono"), (", and only if you allow it.", "")],
            "small",
            "3",
        )
    )
    column.addStretch(1)
    foot = Row(spacing=8)
    foot.addWidget(start)
    foot.addStretch(1)
    column.addLayout(foot)
    return card


def _card(name: str) -> QFrame:
    card = QFrame()
    card.setProperty("pane", "card")
    card.setAccessibleName(name)
    return card


def _promise() -> Row:
    row = Row(spacing=8)
    row.addWidget(Icon("approvals", "accent-text", 20))
    words = "Whichever you choose: nothing is written or run that you did not agree to."
    row.addWidget(Paragraph(words, "body", "2"), 1)
    row.addWidget(Icon("keyboard", "text-2", 16))
    row.addWidget(Text("Ctrl+K finds everything", "small", "2"))
    return row
