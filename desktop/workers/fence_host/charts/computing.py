"""What is to be seen of the rows: points with their place, their amount and the series they belong to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop.workers.fence_host.charts import values
from desktop.workers.fence_host.charts.scales import nice_step, told
from desktop.workers.fence_host.charts.spec import Channel, PlotLayer
from desktop.workers.fence_host.charts.values import Row
from desktop.workers.fence_host.undrawn import NotDrawn

DISCRETE = ("nominal", "ordinal")
SERIES_MOST = 40
NAMES_MOST = 400


@dataclass(slots=True)
class PlotPoint:
    """One mark."""

    x: Any
    """Its value along x."""
    y: Any
    """Its value along y."""
    series: str = ""
    """Which colour it has."""
    offset: str = ""
    """Which of a group of bars it is."""
    size: float | None = None
    """The amount that its size shows."""
    text: str = ""
    """The words that it is."""
    low: float | None = None
    """Where it begins."""
    high: float | None = None
    """Where it ends."""


@dataclass(slots=True)
class SeenLayer:
    """What one layer shows. ``across``: amounts go along x, as bars that lie do."""

    layer: PlotLayer
    spots: list[PlotPoint]
    across: bool = False
    series: list[str] = field(default_factory=list)
    offsets: list[str] = field(default_factory=list)
    x2: bool = False


def kind_of(channel: Channel, rows: Sequence[Row]) -> str:
    """The kind of a channel, said or seen."""
    if channel.aggregate:
        return "quantitative"
    if channel.bins or channel.unit:
        return "ordinal"
    if channel.kind:
        return channel.kind
    found = [row.get(channel.name) for row in rows[:200] if row.get(channel.name) is not None]
    if found and all(isinstance(one, int | float) and not isinstance(one, bool) for one in found):
        return "quantitative"
    return "nominal"


def seen(layer: PlotLayer) -> SeenLayer:
    """What a layer shows. Raises NotDrawn."""
    x, y, color = layer.get("x"), layer.get("y"), layer.get("color")
    kind = {name: kind_of(layer.get(name), layer.rows) for name in ("x", "y")}
    if color.is_given and kind_of(color, layer.rows) == "quantitative":
        raise NotDrawn("It colours by an amount, which is not drawn here.")
    _checked(layer, kind)
    across = layer.mark in ("bar", "tick", "area") and kind["x"] == "quantitative" and kind["y"] != "quantitative"
    made = SeenLayer(layer, [], across and (y.is_given or not layer.get("x2").is_given))
    made.x2 = layer.get("x2").is_given or layer.get("y2").is_given
    ranges = {name: _ranges(layer.get(name), layer.rows) for name in ("x", "y")}
    for key, rows in _groups(layer, ranges):
        xv, yv, series, offset = key
        spot = PlotPoint(xv, yv, series, offset)
        if x.aggregate:
            spot.x = values.aggregated([row.get(x.name) for row in rows], x.aggregate)
        if y.aggregate:
            spot.y = values.aggregated([row.get(y.name) for row in rows], y.aggregate)
        _rest(spot, layer, rows)
        made.spots.append(spot)
    made.series = _ordered(color, (spot.series for spot in made.spots), SERIES_MOST)
    if layer.get("xOffset").is_given or layer.get("yOffset").is_given:
        own = layer.get("xOffset") if layer.get("xOffset").is_given else layer.get("yOffset")
        made.offsets = _ordered(own, (spot.offset for spot in made.spots), SERIES_MOST)
    _extents(made)
    return made


def _checked(layer: PlotLayer, kind: dict[str, str]) -> None:
    """What would not show what is said. Raises NotDrawn."""
    for name, channel in layer.channels.items():
        if channel.name and layer.rows and not any(channel.name in row for row in layer.rows):
            raise NotDrawn(f"No row has the field {channel.name[:60]}.")
        if "Offset" in name and (layer.mark != "bar" or kind_of(channel, layer.rows) == "quantitative"):
            raise NotDrawn(f"It moves marks aside ({name}), which is drawn for groups of bars alone.")
    numbers = kind["x"] == kind["y"] == "quantitative"
    if layer.mark == "bar" and numbers and (layer.lies or layer.get("x2").is_given or layer.get("y2").is_given):
        raise NotDrawn("It has bars between numbers on both axes, which are not drawn here.")
    for name in ("x", "y"):
        _readable(layer, layer.get(name), kind[name])


def _readable(layer: PlotLayer, channel: Channel, kind: str) -> None:
    is_time = channel.kind == "temporal" or bool(channel.unit)
    read = values.moment if is_time else values.number
    if not channel.name or channel.aggregate or not (channel.unit or kind in ("quantitative", "temporal")):
        return
    found = [row[channel.name] for row in layer.rows if row.get(channel.name) is not None]
    if found and all(read(one) is None for one in found):
        raise NotDrawn(f"The values of {channel.name[:60]} cannot be read as {'times' if is_time else 'numbers'}.")


def _rest(spot: PlotPoint, layer: PlotLayer, rows: Sequence[Row]) -> None:
    size, text = layer.get("size"), layer.get("text")
    if size.is_given:
        spot.size = values.aggregated([row.get(size.name) for row in rows], size.aggregate or "mean")
    if text.is_given:
        found = (
            values.aggregated([row.get(text.name) for row in rows], text.aggregate)
            if text.aggregate
            else rows[0].get(text.name)
        )
        amount = values.number(found)
        spot.text = (
            told(amount, exact(amount)) if amount is not None and not isinstance(found, str) else values.word(found)
        )
    elif text.value is not None:
        spot.text = values.word(text.value)
    for own, other in (("x", "x2"), ("y", "y2")):
        if layer.get(other).is_given:
            spot.low = _place(layer.get(own), rows[0].get(layer.get(own).name))
            spot.high = _place(layer.get(own), rows[0].get(layer.get(other).name))
        elif layer.get(other).value is not None:
            spot.low, spot.high = (
                _place(layer.get(own), spot.x if own == "x" else spot.y),
                values.number(layer.get(other).value),
            )


def _place(channel: Channel, value: Any) -> float | None:
    return values.moment(value) if channel.kind == "temporal" else values.number(value)


def exact(amount: float | None) -> float:
    """The step that a number is told with: all of its digits, up to a hundredth."""
    return 1.0 if amount is None or float(amount).is_integer() else 0.01 if abs(amount) >= 1 else 0.001


def _groups(layer: PlotLayer, ranges: dict[str, Any]) -> Iterable[tuple[tuple[Any, Any, str, str], list[Row]]]:
    """Rows that come to one mark; without an aggregate each is its own."""
    x, y, color = layer.get("x"), layer.get("y"), layer.get("color")
    offset = layer.get("xOffset") if layer.get("xOffset").is_given else layer.get("yOffset")
    many = any(layer.get(name).aggregate for name in ("x", "y", "theta", "text", "size"))
    found: dict[Any, tuple[tuple[Any, Any, str, str], list[Row]]] = {}
    for number, row in enumerate(layer.rows):
        key = (
            _key(x, row, ranges["x"]),
            _key(y, row, ranges["y"]),
            values.word(row.get(color.name)) if color.name else "",
            values.word(row.get(offset.name)) if offset.name else "",
        )
        mark = tuple(values.word(one) for one in key) if many else number
        found.setdefault(mark, (key, []))[1].append(row)
    return found.values()


def _key(channel: Channel, row: Row, ranges: Any) -> Any:
    if channel.aggregate or not channel.name:
        return channel.value if not channel.aggregate else None
    value = row.get(channel.name)
    if channel.unit:
        return values.unit_of(value, channel.unit)
    if ranges is not None:
        found = values.number(value)
        return ranges.name_of(found)
    return value


@dataclass(slots=True)
class _Ranges:
    """Ranges that numbers are put into."""

    low: float
    step: float
    count: int

    def name_of(self, value: float | None) -> str:
        if value is None:
            return "null"
        index = max(0, min(self.count - 1, math.floor((value - self.low) / self.step + 1e-9)))
        return self.names()[index]

    def names(self) -> list[str]:
        ends = [told(self.low + index * self.step, self.step) for index in range(self.count + 1)]
        return [f"{one} – {other}" for one, other in itertools.pairwise(ends)]


def _ranges(channel: Channel, rows: Sequence[Row]) -> _Ranges | None:
    if not channel.bins:
        return None
    found = [one for one in (values.number(row.get(channel.name)) for row in rows) if one is not None]
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    step = nice_step(high - low, channel.bins) if high > low else 1.0
    first = math.floor(low / step) * step
    made = _Ranges(first, step, max(1, math.ceil((high - first) / step - 1e-9)))
    channel.names = made.names()
    return made


def _ordered(channel: Channel, found: Iterable[str], most: int) -> list[str]:
    """Names in the order that is said, else sorted as Vega-Lite does. Raises NotDrawn for too many."""
    names = list(dict.fromkeys(found))
    if len(names) > most:
        raise NotDrawn(f"It tells {len(names):,} things apart by colour or place, and {most} is the most here.")
    if channel.names:
        return [
            *(name for name in channel.names if name in names),
            *(name for name in names if name not in channel.names),
        ]
    if channel.sort is None:
        return names
    return sorted(names)


def _extents(made: SeenLayer) -> None:
    """From and to of bars and areas: on top of each other where they are stacked, else from 0."""
    if made.layer.mark not in ("bar", "area") or made.x2:
        return
    channel = made.layer.get("x" if made.across else "y")
    stacked = bool(made.series[1:]) and not made.offsets and channel.stack and not channel.log
    sums: dict[tuple[str, bool], float] = {}
    order = {name: index for index, name in enumerate(made.series)}
    for spot in sorted(made.spots, key=lambda one: order.get(one.series, 0)):
        amount = values.number(spot.x if made.across else spot.y)
        if amount is None:
            continue
        along = values.word(spot.y if made.across else spot.x)
        below = sums.get((along, amount < 0), 0.0) if stacked else 0.0
        spot.low, spot.high = below, below + amount
        sums[along, amount < 0] = spot.high
    if channel.stack == "normalize" and stacked:
        for spot in made.spots:
            along = values.word(spot.y if made.across else spot.x)
            whole = sums.get((along, False), 0.0)
            if spot.low is not None and spot.high is not None and whole:
                spot.low, spot.high = spot.low / whole, spot.high / whole


def names_of(channel: Channel, all_seen: Sequence[SeenLayer], axis: str) -> list[str]:
    """The categories of an axis, in order. Raises NotDrawn for too many."""
    found: dict[str, float] = {}
    for one in all_seen:
        for spot in one.spots:
            value, amount = (spot.x, spot.y) if axis == "x" else (spot.y, spot.x)
            if value is not None or one.layer.get(axis).name:
                name = values.word(value)
                found[name] = found.get(name, 0.0) + (values.number(amount) or 0.0)
    if len(found) > NAMES_MOST:
        raise NotDrawn(f"It has {len(found):,} categories, and {NAMES_MOST} is the most here.")
    names, order = list(found), channel.sort
    said = channel.names or list(values.order_of(channel.unit)) or (order if isinstance(order, list) else [])
    if said:
        said = [values.word(one) for one in said]
        return [
            *(name for name in said if name in found or channel.bins),
            *sorted(name for name in names if name not in said),
        ]
    if isinstance(order, dict):
        order = "-y" if order.get("order") == "descending" else "y"
    if order in ("x", "y", "-x", "-y"):
        return sorted(names, key=lambda name: found[name], reverse=str(order).startswith("-"))
    if order is None:
        return names
    numeric = all(values.number(name) is not None for name in names)
    return sorted(names, key=float if numeric else str, reverse=order == "descending")
