"""A person's expressions: clear about what is wrong, bounded in time, and the same on a text in pieces."""

from __future__ import annotations

import random

import pytest

from desktop.agents.middleware.content_screen import ContentRefused, FilterConfig, Screen
from desktop.domain.errors import LimitReached
from desktop.domain.text.expressions import BEHIND, MAX_LENGTH, SLICE, Expressions, ExpressionSearch, fault_of
from desktop.settings.checks import Unfit, check
from desktop.settings.schema import schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(", "missing )"),
        ("[a", "unterminated character set"),
        ("a*", "fits the empty text"),
        ("a{99999999}", "multiply to more than 10,000"),
        ("(a{200}){200}", "multiply to more than 10,000"),
        ("a" * (MAX_LENGTH + 1), "more than 500 characters"),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_field_with_the_reason(text: str, said: str) -> None:
    assert said in fault_of(text)
    with pytest.raises(Unfit, match=r"middleware\.content_filter\.patterns"):
        check(schema()["middleware.content_filter.patterns"], [text])
    with pytest.raises(ValueError, match="is no regular expression"):
        Expressions([text])


def test_a_search_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(LimitReached, match="Expression 2 takes too long"):
        Expressions(["x", "(a|aa)+$"]).look("a" * 100 + "b", whole=True).first(0)


PROSE = "The quick brown fox jumps over the lazy dog, and then some more of it. "


@pytest.mark.parametrize("size", [2_500, 102_000])
def test_a_long_piece_of_prose_is_searched_for_what_may_begin_at_its_end(size: int) -> None:
    text = (PROSE * 2_000)[:size].rstrip() + " ann@exam"
    assert Expressions([r"[\w.]+@[\w.]+"]).look(text, whole=False).first(0) == (0, len(text) - 8, -1)


@pytest.mark.parametrize("behind", [1, SLICE - 1, SLICE, SLICE + BEHIND, 3 * SLICE])
def test_what_begins_many_slices_before_the_end_is_held_from_there(behind: int) -> None:
    look = Expressions([r"<b>[^<]*</b>", r"secret-\w+"]).look(PROSE * 100 + "<b>" + "x" * behind, whole=False)
    assert look.first(0) == (0, len(PROSE) * 100, -1)


TEXTS = (
    "Call 0151-2345678 or write to ann@example.org, ok?",
    "secret-abc secret-",
    "no hits here at all",
    "xyxyxyxy",
    "Titan titanic TITAN, and Titan",
    "1234 5678 9012 3456",
    "\n\nsecret-\nsecret-x\n",
)
PATTERNS = (
    r"\d{4}-\d{4,}",
    r"[a-z]+@[a-z.]+",
    r"secret-[a-z]+",
    r"(xy)+",
    "a( ok)?.* [nt]|hit",
    r"\btitan\b",
    r"(\d{4} ?){4}",
    "^secret",
)


@pytest.mark.parametrize("seed", range(12))
def test_a_text_in_pieces_comes_out_as_the_whole_one(seed: int) -> None:
    pick = random.Random(seed)
    config = FilterConfig(tuple(pick.sample(PATTERNS, 3)))
    expressions = Expressions(config.expressions)
    for text in TEXTS:
        whole = Screen(expressions, config).whole(text)
        screen, said, rest = Screen(expressions, config), [], text
        while rest:
            size = pick.randint(1, 7)
            said.append(screen.feed(rest[:size]))
            rest = rest[size:]
        said.append(screen.flush())
        assert "".join(said) == whole, (config, text)


def test_nothing_of_a_hit_is_ever_given_before_it_is_known_to_be_one() -> None:
    config = FilterConfig(("secret-[a-z]+",), refuse=True)
    screen = Screen(Expressions(config.expressions), config)
    said = "".join(screen.feed(letter) for letter in "this is secret-abc")
    with pytest.raises(ContentRefused) as refused:
        screen.feed(" and more")
    assert said + refused.value.before == "this is "


def test_a_long_stretch_that_is_held_back_is_not_searched_anew_for_each_piece() -> None:
    config = FilterConfig(("a[^!]*!",))
    expressions = Expressions(config.expressions)
    asked = 0
    search = expressions.look

    class Counted(Expressions):
        def look(self, text: str, *, whole: bool) -> ExpressionSearch:
            nonlocal asked
            asked += 1
            return search(text, whole=whole)

    screen = Screen(Counted(config.expressions), config)
    for _ in range(3_000):
        screen.feed("a")
    assert asked < 100
