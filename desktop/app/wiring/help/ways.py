"""The ways to help: F1 and the heads of pages, the palette, links from outside, what is new after an update."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop import __version__
from desktop.app.home.window_state import WindowState
from desktop.app.wiring.view_models import ViewModels
from desktop.domain.loading.lazy import lazy_module
from desktop.presenter.help.places import HELP_OF
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from desktop.services.help import news as help_news
    from desktop.ui.help import news_strip, report_dialog
    from desktop.ui.help import side as help_side
    from desktop.ui.help.panel import HelpPanel
    from desktop.ui.help.side import HelpSide
else:
    help_news = lazy_module("desktop.services.help.news")
    help_side = lazy_module("desktop.ui.help.side")
    news_strip = lazy_module("desktop.ui.help.news_strip")
    report_dialog = lazy_module("desktop.ui.help.report_dialog")

SEEN = "help.version"
"""The version whose news were shown."""
NEWS = "news"


class HelpWays(QObject):
    """Goes with its window. The panel is loaded and made when it is first wanted."""

    def __init__(self, window: MainWindow, shell: ShellViewModel, models: ViewModels, state: WindowState) -> None:
        super().__init__(window)
        self._window, self._shell, self._models, self._state = window, shell, models, state
        self._side: HelpSide | None = None
        shell.handle("help", self.open)
        shell.handle("report", lambda _: self.report())
        window.help_wanted.connect(lambda: self.open(""))

    @property
    def panel(self) -> HelpPanel | None:
        """The panel, once it was made."""
        return self._side.panel if self._side is not None else None

    def open(self, page: str) -> None:
        """Help for where the person is, or a page of it by name; what is unknown shows the first steps. Once more with
        the keys in it: closed."""
        side = self._made()
        if not page and side.is_open and side.has_keys:
            side.close()
            return
        if page == NEWS:
            self._models.help.show_news()
        elif page:
            self._models.help.show_page(page)
        else:
            self._models.help.open_at(self._topic())
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

    def _topic(self) -> str:
        page = self._window.stack.currentWidget()
        topic = getattr(page, "help_topic", None)
        return str(topic()) if callable(topic) else HELP_OF[self._window.key_of(self._shell.page, HELP_OF)]

    def _made(self) -> HelpSide:
        if self._side is None:
            help = self._models.help
            self._side = help_side.HelpSide(self._window, help)
            self._side.made.connect(self._join)
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
