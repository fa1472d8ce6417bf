"""A page of help in its sections, and what a search finds in it."""

from __future__ import annotations

from desktop.domain.loading.lazy_dataclass import dataclass

Spans = tuple[tuple[int, int], ...]
"""(start, length) of what matched in a text."""


@dataclass(frozen=True, slots=True)
class HelpSection:
    """What stands below one heading."""

    page: str
    """The name of its file."""
    page_title: str
    """That of the whole page."""
    number: int
    """Its place on the page, from 0."""
    title: str
    """Its heading."""
    text: str
    """Markdown, without the heading."""
    there: str = ""
    """The command that shows the place in the app which it is about, or ""."""
    command: str = ""
    """What it says to type in a terminal, or ""."""
    see: tuple[str, ...] = ()
    """Names of the pages that it leads to."""


@dataclass(frozen=True, slots=True)
class HelpPage:
    """A page: its name is that of its file; its first section has its title."""

    name: str
    title: str
    sections: tuple[HelpSection, ...]
    about: str = ""
    """Its first sentence."""


@dataclass(frozen=True, slots=True)
class HelpHit:
    """A section that a search found, and what of it matched."""

    section: HelpSection
    title: Spans = ()
    """In its title."""
    snippet: str = ""
    """Words of its text around what matched; "" where the title has all that was sought."""
    marks: Spans = ()
    """In the snippet."""


@dataclass(frozen=True, slots=True)
class HelpResult:
    """What was found for a query, the best first, and on how many pages."""

    query: str
    hits: tuple[HelpHit, ...] = ()
    pages: int = 0
