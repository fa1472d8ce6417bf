"""OpenDocument texts (ODT): headings, paragraphs, lists, tables; comments, deletions and hidden text are marked."""

from __future__ import annotations

from desktop.workers.document_host.open_document.words import OpenWords
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import FlowDocument, hidden, one_line, table_rows
from desktop.workers.document_host.xml import Element, for_each

_HELD_BLOCKS = frozenset(("frame", "text-box", "custom-shape", "rect", "g", "line", "numbered-paragraph"))
"""What stands between paragraphs, and may hold text."""


class OpenText(FlowDocument):
    """A text of OpenOffice or LibreOffice, read whole."""

    kind = "OpenDocument text"

    def __init__(self, package: Package) -> None:
        super().__init__()
        self._words = OpenWords(package)
        for_each(package.open("content.xml"), self._body, depth=2, mixed=True)
        self._end_notes()

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
            self.add(table_rows(self._words.rows(element)))
            self._end_notes()
        elif name == "tracked-changes":
            self._changes(element)
        elif name in ("section", "index-body", "table-of-content", "alphabetical-index", "bibliography"):
            if name == "section" and element.get("display") == "none":
                self.add(hidden("Hidden", self._words.words(element)))
                return
            for child in element.children:
                self._block(child, depth)
        elif name == "soft-page-break":
            self._page_break()
        elif name in _HELD_BLOCKS and (words := one_line(self._words.words(element))):
            self.add(words)

    def _paragraph(self, element: Element, depth: int) -> None:
        words = self._words.words(element).strip()
        if words and (why := self._words.unseen(element.get("style-name"))):
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
        numbered = element.get("style-name") in self._words.numbered
        items = [one for one in element.children if one.name in ("list-item", "list-header")]
        for place, item in enumerate(items, 1):
            for child in item.children:
                if child.name in ("p", "h") and (words := self._words.styled(child).strip()):
                    mark = f"{place}. " if numbered else "- "
                    self.add("  " * min(depth, 8) + mark + words)
                elif child.name == "list":
                    self._list(child, depth + 1)
                elif child.name == "table":
                    self._block(child, depth)

    def _changes(self, element: Element) -> None:
        for one in element.walk():
            if one.name == "deletion" and (words := hidden("Deleted", self._words.words(one))):
                self.add(words)
                self.note("It holds tracked changes; what was deleted is marked.")

    def _end_notes(self) -> None:
        for note in self._words.waiting:
            self.add(note)
        self._words.waiting.clear()
