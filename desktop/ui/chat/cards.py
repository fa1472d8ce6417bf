"""What the buttons of cards do that name what they are pressed for, and opening an address."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from desktop.presenter.results.cards import RESULT, read_action
from desktop.presenter.transcript.document_parts import DOCUMENT
from desktop.ui.chat.models import ChatModels
from desktop.ui.transcript.pieces.rich_body import LINK
from desktop.ui.transcript.pieces.tool_card import OPEN, UNDO


def act_on(models: ChatModels, action: str) -> bool:
    """Do what a card names; whether it names anything here."""
    acts: dict[str, Callable[[str], None]] = {
        OPEN: models.chat.open_child,  # of an agent that was called as a tool
        UNDO: models.changes.undo_card,
        LINK: open_link,
        DOCUMENT: models.document.cite,
        RESULT: lambda named: models.results.shown.open(*read_action(named)),
    }
    begins = next((one for one in acts if action.startswith(one)), "")
    if begins:
        acts[begins](action.removeprefix(begins))
    return bool(begins)


def open_link(address: str) -> None:
    """Open a link that a person pressed in their browser or mail program; files and everything else stay shut."""
    url = QUrl(address)
    if url.isValid() and url.scheme().lower() in ("http", "https", "mailto"):
        QDesktopServices.openUrl(url)
