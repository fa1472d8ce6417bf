"""Web search: which service agents search with, the services with their keys, one more."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop.domain.models import Connection
from desktop.presenter.settings.connections.searches import SearchesViewModel
from desktop.ui.settings.models.connections import CardWords, ConnectionCards
from desktop.ui.settings.models.provider_form import ProviderForm
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.layout.containers import Notice, Scroller
from desktop.ui.widgets.marks import StateLabel
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.scaling import Column
from desktop.ui.widgets.text import Paragraph, Text

INTRO = (
    "Agents search the web with the service that you connect. You are asked before it is used, and it sees what is "
    "searched for. Without one agents cannot search; reading pages needs none."
)
SEARXNG = (
    "A SearXNG is a search server of your own: it needs no key, and has to give results as JSON (json under "
    "search.formats in its settings.yml)."
)
WORDS = CardWords(
    "No search service is connected, so agents are not offered a search.",
    "If it was the only one, agents cannot search any more.",
)


class SearchCards(ConnectionCards):
    """The services: the first is in use, each other can be."""

    def __init__(self, searches: SearchesViewModel) -> None:
        self._searches = searches
        super().__init__(searches, WORDS)

    def more(self, connection: Connection) -> list[QWidget]:
        """Whether it is in use, or the button that makes it so."""
        name = connection.connection_id
        if name == self._searches.in_use:
            return [StateLabel("allow", "in use")]
        use = Button("Use this one", "quiet", small=True, tip=f"Agents search with {connection.title} from now on")
        use.clicked.connect(lambda: self._searches.use(name))
        return [use]


class WebSearchPage(Scroller):
    """The page."""

    def __init__(self, searches: SearchesViewModel) -> None:
        super().__init__(margins=(24, 20, 24, 24), spacing=12)
        self._searches = searches
        self.notice = Notice("ask", "")
        self.column.addWidget(self.notice)
        self.column.addWidget(Paragraph(INTRO, "body", "2"))
        self.column.addWidget(Text("Search services", "strong"))
        self.cards = SearchCards(searches)
        self.column.addWidget(self.cards)
        self.column.addWidget(Text("Add a service", "strong"))
        card = pane("card")
        column = Column(card, margins=16, spacing=12)
        self.form = ProviderForm(searches, servers=True, kind="Service")
        self.form.test.set_kind("primary")
        column.addWidget(self.form)
        column.addWidget(self.form.buttons_row())
        self.column.addWidget(card)
        self.column.addWidget(Paragraph(SEARXNG, "small", "2"))
        self.column.addStretch(1)
        searches.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        note = self._searches.keyring_note
        self.notice.setVisible(bool(note))
        if note:
            self.notice.say(note, "ask")
