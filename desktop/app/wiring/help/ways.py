"""The ways to help: F1 and the heads of pages, the palette, links from outside, what is new after an update."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from desktop import __version__
from desktop.app.home.window_state import WindowState
from desktop.app.wiring.view_models import ViewModels
from desktop.domain.loading.lazy import lazy_module, load
from desktop.presenter.help.places import HELP_OF
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from desktop.app.wiring.help import models as help_models
    from desktop.services.help import news as help_news
    from desktop.ui.help import news_strip, report_dialog
    from desktop.ui.help import panel as help_panel
    from desktop.ui.help import side as help_side
    from desktop.ui.help.panel import HelpPanel
    from desktop.ui.help.side import HelpSide
else:
    help_models = lazy_module("desktop.app.wiring.help.models")
    help_panel = lazy_module("desktop.ui.help.panel")
    help_news = lazy_module("desktop.services.help.news")
    help_side = lazy_module("desktop.ui.help.side")
    news_strip = lazy_module("desktop.ui.help.news_strip")
    report_dialog = lazy_module("desktop.ui.help.report_dialog")

SEEN = "help.version"
"""The version whose news were shown."""
NEWS = "news"
AFTER_PAINT = 60
"""Milliseconds in which a page that was gone to is painted, before help follows there."""


class HelpWays(QObject):
    """Goes with its window. The panel is loaded and made when it is first wanted."""

    def __init__(self, window: MainWindow, shell: ShellViewModel, models: ViewModels, state: WindowState) -> None:
        super().__init__(window)
        self._window, self._shell, self._models, self._state = window, shell, models, state
        self._side: HelpSide | None = None
        self._coming = False
        self._follows: set[QWidget] = set()
        self._moved = QTimer(self, singleShot=True, interval=AFTER_PAINT)
        self._moved.timeout.connect(self._follow)
        window.page_shown.connect(self._shown)
        shell.handle("help", self.open)
        shell.handle("report", lambda _: self.report())
        window.help_wanted.connect(lambda: self.open(""))

    @property
    def panel(self) -> HelpPanel | None:
        """The panel, once it was made."""
        return self._side.panel if self._side is not None else None

    def open(self, page: str) -> None:
        """Help for where the person is, or a page of it by name; what is unknown shows the first steps. Once more with
        the keys in it: closed. What it is made of is loaded in a thread with the first time."""
        if self._side is not None:
            self._open(page)
        elif not self._coming:
            self._coming = True
            self._models.bridge.spawn(self._begin(page, self._topic()), name="load help")

    async def _begin(self, page: str, topic: str) -> None:
        try:
            await self._models.bridge.in_thread(_load)
        finally:
            self._coming = False
        self._open(page, topic)

    def _open(self, page: str, topic: str = "") -> None:
        side, help = self._made(), self._models.help
        if not page and side.is_open and side.has_keys:
            side.close()
            return
        if page == NEWS:
            help.show_news()
        elif page:
            help.show_page(page)
        else:
            help.open_at(topic or self._topic())
        side.open()

    def report(self) -> None:
        """Report a problem."""
        report_dialog.ReportDialog(self._window, self._models.report).open()

    def tell_news(self) -> None:
        """After an update, once: a strip that says so. A first start has nothing that is new."""
        seen = self._state.text(SEEN, "")
        if seen != __version__:
            self._state.put(SEEN, __version__)
        if seen and help_news.number_of(seen) < help_news.number_of(__version__):
            strip = news_strip.NewsStrip(__version__)
            strip.wanted.connect(lambda: self.open(NEWS))
            self._window.add_strip(strip)

    def _shown(self, _name: str, page: QWidget) -> None:
        """Another page of the app: its parts may have pages of help of their own."""
        changed = getattr(page, "topic_changed", None)
        if changed is not None and page not in self._follows:
            self._follows.add(page)
            changed.connect(self._moved.start)
        self._moved.start()

    def _follow(self) -> None:
        if self._side is not None and self._side.is_open:
            self._models.help.follow(self._page_topic())

    def _topic(self) -> str:
        """Of the dialog or the part of the page that has the keys, or of the page."""
        around: QWidget | None = self._window.focusWidget()
        while around is not None:
            named = getattr(around, "help_page", "")
            if named:
                return str(named)
            around = around.parentWidget()
        return self._page_topic()

    def _page_topic(self) -> str:
        page = self._window.stack.currentWidget()
        topic = getattr(page, "help_topic", None)
        return str(topic()) if callable(topic) else HELP_OF[self._window.key_of(self._shell.page, HELP_OF)]

    def _made(self) -> HelpSide:
        if self._side is None:
            help = self._models.help
            self._side = help_side.HelpSide(self._window, help)
            self._side.made.connect(self._join)
            self._side.keys_left.connect(self._window.keys_to_page)
            help.there_wanted.connect(self._go_there)
        return self._side

    def _join(self, panel: HelpPanel) -> None:
        panel.said.connect(self._window.show_toast)
        panel.report_wanted.connect(self.report)

    def _go_there(self, command: str) -> None:
        side = self._made()
        if side.is_over:
            side.close()
        self._shell.run_command(command)


def _load() -> None:
    """What the panel and its model are made of."""
    for module in (help_models, help_side, help_panel):
        load(module)
