"""What of a Word document can be seen: styles with what they are based on, tables with what their style colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from desktop.workers.document_host.looks import TINY, TOO_SMALL, UNKNOWN, WHITE, hex_of, lost_on
from desktop.workers.document_host.xml import Element

FAR = 20_000
"""Twentieths of a point beyond which text is moved off any page."""
FLAT = 40
"""Twentieths of a point in height that no letter fits in."""
NARROW = 5
"""Percents of the width of letters that nobody can read."""
_MARKERS = {
    "black": "000000",
    "blue": "0000ff",
    "cyan": "00ffff",
    "green": "00ff00",
    "magenta": "ff00ff",
    "red": "ff0000",
    "yellow": "ffff00",
    "white": WHITE,
    "darkBlue": "000080",
    "darkCyan": "008080",
    "darkGreen": "008000",
    "darkMagenta": "800080",
    "darkRed": "800000",
    "darkYellow": "808000",
    "darkGray": "808080",
    "lightGray": "c0c0c0",
}
_PAPER = ("background1", "light1")
"""What themes call the colour of the page."""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Where a text stands."""

    paragraph: Element | None = None
    """What its paragraph says of its looks."""
    ground: str = WHITE
    """The colour behind it; ``UNKNOWN``: nothing is known of it."""
    table: tuple[Element, ...] = ()
    """What the style of its table says of letters here, the nearest first."""
    lost: str = ""
    """Why nothing is seen here, or ""."""

    def within(self, paragraph: Element | None) -> TextPlace:
        """In a paragraph."""
        return self if paragraph is None else replace(self, paragraph=paragraph)


PAGE = TextPlace()


class Looks:
    """The looks of a document's text; ``styles`` are its styles."""

    def __init__(self, styles: Element | None) -> None:
        kinds = styles.all("style") if styles is not None else []
        self._known = {one.get("styleId"): one for one in kinds}
        usual = (one for one in kinds if one.get("type") == "paragraph" and one.get("default") in ("1", "true"))
        self._usual = next((one.get("styleId") for one in usual), "")
        found = styles.first("docDefaults", "rPrDefault", "rPr") if styles is not None else None
        self._default = () if found is None else (found,)
        self._said: dict[str, tuple[_Said, _Said]] = {}

    def chain(self, style: str) -> Iterator[Element]:
        """A style, and what it is based on."""
        for _ in range(12):
            found = self._known.get(style)
            if found is None:
                return
            yield found
            style = value_of(found, "basedOn")

    def unseen(self, run: Element | None, place: TextPlace) -> str:
        """Why a run with these properties is not seen where it stands, or ""."""
        letters, above = self._of_style(value_of(place.paragraph, "pStyle") or self._usual)
        own = () if run is None else (run, *self._of_style(value_of(run, "rStyle"))[0])
        said = (*own, *letters, *place.table, *self._default)
        paragraphs = above if place.paragraph is None else (place.paragraph, *above)
        if not any(map(_tells, said)) and not any(map(_moves, paragraphs)) and not place.lost:
            return ""
        if next((is_on(one, "vanish") for one in said if one.first("vanish") is not None), False):
            return "Hidden"
        if place.lost or (lost := _moved_away(paragraphs)):
            return place.lost or lost
        size = next((found for one in said if (found := value_of(one, "sz")).isdigit()), "")
        width = next((found for one in said if (found := value_of(one, "w")).isdigit()), "")
        if (size and int(size) <= 2 * TINY) or (width and int(width) <= NARROW):
            return TOO_SMALL
        colour = next((found for one in said if (found := _colour(one))), "")
        if colour == _CLEAR:
            return "Hidden, transparent"
        fill = next((fill for one in (*said, *paragraphs) if (fill := fill_of(one)) is not None), None)
        ground = place.ground if fill is None else fill
        return lost_on(WHITE if colour in _PAPER and ground == WHITE else hex_of(colour), ground)

    def _of_style(self, style: str) -> tuple[_Said, _Said]:
        """What a style with all that it is based on says of letters and of paragraphs, the nearest first."""
        known = self._said.get(style)
        if known is None:
            chain = list(self.chain(style)) if style else []
            both = [tuple(one for held in chain if (one := held.first(name)) is not None) for name in ("rPr", "pPr")]
            known = self._said[style] = both[0], both[1]
        return known

    def table(self, element: Element, place: TextPlace) -> TableLooks:
        """The looks of a table that stands in a place."""
        properties = element.first("tblPr")
        return TableLooks(list(self.chain(value_of(properties, "tblStyle"))), properties, place)


class TableLooks:
    """The looks of a table's cells."""

    def __init__(self, styles: list[Element], properties: Element | None, place: TextPlace) -> None:
        look = properties.first("tblLook") if properties is not None else None
        self._off = {name for name in _SWITCHED if look is None or look.get(name) not in ("1", "true")}
        self._bands = look is None or look.get("noHBand") not in ("1", "true")
        self._columns = look is not None and look.get("noVBand") not in ("1", "true")
        self._styles = styles
        self._place = place

    def cell(self, row: Element, cell: Element, at: tuple[int, int], last: tuple[int, int]) -> TextPlace:
        """The place that a cell is; ``at`` is its row and column from 0, ``last`` the last ones."""
        height = row.first("trPr", "trHeight")
        flat = height is not None and height.get("hRule") == "exact" and _number(height.get("val")) <= FLAT
        styled = [one for kind in self._kinds(at, last) for one in self._said(kind)]
        own = cell.first("tcPr")
        fills = [own, *(one.first("tcPr") for one in styled)]
        found = next((fill for one in fills if one is not None and (fill := fill_of(one)) is not None), None)
        letters = tuple(one for held in styled if (one := held.first("rPr")) is not None)
        ground = self._place.ground if found is None else found
        return TextPlace(None, ground, letters, "Hidden, in a row without height" if flat else self._place.lost)

    def _kinds(self, at: tuple[int, int], last: tuple[int, int]) -> Iterator[str]:
        """The parts of a style that hold for a cell, the strongest first; "": the style itself."""
        edges = (("firstRow", at[0] == 0), ("lastRow", at[0] == last[0]))
        sides = (("firstColumn", at[1] == 0), ("lastColumn", at[1] == last[1]))
        for name, here in (*edges, *sides):
            if here and name not in self._off:
                yield _SWITCHED[name]
        if self._columns:
            yield "band1Vert" if (at[1] - ("firstColumn" not in self._off)) % 2 == 0 else "band2Vert"
        if self._bands:
            yield "band1Horz" if (at[0] - ("firstRow" not in self._off)) % 2 == 0 else "band2Horz"
        yield from ("wholeTable", "")

    def _said(self, kind: str) -> Iterator[Element]:
        for style in self._styles:
            if kind:
                yield from (one for one in style.all("tblStylePr") if one.get("type") == kind)
            else:
                yield style


_SWITCHED = {"firstRow": "firstRow", "lastRow": "lastRow", "firstColumn": "firstCol", "lastColumn": "lastCol"}
"""What a table switches on, and what its style calls it."""
_CLEAR = "clear"
_TELLING = frozenset(("color", "textFill", "vanish", "sz", "w"))
_MOVING = frozenset(("framePr", "ind", "spacing"))
_Said = tuple[Element, ...]


def value_of(element: Element | None, name: str) -> str:
    """The value of a property, or ""."""
    found = element.first(name) if element is not None else None
    return found.get("val") if found is not None else ""


def is_on(element: Element | None, name: str) -> bool:
    """Whether a property is there and not switched off."""
    found = element.first(name) if element is not None else None
    return found is not None and found.get("val", "1") not in ("0", "false", "off")


def fill_of(element: Element) -> str | None:
    """The ground that properties give; None: they give none."""
    marked = value_of(element, "highlight")
    if marked and marked != "none":
        return _MARKERS.get(marked, UNKNOWN)
    shade = element.first("shd")
    if shade is None or shade.get("val") == "nil":
        return None
    if shade.get("val") in ("", "clear"):
        given = shade.get("fill")
        return None if given in ("", "auto") and not shade.get("themeFill") else hex_of(given)
    return hex_of(shade.get("color")) if shade.get("val") == "solid" else UNKNOWN


def _colour(properties: Element) -> str:
    """The colour of letters: six digits, the name of the page's colour in themes, ``_CLEAR``, or "" for none given."""
    filled = properties.first("textFill")
    for kind in filled.children if filled is not None else ():
        if kind.name == "noFill":
            return _CLEAR
        found = next(iter(kind.children), None) if kind.name == "solidFill" else None
        if found is not None:
            alpha = found.first("alpha")
            if alpha is not None and _number(alpha.get("val")) >= 95_000:  # of transparency, in this place
                return _CLEAR
            return "background1" if found.get("val") in ("bg1", "lt1") else found.get("val")
    given = properties.first("color")
    if given is None:
        return ""
    paper = given.get("themeColor") in _PAPER and not given.get("themeShade")
    return "background1" if paper else given.get("val")


def _tells(properties: Element) -> bool:
    """Whether something is said here that can hide letters."""
    return any(one.name in _TELLING for one in properties.children)


def _moves(properties: Element) -> bool:
    """Whether something is said here that can move a paragraph away."""
    return any(one.name in _MOVING for one in properties.children)


def _moved_away(paragraphs: Sequence[Element]) -> str:
    """Why nothing of a paragraph with these properties is on the page, or ""."""
    for one in paragraphs:
        frame, indent, spacing = one.first("framePr"), one.first("ind"), one.first("spacing")
        moved = [frame.get(side) for side in ("x", "y")] if frame is not None else []
        moved += [indent.get(side) for side in ("left", "start", "firstLine", "hanging")] if indent is not None else []
        if any(abs(_number(far)) > FAR for far in moved):
            return "Hidden, outside the page"
        if spacing is not None and spacing.get("lineRule") == "exact" and 0 < _number(spacing.get("line")) <= FLAT:
            return TOO_SMALL
    return ""


def _number(text: str) -> int:
    return int(text) if text.removeprefix("-").isdigit() and len(text) < 12 else 0
