"""The picker and the list of threads."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QStringListModel, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem, QToolTip, QWidget
from shots.chat import pictures

from desktop.presenter.chat.thread_lines import ThreadRow
from desktop.presenter.chat.threads import ThreadListModel, ThreadRole
from desktop.presenter.common.exporting import file_name
from desktop.presenter.transcript.live_threads import LiveThreads
from desktop.ui.chat.composer.picker import Picker, PickerChoice
from desktop.ui.chat.threads.delegate import ThreadDelegate
from desktop.ui.chat.threads.rows import ThreadRows


@pytest.fixture
def picker(theme, qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    made = Picker(parent, name="Choose a model", empty="No model yet", field=False)
    made.field.setVisible(True)  # as a child, because the offscreen plugin warns about popups
    made.fill([PickerChoice("a/one", "one"), PickerChoice("a/two", "two"), PickerChoice("a/three", "three")], "a/two")
    made.picked = []
    made.chosen.connect(made.picked.append)
    parent.show()
    made.show()
    made.kept = parent
    return made


def test_the_current_choice_is_marked_and_enter_takes_it(picker):
    QTest.keyClick(picker, Qt.Key.Key_Return)
    assert picker.picked == ["a/two"]


def test_typing_filters_and_arrows_go_round_the_ends(picker):
    QTest.keyClicks(picker.field, "t")
    assert picker.count == 2
    QTest.keyClick(picker, Qt.Key.Key_Up)
    QTest.keyClick(picker, Qt.Key.Key_Return)
    assert picker.picked == ["a/three"]


def test_escape_closes_and_changes_nothing(picker):
    QTest.keyClick(picker, Qt.Key.Key_Escape)
    assert not picker.isVisible()
    assert picker.picked == []


def test_what_fits_nothing_says_so(picker):
    QTest.keyClicks(picker.field, "zzz")
    assert picker.count == 0
    assert picker._empty.text() == "Nothing found", "there are models, only not with these letters"
    picker.fill([])
    assert picker._empty.text() == "No model yet"
    QTest.keyClick(picker, Qt.Key.Key_Return)
    assert picker.picked == []


@pytest.mark.qt_log_ignore("does not support (raise|propagateSizeHints)")
def test_a_title_that_is_cut_stands_whole_in_a_plain_tooltip(theme, qtbot):
    page = pictures()["01-chat"]()
    qtbot.addWidget(page)
    page.resize(960, 600)
    page.show()
    rows = page.window().findChildren(ThreadRows)[0]
    long = "A <b>long</b> title \u202e that has no room in the list of all the chats"
    tips = []
    for title in ("Short", long):
        model = QStringListModel([title], rows)
        option = QStyleOptionViewItem()
        option.rect = QRect(0, 0, 264, 32)
        event = QHelpEvent(QEvent.Type.ToolTip, QPoint(9, 9), rows.viewport().mapToGlobal(QPoint(9, 9)))
        assert rows.itemDelegate().helpEvent(event, rows, option, model.index(0))
        tips.append(QToolTip.text())
    QToolTip.hideText()
    assert tips[0] == ""
    assert "&lt;b&gt;long&lt;/b&gt;" in tips[1]
    assert "\\u{202e}" in tips[1]


def test_headers_of_the_thread_list_open_nothing_and_rows_open_their_thread(theme, qtbot):
    page = pictures()["01-chat"]()
    qtbot.addWidget(page)
    page.resize(1216, 800)
    page.show()
    opened = []
    page.threads.opened.connect(lambda thread_id, _: opened.append(thread_id))
    rows, model = page.threads.rows, page.threads.rows.model()
    header = rows.visualRect(model.index(0, 0)).center()
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=header)
    assert opened == []
    place = rows.visualRect(model.index(1, 0))
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(40, place.center().y()))
    assert opened == ["t0"]


def test_the_row_that_a_person_went_to_keeps_the_mark_when_the_list_is_read_anew(theme, qtbot):
    page = pictures()["01-chat"]()
    qtbot.addWidget(page)
    page.resize(1216, 800)
    page.show()
    rows = page.threads.rows
    page.threads.select("t2")
    rows.setFocus()
    QTest.keyClick(rows, Qt.Key.Key_Down)
    marked = rows.currentIndex().data(ThreadRole.ID)
    model = rows.model()
    model.beginResetModel()
    model.endResetModel()
    rows.rearranged()
    assert rows.currentIndex().data(ThreadRole.ID) == marked != "t2"
    deleted = []
    rows.delete_wanted.connect(deleted.append)
    QTest.keyClick(rows, Qt.Key.Key_Delete)
    assert deleted == [marked]


def test_a_title_never_makes_a_path():
    assert file_name("../../etc/passwd: “now”") == "etc-passwd-now"
    assert file_name("///") == "thread"


@pytest.mark.parametrize("height", [600, 300, 190])
@pytest.mark.parametrize("at", [(930, 10), (930, -40), (4, -40)])
@pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints")
def test_a_list_of_choices_stays_inside_the_window_and_scrolls(theme, qtbot, height: int, at: tuple[int, int]) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(60, 60, 960, height)
    window.show()
    pressed = QRect(at[0], at[1] if at[1] > 0 else height + at[1], 24, 24)
    picker = Picker(window, name="Choose a judge", empty="No model yet")
    picker.fill([PickerChoice(str(n), f"Model {n}", "Ollama") for n in range(40)], "39")
    picker.open_at(window, pressed)
    room = QRect(window.mapToGlobal(QPoint(0, 0)), window.size())
    assert room.contains(picker.frameGeometry()), (room, picker.frameGeometry())
    assert not picker.geometry().intersects(pressed.translated(room.topLeft()))
    assert picker.rows.verticalScrollBar().maximum() > 0
    assert picker.rows.currentIndex().row() == 39, "what is chosen now is still marked"
    picker.close()


def listed(order: list[int]) -> list[ThreadRow]:
    return [ThreadRow("Today"), *(ThreadRow(f"Chat {number}", f"t{number}") for number in order)]


@pytest.fixture
def threads(theme, qtbot):
    model = ThreadListModel(LiveThreads())
    model.show(listed(list(range(60))))
    rows = ThreadRows("Chats", ThreadDelegate(), model)
    qtbot.addWidget(rows)
    rows.resize(260, 400)
    rows.show()
    rows.select("t40")
    return rows


def tops(rows: ThreadRows) -> dict[str, int]:
    return {one: rows.visualRect(rows._threads.index(rows._threads.place(one))).top() for one in ("t10", "t12")}


def test_rows_in_sight_stay_while_others_change_their_places(threads):
    """One thread goes to the top because something was said in it, another is new, the open one is out of sight."""
    threads.scrollTo(threads._threads.index(11), ThreadRows.ScrollHint.PositionAtTop)
    before = tops(threads)
    assert 0 <= before["t10"] < before["t12"] < 400
    for order in ([40, *range(40), *range(41, 60)], [99, 40, *range(40), *range(41, 60)]):
        threads._threads.show(listed(order))
        threads.rearranged()
        assert tops(threads) == before
        assert threads.currentIndex().data(ThreadRole.ID) == "t40"


def test_at_the_top_of_the_list_what_is_new_is_seen_and_a_chat_that_was_just_begun_is_shown_anywhere(threads):
    threads.verticalScrollBar().setValue(0)
    threads._threads.show(listed([98, *range(60)]))
    threads.rearranged()
    assert threads.verticalScrollBar().value() == 0
    threads.scrollToBottom()
    threads.select("t99")
    threads._threads.show(listed([99, 98, *range(60)]))
    threads.rearranged()
    assert threads.viewport().rect().contains(threads.visualRect(threads._threads.index(1)))
