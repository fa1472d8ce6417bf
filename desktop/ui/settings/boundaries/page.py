"""Filesystem boundaries: what confines commands, both lists, the tester, and what can be reached.

In a narrow window the lists and the tree take turns.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from desktop.domain.safety import ConfinementReport
from desktop.presenter.settings.boundaries import LISTS, BoundariesViewModel
from desktop.presenter.settings.confinement import ConfinementViewModel
from desktop.presenter.settings.page import SettingSpec, SettingsViewModel
from desktop.presenter.settings.pages import FILESYSTEM
from desktop.presenter.settings.reach import ReachViewModel
from desktop.ui.settings.boundaries.lists import ALLOWED, BoundaryList, UndoOffer
from desktop.ui.settings.boundaries.path_tester import PathTester
from desktop.ui.settings.boundaries.reach_panel import ReachPanel
from desktop.ui.settings.rows import Control, SettingRow, setting_card
from desktop.ui.theme import theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.controls.toggles import Segmented
from desktop.ui.widgets.layout.containers import Notice, Scroller
from desktop.ui.widgets.scaling import Column, Row
from desktop.ui.widgets.shown import shown_line
from desktop.ui.widgets.text import Paragraph, Piece, Selectable

NETWORK = "tools.bash.network"
NETWORKS = {"as asked": "off, except for commands that you allow to use it", "always": "on"}
BESIDE = 820
"""Pixels at 100 % of the page from which both stand side by side."""
LEFT, RIGHT = 528, 472
HEADINGS = {"allowed": "Allowed", "denied": "Denied, always wins"}
READ_BY_COMMANDS = "whatever is neither denied nor Assent's own"
LOOKING = "Finding out what confines shell commands on this computer."
NAMES = {"bubblewrap": "bubblewrap", "landlock": "Landlock", "sandbox-exec": "sandbox-exec"}


def about_commands(report: ConfinementReport) -> str:
    """A sentence on what commands can reach, which the tree's colours do not say."""
    if report.kind == "none":
        return "Colours are about file tools. Commands are not confined on this computer: they can do what you can."
    return f"Colours are about file tools. Commands write only in the allowed folders, and read {READ_BY_COMMANDS}."


class ConfinementBanner(QWidget):
    """What holds shell commands on this machine, stated: green where something does, a warning where nothing does, and
    neither until that is known."""

    def __init__(self, confinement: ConfinementViewModel, settings: SettingsViewModel) -> None:
        super().__init__()
        self._confinement, self._settings = confinement, settings
        self._column = Column(self, spacing=4)
        self.notice = Notice("info", LOOKING, icon="lock")
        self._column.addWidget(self.notice)
        settings.changed.connect(self._changed)
        confinement.found.connect(self._found)
        self._found()

    def _found(self) -> None:
        report = self._confinement.report
        if report is None:
            return
        before, self.notice = self.notice, Notice("allow" if report.kind != "none" else "failed", icon="lock")
        self._column.replaceWidget(before, self.notice)
        before.deleteLater()
        self.notice.say(self._pieces(report))
        if report.lacks and report.kind != "none":
            more = Button("What it does not confine", "quiet", small=True, chevron=True)
            limits = Paragraph(f"Not confined: {'; '.join(report.lacks)}.", "small", "2")
            limits.hide()
            more.clicked.connect(lambda: limits.setVisible(not limits.isVisible()))
            self._column.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)
            self._column.addWidget(limits)

    def _changed(self, key: str) -> None:
        if key == NETWORK and self._confinement.report is not None:
            self.notice.say(self._pieces(self._confinement.report))

    def _pieces(self, report: ConfinementReport) -> list[Piece]:
        if report.kind == "none":
            said = report.sentence.partition(": ")[2] or report.sentence
            return [
                ("Shell commands are not confined on this computer. ", "strong"),
                (f"{said[:1].upper()}{said[1:]} Their network is not confined either.", ""),
            ]
        network = NETWORKS.get(str(self._settings.get(NETWORK)), "off")
        return [
            (f"Shell commands are confined by {NAMES[report.kind]}", "strong"),
            (f": they write only in the allowed folders, and read {READ_BY_COMMANDS}. Their network is {network}.", ""),
        ]


class BoundariesPage(QWidget):
    """The page of filesystem boundaries. ``reach`` None: without the tree."""

    def __init__(
        self,
        settings: SettingsViewModel,
        boundaries: BoundariesViewModel,
        confinement: ConfinementViewModel,
        offer: UndoOffer,
        reach: ReachViewModel | None,
    ) -> None:
        super().__init__()
        self._settings, self._boundaries, self._offer = settings, boundaries, offer
        self._confinement = confinement
        self._lists: dict[str, BoundaryList] = {}
        self.beside = True
        column = Column(self, spacing=0)
        self.turns = Segmented("Show", (("lists", "Lists"), ("reach", "What can be reached")))
        self._top = QWidget()
        Row(self._top, margins=(24, 12, 24, 0)).addWidget(self.turns, 0, Qt.AlignmentFlag.AlignLeft)
        self._top.hide()
        column.addWidget(self._top)
        row = Row(spacing=0)
        self.left = self._make_left()
        row.addWidget(self.left, LEFT)
        self.panel = ReachPanel(reach) if reach is not None else None
        if self.panel is not None:
            row.addWidget(self.panel, RIGHT)
            confinement.found.connect(self._say_about_commands)
            self._say_about_commands()
            self.panel.allow_wanted.connect(self._lists[ALLOWED].propose)
            denied = next(key for key, name in LISTS.items() if name == "denied")
            self.panel.deny_wanted.connect(self._lists[denied].propose)
        column.addLayout(row, 1)
        self.turns.chosen.connect(lambda _: self._place())

    def _say_about_commands(self) -> None:
        report = self._confinement.report
        if self.panel is not None and report is not None:
            self.panel.say_about_commands(about_commands(report))

    def _make_left(self) -> Scroller:
        scroller = Scroller(margins=(24, 16, 24, 24), spacing=16)
        add = scroller.column.addWidget
        add(ConfinementBanner(self._confinement, self._settings))
        specs = [spec for spec in self._settings.schema() if spec.page == FILESYSTEM]
        for spec in specs:
            if spec.key in LISTS:
                add(self._list_row(spec))
        add(PathTester(self._boundaries))
        others = [spec for spec in specs if spec.key not in LISTS]
        if others:
            add(setting_card(self._settings, others))
        add(Selectable(f"Saved in {self._settings.path}", "small", "3"))
        scroller.column.addStretch(1)
        return scroller

    def _list_row(self, spec: SettingSpec) -> SettingRow:
        """A list of the boundary; what is done to it can be undone."""
        editor = self._lists[spec.key] = BoundaryList(spec.title, spec.key, self._boundaries)
        control = Control(editor, lambda value: editor.set_entries(tuple(str(entry) for entry in value)))
        editor.edited.connect(control.tell)
        row = SettingRow(
            self._settings, spec, control=control, heading=HEADINGS[LISTS[spec.key]], tools=editor.add_button
        )
        where = spec.title.casefold()

        def expect(sentence: str) -> None:
            self._offer.expect(spec.key, sentence, tuple(self._settings.get(spec.key)))

        editor.removing.connect(lambda entry: expect(f"{shown_line(entry)} removed from {where}"))
        editor.adding.connect(lambda entry: expect(f"{shown_line(entry)} added to {where}"))
        row.resetting.connect(lambda: expect(f"{spec.title}: back to the default"))
        return row

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side, or in turns."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        if self.panel is None:
            return
        self.beside = self.width() >= theme().px(BESIDE)
        self._top.setVisible(not self.beside)
        self.left.setVisible(self.beside or self.turns.value == "lists")
        self.panel.setVisible(self.beside or self.turns.value == "reach")
