"""Spans of colour, packed: what goes in comes out part by part, and nothing that a stranger packs gets outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.domain.errors import BugError
from desktop.domain.fences.colours import CODE_ROLES, CodeRole, ColourSpans

pytestmark = pytest.mark.spec("R-DOC-2")

Spans = list[tuple[int, int, CodeRole]]


@st.composite
def spans(draw: st.DrawFn) -> Spans:
    found: Spans = []
    at = 0
    for gap, length, role in draw(
        st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.sampled_from(CODE_ROLES)), max_size=30)
    ):
        found.append((at + gap, at + gap + length, role))
        at += gap + length
    return found


@given(spans(), st.integers(0, 300), st.integers(0, 300))
def test_each_letter_of_a_part_has_the_colour_that_it_has_in_the_whole(packed: Spans, one: int, other: int) -> None:
    first, last = sorted((one, other))
    whole = {at: role for start, end, role in packed for at in range(start, end)}
    part = ColourSpans.packed(packed).within(first, last)
    assert {first + at: role for start, end, role in part for at in range(start, end)} == {
        at: role for at, role in whole.items() if first <= at < last
    }


@given(st.binary(max_size=200), st.integers(0, 500), st.integers(0, 500))
def test_whatever_a_process_gives_is_inside_the_part_in_order_and_apart(data: bytes, one: int, other: int) -> None:
    first, last = sorted((one, other))
    at = 0
    for start, end, role in ColourSpans.received(data).within(first, last):
        assert at <= start < end <= last - first
        assert role in CODE_ROLES
        at = end


@pytest.mark.parametrize("span", [(-1, 2), (3, 3), (4, 2), (0, 1 << 28)])
def test_a_span_that_is_none_cannot_be_packed(span: tuple[int, int]) -> None:
    with pytest.raises(BugError):
        ColourSpans.packed([(*span, "keyword")])
