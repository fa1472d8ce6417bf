"""A slip of the hand allows nothing: what is pressed for something else, or before anybody could have read it.

Each test ends with a press that does allow, so that a button that never hears would fail it too.
"""

import asyncio
import time
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QAccessibleActionInterface, QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.ui.approvals.request.answers import Answers
from desktop.ui.approvals.request.dialog import RequestDialog
from desktop.ui.theme import Theme
from desktop.ui.widgets.controls.allow_button import AllowButton
from desktop.ui.widgets.controls.buttons import OneClickButton
from tests.gui.approvals.conftest import DEAF_OVER, DialogBench, same_thread, settled
from tests.harness.timeouts import WAIT_S

LEFT = Qt.MouseButton.LeftButton


def answers(bench: DialogBench) -> Answers:
    assert bench.dialog.view.answers is not None
    return bench.dialog.view.answers


async def awake(button: AllowButton) -> None:
    """Until it would hear."""
    async with asyncio.timeout(WAIT_S):
        while button.deaf:
            await settled()


async def agree(bench: DialogBench, question: "asyncio.Task[Decision]") -> Decision:
    """What a person does who means it: waits, and presses."""
    await awake(answers(bench).allow)
    QTest.mouseClick(answers(bench).allow, LEFT)
    return await asyncio.wait_for(question, WAIT_S)


def double_press(widget: QWidget, at: QPoint) -> None:
    """The second click of a double click, as the window system sends it."""
    place = QPointF(at)
    for kind, held in (
        (QEvent.Type.MouseButtonDblClick, LEFT),
        (QEvent.Type.MouseButtonRelease, Qt.MouseButton.NoButton),
    ):
        event = QMouseEvent(kind, place, widget.mapToGlobal(place), LEFT, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(widget, event)


@pytest.mark.spec("R-PRM-14")
async def test_when_the_button_comes_to_lie_elsewhere_it_is_deaf_anew(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    allow = answers(bench).allow
    for change in (lambda: bench.window.resize(1000, 700), lambda: bench.window.resize(700, 700)):
        await awake(allow)
        before = allow.mapTo(bench.window, QPoint(0, 0))
        change()
        await settled()
        assert allow.mapTo(bench.window, QPoint(0, 0)) != before
        QTest.mouseClick(allow, LEFT)
        await settled()
        assert not question.done()
    assert (await agree(bench, question)).choice == "allow_once"


@pytest.mark.spec("R-PRM-14")
async def test_a_composer_that_grows_under_the_dialog_makes_it_deaf_anew(
    bench: DialogBench, write: PermissionRequest
) -> None:
    composer = QWidget(bench.window)
    composer.setGeometry(0, 640, 1100, 140)
    composer.show()
    bench.dialog.deleteLater()
    bench.dialog = RequestDialog(bench.window, bench.approvals, str, composer)
    question = await bench.ask(write)
    await awake(answers(bench).allow)
    composer.setGeometry(0, 560, 1100, 220)
    await settled()
    QTest.mouseClick(answers(bench).allow, LEFT)
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_another_text_size_or_theme_makes_it_deaf_anew(
    bench: DialogBench, write: PermissionRequest, theme: Theme
) -> None:
    question = await bench.ask(write)
    await awake(answers(bench).allow)
    theme.set_scale(1.25)
    await settled()
    QTest.mouseClick(answers(bench).allow, LEFT)
    theme.set_choice("dark")
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_a_press_that_began_before_the_button_moved_is_no_answer(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    allow = answers(bench).allow
    await awake(allow)
    QTest.mousePress(allow, LEFT)
    bench.window.resize(900, 700)
    await settled()
    QTest.mouseRelease(allow, LEFT)
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_the_click_that_brings_the_window_to_the_front_is_no_answer(
    bench: DialogBench, write: PermissionRequest
) -> None:
    other = QWidget()
    question = await bench.ask(write)
    await awake(answers(bench).allow)
    other.show()
    other.activateWindow()
    async with asyncio.timeout(WAIT_S):
        while bench.window.isActiveWindow():
            await settled()
    QTest.mouseClick(answers(bench).allow, LEFT)
    await settled()
    assert not question.done()
    await awake(answers(bench).allow)
    bench.window.activateWindow()
    async with asyncio.timeout(WAIT_S):
        while not bench.window.isActiveWindow():
            await settled(0.001)
    assert answers(bench).allow.deaf
    QTest.mouseClick(answers(bench).allow, LEFT)
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed
    other.close()
    other.deleteLater()


@pytest.mark.spec("R-PRM-14")
async def test_in_a_window_that_cannot_be_brought_to_the_front_a_second_click_is_meant(
    bench: DialogBench, write: PermissionRequest
) -> None:
    other = QWidget()
    other.show()
    other.activateWindow()
    async with asyncio.timeout(WAIT_S):
        while bench.window.isActiveWindow():
            await settled()
    question = await bench.ask(write)
    await awake(answers(bench).allow)
    QTest.mouseClick(answers(bench).allow, LEFT)
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed
    other.close()
    other.deleteLater()


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_the_second_click_of_a_double_click_answers_no_other_request(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest
) -> None:
    """Denying as well: what one meant for the first is no answer to the second, which nobody has seen."""
    one, two = [await bench.ask(request) for request in same_thread(new_file, write)]
    deny = answers(bench).deny
    at = deny.rect().center()
    place = deny.mapTo(bench.window, at)
    QTest.mouseClick(deny, LEFT, pos=at)
    await settled()
    beneath = bench.window.childAt(place)
    assert isinstance(beneath, QWidget)
    assert beneath is not deny
    double_press(beneath, beneath.mapFrom(bench.window, place))
    await settled()
    assert (one.done(), two.done()) == (True, False)
    allow = answers(bench).allow
    double_press(allow, allow.rect().center())
    await settled()
    assert not two.done()
    assert (await agree(bench, two)).allowed


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_a_button_held_down_while_the_request_comes_and_let_go_over_it_allows_nothing(
    bench: DialogBench, write: PermissionRequest
) -> None:
    await settled()
    QTest.mousePress(bench.field, LEFT)
    question = await bench.ask(write)
    allow = answers(bench).allow
    await awake(allow)
    QTest.mouseRelease(allow, LEFT)
    QTest.mousePress(answers(bench).deny, LEFT)
    QTest.mouseMove(allow)
    QTest.mouseRelease(allow, LEFT)
    await settled()
    assert not question.done()
    QTest.mouseRelease(answers(bench).deny, LEFT, pos=QPoint(-500, -500))
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_no_letter_with_alt_and_no_plain_key_reaches_an_answer(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    await awake(answers(bench).allow)
    assert not any("&" in button.text().replace("&&", "") for button in bench.dialog.findChildren(AllowButton))
    for key in range(Qt.Key.Key_A, Qt.Key.Key_Z + 1):
        QTest.keyClick(bench.window.focusWidget(), Qt.Key(key), Qt.KeyboardModifier.AltModifier)
    for focused in (answers(bench).deny, answers(bench).allow, answers(bench).reason):
        focused.setFocus()
        for key in range(Qt.Key.Key_A, Qt.Key.Key_Z + 1):
            for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier):
                QTest.keyClick(focused, Qt.Key(key), modifier)
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_what_a_screen_reader_presses_is_deaf_too_and_then_allows(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    allow = answers(bench).allow
    allow.arm()
    found = QAccessible.queryAccessibleInterface(allow)
    assert found.text(QAccessible.Text.Name) == "Allow once"
    press = found.actionInterface()
    assert isinstance(press, QAccessibleActionInterface)
    press.doAction(QAccessibleActionInterface.pressAction())
    await settled(0.15)
    assert not question.done()
    await awake(allow)
    press.doAction(QAccessibleActionInterface.pressAction())
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "allow_once"


@pytest.mark.spec("R-PRM-14", "R-PRM-9")
async def test_after_minimising_it_is_deaf_anew(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    allow = answers(bench).allow
    await awake(allow)
    bench.window.showMinimized()
    await settled()
    bench.window.showNormal()
    bench.window.activateWindow()
    await settled()
    assert allow.deaf
    QTest.mouseClick(allow, LEFT)
    await settled()
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-8", "R-PRM-5")
async def test_a_second_request_of_the_same_tool_with_the_same_arguments_is_another_question(
    bench: DialogBench, write: PermissionRequest
) -> None:
    twin = replace(write, request_id="twin", call_id="twin-call")
    one, two = await bench.ask(write), await bench.ask(twin)
    assert (await agree(bench, one)).allowed
    assert answers(bench).allow.deaf
    QTest.mouseClick(answers(bench).allow, LEFT)
    await settled()
    assert not two.done()
    bench.approvals.answer(write.request_id, "allow_once", digest=write.digest)
    await settled()
    assert not two.done(), "the first one's answer is used up"
    assert (await agree(bench, two)).allowed


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
@pytest.mark.parametrize("way", ["Deny", "Escape", "Deny all"])
async def test_a_second_click_meant_for_the_first_request_denies_no_other(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest, way: str
) -> None:
    """Not the second of a double click: one that comes a moment later, when the next request stands in its place."""
    one, two = [await bench.ask(request) for request in same_thread(new_file, write)]
    all_of_them = next(b for b in bench.dialog.findChildren(OneClickButton) if b.label.startswith("Deny all"))

    def press() -> None:
        if way == "Deny all":
            QTest.mouseClick(all_of_them, LEFT)
        elif way == "Deny":
            QTest.mouseClick(answers(bench).deny, LEFT)
        else:
            answers(bench).deny.setFocus()
            QTest.keyClick(answers(bench).deny, Qt.Key.Key_Escape)

    press()
    await settled()
    assert one.done()
    press()
    await settled()
    assert not two.done()
    async with asyncio.timeout(WAIT_S):
        while answers(bench).deny.deaf:
            await settled()
    press()
    assert not (await asyncio.wait_for(two, WAIT_S)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_the_first_request_of_all_can_be_denied_at_once(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    QTest.mouseClick(answers(bench).deny, LEFT)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "deny"


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_where_another_request_was_allowed_a_hand_that_has_not_moved_allows_nothing(
    bench: DialogBench, write: PermissionRequest
) -> None:
    """Also after the 400 ms that hold for every request: the first one's place is where the pointer rests."""
    question = await bench.ask(write)
    allow = answers(bench).allow
    await awake(allow)
    here = QPointF(allow.mapToGlobal(allow.rect().center()))
    allow.pause(here)
    QTest.mouseClick(allow, LEFT)
    allow.pause(here)
    QTest.keyClick(allow, Qt.Key.Key_Space)
    await settled()
    assert not question.done()
    await awake(allow)
    allow.pause(here - QPointF(100, 0))
    QTest.mouseClick(allow, LEFT)
    assert (await asyncio.wait_for(question, WAIT_S)).allowed, "a pointer that came from elsewhere means this one"


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_a_second_request_hears_a_pointer_that_has_moved_since_the_first_was_answered(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest
) -> None:
    one, two = [await bench.ask(request) for request in same_thread(new_file, write)]
    deny = answers(bench).deny
    left, right = QPoint(6, deny.height() // 2), QPoint(deny.width() - 6, deny.height() // 2)
    QTest.mouseClick(deny, LEFT, pos=left)
    await settled()
    assert one.done()
    QTest.mouseClick(answers(bench).deny, LEFT, pos=left)
    await settled()
    assert not two.done()
    QTest.mouseClick(answers(bench).deny, LEFT, pos=right)
    assert not (await asyncio.wait_for(two, WAIT_S)).allowed


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_a_request_in_the_place_of_an_allowed_one_rests_longer_than_the_first(
    bench: DialogBench, write: PermissionRequest
) -> None:
    twin = replace(write, request_id="twin", call_id="twin-call")
    one, two = await bench.ask(write), await bench.ask(twin)
    place = answers(bench).allow.mapToGlobal(QPoint(0, 0))
    await awake(answers(bench).allow)
    began = asyncio.get_running_loop().time()
    assert (await agree(bench, one)).allowed
    await settled()
    allow = answers(bench).allow
    assert allow.mapToGlobal(QPoint(0, 0)) == place
    await awake(allow)
    assert asyncio.get_running_loop().time() - began > 0.5, "longer than the 400 ms of every request"
    assert not two.done()
    assert (await agree(bench, two)).allowed


@pytest.mark.spec("R-PRM-14")
async def test_what_was_pressed_while_the_app_was_held_up_allows_nothing(
    bench: DialogBench, write: PermissionRequest
) -> None:
    """By the clock the button hears again when the press in the queue is looked at; the person saw nothing so far."""
    question = await bench.ask(write)
    allow = answers(bench).allow
    await awake(allow)
    allow.arm()
    QCoreApplication.postEvent(allow, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier))
    QCoreApplication.postEvent(
        allow, QKeyEvent(QEvent.Type.KeyRelease, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier)
    )
    time.sleep(DEAF_OVER)
    await settled()
    assert allow.deaf
    assert not question.done()
    assert (await agree(bench, question)).allowed


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_who_goes_on_pressing_control_and_return_after_one_answer_allows_no_other(
    bench: DialogBench, write: PermissionRequest
) -> None:
    """Also where Deny has the keys, which hears none of its own for a moment after another answer in its place."""
    twin = replace(write, request_id="twin", call_id="twin-call")
    one, two = await bench.ask(write), await bench.ask(twin)
    answers(bench).deny.setFocus()
    QTest.keyClick(answers(bench).deny, Qt.Key.Key_Escape)
    assert not (await asyncio.wait_for(one, WAIT_S)).allowed
    await settled()
    deny, allow = answers(bench).deny, answers(bench).allow
    deny.setFocus()
    while deny.deaf:
        QTest.keyClick(deny, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await settled()
    assert allow.deaf
    QTest.keyClick(deny, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await settled()
    assert not two.done()
    assert (await agree(bench, two)).allowed
