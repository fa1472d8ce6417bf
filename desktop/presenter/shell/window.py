"""The shell: which page shows, what can be done from anywhere, and what the command palette finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.presenter.common.fuzzy import Ranges, match

PAGES = ("chats", "debates", "skills", "approvals", "schedules", "settings")
PALETTE_ROWS = 60
"""Most rows that the palette shows for one query."""
ALSO = 90
"""What a row fits that is found by another word than its title: less than a title that has the query in it, more than
one with its letters here and there."""


class Command:
    """Something that can be done from anywhere; ``shortcut`` in Qt's portable form."""

    __slots__ = ("group", "icon", "id", "shortcut", "title")

    def __init__(self, id: str, title: str, group: str = "Actions", shortcut: str = "", icon: str = "") -> None:
        self.id, self.title, self.group, self.shortcut, self.icon = id, title, group, shortcut, icon


class PaletteRow:
    """A line of the palette; choosing it runs command ``id``. ``mono``: the title is a name as in code, of a skill.
    ``also``: what else it is found by, which then stands behind the title."""

    __slots__ = ("also", "detail", "group", "icon", "id", "mono", "ranges", "title")

    def __init__(
        self,
        id: str,
        title: str,
        detail: str = "",
        group: str = "Actions",
        icon: str = "",
        ranges: Ranges = (),
        mono: bool = False,
        also: tuple[str, ...] = (),
    ) -> None:
        self.id, self.title, self.detail, self.group = id, title, detail, group
        self.icon, self.ranges, self.mono, self.also = icon, ranges, mono, also

    def fitting(self, query: str) -> tuple[int, PaletteRow] | None:
        """How well it fits a query, and the same line with what matched; None: not at all."""
        fit, word = match(query, self.title), _begins(query, self.also)
        if word and (fit is None or fit.score < ALSO):
            return ALSO, self._with(word, ())
        return (fit.score, self._with(self.detail, fit.ranges)) if fit is not None else None

    def _with(self, detail: str, ranges: Ranges) -> PaletteRow:
        return PaletteRow(self.id, self.title, detail, self.group, self.icon, ranges, self.mono, self.also)


def _begins(query: str, words: Iterable[str]) -> str:
    """The first of some words or phrases in which a word begins with a query of at least two letters."""
    wanted = " ".join(query.casefold().split())
    found = (one for one in words if f" {one.casefold()}".find(f" {wanted}") >= 0)
    return next(found, "") if len(wanted) > 1 else ""


Rows = Callable[[], Iterable[PaletteRow]]
"""A source of palette rows: threads, agents, models, settings."""

COMMANDS = (
    Command("page:chats", "Go to Chats", "Go to", "Ctrl+1", "chats"),
    Command("page:debates", "Go to Debates", "Go to", "Ctrl+2", "debates"),
    Command("page:skills", "Go to Skills", "Go to", "Ctrl+3", "skills"),
    Command("page:approvals", "Go to Approvals", "Go to", "Ctrl+4", "approvals"),
    Command("page:schedules", "Go to Schedules", "Go to", "Ctrl+6", "schedules"),
    Command("page:settings", "Go to Settings", "Go to", "Ctrl+5", "settings"),
    Command("new-chat", "New chat", "Actions", "Ctrl+N", "new"),
    Command("new-debate", "New debate", "Actions", "Ctrl+Shift+D", "debates"),
    Command("debate-act:pause", "Debate: pause after this turn, or resume", "Actions", "", "pause"),
    Command("debate-act:step", "Debate: run one turn, then pause", "Actions", "", "step"),
    Command("debate-act:judge", "Debate: ask a judge", "Actions", "", "judge"),
    Command("debate-act:fork", "Debate: fork", "Actions", "", "branch"),
    Command("debate-act:compare", "Debate: compare with its origin", "Actions", "", "branch"),
    Command("debate-act:lanes", "Debate: show in two lanes", "Actions", "", "debates"),
    Command("debate-act:column", "Debate: show in one column", "Actions", "", "debates"),
    Command("debate-act:a", "Debate: show as side A sees it", "Actions", "", "debates"),
    Command("debate-act:b", "Debate: show as side B sees it", "Actions", "", "debates"),
    Command("find", "Find in this chat", "Actions", "Ctrl+F", "search"),
    Command("search-threads", "Search all chats", "Actions", "Ctrl+Shift+F", "search"),
    Command("stop", "Stop the run", "Actions", "Ctrl+.", "stop"),
    Command("trace", "Show or hide the trace", "Actions", "Ctrl+Shift+T", "trace"),
    Command("agents", "Show or hide the agents at work", "Actions", "Ctrl+Shift+A", "agent"),
    Command("choose-project", "Choose the folder of this chat", "Actions", "Ctrl+Shift+O", "folder"),
    Command("changes", "Show or hide the changes", "Actions", "Ctrl+Shift+G", "changes"),
    Command("undo", "Undo…", "Actions", "", "undo"),
    Command("choose-model", "Choose a model", "Actions", "Ctrl+M", "model"),
    Command("effort", "How much the model thinks", "Actions", "Ctrl+Shift+E", "think"),
    Command("tool-mode", "How this agent calls its tools", "Actions", "", "code"),
    Command("rules", "Rules", "Go to", "", "rules"),
    Command("new-job", "New job", "Actions", "", "schedules"),
    Command("new-skill", "New skill", "Actions", "", "skills"),
    Command("new-agent", "New agent", "Actions", "", "agent"),
    Command("new-tool", "New tool in tools.yaml", "Actions", "", "terminal"),
    Command("new-rule", "New rule", "Actions", "", "rules"),
    Command("export:md", "Export what is open as Markdown", "Actions", "", "export"),
    Command("export:html", "Export what is open as a web page", "Actions", "", "export"),
    Command("export:json", "Export what is open as JSON", "Actions", "", "export"),
    Command("theme:light", "Light theme", "Appearance", "", "appearance"),
    Command("theme:dark", "Dark theme", "Appearance", "", "appearance"),
    Command("theme:system", "Follow the system's theme", "Appearance", "", "appearance"),
    Command("text:larger", "Larger text", "Appearance", "Ctrl++", "appearance"),
    Command("text:smaller", "Smaller text", "Appearance", "Ctrl+-", "appearance"),
    Command("text:normal", "Normal text size", "Appearance", "Ctrl+0", "appearance"),
    Command("help", "Help", "Help", "F1", "info"),
    Command("help:keys", "Keys", "Help", "", "keyboard"),
    Command("help:news", "What is new", "Help", "", "info"),
    Command("report", "Report a problem", "Help", "", "info"),
    Command("quit", "Quit Assent", "Actions", "Ctrl+Q", "close"),
)


class ShellViewModel(QObject):
    """Pages, commands, the palette, first run, and what the window remembers."""

    page_changed = Signal(str)
    page_again = Signal(str)
    first_run_changed = Signal()
    command_run = Signal(str)
    palette_results = Signal(str, object)
    quitting = Signal(str)
    error = Signal(str, str, str)
    banner = Signal(str, str)

    def __init__(self, save_state: Callable[[str, Any], None]) -> None:
        super().__init__()
        self._save_state = save_state
        self._page = "chats"
        self._first_run = False
        self._window: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[str], None]] = {}
        self._sources: list[Rows] = []
        self.on_close: Callable[[], None] | None = None
        """The end of the app."""
        self.on_window_close: Callable[[], None] | None = None
        """What closing the window and *Quit Assent* do instead; None: it is the end."""

    # -- pages ------------------------------------------------------------------------------------------------------

    @property
    def page(self) -> str:
        """The page that is shown, one of ``PAGES``."""
        return self._page

    def go(self, page: str) -> None:
        """Show a page; an unknown name is ignored."""
        if page in PAGES and page != self._page:
            self._page = page
            self.page_changed.emit(page)
            self._save_state("shell.page", page)

    def visit(self, page: str) -> None:
        """The person goes to a page: to the one they are on, for its keys."""
        if page == self._page:
            self.page_again.emit(page)
        else:
            self.go(page)

    @property
    def first_run(self) -> bool:
        """True until a model is chosen for the first time."""
        return self._first_run

    def set_first_run(self, value: bool) -> None:
        """Show or leave the first-run page."""
        if value != self._first_run:
            self._first_run = value
            self.first_run_changed.emit()

    # -- what the window remembers ----------------------------------------------------------------------------------

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what was saved before the window is made; anything odd in it is dropped."""
        window = state.get("shell.window")
        self._window = dict(window) if isinstance(window, dict) else {}
        page = state.get("shell.page")
        if page in PAGES:
            self._page = str(page)

    def window_state(self) -> dict[str, Any]:
        """Geometry as last saved, possibly empty."""
        return dict(self._window)

    def save_window(self, state: Mapping[str, Any]) -> None:
        """Store the window's geometry."""
        self._window = dict(state)
        self._save_state("shell.window", self._window)

    # -- commands ---------------------------------------------------------------------------------------------------

    def commands(self) -> tuple[Command, ...]:
        """Everything with a name that can be done from anywhere."""
        return COMMANDS

    def handle(self, prefix: str, handler: Callable[[str], None]) -> None:
        """Run ``handler(rest)`` for commands ``prefix`` or ``prefix:rest``."""
        self._handlers[prefix] = handler

    def run_command(self, command_id: str) -> None:
        """Run a command by id; the ui hears of it through ``command_run`` too (find, choose-model …)."""
        prefix, _, rest = command_id.partition(":")
        if prefix == "page":
            self.visit(rest)
        elif prefix == "quit":
            self.window_closed()
        elif prefix in self._handlers:
            self._handlers[prefix](rest)
        self.command_run.emit(command_id)

    def window_closed(self) -> None:
        """The person closed the window or pressed Ctrl+Q, which need not be the end."""
        if self.on_window_close is not None:
            self.on_window_close()
        else:
            self.close_requested()

    def close_requested(self) -> None:
        """Ask the app to close, because the person quits."""
        if self.on_close is not None:
            self.on_close()

    # -- palette ----------------------------------------------------------------------------------------------------

    def add_source(self, rows: Rows) -> None:
        """More things that the palette finds."""
        self._sources.append(rows)

    def palette_query(self, text: str) -> None:
        """Find rows for a query: the best of all sources first, then by group."""
        found: list[tuple[int, int, PaletteRow]] = []
        own = (PaletteRow(c.id, c.title, c.shortcut, c.group, c.icon) for c in COMMANDS)
        for order, row in enumerate((*own, *(r for source in self._sources for r in source()))):
            fit = row.fitting(text)
            if fit is not None:
                found.append((-fit[0], order, fit[1]))
        found.sort(key=lambda entry: entry[:2])
        self.palette_results.emit(text, tuple(row for _, _, row in found[:PALETTE_ROWS]))
