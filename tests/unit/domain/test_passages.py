"""Words are found across line breaks, and the passage that a sentence is taken from is found by what both say."""

import time

import pytest

from desktop.domain.text.passages import MAX_FOUND, occurrences, passage, sentence_around

PAGE = """The well was opened on 19 March at low water. The inner wall is clean;
the inlet is free of weed to the second ring. The float itself is tight.

The guide rod is bent by 4 mm at 0.58 m above datum. The mark lies at
the height of the fender that the work boat struck on 11 February. Below
this height the collar of the float binds on the rod."""


def said(claim: str) -> str | None:
    found = passage(PAGE, claim)
    return None if found is None else " ".join(PAGE[found[0] : found[1]].split())


def test_words_are_found_whatever_blanks_stand_between_them() -> None:
    found = occurrences(PAGE, "LIES  at the\theight")
    assert [" ".join(PAGE[start:end].split()) for start, end in found] == ["lies at the height"]
    assert occurrences(PAGE, "  ") == []
    assert occurrences("a.b axb", "a.b") == [(0, 3)]
    assert len(occurrences("a" * 10_000, "a")) == MAX_FOUND


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (
            "The float sticks because the guide rod is bent by 4 mm",
            "The guide rod is bent by 4 mm at 0.58 m above datum.",
        ),
        ("It was opened in March, at low water", "The well was opened on 19 March at low water."),
        ("It says “the collar of the float binds”", "the collar of the float binds"),
        ("Bananas are yellow and the moon is far away", None),
        ("Die Führungsstange ist um einige Millimeter verbogen", None),
        ("The council spoke of budgets, contracts, insurance, staffing and timetables, of a rod and of a float", None),
        ("The", None),
        ("", None),
    ],
)
def test_the_passage_is_the_one_that_says_the_same_or_none(claim: str, expected: str | None) -> None:
    assert said(claim) == expected


def test_what_stands_in_two_sentences_is_a_passage_of_both() -> None:
    claim = "The rod is bent by 4 mm, where the work boat struck the fender on 11 February"
    found = said(claim)
    assert found is not None
    assert found.startswith("The guide rod")
    assert found.endswith("11 February.")


def test_a_page_made_to_hurt_takes_no_time() -> None:
    begun = time.thread_time()
    passage("a. " * 60_000, "a b c d e f " * 50)
    passage("word " * 40_000, "“" * 300 + "word other thing")
    occurrences(" " * 200_000, "a b")
    assert time.thread_time() - begun < 10  # some tenths of a second here


def test_the_sentence_that_names_a_place_is_taken_from_around_it() -> None:
    text = "All is well. The rod is bent ([]). It was struck."
    start = text.index("[]")
    assert sentence_around(text, start, start + 2) == "The rod is bent ( )."
    assert sentence_around("[] says so.", 0, 2) == "says so."
