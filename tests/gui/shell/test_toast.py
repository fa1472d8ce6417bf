"""The sentence at the foot of a page: it covers nothing one needs, and Undo is there for keys, too."""


import pytest
from PySide6.QtCore import QRect, QStringListModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView, QPlainTextEdit, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Theme
from desktop.ui.widgets.toast import Toast
from tests.harness.windows import activate


@pytest.fixture
def pane(qtbot: QtBot, theme: Theme) -> QWidget:
    made = QWidget()
    made.resize(700, 500)
    qtbot.addWidget(made)
    return made


def box(toast: Toast) -> QRect:
    """Where it will stand when it has slid in."""
    return toast._spot


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_it_covers_no_button_and_no_last_row(pane: QWidget, theme: Theme, scale: float) -> None:
    theme.set_scale(scale)
    button = QPushButton("Save", pane)
    button.setGeometry(30, 420, 120, 60)
    rows = QListView(pane)
    rows.setModel(QStringListModel([f"Row {n}" for n in range(40)], rows))
    rows.setGeometry(160, 0, 500, 380)
    toast = Toast(pane)
    pane.show()
    rows.scrollToBottom()
    toast.say("“A chat with a long name, as people give them” deleted", "token")
    last = rows.visualRect(rows.model().index(39, 0))
    last.moveTopLeft(rows.viewport().mapTo(pane, last.topLeft()))
    assert last.bottom() > 300, "it is in sight"
    assert not box(toast).intersects(button.geometry())
    assert not box(toast).intersects(last)
    assert pane.rect().contains(box(toast))


def test_where_all_is_full_it_covers_what_can_be_scrolled_away(pane: QWidget) -> None:
    area = QScrollArea(pane)
    area.setGeometry(0, 0, 700, 440)
    content = QWidget()
    content.resize(660, 1400)
    for n in range(35):
        QPushButton(f"Switch {n}", content).setGeometry(0, n * 40, 600, 38)
    area.setWidget(content)
    save = QPushButton("Save", pane)
    save.setGeometry(10, 450, 120, 40)
    toast = Toast(pane)
    pane.show()
    toast.say("Saved")
    assert not box(toast).intersects(save.geometry())
    assert pane.rect().contains(box(toast))


def test_undo_is_pressed_by_keys_from_anywhere_but_a_field_that_is_being_written_in(pane: QWidget) -> None:
    field = QPlainTextEdit(pane)
    button = QPushButton("Row", pane)
    button.move(0, 300)
    toast, undone = Toast(pane), []
    toast.undone.connect(undone.append)
    activate(pane)
    button.setFocus()
    toast.say("Deleted", "1")
    QTest.keyClick(button, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert undone == ["1"]
    assert not toast.isVisible()
    QTest.keyClick(button, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    toast.say("Only told")
    QTest.keyClick(button, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert undone == ["1"], "nothing to take back"
    field.setFocus()
    toast.say("Deleted", "2")
    QTest.keyClicks(field, "words")
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (undone, field.toPlainText()) == (["1"], ""), "the field's own"


def test_keys_at_undo_keep_it_and_go_back_where_they_were(pane: QWidget) -> None:
    button = QPushButton("Row", pane)
    toast = Toast(pane)
    activate(pane)
    button.setFocus()
    toast.say("Deleted", "1")
    for _ in range(3):
        QTest.keyClick(pane.focusWidget(), Qt.Key.Key_Tab)
        if toast._undo.hasFocus():
            break
    assert toast._undo.hasFocus()
    toast._maybe_leave()
    assert toast.isVisible(), "not from under the keys"
    QTest.keyClick(toast._undo, Qt.Key.Key_Space)
    assert not toast.isVisible()
    assert button.hasFocus()


def test_words_that_are_cut_stand_whole_in_its_tooltip_also_when_others_follow(pane: QWidget) -> None:
    pane.resize(240, 300)
    toast = Toast(pane)
    pane.show()
    for name in ("one", "another"):
        toast.say(f"“The chat with {name} very long name that nobody can read” deleted", "1")
        assert name in toast._words.toolTip()
    toast.say("Saved")
    assert toast._words.toolTip() == ""


def test_the_keys_of_undo_are_read_aloud_only_where_they_work(pane: QWidget) -> None:
    text, button = QPlainTextEdit(pane), QPushButton("Save", pane)
    toast = Toast(pane)
    pane.show()
    button.setFocus()
    toast.say("Chat deleted", "token")
    assert toast.spoken == "Chat deleted. Ctrl+Z takes it back."
    text.setFocus()
    assert toast.spoken == "Chat deleted"
    button.setFocus()
    toast.say("Code copied")
    assert toast.spoken == "Code copied"
