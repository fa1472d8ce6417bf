"""The boundary in the settings: dangerous changes are confirmed in words and can be undone, a path is tested."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame, QLabel
from pytestqt.qtbot import QtBot

from desktop.domain.safety import SafetySettings
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.boundaries import BoundariesViewModel
from desktop.safety.boundary.entries import describe
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.boundary.reach import first_link
from desktop.safety.confinement.profile import profile_for
from desktop.ui.settings.boundaries.lists import BoundaryList, EntryRow
from desktop.ui.settings.boundaries.path_tester import PathTester
from desktop.ui.theme import Theme
from desktop.ui.widgets.dialogs.base import Dialog
from desktop.ui.widgets.marks import StateLabel
from tests.gui.settings.test_settings import Shown
from tests.gui.shell.test_window import spin

ALLOWED, DENIED = "security.allowed_paths", "security.denied_paths"


class Boundaries(Shown):
    def editor(self, key: str) -> BoundaryList:
        found = self.row(key).findChild(BoundaryList)
        assert found is not None
        return found

    def entry(self, key: str, text: str) -> EntryRow:
        return next(row for row in self.editor(key).findChildren(EntryRow) if row.entry == text)

    def value(self, key: str) -> tuple[str, ...]:
        return tuple(self.settings.get(key))

    @property
    def dialogs(self) -> list[Dialog]:
        return [dialog for dialog in self.page.findChildren(Dialog) if dialog.isVisible()]

    def add(self, key: str, text: str) -> None:
        editor = self.editor(key)
        if not editor.field.isVisible():
            editor.add_button.click()
        field = editor.field
        field.setText(text)
        QTest.keyClick(field, Qt.Key.Key_Return)

    def undo(self) -> None:
        assert self.page.toast.isVisible()
        self.page.toast._undo.click()


@pytest.fixture
def shown(qtbot: QtBot, theme: Theme) -> Boundaries:
    made = Boundaries()
    qtbot.addWidget(made.page)
    made.page.show_settings("Filesystem")
    spin()
    return made


@pytest.mark.spec("R-FS-14")
def test_a_denial_is_removed_only_after_a_confirmation_that_names_the_risk(shown: Boundaries) -> None:
    before = shown.value(DENIED)
    shown.entry(DENIED, "~/.ssh").cross.click()
    (dialog,) = shown.dialogs
    assert "~/.ssh holds keys. Commands could then read it." in shown.words
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert shown.value(DENIED) == before
    shown.entry(DENIED, "~/.ssh").cross.click()
    shown.dialogs[0].buttons["remove"].click()
    assert "~/.ssh" not in shown.value(DENIED)
    assert "~/.ssh removed from denied folders" in shown.page.toast.text
    shown.undo()
    assert shown.value(DENIED) == before


@pytest.mark.spec("R-FS-11")
@pytest.mark.parametrize("entry", ["/", "~"])
def test_the_whole_computer_or_home_is_allowed_only_after_a_confirmation(shown: Boundaries, entry: str) -> None:
    before = shown.value(ALLOWED)
    shown.add(ALLOWED, entry)
    (dialog,) = shown.dialogs
    assert "without asking" in shown.words
    assert shown.page.window().focusWidget() is dialog.buttons["cancel"]
    dialog.buttons["cancel"].click()
    assert shown.value(ALLOWED) == before
    shown.add(ALLOWED, entry)
    shown.dialogs[0].buttons["add"].click()
    assert shown.value(ALLOWED) == (*before, entry)
    shown.undo()
    assert shown.value(ALLOWED) == before


@pytest.mark.spec("R-FS-11")
def test_an_entry_shows_where_it_leads_and_its_warnings(shown: Boundaries) -> None:
    shown.add(ALLOWED, "~/data")
    spin()
    assert shown.dialogs == []
    row = shown.entry(ALLOWED, "~/data")
    assert "/mnt/disk/data" in shown.words
    marks = [mark.accessibleName() for mark in row.findChildren(StateLabel) if mark.isVisible()]
    assert marks == ["holds a denied child", "a link"]
    assert row.cross.accessibleDescription().startswith("Is a link, or lies behind one")
    assert "Is a link, or lies behind one, holds ~/.ssh, which stays denied" in shown.words


def hover(row: EntryRow) -> QPoint:
    """The pointer comes to the cross of a row; where that is on the page."""
    card = row.parentWidget()
    QApplication.sendEvent(card, QEvent(QEvent.Type.Enter))
    card.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    return row.cross.mapToGlobal(row.cross.rect().center())


def test_after_a_removal_no_other_cross_lies_under_the_pointer_until_it_has_left(shown: Boundaries) -> None:
    for name in ("~/one", "~/two", "~/three"):
        shown.add(ALLOWED, name)
    spin()
    row = shown.entry(ALLOWED, "~/one")
    place = hover(row)
    row.cross.setFocus(Qt.FocusReason.MouseFocusReason)
    row.cross.click()
    spin()
    crosses = [e.cross for e in shown.editor(ALLOWED).findChildren(EntryRow) if e.cross.isVisible()]
    assert len(crosses) == 4
    assert not any(cross.rect().contains(cross.mapFromGlobal(place)) for cross in crosses)
    assert shown.page.window().focusWidget() is shown.entry(ALLOWED, "~/two").cross
    card = row.parentWidget()
    card.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(card, QEvent(QEvent.Type.Leave))
    spin()
    assert [e.entry for e in shown.editor(ALLOWED).findChildren(EntryRow) if e.isVisible()][-2:] == ["~/two", "~/three"]


def test_by_keyboard_the_focus_goes_from_cross_to_cross_and_last_to_the_button_that_adds(shown: Boundaries) -> None:
    shown.add(ALLOWED, "~/one")
    spin()
    shown.entry(ALLOWED, "/tmp/agent").cross.setFocus()
    for expected in ("~/one", "~/.agent/workspace"):
        QTest.keyClick(shown.page.window().focusWidget(), Qt.Key.Key_Space)
        spin()
        assert shown.page.window().focusWidget() is shown.entry(ALLOWED, expected).cross
    QTest.keyClick(shown.page.window().focusWidget(), Qt.Key.Key_Space)
    spin()
    assert shown.page.window().focusWidget() is shown.editor(ALLOWED).add_button
    assert shown.value(ALLOWED) == ()


def test_back_to_the_default_can_be_undone(shown: Boundaries) -> None:
    shown.add(ALLOWED, "~/one")
    before = shown.value(ALLOWED)
    shown.row(ALLOWED)._reset.click()
    assert shown.value(ALLOWED) != before
    shown.undo()
    assert shown.value(ALLOWED) == before


def test_what_the_settings_refuse_is_not_offered_to_be_undone(shown: Boundaries) -> None:
    editor = shown.editor(ALLOWED)
    editor.adding.emit("x")
    shown.settings.refused.emit(ALLOWED, "The list is too long.")
    shown.settings.changed.emit(ALLOWED)
    assert not shown.page.toast.isVisible()


@pytest.mark.spec("R-FS-11")
async def test_the_tester_says_what_the_boundary_says_for_reading_and_writing_and_by_which_rule(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / ".git").mkdir(parents=True)
    settings = SafetySettings(str(workspace), (str(workspace),), (str(workspace / "private"),))
    policy, bridge = BoundaryPolicy(str(tmp_path / "home"), lambda: settings), Bridge()

    def commands(path: str) -> tuple[bool, bool]:
        return profile_for(policy, lambda: settings).reach(path, "landlock")

    view_model = BoundariesViewModel(
        bridge,
        lambda name, entry: describe(name, entry, settings),
        policy.explain,
        lambda path: first_link(path, lambda: settings),
        commands=commands,
    )
    tester = PathTester(view_model)
    qtbot.addWidget(tester)
    tester.resize(700, 300)
    tester.show()

    async def said(path: str) -> str:
        answers: list[str] = []
        view_model.judged.connect(lambda asked, *_: answers.append(asked))
        tester.field.setText(path)
        tester.ask()
        while path not in answers:
            spin(1)
            await asyncio.sleep(0.01)
        spin(1)
        words = [label.text() for label in tester.card.findChildren(QLabel) if label.isVisible()]
        names = [frame.accessibleName() for frame in tester.card.findChildren(QFrame) if frame.accessibleName()]
        return "\n".join((*names, *words))

    (workspace / "keys").symlink_to(workspace / "private")
    assert f"Read: allowed by {workspace}. Write: allowed by {workspace}" in await said("a")
    assert "Each write asks first" in await said("b")
    assert "asks as admin: files in .git" in await said(".git/hooks/x")
    assert f"Read: denied by {workspace}/private. Write: denied by" in await said("private/x")
    assert f"Really is {workspace}/private/x, because keys is a link." in await said("keys/x")
    away = await said("/etc/hostname")
    assert "outside the allowed folders" in away
    assert "Commands can read it, not write it." in away
    assert "Commands can read and write it." in await said("a")
    assert "is no path" not in await said("a")
    tester.field.clear()
    tester.ask()
    assert not tester.card.isVisible()
    await bridge.shutdown(1.0)


@pytest.mark.spec("R-FS-11")
async def test_entries_are_described_by_the_function_that_resolves_them(tmp_path: Path) -> None:
    settings, bridge = SafetySettings(str(tmp_path)), Bridge()
    view_model = BoundariesViewModel(
        bridge,
        lambda name, entry: describe(name, entry, settings),
        BoundaryPolicy(str(tmp_path), lambda: settings).explain,
        lambda _path: "",
    )
    described, considered = [], []
    view_model.described.connect(lambda key, facts: described.append((key, facts)))
    view_model.considered.connect(lambda key, facts: considered.append((key, facts)))
    view_model.describe(ALLOWED, ("gone", "."))
    view_model.consider(ALLOWED, "/")
    while not (described and considered):
        await asyncio.sleep(0.01)
    ((key, (gone, here)),) = described
    assert (key, gone.warnings, here.resolved) == (ALLOWED, ("does not exist",), str(tmp_path.resolve()))
    assert "whole computer" in considered[0][1].adding
    await bridge.shutdown(1.0)


def test_after_a_folder_was_added_the_keys_are_where_the_next_one_is_added(shown: Boundaries) -> None:
    editor = shown.editor(DENIED)
    editor.add_button.setFocus()
    shown.add(DENIED, "/tmp/a-new-one")
    for dialog in shown.dialogs:
        dialog.buttons["add"].click()
    spin()
    assert "/tmp/a-new-one" in shown.value(DENIED)
    assert shown.page.window().focusWidget() is editor.add_button
