"""A mistyped word is taken for the words that are spelt nearly so, and for no others."""

import pytest

from desktop.services.help.near import mistakes, near_words

WORDS = ("approval", "approvals", "appear", "keyboard", "permission", "rule", "rules", "undo", "schedule", "zebra")


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("undo", "undo", 0),
        ("undoo", "undo", 1),
        ("udno", "undo", 1),
        ("uno", "undo", 1),
        ("umdo", "undo", 1),
        ("", "", 0),
        ("", "a", 1),
        ("abcd", "badc", 2),
        ("keybaord", "keyboard", 1),
        ("kitten", "sitting", 3),
        ("undo", "rule", 3),
    ],
)
def test_mistakes_are_counted_and_two_letters_that_changed_places_are_one(one: str, other: str, count: int) -> None:
    assert mistakes(one, other, 2) == mistakes(other, one, 2) == count


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("aprovals", ("approvals",)),
        ("permision", ("permission",)),
        ("shcedule", ("schedule",)),
        ("ruels", ("rules",)),
        ("und", ()),
        ("banana", ()),
        ("xpprovals", ()),
    ],
)
def test_the_nearest_words_are_found(typed: str, near: tuple[str, ...]) -> None:
    assert near_words(typed, WORDS) == near


def test_a_word_that_is_not_finished_is_near_to_what_begins_nearly_so() -> None:
    assert near_words("aprov", WORDS) == ()
    assert near_words("aprov", WORDS, unfinished=True) == ("approval", "approvals")
