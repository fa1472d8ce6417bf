"""The pages of help, read from their files: Markdown, cut into sections at its headings.

A comment below a heading says more of its section than a reader needs: ``<!-- there: settings:Keyring -->`` which
command shows the place that it is about, ``<!-- also: password, lost key -->`` what else it is found by: a word or a
question, and there may be several such lines.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from desktop.domain.help.pages import HelpPage, HelpSection
from desktop.domain.loading.lazy_dataclass import dataclass

MAX_PAGE = 200_000
"""Bytes of a page that are read."""
MAX_PAGES = 200

logger = logging.getLogger(__name__)

_HEADING = re.compile(r"(#{1,3}) +(.+?) *#*$")
_COMMENT = re.compile(r"^<!-- *(there|also): *(.*?) *-->\n?", re.MULTILINE)
_CODE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PAGE_LINK = re.compile(r"\[([^\[\]]+)\]\(([\w-]+)\.md(?:#[\w-]*)?\)")
_MARKUP = re.compile(r"```\w*|\*\*|`|^\s*(?:[-*]|\d+\.) +|^\|(?:[ :-]*-[ :-]*\|)+$|(?<!\w)\*|\*(?!\w)", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]*\)")
_SHELLS = ("sh", "console")


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section, and what it is found by beside what it says."""

    section: HelpSection
    also: str = ""

    @property
    def plain(self) -> str:
        """Its text without markup, in one line."""
        text = _MARKUP.sub("", _LINK.sub(r"\1", self.section.text))
        return " ".join(text.replace("|", " ").split())


def read_pages(folder: Path) -> tuple[ReadSection, ...]:
    """Every section of every page of a folder, page by page; one that cannot be read is left out. Blocks."""
    found: list[ReadSection] = []
    for file in sorted(folder.glob("*.md"))[:MAX_PAGES]:
        try:
            with file.open(encoding="utf-8") as opened:
                found += sections_of(file.stem, opened.read(MAX_PAGE))
        except (OSError, ValueError) as error:
            logger.warning("a page of help cannot be read: %s: %s", file.name, error)
    return tuple(found)


def sections_of(name: str, text: str) -> tuple[ReadSection, ...]:
    """The sections of one page; what stands above its first heading is in none."""
    parts = list(_parts(text))
    title = parts[0][0] if parts else ""
    return tuple(_section(name, title, number, *part) for number, part in enumerate(parts))


def pages_of(sections: tuple[ReadSection, ...]) -> dict[str, HelpPage]:
    """The pages that these sections make, by name."""
    together: dict[str, list[ReadSection]] = {}
    for one in sections:
        together.setdefault(one.section.page, []).append(one)
    return {
        name: HelpPage(
            name, found[0].section.page_title, tuple(one.section for one in found), _first_sentence(found[0].plain)
        )
        for name, found in together.items()
    }


def _first_sentence(plain: str) -> str:
    found = re.match(r".{0,300}?[.!?](?= |$)", plain)
    return found[0] if found else plain[:300]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """(heading, what stands below it), with code left alone: there ``#`` begins a comment."""
    heading, lines, fenced = "", [], False
    for line in text.splitlines():
        found = None if fenced else _HEADING.match(line)
        fenced ^= line.startswith("```")
        if found is None:
            lines.append(line)
            continue
        if heading:
            yield heading, "\n".join(lines)
        heading, lines = found[2], []
    if heading:
        yield heading, "\n".join(lines)


def _section(page: str, page_title: str, number: int, title: str, text: str) -> ReadSection:
    said: dict[str, list[str]] = {}
    for kind, words in _COMMENT.findall(text):
        said.setdefault(kind, []).append(words)
    shown = _COMMENT.sub("", text).strip("\n")
    typed = next((code.strip() for language, code in _CODE.findall(shown) if language in _SHELLS), "")
    see = tuple(dict.fromkeys(name for _, name in _PAGE_LINK.findall(shown) if name != page))
    words = re.sub(r"[`*]", "", title)
    section = HelpSection(page, page_title, number, words, shown, said.get("there", [""])[-1], typed, see)
    return ReadSection(section, ", ".join(said.get("also", ())))
