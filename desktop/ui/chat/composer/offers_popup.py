"""The list of offers over the composer, and beside it the form of what asks for values first."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QWidget

from desktop.domain.servers.mcp import McpPrompt, McpResource, McpTemplate
from desktop.presenter.chat.from_servers import FromServers
from desktop.presenter.chat.state import Offer
from desktop.ui.chat.composer.fill_in import FillIn
from desktop.ui.chat.composer.look_inside import LookInside
from desktop.ui.chat.composer.offered import ROW, OfferList
from desktop.ui.chat.composer.view import Composer
from desktop.ui.theme import theme

BESIDE = 640
"""Pixels at 100 % from which on the form stands beside the list, and not in its place."""
FORM_HEIGHT = 460


class OffersPopup(OfferList):
    """Stands over ``composer``, as wide as it, on ``page``."""

    def __init__(self, page: QWidget, composer: Composer, servers: FromServers) -> None:
        super().__init__(page)
        self._page, self._composer, self._servers = page, composer, servers
        self._form: FillIn | None = None
        self._inside: LookInside | None = None
        self._of: tuple[str, str] = ("", "")
        self._moved = False
        self.chosen.connect(self._take)
        composer.installEventFilter(self)
        servers.others.connect(self._offers_are_others)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The composer grows with what is in it."""
        if watched is self._composer and event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self.isVisible():
            if self.is_wide:
                self.setFixedWidth(self._composer.width())
            self._place()
        return super().eventFilter(watched, event)

    @property
    def form(self) -> FillIn:
        """The form, made when it is first wanted."""
        if self._form is None:
            form = self._form = FillIn(self._servers)
            form.hide()
            self._content.addWidget(form, 1)
            form.left.connect(self._back)
            form.done.connect(self._done)
            form.as_text.connect(self._composer.complete)
        return self._form

    @property
    def is_filling(self) -> bool:
        """Whether a form is open, which has the keys."""
        return self.isVisible() and self._form is not None and not self._form.isHidden()

    def show_offers(self, prefix: str, word: str, offers: tuple[Offer, ...]) -> None:
        """Show what fits the word that is typed; without any, nothing stands there."""
        for beside in (self._form, self._inside):
            if beside is not None:
                beside.hide()
        again = (prefix, word) == self._of and self.isVisible()
        self._of, self._moved = (prefix, word), again and self._moved
        stays = self.marked if self._moved else None
        self.side.show()
        self.setVisible(bool(offers))
        if offers:
            above = self._corner().y() - theme().px(12)
            self.fill(offers, word, prefix=prefix, room=self._composer.width(), most=above, stays=stays)
            self._place()
        self._composer.text.offers_open = self.isVisible() and self.count > 0
        self._say_look()

    def _offers_are_others(self) -> None:
        """Servers' offers came or went: the list that is open follows, and one that found nothing may open."""
        if self._composer.text.hasFocus() and not self.is_filling and not self.is_looking:
            self._composer.ask_for_offers()

    # -- looking inside -----------------------------------------------------------------------------------------------

    def step(self, delta: int) -> None:
        """Move the mark; what is looked at is another one then."""
        self._close_look()
        super().step(delta)
        self._moved = True
        self._say_look()

    def _say_look(self) -> None:
        """Space looks inside a marked resource; while a word is typed it ends the word, unless a person stepped."""
        marked = self.marked
        can = isinstance(marked.item, McpResource) if marked is not None else False
        self._composer.text.offers_look = can and (self._moved or not self._of[1])

    @property
    def is_looking(self) -> bool:
        """Whether the inside of a resource is shown."""
        return self.isVisible() and self._inside is not None and not self._inside.isHidden()

    def look(self) -> None:
        """Show what is in the marked resource, or no longer."""
        marked = self.marked
        if self.is_looking:
            self._close_look()
        elif marked is not None and isinstance(marked.item, McpResource):
            if self._inside is None:
                self._inside = LookInside(self._servers)
                self._content.addWidget(self._inside, 1)
            self._inside.show_for(marked.item, self._servers.place_of(marked.item.server))
            self._show_beside(self._inside)

    def _close_look(self) -> None:
        if self.is_looking and self._inside is not None:
            self._inside.hide()
            self._moved = True
            self._composer.ask_for_offers()

    def _corner(self) -> QPoint:
        return self._composer.mapTo(self._page, self._composer.rect().topLeft())

    def _place(self) -> None:
        corner = self._corner()
        over = self.height() + theme().px(10) - corner.y()
        if over > 0:  # the composer has grown below it
            self.rows.setFixedHeight(max(theme().px(ROW), self.rows.height() - over))
            for beside in (self._form, self._inside):
                if beside is not None and not beside.isHidden():
                    beside.setFixedHeight(max(theme().px(ROW), beside.height() - over))
            self.fit()
        self.move(corner.x(), corner.y() - self.height() - theme().px(6))
        self.raise_()

    def _take(self, offer: Offer) -> None:
        item = offer.item
        if isinstance(item, McpResource):
            self._composer.complete("")
            self._servers.take(item)
        elif isinstance(item, McpPrompt | McpTemplate):
            self._fill_in(item)
        else:
            self._composer.complete(offer.insert)

    def _fill_in(self, item: McpPrompt | McpTemplate) -> None:
        self.form.show_for(item, self._servers.place_of(item.server))
        self._show_beside(self.form)
        self.form.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_beside(self, panel: QWidget) -> None:
        """Beside the list, or in its place where there is no room for both."""
        px, room = theme().px, self._composer.width()
        self.side.setVisible(room >= px(BESIDE))
        panel.show()
        height = min(px(FORM_HEIGHT), self._corner().y() - px(12))
        self.setFixedWidth(room)
        self.is_wide = True
        self.foot.hide()
        self.rows.setFixedHeight(max(px(64), height - px(14)))
        panel.setFixedHeight(height - 2)
        self.fit()
        self._place()

    def _back(self) -> None:
        """To the list: keys are in the composer again, which asks for offers anew."""
        self.form.hide()
        self._composer.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self._composer.ask_for_offers()

    def _done(self) -> None:
        self.form.hide()
        self._composer.complete("")
        self._composer.ask_for_offers()
