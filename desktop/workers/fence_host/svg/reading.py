"""Goes through an SVG picture and gives its shapes and words. What it may load, run or lead to is passed over."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from desktop.domain.fences.drawing import LABEL, MARKS, SIDE, Drawing, Label, Shape
from desktop.workers.fence_host.svg import geometry, styles
from desktop.workers.fence_host.svg.geometry import IDENTITY, Matrix, Outline, times
from desktop.workers.fence_host.svg.styles import Chain, StyleSheet, local

DEPTH = 120
"""Elements inside each other."""
SHRINK = 0.94
"""How large letters are drawn: the app's are wider than those that such pictures leave room for."""
SMALL = 22.0
"""Pixels up to which an area is a sign rather than a ground for words."""
_ORIGIN = "data-merman-source-classes"
_HREF = "{http://www.w3.org/1999/xlink}href"
_POINTER = re.compile(r"url\(['\"]?#([^)'\"]+)['\"]?\)")
_INSIDE = frozenset(("svg", "g", "a", "switch"))
_SILENT = frozenset(
    ("defs", "symbol", "marker", "style", "script", "title", "desc", "metadata", "clipPath", "mask", "filter")
)


class PictureTooLarge(Exception):
    """It has more marks than a drawing may."""


class _SvgReader:
    def __init__(self, root: Element) -> None:
        self.marks: list[Shape | Label] = []
        self._root: Chain | None = None
        self._named = {element.get("id", ""): element for element in root.iter() if element.get("id")}
        self._sheet = StyleSheet(element.text or "" for element in root.iter() if local(element) == "style")
        self._shapes: dict[str, Callable[[Element], Outline]] = {
            "path": lambda one: geometry.path(one.get("d", "")),
            "rect": _rect,
            "circle": lambda one: geometry.ellipse(_n(one, "cx"), _n(one, "cy"), _n(one, "r"), _n(one, "r")),
            "ellipse": lambda one: geometry.ellipse(_n(one, "cx"), _n(one, "cy"), _n(one, "rx"), _n(one, "ry")),
            "line": lambda one: geometry.polyline([_n(one, name) for name in ("x1", "y1", "x2", "y2")], closed=False),
            "polyline": lambda one: geometry.polyline(geometry.numbers(one.get("points", "")), closed=False),
            "polygon": lambda one: geometry.polyline(geometry.numbers(one.get("points", "")), closed=True),
        }

    def enter(self, element: Element, outer: Chain | None, matrix: Matrix, depth: int = 0) -> None:
        """An element and what is in it."""
        name = local(element)
        if name in _SILENT or depth > DEPTH:
            return
        chain = self._sheet.enter(element, outer)
        self._root = self._root or chain
        look = chain.look
        if look.get("display") == "none" or look.get("visibility") == "hidden" or _zero(look.get("opacity", "1")):
            return
        matrix = times(matrix, geometry.placed(element.get("transform", "")))
        if name in _INSIDE:
            inside = (
                times(matrix, geometry.moved(_n(element, "x"), _n(element, "y"))) if name == "svg" and outer else matrix
            )
            for child in element:
                self.enter(child, chain, inside, depth + 1)
        elif name == "use":
            target = self._named.get((element.get("href") or element.get(_HREF) or "").lstrip("#"))
            if target is not None:
                self._used(target, chain, times(matrix, geometry.moved(_n(element, "x"), _n(element, "y"))), depth)
        elif name == "text":
            self._text(element, chain, matrix)
        elif name in self._shapes:
            self._shape(self._shapes[name](element), chain, matrix)

    def _used(self, target: Element, chain: Chain, matrix: Matrix, depth: int) -> None:
        if local(target) != "symbol":
            self.enter(target, chain, matrix, depth + 20)  # a picture that uses itself comes to an end
            return
        for child in target:
            self.enter(child, chain, matrix, depth + 20)

    # -- shapes -------------------------------------------------------------------------------------------------------

    def _shape(self, outline: Outline, chain: Chain, matrix: Matrix, marker: bool = False) -> None:
        if not outline:
            return
        look, drawn = chain.look, geometry.through(matrix, outline)
        numbers = [number for _, values in drawn for number in values]
        if not numbers or not all(abs(number) < SIDE for number in numbers):
            return
        small = marker or max(_span(numbers[0::2]), _span(numbers[1::2])) <= SMALL
        fill = "" if _zero(look.get("fill-opacity", "1")) else styles.ground(look.get("fill", "#000"), small)
        width = (geometry.numbers(look.get("stroke-width", "1")) or [1.0])[0] * geometry.scale_of(matrix)
        stroke = (
            ""
            if width <= 0 or _zero(look.get("stroke-opacity", "1"))
            else styles.ink(look.get("stroke", "none"), "text-2")
        )
        if fill or stroke:
            dashes = tuple(value for value in geometry.numbers(look.get("stroke-dasharray", ""))[:8] if value > 0.1)
            dashes = dashes if len(dashes) % 2 == 0 else dashes * 2 if len(dashes) < 5 else ()
            steps = "".join(step for step, _ in drawn)
            dashes = () if len(dashes) == 2 and dashes[1] < 0.5 else dashes
            self._add(Shape(steps, tuple(numbers), fill, stroke, min(8.0, max(0.5, width)), dashes))
        if not marker:
            for end in ("marker-start", "marker-end"):
                found = _POINTER.fullmatch(look.get(end, ""))
                if found is not None and found[1] in self._named:
                    self._marker(self._named[found[1]], outline, end == "marker-start", matrix, chain)

    def _marker(self, marker: Element, outline: Outline, at_start: bool, matrix: Matrix, chain: Chain) -> None:
        (x, y), angle = _end(outline, at_start)
        fixed = geometry.numbers(marker.get("orient", "0"))
        turn = fixed[0] if fixed else angle + (180 if at_start and marker.get("orient") == "auto-start-reverse" else 0)
        view = geometry.numbers(marker.get("viewBox", ""))
        scale = _n(marker, "markerWidth", 3.0) / view[2] if len(view) == 4 and view[2] else 1.0
        placed = times(times(matrix, geometry.moved(x, y)), geometry.turned(turn))
        placed = times(placed, (scale, 0.0, 0.0, scale, 0.0, 0.0))
        placed = times(placed, geometry.moved(-_n(marker, "refX"), -_n(marker, "refY")))
        around = self._sheet.enter(marker, self._root)
        line = chain.look.get("stroke", "")
        for child in marker:
            name = local(child)
            if name in self._shapes:
                inner = self._sheet.enter(child, around)
                inner.look["stroke"] = inner.look.get("stroke") or line
                own = times(placed, geometry.placed(child.get("transform", "")))
                self._shape(self._shapes[name](child), inner, own, marker=True)

    def _add(self, mark: Shape | Label) -> None:
        self.marks.append(mark)
        if len(self.marks) > MARKS:
            raise PictureTooLarge

    # -- words --------------------------------------------------------------------------------------------------------

    def _text(self, element: Element, chain: Chain, matrix: Matrix) -> None:
        for line in _WordLines(self._sheet).of(element, chain):
            x, y = geometry.point(matrix, line.x, line.y + line.lower)
            if line.text.strip() and abs(x) < SIDE and abs(y) < SIDE:
                size = min(60.0, max(4.0, SHRINK * line.size * geometry.scale_of(matrix)))
                angle = geometry.angle_of(matrix)
                words = " ".join(line.text.replace("**", "").split())[:LABEL]
                anchor = line.anchor if line.anchor in ("middle", "end") else "start"
                if "edgeLabel" in element.get(_ORIGIN, ""):
                    self._clear(x, y, words, size)
                self._add(Label(x, y, words, size, anchor, "text", line.bold, line.italic, angle))  # type: ignore[arg-type]

    def _clear(self, x: float, y: float, words: str, size: float) -> None:
        """Ground under words that stand on a line, so that it does not run through them."""
        width = len(words) * size * 0.56
        outline = geometry.box(x - width / 2, y - size, width, size * 1.3)
        numbers = tuple(number for _, values in outline for number in values)
        self._add(Shape("".join(step for step, _ in outline), numbers, "surface"))


class _WordLine:
    """A line of a text while it is put together."""

    def __init__(self, x: float, y: float, chain: Chain, size: float) -> None:
        self.x, self.y, self.text, self.size = x, y, "", size
        look = chain.look
        self.anchor = look.get("text-anchor", "start")
        self.bold = look.get("font-weight", "") in ("bold", "bolder", "600", "700", "800")
        self.italic = look.get("font-style", "") == "italic"
        sits = look.get("dominant-baseline", "")
        self.lower = size * {"central": 0.36, "middle": 0.36, "hanging": 0.76, "text-before-edge": 0.9}.get(sits, 0.0)


class _WordLines:
    """The lines of a text: a part that says where it stands begins another."""

    def __init__(self, sheet: StyleSheet) -> None:
        self._sheet = sheet
        self.lines: list[_WordLine] = []
        self._x = self._y = 0.0

    def of(self, element: Element, chain: Chain) -> list[_WordLine]:
        """All of them."""
        self._x, self._y = _first(element, "x", 0.0), _first(element, "y", 0.0)
        size = _size(chain, 16.0)
        self._y += _em(element.get("dy", ""), size)
        self._x += _em(element.get("dx", ""), size)
        self.lines = [_WordLine(self._x, self._y, chain, size)]
        self._inside(element, chain, 0)
        return self.lines

    def _inside(self, element: Element, chain: Chain, depth: int) -> None:
        self.lines[-1].text += element.text or ""
        for child in element:
            if local(child) == "tspan" and depth < 8:
                inner = self._sheet.enter(child, chain)
                if "dominant-baseline" in chain.look:
                    inner.look.setdefault("dominant-baseline", chain.look["dominant-baseline"])
                size = _size(inner, 16.0)
                if any(name in child.attrib for name in ("x", "y", "dy")):
                    self._x = _em(child.get("x", ""), size) if child.get("x") else self._x
                    self._y = _em(child.get("y", ""), size) if child.get("y") else self._y
                    self._y += _em(child.get("dy", ""), size)
                    self.lines.append(_WordLine(self._x, self._y, inner, size))
                elif not self.lines[-1].text.strip():
                    line = _WordLine(self.lines[-1].x, self.lines[-1].y, inner, size)
                    self.lines[-1] = line
                self._inside(child, inner, depth + 1)
            self.lines[-1].text += child.tail or ""


def read(text: str) -> Drawing:
    """The drawing of a picture. Raises ValueError for what is no SVG, PictureTooLarge for too much of it."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise ValueError("no SVG") from None
    view = geometry.numbers(root.get("viewBox", ""))
    if len(view) != 4:
        view = [0.0, 0.0, _n(root, "width", 300.0), _n(root, "height", 150.0)]
    left, top, width, height = view
    if not (0 < width <= SIDE and 0 < height <= SIDE):
        raise PictureTooLarge
    reader = _SvgReader(root)
    reader.enter(root, None, times(IDENTITY, geometry.moved(-left, -top)))
    return Drawing(width, height, tuple(reader.marks))


def words_of(drawing: Drawing) -> Iterator[str]:
    """Its labels, in the order they are drawn."""
    return (mark.text for mark in drawing.marks if isinstance(mark, Label))


def _n(element: Element, name: str, usual: float = 0.0) -> float:
    return _first(element, name, usual)


def _first(element: Element, name: str, usual: float) -> float:
    found = geometry.numbers(element.get(name, ""))
    return found[0] if found and "%" not in element.get(name, "") else usual


def _em(text: str, size: float) -> float:
    found = geometry.numbers(text)
    return 0.0 if not found else found[0] * size if text.strip().endswith("em") else found[0]


def _size(chain: Chain, usual: float) -> float:
    text = chain.look.get("font-size", "")
    found = geometry.numbers(text)
    return found[0] if found and found[0] > 0 and not text.endswith("%") else usual


def _zero(text: str) -> bool:
    found = geometry.numbers(text)
    return bool(found) and found[0] == 0


def _span(values: list[float]) -> float:
    return max(values) - min(values) if values else 0.0


def _rect(one: Element) -> Outline:
    radius = _n(one, "rx") or _n(one, "ry")
    return geometry.box(_n(one, "x"), _n(one, "y"), _n(one, "width"), _n(one, "height"), radius)


def _end(outline: Outline, at_start: bool) -> tuple[tuple[float, float], float]:
    """Where a line begins or ends, and which way it goes there, in degrees."""
    points: list[tuple[float, float]] = []
    for _, values in outline:
        points += [(values[index], values[index + 1]) for index in range(0, len(values), 2)]
    points = points if not at_start else points[::-1]
    tip = points[-1]
    before = next((one for one in reversed(points[:-1]) if math.dist(one, tip) > 0.01), (tip[0] - 1, tip[1]))
    along = math.degrees(math.atan2(tip[1] - before[1], tip[0] - before[0]))
    return tip, along + 180 if at_start else along
