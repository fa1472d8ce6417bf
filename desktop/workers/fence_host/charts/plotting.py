"""Draws a plot: its axes, its marks, and what its colours mean."""

from __future__ import annotations

from desktop.domain.fences.drawing import SERIES, Drawing
from desktop.workers.fence_host.charts import computing, scales, values
from desktop.workers.fence_host.charts.computing import DISCRETE, SeenLayer
from desktop.workers.fence_host.charts.marking import LayerMarks
from desktop.workers.fence_host.charts.pies import draw_pie
from desktop.workers.fence_host.charts.scales import Scale
from desktop.workers.fence_host.charts.sheet import LETTER, SMALL, WIDTH, Sheet
from desktop.workers.fence_host.charts.spec import Plot
from desktop.workers.fence_host.svg import geometry
from desktop.workers.fence_host.undrawn import NotDrawn

BAND, TALLEST = 26.0, 1_600.0


def drawing_of(plot: Plot) -> Drawing:
    """Raises NotDrawn."""
    all_seen = [computing.seen(layer) for layer in plot.layers]
    sheet = _Chart(plot, all_seen)
    if plot.layers[0].mark == "arc":
        draw_pie(sheet, all_seen[0])
    else:
        sheet.chart()
    if not sheet.drew:
        raise NotDrawn("There is nothing in it to draw.")
    return Drawing(sheet.width, sheet.height, tuple(sheet.marks), "chart", sheet.spoken())


class _Chart(Sheet):
    """A chart with two axes."""

    def chart(self) -> None:
        """Axes and marks."""
        x, y = self._scale("x"), self._scale("y")
        if y.kind == "band" and not self.plot.height:
            self.height = min(TALLEST, max(80.0, BAND * len(y.names)))
        if x.kind == "band" and not self.plot.width:
            self.width = min(2 * WIDTH, max(WIDTH if len(x.names) > 3 else WIDTH / 2, 16.0 * len(x.names)))
        left = self._left(y)
        x.begin, x.end = left, left + self.width
        top = self.top + (20.0 if self._title("y") else 8.0)
        y.begin, y.end = (top, top + self.height) if y.kind == "band" else (top + self.height, top)
        bottom = top + self.height
        self._y_axis(y, left)
        below = self._x_axis(x, bottom, top)
        for one in self.seen:
            LayerMarks(self, one, x, y).draw()
        self.line(left, bottom, left + self.width, bottom, "border-strong")
        self.heading(left)
        right = self._legend(left + self.width + 18.0, top)
        self.width, self.height = max(left + self.width + 12.0, right), bottom + below

    def _title(self, axis: str) -> str:
        return "" if self.channel(axis).hidden else self.channel(axis).title

    def _scale(self, axis: str) -> Scale:
        channel = self.channel(axis)
        rows = next((one.layer.rows for one in self.seen if one.layer.get(axis).is_given), [])
        kind = computing.kind_of(channel, rows) if channel.is_given else "nominal"
        if kind in DISCRETE:
            return Scale("band", names=computing.names_of(channel, self.seen, axis) or [""])
        found: list[float] = []
        zero = channel.zero
        for one in self.seen:
            amounts = self._amounts(one, axis, kind)
            found += amounts
            zero = one.layer.mark in ("bar", "area") if zero is None and amounts and self._reaches(one, axis) else zero
        if kind == "temporal":
            return scales.times(found)
        return scales.numbers(found, zero is not False, channel.domain, channel.log)

    def _reaches(self, one: SeenLayer, axis: str) -> bool:
        return one.across == (axis == "x") and not one.x2

    def _amounts(self, one: SeenLayer, axis: str, kind: str) -> list[float]:
        read = values.moment if kind == "temporal" else values.number
        found = [read(spot.x if axis == "x" else spot.y) for spot in one.spots]
        if one.layer.mark in ("bar", "area", "rule") and ((one.across == (axis == "x")) or self._own_end(one, axis)):
            found += [end for spot in one.spots for end in (spot.low, spot.high)]
            if self.channel(axis).stack == "normalize" and len(one.series) > 1:
                found = [0.0, 1.0]
        return [value for value in found if value is not None]

    def _own_end(self, one: SeenLayer, axis: str) -> bool:
        other = one.layer.get(f"{axis}2")
        return other.is_given or other.value is not None

    # -- axes ---------------------------------------------------------------------------------------------------------

    def _left(self, y: Scale) -> float:
        if not self.channel("y").is_given or self.channel("y").hidden:
            return 12.0
        y.begin, y.end = 0.0, self.height
        longest = max((len(told) for _, told in y.ticks(10_000 if y.kind == "band" else scales.TICKS)), default=0)
        return min(240.0, longest * SMALL * LETTER + 14.0)

    def _y_axis(self, y: Scale, left: float) -> None:
        channel = self.channel("y")
        if not channel.is_given or channel.hidden:
            return
        count = (
            max(2, int(self.height // 14)) if y.kind == "band" else max(2, min(scales.TICKS, int(self.height // 30)))
        )
        room = int((left - 10.0) / (SMALL * LETTER))
        for at, told in y.ticks(count):
            if y.kind != "band":
                self.line(left, at, left + self.width, at)
            self.words(left - 6.0, at + 4.0, told if len(told) <= room else f"{told[: room - 1]}…", anchor="end")
        self.words(0.0, self.top + 10.0, channel.title, color="text-2")

    def _x_axis(self, x: Scale, bottom: float, top: float) -> float:
        """The axis below; returns how much room it takes."""
        channel = self.channel("x")
        if not channel.is_given or channel.hidden:
            return 10.0
        marks = x.ticks(max(2, min(10, int(self.width // 64)))) if x.kind != "band" else x.ticks(10_000)
        longest = max((len(told) for _, told in marks), default=0) * SMALL * LETTER
        turned = x.kind == "band" and longest > x.band - 4.0
        if turned and x.band < 13.0:
            marks = x.ticks(int(self.width // 14.0))
        for at, told in marks:
            if x.kind != "band":
                self.line(at, top, at, bottom)
            if turned:
                self.words(at + 4.0, bottom + 12.0, told[:24], anchor="end", angle=-40.0)
            else:
                self.words(at, bottom + 16.0, told, anchor="middle")
        below = 24.0 + (min(24 * SMALL * LETTER, longest) * 0.66 if turned else 0.0)
        if channel.title:
            self.words((x.begin + x.end) / 2, bottom + below + 12.0, channel.title, anchor="middle")
            below += 20.0
        return below

    def _legend(self, left: float, top: float) -> float:
        """What each colour means; returns where it ends at the right."""
        title = next((one.layer.get("color").title for one in self.seen if one.layer.get("color").is_given), "")
        if len(self.names) < 2 and not title:
            return left
        y, longest = top, len(title)
        self.words(left, y + 4.0, title, bold=True)
        for name in self.names[:20]:
            y += 18.0
            self.shape(geometry.box(left, y - 5.0, 10.0, 10.0, 2.0), SERIES[self.names.index(name) % len(SERIES)])
            self.words(left + 16.0, y + 4.0, name[:32], color="text")
            longest = max(longest, min(32, len(name)) + 3)
        if len(self.names) > 20:
            self.words(left, y + 22.0, f"and {len(self.names) - 20} more")
        return left + longest * SMALL * LETTER + 8.0
