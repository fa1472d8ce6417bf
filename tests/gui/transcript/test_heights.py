"""Heights that are added at both ends are those of one list."""

from __future__ import annotations

import random

import pytest

from desktop.ui.transcript.heights import Heights


def _grown(seed: int) -> tuple[Heights, list[int]]:
    """Heights that were set, and added at either end, and the list that they should be."""
    chance = random.Random(seed)
    plain = [chance.randint(1, 9) for _ in range(chance.randint(0, 6))]
    heights = Heights(plain)
    for _ in range(chance.randint(0, 25)):
        what, height = chance.random(), chance.randint(1, 9)
        if what < 0.3:
            older = [chance.randint(1, 9) for _ in range(chance.randint(0, 5))]
            plain = older + plain
            heights.prepend(older)
        elif what < 0.6:
            plain.append(height)
            heights.append(height)
        elif plain:
            at = chance.randrange(len(plain))
            assert heights.set(at, height) == height - plain[at]
            plain[at] = height
    return heights, plain


@pytest.mark.parametrize("seed", range(200))
def test_every_place_is_where_a_plain_list_has_it(seed: int) -> None:
    heights, plain = _grown(seed)
    assert (len(heights), heights.total()) == (len(plain), sum(plain))
    assert [heights[at] for at in range(len(plain))] == plain
    assert [heights.top(at) for at in range(len(plain) + 1)] == [sum(plain[:at]) for at in range(len(plain) + 1)]
    pixels = [(at, into) for at, height in enumerate(plain) for into in range(height)]
    assert [heights.at(y) for y in range(sum(plain))] == pixels
    if plain:
        assert heights.at(sum(plain) + 3) == (len(plain) - 1, plain[-1] + 3)


def test_what_was_never_there_has_no_height() -> None:
    heights = Heights([3])
    heights.prepend([4])
    for index in (-1, 2):
        with pytest.raises(IndexError):
            heights[index]
