"""Documents of one text: HTML pages, books (EPUB), notebooks (ipynb), tables as text (CSV)."""

from __future__ import annotations

import csv
import io
import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from desktop.domain.text.json_text import read_json
from desktop.workers.document_host import limits
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import DocumentFile, FlowDocument, broken, cell_text, one_line
from desktop.workers.document_host.rows import letters
from desktop.workers.document_host.texts.page_looks import PageLooks
from desktop.workers.document_host.texts.written import dialect_of
from desktop.workers.inside import CallError
from desktop.workers.web_host.decoding import decoded
from desktop.workers.web_host.markdown import to_markdown

SHEETS = 20
OUTPUT = 20_000
"""Characters of one output of a notebook."""


class HtmlPage(FlowDocument):
    """A page. What it links to or embeds is never fetched."""

    kind = "HTML page"

    def __init__(self, data: bytes) -> None:
        super().__init__()
        source = decoded(data, "text/html")
        made = to_markdown(source, "", PageLooks(source))
        self.title = made.title[: limits.NAME]
        for block in made.text.split("\n\n"):
            self.add(block)
        if made.hidden:
            self.note(f"{made.hidden:,} characters that cannot be seen were taken out.")
        if b"<script" in data.lower():
            self.note("It holds scripts; none was run.")


class Book(DocumentFile):
    """A book in EPUB: its files in the order of reading."""

    kind = "EPUB book"
    unit = "chapter"

    def __init__(self, package: Package) -> None:
        super().__init__()
        self._package = package
        container = package.tree("META-INF/container.xml")
        found = [one.get("full-path") for one in container.walk() if one.name == "rootfile"] if container else []
        root = package.tree(found[0]) if found else None
        if root is None:
            raise broken("EPUB book")
        if package.has("META-INF/encryption.xml") and package.has("META-INF/rights.xml"):
            raise CallError("document.encrypted", "It is locked for one reader (DRM); it cannot be read here.")
        self.title = one_line(next((one.text for one in root.walk() if one.name == "title"), ""))[: limits.NAME]
        folder = posixpath.dirname(found[0])
        items = {one.get("id"): one for one in root.walk() if one.name == "item"}
        self._places = []
        for one in root.walk():
            item = items.get(one.get("idref")) if one.name == "itemref" else None
            place = posixpath.normpath(posixpath.join(folder, unquote(item.get("href")))) if item is not None else ""
            if place and package.has(place):
                self._places.append(place)
                if one.get("linear") == "no":
                    self.note(f"Chapter {len(self._places)} is not in the order of reading.")
        if not self._places:
            raise broken("EPUB book")
        sheets = [name for name in package.names if name.lower().endswith(".css")][:SHEETS]
        self._sheet = "\n".join(decoded(package.read(name), "") for name in sheets)

    @property
    def count(self) -> int:
        return len(self._places)

    def lines(self, part: int) -> Iterator[str]:
        self._package.opened_anew()
        source = decoded(self._package.read(self._places[part - 1]), "")
        made = to_markdown(source, "", PageLooks(source, self._sheet))
        yield from made.text.split("\n")


class Notebook(DocumentFile):
    """A notebook of Jupyter: its cells with what they gave."""

    kind = "notebook"
    unit = "cell"

    def __init__(self, data: bytes) -> None:
        super().__init__()
        try:
            whole = read_json(decoded(data, "application/json"))
            cells = whole.get("cells")
            if cells is None:  # the format before 2015
                cells = [cell for sheet in whole["worksheets"] for cell in sheet.get("cells", ())]
            self._cells = [cell for cell in cells if isinstance(cell, dict)]
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            raise broken("notebook") from None
        if not self._cells:
            raise CallError("document.empty", "The notebook has no cells.")

    @property
    def count(self) -> int:
        return len(self._cells)

    def lines(self, part: int) -> Iterator[str]:
        cell = self._cells[part - 1]
        source = _joined(cell.get("source", cell.get("input")))
        if cell.get("cell_type") == "code":
            yield from _fenced(source)
        else:
            yield from source.split("\n")
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    held = output.get("data")
    data: dict[str, Any] = held if isinstance(held, dict) else output
    words = _joined(data.get("text/plain", data.get("text", "")))
    if output.get("output_type") in ("error", "pyerr"):
        words = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    if words:
        yield "Output:"
        yield from _fenced(words[:OUTPUT])
        if len(words) > OUTPUT:
            yield f"[{len(words) - OUTPUT:,} characters more]"
    if any(str(kind).startswith("image/") or kind in ("png", "jpeg", "svg") for kind in data):
        yield "[The output is a picture, which was not read.]"


def _joined(value: Any) -> str:
    pieces = value if isinstance(value, list) else [value]
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _fenced(text: str) -> Iterator[str]:
    fence = "````" if "```" in text else "```"
    yield fence
    yield from text.rstrip("\n").split("\n")
    yield fence


class TextTable(DocumentFile):
    """A table as text; its rows are read anew each time."""

    kind = "CSV table"
    unit = "sheet"

    def __init__(self, text: str, charset: str = "") -> None:
        super().__init__()
        self._text = text
        if charset:
            self.note(f"Its charset is not said and was guessed: {charset}.")
        if len(self._text) > limits.TEXT:
            self._text = self._text[: limits.TEXT]
            self.note(f"Only the first {limits.TEXT:,} characters were read.")
        self._dialect = dialect_of(self._text)
        self.names = [""]

    def lines(self, part: int) -> Iterator[str]:
        csv.field_size_limit(limits.CELL * 4)
        rows = csv.reader(io.StringIO(self._text, newline=""), self._dialect)
        try:
            for number, row in enumerate(rows, 1):
                if number == 1:
                    wide = max(1, min(len(row), limits.COLUMNS))
                    yield f"|  | {' | '.join(letters(at + 1) for at in range(wide))} |"
                    yield "|" + " --- |" * (wide + 1)
                yield f"| {number} | {' | '.join(cell_text(cell) for cell in row)} |"
        except csv.Error:
            yield "[A cell here is longer than any table has; the rest was not read.]"
