"""A row in the table of the pages of Settings, and what the page that is made by it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.presenter.settings.pages import SettingsPlace

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop.presenter.settings.page import SettingsViewModel
    from desktop.ui.settings.boundaries.lists import UndoOffer
    from desktop.ui.widgets.dialogs.toast import Toast

Models = TypeVar("Models")


class SettingsFrame(Protocol):
    """What all pages of Settings stand in: its toast with Undo, and the ways out of it."""

    settings: SettingsViewModel
    toast: Toast
    offer: UndoOffer
    approvals_wanted: Any
    """A signal: the person wants to see the requests."""

    chat_wanted: Any
    """A signal: the person wants a new chat with the agent of this name."""

    command_wanted: Any
    """A signal: the person wants this command, as the palette has it."""

    def give_head(self, is_own: bool) -> None:
        """A page has a head of its own now, or no longer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow(SettingsPlace, Generic[Models]):
    """A page of Settings. Its functions that make a view-model or a widget are called when the page is first shown, so
    that its code is loaded then. A page without ``build`` shows the settings of the schema that name it."""

    head: str = ""
    """Stands at the right of the title."""
    note: str = ""
    """Stands above the settings, on a page without ``build``."""
    build: Callable[[Models, SettingsFrame], QWidget] | None = None
    """Makes the whole page."""
    below: Callable[[Models], QWidget] | None = None
    """Makes what follows the settings, on a page without ``build``."""
