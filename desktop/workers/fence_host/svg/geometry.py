"""Outlines of SVG as moves, lines and curves, and how elements are placed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

Matrix = tuple[float, float, float, float, float, float]
"""a, b, c, d, e, f: (x, y) is drawn at (a x + c y + e, b x + d y + f)."""
Outline = list[tuple[str, list[float]]]
"""Steps M, L, C and Z with absolute numbers."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_STEP = re.compile(r"([MmLlHhVvCcSsQqTtAaZz])([^MmLlHhVvCcSsQqTtAaZz]*)")
_TRANSFORM = re.compile(r"(translate|scale|rotate|matrix)\s*\(([^)]*)\)")
_TAKES = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7}
ROUND = 0.5522847498
"""How far the handles of a quarter of a circle are from its ends, in radii."""


def numbers(text: str) -> list[float]:
    """All numbers of a text; what is not finite counts as 0."""
    return [value if math.isfinite(value) else 0.0 for value in map(float, NUMBER.findall(text))]


def times(one: Matrix, other: Matrix) -> Matrix:
    """``other`` inside ``one``."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return (a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f)


def moved(x: float, y: float) -> Matrix:
    return (1.0, 0.0, 0.0, 1.0, x, y)


def turned(degrees: float) -> Matrix:
    angle = math.radians(degrees)
    return (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle), 0.0, 0.0)


def placed(text: str) -> Matrix:
    """What a ``transform`` says."""
    made = IDENTITY
    for name, inside in _TRANSFORM.findall(text):
        found = numbers(inside)
        if name == "translate" and found:
            made = times(made, moved(found[0], found[1] if len(found) > 1 else 0.0))
        elif name == "scale" and found:
            made = times(made, (found[0], 0.0, 0.0, found[1] if len(found) > 1 else found[0], 0.0, 0.0))
        elif name == "rotate" and found:
            about = (found[1], found[2]) if len(found) > 2 else (0.0, 0.0)
            made = times(times(times(made, moved(*about)), turned(found[0])), moved(-about[0], -about[1]))
        elif name == "matrix" and len(found) == 6:
            made = times(made, (found[0], found[1], found[2], found[3], found[4], found[5]))
    return made


def point(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def scale_of(matrix: Matrix) -> float:
    """How much larger something is drawn."""
    a, b, c, d, _, _ = matrix
    return math.sqrt(abs(a * d - b * c))


def angle_of(matrix: Matrix) -> float:
    """Degrees by which something is turned."""
    return math.degrees(math.atan2(matrix[1], matrix[0]))


def through(matrix: Matrix, outline: Outline) -> Outline:
    """An outline where it is drawn."""
    made: Outline = []
    for step, values in outline:
        at: list[float] = []
        for index in range(0, len(values), 2):
            at += point(matrix, values[index], values[index + 1])
        made.append((step, at))
    return made


def box(x: float, y: float, width: float, height: float, radius: float = 0.0) -> Outline:
    """A rectangle, with round corners."""
    r = max(0.0, min(radius, width / 2, height / 2))
    right, bottom = x + width, y + height
    if r <= 0:
        return [("M", [x, y]), ("L", [right, y]), ("L", [right, bottom]), ("L", [x, bottom]), ("Z", [])]
    k = r * (1 - ROUND)
    return [
        ("M", [x + r, y]),
        ("L", [right - r, y]),
        ("C", [right - k, y, right, y + k, right, y + r]),
        ("L", [right, bottom - r]),
        ("C", [right, bottom - k, right - k, bottom, right - r, bottom]),
        ("L", [x + r, bottom]),
        ("C", [x + k, bottom, x, bottom - k, x, bottom - r]),
        ("L", [x, y + r]),
        ("C", [x, y + k, x + k, y, x + r, y]),
        ("Z", []),
    ]


def ellipse(x: float, y: float, across: float, down: float) -> Outline:
    """An ellipse around a point."""
    kx, ky = across * ROUND, down * ROUND
    return [
        ("M", [x + across, y]),
        ("C", [x + across, y + ky, x + kx, y + down, x, y + down]),
        ("C", [x - kx, y + down, x - across, y + ky, x - across, y]),
        ("C", [x - across, y - ky, x - kx, y - down, x, y - down]),
        ("C", [x + kx, y - down, x + across, y - ky, x + across, y]),
        ("Z", []),
    ]


def polyline(values: Sequence[float], closed: bool) -> Outline:
    """Lines from point to point."""
    made: Outline = []
    for index in range(0, len(values) - 1, 2):
        made.append(("L" if made else "M", [values[index], values[index + 1]]))
    return [*made, ("Z", [])] if closed and made else made


def arc(x: float, y: float, radius: float, begin: float, end: float) -> Outline:
    """A part of a circle from one angle to another, in radians, as curves; it begins with a move."""
    made: Outline = [("M", [x + radius * math.cos(begin), y + radius * math.sin(begin)])]
    count = max(1, math.ceil(abs(end - begin) / (math.pi / 2) - 1e-9))
    step = (end - begin) / count
    handle = 4 / 3 * math.tan(step / 4) * radius
    for index in range(count):
        one, other = begin + index * step, begin + (index + 1) * step
        ax, ay = x + radius * math.cos(one), y + radius * math.sin(one)
        bx, by = x + radius * math.cos(other), y + radius * math.sin(other)
        turn = [ax - handle * math.sin(one), ay + handle * math.cos(one)]
        turn += [bx + handle * math.sin(other), by - handle * math.cos(other), bx, by]
        made.append(("C", turn))
    return made


class _Pen:
    """Follows a path and keeps where it is."""

    def __init__(self) -> None:
        self.made: Outline = []
        self.x = self.y = self.start_x = self.start_y = 0.0
        self.handle: tuple[float, float] | None = None
        self.handle_of = ""

    def _curve(self, values: list[float]) -> None:
        self.made.append(("C", values))
        self.x, self.y = values[4], values[5]

    def _mirrored(self, kinds: str) -> tuple[float, float]:
        if self.handle is None or self.handle_of not in kinds:
            return self.x, self.y
        return 2 * self.x - self.handle[0], 2 * self.y - self.handle[1]

    def go(self, step: str, values: list[float], relative: bool) -> None:
        """One step with its numbers."""
        dx, dy = (self.x, self.y) if relative else (0.0, 0.0)
        act: Callable[[list[float], float, float], None] = getattr(self, f"_{step.casefold()}")
        act(values, dx, dy)
        if step not in "CSQT":
            self.handle = None
        self.handle_of = step

    def _m(self, values: list[float], dx: float, dy: float) -> None:
        self.x, self.y = values[0] + dx, values[1] + dy
        self.start_x, self.start_y = self.x, self.y
        self.made.append(("M", [self.x, self.y]))

    def _l(self, values: list[float], dx: float, dy: float) -> None:
        self.x, self.y = values[0] + dx, values[1] + dy
        self.made.append(("L", [self.x, self.y]))

    def _h(self, values: list[float], dx: float, dy: float) -> None:
        del dy
        self._l([values[0] + dx, self.y], 0.0, 0.0)

    def _v(self, values: list[float], dx: float, dy: float) -> None:
        del dx
        self._l([self.x, values[0] + dy], 0.0, 0.0)

    def _c(self, values: list[float], dx: float, dy: float) -> None:
        at = [value + (dy if index % 2 else dx) for index, value in enumerate(values)]
        self._curve(at)
        self.handle = at[2], at[3]

    def _s(self, values: list[float], dx: float, dy: float) -> None:
        first = self._mirrored("CS")
        at = [value + (dy if index % 2 else dx) for index, value in enumerate(values)]
        self._curve([*first, *at])
        self.handle = at[0], at[1]

    def _q(self, values: list[float], dx: float, dy: float) -> None:
        at = [value + (dy if index % 2 else dx) for index, value in enumerate(values)]
        self._bend(at[0], at[1], at[2], at[3])

    def _t(self, values: list[float], dx: float, dy: float) -> None:
        self._bend(*self._mirrored("QT"), values[0] + dx, values[1] + dy)

    def _bend(self, hx: float, hy: float, x: float, y: float) -> None:
        first = [self.x + 2 / 3 * (hx - self.x), self.y + 2 / 3 * (hy - self.y)]
        self._curve([*first, x + 2 / 3 * (hx - x), y + 2 / 3 * (hy - y), x, y])
        self.handle = hx, hy

    def _a(self, values: list[float], dx: float, dy: float) -> None:
        rx, ry, turn, large, sweep = values[:5]
        x, y = values[5] + dx, values[6] + dy
        for curve in _arc_curves(self.x, self.y, x, y, abs(rx), abs(ry), turn, bool(large), bool(sweep)):
            self._curve(curve)
        if (self.x, self.y) != (x, y):
            self._l([x, y], 0.0, 0.0)

    def close(self) -> None:
        """Back to where it began."""
        self.made.append(("Z", []))
        self.x, self.y, self.handle = self.start_x, self.start_y, None


def path(text: str) -> Outline:
    """What the ``d`` of a path says."""
    pen = _Pen()
    for letter, inside in _STEP.findall(text):
        step, relative = letter.upper(), letter.islower()
        if step == "Z":
            pen.close()
            continue
        found = _flags(inside) if step == "A" else numbers(inside)
        if not pen.made and step != "M":
            return []
        count = _TAKES[step]
        for at in range(0, len(found) - count + 1, count):
            pen.go("L" if step == "M" and at else step, found[at : at + count], relative)
    return pen.made


_ARC = re.compile(
    rf"({NUMBER.pattern})[\s,]*" * 3 + rf"([01])[\s,]*([01])[\s,]*({NUMBER.pattern})[\s,]*({NUMBER.pattern})"
)


def _flags(text: str) -> list[float]:
    """The numbers of arcs, whose two flags may stand without a blank."""
    return [float(value) for match in _ARC.finditer(text) for value in match.groups()]


def _arc_curves(
    x1: float, y1: float, x2: float, y2: float, rx: float, ry: float, turn: float, large: bool, sweep: bool
) -> Iterator[list[float]]:
    """An arc of an ellipse between two points, as curves."""
    if rx == 0 or ry == 0 or (x1, y1) == (x2, y2):
        return
    tilt = math.radians(turn)
    cos, sin = math.cos(tilt), math.sin(tilt)
    ux, uy = (x1 - x2) / 2, (y1 - y2) / 2
    px, py = cos * ux + sin * uy, -sin * ux + cos * uy
    grow = math.sqrt(max(1.0, (px / rx) ** 2 + (py / ry) ** 2))
    rx, ry = rx * grow, ry * grow
    under = rx**2 * py**2 + ry**2 * px**2
    root = math.sqrt(max(0.0, (rx**2 * ry**2 - under) / under)) if under else 0.0
    root = root if large != sweep else -root
    qx, qy = root * rx * py / ry, -root * ry * px / rx
    mx, my = cos * qx - sin * qy + (x1 + x2) / 2, sin * qx + cos * qy + (y1 + y2) / 2
    begin = math.atan2((py - qy) / ry, (px - qx) / rx)
    end = math.atan2((-py - qy) / ry, (-px - qx) / rx)
    if sweep and end < begin:
        end += 2 * math.pi
    elif not sweep and end > begin:
        end -= 2 * math.pi
    for step, values in through(
        times(moved(mx, my), (cos * rx, sin * rx, -sin * ry, cos * ry, 0, 0)), arc(0, 0, 1, begin, end)
    ):
        if step == "C":
            yield values
