"""A new version is said in a few words at the foot of the list of chats, and on the rail; never in the way."""

from __future__ import annotations

from desktop.app.wiring.view_models import ViewModels
from desktop.presenter.settings.pages import UPDATES
from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell.main_window import MainWindow


def tell_of_updates(views: ViewModels, shell: ShellViewModel, window: MainWindow) -> None:
    """From now on, whenever it is another."""
    updates, threads = views.updates, views.threads

    def tell() -> None:
        threads.tell_news(updates.view.line)
        window.rail.set_count("settings", 1 if updates.view.line else 0)

    updates.changed.connect(tell)
    threads.news_wanted.connect(lambda: shell.run_command(f"settings:{UPDATES}"))
    tell()
