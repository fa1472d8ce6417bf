"""The sheet that a chart is drawn on: its marks, and which colour a series has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from desktop.domain.fences.drawing import MARKS, SERIES, Anchor, Label, Paint, Shape
from desktop.workers.fence_host.charts import values
from desktop.workers.fence_host.charts.computing import PlotPoint, SeenLayer
from desktop.workers.fence_host.charts.spec import Channel, Plot
from desktop.workers.fence_host.svg.geometry import Outline
from desktop.workers.fence_host.undrawn import NotDrawn

WIDTH, HEIGHT = 560.0, 280.0
SMALL = 11.0
LETTER = 0.56
"""How wide a letter is of its size, about."""
TOLD = 200
"""Values that are told in words."""


class Sheet:
    """``drew`` counts the marks that show something of the data."""

    def __init__(self, plot: Plot, all_seen: Sequence[SeenLayer]) -> None:
        self.plot, self.seen = plot, all_seen
        self.marks: list[Shape | Label] = []
        self.width, self.height = plot.width or WIDTH, plot.height or HEIGHT
        self.drew = 0
        self.names = list(dict.fromkeys(name for one in all_seen for name in one.series if name))
        self.top = 30.0 if plot.title else 0.0

    def add(self, mark: Shape | Label) -> None:
        """One more mark, over the others. Raises NotDrawn for too many."""
        self.marks.append(mark)
        if len(self.marks) > MARKS:
            raise NotDrawn(f"It has more than {MARKS:,} marks.")

    def shape(
        self, outline: Outline, fill: Paint = "", stroke: Paint = "", width: float = 1.0, dashes: tuple[float, ...] = ()
    ) -> None:
        """An outline, if there is one."""
        if outline:
            numbers = tuple(number for _, at in outline for number in at)
            self.add(Shape("".join(step for step, _ in outline), numbers, fill, stroke, width, dashes))

    def line(self, x1: float, y1: float, x2: float, y2: float, paint: Paint = "border", width: float = 1.0) -> None:
        """A straight line."""
        self.shape([("M", [x1, y1]), ("L", [x2, y2])], "", paint, width)

    def words(self, x: float, y: float, text: str, size: float = SMALL, anchor: Anchor = "start", **more: Any) -> None:
        """Words, if there are any."""
        if text:
            self.add(Label(x, y, text[:200], size, anchor, more.pop("color", "text-2"), **more))

    def heading(self, left: float) -> None:
        """What the chart is called."""
        self.words(left, 16.0, self.plot.title, 14.0, color="text", bold=True)

    def channel(self, axis: str) -> Channel:
        """What an axis shows: what the first layer with it says."""
        found = [one.layer.get(axis) for one in self.seen if one.layer.get(axis).is_given]
        return found[0] if found else Channel()

    def color(self, name: str, one: SeenLayer) -> Paint:
        """Of a series; where there are none each field that is shown otherwise has its own."""
        if name in self.names:
            return SERIES[self.names.index(name) % len(SERIES)]
        kinds = list(dict.fromkeys(_family(other) for other in self.seen if other.layer.mark not in ("text", "rule")))
        at = kinds.index(_family(one)) if _family(one) in kinds else 0
        return SERIES[(len(self.names) + at) % len(SERIES)]

    def spoken(self) -> str:
        """The values, for who cannot see them."""
        first = self.seen[0]
        kind = {"arc": "pie", "tick": "strip", "rule": "line"}.get(first.layer.mark, first.layer.mark)
        title = f" {self.plot.title}" if self.plot.title else ""
        if first.layer.mark == "arc":
            rows = [mark.text for mark in self.marks if isinstance(mark, Label) and mark.text != self.plot.title]
            return f"{kind} chart{title}: {'; '.join(rows)}"[:6_000]
        rows = [_told(spot) for spot in first.spots[:TOLD]]
        names = " and ".join(self.channel(axis).title or axis for axis in ("x", "y"))
        more = f"; and {len(first.spots) - TOLD:,} more" if len(first.spots) > TOLD else ""
        return f"{kind} chart{title}, {names}: {'; '.join(rows)}{more}"[:6_000]


def _told(spot: PlotPoint) -> str:
    pair = ": ".join(values.word(one) for one in (spot.x, spot.y) if one is not None)
    return f"{spot.series} {pair}".strip()


def _family(one: SeenLayer) -> tuple[str, str]:
    """What makes layers look alike: points belong to a line through them."""
    return ("amounts" if one.layer.mark in ("bar", "area") else "line"), one.layer.get("y").name
