"""The marks of a layer: bars, lines, areas, points, ticks, rules and words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from desktop.domain.fences.drawing import Anchor, Paint
from desktop.workers.fence_host.charts import values
from desktop.workers.fence_host.charts.computing import PlotPoint, SeenLayer
from desktop.workers.fence_host.charts.scales import Scale
from desktop.workers.fence_host.charts.sheet import Sheet
from desktop.workers.fence_host.svg import geometry
from desktop.workers.fence_host.svg.geometry import Outline

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 4), (2, 3), (9, 3, 2, 3))
"""How lines are told apart beside their colours."""
SOFT: dict[str, Paint] = {
    "side-a": "side-a-soft",
    "side-b": "side-b-soft",
    "accent-text": "accent-soft",
    "admin": "admin-soft",
    "write": "write-soft",
    "running": "running-soft",
    "read": "read-soft",
    "failed": "failed-soft",
}


class LayerMarks:
    """Draws one layer onto a sheet, whose axes are ``x`` and ``y``."""

    def __init__(self, sheet: Sheet, one: SeenLayer, x: Scale, y: Scale) -> None:
        self._sheet, self._one, self._x, self._y = sheet, one, x, y

    def draw(self) -> None:
        """All of its marks."""
        one = self._one
        if one.layer.mark in ("line", "area"):
            for name in one.series or [""]:
                self._stroke([spot for spot in one.spots if spot.series == name or not one.series], name)
            return
        draw = {"bar": self._bar, "point": self._point, "tick": self._tick, "rule": self._rule, "text": self._text}
        for spot in one.spots:
            if draw[one.layer.mark](spot):
                self._sheet.drew += 1

    def _color(self, spot: PlotPoint) -> Paint:
        return self._sheet.color(spot.series or spot.offset, self._one)

    def _place(self, spot: PlotPoint) -> tuple[float, float] | None:
        """Where a mark stands; without a field for an axis in its middle."""
        layer, x, y = self._one.layer, self._x, self._y
        at = x.place(spot.x) if layer.get("x").is_given else (x.begin + x.end) / 2
        value = y.place(spot.y) if layer.get("y").is_given else (y.begin + y.end) / 2
        return None if at is None or value is None else (at, value)

    def _bar(self, spot: PlotPoint) -> bool:
        one = self._one
        lies = one.across or one.layer.get("x2").is_given
        along, amounts = (self._y, self._x) if lies else (self._x, self._y)
        middle = along.place(spot.y if lies else spot.x)
        if spot.low is None or spot.high is None or middle is None:
            return False
        begin, end = amounts.at(spot.low), amounts.at(spot.high)
        begin = amounts.begin if begin is None else begin
        if end is None:
            return False
        thick = along.band * 0.76
        if along.kind != "band":
            thick = max(2.0, min(14.0, abs(along.end - along.begin) / max(8, len(one.spots)) * 0.8))
        if one.offsets:
            thick /= len(one.offsets)
            middle += (one.offsets.index(spot.offset) - (len(one.offsets) - 1) / 2) * thick
            thick *= 0.94
        low, long, side = min(begin, end), max(abs(end - begin), 0.5), middle - thick / 2
        outline = geometry.box(low, side, long, thick) if lies else geometry.box(side, low, thick, long)
        self._sheet.shape(outline, self._color(spot))
        return True

    def _stroke(self, spots: Sequence[PlotPoint], name: str) -> None:
        """One line, broken where there is no amount; of an area its ground, too."""
        x, y = self._x, self._y
        runs: list[list[tuple[float, float, float]]] = [[]]
        for spot in sorted(spots, key=self._rank):
            at, value = x.place(spot.x), y.at(spot.high) if spot.high is not None else y.place(spot.y)
            base = y.at(spot.low or 0.0)
            if at is None or value is None:
                runs.append([])
                continue
            runs[-1].append((at, value, y.begin if base is None else base))
        for run in filter(None, runs):
            self._run(run, self._sheet.color(name, self._one), name)
        self._sheet.drew += sum(map(len, runs))

    def _rank(self, spot: PlotPoint) -> float:
        """Where a value comes along the line, also of one that has no place."""
        if self._x.kind == "band":
            name = values.word(spot.x)
            return self._x.names.index(name) if name in self._x.names else -1
        found = values.moment(spot.x) if self._x.kind == "time" else values.number(spot.x)
        return math.inf if found is None else found

    def _run(self, run: Sequence[tuple[float, float, float]], color: Paint, name: str) -> None:
        sheet, layer = self._sheet, self._one.layer
        line: Outline = [("L" if index else "M", [at, value]) for index, (at, value, _) in enumerate(run)]
        if layer.mark == "area":
            back: Outline = [("L", [at, base]) for at, _, base in reversed(run)]
            sheet.shape([*line, *back, ("Z", [])], SOFT.get(color, "sunken"))
        number = sheet.names.index(name) if name in sheet.names and layer.mark == "line" else 0
        sheet.shape(line, "", color, 2.0, DASHES[number % len(DASHES)])
        for at, value, _ in run if layer.points or len(run) == 1 else ():
            sheet.shape(geometry.ellipse(at, value, 3.0, 3.0), color)

    def _point(self, spot: PlotPoint) -> bool:
        place = self._place(spot)
        if place is None:
            return False
        most = max((other.size or 0.0 for other in self._one.spots), default=0.0)
        radius = 3.5 if spot.size is None or most <= 0 else 2.0 + 12.0 * math.sqrt(max(0.0, spot.size) / most)
        color, large = self._color(spot), radius > 6.0
        outline = geometry.ellipse(*place, radius, radius)
        self._sheet.shape(outline, SOFT.get(color, "sunken") if large else color, color if large else "")
        return True

    def _tick(self, spot: PlotPoint) -> bool:
        place = self._place(spot)
        if place is None:
            return False
        (at, value), x, y = place, self._x, self._y
        if y.kind != "band" and x.kind == "band":
            ends = (at - x.band * 0.35, value, at + x.band * 0.35, value)
        else:
            half = (y.band if y.kind == "band" else 16.0) * 0.35
            ends = (at, value - half, at, value + half)
        self._sheet.line(*ends, self._color(spot), 1.5)
        return True

    def _rule(self, spot: PlotPoint) -> bool:
        x, y = self._x, self._y
        at = x.place(spot.x) if spot.x is not None else None
        value = y.place(spot.y) if spot.y is not None else None
        ends: tuple[float, float, float, float] | None = None
        if self._one.x2 and spot.low is not None and spot.high is not None:
            lies = self._one.layer.get("x2").is_given or self._one.layer.get("x2").value is not None
            begin, end = (x if lies else y).at(spot.low), (x if lies else y).at(spot.high)
            beside = value if lies else at
            if begin is not None and end is not None and beside is not None:
                ends = (begin, beside, end, beside) if lies else (beside, begin, beside, end)
        elif at is not None and value is None:
            ends = (at, y.begin, at, y.end)
        elif value is not None and at is None:
            ends = (x.begin, value, x.end, value)
        if ends is not None:
            self._sheet.line(*ends, self._color(spot) if spot.series else "text-2", 1.5)
        return ends is not None

    def _text(self, spot: PlotPoint) -> bool:
        place = self._place(spot)
        if place is None or not spot.text:
            return False
        lies = self._x.kind != "band" and self._y.kind == "band"
        below = (values.number(spot.x if lies else spot.y) or 0.0) < 0
        dx, dy = (-6.0 if below else 6.0, 4.0) if lies else (0.0, 14.0 if below else -6.0)
        anchor: Anchor = "middle" if not lies else "end" if below else "start"
        self._sheet.words(place[0] + dx, place[1] + dy, spot.text, anchor=anchor, color="text")
        return True
