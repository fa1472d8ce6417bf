"""What of a slide can be seen: what its texts stand on, down to the background of its master."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from desktop.workers.document_host.looks import TINY, TOO_SMALL, UNKNOWN, WHITE, hex_of, lost_on
from desktop.workers.document_host.package import Package, Relation
from desktop.workers.document_host.xml import Element

Box = tuple[int, int, int, int]
"""Left, top, right, bottom."""
FAINT = 5_000
"""Of 100,000: less of a colour than this nobody sees."""
COVERS = 500
"""Things of one slide, the largest first, that may lie over others."""
_FILLS = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill", "noFill")


class SlideLooks:
    """The looks of one slide's texts. What is drawn is told with ``drawn``, in its order."""

    def __init__(self, package: Package, slide: Element, relations: dict[str, Relation]) -> None:
        below = _below(package, relations)
        self._colours = _colours(below)
        self._filled: list[Box | None] = []
        parts = [below[name] for name in ("sldLayout", "sldMaster") if name in below]
        for part in parts:
            for shape in _shapes(part):
                self.drawn(shape)
        tree = slide.first("cSld", "spTree")
        own = tree.children if tree is not None else []
        self._places = {id(shape): at for at, shape in enumerate(own)}
        over = [(at, box) for at, one in enumerate(own) if _is_filled(one) and (box := box_of(one)) is not None]
        self._over = sorted(over, key=lambda one: _area(one[1]), reverse=True)[:COVERS]
        found = next((one for part in (slide, *parts) if (one := _background(part)) is not None), None)
        self._ground = WHITE if found is None else self._colour(found)

    def drawn(self, shape: Element, *, in_group: bool = False) -> None:
        """This stands on the slide, below what comes next."""
        if _is_filled(shape):
            self._filled.append(None if in_group else box_of(shape))

    def covered(self, shape: Element) -> str:
        """Why it is not seen, where something that is drawn later lies over all of it, or ""."""
        place, at = box_of(shape), self._places.get(id(shape))
        if place is None or at is None:
            return ""
        over = (box for later, box in self._over if later > at)
        hides = any(
            one[0] <= place[0] and one[1] <= place[1] and one[2] >= place[2] and one[3] >= place[3] for one in over
        )
        return "Hidden, below what lies over it" if hides else ""

    def of_shape(self, shape: Element, *, in_group: bool = False) -> Callable[[Element], str]:
        """Tells of a run of this shape why it is not seen, or ""."""
        properties = shape.first("spPr")
        fill = _fill(properties) if properties is not None else None
        place = None if in_group else box_of(shape)
        ground = self._ground
        if fill is not None and fill.name != "noFill":
            ground = self._colour(fill)
        elif (fill is None and shape.first("style") is not None) or any(_meet(place, one) for one in self._filled):
            ground = UNKNOWN
        usual = [one.first("defRPr") for one in (shape.first("txBody", "lstStyle") or Element("", {})).children[:2]]
        return lambda run: self._unseen([run.first("rPr"), *usual], ground)

    def of_cell(self, cell: Element) -> Callable[[Element], str]:
        """The same of a cell of a table, whose style is not looked up."""
        properties = cell.first("tcPr")
        fill = _fill(properties) if properties is not None else None
        ground = self._colour(fill) if fill is not None and fill.name != "noFill" else UNKNOWN
        return lambda run: self._unseen([run.first("rPr")], ground)

    def _unseen(self, properties: Sequence[Element | None], ground: str) -> str:
        said = [one for one in properties if one is not None]
        size = next((one.get("sz") for one in said if one.get("sz")), "")
        if size.isdigit() and int(size) <= 100 * TINY:
            return TOO_SMALL
        fill = next((found for one in said if (found := _fill(one)) is not None), None)
        if fill is None:
            return ""
        faint = [one.get("val") for one in fill.walk() if one.name == "alpha"]
        if fill.name == "noFill" or any(one.isdigit() and int(one) <= FAINT for one in faint):
            return "Hidden, transparent"
        return lost_on(self._colour(fill), ground)

    def _colour(self, fill: Element) -> str:
        given = fill if fill.name == "bgRef" else fill if fill.name == "solidFill" else None
        found = given.children[0] if given is not None and given.children else None
        if found is None or any(one.name != "alpha" for one in found.children):
            return UNKNOWN
        return hex_of(found.get("val")) if found.name == "srgbClr" else self._colours.get(found.get("val"), UNKNOWN)


def box_of(shape: Element) -> Box | None:
    """Where a shape says that it stands; None: it does not."""
    place = shape.first("spPr", "xfrm") or shape.first("xfrm")
    at, size = (place.first(name) if place is not None else None for name in ("off", "ext"))
    if at is None or size is None:
        return None
    left, top = number(at.get("x")), number(at.get("y"))
    return left, top, left + number(size.get("cx")), top + number(size.get("cy"))


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def number(text: str) -> int:
    """A whole number, or 0."""
    digits = text.removeprefix("-")
    return int(text) if digits.isdigit() and len(digits) < 12 else 0


def _meet(one: Box | None, other: Box | None) -> bool:
    """Whether they may lie over each other."""
    if one is None or other is None:
        return True
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _fill(properties: Element) -> Element | None:
    return next((one for one in properties.children if one.name in _FILLS), None)


def _background(part: Element) -> Element | None:
    held = part.first("cSld", "bg")
    if held is None:
        return None
    properties, named = held.first("bgPr"), held.first("bgRef")
    if properties is not None:
        return _fill(properties)
    return named if named is not None and named.get("idx") in ("1001", "0") else Element("unknown", {})


def _shapes(part: Element) -> list[Element]:
    tree = part.first("cSld", "spTree")
    return [one for one in tree.children if not _is_placeholder(one)] if tree is not None else []


def _is_placeholder(shape: Element) -> bool:
    """Whether it is only the place for what a slide has."""
    return shape.first("nvSpPr", "nvPr", "ph") is not None


def _is_filled(shape: Element) -> bool:
    properties = shape.first("spPr")
    fill = _fill(properties) if properties is not None else None
    if fill is None:
        return shape.name in ("pic", "graphicFrame") or shape.first("style") is not None
    return fill.name != "noFill" and not any(one.name == "alpha" for one in fill.walk())


def _below(package: Package, relations: dict[str, Relation]) -> dict[str, Element]:
    """What stands below a slide, by its outermost element: its layout, the master of that, and the master's theme."""
    found: dict[str, Element] = {}
    for kind in ("slideLayout", "slideMaster", "theme"):
        relation = next((one for one in relations.values() if one.kind == kind and not one.outside), None)
        part = package.tree(relation.target) if relation is not None else None
        if relation is None or part is None:
            break
        found[part.name] = part
        relations = package.relations(relation.target)
    return found


def _colours(below: dict[str, Element]) -> dict[str, str]:
    """The colours that a slide calls by name, by the theme and by what the master makes of it."""
    made: dict[str, str] = {}
    scheme = below["theme"].first("themeElements", "clrScheme") if "theme" in below else None
    for one in scheme.children if scheme is not None else ():
        for colour in one.children[:1]:
            made[one.name] = hex_of(colour.get("lastClr") or colour.get("val"))
    mapped = below["sldMaster"].first("clrMap") if "sldMaster" in below else None
    names = mapped.attributes.items() if mapped is not None else ()
    return made | {name: made.get(to, UNKNOWN) for name, to in names}
