"""What draws nothing, or like a blank, is written out in a request (R-PRM-15)."""

import unicodedata

import pytest

from desktop.domain.text.hidden_characters import has_hidden
from desktop.ui.widgets.shown import shown

FILLERS = [
    0x034F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    *range(0x180B, 0x1810),
    0x2800,
    0x3164,
    *range(0xFE00, 0xFE10),
    0xFFA0,
    0x1D159,
    *range(0xE0100, 0xE01F0),
]
"""Default-ignorable or blank, though Unicode's category says nothing of it."""
SEEN = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
"""Format characters that are drawn: marks of numbers."""


@pytest.mark.spec("R-PRM-15")
def test_every_character_that_draws_nothing_or_like_a_blank_is_made_visible() -> None:
    kinds = ("Cc", "Cf", "Zs", "Zl", "Zp")
    found = {point for point in range(0x110000) if unicodedata.category(chr(point)) in kinds} - SEEN
    for point in (found - {0x20, 0x09, 0x0A}) | set(FILLERS):
        assert has_hidden(chr(point)), hex(point)
        assert "\\" in shown(f"a{chr(point)}b"), hex(point)


def test_ordinary_text_of_any_script_stays_as_it_is() -> None:
    text = "Grüße, שלום, привет, 你好, नमस्ते, สวัสดี\n\tone two"
    assert shown(text) == text
    assert not has_hidden(text)
