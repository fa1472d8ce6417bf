"""The card of a result from outside says whose words it holds, and leads to the text as the model read it."""

from dataclasses import replace

import pytest

from desktop.presenter.transcript.items import READ_AS, ToolPart, TranscriptItem
from desktop.ui.transcript import TranscriptView
from tests.gui.transcript.test_acting import card, press

pytestmark = pytest.mark.spec("R-WEB-3")


def item(*outside: str) -> TranscriptItem:
    part = ToolPart("m:c", "c", "web-fetch", "https://example.org/", "read", "done", result="# Hi", outside=outside)
    return TranscriptItem("m", "a", "Agent", "12:00", (part,))


@pytest.mark.parametrize("child", ["", "abc123"])
def test_it_names_whose_words_they_are_and_one_click_asks_for_the_text(view: TranscriptView, child: str) -> None:
    (part,) = item("example.org", "the MCP server books").parts
    assert isinstance(part, ToolPart)
    view.set_items((TranscriptItem("m", "a", "Agent", "12:00", (replace(part, child=child),)),))
    press(view, "toggle")
    found = card(view)
    titles = [title for title, _ in found._sections]
    assert "Result, words of example.org, the MCP server books" in titles
    acted: list[tuple[str, str]] = []
    view.action.connect(lambda *told: acted.append(told))
    press(view, "action", number=1 if child else 0)
    assert acted == [("m", f"{READ_AS}m:c")]
    spots = [spot.rect for spot in found.spots() if spot.kind == "action"]
    assert all(not a.intersects(b) for a in spots for b in spots if a is not b)
    assert all(rect.bottom() <= found.height for rect in spots)


def test_a_result_of_this_computer_has_no_such_way(view: TranscriptView) -> None:
    view.set_items((item(),))
    press(view, "toggle")
    assert [title for title, _ in card(view)._sections] == ["Result"]
    assert all(spot.kind != "action" for spot in card(view).spots())
