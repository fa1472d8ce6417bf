"""Following a link ``assent:…``: it shows a place, and does nothing else.

Any page on the web can have such a link opened, at any moment, also while a person types into that page. So the window
comes to the front with the keys on no control, where nothing that is being typed could send, allow or change anything;
and while a dialog lies over it, which waits for just such a key, it stays where it is and asks for attention.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable

from PySide6.QtWidgets import QApplication

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.links import WindowLink, read_link, slug
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.pages import SettingsPlace
from desktop.presenter.shell.window import PAGES
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.shell.tray import bring_to_front
from desktop.ui.widgets.dialogs.base import dialog_open

NOTHING = "The link that was opened leads to nothing in this Assent."
GONE = "The link that was opened leads to a chat that is not here."


@dataclass(frozen=True, slots=True)
class LinkPlaces:
    """What can be shown. ``threads``: the ids of all chats and debates; ``thread`` shows one."""

    page: Callable[[str], None]
    settings: Callable[[str], None]
    help: Callable[[str], None]
    threads: Callable[[], Awaitable[Collection[str]]]
    thread: Callable[[str], None]


class Links:
    """``follow`` shows where a link leads. Of several at once the last one counts."""

    def __init__(
        self, window: MainWindow, bridge: Bridge, settings: Iterable[SettingsPlace], places: LinkPlaces
    ) -> None:
        self._window, self._bridge, self._places = window, bridge, places
        self._settings = {slug(word): one.name for one in settings for word in (one.title, one.name)}
        self._newest = 0

    def follow(self, text: str) -> None:
        """Show it, or say in a plain line that it leads nowhere."""
        self._newest += 1
        if dialog_open(self._window):
            QApplication.alert(self._window)
            return
        link = read_link(text)
        if link is not None and link.kind == "chat":
            self._bridge.spawn(self._thread(link.name, self._newest), name="links: look for a chat")
            return
        self._shown(NOTHING if link is None or not self._show(link) else "")

    def _show(self, link: WindowLink) -> bool:
        kind, name = link.kind, link.name
        if kind == "settings" and name:
            if name not in self._settings:
                return False
            self._places.settings(self._settings[name])
        elif kind == "help":
            self._places.help(name)
        elif kind and (kind not in PAGES or name):
            return False
        elif kind:
            self._places.page(kind)
        return True

    async def _thread(self, thread_id: str, number: int) -> None:
        known = await self._places.threads()
        if number != self._newest or dialog_open(self._window):
            return
        if thread_id in known:
            self._places.thread(thread_id)
        self._shown("" if thread_id in known else GONE)

    def _shown(self, words: str) -> None:
        bring_to_front(self._window)
        self._window.setFocus()  # on no control: the next key was meant for another window
        if words:
            self._window.show_toast(words)
