"""The Settings page: a list of pages at the left, the chosen one at the right, mistakes of config.yaml above."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QRect, QStringListModel, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.safety import ConfinementReport
from desktop.presenter.mcp.servers import McpServersViewModel
from desktop.presenter.settings.agents_editing import AgentsViewModel
from desktop.presenter.settings.boundaries import BoundariesViewModel
from desktop.presenter.settings.cli_tools import CliToolsViewModel
from desktop.presenter.settings.grants import GrantsViewModel
from desktop.presenter.settings.keys import KeysViewModel
from desktop.presenter.settings.middleware import MiddlewareViewModel
from desktop.presenter.settings.model_setup import ModelSetupViewModel
from desktop.presenter.settings.page import SettingsViewModel
from desktop.presenter.settings.pages import (
    AGENTS,
    APPROVALS,
    CLI,
    FILESYSTEM,
    KEYRING,
    MCP,
    MIDDLEWARE,
    MODELS,
    SETTINGS_PAGES,
)
from desktop.presenter.settings.reach import ReachViewModel
from desktop.ui.settings.agents.page import AgentsPage
from desktop.ui.settings.boundaries.grants import GrantsCard
from desktop.ui.settings.boundaries.lists import UndoOffer
from desktop.ui.settings.boundaries.page import BoundariesPage
from desktop.ui.settings.cli_tools.page import CliPage
from desktop.ui.settings.keys.page import KeysPage
from desktop.ui.settings.mcp.page import McpPage
from desktop.ui.settings.middleware.page import MiddlewarePage
from desktop.ui.settings.models.page import ModelsPage
from desktop.ui.settings.rows import setting_card
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.dialogs.toast import Toast
from desktop.ui.widgets.focus_place import first_in, give_keys
from desktop.ui.widgets.layout.containers import Notice, PaneHeader, Scroller
from desktop.ui.widgets.layout.folding import FoldingPane
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.text import Paragraph, Selectable, Text

PAGES = tuple((place.name, place.title, place.icon) for place in SETTINGS_PAGES)
"""(page in the schema, title, icon)."""
HEADS = {FILESYSTEM: "Changes apply from the next tool call on, also in runs that are working"}
"""What stands at the right of a page's head."""
NOTES = {
    "Tools": "These apply from the next tool call on.",
    "Skills": "In addition to your own folder, ~/.agents and ~/.claude, which are always searched.",
    "Approvals": "Admin calls always ask, whatever is set here.",
}


class NavDelegate(RowDelegate):
    """Icon and title."""

    def draw(self, painter: QPainter, box: QRect, index: Index, *, selected: bool, hovered: bool) -> None:
        """One line."""
        t = theme()
        title = str(index.data())
        icon = next(icon for _, known, icon in PAGES if known == title)
        side = t.px(16)
        glyph(painter, QRect(box.x() + t.px(8), box.y(), side, box.height()), icon, "text-2", side)
        left = t.px(32)
        weight = 500 if selected else None
        painter.setFont(t.font("body", weight))
        painter.setPen(t.color("text"))
        text = elided(title, "body", box.width() - left - t.px(4), weight=weight)
        painter.drawText(box.adjusted(left, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)


class SettingsPage(QFrame):
    """``confinement`` says what holds shell commands in, as found on this machine; ``cli`` is the model of
    tools.yaml, ``keys`` that of the keyring, ``mcp`` that of mcp.yaml, ``agents`` that of the definitions, which
    have no page without it, like ``middleware``; ``reach`` is what the page of the boundary shows of the disk.

    Pages are built when they are first shown. ``show_settings(page)`` opens one by its name in the schema.
    """

    def __init__(
        self,
        settings: SettingsViewModel,
        setup: ModelSetupViewModel,
        boundaries: BoundariesViewModel,
        confinement: Callable[[], ConfinementReport],
        cli: CliToolsViewModel | None = None,
        keys: KeysViewModel | None = None,
        mcp: McpServersViewModel | None = None,
        reach: ReachViewModel | None = None,
        grants: GrantsViewModel | None = None,
        agents: AgentsViewModel | None = None,
        middleware: MiddlewareViewModel | None = None,
    ) -> None:
        super().__init__()
        self._agents, self._middleware = agents, middleware
        self._cli, self._keys, self._mcp, self._reach, self._grants = cli, keys, mcp, reach, grants
        optional = ((CLI, cli), (KEYRING, keys), (MCP, mcp), (AGENTS, agents), (MIDDLEWARE, middleware))
        missing = {name for name, model in optional if model is None}
        self._pages = [page for page in PAGES if page[0] not in missing]
        self._settings, self._setup = settings, setup
        self._boundaries, self._confinement = boundaries, confinement
        self._built: dict[str, QWidget] = {}
        self.setProperty("pane", "surface")
        self.nav = RowList("Settings pages", NavDelegate())
        self.nav.setModel(QStringListModel([title for _, title, _ in self._pages], self.nav))
        self.nav.selectionModel().currentChanged.connect(self._moved)
        side = pane("list")
        column = Column(side, margins=(0, 0, 0, 8), spacing=0)
        column.addWidget(head := sized(QWidget(), height=48))
        Row(head, margins=(16, 0, 16, 0)).addWidget(Text("Settings", "title"))
        column.addWidget(self.nav, 1)
        self._header, self._note = PaneHeader(""), Text("", "small", "2", elide="right")
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._header.row.addWidget(self._note, 1)
        self.problems = Notice("failed", banner=True)
        self._stack = QStackedWidget()
        work = pane("surface")
        right = Column(work, spacing=0)
        right.addWidget(self._header)
        right.addWidget(self.problems)
        right.addWidget(self._stack, 1)
        self.folding = FoldingPane(side, work, width=216, name="Show the settings pages")
        self._header.row.insertWidget(0, self.folding.button)
        Column(self, spacing=0).addWidget(self.folding)
        self._make_toast()
        settings.problems_changed.connect(self.refresh_problems)
        self.refresh_problems()
        self.show_settings(MODELS)

    def _make_toast(self) -> None:
        """What was done, and taking it back."""
        self.toast = Toast(self)
        self._offer = UndoOffer(self._settings, self)
        self._offer.say.connect(self.toast.say)
        self.toast.undone.connect(self._offer.undo)
        if self._reach is not None:
            self._reach.told.connect(self.toast.say)
        if self._agents is not None:
            self._agents.told.connect(self.toast.say)
            self.toast.undone.connect(self._agents.undo)

    def first_focus(self) -> QWidget:
        """Keys go to the list of pages."""
        return self.nav

    def show_settings(self, page: str) -> None:
        """Open a page; an unknown name is ignored."""
        names = [name for name, _, _ in self._pages]
        if page in names:
            self.nav.setCurrentIndex(self.nav.model().index(names.index(page), 0))

    def open_settings(self, page: str) -> None:
        """Open a page and go on in it: keys go to its first control."""
        self.show_settings(page)
        shown = self._stack.currentWidget()
        give_keys((shown and first_in(shown)) or self.nav)

    def refresh_problems(self) -> None:
        """Say what is wrong in config.yaml, and that the last good values hold."""
        problems = self._settings.problems
        self.problems.setVisible(bool(problems))
        if problems:
            lines = "\n".join(problems[:8])
            more = f"\nand {len(problems) - 8} more" if len(problems) > 8 else ""
            self.problems.say(f"{lines}{more}\nWrong values are not used; the last good ones stay in force.")

    def _moved(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        name, title, _ = self._pages[index.row()]
        widget = self._built.get(name)
        if widget is None:
            widget = self._built[name] = self._build(name)
            self._stack.addWidget(widget)
        self._header.title.setText(title)
        self._note.setText(HEADS.get(name, ""))
        self._stack.setCurrentWidget(widget)
        self.folding.put_away()

    def _build(self, name: str) -> QWidget:
        if name == MODELS:
            return ModelsPage(self._setup)
        if name == CLI and self._cli is not None:
            return CliPage(self._cli)
        if name == KEYRING and self._keys is not None:
            return KeysPage(self._keys)
        if name == MCP and self._mcp is not None:
            return McpPage(self._mcp)
        if name == MIDDLEWARE and self._middleware is not None:
            return MiddlewarePage(self._middleware, self._settings)
        if name == AGENTS and self._agents is not None:
            return AgentsPage(self._agents)
        if name == FILESYSTEM:
            return BoundariesPage(self._settings, self._boundaries, self._confinement, self._offer, self._reach)
        specs = [spec for spec in self._settings.schema() if spec.page == name]
        scroller = Scroller(margins=(24, 20, 24, 24), spacing=12)
        if name in NOTES:
            scroller.column.addWidget(Paragraph(NOTES[name], "body", "2"))
        scroller.column.addWidget(setting_card(self._settings, specs))
        scroller.column.addWidget(self._where())
        if name == APPROVALS and self._grants is not None:
            scroller.column.addWidget(GrantsCard(self._grants))  # never kept, so below where settings are kept
        scroller.column.addStretch(1)
        return scroller

    def _where(self) -> QWidget:
        return Selectable(f"Saved in {self._settings.path}", "small", "3")
