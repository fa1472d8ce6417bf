"""The content filter over seams, and in what is read where something else is written: its table, row by row."""

from __future__ import annotations

import itertools
import time
import unicodedata
from collections.abc import Sequence

import pytest

from desktop.agents.middleware.content_screen import CONTEXT, ContentRefused, FilterConfig, Screen
from desktop.domain.text.as_read import as_read
from desktop.domain.text.expressions import Expressions, ExpressionSearch
from tests.harness.timeouts import HELD_S


def screen(*expressions: str, refuse: bool = False, before: str = "") -> Screen:
    return Screen(Expressions(expressions), FilterConfig(expressions, refuse), before)


def streamed(one: Screen, blocks: Sequence[str]) -> str:
    """Letter by letter; a stroke where a block ends."""
    said = []
    for block in blocks:
        said += [one.feed(letter) for letter in block] + [one.flush(), "|"]
    return "".join(said)


def at_once(one: Screen, blocks: Sequence[str]) -> str:
    return "".join(one.whole(block) + "|" for block in blocks)


SEAMS = {
    ("titan",): "[removed]|",
    ("a titan b",): "a [removed] b|",
    ("ti", "tan"): "ti|[removed]|",
    ("TI", "Tan."): "TI|[removed].|",
    ("t", "i", "t", "a", "n", "!"): "t|i|t|a|[removed]|!|",
    ("ti", "", "tan"): "ti||[removed]|",
    ("a ti", "tan tit", "an z"): "a ti|[removed] tit|[removed] z|",
    ("ti", "titan", "tan"): "ti|[removed]|tan|",
    ("ti", "x", "tan"): "ti|x|tan|",
    ("ti", " tan"): "ti| tan|",
    ("tit" + "x" * 300, "an"): "tit" + "x" * 300 + "|an|",
    ("x" * 300 + "tit", "an"): "x" * 300 + "tit|[removed]|",
    ("ti\u200b", "\u2060tan"): "ti\u200b|[removed]|",
    ("ti\u200btan",): "[removed]|",
    ("ti\u00adt\u034fan\ufeff",): "[removed]|",
    ("ti\x01tan",): "[removed]|",
    ("t\u0336i\u0336t\u0336a\u0336n\u0336",): "[removed]|",
    ("ti", "\u0336tan"): "ti|[removed]|",
    ("ｔｉｔａｎ",): "[removed]|",
    ("ｔｉ", "ＴＡＮ"): "ｔｉ|[removed]|",
    ("a\u3000ti\u200btan\u3000b",): "a\u3000[removed]\u3000b|",
    ("t\u0456tan", "tit\u00e1n"): "t\u0456tan|tit\u00e1n|",
}


@pytest.mark.parametrize("blocks", SEAMS, ids=lambda blocks: ascii("|".join(blocks))[:40])
@pytest.mark.parametrize("way", [streamed, at_once])
def test_a_word_is_found_over_seams_and_as_it_is_read(blocks: tuple[str, ...], way: type[streamed]) -> None:
    expected = SEAMS[blocks]
    assert way(screen("titan"), blocks) == expected
    one = screen("titan", refuse=True)
    if "[removed]" in expected:
        with pytest.raises(ContentRefused):
            way(one, blocks)
    else:
        assert way(one, blocks) == expected


@pytest.mark.parametrize(
    ("expression", "blocks", "expected"),
    [
        ("^tan", ("a", "tan"), "a|[removed]|"),
        ("^tan", ("a tan", "ta"), "a tan|ta|"),
        ("tan$", ("a tan", "go"), "a [removed]|go|"),
        (r"\btan\b", ("a tan", "go"), "a [removed]|go|"),
        (r"(?<=ti)tan", ("ti", "tan"), "ti|[removed]|"),
        (r"ti.*tan", ("ti", "and so", "tan"), "ti|and so|[removed]|"),
        (r"कल", ("किल",), "किल|"),
        (r"a b", ("a\u00a0b, a\u2003b",), "[removed], [removed]|"),
        (r"(?=x)", ("axa",), "a[removed]a|"),
        (r"removed", ("a removed", "b"), "a [removed]|b|"),
        (r"\[.*\]|ti", ("a ti b", "ti c"), "a [removed] b|[removed] c|"),
    ],
)
@pytest.mark.parametrize("way", [streamed, at_once])
def test_expressions_mean_the_block_and_the_text_as_it_is_read(
    expression: str, blocks: tuple[str, ...], expected: str, way: type[streamed]
) -> None:
    assert way(screen(expression), blocks) == expected


@pytest.mark.parametrize(
    ("expression", "pieces", "expected"),
    [
        ("café", ("a cafe\u0301",), "a [removed]"),
        ("café", ("a cafe", "\u0301s"), "a cafe[removed]s"),
        ("카페", ("\u110f\u1161\u1111\u1166",), "[removed]"),
        ("카페", ("\u110f\u1161", "\u1111", "\u1166"), "카\u1111[removed]"),
    ],
)
def test_accents_are_put_together_with_their_letter_which_is_not_held_back_for_them(
    expression: str, pieces: tuple[str, ...], expected: str
) -> None:
    one = screen(expression)
    said = unicodedata.normalize("NFC", "".join([*map(one.feed, pieces), one.flush()]))
    assert said == expected
    assert screen(expression).whole("".join(pieces)).count("[removed]") == 1


def test_of_a_word_all_letters_but_the_last_are_held_back_and_none_at_the_end_of_a_block() -> None:
    one = screen("titan")
    assert [one.feed(letter) for letter in "tita"] == [""] * 4
    assert one.flush() == "tita"
    assert one.feed("nk") == "[removed]k"
    assert [one.feed(text) for text in ("a t", "o b", "tit", "ita")] == ["a ", "to b", "", "tit"[:2]]
    assert one.flush() == "tita"


def test_what_was_read_in_earlier_rounds_counts_and_its_own_hits_do_not() -> None:
    assert screen("titan", before="so: ti").whole("tan") == "[removed]"
    assert screen("titan", before="an old titan").whole(" is here") == " is here"
    assert screen(r"removed.*x", before="a [removed]").whole("x") == "x"


def test_an_empty_replacement_would_join_what_stands_around_it_and_is_not_taken() -> None:
    for empty in ("", " ", "\u200b"):
        assert FilterConfig.of({"patterns": ["titan"], "instead": empty}).instead == "[removed]"


def test_every_way_of_cutting_a_text_into_blocks_and_pieces_hides_the_word() -> None:
    text = "a titan b"
    for first, second in itertools.combinations(range(len(text) + 1), 2):
        blocks = (text[:first], text[first:second], text[second:])
        for way in (streamed, at_once):
            said = way(screen("titan"), blocks)
            assert "titan" not in said.replace("|", "")
            assert said.count("[removed]") == 1


@pytest.mark.parametrize("unit", ["ti", "tan ", "ｔｉ", "ti\u200b"])
def test_at_a_seam_no_more_than_the_end_of_what_was_shown_is_searched_again(unit: str) -> None:
    searched = []

    class Counted(Expressions):
        def look(self, text: str, *, whole: bool) -> ExpressionSearch:
            searched.append(len(text))
            return super().look(text, whole=whole)

    one = Screen(Counted(["titan", "project x"]), FilterConfig(("titan", "project x")))
    for _ in range(250):
        one.whole(unit)
    assert max(searched) <= 3 * CONTEXT
    assert len(searched) <= 2 * 250


def test_a_whole_text_full_of_hits_costs_in_proportion_to_it() -> None:
    one = screen("titan", "never there at all")
    assert one.whole("titan " * 30_000).count("[removed]") == 30_000


@pytest.mark.parametrize(
    "text", ["plain", "naïve", "ﬁne ｗｉｄｅ", "a\u200bb", "e\u0301x", "\u0301", "かな\u3099", "\n\u2028", "\u200b"]
)
def test_every_letter_that_is_read_stands_somewhere_in_what_is_written(text: str) -> None:
    read = as_read(text)
    assert len(read.text) == len(read.begins) == len(read.ends)
    assert list(read.begins) == sorted(read.begins)
    for letter, begin, end in zip(read.text, read.begins, read.ends, strict=True):
        assert 0 <= begin < end <= len(text)
        assert letter in as_read(text[begin:end]).text
    assert as_read(read.text).text == read.text


def test_a_letter_under_thousands_of_marks_is_read_without_holding_the_thread_up() -> None:
    written = "e" + "\u0315\u0300" * 40_000 + "x"
    began = time.thread_time()
    read = as_read(written)
    assert time.thread_time() - began < HELD_S
    assert read.text == "\u00e8x"
    assert as_read("e" + "\u0315\u0301" * 60 + "\u1161" * 60).text.endswith("\u1161" * 60), "letters are not marks"
