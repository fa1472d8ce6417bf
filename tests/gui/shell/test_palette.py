"""The command palette, by keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.presenter.shell.window import PaletteRow, ShellViewModel
from desktop.ui.shell.main_window import MainWindow
from desktop.ui.shell.palette import Palette
from desktop.ui.shell.palette_list import ROW
from desktop.ui.theme import Theme
from desktop.ui.widgets.marks import split_keys
from tests.gui.shell.test_window import spin
from tests.harness.windows import activate

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


class Found:
    def __init__(self, theme: Theme) -> None:
        self.ran: list[str] = []
        self.shell = ShellViewModel(lambda _key, _value: None)
        self.shell.command_run.connect(self.ran.append)
        self.shell.add_source(lambda: [PaletteRow("thread:1", "Gaps in the March data", "today", "Chats", "chats")])
        self.shell.add_source(lambda: [PaletteRow("skill:gap", "gap-plot", "", "Skills", "skills", mono=True)])
        self.field = QLineEdit()
        self.window = MainWindow(self.shell.window_state())
        self.window.furnish(theme, self.shell, {"chats": self._page})
        activate(self.window)
        self.field.setFocus()
        QTest.keyClick(self.window, Key.Key_K, CONTROL)

    def _page(self) -> QWidget:
        return self.field

    @property
    def palette(self) -> Palette:
        found = self.window.findChild(Palette)
        assert isinstance(found, Palette)
        return found

    def type(self, text: str) -> None:
        QTest.keyClicks(self.palette._field, text)

    def key(self, key: Qt.Key) -> None:
        QTest.keyClick(self.palette._field, key)

    @property
    def titles(self) -> list[str]:
        model = self.palette._model
        return [model.data(model.index(row)) for row in range(model.rowCount())]


@pytest.fixture
def found(qtbot: QtBot, theme: Theme) -> Found:
    made = Found(theme)
    qtbot.addWidget(made.window)
    return made


def test_it_opens_over_the_window_with_the_keys_in_its_field(found: Found) -> None:
    assert found.palette.isVisible()
    assert found.window.focusWidget() is found.palette._field
    assert "Chats" in " ".join(found.titles)


def test_matches_are_found_in_threads_and_named_by_their_place(found: Found) -> None:
    found.type("gaps")
    row = found.palette._list.currentIndex().data(ROW)
    assert (row.id, row.ranges) == ("thread:1", ((0, 4),))


def test_enter_runs_what_is_marked_and_closes(found: Found) -> None:
    found.type("gaps")
    found.key(Key.Key_Return)
    assert found.ran == ["thread:1"]
    assert not found.palette.isVisible()


def test_down_and_up_pass_over_headings(found: Found) -> None:
    found.type("theme")
    first = found.palette._list.currentIndex().data(ROW).title
    found.key(Key.Key_Down)
    second = found.palette._list.currentIndex().data(ROW).title
    found.key(Key.Key_Up)
    assert first != second
    assert found.palette._list.currentIndex().data(ROW).title == first


def test_escape_closes_without_running_anything_and_gives_the_keys_back(found: Found) -> None:
    found.type("quit")
    found.key(Key.Key_Escape)
    assert (found.palette.isVisible(), found.ran) == (False, [])
    assert found.window.focusWidget() is found.field


def test_a_click_beside_it_closes_it(found: Found) -> None:
    QTest.mouseClick(found.palette, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert not found.palette.isVisible()


def test_tab_narrows_to_one_kind_and_goes_round(found: Found) -> None:
    found.type("a")
    groups = len(found.palette._groups)
    everything = found.titles
    found.key(Key.Key_Tab)
    assert len({r.group for r in found.palette._rows if r.title in found.titles}) >= 1
    assert len(found.titles) < len(everything)
    for _ in range(groups - 1):
        found.key(Key.Key_Tab)
    assert found.titles == everything


def test_nothing_found_is_said(found: Found) -> None:
    found.type("zzzzqqq")
    assert found.titles == []
    assert found.palette._nothing.isVisible()
    found.key(Key.Key_Return)
    assert found.ran == []


def test_it_keeps_inside_a_small_window(found: Found) -> None:
    found.window.resize(540, 440)
    spin()
    box = found.palette._box.geometry().intersected(found.palette.rect())
    assert found.palette.size() == found.window.size()
    assert box.bottom() <= found.window.height()


@pytest.mark.parametrize(
    ("shortcut", "keys"), [("", []), ("Ctrl+Shift+F", ["Ctrl", "Shift", "F"]), ("Ctrl++", ["Ctrl", "+"])]
)
def test_a_shortcut_is_split_into_keys(shortcut: str, keys: list[str]) -> None:
    assert split_keys(shortcut) == keys


def test_the_name_of_a_skill_is_in_mono_and_the_page_of_skills_is_not(found: Found) -> None:
    rows: dict[str, PaletteRow] = {}
    found.shell.palette_results.connect(lambda _, found_rows: rows.update({row.id: row for row in found_rows}))
    found.shell.palette_query("skills")
    found.shell.palette_query("gap")
    assert (rows["skill:gap"].mono, rows["page:skills"].mono) == (True, False)
    assert rows["skill:gap"].ranges
