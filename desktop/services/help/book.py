"""The pages of help, the list of changes and the search in them, read together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from desktop.domain.help.pages import HelpPage, HelpResult, HelpSection
from desktop.services.help.news import read_news
from desktop.services.help.pages import pages_of, read_pages
from desktop.services.help.search import HelpIndex


class ReadBook:
    """Reads all of it when it is made, which blocks for some 50 ms."""

    def __init__(self, pages: Path, changes: Sequence[Path]) -> None:
        sections = read_pages(pages)
        self.pages: dict[str, HelpPage] = pages_of(sections)
        self.news: tuple[HelpSection, ...] = read_news(changes)
        self._index = HelpIndex(sections)

    def find(self, query: str) -> HelpResult:
        """What fits a query, the best first."""
        return self._index.find(query)
