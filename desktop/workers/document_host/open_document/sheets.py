"""OpenDocument spreadsheets (ODS): values with their formulas, row by row; what is hidden and comments are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from desktop.workers.document_host import limits
from desktop.workers.document_host.open_document.words import OpenWords
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import DocumentFile, cell_text, hidden, one_line
from desktop.workers.document_host.rows import SheetRow, as_table
from desktop.workers.document_host.xml import BLOCK, Builder, Element, XmlParser, stream
from desktop.workers.inside import CallError

_SHUT = ("collapse", "filter")
_PLACE = re.compile(r"\[\.?([^\]]*)\]")


class OpenSheets(DocumentFile):
    """A spreadsheet of OpenOffice or LibreOffice; a sheet is read anew each time."""

    kind = "OpenDocument spreadsheet"
    unit = "sheet"

    def __init__(self, package: Package) -> None:
        super().__init__()
        self._package = package
        self._words = OpenWords(package)
        depth = 0

        def begun(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if name == "table" and depth == SHEET:
                self._told(attributes)

        def ended(_: str) -> None:
            nonlocal depth
            depth -= 1

        package.opened_anew()
        stream(package.open("content.xml"), begun, ended, lambda _: None)
        if not self.names:
            raise CallError("document.broken", "It begins like an OpenDocument spreadsheet and has no sheet.")
        if any(name.startswith(("Basic/", "Scripts/")) for name in package.names):
            self.note("It holds macros; none was run.")

    def _told(self, attributes: dict[str, str]) -> None:
        name = one_line(attributes.get("name", ""))[: limits.NAME] or f"sheet {len(self.names) + 1}"
        self.names.append(name)
        if self._words.property_of(attributes.get("style-name", ""), "table-properties", "display") == "false":
            self.note(f"The sheet {name} is hidden.")

    def from_line(self, part: int, line: int) -> Iterator[tuple[int, str]]:
        """Lines have the numbers of their rows."""
        self._package.opened_anew()
        yield from as_table(_OpenRows(self._package.open("content.xml"), part, self._words).rows(), line)


SHEET = 4
"""How deep a sheet lies."""
COLUMNS = 1_000
"""Groups of columns that are told apart."""


class _OpenRows:
    """Reads the rows of one sheet, as they come."""

    def __init__(self, source: BinaryIO, part: int, words: OpenWords) -> None:
        self._source, self._part, self._words = source, part, words
        self._depth = self._sheet = self._number = 0
        self._done: list[SheetRow] = []
        self._row = Builder(self._take, 0, mixed=True)
        self._columns: list[tuple[int, int, bool, str]] = []
        self._column = 0

    def rows(self) -> Iterator[SheetRow]:
        """Those with something in them."""
        parser = XmlParser(self._start, self._end, self._row.text)
        while self._sheet <= self._part:
            block = self._source.read(BLOCK)
            parser.feed(block)
            yield from self._done
            self._done.clear()
            if not block:
                return

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if name == "table" and self._depth == SHEET:
            self._sheet += 1
        elif self._sheet != self._part:
            return
        elif self._row.is_inside or name == "table-row":
            self._row.start(name, attributes)
        elif name == "table-column":
            first, self._column = self._column + 1, self._column + _often(attributes.get("number-columns-repeated", ""))
            if len(self._columns) < COLUMNS:
                shut, style = attributes.get("visibility") in _SHUT, attributes.get("default-cell-style-name", "")
                self._columns.append((first, self._column, shut, style))

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._row.is_inside:
            self._row.end(name)
        elif name == "table" and self._depth == SHEET - 1 and self._sheet == self._part:
            self._sheet += 1  # what follows is not wanted

    def _take(self, row: Element) -> None:
        often = _often(row.get("number-rows-repeated"))
        made = SheetRow(self._number + 1, row.get("visibility") in _SHUT, self._number + often)
        self._number += often
        column = 0
        for cell in row.children:
            if cell.name not in ("table-cell", "covered-table-cell"):
                continue
            repeated = _often(cell.get("number-columns-repeated"))
            if cell.children or cell.get("value-type") or cell.get("formula"):
                for at in range(column + 1, column + 1 + min(repeated, limits.COLUMNS)):
                    shut, usual = next((one[2:] for one in self._columns if one[0] <= at <= one[1]), (False, ""))
                    style = cell.get("style-name") or row.get("default-cell-style-name") or usual
                    if words := self._cell(cell, style):
                        made.cells[at] = hidden("Hidden column", words) if shut else words
            column += repeated
        if made.cells:
            self._done.append(made)

    def _cell(self, cell: Element, style: str) -> str:
        pieces = [self._words.styled(one, style) for one in cell.children if one.name in ("p", "list")]
        words = cell_text(_value(cell, "; ".join(pieces)))
        notes = [self._words.piece(one).strip() for one in cell.children if one.name == "annotation"]
        if formula := _PLACE.sub(lambda place: place[1].replace(":.", ":"), cell.get("formula").partition("=")[2]):
            words = f"{words} {{={cell_text(formula)}}}".lstrip()
        return " ".join((words, *map(cell_text, notes))).strip()


def _often(text: str) -> int:
    return max(1, int(text)) if text.isdigit() and len(text) < 8 else 1


def _value(cell: Element, words: str) -> str:
    """As a person reads it, but for days and numbers: these are whole."""
    kind = cell.get("value-type")
    if kind == "boolean":
        return "TRUE" if cell.get("boolean-value") == "true" else "FALSE"
    if kind == "date":
        return cell.get("date-value").replace("T", " ").removesuffix(" 00:00:00") or words
    if kind in ("float", "currency", "percentage") and not words.startswith("["):
        try:
            number = float(cell.get("value"))
        except ValueError:
            return words
        return f"{number * 100:.12g}%" if kind == "percentage" else f"{number:.15g}"
    return words or cell.get("string-value")
