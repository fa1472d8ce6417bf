"""What closing the window or Ctrl+Q means: the end where nothing works, a question where something does."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.closing import KEEP, STOP, ask_close
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.shell.tray import Tray, bring_to_front

AWAY = "away"
"""Why the tray icon is there: the window is put away."""


class Closing(QObject):
    """``running`` tells how many runs are under way, those that wait for an answer too. A signal does not ask, nor does
    the tray's *Quit*: the icon says how many work."""

    def __init__(self, window: MainWindow, shell: ShellViewModel, running: Callable[[], int]) -> None:
        super().__init__(window)
        self._window, self._shell, self._running = window, shell, running
        self._asking = self._away = self._joined = False
        shell.on_window_close = self.closed

    def closed(self) -> None:
        """Called when the person closed the window, or quits."""
        running = self._running()
        if not running:
            self._shell.close_requested()
        elif not self._asking:
            self._asking = True
            ask_close(self._window, running, tray=Tray.available(), answered=self._answered)

    def _answered(self, answer: str) -> None:
        self._asking = False
        if answer == STOP:
            self._shell.close_requested()
        elif answer == KEEP:
            self._put_away()

    def _put_away(self) -> None:
        if not Tray.available():
            self._window.showMinimized()
            return
        if not self._joined:
            self._joined = True
            tray = self._window.notifier.tray
            tray.pressed.connect(self._come_back)
            tray.quit_wanted.connect(self._quit)
            self._window.installEventFilter(self)
        self._away = True
        self.runs_changed()
        self._window.hide()

    def runs_changed(self, _thread: str = "") -> None:
        """Some began or ended: the icon of a window that is put away says how many work."""
        if self._away:
            running = self._running()
            words = f"{running} run{'s' * (running != 1)} at work." if running else "All work is done."
            self._window.notifier.tray.show_for(AWAY, words)

    def _come_back(self) -> None:
        bring_to_front(self._window)

    def _quit(self) -> None:
        """Quit from the tray: the window comes back first, because it asks about what is not saved."""
        bring_to_front(self._window)
        self._shell.close_requested()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice that the window is back, however that came."""
        if event.type() == QEvent.Type.Show:
            self._away = False
            self._window.notifier.tray.leave(AWAY)
        return False
