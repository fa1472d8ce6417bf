"""What a reader may rely on: the end is followed, another place is kept, streamed text is the stored text."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt, QThreadPool
from PySide6.QtTest import QTest

from desktop.presenter.transcript.items import TextPart, TranscriptItem
from desktop.ui.theme import Theme
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.flow import TextFlow
from desktop.ui.transcript.heights import Heights
from tests.gui.transcript import scenes
from tests.gui.transcript.conftest import picture, said, spin, thread, until
from tests.harness.timeouts import WAIT_MS

pytestmark = pytest.mark.spec("R-UI-1")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 50), max_size=40), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 99))))
def test_heights_know_where_everything_is(heights: list[int], changes: list[tuple[int, int]]) -> None:
    tree = Heights(heights)
    for place, height in changes:
        if place < len(heights):
            assert tree.set(place, height) == height - heights[place]
            heights[place] = height
        else:
            heights.append(height)
            tree.append(height)
    assert [tree.top(n) for n in range(len(heights) + 1)] == [sum(heights[:n]) for n in range(len(heights) + 1)]
    assert (len(tree), [tree[n] for n in range(len(heights))]) == (len(heights), heights)
    y = 0
    for number, height in enumerate(heights):
        if height:
            assert tree.at(y) == (number, 0)
            assert tree.at(y + height - 1) == (number, height - 1)
        y += height
    assert tree.total() == y
    last = heights[-1] if heights else 0
    assert [tree.at(y + below) for below in (0, 7)] == [(len(heights) - 1, last + below) for below in (0, 7)]


def test_a_thread_opens_at_its_end_and_lays_out_only_what_is_seen(view: TranscriptView) -> None:
    view.set_items(thread(3000))
    assert view.offset() == view.verticalScrollBar().maximum()
    assert len(view.page.laid_out()) < 60
    assert [index for index, _ in view.visible()][-1] == 2999


def test_streamed_text_looks_exactly_like_the_same_text_stored(view: TranscriptView) -> None:
    text = scenes.MARKDOWN
    view.resize(900, 2600)
    view.set_items((said(1, "x"), said(2, text)))
    assert until(lambda: not view.formulas._asked)
    spin(50)
    stored = picture(view)
    view.set_items((said(1, "x"), said(2, "", live=True)))
    rng = random.Random(1)
    at = 0
    while at < len(text):
        step = rng.randint(1, 60)
        view.append_text("m2", "m2:0", text[at : at + step])
        at += step
        view.stream.flush()
    view.change_item(said(2, text))
    assert view.page.messages[1].text() != ""
    assert picture(view) == stored


def test_the_end_is_followed_while_text_streams_in(view: TranscriptView) -> None:
    view.set_items(thread(50))
    view.add_item(said(99, "start", live=True))
    for number in range(80):
        view.append_text("m99", "m99:0", f"\n\nparagraph {number}")
        view.stream.flush()
    assert view.offset() == view.verticalScrollBar().maximum()
    assert view.stick


def test_streamed_text_is_on_the_screen_within_a_few_frames(view: TranscriptView) -> None:
    view.set_items((said(1, "x", live=True),))
    before = picture(view)
    view.append_text("m1", "m1:0", " and more words")
    assert until(lambda: picture(view) != before)


def test_nothing_moves_under_a_reader_who_scrolled_up(view: TranscriptView) -> None:
    view.set_items(thread(200))
    view.add_item(said(999, "start", live=True))
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() - 900)
    spin(30)
    assert not view.stick
    view.pointer.leave()
    view.overlays.jump.hide()
    seen = picture(view)[:500]
    for number in range(60):
        view.append_text("m999", "m999:0", f"\n\nparagraph {number}")
        view.stream.flush()
    view.add_item(said(1000, "another"))
    view.change_item(said(999, "short now"))
    view.overlays.jump.hide()
    assert picture(view)[:500] == seen


def test_older_messages_come_above_without_moving_the_page(view: TranscriptView) -> None:
    items = thread(400)
    view.set_items(items[300:])
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    spin(20)
    seen = picture(view)
    for end in (300, 200, 100):
        view.prepend_items(items[end - 100 : end])
    assert picture(view) == seen
    assert view.page.place("m0") == 0
    bar.setValue(0)
    assert next(iter(view.visible()))[0] == 0


def test_a_card_that_changes_above_the_screen_moves_nothing(view: TranscriptView) -> None:
    items = (scenes.mockup()[1], *(said(n) for n in range(10, 60)))
    view.set_items(items)
    bar = view.verticalScrollBar()
    bar.setValue(0)
    spin(10)
    bar.setValue(view.page.top(1) + 30)
    spin(10)
    seen, above, offset = picture(view), view.page.top(1), view.offset()
    done = scenes.mockup()[1]
    for parts in (done.parts[:2], done.parts):
        view.change_item(TranscriptItem("m2", "a", "Workbench", "14:02", parts))
        assert picture(view) == seen
        moved = view.page.top(1) - above
        assert (moved < 0) == (parts != done.parts), "it is shorter, and then as it was"
        assert view.offset() == offset + moved


@pytest.mark.parametrize("change", ["dark", "scale", "width"])
def test_another_look_keeps_the_line_at_the_top_of_the_screen(view: TranscriptView, theme: Theme, change: str) -> None:
    view.set_items(thread(300))
    view.verticalScrollBar().setValue(view.page.top(150) + 8)
    spin(30)
    before = view.anchor()
    assert before is not None
    if change == "dark":
        theme.set_choice("dark")
    elif change == "scale":
        theme.set_scale(1.6)
    else:
        view.resize(500, 600)
    after = view.anchor()
    assert after is not None
    assert after.message is before.message
    assert after.key == before.key
    assert abs(after.y - before.y) <= 24


def test_scrolling_through_everything_and_back_ends_where_it_began(view: TranscriptView) -> None:
    view.set_items(thread(300))
    bar = view.verticalScrollBar()
    total = view.page.height()
    while bar.value() > 0:
        bar.setValue(bar.value() - 400)
    exact = view.page.height()
    while bar.value() < bar.maximum():
        bar.setValue(bar.value() + 400)
    assert view.page.height() == exact
    assert view.stick
    assert abs(exact - total) < total * 0.3


def on_screen(view: TranscriptView) -> list[bytes]:
    """The rows of pixels that the window shows, not painted anew for it."""
    image = view.screen().grabWindow(view.window().winId()).toImage()
    return [bytes(image.constScanLine(y)) for y in range(image.height())]


def drawn(view: TranscriptView) -> None:
    """Until what is drawn in threads, such as formulas, is there."""
    before: list[bytes] = []
    while (now := picture(view)) != before:
        before = now
        QThreadPool.globalInstance().waitForDone(WAIT_MS)
        spin(20)


def test_blitted_scrolling_shows_what_painting_anew_shows(view: TranscriptView) -> None:
    view.set_items(scenes.everything() + thread(60))
    bar = view.verticalScrollBar()
    bar.setValue(0)
    steps = (30, 70, 55, -40, 120, 33, -90, 200)
    for step in (*steps, 0, *steps):
        if not step:
            bar.setValue(0)
        bar.setValue(bar.value() + step)
        drawn(view)
    bar.setValue(0)
    spin(20)
    for step in steps:
        bar.setValue(bar.value() + step)
        spin(20)
    scrolled = on_screen(view)
    view.viewport().update()
    spin(20)
    assert on_screen(view) == scrolled
    assert len(set(scrolled)) > 50, "something is shown"


def test_a_formula_in_a_line_keeps_its_pixels_wherever_it_is_scrolled_to(view: TranscriptView) -> None:
    view.set_items((said(1, "See"), said(2, "So $e^{i\\pi} + 1 = 0$ and $\\frac{a}{b}$ hold."), *thread(60)[2:]))
    bar = view.verticalScrollBar()
    bar.setValue(0)
    drawn(view)
    first = [row[:2_800] for row in on_screen(view)]  # without the scroll bar
    for by in range(1, 9):
        bar.setValue(by)
        spin(20)
        for y in range(0, 300, 10):
            view.viewport().update(0, y, 900, 5)
        spin(20)
        now = [row[:2_800] for row in on_screen(view)]
        assert [y for y in range(300) if now[y] != first[y + by]] == [], by


def test_a_way_back_to_the_end_appears_and_works(view: TranscriptView) -> None:
    changes: list[bool] = []
    view.at_end_changed.connect(changes.append)
    view.set_items(thread(100))
    assert not view.overlays.jump.isVisible()
    view.verticalScrollBar().setValue(100)
    assert view.overlays.jump.isVisible()
    QTest.mouseClick(view.overlays.jump, Qt.MouseButton.LeftButton)
    assert not view.overlays.jump.isVisible()
    assert changes == [False, True]


def test_scroll_to_puts_a_message_at_the_top(view: TranscriptView) -> None:
    view.set_items(thread(500))
    view.scroll_to("m250")
    index, y = next(iter(view.visible()))
    assert (index, y) == (250, 0)


def test_an_unknown_part_that_streams_is_shown_and_survives_leaving_the_screen(view: TranscriptView) -> None:
    view.set_items((*thread(20), TranscriptItem("live", "a", "Agent", "12:00", (), live=True)))
    view.append_text("live", "fresh", "Hello **there**")
    view.stream.flush()
    message = view.page.messages[-1]
    assert message.text() == "Hello there"
    message.release()
    view.append_text("live", "fresh", " and on")
    assert message.source().split() == ["Hello", "**there**", "and", "on"]
    message.lay_out(view.page.frame)
    assert message.text() == "Hello there and on"


def test_links_defined_later_are_applied_to_what_stands_above(view: TranscriptView) -> None:
    view.set_items((said(1, "See [here][r] and more.\n\nText.\n\n", live=True),))
    view.append_text("m1", "m1:0", "[r]: https://example.org\n\nend")
    view.stream.flush()
    spots = [spot for spot, _ in view.page.messages[0].spots() if spot.kind == "link"]
    assert [spot.payload for spot in spots] == ["https://example.org"]


def test_a_long_paragraph_flows_on_in_the_same_line_where_it_was_cut(view: TranscriptView) -> None:
    text = "word and more " * 400
    view.set_items((said(1, text),))
    pieces = [piece for piece, _, _ in view.page.messages[0].pieces()]
    assert len(pieces) > 2
    line = view.look.line("reading")
    total = sum(piece.height - piece.overlap for piece in pieces)
    assert all(piece.overlap == line for piece in pieces[1:])
    assert view.page.messages[0].text() == text.strip()
    assert total % line == 0


def test_a_view_that_is_hidden_collects_and_shows_all_when_it_comes_back(view: TranscriptView) -> None:
    view.set_items((said(1, "x", live=True),))
    view.hide()
    view.append_text("m1", "m1:0", " while hidden")
    spin(50)
    view.show()
    assert view.page.messages[0].text() == "x while hidden"


def test_parts_that_did_not_change_are_not_laid_out_again(view: TranscriptView) -> None:
    parts = (TextPart("a", "first"), TextPart("b", "second"))
    view.set_items((TranscriptItem("m", "a", "Agent", "1", parts),))
    flows = view.page.messages[0].flows
    assert flows is not None
    kept = flows[0].pieces[0]
    view.change_item(TranscriptItem("m", "a", "Agent", "1", (parts[0], TextPart("b", "other"))))
    flows = view.page.messages[0].flows
    assert flows is not None
    assert flows[0].pieces[0] is kept
    assert view.page.messages[0].text() == "first\nother"


def test_the_same_thread_given_again_keeps_the_readers_place_and_another_opens_at_its_end(view: TranscriptView) -> None:
    items = thread(200)
    view.set_items(items)
    view.scroll_to("m100")
    view.verticalScrollBar().setValue(view.offset() + 25)
    spin(20)
    view.overlays.jump.hide()
    seen = picture(view)
    view.set_items((*items, said(500, "new at the end")))
    view.overlays.jump.hide()
    assert picture(view) == seen
    assert not view.stick
    view.set_items(tuple(said(n) for n in range(1000, 1100)))
    assert view.stick


@pytest.mark.spec("R-UI-7")
def test_a_stored_text_of_1_mb_is_shown_by_pages_and_copied_whole(view: TranscriptView) -> None:
    text = "".join(f"line {n} of a long log that a person pasted\n" for n in range(24_000)).strip()
    assert len(text) > 1_000_000
    started = time.thread_time()
    view.set_items((said(1, text, side="human"),))
    view.viewport().repaint()
    assert time.thread_time() - started < 2.5
    message = view.page.messages[0]
    shown = len(message.text())
    assert shown < 80_000
    spot = next(spot for spot, _ in message.spots() if spot.kind == "more")
    assert "not shown" in spot.label
    view.activate(0, spot)
    assert len(message.text()) > shown + 30_000
    view.select_all()
    assert view.selected_text().startswith("line 0 of")
    assert "line 23999" in view.selected_text()


@pytest.mark.parametrize(
    ("text", "maximum"), [("-\n" * 30_000, 1_000), ("=\n" * 30_000, 1_000), ("```\n" + "x\n" * 30_000, 2_000)]
)
def test_a_stored_text_of_short_lines_is_shown_by_pages_too(view: TranscriptView, text: str, maximum: int) -> None:
    view.set_items((said(1, text),))
    flow = (view.page.messages[0].flows or [])[0]
    assert isinstance(flow, TextFlow)
    assert flow.hidden == len("".join(text.splitlines(keepends=True)[maximum:]))
    assert len(flow.pieces) <= maximum + 1
    spot = next(spot for spot, _ in view.page.messages[0].spots() if spot.kind == "more")
    view.activate(0, spot)
    assert flow.hidden < len(text) - 2 * maximum
    view.select_all()
    assert view.selected_text().strip()


def test_code_of_a_thousand_lines_and_more_is_one_block_that_is_copied_whole(view: TranscriptView) -> None:
    view.set_items((said(1, "```\n" + "x = 1\n" * 1_800 + "```\nthe end"),))
    flow = (view.page.messages[0].flows or [])[0]
    assert isinstance(flow, TextFlow)
    assert flow.hidden == 0


def test_the_column_stands_still_when_a_scroll_bar_comes(view: TranscriptView) -> None:
    view.set_items(thread(1))
    assert view.verticalScrollBar().maximum() == 0
    before = view.column()
    view.set_items(thread(60))
    assert view.verticalScrollBar().maximum() > 0
    spin(20)
    assert view.column() == before


def test_at_another_text_size_known_heights_grow_with_it_and_what_is_off_the_screen_waits(
    view: TranscriptView, theme: Theme
) -> None:
    view.set_items(tuple(thread(60)))
    view.verticalScrollBar().setValue(0)
    last = view.page.messages[-1]
    assert last.flows is not None
    before = last.height
    theme.set_scale(1.2)
    assert (last.flows, last.height) == (None, round(before * 1.2))
