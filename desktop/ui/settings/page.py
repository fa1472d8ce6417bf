"""The Settings page: a list of pages at the left, the chosen one at the right, mistakes of config.yaml above."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QRect, QStringListModel, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from desktop.domain.safety import ConfinementReport
from desktop.presenter.boundaries import LISTS, BoundariesViewModel
from desktop.presenter.cli_tools import CliToolsViewModel
from desktop.presenter.keys import KeysViewModel
from desktop.presenter.mcp_servers import McpServersViewModel
from desktop.presenter.model_setup import ModelSetupViewModel
from desktop.presenter.settings import SettingSpec, SettingsViewModel
from desktop.ui.settings.boundaries import BoundaryList, PathTester, UndoOffer
from desktop.ui.settings.cli_page import CliPage
from desktop.ui.settings.keys_page import KeysPage
from desktop.ui.settings.mcp_page import McpPage
from desktop.ui.settings.models_page import ModelsPage
from desktop.ui.settings.rows import Control, SettingRow, setting_card
from desktop.ui.theme import theme
from desktop.ui.theme.paint import elided, glyph
from desktop.ui.widgets.containers import Notice, PaneHeader, Scroller
from desktop.ui.widgets.folding import FoldingPane
from desktop.ui.widgets.properties import pane
from desktop.ui.widgets.rows import Index, RowDelegate, RowList
from desktop.ui.widgets.scaling import Column, Row, sized
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Selectable, Text
from desktop.ui.widgets.toast import Toast

MODELS = "Models and keys"
FILESYSTEM = "Filesystem"
CLI = "CLI tools"
MCP = "MCP servers"
KEYRING = "Keyring"
PAGES = (
    (MODELS, "Models and keys", "key"),
    (KEYRING, "Keyring", "lock"),
    ("Appearance", "Appearance", "appearance"),
    ("Chats", "Chats", "chats"),
    ("Approvals", "Approvals", "approvals"),
    ("Tools", "Tools and limits", "terminal"),
    (CLI, "Tools from tools.yaml", "file"),
    (MCP, "MCP servers", "server"),
    ("Skills", "Skills", "skills"),
    (FILESYSTEM, "Filesystem boundaries", "folder"),
)
"""(page in the schema, title, icon)."""
NOTES = {
    "Tools": "These hold for tool calls from the next call on.",
    "Skills": "Beside your own folder, ~/.agents and ~/.claude, which are always looked into.",
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
    tools.yaml, ``keys`` that of the keyring and ``mcp`` that of mcp.yaml, which have no page without it.

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
    ) -> None:
        super().__init__()
        self._cli = cli
        self._keys = keys
        self._mcp = mcp
        missing = {name for name, model in ((CLI, cli), (KEYRING, keys), (MCP, mcp)) if model is None}
        self._pages = [page for page in PAGES if page[0] not in missing]
        self._settings = settings
        self._setup = setup
        self._boundaries = boundaries
        self._confinement = confinement
        self._built: dict[str, QWidget] = {}
        self.setProperty("pane", "surface")
        self.nav = RowList("Settings pages", NavDelegate())
        self.nav.setModel(QStringListModel([title for _, title, _ in self._pages], self.nav))
        self.nav.selectionModel().currentChanged.connect(self._moved)
        side = pane("list")
        column = Column(side, margins=(0, 0, 0, 8), spacing=0)
        head = sized(QWidget(), height=48)
        Row(head, margins=(16, 0, 16, 0)).addWidget(Text("Settings", "title"))
        column.addWidget(head)
        column.addWidget(self.nav, 1)
        self._header = PaneHeader("")
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
        self.toast = Toast(self)
        self._offer = UndoOffer(settings, self)
        self._offer.say.connect(self.toast.say)
        self.toast.undone.connect(self._offer.undo)
        settings.problems_changed.connect(self.refresh_problems)
        self.refresh_problems()
        self.show_settings(MODELS)

    def first_focus(self) -> QWidget:
        """Keys go to the list of pages."""
        return self.nav

    def show_settings(self, page: str) -> None:
        """Open a page; an unknown name is ignored."""
        names = [name for name, _, _ in self._pages]
        if page in names:
            self.nav.setCurrentIndex(self.nav.model().index(names.index(page), 0))

    def refresh_problems(self) -> None:
        """Say what is wrong in config.yaml, and that the last good values hold."""
        problems = self._settings.problems
        self.problems.setVisible(bool(problems))
        if problems:
            lines = "\n".join(problems[:8])
            more = f"\nand {len(problems) - 8} more" if len(problems) > 8 else ""
            self.problems.say(f"{lines}{more}\nWhat is wrong is not used; the last good values stay in force.")

    def _moved(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        name, title, _ = self._pages[index.row()]
        widget = self._built.get(name)
        if widget is None:
            widget = self._built[name] = self._build(name)
            self._stack.addWidget(widget)
        self._header.title.setText(title)
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
        specs = [spec for spec in self._settings.schema() if spec.page == name]
        scroller = Scroller(margins=(24, 20, 24, 24), spacing=12)
        if name == FILESYSTEM:
            self._say_confinement(scroller)
            scroller.column.addWidget(PathTester(self._boundaries))
        if name in NOTES:
            scroller.column.addWidget(Paragraph(NOTES[name], "body", "2"))
        self._add_cards(scroller, name, specs)
        if name == FILESYSTEM:
            words = (
                "A denied folder wins over an allowed one. Links are followed first: what counts is where a path "
                "really leads. Changes hold from the next call of running agents on."
            )
            scroller.column.addWidget(Paragraph(words, "small", "2"))
        scroller.column.addWidget(self._where())
        scroller.column.addStretch(1)
        return scroller

    def _add_cards(self, scroller: Scroller, name: str, specs: list[SettingSpec]) -> None:
        """One card a list on the filesystem page, else one for all."""
        if name != FILESYSTEM:
            scroller.column.addWidget(setting_card(self._settings, specs))
            return
        for spec in specs:
            if spec.key in LISTS:
                card = pane("card")
                Column(card, margins=0, spacing=0).addWidget(self._list_row(spec))
            else:
                card = setting_card(self._settings, [spec])
            scroller.column.addWidget(card)

    def _list_row(self, spec: SettingSpec) -> SettingRow:
        """A list of the boundary; what is done to it can be undone."""
        editor = BoundaryList(spec.title, spec.key, self._boundaries)
        control = Control(editor, lambda value: editor.set_entries(tuple(str(entry) for entry in value)))
        editor.edited.connect(control.tell)
        row = SettingRow(self._settings, spec, last=True, control=control)
        where = spec.title.casefold()

        def expect(sentence: str) -> None:
            self._offer.expect(spec.key, sentence, tuple(self._settings.get(spec.key)))

        editor.removing.connect(lambda entry: expect(f"{shown_line(entry)} removed from {where}"))
        editor.adding.connect(lambda entry: expect(f"{shown_line(entry)} added to {where}"))
        row.resetting.connect(lambda: expect(f"{spec.title}: back to the default"))
        return row

    def _say_confinement(self, scroller: Scroller) -> None:
        report = self._confinement()
        confined = report.kind != "none"
        scroller.column.addWidget(Notice("allow" if confined else "ask", report.sentence, icon="lock"))
        if report.lacks:
            words = f"Its limits: {'; '.join(report.lacks)}."
            scroller.column.addWidget(Paragraph(words, "small", "2"))

    def _where(self) -> QWidget:
        return Selectable(f"Kept in {self._settings.path}", "small", "3")
