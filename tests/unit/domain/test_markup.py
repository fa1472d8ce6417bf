"""Text inside HTML."""

import html

import pytest

from desktop.domain.text.markup import escape


@pytest.mark.parametrize("text", ["", "plain", "<b>&amp;</b>", "\"it's\" <a href='x'>", "&<>\"'" * 3, "日本\x00\ud800"])
def test_text_is_escaped_as_the_standard_library_does_it(text: str) -> None:
    assert escape(text) == html.escape(text)
