"""A drawing as shapes and words, in pixels at 100 % and in colours of the theme: what diagrams and charts become."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from desktop.domain.loading.lazy_dataclass import dataclass

DrawingKind = Literal["diagram", "chart"]
UNDRAWN = "fence.undrawn"
"""The code of a refusal whose words are for a person."""
SOURCE_LONGEST = 100_000
"""Characters of a source that is drawn."""
MARKS = 5_000
"""Shapes and words of a drawing."""
POINTS = 60_000
"""Numbers of all its outlines."""
LABEL = 300
"""Characters of one label."""
SIDE = 20_000
"""Pixels of a drawing in width and in height."""

Paint = Literal[
    "",
    "surface",
    "sunken",
    "border",
    "border-strong",
    "text",
    "text-2",
    "text-3",
    "side-a",
    "side-b",
    "accent-text",
    "admin",
    "write",
    "running",
    "read",
    "failed",
    "side-a-soft",
    "side-b-soft",
    "accent-soft",
    "admin-soft",
    "write-soft",
    "running-soft",
    "read-soft",
    "failed-soft",
]
"""A colour of the theme, or none."""
PAINTS: frozenset[str] = frozenset(get_args(Paint))
SERIES: tuple[Paint, ...] = ("side-a", "side-b", "accent-text", "admin", "write", "running", "read", "failed")
"""The colours of what is told apart by its colour, in order."""
Anchor = Literal["start", "middle", "end"]
OPERANDS = {"M": 2, "L": 2, "C": 6, "Z": 0}
"""Steps of an outline and how many numbers each takes: move, line, curve, close."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An outline: steps such as "MLLZ" with their numbers one after the other."""

    steps: str
    """Letters of ``OPERANDS``."""
    numbers: tuple[float, ...]
    """What they take."""
    fill: Paint = ""
    """The colour inside."""
    stroke: Paint = ""
    """The colour of the line."""
    width: float = 1.0
    """How wide the line is."""
    dashes: tuple[float, ...] = ()
    """Lengths of dashes and gaps."""


@dataclass(frozen=True, slots=True)
class Label:
    """Words on one line."""

    x: float
    """Where it is anchored."""
    y: float
    """Its base line."""
    text: str
    """The words, plain."""
    size: float = 13.0
    """The size of the letters."""
    anchor: Anchor = "start"
    """What of it stands at ``x``."""
    color: Paint = "text"
    """The colour."""
    bold: bool = False
    """Whether it is bold."""
    italic: bool = False
    """Whether it is slanted."""
    angle: float = 0.0
    """Degrees by which it is turned, clockwise."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn, the first below."""

    width: float
    """Pixels across."""
    height: float
    """Pixels down."""
    marks: tuple[Shape | Label, ...]
    """Its parts."""
    kind: str = ""
    """What it is called at its head, such as "mermaid"."""
    spoken: str = ""
    """What it shows, for who cannot see it."""


@dataclass(frozen=True, slots=True)
class Undrawn:
    """Why there is no drawing: a sentence for a person."""

    reason: str


def to_plain(mark: Shape | Label) -> list[Any]:
    """A mark as it goes over a pipe."""
    if isinstance(mark, Shape):
        numbers = [round(number, 2) for number in mark.numbers]
        return ["s", mark.steps, numbers, mark.fill, mark.stroke, round(mark.width, 2), list(mark.dashes)]
    place = [round(number, 2) for number in (mark.x, mark.y, mark.size, mark.angle)]
    return ["l", place, mark.text, mark.anchor, mark.color, mark.bold, mark.italic]


class DrawingReader:
    """Puts together what another process gives, piece by piece. Raises ValueError for what no drawing is made of."""

    def __init__(self) -> None:
        self._marks: list[Shape | Label] = []
        self._points = 0

    def take(self, marks: Any) -> None:
        """Some more marks."""
        if not isinstance(marks, list) or len(self._marks) + len(marks) > MARKS:
            raise ValueError("too many marks")
        for mark in marks:
            kind, *fields = mark if isinstance(mark, list) and mark else ("",)
            if kind == "s" and len(fields) == 6:
                self._marks.append(self._shape(*fields))
            elif kind == "l" and len(fields) == 6:
                self._marks.append(_label(*fields))
            else:
                raise ValueError("no mark")

    def whole(self, told: Mapping[str, Any]) -> Drawing:
        """The drawing, with what is told of all of it."""
        width, height = _number(told.get("width"), 1, SIDE), _number(told.get("height"), 1, SIDE)
        kind, spoken = _text(told.get("kind"), 40), _text(told.get("spoken"), 20_000)
        return Drawing(width, height, tuple(self._marks), kind, spoken)

    def _shape(self, steps: Any, numbers: Any, fill: Any, stroke: Any, width: Any, dashes: Any) -> Shape:
        if not isinstance(steps, str) or not isinstance(numbers, list) or not isinstance(dashes, list):
            raise ValueError("no outline")
        self._points += len(numbers) + len(steps)
        wanted = sum(OPERANDS.get(step, math.inf) for step in steps)
        if self._points > POINTS or wanted != len(numbers) or len(dashes) > 8 or steps[:1] not in ("M", ""):
            raise ValueError("no outline")
        return Shape(
            steps,
            tuple(_number(number, -SIDE, 2 * SIDE) for number in numbers),
            _paint(fill),
            _paint(stroke),
            _number(width, 0, 100),
            tuple(_number(dash, 0.1, 1_000) for dash in dashes),
        )


def _label(place: Any, text: Any, anchor: Any, color: Any, bold: Any, italic: Any) -> Label:
    if not isinstance(place, list) or len(place) != 4 or anchor not in get_args(Anchor):
        raise ValueError("no label")
    x, y = (_number(number, -SIDE, 2 * SIDE) for number in place[:2])
    size, angle = _number(place[2], 4, 60), _number(place[3], -360, 360)
    return Label(x, y, _text(text, LABEL), size, anchor, _paint(color), bold is True, italic is True, angle)


def _number(value: Any, least: float, most: float) -> float:
    if type(value) not in (int, float) or not least <= value <= most:
        raise ValueError("no number")
    return float(value)


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("no text")
    return value


def _paint(value: Any) -> Any:
    if not isinstance(value, str) or value not in PAINTS:
        raise ValueError("no colour")
    return value


def outlines(shape: Shape) -> Iterator[tuple[str, Sequence[float]]]:
    """Its steps, each with its numbers."""
    at = 0
    for step in shape.steps:
        end = at + OPERANDS[step]
        yield step, shape.numbers[at:end]
        at = end
