"""The window: pages built late, shortcuts, geometry, closing, folding, text size."""

from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from desktop.presenter.shell.window import ShellViewModel
from desktop.ui.shell import geometry
from desktop.ui.shell.main_window import FIRST_RUN, MainWindow
from desktop.ui.shell.notify import TOGETHER_MS
from desktop.ui.shell.rail import ITEMS, Rail
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.buttons import Button
from desktop.ui.widgets.dialogs.base import Dialog, DialogAnswer
from desktop.ui.widgets.focus import FocusRing
from desktop.ui.widgets.layout.folding import FoldingPane
from desktop.ui.widgets.shadow import REACH
from tests.harness.timeouts import WAIT_MS
from tests.harness.windows import activate

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


def spin(milliseconds: int = 30) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


class House:
    """A window with pages that remember when they were built."""

    def __init__(self, theme: Theme, saved: dict[str, Any] | None = None) -> None:
        self.saved: dict[str, Any] = {}
        self.built: list[str] = []
        self.shell = ShellViewModel(self.saved.__setitem__)
        self.shell.restore(saved or {})
        pages = ("chats", "debates", "skills", "approvals", "schedules", "settings", FIRST_RUN)
        self.window = MainWindow(self.shell.window_state())
        self.window.furnish(theme, self.shell, {name: self._factory(name) for name in pages})

    def _factory(self, name: str):
        def build() -> QWidget:
            self.built.append(name)
            page = QWidget()
            page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            page.setObjectName(name)
            return page

        return build

    @property
    def shown(self) -> str:
        return self.window.stack.currentWidget().objectName()


@pytest.fixture
def house(qtbot: QtBot, theme: Theme) -> House:
    made = House(theme)
    qtbot.addWidget(made.window)
    return made


def test_only_the_page_that_shows_is_built_before_the_first_paint(house: House, qtbot: QtBot) -> None:
    painted: list[list[str]] = []
    house.window.first_painted.connect(lambda: painted.append(list(house.built)))
    house.window.show()
    qtbot.waitUntil(lambda: bool(painted), timeout=WAIT_MS)
    assert painted == [["chats"]]


@pytest.mark.parametrize(
    ("number", "page"),
    [(1, "chats"), (2, "debates"), (3, "skills"), (4, "approvals"), (5, "settings"), (6, "schedules")],
)
def test_control_and_a_number_goes_to_a_page(house: House, number: int, page: str) -> None:
    activate(house.window)
    house.shell.go("settings" if page != "settings" else "chats")
    QTest.keyClick(house.window, Key(Key.Key_0 + number), CONTROL)
    assert house.shown == page
    assert house.window.rail.button(page).isChecked()


def test_a_page_is_built_once(house: House) -> None:
    for page in ("skills", "chats", "skills"):
        house.shell.go(page)
    assert house.built == ["chats", "skills"]


def test_the_first_run_page_stands_in_for_chats_until_a_model_is_chosen(house: House) -> None:
    house.shell.set_first_run(True)
    assert house.shown == FIRST_RUN
    house.shell.go("skills")
    assert house.shown == "skills"
    house.shell.set_first_run(False)
    house.shell.go("chats")
    assert house.shown == "chats"


def test_every_rail_item_names_its_shortcut_and_what_waits(house: House) -> None:
    house.window.set_pending(3)
    button = house.window.rail.button("approvals")
    assert button.accessibleName() == "Approvals, 3 waiting"
    assert "(Ctrl+4)" in button.toolTip()
    assert house.window.windowTitle() == "(3) Assent"
    house.window.set_pending(0)
    assert (button.accessibleName(), house.window.windowTitle()) == ("Approvals", "Assent")


def test_the_rail_is_walked_with_arrow_keys(house: House) -> None:
    activate(house.window)
    house.window.rail.button("chats").setFocus()
    QTest.keyClick(house.window.rail.button("chats"), Key.Key_Down)
    QTest.keyClick(house.window.focusWidget(), Key.Key_Space)
    assert house.shown == "debates"


def test_place_and_page_come_back_after_a_restart(qtbot: QtBot, theme: Theme) -> None:
    first = House(theme)
    qtbot.addWidget(first.window)
    first.window.setGeometry(40, 30, 700, 500)
    first.shell.go("skills")
    first.window.close()
    again = House(theme, {**first.saved, "shell.page": first.saved["shell.page"]})
    qtbot.addWidget(again.window)
    assert again.window.geometry().getRect()[2:] == (700, 500)
    assert again.shown == "skills"


def test_its_place_is_remembered_while_it_is_used_and_not_only_when_it_is_closed(qtbot: QtBot, theme: Theme) -> None:
    """Quitting by a key, by the end of the session or by a crash closes no window."""
    house = House(theme)
    qtbot.addWidget(house.window)
    activate(house.window)
    house.window.setGeometry(40, 30, 700, 500)
    wanted = {"box": [40, 30, 700, 500], "maximized": False}
    qtbot.waitUntil(lambda: house.saved.get("shell.window") == wanted, timeout=WAIT_MS)
    house.window.showMaximized()
    wanted["maximized"] = True
    qtbot.waitUntil(lambda: house.saved.get("shell.window") == wanted, timeout=WAIT_MS)


def test_a_window_left_maximized_is_shown_so_and_keeps_its_size_of_before(qtbot: QtBot, theme: Theme) -> None:
    house = House(theme, {"shell.window": {"box": [40, 30, 700, 500], "maximized": True}})
    qtbot.addWidget(house.window)
    house.window.show()
    assert house.window.isMaximized()
    assert geometry.state_of(house.window) == {"box": [40, 30, 700, 500], "maximized": True}


@pytest.mark.parametrize(
    "state", [{"box": box} for box in ("wide", [1, 2, 3], [99_999, 99_999, 700, 500], [0, 0, 9, 9], [None] * 4)]
)
def test_an_odd_remembered_place_still_gives_a_window_on_the_screen(qtbot: QtBot, theme: Theme, state: dict) -> None:
    house = House(theme, {"shell.window": state})
    qtbot.addWidget(house.window)
    screen = QGuiApplication.primaryScreen().availableGeometry()
    assert house.window.width() >= 520
    assert screen.intersects(house.window.geometry())


@pytest.mark.parametrize("box", [[2000, 300, 1500, 900], [-400, -200, 700, 500], [0, 0, 4000, 3000]])
def test_a_window_whose_screen_has_gone_can_be_taken_by_its_title_bar(
    qtbot: QtBot, theme: Theme, box: list[int]
) -> None:
    house = House(theme, {"shell.window": {"box": box}})
    qtbot.addWidget(house.window)
    room = QGuiApplication.primaryScreen().availableGeometry()
    assert room.adjusted(1, 30, -1, -5).contains(house.window.geometry())


def test_one_that_fits_is_where_it_was_to_the_pixel(qtbot: QtBot, theme: Theme) -> None:
    """Also at the very edge, as a window that fills half of the screen."""
    room = QGuiApplication.primaryScreen().availableGeometry()
    half = [room.x(), room.y(), 600, room.height()]
    house = House(theme, {"shell.window": {"box": half}})
    qtbot.addWidget(house.window)
    assert list(house.window.geometry().getRect()) == half


def test_a_first_window_is_never_larger_than_the_screen_has_room_for(qtbot: QtBot, theme: Theme) -> None:
    """At 200 % a screen of 1280 x 800 pixels is 640 x 400 large, which is less than the smallest size."""
    house = House(theme)
    qtbot.addWidget(house.window)
    room = QGuiApplication.primaryScreen().availableGeometry()
    assert room.width() < geometry.DEFAULT[0], "this test's screen is small"
    assert house.window.width() <= room.width()
    assert house.window.height() <= room.height()
    assert house.window.minimumWidth() <= room.width()


@pytest.mark.spec("R-UI-8")
def test_closing_asks_the_app_which_closes_for_good(house: House) -> None:
    asked: list[int] = []
    house.shell.on_close = lambda: asked.append(1)
    house.window.show()
    house.window.close()
    assert (asked, house.window.isVisible()) == ([1], True)
    house.window.close_for_good()
    assert (asked, house.window.isVisible()) == ([1], False)


def test_a_larger_text_size_takes_hold_at_once(house: House, theme: Theme) -> None:
    house.window.show()
    theme.set_scale(2.0)
    spin()
    assert house.window.rail.width() == 128


@pytest.mark.parametrize(("scale", "height", "captions"), [(1.0, 480, True), (2.0, 600, True), (2.0, 400, False)])
def test_at_any_text_size_every_item_of_the_rail_is_whole_and_none_lies_over_another(
    qtbot: QtBot, theme: Theme, scale: float, height: int, captions: bool
) -> None:
    theme.set_scale(scale)
    rail = Rail()
    qtbot.addWidget(rail)
    rail.resize(theme.px(64), height)
    rail.show()
    spin()
    places = [rail.button(page).geometry() for page, _, _ in ITEMS]
    assert rail.height() == height
    assert all(upper.bottom() < lower.top() for upper, lower in pairwise(places))
    assert all(rail.rect().contains(place) for place in places)
    shown = {rail.button(page).toolButtonStyle() for page, _, _ in ITEMS}
    style = Qt.ToolButtonStyle
    assert shown == {style.ToolButtonTextUnderIcon if captions else style.ToolButtonIconOnly}
    needed = theme.px(20) + (rail.button("chats").fontMetrics().height() if captions else 0)
    assert all(place.height() >= needed for place in places)


@pytest.mark.parametrize("scale", [0.9, 1.0, 1.25, 1.5, 2.0])
def test_the_caption_of_an_item_of_the_rail_is_whole_also_where_the_keys_are(
    house: House, theme: Theme, scale: float
) -> None:
    theme.set_scale(scale)
    house.window.resize(1280, 1000)
    activate(house.window)
    for page, title, _ in ITEMS:
        button = house.window.rail.button(page)
        assert button.fontMetrics().horizontalAdvance(title) <= button.width(), title
        assert button.accessibleName() == title
        before = button.grab().toImage()
        button.setFocus(Qt.FocusReason.TabFocusReason)
        spin()
        ring = house.window.findChild(FocusRing)
        assert isinstance(ring, FocusRing)
        assert (ring.widget(), ring.isVisible()) == (button, True)
        assert button.grab().toImage() == before, f"{title}: the ring lies around it and takes no room of its caption"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_window_has_the_icon_of_the_app_which_can_be_seen_on_any_panel(
    house: House, theme: Theme, mode: str
) -> None:
    """A plain window manager shows nothing where the window names no icon."""
    theme.set_choice(mode)
    activate(house.window)
    for icon in (house.window.windowIcon(), QApplication.windowIcon()):
        assert {size.width() for size in icon.availableSizes()} >= {16, 32, 48, 128}
        seen = icon.pixmap(48, 48).toImage()
        lights = [
            seen.pixelColor(x, y).lightness()
            for x in range(48)
            for y in range(48)
            if seen.pixelColor(x, y).alpha() > 250
        ]
        assert len(lights) > 48 * 48 * 0.8, "a plate below the mark"
        assert max(lights) - min(lights) > 150, "the mark stands out from its plate"
    before = house.window.windowIcon().cacheKey()
    theme.set_choice("dark" if mode == "light" else "light")
    assert house.window.windowIcon().cacheKey() != before


def test_quitting_says_what_is_still_running(house: House) -> None:
    house.window.show()
    house.shell.quitting.emit("Stopping 2 runs.")
    assert "Stopping 2 runs." in [label.text() for label in house.window.findChildren(QLabel)]


def test_a_banner_can_be_dismissed(house: House) -> None:
    house.window.show()
    house.shell.banner.emit("failed", "The disk is full.")
    banner = house.window._banner
    assert banner is not None
    assert (banner.words, banner.isVisible()) == ("The disk is full.", True)
    house.shell.banner.emit("", "")
    assert not banner.isVisible()


def test_a_report_can_be_copied_whole_and_closed_by_escape(house: House) -> None:
    activate(house.window)
    report = "Traceback\n" + "line\n" * 5
    house.shell.error.emit("Assent made a mistake", "Nothing is lost.", report)
    copy = next(b for b in house.window.findChildren(Button) if b.label == "Copy report")
    copy.click()
    assert QGuiApplication.clipboard().text() == report
    assert copy.label == "Copied"
    QTest.keyClick(house.window.focusWidget(), Key.Key_Escape)
    spin()
    assert not [b for b in house.window.findChildren(Button) if b.label == "Copied"]


def test_tab_stays_inside_an_open_dialog(house: House) -> None:
    activate(house.window)
    house.shell.error.emit("Assent made a mistake", "Nothing is lost.", "detail")
    seen = set()
    for _ in range(4):
        QTest.keyClick(house.window.focusWidget(), Key.Key_Tab)
        seen.add(house.window.focusWidget().accessibleName())
    assert seen == {"Close", "Copy report", "Report"}


def test_keys_of_the_window_lead_nowhere_while_a_dialog_is_open(house: House) -> None:
    activate(house.window)
    before = house.window.focusWidget()
    dialog = Dialog(
        house.window, "End it?", "It is at work.", (DialogAnswer("keep", "Keep"), DialogAnswer("end", "End", "danger"))
    )
    dialog.open()
    page = house.shell.page
    for key in (Key.Key_3, Key.Key_N, Key.Key_K, Key.Key_F):
        QTest.keyClick(house.window.focusWidget(), key, Qt.KeyboardModifier.ControlModifier)
        assert dialog.buttons["keep"].hasFocus()
    assert house.shell.page == page
    QTest.keyClick(house.window.focusWidget(), Key.Key_Escape)
    assert house.window.focusWidget() is before
    QTest.keyClick(house.window, Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert house.shell.page == "skills"


@pytest.mark.parametrize(("tabs", "given"), [(0, "keep"), (1, "end")])
def test_return_gives_the_answer_of_the_button_that_has_the_keys(house: House, tabs: int, given: str) -> None:
    activate(house.window)
    dialog = Dialog(
        house.window, "End it?", "It is at work.", (DialogAnswer("keep", "Keep"), DialogAnswer("end", "End", "danger"))
    )
    answers: list[str] = []
    dialog.answered.connect(answers.append)
    dialog.open()
    for _ in range(tabs):
        QTest.keyClick(house.window.focusWidget(), Key.Key_Tab)
    QTest.keyClick(house.window.focusWidget(), Key.Key_Return)
    assert answers == [given]


def test_undo_on_a_toast_gives_the_token_back(house: House) -> None:
    house.window.show()
    tokens: list[str] = []
    house.window.toast.undone.connect(tokens.append)
    house.window.show_toast("Deleted", "thread-1")
    undo = next(b for b in house.window.toast.findChildren(Button) if b.label == "Undo")
    undo.click()
    assert (tokens, house.window.toast.isVisible()) == (["thread-1"], False)


def test_a_toast_covers_nothing_that_a_page_has_in_use_at_its_foot(house: House) -> None:
    house.window.resize(1000, 700)
    house.window.show()
    page = house.window.page("chats")
    foot = QWidget(page)
    page.foot_in_use = foot  # type: ignore[attr-defined]  # as the chat page has its composer
    foot.setGeometry(0, page.height() - 150, page.width(), 150)
    foot.show()
    house.window.show_toast("The call was refused")
    spin()
    toast = house.window.toast
    assert toast.isVisible()
    assert toast.mapTo(house.window, toast.rect().bottomLeft()).y() - REACH < foot.mapTo(house.window, QPoint(0, 0)).y()


def test_a_new_toast_replaces_the_last_and_escape_takes_it_away(house: House) -> None:
    house.window.show()
    house.window.show_toast("One", "1")
    house.window.show_toast("Two")
    assert house.window.toast.text == "Two"
    QTest.keyClick(house.window, Key.Key_Escape)
    assert not house.window.toast.isVisible()


def test_a_notification_is_silent_while_the_window_has_the_person(house: House) -> None:
    notifier, other = house.window.notifier, QWidget()
    activate(house.window)
    house.window.set_pending(3, notify=True)
    assert house.window.isActiveWindow()
    assert not notifier._later.isActive()
    assert notifier._told == 0
    activate(other)
    assert not house.window.isActiveWindow()
    house.window.set_pending(4, notify=True)
    assert notifier._later.isActive()
    spin(TOGETHER_MS + 100)
    assert notifier._told == 4
    other.close()


def test_a_list_pane_folds_in_a_narrow_window_and_slides_over_the_work(qtbot: QtBot, theme: Theme) -> None:
    side, work = QWidget(), QWidget()
    pane = FoldingPane(side, work, width=264, name="Show the list")
    qtbot.addWidget(pane)
    pane.resize(1200, 600)
    pane.show()
    assert (side.isVisible(), work.x(), pane.button.isHidden()) == (True, 264, True)
    pane.resize(700, 600)
    assert (side.isVisible(), work.x(), pane.button.isHidden()) == (False, 0, False)
    pane.button.click()
    assert side.isVisible()
    pane.put_away()
    assert not side.isVisible()
    pane.button.setParent(None)
    pane.button.deleteLater()
