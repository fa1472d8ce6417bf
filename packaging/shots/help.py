"""Help, with the real pages: a search, a page, the page of Settings, the strip after an update, and a report."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop.presenter.help.page import HelpViewModel
from desktop.services.help.book import ReadBook
from desktop.services.help.report import CHECKING, NO_ERRORS, YOURS
from desktop.ui.help.news_strip import NewsStrip
from desktop.ui.help.panel import HelpPanel
from desktop.ui.help.report_dialog import ReportDialog
from desktop.ui.help.side import HelpSide

ROOT = Path(__file__).resolve().parents[2]
WAITS = 50
FACTS = "Assent 0.1.0, checkout, 0710c93a4b1e\nPython 3.11.7, Qt 6.11.3, SQLite 3.40.1\nScreen: wayland, GNOME"
CHECKS = (
    "Checks\n------\nQt: ok: Qt 6.11.3 on wayland, PySide6 6.11.3.\n"
    "Database: ok: SQLite 3.40.1 with full-text search; <Assent's home>/data/… is sound, format 20."
)


class _NoTasks:
    """A bridge that begins nothing."""

    def spawn(self, work: Coroutine[Any, Any, object], *, name: str) -> None:
        """End it at once."""
        del name
        work.close()


def sample_help() -> HelpViewModel:
    """A view-model that has read the real pages."""
    book = ReadBook(ROOT / "resources" / "help", (ROOT / "CHANGELOG.md",))
    return HelpViewModel(lambda: book, cast(Any, _NoTasks()), book=book)


class SampleReport(QObject):
    """A report that is gathered at once."""

    begun = Signal(str)
    checked = Signal(str, str)
    said = Signal(str)

    def begin(self) -> None:
        """Its text comes when the dialog listens."""

    def ready(self, text: str) -> str:
        """As it is."""
        return text


def _made(side: HelpSide, settled: Callable[[int], None]) -> HelpPanel:
    """The panel of a side that is opened; it is made in many short turns."""
    side.open()
    for _ in range(WAITS):
        settled(400)
        if side.panel is not None and side.is_open:
            return side.panel
    raise RuntimeError("the panel of help did not come")


def help_pictures(settled: Callable[[int], None]) -> Mapping[str, Callable[[Any], QWidget]]:
    """Each picture by its name; ``settled`` lets the window paint."""

    def opened(stage: Any, page: str, query: str = "") -> QWidget:
        stage.page("settings").open_settings("Keyring")
        help = sample_help()
        side = HelpSide(stage.window, help)
        help.show_news() if page == "news" else help.open_at(page)
        _made(side, settled).field.setText(query)
        settled(400)
        return cast(QWidget, stage.window)

    def offer(stage: Any) -> QWidget:
        help = sample_help()
        side = HelpSide(stage.window, help)
        stage.page("settings").open_settings("Keyring")
        help.open_at("keyring")
        _made(side, settled)
        help.show_page("approvals")
        stage.page("settings").open_settings("MCP servers")
        help.follow("mcp")
        settled(400)
        return cast(QWidget, stage.window)

    def strip(stage: Any) -> QWidget:
        stage.page("settings").open_settings("Appearance")
        stage.window.add_strip(NewsStrip("1.3"))
        return cast(QWidget, stage.window)

    def pages(stage: Any) -> QWidget:
        stage.page("settings").open_settings("Help")
        return cast(QWidget, stage.window)

    def report(stage: Any) -> QWidget:
        pages(stage)
        sample = SampleReport()
        dialog = ReportDialog(stage.window, cast(Any, sample))
        sample.setParent(dialog)
        dialog.open()
        sample.begun.emit(f"{YOURS}Assent\n------\n{FACTS}\n\n{CHECKING}\n\nLast errors\n-----------\n{NO_ERRORS}\n")
        sample.checked.emit(CHECKING, CHECKS)
        return cast(QWidget, stage.window)

    views: dict[str, Callable[[Any], QWidget]] = {
        "41-help": partial(opened, page="keyring", query="go back"),
        "41-help-page": partial(opened, page="keyring"),
        "41-help-keys": partial(opened, page="keys"),
        "41-help-news": partial(opened, page="news"),
        "41-help-nothing": partial(opened, page="keyring", query="qqzx"),
        "41-help-offer": offer,
        "41-help-settings": pages,
        "41-help-strip": strip,
        "41-help-report": report,
    }
    return {f"{name}{size}": view for name, view in views.items() for size in ("", "-960", "-200")}
