"""Word documents (DOCX): text, lists, tables, notes; what is hidden, commented, deleted or inserted is marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from desktop.workers.document_host.looks import UNKNOWN, hex_of
from desktop.workers.document_host.package import Package
from desktop.workers.document_host.reading import FlowDocument, hidden, one_line, table_rows
from desktop.workers.document_host.word_looks import PAGE, Looks, TextPlace, is_on, value_of
from desktop.workers.document_host.xml import Element, for_each

_HOLDERS = frozenset(
    "sdt sdtContent customXml smartTag fldSimple hyperlink ins moveTo Choice AlternateContent dir bdo".split()
)
"""What stands around text without being any; of ``AlternateContent`` only its first choice."""


class WordDocument(FlowDocument):
    """A Word document, read whole."""

    kind = "Word document"

    def __init__(self, package: Package, main: str) -> None:
        super().__init__()
        self._package = package
        self._relations = package.relations(main)
        self._looks = Looks(self._part("styles"))
        self._styles = _Styles(self._looks)
        self._lists = _Lists(self._part("numbering"))
        self._comments = {one.get("id"): one for one in _children(self._part("comments"))}
        self._footnotes = {one.get("id"): one for one in _children(self._part("footnotes"))}
        self._endnotes = {one.get("id"): one for one in _children(self._part("endnotes"))}
        self._waiting: list[str] = []
        self._tracked = False
        self._laid_out = _mentions(package, main, b"lastRenderedPageBreak")
        self._edges("header")
        for_each(package.open(main), self._block, depth=2)
        self._end_notes()
        self._edges("footer")
        if self._tracked:
            self.note("It holds tracked changes: what was inserted and deleted is marked.")
        if self._comments:
            self.note(f"It holds comments ({len(self._comments)}); they stand where they were made.")

    def _part(self, kind: str) -> Element | None:
        found = next((one for one in self._relations.values() if one.kind == kind and not one.outside), None)
        return self._package.tree(found.target) if found is not None else None

    def _edges(self, kind: str) -> None:
        """What stands at the top or foot of its pages, each text once."""
        told: set[str] = set()
        for one in self._relations.values():
            root = self._package.tree(one.target) if one.kind == kind and not one.outside else None
            words = one_line(" ".join(self._words(block) for block in root.walk() if block.name == "p") if root else "")
            if words and words not in told:
                told.add(words)
                self.add(f"[{kind.capitalize()} of its pages: {words}]")

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _block(self, element: Element) -> None:
        if element.name == "p":
            self._paragraph(element)
        elif element.name == "tbl":
            self._table(element)
        elif element.name == "altChunk":
            self.note("It holds a part of another kind, which was not read.")
        elif element.name in _HOLDERS:
            for child in _inside(element):
                self._block(child)

    def _paragraph(self, element: Element) -> None:
        properties = element.first("pPr")
        style = value_of(properties, "pStyle")
        prefix = self._prefix(properties, style)
        if is_on(properties, "pageBreakBefore") and self._parts[-1] and not self._laid_out:
            self._page_break()
        for at, piece in enumerate(_cut_at_pages(element, self._laid_out)):
            if at:
                self._page_break()
            words = self._words(piece, PAGE.within(properties)).strip()
            if words:
                self.add(f"{prefix if not at else ''}{words}")

    def _page_break(self) -> None:
        self._end_notes()
        self.page_ends()

    def _prefix(self, properties: Element | None, style: str) -> str:
        level = self._styles.heading(style, value_of(properties, "outlineLvl"))
        if level:
            return f"{'#' * min(6, level + 1)} "
        numbers = properties.first("numPr") if properties is not None else None
        number, depth = value_of(numbers, "numId") or self._styles.number(style), value_of(numbers, "ilvl")
        return self._lists.mark(number, int(depth) if depth.isdigit() else 0) if number and number != "0" else ""

    def _table(self, element: Element) -> None:
        self.add(table_rows(row for row in self._rows(element, PAGE) if row))
        self._end_notes()

    def _rows(self, table: Element, place: TextPlace) -> list[list[str]]:
        looks = self._looks.table(table, place)
        rows = [(row, _held(row, "tc")) for row in _held(table, "tr")]
        return [
            [
                self._cell(cell, looks.cell(row, cell, (down, across), (len(rows) - 1, len(cells) - 1)))
                for across, cell in enumerate(cells)
            ]
            for down, (row, cells) in enumerate(rows)
        ]

    def _cell(self, element: Element, place: TextPlace) -> str:
        pieces = []
        for child in _flat(element):
            if child.name == "p":
                pieces.append(self._words(child, place))
            elif child.name == "tbl":
                pieces += [", ".join(cell for cell in row if cell) for row in self._rows(child, place)]
        return "; ".join(piece for piece in map(str.strip, pieces) if piece)

    def _end_notes(self) -> None:
        """The notes that were referred to since the last page."""
        for note in self._waiting:
            self.add(note)
        self._waiting.clear()

    # -- text ---------------------------------------------------------------------------------------------------------

    def _words(self, element: Element, place: TextPlace = PAGE) -> str:
        return "".join(self._pieces(element, place.within(element.first("pPr"))))

    def _pieces(self, element: Element, place: TextPlace) -> Iterator[str]:
        for child in element.children:
            name = child.name
            if name == "r":
                yield self._run(child, place)
            elif name == "hyperlink":
                yield self._link(child, place)
            elif name in ("ins", "moveTo"):
                self._tracked = True
                yield hidden("Inserted" if name == "ins" else "Moved here", self._words(child, place))
            elif name in ("del", "moveFrom"):
                self._tracked = True
                yield hidden("Deleted" if name == "del" else "Moved away", self._words(child, place))
            elif name == "oMath" or name == "oMathPara":
                yield child.words("t")
            elif name in _HOLDERS:
                for held in _inside(child) if name != "fldSimple" else [child]:
                    wrapped = Element("", {})
                    wrapped.children = [held] if held is not child else child.children
                    yield from self._pieces(wrapped, place)

    def _run(self, run: Element, place: TextPlace) -> str:
        words = "".join(self._run_pieces(run))
        why = self._looks.unseen(run.first("rPr"), place) if words.strip() else ""
        return hidden(why, words) if why else words

    def _run_pieces(self, run: Element) -> Iterator[str]:
        for child in run.children:
            name = child.name
            if name in ("t", "delText"):
                yield child.text
            elif name in ("tab", "ptab"):
                yield " "
            elif name in ("br", "cr"):
                yield "\n" if child.get("type") != "column" else " "
            elif name in ("noBreakHyphen", "softHyphen"):
                yield "-" if name == "noBreakHyphen" else ""
            elif name == "commentReference":
                yield self._comment(child.get("id"))
            elif name in ("footnoteReference", "endnoteReference"):
                yield self._note(child)
            elif name in ("drawing", "pict", "object", "AlternateContent"):
                yield self._drawing(child)
            elif name == "sym":
                yield "•"

    def _comment(self, number: str) -> str:
        found = self._comments.get(number)
        if found is None:
            return ""
        words = " ".join(self._words(one) for one in found.walk() if one.name == "p")
        return " " + hidden(f"Comment by {one_line(found.get('author')) or 'somebody'}", words)

    def _note(self, reference: Element) -> str:
        held = self._footnotes if reference.name == "footnoteReference" else self._endnotes
        found = held.get(reference.get("id"))
        if found is None:
            return ""
        mark = f"[^{reference.get('id')}]"
        words = one_line(" ".join(self._words(one) for one in found.walk() if one.name == "p"))
        self._waiting.append(f"{mark}: {words}")
        return mark

    def _drawing(self, element: Element) -> str:
        pieces = []
        place = PAGE
        for one in _shown(element):
            if one.name in ("wsp", "shape", "rect", "roundrect", "oval"):
                place = TextPlace(ground=_ground(one))
            if one.name == "docPr" and (words := one_line(one.get("descr"))):
                pieces.append(f" (picture: {words}) ")
            elif one.name == "txbxContent":
                pieces += [f" {self._words(block, place)} " for block in _shown(one) if block.name == "p"]
        return "".join(pieces)

    def _link(self, element: Element, place: TextPlace) -> str:
        words = self._words(element, place)
        target = self._relations.get(element.get("id"))
        leads = target.target if target is not None and target.outside else ""
        if not leads.startswith(("http://", "https://", "mailto:")) or not words.strip():
            return words
        return f"[{one_line(words)}]({one_line(leads)[:2_000]})"


class _Styles:
    """Which styles are headings or lists."""

    def __init__(self, looks: Looks) -> None:
        self._chain = looks.chain

    def heading(self, style: str, own: str) -> int:
        """The level of a heading from 1, or 0."""
        if own.isdigit():
            return int(own) + 1 if int(own) < 9 else 0
        for found in self._chain(style):
            name = value_of(found, "name").lower()
            if name == "title":
                return 1
            level = value_of(found.first("pPr"), "outlineLvl")
            if level.isdigit() and int(level) < 9:
                return int(level) + 1
            if name.startswith("heading ") and name[8:].isdigit():
                return int(name[8:])
        return 0

    def number(self, style: str) -> str:
        """The list that a style belongs to, or ""."""
        chain = (found.first("pPr", "numPr") for found in self._chain(style))
        return next((number for one in chain if (number := value_of(one, "numId"))), "")


class _Lists:
    """What stands before the items of lists."""

    def __init__(self, root: Element | None) -> None:
        kinds = {}
        for one in root.all("abstractNum") if root is not None else ():
            levels = {level.get("ilvl"): value_of(level, "numFmt") for level in one.all("lvl")}
            kinds[one.get("abstractNumId")] = levels
        numbers = root.all("num") if root is not None else []
        self._kinds = {one.get("numId"): kinds.get(value_of(one, "abstractNumId"), {}) for one in numbers}
        self._at: dict[tuple[str, int], int] = defaultdict(int)

    def mark(self, number: str, depth: int) -> str:
        """``- `` or the next number, indented."""
        depth = min(depth, 8)
        kind = self._kinds.get(number, {}).get(str(depth), "bullet")
        if kind in ("bullet", "none"):
            return "  " * depth + "- "
        self._at[number, depth] += 1
        for deeper in range(depth + 1, 9):
            self._at.pop((number, deeper), None)
        return "  " * depth + f"{self._at[number, depth]}. "


def _children(root: Element | None) -> list[Element]:
    return root.children if root is not None else []


def _ground(drawn: Element) -> str:
    """The colour that a drawn box is filled with; of a picture or a gradient nothing is known."""
    if drawn.name != "wsp":
        return hex_of(drawn.get("fillcolor", "ffffff"))
    properties = drawn.first("spPr")
    kinds = properties.children if properties is not None else []
    fill = next((one for one in kinds if one.name.endswith("Fill")), None)
    if fill is None:
        return UNKNOWN if drawn.first("style") is not None else PAGE.ground
    colour = fill.first("srgbClr")
    return PAGE.ground if fill.name == "noFill" else hex_of(colour.get("val")) if colour is not None else UNKNOWN


def _inside(element: Element) -> list[Element]:
    """What a holder holds; of alternatives the first one."""
    if element.name == "AlternateContent":
        return element.children[:1]
    content = element.first("sdtContent") if element.name == "sdt" else None
    return content.children if content is not None else element.children


def _flat(element: Element) -> Iterator[Element]:
    """The children, with those of holders in their place."""
    for child in element.children:
        if child.name in _HOLDERS and child.name != "hyperlink":
            yield from _flat(_wrapped(child))
        else:
            yield child


def _wrapped(holder: Element) -> Element:
    made = Element("", {})
    made.children = _inside(holder)
    return made


def _held(element: Element, name: str) -> list[Element]:
    return [child for child in _flat(element) if child.name == name]


def _shown(element: Element) -> Iterator[Element]:
    """All below, without the second choice of alternatives."""
    waiting = [element]
    while waiting:
        found = waiting.pop()
        yield found
        below = found.children[:1] if found.name == "AlternateContent" else found.children
        waiting.extend(reversed(below))


def _cut_at_pages(paragraph: Element, laid_out: bool) -> Iterator[Element]:
    """A paragraph in pieces that stand on one page each: as the program that wrote it laid them out, where it says so
    (then it says so after each break that a person made, too), else where a person began another page."""
    piece = Element("p", {})
    for child in paragraph.children:
        if child.name != "r":
            piece.children.append(child)
            continue
        run = Element("r", child.attributes)
        properties = child.first("rPr")
        for part in child.children:
            made = part.name == "br" and part.get("type") == "page"
            if part.name == "lastRenderedPageBreak" or (made and not laid_out):
                piece.children.append(run)
                yield piece
                piece, run = Element("p", {}), Element("r", child.attributes)
                if properties is not None:
                    run.children.append(properties)
            elif not made:
                run.children.append(part)
        piece.children.append(run)
    yield piece


def _mentions(package: Package, name: str, word: bytes) -> bool:
    """Whether a word stands in a file of the package."""
    before = b""
    with package.open(name) as file:
        while block := file.read(1 << 20):
            if word in before + block:
                return True
            before = block[-len(word) :]
    return False
