"""Documents as their readers tell of them: of which parts they are made, how these are named, what was read of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.loading.lazy_pattern import lazy_pattern

UNITS = ("page", "sheet", "slide", "chapter", "cell", "part")
MAX_PARTS, MAX_NAMES, MAX_WORDS, MAX_MARKS, MAX_FOUND = 2_000_000, 1_000, 2_000, 400, 5_000
_SPAN = re.compile(r"\s*(\d{1,7})\s*(?:(-|–|to)\s*(\d{1,7})?\s*)?", re.ASCII)


class DocumentRefused(KnownError):
    """A document cannot be read; the text says why."""

    code = "document.refused"


LOCKED, WRONG_PASSWORD = "document.password", "document.wrong_password"
"""What ``DocumentRefused`` is known by where a password is missing or does not open a document."""


@dataclass(frozen=True, slots=True)
class DocumentAbout:
    """What a document is."""

    kind: str
    """What a person calls it: ``PDF``, ``Word document``."""
    unit: str
    """What its parts are, one of ``UNITS``."""
    count: int
    """How many of them."""
    title: str = ""
    """What it calls itself."""
    names: tuple[str, ...] = ()
    """Of sheets, in their order."""
    pictures: bool = False
    """Whether its parts can be drawn."""
    notes: tuple[str, ...] = ()
    """What else is in it or was left aside, in sentences."""

    def label(self, name: str, part: int) -> str:
        """A part as an answer names it: ``report.pdf p. 4``, ``levels.xlsx March``, ``talk.pptx slide 3``."""
        if self.unit == "page":
            return f"{name} p. {part}"
        if self.unit == "sheet":
            own = self.names[part - 1] if part <= len(self.names) else f"sheet {part}"
            return f"{name} {own}".strip()
        return f"{name} {self.unit} {part}"

    def example(self, name: str) -> str:
        """How a place in it is named."""
        if self.unit == "sheet":
            own = self.names[0] if self.names else ""
            return f"{name} {own}!B7" if own else f"{name} B7"
        return self.label(name, min(4, self.count))

    def amount(self) -> str:
        """``18 pages``."""
        return amount_of(self.count, self.unit)

    def span(self, wanted: str) -> tuple[int, int] | None:
        """The first and the last part that ``3``, ``3-7``, ``3-`` or the name of a sheet means; None: none of them."""
        if not wanted.strip():
            return 1, self.count
        named = next((at for at, name in enumerate(self.names, 1) if name == wanted.strip()), 0)
        if named:
            return named, named
        found = _SPAN.fullmatch(wanted)
        if found is None:
            return None
        first = int(found[1])
        last = first if not found[2] else int(found[3]) if found[3] else self.count
        return (first, min(last, self.count)) if 1 <= first <= min(last, self.count) else None


def amount_of(count: int, unit: str) -> str:
    """``1 page``, ``18 pages``."""
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class DocumentText:
    """What was read of a document: its parts in order, and where it stopped for want of room."""

    parts: tuple[tuple[int, str], ...]
    """The number of a part, and its Markdown."""
    next_part: int = 0
    """The part to go on with; 0: all that was asked for is here."""
    next_line: int = 1
    """And its line."""
    scans: tuple[int, ...] = ()
    """Parts that are pictures without text."""


Box = tuple[float, float, float, float]
"""Left, top, right and bottom of a place on a page, as parts of its width and height."""


@dataclass(frozen=True, slots=True)
class FoundPart:
    """A part in which what was looked for stands."""

    part: int
    """Its number."""
    count: int
    """How often."""
    lines: tuple[int, ...]
    """In which of its lines; of the first some hundred."""


Progress = Callable[[int], None]
"""Is told which part of a document is being looked at."""


class OpenDocument(Protocol):
    """A document that is open, in a process of its own."""

    @property
    def about(self) -> DocumentAbout:
        """What it is."""
        ...

    async def text(
        self, first: int, last: int, *, line: int = 1, room: int, progress: Progress | None = None
    ) -> DocumentText:
        """Parts as Markdown, up to ``room`` characters. Raises DocumentRefused."""
        ...

    async def marks(self, part: int, words: str, *, cited: bool) -> tuple[tuple[Box, ...], ...]:
        """Where on the picture of a part some words stand; ``cited``: the passage that says what they say. Each place
        has a box for each of its lines. Raises DocumentRefused."""
        ...

    async def find(self, words: str, progress: Progress) -> tuple[FoundPart, ...]:
        """The parts in which some words stand. Raises DocumentRefused."""
        ...

    async def picture(self, part: int, width: int) -> bytes:
        """A part as a PNG so many pixels wide. Raises DocumentRefused."""
        ...


class DocumentOpener(Protocol):
    """Opens documents."""

    def open(self, handle: int, name: str, password: str = "") -> AbstractAsyncContextManager[OpenDocument]:
        """The document that ``handle`` has open, which stays the caller's. ``name`` decides between kinds of text.
        Raises DocumentRefused."""
        ...


class Asking(Protocol):
    """Who attaches a document."""

    async def password(self, name: str, said: str) -> str:
        """The password of a document, "" for none; ``said``: what was wrong with the last one."""
        ...

    def progress(self, words: str) -> None:
        """How far it is read."""
        ...


_ENDINGS = "pdf|docx|docm|xlsx|xlsm|pptx|pptm|odt|ods|odp|epub|x?html?|csv|tsv|ipynb"
_NO_NAME = r"\s()\[\]<>“”\"'`|*"
"""What ends the name of a document in an answer."""
CITATION = lazy_pattern(
    rf"(?<![^\s(\[“”\"'*—–-])(?P<name>[^{_NO_NAME}]{{1,120}}\.(?i:{_ENDINGS}))"
    r"\s(?:(?:p\.|page|slide|chapter|cell|part)\s?(?P<part>\d{1,7})|(?:(?P<sheet>[^\s!|][^!|\n]{0,60})!)?"
    r"(?P<cells>[A-Z]{1,3}\d{1,7}(?::[A-Z]{1,3}\d{1,7})?))(?!\w)"
)
"""A place in a document as answers name it: ``report.pdf p. 4``, ``levels.xlsx March!B7``."""


_ENDING = lazy_pattern(_ENDINGS, re.IGNORECASE)
_TELLS_APART = lazy_pattern(rf"[{_NO_NAME}]+")
NAME = 120
"""Characters of a name that is cited."""
_USUAL_ENDING = {
    "PDF": ".pdf",
    "Word document": ".docx",
    "Excel workbook": ".xlsx",
    "PowerPoint presentation": ".pptx",
    "OpenDocument text": ".odt",
    "OpenDocument spreadsheet": ".ods",
    "OpenDocument presentation": ".odp",
    "EPUB book": ".epub",
    "HTML page": ".html",
    "CSV table": ".csv",
    "notebook": ".ipynb",
}


def cite_name(name: str, kind: str = "") -> str:
    """A document's name as answers cite it: on one line, without what would end it, and with an ending that tells that
    it is a document (by its ``kind``, where it has none of its own)."""
    shown = "".join(letter for letter in name if letter.isprintable() or letter.isspace())
    whole = _TELLS_APART.sub("_", shown).strip("_")
    stem, dot, own = whole.rpartition(".")
    if not dot or not _ENDING.fullmatch(own):
        stem, own = whole, ""
    ending = f".{own}" if own else _USUAL_ENDING.get(kind, "")
    return (stem.strip("_")[: NAME - len(ending)].strip("_") or "document") + ending


def own_name(name: str, digest: str, taken: dict[str, str]) -> str:
    """A name that no other document has, so that what an answer cites is one of them; from now on it is taken.
    ``taken``: the digests of documents by their names in lower case."""
    stem, _, ending = name.rpartition(".")
    tried, number = name, 1
    while taken.setdefault(tried.casefold(), digest) != digest:
        number += 1
        more = f"-{number}.{ending}" if stem else f"-{number}"
        tried = f"{(stem or name)[: NAME - len(more)]}{more}"
    return tried


def read_citation(text: str) -> tuple[str, int, str, int] | None:
    """The name of the document, the number of a part or 0, the name of a sheet or "", and the row of a cell or 0."""
    found = CITATION.match(text)
    if found is None:
        return None
    row = re.search(r"\d+", found["cells"] or "")
    return found["name"], int(found["part"] or 0), found["sheet"] or "", int(row[0]) if row is not None else 0


def boxes_from(told: Any) -> tuple[tuple[Box, ...], ...]:
    """Places on a page as a reader told them, checked: what is none is left out."""
    made = []
    for one in told[:MAX_MARKS] if isinstance(told, list) else ():
        lines = [line for line in one[:MAX_MARKS] if _is_box(line)] if isinstance(one, list) else []
        made += [tuple((line[0], line[1], line[2], line[3]) for line in lines)] if lines else []
    return tuple(made)


def _is_box(told: Any) -> bool:
    if not isinstance(told, list) or len(told) != 4:
        return False
    return all(isinstance(side, int | float) and 0 <= side <= 1 for side in told)


def looks_like_document(head: bytes) -> bool:
    """Whether a file that begins so is a document that only its reader can read."""
    return b"%PDF-" in head[:1024] or head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"))


def about_from(told: Any) -> DocumentAbout:
    """What a reader told, checked. Raises ValueError."""
    if not isinstance(told, Mapping) or told.get("unit") not in UNITS:
        raise ValueError("that is nothing about a document")
    count, names, notes = told.get("count"), told.get("names"), told.get("notes")
    if type(count) is not int or not 1 <= count <= MAX_PARTS or not isinstance(names, list):
        raise ValueError("a document has parts")
    return DocumentAbout(
        kind=str(told.get("kind"))[:60],
        unit=str(told["unit"]),
        count=count,
        title=str(told.get("title", ""))[:MAX_WORDS],
        names=tuple(str(name)[:MAX_WORDS] for name in names[:MAX_NAMES]),
        pictures=told.get("pictures") is True,
        notes=tuple(str(note)[:MAX_WORDS] for note in notes) if isinstance(notes, list) else (),
    )
