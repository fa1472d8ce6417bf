"""The reach explorer as a person uses it: keys, pointer, menu, proof, and what it says."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot
from shots.reach import WORK, SampleReach

from desktop.domain.approval.reach import HostRow, LastProof, Level, Proof, ProofLine, Reached, ReachRow
from desktop.domain.errors import ConfigurationError
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.reach import ReachViewModel
from desktop.safety.boundary.reach import level
from desktop.ui.settings.boundaries.page import BoundariesPage
from desktop.ui.settings.boundaries.reach_panel import ReachPanel, when
from desktop.ui.theme import Theme
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.marks import StateLabel
from tests.gui.settings.page_kit import settings_page
from tests.gui.settings.test_settings import OPEN, Shown
from tests.gui.shell.test_window import spin

FOUND = Reached("passes", "category", "It is inside.")


class ReachOnDisk:
    """A service over real folders; what it answers can be changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.words = "reads, writes ask"
        self.asked: list[tuple[str, int]] = []
        self.proved: list[str] = []
        self.looked: list[str] = []
        self.listeners: list[Callable[[], None]] = []
        self.hold: asyncio.Event | None = None
        self.project = ""
        self.marks: tuple[str, ...] = ()

    def agents(self) -> Sequence[tuple[str, str]]:
        return (("reader", "Reader"), ("broken", "Broken"))

    def roots(self) -> tuple[str, ...]:
        return (self.project,) if self.project else (str(self.root),)

    def work_in(self, project: str) -> None:
        self.project = project

    def landmarks(self) -> tuple[str, ...]:
        return self.marks

    async def level(self, path: str) -> Level:
        return await asyncio.to_thread(level, path)

    async def judge(self, agent: str, paths: Sequence[str]) -> tuple[ReachRow, ...]:
        if agent == "broken":
            raise ConfigurationError("The agent Broken needs a skill.", next_step="Choose another.")
        self.asked.append((agent, len(paths)))
        if self.hold is not None:
            await self.hold.wait()
        return tuple(
            ReachRow(path, "dir", "asks", self.words, FOUND, FOUND, path, opens=os.path.isdir(path)) for path in paths
        )

    async def hosts(self, agent: str) -> tuple[HostRow, ...]:
        if agent == "broken":
            raise ConfigurationError("The agent Broken needs a skill.", next_step="Choose another.")
        self.looked.append(agent)
        denied = Reached("denied", "rule", "The rule web-fetch(host=paste.example,$deny) decides about web-fetch.")
        asks = Reached("asks", "category", "You have not allowed it yet.")
        passes = Reached("passes", "rule", "A rule.")
        return (
            HostRow(True, "api.tavily.com", passes, "your search service"),
            HostRow(False, "paste.example", denied, "named in a rule"),
            HostRow(False, "a\u202eb.example", asks, "read before"),
            HostRow(False, "", asks, ""),
        )

    async def prove(self, agent: str, path: str) -> Proof:
        self.proved.append(path)
        line = ProofLine("command", "read", "refused", "refused by the kernel (EACCES)")
        return Proof(path, 0.0, (line,), "both refused by the kernel")

    async def last_proof(self) -> LastProof | None:
        return LastProof("/x/secrets", 0.0, "both opened")

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: None


class Explorer:
    """A panel over a service."""

    def __init__(self, root: Path, projects: Sequence[str] = ()) -> None:
        self.projects = list(projects)
        self.service, self.bridge = ReachOnDisk(root), Bridge()
        self.reach = ReachViewModel(self.service, self.bridge, self.recent)
        self.panel = ReachPanel(self.reach)
        self.panel.resize(472, 700)
        self.rows = self.panel.list

    async def recent(self) -> list[str]:
        return self.projects

    async def shown(self) -> None:
        self.panel.show()
        self.panel.activateWindow()
        await self.quiet()

    async def quiet(self) -> None:
        """Until nothing is read or judged any more, and what is in sight is known."""
        for _ in range(3000):
            spin(1)
            await asyncio.sleep(0.01)
            rows = self.rows.rows_in_sight()
            wanted = self.reach.tree.wanted(rows.start, rows.stop - 1)
            if not self.bridge.task_names and not (wanted and not self.reach.problem):
                return
        raise AssertionError(self.bridge.task_names)

    @property
    def names(self) -> list[str]:
        tree = self.reach.tree
        return [tree.shown(at).note or tree.shown(at).name for at in range(tree.rowCount())]

    @property
    def at(self) -> str:
        row = self.rows.currentIndex().row()
        return self.reach.tree.shown(row).name if row >= 0 else ""

    def key(self, key: Qt.Key) -> None:
        QTest.keyClick(self.rows, key)

    @property
    def words(self) -> str:
        return "\n".join(label.text() for label in self.panel.findChildren(QLabel) if label.isVisible())


@pytest.fixture
async def explorer(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Explorer]:
    for name in ("docs/deep/er", "out"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("docs/a.md", "docs/b.md", "note.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "docs/up").symlink_to(tmp_path)
    made = Explorer(tmp_path)
    qtbot.addWidget(made.panel)
    yield made
    await made.bridge.shutdown(1.0)


async def test_nothing_is_read_before_the_tree_is_seen_and_then_one_level(explorer: Explorer) -> None:
    spin(20)
    assert explorer.names == []
    assert explorer.service.asked == []
    await explorer.shown()
    assert explorer.names == [str(explorer.service.root), "docs", "out", "note.txt"]
    assert sum(count for _, count in explorer.service.asked) == 4


async def test_arrows_open_and_close_go_in_and_out_and_return_does_either(explorer: Explorer) -> None:
    await explorer.shown()
    explorer.rows.setFocus()
    explorer.rows.go_to(0)
    for key, at in ((Qt.Key.Key_Right, "docs"), (Qt.Key.Key_Right, "docs")):
        explorer.key(key)
        await explorer.quiet()
        assert explorer.at == at
    assert explorer.names[1:6] == ["docs", "deep", "a.md", "b.md", "up"]
    explorer.key(Qt.Key.Key_Right)
    assert explorer.at == "deep"
    explorer.key(Qt.Key.Key_Left)
    assert explorer.at == "docs"
    explorer.key(Qt.Key.Key_Left)
    assert explorer.names == [str(explorer.service.root), "docs", "out", "note.txt"]
    explorer.key(Qt.Key.Key_Return)
    await explorer.quiet()
    assert "deep" in explorer.names
    for key, at in (
        (Qt.Key.Key_End, "note.txt"),
        (Qt.Key.Key_Home, str(explorer.service.root)),
        (Qt.Key.Key_Down, "docs"),
    ):
        explorer.key(key)
        assert explorer.at == at


async def test_letters_find_a_name_and_the_same_letter_the_next(explorer: Explorer) -> None:
    await explorer.shown()
    explorer.rows.setFocus()
    explorer.rows.go_to(0)
    explorer.reach.open(1)
    await explorer.quiet()
    explorer.rows.go_to(1)
    QTest.keyClicks(explorer.rows, "no")
    assert explorer.at == "note.txt"
    explorer.rows._pause.stop()
    explorer.rows.go_to(2)
    QTest.keyClicks(explorer.rows, "b")
    assert explorer.at == "b.md"


async def test_a_link_opens_where_it_leads_and_loops_end_with_the_patience_of_the_person(explorer: Explorer) -> None:
    await explorer.shown()
    path = str(explorer.service.root)
    for name in ("docs", "up", "docs", "up"):
        path = os.path.join(path, name)
        row = next(at for at in range(explorer.reach.tree.rowCount()) if explorer.reach.tree.shown(at).path == path)
        explorer.reach.open(row)
        await explorer.quiet()
    assert explorer.names.count("deep") == 2
    assert explorer.names.count("note.txt") == 3


async def test_a_click_on_the_chevron_opens_and_one_on_the_name_chooses(explorer: Explorer) -> None:
    await explorer.shown()
    rect = explorer.rows.visualRect(explorer.reach.tree.index(1))
    QTest.mouseClick(explorer.rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(150, rect.center().y()))
    assert explorer.at == "docs"
    assert explorer.names == [str(explorer.service.root), "docs", "out", "note.txt"]
    QTest.mouseClick(explorer.rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(43, rect.center().y()))
    await explorer.quiet()
    assert "deep" in explorer.names


@pytest.mark.spec("R-FS-12")
async def test_what_is_seen_is_judged_anew_when_lists_rules_or_the_agent_change(explorer: Explorer) -> None:
    await explorer.shown()
    tree, service = explorer.reach.tree, explorer.service
    assert tree.shown(1).judged.words == "reads, writes ask"  # type: ignore[union-attr]
    service.words = "denied"
    for listener in service.listeners:
        listener()
    await explorer.quiet()
    assert tree.shown(1).judged.words == "denied"  # type: ignore[union-attr]
    explorer.panel.agent.setCurrentIndex(1)
    explorer.panel.agent.activated.emit(1)
    await explorer.quiet()
    assert service.asked[-1][0] == "reader"


async def test_an_answer_from_before_a_change_is_not_shown(explorer: Explorer) -> None:
    service = explorer.service
    service.hold = asyncio.Event()
    explorer.panel.show()
    for _ in range(3000):
        spin(1)
        await asyncio.sleep(0.01)
        if service.asked and explorer.reach.tree.rowCount() > 1:
            break
    service.listeners[0]()
    service.words = "denied"
    service.hold.set()
    await explorer.quiet()
    assert {explorer.reach.tree.shown(at).judged.words for at in range(4)} == {"denied"}  # type: ignore[union-attr]


async def test_an_agent_that_cannot_work_is_told_and_another_one_chosen(explorer: Explorer) -> None:
    await explorer.shown()
    explorer.reach.set_agent("broken")
    await explorer.quiet()
    assert "The agent Broken needs a skill. Choose another." in explorer.words
    explorer.reach.set_agent("")
    await explorer.quiet()
    assert not explorer.panel.problem.isVisible()


async def test_a_row_is_heard_with_its_name_and_state(explorer: Explorer) -> None:
    await explorer.shown()
    heard = QAccessible.queryAccessibleInterface(explorer.rows)
    assert heard.text(QAccessible.Text.Name) == "What can be reached"
    cell = heard.child(1)
    assert cell.text(QAccessible.Text.Name) == "docs, folder, closed, level 2: reads, writes ask"


async def test_the_menu_offers_what_can_be_done(explorer: Explorer) -> None:
    await explorer.shown()
    said: list[tuple[str, str]] = []
    explorer.panel.allow_wanted.connect(lambda path: said.append(("allow", path)))
    explorer.panel.deny_wanted.connect(lambda path: said.append(("deny", path)))
    menu = explorer.panel.make_menu(1)
    acts = {action.text(): action for action in menu.actions()}
    assert list(acts) == ["Open", "Prove it", "Allow this folder…", "Deny this…", "Copy path", "Read again\tF5"]
    docs = str(explorer.service.root / "docs")
    for text in ("Allow this folder…", "Deny this…", "Copy path", "Prove it"):
        acts[text].trigger()
    await explorer.quiet()
    assert said == [("allow", docs), ("deny", docs)]
    assert QGuiApplication.clipboard().text() == docs
    assert explorer.service.proved == [docs]
    file_menu = explorer.panel.make_menu(3)
    offers = {action.text(): action.isEnabled() for action in file_menu.actions()}
    assert not offers["Allow this folder…"]
    assert offers["Deny this…"]
    for made in (menu, file_menu):
        made.deleteLater()


async def test_f5_reads_a_folder_anew(explorer: Explorer) -> None:
    await explorer.shown()
    (explorer.service.root / "new.txt").write_text("x")
    assert "new.txt" not in explorer.names, "nothing is watched"
    explorer.rows.setFocus()
    explorer.rows.go_to(0)
    explorer.key(Qt.Key.Key_F5)
    await explorer.quiet()
    assert "new.txt" in explorer.names


async def test_a_folder_that_went_away_says_so(explorer: Explorer) -> None:
    await explorer.shown()
    (explorer.service.root / "out").rmdir()
    explorer.reach.open(2)
    await explorer.quiet()
    assert "Cannot be read: No such file or directory" in explorer.names
    told: list[str] = []
    explorer.reach.told.connect(told.append)
    explorer.reach.reveal(str(explorer.service.root / "out" / "x"))
    await explorer.quiet()
    assert told == [f"{explorer.service.root}/out/x is not there now."]


async def test_the_allowed_folders_are_found_at_first(explorer: Explorer) -> None:
    explorer.service.marks = (str(explorer.service.root / "docs" / "deep" / "er"), "/elsewhere")
    await explorer.shown()
    assert explorer.at == "er"
    assert explorer.names[1:4] == ["docs", "deep", "er"]


async def test_what_the_person_has_chosen_is_not_chosen_away_by_the_first_look(explorer: Explorer) -> None:
    """A click on Prove it would be lost: what was tried is no longer what is chosen."""
    explorer.service.marks = (str(explorer.service.root / "docs" / "deep" / "er"),)
    explorer.panel.show()
    while "out" not in explorer.names:
        spin(1)
        await asyncio.sleep(0.001)
    explorer.rows.go_to(explorer.names.index("out"))
    await explorer.quiet()
    assert explorer.at == "out"


async def test_what_a_proof_came_to_is_brought_into_sight(explorer: Explorer) -> None:
    explorer.panel.resize(472, 260)
    await explorer.shown()
    explorer.rows.go_to(1)
    explorer.reach.prove(str(explorer.service.root / "docs"))
    await explorer.quiet()
    spin(2)
    label = next(found for found in explorer.panel.findChildren(StateLabel) if "kernel" in found.accessibleName())
    assert label.visibleRegion().boundingRect().height() == label.height()


async def test_a_proof_is_asked_for_what_is_chosen_and_told_with_its_time(explorer: Explorer) -> None:
    await explorer.shown()
    box = explorer.panel.prove
    assert not box.button.isEnabled()
    explorer.rows.go_to(1)
    assert "Tries to read and write docs from inside the confinement" in box.words.text()
    assert "Last proof of secrets:" in box.words.text()
    box.button.click()
    assert box.button.label == "Trying…"
    assert not box.button.isEnabled()
    await explorer.quiet()
    assert explorer.service.proved == [str(explorer.service.root / "docs")]
    assert "both refused by the kernel." in box.words.text()
    assert not box.warning.isVisible()
    explorer.rows.go_to(2)
    assert "Last proof of docs:" in box.words.text()


# -- in the page ------------------------------------------------------------------------------------------------------


class Page(Shown):
    """The settings page with the sample tree."""

    def __init__(self) -> None:
        super().__init__()
        self.page.close()
        self.page.deleteLater()
        self.reach = SampleReach()
        self.page = settings_page(
            self.settings,
            OPEN,
            setup=self.setup,
            boundaries=self.boundaries,
            middleware=self.middleware,
            reach=self.reach,
        )
        self.page.resize(1216, 800)
        self.page.show()
        self.page.activateWindow()
        self.page.show_settings("Filesystem")
        spin()

    @property
    def boundary(self) -> Any:
        return self.page.findChild(BoundariesPage)


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Page:
    made = Page()
    qtbot.addWidget(made.page)
    return made


def warned(shown: Page, agrees: Any, note: str) -> str:
    shown.reach.lines = (ProofLine("command", "read", "opened", "opened", agrees, note),)
    shown.reach.prove(f"{WORK}/secrets")
    spin()
    notice = shown.boundary.panel.prove.warning
    return notice.words if notice.isVisible() else ""


def test_what_differs_from_the_tint_is_a_loud_warning_that_says_whether_it_is_a_bug(shown: Page) -> None:
    assert warned(shown, "yes", "") == ""
    assert warned(shown, "bug", "Report it.") == "Something is open that must not be. Report it."
    assert shown.boundary.panel.prove.warning.property("pane") == "failed"
    assert "nothing confines commands" in warned(shown, "unconfined", "They can do what you can.")
    assert warned(shown, "limit", "Known.").startswith("Open to commands, though not to file tools")
    assert shown.boundary.panel.prove.warning.property("pane") == "info", "the tree says so, too"


@pytest.mark.spec("R-FS-11", "R-FS-14")
def test_a_folder_of_the_tree_is_allowed_or_denied_only_after_a_confirmation_and_can_be_undone(shown: Page) -> None:
    for wanted, key in (("allow_wanted", "security.allowed_paths"), ("deny_wanted", "security.denied_paths")):
        before = tuple(shown.settings.get(key))
        signal = getattr(shown.boundary.panel, wanted)
        signal.emit("/home/ida/work/letters")
        (dialog,) = [one for one in shown.page.findChildren(Dialog) if one.isVisible()]
        assert shown.page.window().focusWidget() is dialog.buttons["cancel"]
        dialog.buttons["cancel"].click()
        assert shown.settings.get(key) == before
        signal.emit("/home/ida/work/letters")
        spin()
        next(one for one in shown.page.findChildren(Dialog) if one.isVisible()).buttons["add"].click()
        assert shown.settings.get(key) == (*before, "/home/ida/work/letters")
        shown.page.toast._undo.click()
        assert shown.settings.get(key) == before


def test_what_went_wrong_is_told_in_a_toast(shown: Page) -> None:
    shown.reach.told.emit("/home/ida/x is not there now.")
    assert shown.page.toast.text == "/home/ida/x is not there now."


def test_in_a_narrow_window_lists_and_tree_take_turns(shown: Page) -> None:
    boundary = shown.boundary
    assert boundary.left.isVisible()
    assert boundary.panel.isVisible()
    shown.page.resize(900, 600)
    spin()
    assert not boundary.beside
    assert (boundary.left.isVisible(), boundary.panel.isVisible()) == (True, False)
    boundary.turns._group.button(1).click()
    assert (boundary.left.isVisible(), boundary.panel.isVisible()) == (False, True)
    shown.page.resize(1216, 800)
    spin()
    assert (boundary.left.isVisible(), boundary.panel.isVisible()) == (True, True)


def test_the_time_of_a_proof_is_told_as_one_says_it() -> None:
    now = 1_800_000_000.0
    assert when(now - 60, now).startswith("today ")
    assert not when(now - 3 * 86400, now).startswith("today ")
    assert when(now - 800 * 86400, now).startswith("2024-")


@pytest.mark.spec("R-PRJ-2")
async def test_what_a_chat_in_a_project_reaches_is_shown_where_one_is_chosen(qtbot: QtBot, tmp_path: Path) -> None:
    project = tmp_path / "tides"
    project.mkdir()
    explorer = Explorer(tmp_path, [str(project)])
    qtbot.addWidget(explorer.panel)
    await explorer.shown()
    combo = explorer.panel.project
    assert combo.isVisible()
    assert [combo.itemText(at) for at in range(combo.count())] == ["no project", "tides"]
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    await explorer.quiet()
    assert explorer.service.project == str(project)
    assert explorer.reach.tree.root.names == (str(project),)
    none = Explorer(tmp_path)
    qtbot.addWidget(none.panel)
    await none.shown()
    assert not none.panel.project.isVisible(), "nobody is asked for what there is none of"


@pytest.mark.spec("R-WEB-1")
async def test_hosts_stand_beside_files_and_are_read_when_they_are_looked_at(explorer: Explorer) -> None:
    await explorer.shown()
    assert explorer.service.looked == []
    panel = explorer.panel
    panel.what.findChildren(QAbstractButton)[1].click()
    await explorer.quiet()
    assert (panel.files.isVisible(), panel.hosts.isVisible(), explorer.service.looked) == (False, True, [""])
    said = [line.accessibleName() for line in panel.hosts.findChildren(QWidget) if ": " in line.accessibleName()]
    assert said == [
        "api.tavily.com: searches by a rule",
        "paste.example: denied by a rule",
        "a\\u{202e}b.example: reads ask you",
        "any other host: reads ask you",
    ]
    explorer.reach.set_agent("reader")
    for listener in explorer.service.listeners:
        listener()
    await explorer.quiet()
    assert explorer.service.looked == ["", "reader", "reader"], "for another agent, and when rules change"
    explorer.reach.set_agent("broken")
    await explorer.quiet()
    assert panel.problem.isVisible()
    panel.what.findChildren(QAbstractButton)[0].click()
    before = len(explorer.service.looked)
    explorer.reach.set_agent("")
    await explorer.quiet()
    assert len(explorer.service.looked) == before, "nobody sees them"
