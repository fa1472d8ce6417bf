"""Places in documents that an answer names are links to them, and nothing that only looks so is."""

import pytest

from desktop.domain.files.documents import read_citation
from desktop.ui.transcript.markdown.inline import InlineParser

pytestmark = pytest.mark.spec("R-DOC-1")


def links(source: str) -> list[tuple[str, str]]:
    """The words of each link, and where it leads."""
    text, runs = InlineParser().parse(source, "")
    return [(text[run.start : run.end], run.href) for run in runs if run.href]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("bent (report.pdf p. 4), and", "report.pdf p. 4"),
        ("see report.pdf page 12.", "report.pdf page 12"),
        ("**My_report.PDF p. 4**".replace("PDF", "pdf"), "My_report.pdf p. 4"),
        ("talk.pptx slide 3: they rose", "talk.pptx slide 3"),
        ("in levels.xlsx March!B7 and", "levels.xlsx March!B7"),
        ("in levels.xlsx Year 2026!B7:C9", "levels.xlsx Year 2026!B7:C9"),
        ("levels.csv B7", "levels.csv B7"),
        ("“book.epub chapter 2”", "book.epub chapter 2"),
        ("a.b-c.ipynb cell 9", "a.b-c.ipynb cell 9"),
    ],
)
def test_a_place_in_a_document_is_a_link_to_it(source: str, place: str) -> None:
    assert links(source) == [(place, f"document:{place}")]


@pytest.mark.parametrize(
    "source",
    [
        "`report.pdf p. 4`",
        "report.pdf",
        "report.pdf p. x",
        "report.exe p. 4",
        "report.pdf p. 4a",
        "[report](document:report.pdf%20p.%204)",
    ],
)
def test_what_only_looks_like_one_is_none(source: str) -> None:
    assert links(source) == []


def test_addresses_beside_places_stay_addresses() -> None:
    assert links("https://e.example/report.pdf p. 4, then own.pdf p. 5") == [
        ("https://e.example/report.pdf", "https://e.example/report.pdf"),
        ("own.pdf p. 5", "document:own.pdf p. 5"),
    ]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("report.pdf p. 4", ("report.pdf", 4, "", 0)),
        ("levels.xlsx March!B7", ("levels.xlsx", 0, "March", 7)),
        ("levels.csv B7", ("levels.csv", 0, "", 7)),
        ("report", None),
    ],
)
def test_a_place_is_read_back(text: str, read: object) -> None:
    assert read_citation(text) == read
