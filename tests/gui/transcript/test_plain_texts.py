"""A text that is shown exactly as it is: laid out in stretches, selected and copied letter for letter."""

from typing import Any

import pytest

from desktop.presenter.transcript.items import PlainPart, TranscriptItem
from desktop.ui.transcript import TranscriptView
from desktop.ui.transcript.pieces.plain import CHUNK, chunks

TEXTS = (
    "",
    "\n",
    "\n\nx\n\n",
    "# no *Markdown*\n```\nat all",
    "word " * 2000,
    "x" * 9000,
    "short\n" + "y" * 5000 + "\nend",
    "\n" * 5000,
    "\U0001f980 " * 3000,
    " " * 4500,
)


@pytest.mark.parametrize("text", TEXTS)
def test_stretches_are_the_text_without_a_letter_lost(text: str) -> None:
    built, stretches = "", list(chunks(text))
    for base, stretch in stretches:
        assert len(stretch) <= CHUNK
        assert base - len(built) in (0, 1)
        built += text[len(built) : base] + stretch
        assert text[base : base + len(stretch)] == stretch
    assert built + text[len(built) :] == text
    assert text[len(built) :].strip("\n") == ""


def test_all_of_it_is_selected_and_copied_as_it_is(theme: Any) -> None:
    view = TranscriptView(theme, variant="side")
    view.resize(600, 400)
    try:
        for text in TEXTS[2:7]:
            view.set_items([TranscriptItem("m", "human", "user", "", (PlainPart("p", text),))])
            view.select_all()
            assert view.selected_text() == text
            assert view.page.messages[0].source() == text
        view.set_items([TranscriptItem("m", "human", "user", "", (PlainPart("p", "z" * 100, maximum=10),))])
        view.select_all()
        assert (len(view.selected_text()), len(view.page.messages[0].source())) == (10, 100)
    finally:
        view.deleteLater()
