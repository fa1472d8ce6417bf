"""The sentence at the foot of a page: it covers nothing one needs, and Undo is there for keys, too."""

import pytest
from PySide6.QtCore import QRect, QStringListModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QPlainTextEdit, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.fields import Field, Labelled
from desktop.ui.widgets.dialogs.toast import Toast
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


def form(pane: QWidget) -> tuple[QScrollArea, list[QLineEdit]]:
    """Fields one below the other, more than there is room for."""
    area = QScrollArea(pane)
    area.setGeometry(0, 0, 700, 440)
    content = QWidget()
    content.resize(660, 1400)
    fields = [QLineEdit(content) for _ in range(30)]
    for at, field in enumerate(fields):
        field.setGeometry(0, at * 44, 600, 36)
    area.setWidget(content)
    return area, fields


def covers(toast: Toast, pane: QWidget, field: QWidget) -> bool:
    return box(toast).intersects(QRect(field.mapTo(pane, field.rect().topLeft()), field.size()))


def test_a_field_that_is_being_filled_is_never_covered(pane: QWidget) -> None:
    area, fields = form(pane)
    toast = Toast(pane)
    activate(pane)
    toast.say("The job was not saved: correct what is marked first.")
    for field in (*fields[:10], *reversed(fields[:10])):
        field.setFocus()
        area.ensureWidgetVisible(field)
        assert not covers(toast, pane, field)
    fields[8].setFocus()
    for value in (*range(0, 300, 10), *range(300, 0, -10)):
        area.verticalScrollBar().setValue(value)
        assert not covers(toast, pane, fields[8]), value
    toast.dismiss()
    assert toast._watched == []


def test_the_caption_of_the_field_and_what_is_wrong_with_it_can_be_read_too(pane: QWidget) -> None:
    labelled = [Labelled(f"Limit {at}", Field(f"Limit {at}")) for at in range(6)]
    for at, one in enumerate(labelled):
        one.setParent(pane)
        one.setGeometry(0, at * 82, 700, 80)
    toast = Toast(pane)
    activate(pane)
    labelled[5].set_error("Write a number")
    labelled[5].control.setFocus()
    toast.say("Not saved")
    assert not covers(toast, pane, labelled[5])
    labelled[4].control.setFocus()
    assert not covers(toast, pane, labelled[4])


def test_buttons_that_scroll_are_covered_before_fields_are(pane: QWidget) -> None:
    area, fields = form(pane)
    for at, field in enumerate(fields):
        if at in (4, 5):
            field.hide()
            QPushButton("Every hour", field.parentWidget()).setGeometry(field.geometry())
    toast = Toast(pane)
    activate(pane)
    toast.say("Saved")
    assert [at for at, field in enumerate(fields) if field.isVisible() and covers(toast, pane, field)] == []
    assert area.geometry().contains(box(toast))


def test_beside_a_form_that_leaves_room_at_the_right_it_stands_there(pane: QWidget) -> None:
    fields = [QLineEdit(pane) for _ in range(10)]
    for at, field in enumerate(fields):
        field.setGeometry(0, at * 48, 400, 40)
    toast = Toast(pane)
    activate(pane)
    toast.say("Saved")
    assert not any(covers(toast, pane, field) for field in fields)
