"""What OpenDocument files of every kind have in common: styles, text with what is hidden in it, tables of text."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import BinaryIO

from desktop.workers.document_host.looks import TINY, TOO_SMALL, UNKNOWN, WHITE, hex_of, lost_on
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import hidden, one_line
from desktop.workers.document_host.xml import BLOCK, TEXT, Builder, Element, XmlParser
from desktop.workers.inside import CallError

REPEATED = 100
"""A cell that stands so often in a row stands there once."""


class OpenWords:
    """The words of one file. Raises CallError for one that is encrypted."""

    def __init__(self, package: Package) -> None:
        self._known: dict[str, Element] = {}
        self._masters: dict[str, str] = {}
        self._ground = WHITE
        self.numbered: set[str] = set()
        """Styles of lists that count."""
        self.waiting: list[str] = []
        """Footnotes that stand below what is being read."""
        if _is_encrypted(package):
            words = "It is encrypted with a password, which is not asked for with this kind; save it without one."
            raise CallError("document.encrypted", words)
        for name in ("styles.xml", "content.xml"):
            if package.has(name):
                self._read_styles(package.open(name))

    def _read_styles(self, source: BinaryIO) -> None:
        """What stands before the body, which may be large."""
        depth, is_over = 0, False
        builder = Builder(self._styles, 0, mixed=False)

        def begun(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth, is_over
            depth += 1
            is_over = is_over or (depth == 2 and name == "body")
            if not is_over and (depth == 3 or builder.is_inside):
                builder.start(name, attributes)

        def ended(name: str) -> None:
            nonlocal depth
            depth -= 1
            if builder.is_inside:
                builder.end(name)

        parser = XmlParser(begun, ended, builder.text)
        while not is_over:
            block = source.read(BLOCK)
            parser.feed(block)
            if not block:
                return

    def _styles(self, element: Element) -> None:
        if element.name == "style":
            self._known[element.get("name")] = element
        elif element.name == "master-page":
            self._masters[element.get("name")] = element.get("style-name")
        elif element.name == "list-style" and any(one.name == "list-level-style-number" for one in element.children):
            self.numbered.add(element.get("name"))

    @contextlib.contextmanager
    def on(self, ground: str) -> Iterator[None]:
        """What is read meanwhile stands on this colour; "": on one that is not known."""
        around, self._ground = self._ground, ground
        try:
            yield
        finally:
            self._ground = around

    def ground_of_slide(self, style: str, master: str) -> str:
        """The colour of a slide, "" where it is none alone; without one that is said it is white."""
        for name in (style, self._masters.get(master, "")):
            fill = self.property_of(name, "drawing-page-properties", "fill")
            if fill == "solid":
                return hex_of(self.property_of(name, "drawing-page-properties", "fill-color"))
            if fill not in ("", "none"):
                return UNKNOWN
        return WHITE

    def fill_of_shape(self, style: str) -> str | None:
        """The colour that a shape is filled with, "" where it is none alone or is not said; None: it is not filled."""
        fill = self.property_of(style, "graphic-properties", "fill")
        if fill == "none":
            return None
        return hex_of(self.property_of(style, "graphic-properties", "fill-color")) if fill == "solid" else UNKNOWN

    def property_of(self, name: str, kind: str, key: str) -> str:
        """A property of a style, or of the next one above that has it; "" for none."""
        for style in self._chain(name):
            found = style.first(kind)
            if found is not None and found.get(key):
                return found.get(key)
        return ""

    def rows(self, table: Element) -> list[list[str]]:
        """A table in a text or on a slide."""
        rows = []
        for row in (one for one in table.walk() if one.name == "table-row"):
            cells = []
            for cell in row.children:
                if cell.name in ("table-cell", "covered-table-cell"):
                    with self.on(self._fill_of(cell.get("style-name")) or self._ground):
                        found = (self.styled(one) for one in cell.children if one.name in ("p", "h", "list"))
                        words = "; ".join(one for one in found if one.strip())
                    often = cell.get("number-columns-repeated") or "1"
                    cells += [words] * (int(often) if often.isdigit() and int(often) < REPEATED else 1)
            if any(cells):
                rows.append(cells)
        return rows

    def styled(self, paragraph: Element, cell: str = "") -> str:
        """The words of a paragraph, marked if its style hides them, or that of the ``cell`` which it stands in."""
        words = self.words(paragraph)
        style = paragraph.get("style-name") or cell
        why = self.unseen(style) if words.strip() and paragraph.name != "list" else ""
        return hidden(why, words) if why else words

    def words(self, element: Element) -> str:
        """All words in an element, on as many lines as it has."""
        pieces = [element.text]
        for child in element.children:
            pieces.append(self.piece(child))
        return "".join(pieces)

    def piece(self, child: Element) -> str:
        """What stands inside of a text: words, blanks, comments, footnotes, links."""
        name = child.name
        if name == TEXT:
            return child.text
        if name == "s":
            count = child.get("c") or "1"
            return " " * min(int(count) if count.isdigit() else 1, 100)
        if name in ("tab", "line-break"):
            return " " if name == "tab" else "\n"
        if name == "annotation":
            by = one_line((child.first("creator") or Element("", {})).text)
            words = " ".join(self.words(one) for one in child.children if one.name in ("p", "list"))
            return " " + hidden(f"Comment by {by or 'somebody'}", words)
        if name == "note":
            mark = f"[^{one_line((child.first('note-citation') or child).text)}]"
            body = child.first("note-body")
            self.waiting.append(f"{mark}: {one_line(self.words(body)) if body is not None else ''}")
            return mark
        if name in ("hidden-text", "hidden-paragraph", "conditional-text"):
            return hidden("Hidden", child.get("string-value") or self.words(child))
        if name == "a":
            words, leads = self.words(child), child.get("href")
            outside = leads.startswith(("http://", "https://", "mailto:")) and words.strip()
            return f"[{one_line(words)}]({one_line(leads)[:2_000]})" if outside else words
        if name in ("desc", "title"):
            return f" (picture: {one_line(child.text)}) " if child.text.strip() else ""
        words = self.words(child)
        if name in ("p", "h", "table-cell", "list-item"):  # in a frame, or in a table inside one
            return f" {words} "
        why = self.unseen(child.get("style-name")) if name == "span" and words.strip() else ""
        return hidden(why, words) if why else words

    def unseen(self, name: str) -> str:
        """Why text in the style of this name is not seen, or ""."""
        letters = [one for style in self._chain(name) if (one := style.first("text-properties")) is not None]
        if next((one.get("display") for one in letters if one.get("display")), "") == "none":
            return "Hidden"
        size = next((one.get("font-size") for one in letters if one.get("font-size")), "")
        if size.endswith("pt") and 0 <= _points(size) <= TINY:
            return TOO_SMALL
        colour = next((hex_of(one.get("color")) for one in letters if one.get("color")), "")
        return lost_on(colour, self._fill_of(name) or self._ground)

    def _chain(self, name: str) -> Iterator[Element]:
        for _ in range(12):
            style = self._known.get(name)
            if style is None:
                return
            yield style
            name = style.get("parent-style-name")

    def _fill_of(self, name: str) -> str:
        """The colour that a style puts behind what it styles, or ""."""
        for style in self._chain(name):
            for kind in ("text-properties", "paragraph-properties", "table-cell-properties"):
                found = style.first(kind)
                if found is not None and (fill := hex_of(found.get("background-color"))):
                    return fill
        return ""


def _points(size: str) -> float:
    try:
        return float(size.removesuffix("pt"))
    except ValueError:
        return -1.0


def _is_encrypted(package: Package) -> bool:
    root = package.tree("META-INF/manifest.xml")
    return root is not None and any(one.name == "encryption-data" for one in root.walk())
