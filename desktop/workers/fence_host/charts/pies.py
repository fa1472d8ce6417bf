"""Pies: parts of a whole, with their names and shares beside them."""

from __future__ import annotations

import math
from typing import Any

from desktop.domain.fences.drawing import SERIES
from desktop.workers.fence_host.charts import computing, scales, values
from desktop.workers.fence_host.charts.computing import SeenLayer
from desktop.workers.fence_host.charts.sheet import HEIGHT, LETTER, SMALL, Sheet
from desktop.workers.fence_host.svg import geometry
from desktop.workers.fence_host.svg.geometry import Outline
from desktop.workers.fence_host.undrawn import NotDrawn

NAMED = 20


def draw_pie(sheet: Sheet, one: SeenLayer) -> None:
    """Raises NotDrawn."""
    amounts = _amounts(one)
    whole = math.fsum(amounts.values())
    if whole <= 0:
        raise NotDrawn("There is nothing in it to draw.")
    radius = min(sheet.plot.height or HEIGHT, 320.0) / 2 - 8.0
    x, y = radius + 12.0, sheet.top + radius + 8.0
    sheet.heading(12.0)
    at = -math.pi / 2
    for index, amount in enumerate(amounts.values()):
        end = at + 2 * math.pi * amount / whole
        if amount > 0:
            outline = _slice(x, y, radius, radius * one.layer.hole, at, end)
            sheet.shape(outline, SERIES[index % len(SERIES)], "surface", 1.5)
            sheet.drew += 1
        at = end
    left, line, longest = x + radius + 24.0, sheet.top + 14.0, 0
    for index, (name, amount) in enumerate(list(amounts.items())[:NAMED]):
        sheet.shape(geometry.box(left, line - 5.0, 10.0, 10.0, 2.0), SERIES[index % len(SERIES)])
        said = f"{name[:32] or 'all'}: {scales.told(amount, computing.exact(amount))} ({amount / whole:.0%})"
        sheet.words(left + 16.0, line + 4.0, said, color="text")
        longest, line = max(longest, len(said)), line + 18.0
    if len(amounts) > NAMED:
        sheet.words(left + 16.0, line + 4.0, f"and {len(amounts) - NAMED} more")
        line += 18.0
    sheet.width = left + 16.0 + longest * SMALL * LETTER + 12.0
    sheet.height = max(y + radius + 8.0, line + 4.0)


def _amounts(one: SeenLayer) -> dict[str, float]:
    """What each part comes to. Raises NotDrawn where one is less than nothing."""
    theta, color = one.layer.get("theta"), one.layer.get("color")
    if not theta.is_given:
        raise NotDrawn("Its parts have no size (theta).")
    rows: dict[str, list[Any]] = {name: [] for name in one.series}
    for row in one.layer.rows:
        rows.setdefault(values.word(row.get(color.name)) if color.name else "", []).append(row.get(theta.name))
    found = {name: values.aggregated(told, theta.aggregate or "sum") or 0.0 for name, told in rows.items()}
    if any(amount < 0 for amount in found.values()):
        raise NotDrawn("One of its parts is less than nothing.")
    return found


def _slice(x: float, y: float, radius: float, hole: float, begin: float, end: float) -> Outline:
    end = min(end, begin + 2 * math.pi - 1e-4)
    outer = geometry.arc(x, y, radius, begin, end)
    if not hole:
        return [*outer, ("L", [x, y]), ("Z", [])]
    inner = geometry.arc(x, y, hole, end, begin)
    return [*outer, ("L", inner[0][1]), *inner[1:], ("Z", [])]
