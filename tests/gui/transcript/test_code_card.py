"""The card of a call that ran code: what it shows, what it hides, how it is copied and opened."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from desktop.domain.text.hidden_characters import has_hidden
from desktop.presenter.transcript.items import CallsPart, CodeText, NestedCall, ToolPart, TranscriptItem
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.pieces.base import Spot
from desktop.ui.transcript.pieces.code_card import CodeCard
from desktop.ui.transcript.pieces.code_lines import numbered
from desktop.ui.transcript.pieces.tool_card import ToolCard
from tests.gui.transcript import scenes
from tests.gui.transcript.conftest import picture

SOURCE = "const a = 1;\nreturn await ctx.manager.invoke('read-file', {path: 'a'});"


def ran(source: str = SOURCE, **facts) -> ToolPart:
    code = CodeText(source, **facts)
    state = "failed" if code.error else "done"
    return ToolPart("p", "c1", "invoke", "const a = 1;", "read", state, "{}", "{}", code=code)


def card(view: TranscriptView, part: ToolPart, *, opened: bool = True) -> CodeCard:
    view.set_items((TranscriptItem("m", "a", "Agent", "12:00", (part,)),))
    if opened:
        view.page.messages[0].toggle("p")
    (found,) = (piece for piece, _, _ in view.page.messages[0].pieces() if isinstance(piece, CodeCard))
    return found


def spot(found: CodeCard, kind: str) -> Spot:
    return next(s for s in found.spots() if s.kind == kind)


@pytest.mark.spec("R-COD-18")
def test_folded_it_says_that_it_is_code_and_the_first_line(view: TranscriptView) -> None:
    found = card(view, ran(), opened=False)
    assert found.text == "code const a = 1;"
    assert found.spoken() == "Code, const a = 1;, done"


@pytest.mark.spec("R-COD-18", "R-COD-16")
def test_opened_it_shows_code_value_output_calls_and_that_memory_is_gone(view: TranscriptView) -> None:
    part = ran(value='{\n  "n": 1\n}', stdout="seen", note="memory is gone")
    found = card(view, replace(part, nested=(NestedCall("read-file", "done", 40), NestedCall("bash", "denied"))))
    assert SOURCE in found.text
    for words in ('"n": 1', "seen", "memory is gone", "read-file: done 0.04 s", "bash: denied"):
        assert words in found.text
    assert [title for title, _ in found._sections] == ["Code", "Calls it made", "Value", "Printed", "Note"]
    assert len(set(picture(view))) > 1


@pytest.mark.spec("R-COD-12")
def test_an_error_is_told_with_its_line_which_is_marked(view: TranscriptView) -> None:
    found = card(view, ran(error="TypeError: no", line=2))
    assert "TypeError: no\nLine 2 of the code." in found.text
    assert found.spoken().endswith("failed, failed in line 2")
    color = view.page.frame.look.color("diff-del-bg")
    band = bytes((color.blue(), color.green(), color.red(), 255)) * 100
    assert any(band in row for row in picture(view))
    card(view, ran(error="TypeError: no"))
    assert not any(band in row for row in picture(view))


def test_copy_takes_exactly_the_code(view: TranscriptView) -> None:
    source = "let x = '\u202e';\r\nreturn x"
    found = card(view, ran(source))
    view.activate(0, spot(found, "copy"))
    assert QApplication.clipboard().text() == source


@pytest.mark.spec("R-PRM-2", "R-PRM-15")
@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200b", "\x1b", "\x85", "\ufeff", "\U000e0041"])
def test_nothing_of_it_can_hide_or_reorder_itself(view: TranscriptView, mark: str) -> None:
    text = f"a{mark}b"
    part = ran(text, value=text, stdout=text, note=text, error="")
    failed = ran(text, error=text, line=1)
    for one in (part, failed):
        nested = (NestedCall(text, "done", None, text),)
        found = card(view, replace(one, nested=nested, summary=text))
        assert not has_hidden(found.text)
        assert not has_hidden(found.spoken())


def test_lines_are_counted_as_the_sandbox_counts_them(view: TranscriptView) -> None:
    found = card(view, ran("a\r\nb\u2028c\x0bd\ne"))
    rows = [row for numbers in found._numbers for row in numbers.rows()]
    assert [number for number, _, _ in rows] == [1, 2, 3, 4]
    tops = [top for _, top, _ in rows]
    assert tops == sorted(set(tops))


def test_a_comment_that_is_open_goes_on_over_the_chunks() -> None:
    first, second = numbered(["/* a", "b", "c */ let x", "y"], 2)
    assert (first.first, second.first) == (1, 3)
    assert first.spans[-1] == (0, 6, "code-comment")
    assert second.spans[0] == (0, 4, "code-comment")


def test_of_long_code_and_long_output_only_pages_are_laid_out(view: TranscriptView) -> None:
    source = "\n".join(f"const value_{n} = {n};" for n in range(5000))
    found = card(view, ran(source, stdout="x" * 300_000))
    assert len(found.text) < 15_000
    keys = {s.key for s in found.spots() if s.kind == "more"}
    assert keys == {"p/more-code", "p/more"}
    before = len(found.text)
    view.activate(0, spot(found, "more"))
    (again,) = (piece for piece, _, _ in view.page.messages[0].pieces() if isinstance(piece, CodeCard))
    assert len(again.text) > before


def test_folded_into_a_line_it_is_still_its_own_card(view: TranscriptView) -> None:
    calls = CallsPart("f", (ran(), replace(ran(), part_id="q", call_id="c2")))
    view.set_items((TranscriptItem("m", "a", "Agent", "12:00", (calls,)),))
    view.page.messages[0].toggle("f")
    pieces = [piece for piece, _, _ in view.page.messages[0].pieces()]
    assert pieces[0].text == "2 calls code 2 done"
    assert sum(isinstance(piece, CodeCard) for piece in pieces) == 2


@pytest.mark.spec("R-PRM-2", "R-COD-6")
def test_a_card_that_waits_says_which_line_of_the_code_asks(view: TranscriptView) -> None:
    request = replace(scenes.request("n", "write-file"), place="line 3: await x\u202e()")
    part = ToolPart("w", "n", "write-file", "a", "write", "waiting", "{}", request=request, parent="c1")
    view.set_items((TranscriptItem("m", "a", "Agent", "12:00", (part,)),))
    (found,) = (p for p, _, _ in view.page.messages[0].pieces() if isinstance(p, ToolCard))
    assert found._preview[0].text == "From code, line 3: await x\\u{202e}()"
    view.page.messages[0].toggle("w")
    assert "line 3: await x\\u{202e}()" in found.text
