"""The list of offers over the composer, and beside it the form of what asks for values first."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QWidget

from desktop.domain.mcp import McpPrompt, McpResource, McpTemplate
from desktop.presenter.chat.from_servers import FromServers
from desktop.presenter.chat.state import Offer
from desktop.ui.chat.composer.fill_in import FillIn
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
        self.chosen.connect(self._take)
        composer.installEventFilter(self)

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
        if self._form is not None:
            self._form.hide()
        self.side.show()
        self.setVisible(bool(offers))
        if offers:
            above = self._corner().y() - theme().px(12)
            self.fill(offers, word, prefix=prefix, room=self._composer.width(), most=above)
            self._place()
        self._composer.text.offers_open = self.isVisible() and self.count > 0

    def _corner(self) -> QPoint:
        return self._composer.mapTo(self._page, self._composer.rect().topLeft())

    def _place(self) -> None:
        corner = self._corner()
        over = self.height() + theme().px(10) - corner.y()
        if over > 0 and not self.is_filling:  # the composer has grown below it
            self.rows.setFixedHeight(max(theme().px(ROW), self.rows.height() - over))
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
        px = theme().px
        self.form.show_for(item, self._servers.place_of(item.server))
        room = self._composer.width()
        self.side.setVisible(room >= px(BESIDE))
        self.form.show()
        height = min(px(FORM_HEIGHT), self._corner().y() - px(12))
        self.setFixedWidth(room)
        self.is_wide = True
        self.foot.hide()
        self.rows.setFixedHeight(max(px(64), height - px(14)))
        self.form.setFixedHeight(height - 2)
        self.fit()
        self._place()
        self.form.first_focus().setFocus(Qt.FocusReason.OtherFocusReason)

    def _back(self) -> None:
        """To the list: keys are in the composer again, which asks for offers anew."""
        self.form.hide()
        self._composer.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self._composer.ask_for_offers()

    def _done(self) -> None:
        self.form.hide()
        self._composer.complete("")
        self._composer.ask_for_offers()
