"""Workbooks (XLSX): values with their formulas, row by row; hidden sheets, rows and columns and comments are marked."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO, cast

from desktop.workers.document_host import limits
from desktop.workers.document_host.looks import TINY, TOO_SMALL, UNKNOWN, WHITE, hex_of, lost_on
from desktop.workers.document_host.package import Package, Relation
from desktop.workers.document_host.reading import DocumentFile, cell_text, hidden, one_line
from desktop.workers.document_host.rows import SheetRow, as_table, letters, number_of
from desktop.workers.document_host.xml import BLOCK, Element, XmlParser, for_each
from desktop.workers.inside import CallError

LAST_ROW = 1_048_576
ROWS_PASSED = 2_000
"""Up to this row a sheet is read from its beginning."""
HEAD_MAX = 8_000_000
"""Bytes in which a row, and what stands before the first, has to end for rows to be passed over."""
_DATA = re.compile(rb"<(?:\w+:)?sheetData\b[^>]*>")
_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]*?\sr=[\"'](\d{1,7})[\"']")
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_PERCENT = (9, 10)
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
_SHOWS_NOTHING = re.compile(r"(?:\s*;){3}\s*")
"""A format of numbers whose parts, also that for texts, are all empty."""
LOW, SLIM = 2.0, 0.3
"""Points of a row's height, and letters of a column's width, in which nothing is seen."""
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")


class Workbook(DocumentFile):
    """A workbook; a sheet is read anew each time."""

    kind = "Excel workbook"
    unit = "sheet"

    def __init__(self, package: Package, main: str) -> None:
        super().__init__()
        self._package = package
        root = package.tree(main)
        relations = package.relations(main)
        book = root if root is not None else Element("", {})
        properties = book.first("workbookPr")
        self._from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._places: list[str] = []
        for sheet in (book.first("sheets") or book).all("sheet"):
            relation = relations.get(sheet.get("id"))
            if relation is None or relation.outside or not package.has(relation.target):
                continue
            name = one_line(sheet.get("name"))[: limits.NAME] or f"sheet {len(self._places) + 1}"
            if sheet.get("state") in ("hidden", "veryHidden"):
                self.note(f"The sheet {name} is hidden.")
            self.names.append(name)
            self._places.append(relation.target)
        if not self._places:
            raise CallError("document.broken", "It begins like an Excel workbook and has no sheet that can be read.")
        self._strings = self._shared(relations)
        styles = self._styles(relations)
        self._dates, self._percents = _formats(styles)
        self._unseen = _unseen(styles)
        if any(one.kind == "externalLink" for one in relations.values()):
            self.note("It refers to other workbooks; they were not opened.")
        if (names := book.first("definedNames")) is not None and names.children:
            told = [f"{one.get('name')} = {one.text}" for one in names.children[:20] if one.get("hidden") != "1"]
            self.note(f"Names: {one_line('; '.join(told))[:1_000]}" if told else "It has hidden names.")

    def from_line(self, part: int, line: int) -> Iterator[tuple[int, str]]:
        """Lines have the numbers of their rows; comments stand after all rows."""
        place = self._places[part - 1]
        self._package.opened_anew()
        comments = list(self._comments(place))
        if comments and line <= 1:
            yield 1, f"[Comments ({len(comments)}) stand at the end of this sheet.]"
        yield from self._rows(place, line)
        for number, comment in enumerate(comments, LAST_ROW + 1):
            if number >= line:
                yield number, comment

    def _rows(self, place: str, line: int) -> Iterator[tuple[int, str]]:
        if line > LAST_ROW:
            return
        rows = _SheetReader(_from_row(self._package.open(place), line), self).rows()
        yield from as_table(rows, line)

    def value(self, kind: str, raw: str, style: int) -> str:
        """A cell's value as a person reads it."""
        if kind == "s":
            return self._strings[int(raw)] if raw.isdigit() and int(raw) < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if raw == "1" else "FALSE"
        if kind in ("str", "inlineStr", "e", "d") or not raw:
            return raw
        try:
            number = float(raw)
        except ValueError:
            return raw
        if style in self._dates:
            return _date(number, self._from_1904)
        return f"{number * 100:.12g}%" if style in self._percents else f"{number:.15g}"

    def _shared(self, relations: Mapping[str, Relation]) -> list[str]:
        place = next((one.target for one in relations.values() if one.kind == "sharedStrings"), "")
        if not place or not self._package.has(place):
            return []
        made: list[str] = []
        held = 0

        def take(element: Element) -> None:
            nonlocal held
            words = _rich(element)[: limits.CELL]
            held += len(words)
            if held > limits.TEXT or len(made) > limits.STRINGS:
                raise CallError("document.too_large", "It holds more text than can be read.")
            made.append(words)

        for_each(self._package.open(place), take, depth=1)
        return made

    def _styles(self, relations: Mapping[str, Relation]) -> Element:
        place = next((one.target for one in relations.values() if one.kind == "styles"), "")
        root = self._package.tree(place) if place else None
        return root if root is not None else Element("", {})

    def unseen(self, style: int) -> str:
        """Why nothing is seen of a cell in this style, or ""."""
        return self._unseen.get(max(0, style), "")

    def _comments(self, place: str) -> Iterator[str]:
        for relation in self._package.relations(place).values():
            if relation.outside or relation.kind not in ("comments", "threadedComment"):
                continue
            root = self._package.tree(relation.target)
            if root is None:
                continue
            held = root.first("commentList") or root
            for one in held.children[: limits.COMMENTS]:
                if words := one_line(_rich(one.first("text") or one)):
                    yield hidden(f"Comment at {one.get('ref')}", words)


def _formats(root: Element) -> tuple[set[int], set[int]]:
    """Which styles of cells show dates, and which percents."""
    codes = _codes(root)
    dates, percents = set(), set()
    cells = root.first("cellXfs")
    for index, one in enumerate(cells.children if cells is not None else ()):
        number = one.get("numFmtId")
        code = _QUOTED.sub("", codes.get(number, "")).lower()
        built_in = int(number) if number.isdigit() and number not in codes else -1
        if built_in in _DATES or re.search(r"[ymdhs]", code):
            dates.add(index)
        elif built_in in _PERCENT or "%" in code:
            percents.add(index)
    return dates, percents


def _codes(root: Element) -> dict[str, str]:
    own = root.first("numFmts")
    return {one.get("numFmtId"): one.get("formatCode") for one in own.children} if own is not None else {}


def _unseen(root: Element) -> dict[int, str]:
    """Which styles of cells show nothing that could be read, and why."""
    codes, made = _codes(root), {}
    held = {name: root.first(name) for name in ("fonts", "fills", "cellXfs")}
    fonts, fills, cells = (one.children if one is not None else [] for one in held.values())
    for index, one in enumerate(cells):
        font, fill = (_numbered(among, one.get(f"{name}Id")) for among, name in ((fonts, "font"), (fills, "fill")))
        size = font.first("sz") if font is not None else None
        if _SHOWS_NOTHING.fullmatch(codes.get(one.get("numFmtId"), "")):
            made[index] = "Hidden by its format"
        elif size is not None and 0 < _decimal(size.get("val")) <= TINY:
            made[index] = TOO_SMALL
        elif why := lost_on(_colour(font.first("color") if font is not None else None), _fill(fill)):
            made[index] = why
    return made


def _numbered(among: list[Element], number: str) -> Element | None:
    return among[int(number)] if number.isdigit() and int(number) < len(among) else None


def _decimal(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


def _colour(given: Element | None) -> str:
    """Six digits, where it is said so or is that of the page; a theme's other colours are not looked up."""
    if given is None:
        return ""
    if given.get("theme") == "0" or given.get("indexed") in ("1", "9", "65"):
        return WHITE if abs(_decimal(given.get("tint", "0"))) < 0.05 else ""
    return hex_of(given.get("rgb"))


def _fill(fill: Element | None) -> str:
    pattern = fill.first("patternFill") if fill is not None else None
    if fill is None or (pattern is not None and pattern.get("patternType", "none") == "none"):
        return WHITE
    return (
        _colour(pattern.first("fgColor")) if pattern is not None and pattern.get("patternType") == "solid" else UNKNOWN
    )


def _from_row(source: BinaryIO, row: int) -> BinaryIO:
    """A sheet without the rows before, as far as that can be seen without reading them: a million rows are passed over
    at the speed of unpacking. What is left out lies between two rows of the same table."""
    return source if row <= ROWS_PASSED else cast("BinaryIO", _Passing(source, row))


class _Passing:
    """Gives the head of a sheet, and then its rows from about one of them on."""

    def __init__(self, source: BinaryIO, row: int) -> None:
        self._source, self._row = source, row
        self._ready: list[bytes] = []
        self._begun = False

    def read(self, size: int) -> bytes:
        """As of a file; the pieces are as large as they come."""
        if not self._begun:
            self._begun = True
            self._pass(size)
        return self._ready.pop(0) if self._ready else self._source.read(size)

    def _pass(self, size: int) -> None:
        held = b""
        while (found := _DATA.search(held)) is None:
            block = self._source.read(size)
            held += block
            if not block or len(held) > HEAD_MAX:
                self._ready.append(held)
                return
        self._ready.append(held[: found.end()])
        held = held[found.end() :]
        while block := self._source.read(size):
            last = None
            for last in _ROW.finditer(held):
                if int(last[1]) >= self._row:
                    self._ready += [held[last.start() :], block]
                    return
            held = (held[last.start() :] if last is not None else held) + block
            if len(held) > HEAD_MAX:  # a row that does not end, or rows without numbers: all of it is read
                break
        first = _ROW.search(held)
        self._ready.append(held[first.start() :] if first is not None else held)


class _SheetReader:
    """Reads the rows of one sheet, as they come."""

    def __init__(self, source: BinaryIO, book: Workbook) -> None:
        self._source, self._book = source, book
        self._done: list[SheetRow] = []
        self._row: SheetRow | None = None
        self._row_number = self._column = 0
        self._kind, self._style, self._into = "", 0, ""
        self._value: list[str] = []
        self._formula: list[str] = []
        self._rule: tuple[str, str] = ("", "")
        self._rules: dict[str, str] = {}
        self._unseen: list[tuple[int, int]] = []

    def rows(self) -> Iterator[SheetRow]:
        """Those with something in them."""
        parser = XmlParser(self._start, self._end, self._text)
        while True:
            block = self._source.read(BLOCK)
            parser.feed(block)
            yield from self._done
            self._done.clear()
            if not block:
                return

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._begin_cell(attributes)
        elif name in ("v", "t"):
            self._into = name
        elif name == "f":
            self._into = name
            self._rule = attributes.get("t", ""), attributes.get("si", "")
        elif name == "rPh":
            self._into = "rPh"
        elif name == "row":
            number = attributes.get("r", "")
            self._row_number = int(number) if number.isdigit() and len(number) < 8 else self._row_number + 1
            flat = 0 <= _decimal(attributes.get("ht", "")) <= LOW
            self._row = SheetRow(self._row_number, flat or attributes.get("hidden") in ("1", "true"))
            self._column = 0
        elif name == "col" and _is_shut(attributes) and len(self._unseen) < limits.COLUMNS:
            first, last = attributes.get("min", ""), attributes.get("max", "")
            if first.isdigit() and last.isdigit():
                self._unseen.append((int(first), int(last)))

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        found = _REFERENCE.fullmatch(attributes.get("r", ""))
        self._column = number_of(found[1]) if found is not None else self._column + 1
        self._kind = attributes.get("t", "n")
        style = attributes.get("s", "")
        self._style = int(style) if style.isdigit() else -1
        self._value, self._formula, self._rule = [], [], ("", "")

    def _text(self, words: str) -> None:
        if self._into == "f":
            self._formula.append(words)
        elif self._into in ("v", "t"):
            self._value.append(words)

    def _end(self, name: str) -> None:
        if name in ("v", "t", "f", "rPh"):
            self._into = ""
        elif name == "c":
            self._end_cell()
        elif name == "row":
            if self._row is not None and self._row.cells:
                self._done.append(self._row)
            self._row = None

    def _end_cell(self) -> None:
        if self._row is None:
            return
        words = self._book.value(self._kind, "".join(self._value), self._style)
        words = cell_text(words)
        if formula := self._told_formula():
            words = f"{words} {{={cell_text(formula)}}}".lstrip()
        if words:
            if any(first <= self._column <= last for first, last in self._unseen):
                words = hidden("Hidden column", words)
            elif why := self._book.unseen(self._style):
                words = hidden(why, words)
            self._row.cells[self._column] = words

    def _told_formula(self) -> str:
        text, (kind, number) = "".join(self._formula), self._rule
        if kind != "shared":
            return text
        here = f"{letters(self._column)}{self._row_number}"
        if text:
            self._rules[number] = here
            return text
        return f" as in {self._rules[number]}" if number in self._rules else ""


def _is_shut(column: Mapping[str, str]) -> bool:
    """Whether nothing of a column is to be seen."""
    return column.get("hidden") in ("1", "true") or 0 <= _decimal(column.get("width", "")) <= SLIM


def _rich(element: Element) -> str:
    """Text in pieces of different looks, without what is there to say how it is pronounced."""
    if element.name == "rPh":
        return ""
    own = element.text if element.name == "t" else ""
    return own + "".join(_rich(child) for child in element.children)


def _date(number: float, from_1904: bool) -> str:
    """A day, a time or both, as Excel counts them."""
    if not 0 <= number < 3_000_000:
        return f"{number:.15g}"
    day = number + (1462 if from_1904 else 0)
    if day < 1:
        return str(datetime.timedelta(seconds=round(day * 86_400)))
    start = datetime.datetime(1899, 12, 31) if day < 60 else datetime.datetime(1899, 12, 30)
    at = start + datetime.timedelta(seconds=round(day * 86_400))
    return at.date().isoformat() if at.time() == datetime.time() else at.isoformat(" ")
