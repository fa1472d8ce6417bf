"""A text as it is read: marks of any script over Latin letters, and letters that stand for many."""

from __future__ import annotations

import pytest

from desktop.domain.text.as_read import as_read


@pytest.mark.parametrize("mark", "\u0483 \u0488 \u0489 \u1cd0 \u2de0 \ua66f \u0336".split())
def test_a_mark_of_another_script_between_latin_letters_is_left_out(mark: str) -> None:
    assert as_read(f"sec{mark}ret").text == "secret"


def test_a_letter_that_stands_for_many_stays_as_it_is_and_a_ligature_does_not() -> None:
    assert as_read("\ufdfa" * 1_000).text == "\ufdfa" * 1_000
    assert as_read("o\ufb03ce").text == "office"
