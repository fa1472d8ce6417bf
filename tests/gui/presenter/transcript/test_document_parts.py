"""Documents of a message are cards; pages that went along as pictures are one card, other pictures are drawn."""

import pytest

from desktop.domain.messages import DocumentBlock, ImageBlock, TextBlock
from desktop.domain.threads import MessageRecord
from desktop.presenter.transcript.build import parts_of
from desktop.presenter.transcript.items import AttachmentPart

pytestmark = pytest.mark.spec("R-DOC-1")


def cards(*blocks: object) -> list[tuple[str, str, str, bool]]:
    """Name, facts, what it opens, and whether it is drawn."""
    message = MessageRecord("m", "t", None, "user", (TextBlock("why?"), *blocks), 1.0)  # type: ignore[arg-type]
    parts = [part for part in parts_of(message, {}) if isinstance(part, AttachmentPart)]
    return [(part.name, part.facts, part.opens, part.image is not None) for part in parts]


def test_a_document_says_how_much_it_is_and_what_of_it_was_read() -> None:
    whole = DocumentBlock("a.pdf", "x" * 4_000, count=18)
    part = DocumentBlock("b.xlsx", "x" * 4_000, unit="sheet", count=1, more="go on")
    assert cards(whole, part) == [
        ("a.pdf", "18 pages, 1.0k tokens", "open-document:a.pdf", False),
        ("b.xlsx", "1 sheet, the first 1.0k tokens", "open-document:b.xlsx", False),
    ]


def test_its_pages_are_one_card_that_opens_the_first() -> None:
    pages = [ImageBlock("image/png", "aGVsbG8=", f"a.pdf p. {n}") for n in (2, 3, 4)]
    assert cards(DocumentBlock("a.pdf", "x"), *pages)[1:] == [
        ("a.pdf p. 2", "and 2 more as pictures", "open-document:a.pdf p. 2", False)
    ]


def test_a_picture_that_only_has_such_a_name_stays_a_picture() -> None:
    picture = ImageBlock("image/png", "aGVsbG8=", "a.pdf p. 2")
    assert cards(picture) == [("a.pdf p. 2", "image/png, 6 bytes", "", True)]
    assert cards(DocumentBlock("b.pdf", "x"), picture)[1:] == [("a.pdf p. 2", "image/png, 6 bytes", "", True)]
