"""Cards, answers, buttons and keys."""

import base64
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPaintEvent, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.domain.messages import ThinkingFacts
from desktop.presenter.transcript.items import (
    AttachmentPart,
    MediaPart,
    NoticeAction,
    NoticePart,
    ReasoningPart,
    TextPart,
    ToolPart,
    TranscriptItem,
)
from desktop.ui.theme import Theme
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.overlays import MESSAGE_ACTIONS, UNPIN
from desktop.ui.transcript.pieces.base import Spot
from desktop.ui.transcript.pieces.preview import PreviewLine, preview_of
from desktop.ui.transcript.pieces.tool_card import FOLDED, ToolCard
from tests.gui.transcript import scenes
from tests.gui.transcript.conftest import edge, middle, said, spin, thread, until
from tests.harness.timeouts import WAIT_S

LEFT = Qt.MouseButton.LeftButton


def calls(*parts: ToolPart) -> TranscriptItem:
    return TranscriptItem("calls", "a", "Agent", "12:00", parts)


def done(result: str = "the result", **more: object) -> ToolPart:
    return ToolPart("p1", "c1", "read-file", "data/x.csv", "read", "done", '{\n  "path": "x"\n}', result, **more)  # type: ignore[arg-type]


def press(view: TranscriptView, kind: str, number: int = 0, index: int = 0) -> None:
    """Clicks a painted spot."""
    spots = [found for found in view.page.messages[index].spots() if found[0].kind == kind]
    x, _ = view.column()
    point = spots[number][1].center().toPoint() + QPoint(x, view.page.top(index) - view.offset())
    QTest.mouseClick(view.viewport(), LEFT, pos=point)


def card(view: TranscriptView, index: int = 0) -> ToolCard:
    return next(piece for piece, _, _ in view.page.messages[index].pieces() if isinstance(piece, ToolCard))


def test_a_card_opens_to_its_arguments_and_result_and_stays_open(view: TranscriptView) -> None:
    toggled: list[tuple[str, bool]] = []
    view.tool_toggled.connect(lambda call, opened: toggled.append((call, opened)))
    view.set_items((calls(done()),))
    assert card(view).height == view.look.px(38)
    press(view, "toggle")
    assert '"path": "x"' in card(view).text
    assert "the result" in card(view).text
    view.change_item(calls(done("another result")))
    assert "another result" in card(view).text
    view.page.messages[0].release()
    view.settle()
    assert card(view).open
    press(view, "toggle")
    assert card(view).height == view.look.px(38)
    assert toggled == [("c1", True), ("c1", False)]


@pytest.mark.spec("R-UI-1")
def test_a_result_of_5_mb_shows_head_and_tail_and_freezes_nothing(view: TranscriptView) -> None:
    result = "first line\n" + "".join(f"row {n} with some text in it\n" for n in range(170_000)) + "last line"
    assert len(result) > 5_000_000
    started = time.thread_time()
    view.set_items((calls(done(result)),))
    press(view, "toggle")
    view.viewport().repaint()
    assert time.thread_time() - started < 1.5
    text = card(view).text
    assert "first line" in text
    assert "last line" in text
    assert len(text) < 20_000
    view.verticalScrollBar().setValue(0)
    spot = next(found for found in view.page.messages[0].spots() if found[0].kind == "more")
    assert "MB not shown" in spot[0].label
    view.activate(0, spot[0])
    assert len(card(view).text) > len(text) + 6000


def test_a_result_that_is_one_line_of_5_mb_freezes_nothing(view: TranscriptView) -> None:
    started = time.thread_time()
    view.set_items((calls(done("x" * 5_000_000)),))
    press(view, "toggle")
    view.viewport().repaint()
    assert time.thread_time() - started < 1.5


@pytest.mark.spec("R-PRM-14")
def test_allow_hears_nothing_for_its_first_400_ms(view: TranscriptView) -> None:
    answers: list[tuple[str, str]] = []
    view.tool_answer.connect(lambda request, choice: answers.append((request, choice)))
    view.set_items((calls(scenes.short()),))
    bar = view.overlays.answers["w1"]
    assert bar.allow is not None
    assert bar.isVisible()
    QTest.mouseClick(bar.allow, LEFT)
    QTest.keyClick(bar.allow, Qt.Key.Key_Space)
    assert answers == []
    assert bar.allow.kind == "deaf"
    until(lambda: not bar.allow.deaf)
    QTest.mouseClick(bar.allow, LEFT)
    assert answers == [("r-w1-d", "allow_once")]
    QTest.mouseClick(bar.deny, LEFT)
    QTest.mouseClick(bar.open_button, LEFT)
    assert answers[1:] == [("r-w1-d", "deny"), ("r-w1-d", "open")]


@pytest.mark.spec("R-PRM-14")
def test_allow_is_deaf_again_when_it_comes_back_into_view_or_its_request_changed(view: TranscriptView) -> None:
    view.set_items((*thread(60), calls(scenes.short())))
    until(lambda: not view.overlays.answers["w1"].allow.deaf)
    bar = view.overlays.answers["w1"]
    assert bar.allow is not None
    assert not bar.allow.deaf
    view.change_item(calls(scenes.short(digest="other")))
    bar = view.overlays.answers["w1"]
    assert bar.request_id == "r-w1-other"
    assert bar.allow is not None
    assert bar.allow.deaf
    until(lambda: not bar.allow.deaf)
    view.verticalScrollBar().setValue(0)
    assert "w1" not in view.overlays.answers
    view.scroll_to_end()
    again = view.overlays.answers["w1"]
    assert again.allow is not None
    assert again.allow.deaf


@pytest.mark.spec("R-PRM-3", "R-UI-4")
def test_an_admin_call_has_no_allow_in_the_thread(view: TranscriptView) -> None:
    view.set_items((calls(scenes.waiting("w1", category="admin")),))
    bar = view.overlays.answers["w1"]
    assert bar.allow is None
    assert [button.accessibleName() for button in bar.buttons()] == ["Open the request of bash", "Deny bash"]


@pytest.mark.spec("R-PRM-14", "R-PRM-8")
def test_a_second_click_on_deny_does_not_deny_the_call_that_moves_up(view: TranscriptView) -> None:
    answers: list[tuple[str, str]] = []
    view.tool_answer.connect(lambda request, choice: answers.append((request, choice)))
    view.set_items((calls(scenes.waiting("w1"), scenes.waiting("w2")),))
    QTest.mouseClick(view.overlays.answers["w1"].deny, LEFT)
    view.change_item(calls(scenes.waiting("w2"), scenes.waiting("w3")))
    QTest.mouseClick(view.overlays.answers["w2"].deny, LEFT)
    assert answers == [("r-w1-d", "deny")]
    until(lambda: not view.overlays.answers["w2"].deny.deaf)
    QTest.mouseClick(view.overlays.answers["w2"].deny, LEFT)
    assert answers[1:] == [("r-w2-d", "deny")]


def test_the_answers_go_when_the_call_is_answered(view: TranscriptView) -> None:
    view.set_items((calls(scenes.waiting("w1")),))
    assert "w1" in view.overlays.answers
    view.change_item(calls(ToolPart("p-w1", "w1", "write-file", "x", "write", "done")))
    assert view.overlays.answers == {}


def test_the_answers_lie_on_their_card_while_the_page_scrolls(view: TranscriptView) -> None:
    view.set_items((*thread(30), calls(scenes.waiting("w1")), *[said(n, "short") for n in range(100, 104)]))
    for value in (0, -13, -40, 30):
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() + value)
        index = view.page.place("calls")
        assert index is not None
        piece, y, _ = next(iter(view.page.messages[index].pieces()))
        bottom = view.page.top(index) - view.offset() + y + piece.height
        assert view.overlays.answers["w1"].geometry().bottom() in range(bottom - 4, bottom)


LONG = "".join(f"line {n}\n" for n in range(20))
ARGUMENTS = '{\n  "to": "a@example.org",\n  "text": "' + "word " * 80 + '"\n}'


@pytest.mark.spec("R-PRM-2")
@pytest.mark.parametrize(
    ("preview", "arguments", "offered"),
    [
        ({"kind": "diff", "before": "", "after": "one\n", "new": True}, "{}", True),
        ({"kind": "diff", "before": "", "after": LONG, "new": True}, "{}", False),
        ({"kind": "diff", "before": "", "after": "x" * 400, "new": True}, "{}", False),
        ({"kind": "diff", "before": "a\nb\n", "after": "a\nc\n"}, "{}", True),
        ({"kind": "diff", "before": "a\n" + LONG, "after": "b\n"}, "{}", False),
        ({"kind": "diff", "before": "a\n", "after": "b" + " wide" * 50 + "\n"}, "{}", False),
        ({"kind": "command", "command": "ls"}, "{}", True),
        ({"kind": "command", "command": LONG}, "{}", False),
        ({"kind": "argv", "argv": ["git", "push"]}, "{}", True),
        ({}, '{\n  "path": "x"\n}', True),
        ({}, ARGUMENTS, False),
        ({}, "{\n" + ",\n".join(f'  "a{n}": {n}' for n in range(8)) + "\n}", False),
    ],
)
def test_a_card_allows_only_what_it_shows_to_its_end(
    view: TranscriptView, preview: dict[str, Any], arguments: str, offered: bool
) -> None:
    part = scenes.waiting("w1")
    part = replace(part, arguments=arguments, request=replace(part.request, preview=preview))
    view.set_items((said(1, "go"), calls(part)))
    assert until(lambda: "w1" in view.overlays.answers)
    assert (view.overlays.answers["w1"].allow is not None) is offered


def test_a_preview_of_a_name_that_is_changed_in_places_shows_these_lines_alone() -> None:
    before = "one\ndef fetch(x):\n    return x\n\n\nfetch(1)\nlast\n"
    preview = {"kind": "diff", "before": before, "after": before.replace("fetch", "read")}
    shown = preview_of(replace(scenes.request(), preview=preview))
    assert [(line.number, line.sign, line.text) for line in shown.lines] == [
        ("2", "-", "def fetch(x):"),
        ("2", "+", "def read(x):"),
        ("6", "-", "fetch(1)"),
        ("6", "+", "read(1)"),
    ]
    assert shown.whole
    many = "".join(f"fetch({n})\nsame\n" for n in range(100))
    preview = {"kind": "diff", "before": many, "after": many.replace("fetch", "read")}
    shown = preview_of(replace(scenes.request(), preview=preview))
    assert [line.number for line in shown.lines] == ["1", "1", "3", "3", "5", "5", "7", "7", ""]
    assert shown.lines[-1].text.startswith("192 more lines")
    assert not shown.whole


def test_a_preview_of_a_huge_change_is_short_and_quick() -> None:
    def preview_lines(preview: dict[str, Any]) -> tuple[PreviewLine, ...]:
        return preview_of(replace(scenes.request(), preview=preview)).lines

    old = "\n".join(f"line {n}" for n in range(200_000))
    new = old.replace("line 150000\n", "line changed\nand more\n")
    started = time.thread_time()
    lines = preview_lines({"kind": "diff", "before": old, "after": new})
    assert time.thread_time() - started < 1.5
    assert [(line.number, line.sign, line.text) for line in lines] == [
        ("150001", "-", "line 150000"),
        ("150001", "+", "line changed"),
        ("150002", "+", "and more"),
    ]
    assert (
        preview_lines({"kind": "diff", "before": "", "after": "a\nb\n", "new": True})[0].text
        == "new file, 2 lines, 4 bytes"
    )
    assert preview_lines({"kind": "command", "command": "ls\nrm x"})[-1].text == "rm x"
    assert preview_lines({}) == ()


def test_notices_reasoning_and_versions_act(view: TranscriptView) -> None:
    acted: list[tuple[str, str]] = []
    view.action.connect(lambda message, action: acted.append((message, action)))
    notice = NoticePart("n", "The key was refused.", "error", (NoticeAction("Open the key", "open-models"),))
    view.set_items((TranscriptItem("m", "a", "Agent", "1", (ReasoningPart("r", "deep thoughts"), notice), 2, 3),))
    press(view, "action")
    press(view, "previous")
    press(view, "next")
    assert acted == [("m", "open-models"), ("m", "previous"), ("m", "next")]
    assert "deep thoughts" not in view.page.messages[0].text()
    press(view, "toggle")
    assert "deep thoughts" in view.page.messages[0].text()


def test_thinking_that_the_model_does_not_show_has_its_line_and_nothing_to_open(view: TranscriptView) -> None:
    facts = ThinkingFacts(12.0, 1900, "claude-sonnet")
    text = TextPart("t", "So.")
    view.set_items((TranscriptItem("m", "a", "Agent", "1", (ReasoningPart("r", "", facts=facts), text)),))
    assert "toggle" not in {spot.kind for spot, _ in view.page.messages[0].spots()}
    view.set_items((TranscriptItem("m", "a", "Agent", "1", (ReasoningPart("r", "Hm.", facts=facts), text)),))
    (spot,) = (spot for spot, _ in view.page.messages[0].spots() if spot.kind == "toggle")
    assert spot.label == "Open the thinking: Thought for 12 s, 1.9k tokens, kept for claude-sonnet only"


def test_the_actions_of_a_message_appear_under_the_pointer(view: TranscriptView) -> None:
    acted: list[tuple[str, str]] = []
    view.action.connect(lambda message, action: acted.append((message, action)))
    view.set_items((said(1, "question", side="human"), said(2, "an *answer*")))
    QTest.mouseMove(view.viewport(), middle(view, "m2", "answer"))
    bar = view.overlays.bar
    assert bar.isVisible()
    assert [b.accessibleName() for b in bar.buttons()] == [
        "Copy message",
        "Quote in the composer",
        "Answer again",
        "Branch from here",
        MESSAGE_ACTIONS["pin"][1],
    ]
    view.overlays.show_pinned(frozenset({"m2"}))
    assert bar.buttons()[-1].accessibleName() == UNPIN
    for button in bar.buttons():
        QTest.mouseClick(button, LEFT)
    assert acted == [("m2", name) for name in ("copy", "quote", "regenerate", "branch", "pin")]
    assert QGuiApplication.clipboard().text() == "an *answer*"
    QTest.mouseMove(view.viewport(), middle(view, "m1", "question"))
    assert [b.accessibleName() for b in bar.buttons()][1] == "Edit and send again"


@pytest.mark.spec("R-UI-9")
def test_a_link_is_only_told_never_opened(view: TranscriptView) -> None:
    links: list[str] = []
    view.link_activated.connect(links.append)
    view.set_items(
        (said(1, "go [there](https://example.org/x) or [not](file:///etc/passwd) or [js](javascript:alert(1))"),)
    )
    QTest.mouseClick(view.viewport(), LEFT, pos=middle(view, "m1", "there"))
    QTest.mouseClick(view.viewport(), LEFT, pos=middle(view, "m1", "not"))
    QTest.mouseClick(view.viewport(), LEFT, pos=middle(view, "m1", "js"))
    assert links == ["https://example.org/x"]


@pytest.mark.spec("R-UI-9")
def test_where_links_are_is_found_out_once_and_anew_where_the_text_flows_otherwise(view: TranscriptView) -> None:
    view.set_items((said(1, "Some words before it. " * 4 + "It is [there](https://example.org/x)."),))

    def links() -> Sequence[Spot]:
        (found,) = [piece.spots() for piece, _, _ in view.page.messages[0].pieces() if piece.spots()]
        return found

    wide = links()
    assert links() is wide, "each movement of the pointer asks"
    view.resize(420, 600)
    spin(50)
    assert links()[0].rect != wide[0].rect
    told: list[str] = []
    view.link_activated.connect(told.append)
    press(view, "link")
    assert told == ["https://example.org/x"]


@pytest.mark.spec("R-UI-9")
def test_html_and_images_are_text_and_load_nothing(view: TranscriptView, tmp_path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    images = f"![alt words]({secret}) ![remote](http://127.0.0.1:9/x.png) <img src='{secret}'>"
    text = f"<script>alert(1)</script> <b>x</b> {images}"
    view.set_items((said(1, text),))
    shown = view.page.messages[0].text()
    assert "<script>alert(1)</script> <b>x</b> alt words remote <img" in shown
    assert "secret words" not in shown
    assert "\ufffc" not in shown


def test_attachments_are_decoded_small_or_not_at_all(qtbot: QtBot, view: TranscriptView) -> None:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    big = QImage(3000, 2000, QImage.Format.Format_RGB32)
    big.fill(0xFF336699)
    big.save(buffer, "PNG")
    drawn = (bytes(data.data()), b"\x89PNG nonsense", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    parts = tuple(
        AttachmentPart(name, name, "", image=MediaPart(name, name, "", True, base64.b64encode(one).decode()))
        for name, one in zip(("big.png", "evil.png", "x.svg"), drawn, strict=True)
    )
    view.set_items((TranscriptItem("m", "human", "You", "1", parts),))
    qtbot.waitUntil(lambda: next(view.page.messages[0].pieces())[0].height == 240, timeout=WAIT_S * 1000)
    pieces = [piece for piece, _, _ in view.page.messages[0].pieces()]
    assert pieces[0]._image.width() <= 720  # type: ignore[attr-defined]
    assert [piece.height for piece in pieces[1:]] == [32, 32]


# ---------------------------------------------------------------------------------------------------------------- keys


def test_tab_goes_through_everything_that_can_be_pressed_and_out_again(qtbot: QtBot, view: TranscriptView) -> None:
    links: list[str] = []
    answers: list[tuple[str, str]] = []
    view.link_activated.connect(links.append)
    view.tool_answer.connect(lambda *answer: answers.append(answer))
    view.set_items((said(1, "a [link](https://e.org)\n\n```py\nx\n```"), calls(scenes.short())))
    view.setFocus(Qt.FocusReason.TabFocusReason)
    visited = []
    for _ in range(8):
        QTest.keyClick(QApplication.focusWidget() or view, Qt.Key.Key_Tab)
        widget = QApplication.focusWidget()
        if widget is view and not view.keys.focus:
            break
        visited.append(
            view.keys.focus.rpartition("/")[2] if widget is view else widget.accessibleName() if widget else ""
        )
        if visited[-1] == "link0":
            QTest.keyClick(view, Qt.Key.Key_Return)
        if visited[-1] == "copy":
            QTest.keyClick(view, Qt.Key.Key_Space)
    assert visited[0] == "link0"
    wanted = ["link0", "copy", "head", "Open the request of write-file", "Deny write-file", "Allow write-file once"]
    assert [name for name in visited if name in wanted] == wanted
    assert links == ["https://e.org"]
    assert QGuiApplication.clipboard().text() == "x"


def test_arrows_go_from_message_to_message_and_enter_opens_a_card(view: TranscriptView) -> None:
    view.set_items((*thread(40), calls(done())))
    view.setFocus()
    view.scroll_to_end()
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.keys.current == 40
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert card(view, 40).open
    for _ in range(30):
        QTest.keyClick(view, Qt.Key.Key_Up)
    current = view.keys.current
    assert current is not None
    assert current < 30
    assert current in [index for index, _ in view.visible()]
    assert view.overlays.bar.isVisible()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.keys.current == current + 1


def test_page_keys_and_home_and_end_scroll(view: TranscriptView) -> None:
    view.set_items(thread(100))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.offset() == 0
    QTest.keyClick(view, Qt.Key.Key_PageDown)
    assert 400 < view.offset() < 600
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.offset() == 0
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.offset() == view.verticalScrollBar().maximum()
    assert view.stick


def test_a_running_call_counts_and_turns_only_while_it_is_seen(view: TranscriptView, theme: Theme) -> None:
    running = ToolPart("p1", "c1", "bash", "sleep", "admin", "running", started_at=time.time() - 61)
    view.set_items((calls(running), *thread(60)))
    assert not view.stream._tick.isActive()
    view.verticalScrollBar().setValue(0)
    assert view.stream._tick.isActive()
    assert card(view).clock(time.time()).startswith("1 min")
    view.scroll_to_end()
    assert until(lambda: not view.stream._tick.isActive())
    theme.set_motion("less")
    assert view.canvas is not None
    theme.set_motion("system")


class Painted(QObject):
    """What is painted anew of a widget while this is its event filter."""

    def __init__(self) -> None:
        super().__init__()
        self.region = QRegion()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.region = self.region.united(event.region())
        return False


def test_when_a_running_call_counts_its_whole_command_is_drawn_anew(view: TranscriptView) -> None:
    """How much of the command fits depends on the clock beside it: half of a line would mix two cuts of it."""
    line = json.dumps({"command": "ls -la && " + "echo hi > /tmp/some/where/" * 9 + "x.txt"})
    running = ToolPart("p1", "c1", "bash", line, "admin", "running", line, started_at=time.time() - 8)
    view.set_items((calls(running),))
    shown = card(view)
    assert until(view.stream._tick.isActive)
    view.stream._tick.stop()
    spin(20)
    painted = Painted()
    view.viewport().installEventFilter(painted)
    view.stream._advance()
    assert until(lambda: not painted.region.isEmpty())
    spot = next(rect for found, rect in view.page.messages[0].spots() if found.kind == "toggle")
    head = spot.toAlignedRect().translated(view.column()[0], view.page.top(0) - view.offset())
    head.setHeight(view.look.px(FOLDED))
    assert head.width() > view.look.px(400), f"the line of {shown.text[:20]} is long"
    assert QRegion(head).subtracted(painted.region).isEmpty(), f"{head} was drawn anew only in {painted.region}"


def test_code_scrolls_sideways_with_the_wheel_and_the_keys(view: TranscriptView) -> None:
    view.set_items((said(1, "```\n" + "x" * 900 + "\n```"),))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    assert view.keys.focus.endswith("/copy")
    QTest.keyClick(view, Qt.Key.Key_Right)
    piece = next(piece for piece, _, _ in view.page.messages[0].pieces())
    assert piece.scroll.x > 0  # type: ignore[attr-defined]
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert piece.scroll.x == 0  # type: ignore[attr-defined]


def test_the_edge_helper_is_where_the_words_are(view: TranscriptView) -> None:
    view.set_items((said(1, "alpha beta"),))
    assert edge(view, "m1", "beta").x() < middle(view, "m1", "beta").x() < edge(view, "m1", "beta", end=True).x()


@pytest.mark.spec("R-AAT-2")
def test_the_card_of_a_called_agent_leads_to_its_conversation(view: TranscriptView) -> None:
    acted: list[tuple[str, str]] = []
    view.action.connect(lambda message, action: acted.append((message, action)))
    view.set_items((calls(done(child="abc123")),))
    press(view, "toggle")
    spot = next(one for one in card(view).spots() if one.label == "Open its conversation")
    press(view, "action")
    assert acted == [("calls", f"open-thread:{'abc123'}")]
    assert spot.role == "button"
    view.set_items((calls(done()),))
    assert all(one.kind != "action" for one in card(view).spots())
