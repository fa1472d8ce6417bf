"""What a search shows of a message: readable words, with the match in sight."""

import pytest

from desktop.domain.threads import SearchHit
from desktop.presenter.chat.snippets import AHEAD, readable


def shown(text: str, *words: str) -> SearchHit:
    """The hit for a text in which these words matched."""
    ranges = []
    at = 0
    for word in words:
        at = text.index(word, at)
        ranges.append((at, len(word)))
        at += len(word)
    return readable(SearchHit("t", "m", "Title", text, tuple(ranges), 0.0))


def matched(hit: SearchHit) -> list[str]:
    return [hit.snippet[start : start + size] for start, size in hit.ranges]


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("a file **outside the boundary**.", "boundary", "…file outside the boundary."),
        ("`read_file` and *some* words", "words", "…and some words"),
        ("## Head - item > quote", "item", "Head - item quote"),
        ("see [the docs](https://x.org/a) now", "docs", "see the docs now"),
        ("| a | b | |---|---| | one | two |", "one", " a b one two "),
        ("snake_case and 2 * 3 * 4", "case", "snake_case and 2 * 3 * 4"),
        ("call __init__ here", "__init__", "call __init__ here"),
        ("call `x__y` here", "x__y", "call x__y here"),
    ],
)
def test_marks_of_markdown_go_and_words_stay(text: str, word: str, line: str) -> None:
    hit = shown(text, word)
    assert hit.snippet == line
    assert matched(hit) == [word]


def test_a_match_far_behind_is_brought_into_sight_with_a_word_or_two_before_it() -> None:
    text = "a long sentence that goes on before it comes to the **needle** and the *needle* again"
    hit = shown(text, "needle", "needle")
    assert hit.snippet.startswith("…it comes to the needle and the needle")
    assert hit.ranges[0][0] <= AHEAD + 1
    assert matched(hit) == ["needle"] * 2


def test_a_match_after_one_long_word_is_brought_into_sight_too() -> None:
    hit = shown("x" * 300 + "needle", "needle")
    assert matched(hit) == ["needle"]
    assert hit.ranges[0][0] <= AHEAD + 1
