"""OpenDocument texts (ODT): headings, paragraphs, lists, tables; comments, deletions and hidden text are marked."""

from __future__ import annotations

from collections.abc import Iterator

from desktop.workers.document_host.looks import TINY, TOO_SMALL, WHITE, hex_of, lost_on
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import FlowDocument, hidden, one_line, table_rows
from desktop.workers.document_host.xml import TEXT, Element, for_each
from desktop.workers.inside import CallError

_HELD_BLOCKS = frozenset(("frame", "text-box", "custom-shape", "rect", "g", "line", "numbered-paragraph"))
"""What stands between paragraphs, and may hold text."""
REPEATED = 100
"""A cell that stands so often in a row stands there once."""


class OpenText(FlowDocument):
    """A text of OpenOffice or LibreOffice, read whole."""

    kind = "OpenDocument text"

    def __init__(self, package: Package) -> None:
        super().__init__()
        self._known: dict[str, Element] = {}
        self._ground = WHITE
        self._numbered: set[str] = set()
        self._notes_waiting: list[str] = []
        self._package = package
        if _is_encrypted(package):
            words = "It is encrypted with a password, which is not asked for with this kind; save it without one."
            raise CallError("document.encrypted", words)
        for name in ("styles.xml", "content.xml"):
            if package.has(name):
                for_each(package.open(name), self._styles, depth=2, mixed=True)
        for_each(package.open("content.xml"), self._body, depth=2, mixed=True)
        self._end_notes()

    def _styles(self, element: Element) -> None:
        if element.name == "style":
            self._known[element.get("name")] = element
        elif element.name == "list-style" and any(one.name == "list-level-style-number" for one in element.children):
            self._numbered.add(element.get("name"))

    def _body(self, element: Element) -> None:
        if element.name == "text":
            for child in element.children:
                self._block(child, 0)

    def _block(self, element: Element, depth: int) -> None:
        name = element.name
        if name in ("p", "h"):
            self._paragraph(element, depth)
        elif name == "list":
            self._list(element, depth)
        elif name == "table":
            self.add(table_rows(self._rows(element)))
            self._end_notes()
        elif name == "tracked-changes":
            self._changes(element)
        elif name in ("section", "index-body", "table-of-content", "alphabetical-index", "bibliography"):
            if name == "section" and element.get("display") == "none":
                self.add(hidden("Hidden", self._words(element)))
                return
            for child in element.children:
                self._block(child, depth)
        elif name == "soft-page-break":
            self._page_break()
        elif name in _HELD_BLOCKS and (words := one_line(self._words(element))):
            self.add(words)

    def _paragraph(self, element: Element, depth: int) -> None:
        words = self._words(element).strip()
        if words and (why := self._unseen(element.get("style-name"))):
            words = hidden(why, words)
        if words:
            level = element.get("outline-level") or "1"
            mark = "#" * min(6, int(level) + 1) + " " if element.name == "h" and level.isdigit() else ""
            self.add(f"{mark}{words}")
        if any(one.name == "soft-page-break" for one in element.walk()):
            self._page_break()
        del depth

    def _page_break(self) -> None:
        self._end_notes()
        self.page_ends()

    def _list(self, element: Element, depth: int) -> None:
        numbered = element.get("style-name") in self._numbered
        items = [one for one in element.children if one.name in ("list-item", "list-header")]
        for place, item in enumerate(items, 1):
            for child in item.children:
                if child.name in ("p", "h") and (words := self._styled(child).strip()):
                    mark = f"{place}. " if numbered else "- "
                    self.add("  " * min(depth, 8) + mark + words)
                elif child.name == "list":
                    self._list(child, depth + 1)
                elif child.name == "table":
                    self._block(child, depth)

    def _rows(self, table: Element) -> list[list[str]]:
        rows = []
        for row in (one for one in table.walk() if one.name == "table-row"):
            cells = []
            for cell in row.children:
                if cell.name in ("table-cell", "covered-table-cell"):
                    around, self._ground = self._ground, self._fill_of(cell.get("style-name")) or self._ground
                    words = "; ".join(self._styled(one) for one in cell.children if one.name in ("p", "h", "list"))
                    self._ground = around
                    often = cell.get("number-columns-repeated") or "1"
                    cells += [words] * (int(often) if often.isdigit() and int(often) < REPEATED else 1)
            if any(cells):
                rows.append(cells)
        return rows

    def _styled(self, paragraph: Element) -> str:
        words = self._words(paragraph)
        why = self._unseen(paragraph.get("style-name")) if words.strip() and paragraph.name != "list" else ""
        return hidden(why, words) if why else words

    def _changes(self, element: Element) -> None:
        for one in element.walk():
            if one.name == "deletion" and (words := hidden("Deleted", self._words(one))):
                self.add(words)
                self.note("It holds tracked changes; what was deleted is marked.")

    def _end_notes(self) -> None:
        for note in self._notes_waiting:
            self.add(note)
        self._notes_waiting.clear()

    def _words(self, element: Element) -> str:
        pieces = [element.text]
        for child in element.children:
            pieces.append(self._piece(child))
        return "".join(pieces)

    def _piece(self, child: Element) -> str:
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
            words = " ".join(self._words(one) for one in child.children if one.name in ("p", "list"))
            return " " + hidden(f"Comment by {by or 'somebody'}", words)
        if name == "note":
            mark = f"[^{one_line((child.first('note-citation') or child).text)}]"
            body = child.first("note-body")
            self._notes_waiting.append(f"{mark}: {one_line(self._words(body)) if body is not None else ''}")
            return mark
        if name in ("hidden-text", "hidden-paragraph", "conditional-text"):
            return hidden("Hidden", child.get("string-value") or self._words(child))
        if name == "a":
            words, leads = self._words(child), child.get("href")
            outside = leads.startswith(("http://", "https://", "mailto:")) and words.strip()
            return f"[{one_line(words)}]({one_line(leads)[:2_000]})" if outside else words
        if name in ("desc", "title"):
            return f" (picture: {one_line(child.text)}) " if child.text.strip() else ""
        words = self._words(child)
        if name in ("p", "h", "table-cell", "list-item"):  # in a frame, or in a table inside one
            return f" {words} "
        why = self._unseen(child.get("style-name")) if name == "span" and words.strip() else ""
        return hidden(why, words) if why else words

    def _unseen(self, name: str) -> str:
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
