"""The request over its thread: what it shows, and that nothing but a deliberate answer allows."""

import asyncio
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.safety import SafetySettings
from desktop.presenter.approvals.request_words import why
from desktop.safety.boundary.policy import BoundaryPolicy
from desktop.safety.confinement.select import Kind, SystemConfinement
from desktop.ui.approvals.request.body import DiffCard
from desktop.ui.approvals.request.lines_view import ROW, LinesView
from desktop.ui.approvals.request.view import RequestView
from desktop.ui.widgets.layout.containers import Notice, Scroller
from tests.gui.approvals.conftest import DEAF_OVER, DialogBench, same_thread, settled
from tests.harness.timeouts import WAIT_S, until

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


def words_of(widget: QWidget) -> str:
    """Everything that can be read in a widget."""
    labels = [label.text() for label in widget.findChildren(QLabel)]
    names = [child.accessibleName() for child in widget.findChildren(QWidget)]
    lines = [view.text() for view in widget.findChildren(LinesView)]
    return "\n".join((*labels, *names, *lines))


def answers(view: RequestView):
    assert view.answers is not None
    return view.answers


@pytest.mark.spec("R-PRM-1", "R-PRM-2")
async def test_a_write_shows_tool_category_chain_thread_paths_reason_and_the_diff(
    bench: DialogBench, write: PermissionRequest
) -> None:
    await bench.ask(write)
    words = words_of(bench.dialog)
    for part in (
        "write-file",
        "Write a text file, replacing what is there",
        "write",
        "Writer asks nightly-runbook",
        "Title of t3",
        "docs/runbook/nightly.md",
        "/home/ida/work/harbour-sensors/docs/runbook/nightly.md",
        "Every write asks",
        "-The job starts at 02:00",
        "+The job starts at 02:10",
        "content: ",
    ):
        assert part in words, part


@pytest.mark.spec("R-PRM-2")
@pytest.mark.parametrize("kinds", [("bubblewrap", "landlock"), ()], ids=["confined", "not confined"])
async def test_what_confines_a_command_is_a_note_and_that_nothing_does_a_warning(
    bench: DialogBench, shell: PermissionRequest, tmp_path: Path, kinds: tuple[Kind, ...]
) -> None:
    """With the sentence of this machine itself, and as it is on one without confinement."""
    settings = SafetySettings(workspace=str(tmp_path), allowed=(str(tmp_path),))
    with closing(
        SystemConfinement(BoundaryPolicy(str(tmp_path / "h"), lambda: settings), lambda: settings, kinds=kinds)
    ) as confinement:
        report = confinement.probe()
    if kinds and report.kind == "none":
        pytest.skip("nothing confines commands here")
    preview = {**shell.preview, "confinement": report.sentence, "confined_by": report.kind}
    await bench.ask(replace(shell, preview=preview))
    assert report.sentence in words_of(bench.dialog)
    warnings = [n for n in bench.dialog.findChildren(Notice) if "Not confined" in n.accessibleName()]
    assert [notice.property("pane") for notice in warnings] == ([] if kinds else ["ask"])


@pytest.mark.spec("R-PRM-2")
async def test_a_shell_call_shows_the_exact_command_the_folder_and_each_part_judged(
    bench: DialogBench, shell: PermissionRequest
) -> None:
    await bench.ask(shell)
    words = words_of(bench.dialog)
    command = shell.arguments["command"]
    assert all(line in words for line in command.splitlines())
    for part in ("/home/ida/work/harbour-sensors", "It replaces a file that exists", "deletes", "network", "Landlock"):
        assert part in words, part


@pytest.mark.spec("R-PRM-2")
async def test_a_program_call_shows_its_argument_vector_word_by_word(
    bench: DialogBench, write: PermissionRequest
) -> None:
    argv = ["convert", "a b.png", "--out", "c.png"]
    await bench.ask(replace(write, tool="convert", preview={"kind": "argv", "argv": argv}, arguments={"in": "a b.png"}))
    assert all(f" {word}" in words_of(bench.dialog) for word in argv)


@pytest.mark.spec("R-PRM-3")
async def test_escape_denies_and_never_allows(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    bench.dialog.take_keys()
    await bench.awake()
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Escape)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "deny"


@pytest.mark.spec("R-PRM-3")
async def test_keys_begin_on_deny_so_that_enter_denies(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    bench.dialog.take_keys()
    assert bench.window.focusWidget() is answers(bench.dialog.view).deny
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Space)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "deny"


@pytest.mark.spec("R-PRM-3")
async def test_an_admin_call_offers_once_or_deny_only(bench: DialogBench, shell: PermissionRequest) -> None:
    await bench.ask(shell)
    given = answers(bench.dialog.view)
    assert not given.allow_run.isVisible()
    assert given.allow.isVisible()
    assert given.allow.kind != "primary"
    await bench.awake()
    assert given.allow.kind == "admin"


@pytest.mark.spec("R-PRM-14")
async def test_allow_hears_nothing_for_its_first_400_ms(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    allow = answers(bench.dialog.view).allow
    bench.dialog.take_keys()
    for _ in range(3):
        QTest.mouseClick(allow, Qt.MouseButton.LeftButton)
        QTest.keyClick(bench.window.focusWidget(), Key.Key_Return, CONTROL)
        allow.click()
        await settled(0.05)
    assert not question.done()
    await bench.awake()
    QTest.mouseClick(allow, Qt.MouseButton.LeftButton)
    decision = await asyncio.wait_for(question, WAIT_S)
    assert (decision.choice, decision.digest) == ("allow_once", "d3")


@pytest.mark.spec("R-PRM-14")
async def test_ctrl_enter_allows_once_the_person_has_come_to_the_dialog(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    bench.dialog.take_keys()
    await bench.awake()
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Return, CONTROL)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "allow_once"


def hold(widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """What the window system sends while a key stays down."""
    QApplication.sendEvent(widget, QKeyEvent(QEvent.Type.KeyPress, key, modifier, "", True))


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
async def test_ctrl_enter_that_is_held_answers_one_request_and_no_other(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest, shell: PermissionRequest
) -> None:
    questions = [await bench.ask(request) for request in same_thread(new_file, write, shell)]
    bench.dialog.take_keys()
    await bench.awake()
    QTest.keyPress(bench.window.focusWidget(), Key.Key_Return, CONTROL)
    for _ in range(30):
        hold(bench.window.focusWidget(), Key.Key_Return, CONTROL)
        await settled(0.05)
    assert [question.done() for question in questions] == [True, False, False]
    QTest.keyRelease(bench.window.focusWidget(), Key.Key_Return, CONTROL)
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Return, CONTROL)
    await settled()
    assert [question.done() for question in questions] == [True, True, False]


@pytest.mark.spec("R-PRM-14", "R-PRM-3")
async def test_escape_or_space_that_is_held_answers_one_request(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest, shell: PermissionRequest
) -> None:
    questions = [await bench.ask(request) for request in same_thread(new_file, write, shell)]
    bench.dialog.take_keys()
    QTest.keyPress(bench.window.focusWidget(), Key.Key_Escape)
    for key in (Key.Key_Escape, Key.Key_Space, Key.Key_Return):
        answers(bench.dialog.view).allow.setFocus()
        await settled(DEAF_OVER)
        for target in (answers(bench.dialog.view).allow, answers(bench.dialog.view).deny):
            hold(target, key)
            hold(target, key)
    await settled()
    assert [question.done() for question in questions] == [True, False, False]


@pytest.mark.spec("R-PRM-14")
async def test_a_press_in_the_deaf_time_begins_it_anew_also_for_the_answer_beside_it(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    given = answers(bench.dialog.view)
    for button in (given.allow, given.allow_run) * 3:
        begun = time.monotonic()
        await settled(0.25)
        if time.monotonic() - begun > 0.35:  # this machine took its time: the press would be none too soon
            break
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    else:
        begun = time.monotonic()
        await settled(0.25)
        deaf = given.allow.deaf, given.allow_run.deaf
        assert deaf == (True, True) or time.monotonic() - begun > 0.35
    assert not question.done()
    await bench.awake()
    QTest.mouseClick(given.allow_run, Qt.MouseButton.LeftButton)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "allow_run"


@pytest.mark.spec("R-PRM-14")
async def test_a_press_that_begins_too_soon_and_ends_later_is_no_answer(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    allow = answers(bench.dialog.view).allow
    QTest.mousePress(allow, Qt.MouseButton.LeftButton)
    await settled(DEAF_OVER)
    QTest.mouseRelease(allow, Qt.MouseButton.LeftButton)
    await settled()
    assert not question.done()


@pytest.mark.spec("R-PRM-14", "R-PRM-7")
async def test_what_one_types_goes_on_going_where_it_went(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    assert bench.window.focusWidget() is bench.field
    await bench.awake()
    QTest.keyClicks(bench.window.focusWidget(), "yes please")
    for key in (Key.Key_Return, Key.Key_Space, Key.Key_Escape):
        QTest.keyClick(bench.window.focusWidget(), key)
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Return, CONTROL)
    assert bench.field.text() == "yes please "
    assert not question.done()
    assert bench.dialog.isVisible()


@pytest.mark.spec("R-PRM-7")
async def test_f6_or_a_click_on_the_dialog_brings_the_keys_to_deny(
    bench: DialogBench, write: PermissionRequest
) -> None:
    await bench.ask(write)
    QTest.keyClick(bench.window, Key.Key_F6)
    assert bench.window.focusWidget() is answers(bench.dialog.view).deny
    bench.field.setFocus()
    QTest.mouseClick(bench.dialog, Qt.MouseButton.LeftButton, pos=QPoint(60, 30))
    assert bench.window.focusWidget() is answers(bench.dialog.view).deny


@pytest.mark.spec("R-PRM-7")
async def test_the_loop_goes_on_while_a_question_is_open(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    ticks = 0
    for _ in range(20):
        await asyncio.sleep(0)
        ticks += 1
    assert (ticks, question.done()) == (20, False)


@pytest.mark.spec("R-PRM-8")
async def test_one_request_is_shown_at_a_time_with_the_number_of_the_others(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest
) -> None:
    first, second = same_thread(new_file, write)
    await bench.ask(first)
    await bench.ask(second)
    assert bench.dialog.view.request == first
    assert "1 more waiting" in words_of(bench.dialog)
    bench.dialog.take_keys()
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Escape)
    await settled()
    assert bench.dialog.view.request == second


@pytest.mark.spec("R-PRM-8", "R-PRM-14")
async def test_the_next_request_is_deaf_anew_so_that_a_double_click_allows_one(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest
) -> None:
    one, two = [await bench.ask(request) for request in same_thread(new_file, write)]
    await bench.awake()
    answers(bench.dialog.view).allow.click()
    await settled()
    answers(bench.dialog.view).allow.click()
    await settled()
    assert (one.done(), two.done()) == (True, False)


@pytest.mark.spec("R-PRM-8")
async def test_all_of_a_run_are_denied_at_once_and_no_other(
    bench: DialogBench, write: PermissionRequest, new_file: PermissionRequest, shell: PermissionRequest
) -> None:
    first, second, other = same_thread(new_file, shell, write)
    questions = [await bench.ask(request) for request in (first, second, other)]
    bench.dialog.view.deny_all()
    await settled()
    assert [q.done() for q in questions] == [True, True, False]
    assert not any(q.result().allowed for q in questions[:2])


@pytest.mark.spec("R-PRM-9")
async def test_a_cancelled_run_takes_its_dialog_with_it(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    bench.dialog.take_keys()
    answers(bench.dialog.view).reason.click()
    question.cancel()
    await settled()
    assert not bench.dialog.isVisible()
    assert bench.window.focusWidget() is bench.field
    reasons = [w for w in bench.window.findChildren(QWidget) if w.accessibleName() == "Deny with a reason"]
    assert not any(w.isVisible() for w in reasons), "it may not be deleted yet"


@pytest.mark.spec("R-PRM-15")
async def test_markup_in_what_a_model_says_is_shown_as_text(bench: DialogBench, write: PermissionRequest) -> None:
    bold = "<b>safe</b><img src=file:///etc/passwd>"
    await bench.ask(replace(write, description=bold, raised_because=bold, arguments={"path": bold, "content": bold}))
    labels = bench.dialog.findChildren(QLabel)
    assert bold in words_of(bench.dialog)
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}


@pytest.mark.spec("R-PRM-2", "R-PRM-15")
async def test_characters_that_hide_or_reorder_text_are_written_out_and_named(
    bench: DialogBench, shell: PermissionRequest
) -> None:
    command = "echo \u202egnp.exe\u202c; rm\u200b x\x1b[2K"
    preview = {**shell.preview, "command": command}
    await bench.ask(replace(shell, arguments={"command": command}, preview=preview))
    words = words_of(bench.dialog)
    assert "echo \\u{202e}gnp.exe\\u{202c}; rm\\u{200b} x\\e[2K" in words
    assert "are invisible" in words
    assert not any(character in words for character in "\u202e\u202c\u200b\x1b")


@pytest.mark.spec("R-PRM-5")
async def test_a_request_that_came_back_changed_is_shown_anew_and_says_so(
    bench: DialogBench, write: PermissionRequest
) -> None:
    first = await bench.ask(write)
    await bench.awake()
    answers(bench.dialog.view).allow.click()
    assert (await asyncio.wait_for(first, WAIT_S)).digest == "d3"
    preview = {**write.preview, "before": str(write.preview["before"]) + "Somebody added this.\n"}
    again = await bench.ask(replace(write, request_id="r9", digest="d9", stale=True, preview=preview))
    assert "has changed since you answered" in words_of(bench.dialog)
    card = bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    rows = card.diff_view.rows
    struck = [at for at, row in enumerate(rows) if row.struck]
    assert "you allowed this" in rows[struck[0] - 1].text
    assert "what would happen now" in next(row.text for row in rows[struck[-1] :] if row.kind == "hunk")
    assert any(row.text == "Somebody added this." and row.kind == "del" and not row.struck for row in rows)
    assert "no longer: " in card.diff_view.accessibleDescription()
    answers(bench.dialog.view).allow.click()
    await settled()
    assert not again.done()


async def test_a_request_put_aside_goes_on_waiting_and_can_be_called_back(
    bench: DialogBench, write: PermissionRequest
) -> None:
    question = await bench.ask(write)
    bench.dialog.put_aside()
    assert not bench.dialog.isVisible()
    assert not question.done()
    bench.dialog.reopen("r3")
    assert bench.dialog.isVisible()
    assert bench.window.focusWidget() is answers(bench.dialog.view).deny


async def test_requests_of_other_threads_are_not_shown_over_this_one(
    bench: DialogBench, write: PermissionRequest
) -> None:
    await bench.ask(write)
    bench.dialog.show_for("another")
    assert not bench.dialog.isVisible()
    bench.dialog.show_for(write.thread_id)
    assert bench.dialog.isVisible()


@pytest.mark.spec("R-PRM-4")
async def test_a_reason_is_sent_with_the_denial(bench: DialogBench, write: PermissionRequest) -> None:
    question = await bench.ask(write)
    answers(bench.dialog.view).reason.click()
    await settled()
    QTest.keyClicks(bench.window.focusWidget(), "Use the archive instead")
    for button in bench.window.findChildren(QWidget):
        if button.accessibleName() == "Deny" and button is not answers(bench.dialog.view).deny:
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            break
    decision = await asyncio.wait_for(question, WAIT_S)
    assert (decision.choice, decision.reason) == ("deny", "Use the archive instead")


@pytest.mark.spec("R-PRM-5")
async def test_what_was_never_allowed_is_not_struck(bench: DialogBench, write: PermissionRequest) -> None:
    """Asked about anew although no person had answered: a remembered answer no longer fits."""
    await bench.ask(replace(write, stale=True))
    card = bench.dialog.findChild(DiffCard)
    assert isinstance(card, DiffCard)
    assert not any(row.struck for row in card.diff_view.rows)
    assert "has changed" in words_of(bench.dialog)


@pytest.mark.spec("R-PRM-5")
async def test_that_a_request_came_back_is_said_where_nothing_scrolls_it_away(
    bench: DialogBench, write: PermissionRequest
) -> None:
    long = "\n".join(f"{n}" for n in range(500))
    preview = {**write.preview, "before": "", "after": long}
    bench.window.resize(900, 420)
    first = replace(write, preview=preview)
    await bench.ask(first)
    scroller = bench.dialog.view.findChild(Scroller)
    scroller.verticalScrollBar().setValue(scroller.verticalScrollBar().maximum())
    bench.approvals.answer(first.request_id, "deny", digest=first.digest)
    await settled()
    await bench.ask(replace(first, request_id="again", digest="again", stale=True))
    (notice,) = [n for n in bench.dialog.findChildren(Notice) if "has changed since you answered" in n.words]
    whole = notice.mapTo(bench.dialog, notice.rect().topLeft()).y()
    assert not scroller.isAncestorOf(notice)
    assert 0 < whole < bench.dialog.height() - notice.height()
    assert notice.visibleRegion().boundingRect().height() == notice.height()
    assert scroller.verticalScrollBar().value() == 0


@pytest.mark.spec("R-PRM-5", "R-PRM-2")
async def test_of_a_changed_file_the_difference_that_holds_now_is_in_sight(
    bench: DialogBench, write: PermissionRequest
) -> None:
    bench.window.resize(900, 560)
    first = await bench.ask(write)
    await bench.awake()
    answers(bench.dialog.view).allow.click()
    await asyncio.wait_for(first, WAIT_S)
    before = str(write.preview["before"]).replace("02:00", "03:00")
    await bench.ask(
        replace(write, request_id="r9", digest="d9", stale=True, preview={**write.preview, "before": before})
    )
    view = next(v for v in bench.dialog.findChildren(LinesView) if v.accessibleName() == "Changes")
    at = next(index for index, row in enumerate(view.rows) if row.text == "what would happen now")
    assert at > 0
    top, row = view.verticalScrollBar().value(), ROW
    assert top <= at * row < top + view.viewport().height() - row


async def test_a_small_difference_is_shown_whole_where_there_is_room(
    bench: DialogBench, write: PermissionRequest
) -> None:
    wide = "a line that is as wide as it is, and then some more of it"  # it has a scroll bar below only when laid out
    bench.window.resize(540, 780)
    for after in ("x", "x\ny\n", "a\nb\nc\n", f"a\n{wide}\nc\nd\n"):
        preview = {"kind": "diff", "path": "a", "before": "", "after": after, "new": True}
        await bench.ask(replace(write, request_id=after, digest=after, preview=preview))
        view = next(v for v in bench.dialog.findChildren(LinesView) if v.accessibleName() == "Changes")
        await until(lambda: view.verticalScrollBar().maximum() == 0, after)  # noqa: B023 - waited for within the loop
        bench.approvals.answer(after, "deny", digest=after)
        await settled()


@pytest.mark.spec("R-PRM-2")
def test_why_it_asks_has_one_blank_between_its_sentences(write: PermissionRequest) -> None:
    for request in (write, replace(write, stale=True), replace(write, raised_because="it is big", stale=True)):
        assert "  " not in why(request)


@pytest.mark.spec("R-PRM-8")
async def test_deny_over_a_thread_names_the_keys_that_do_deny(bench: DialogBench, write: PermissionRequest) -> None:
    """Over a thread the keys stay in the message field, whose Escape answers nothing."""
    question = await bench.ask(write)
    deny = answers(bench.dialog.view).deny
    assert (deny._key, deny.toolTip()) == ("", "Deny this call (F6, then Esc)")
    await bench.awake()
    QTest.keyClick(bench.field, Key.Key_Escape)
    assert not question.done()
    QTest.keyClick(bench.field, Key.Key_F6)
    QTest.keyClick(bench.window.focusWidget(), Key.Key_Escape)
    assert (await asyncio.wait_for(question, WAIT_S)).choice == "deny"
