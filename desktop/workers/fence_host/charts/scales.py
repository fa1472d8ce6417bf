"""From values to pixels: numbers, times and categories along an axis, with the places that are named on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from desktop.workers.fence_host.charts import values

TICKS = 6
_TIMES = (
    (3600, "%H:%M"),
    (3 * 3600, "%H:%M"),
    (6 * 3600, "%H:%M"),
    (12 * 3600, "%d %b %H:%M"),
    (86400, "%d %b"),
    (2 * 86400, "%d %b"),
    (7 * 86400, "%d %b"),
    (14 * 86400, "%d %b"),
)
_MINUTES = ((1, "%H:%M:%S"), (5, "%H:%M:%S"), (15, "%H:%M:%S"), (60, "%H:%M"), (300, "%H:%M"), (900, "%H:%M"))


@dataclass(slots=True)
class Scale:
    """``kind``: number, log, time or band. ``place`` gives pixels between ``begin`` and ``end``."""

    kind: str
    low: float = 0.0
    high: float = 1.0
    names: Sequence[str] = ()
    begin: float = 0.0
    end: float = 1.0

    def place(self, value: Any) -> float | None:
        """Where a value stands; of a category the middle of its band."""
        if self.kind == "band":
            try:
                index = self.names.index(values.word(value))
            except ValueError:
                return None
            return self.begin + (self.end - self.begin) * (index + 0.5) / max(1, len(self.names))
        found = values.moment(value) if self.kind == "time" else values.number(value)
        return None if found is None else self.at(found)

    def at(self, value: float) -> float | None:
        """Where a number stands; None for one that is not on the axis."""
        low, high = self.low, self.high
        if self.kind == "log":
            if value <= 0:
                return None
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        share = (value - low) / (high - low) if high != low else 0.5
        return self.begin + (self.end - self.begin) * share if -1e-9 <= share <= 1 + 1e-9 else None

    @property
    def band(self) -> float:
        """Pixels of one band."""
        return abs(self.end - self.begin) / max(1, len(self.names))

    def ticks(self, count: int = TICKS) -> list[tuple[float, str]]:
        """(pixels, words) of the places that are named."""
        if self.kind == "band":
            step = max(1, math.ceil(len(self.names) / max(1, count)))
            return [(self.place(name) or 0.0, name) for name in self.names[::step]]
        if self.kind == "time":
            return [(self.at(at) or 0.0, name) for at, name in _times(self.low, self.high, count)]
        if self.kind == "log":
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            marks = [10.0**power for power in powers if self.low <= 10.0**power <= self.high * 1.0001]
            return [(self.at(mark) or 0.0, told(mark, mark)) for mark in marks]
        distance = nice_step(self.high - self.low, count)
        first = math.ceil(self.low / distance - 1e-9)
        places = [distance * (first + index) for index in range(40)]
        most = self.high + distance * 1e-9
        return [(self.at(place) or 0.0, told(place, distance)) for place in places if place <= most]


def nice_step(span: float, count: int) -> float:
    """A round distance at which a span has about so many places."""
    if span <= 0 or not math.isfinite(span):
        return 1.0
    rough = span / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if rough <= power * factor * 1.0001)


def told(value: float, step: float) -> str:
    """A number on an axis, as exact as the step asks for."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-6:
        return f"{value:.3g}"
    for limit, sign in ((1e9, "B"), (1e6, "M"), (1e4, "k")):
        if size >= limit and step >= limit / 100:
            return f"{value / {'B': 1e9, 'M': 1e6, 'k': 1e3}[sign]:.10g}{sign}"
    digits = max(0, min(8, -math.floor(math.log10(abs(step)) + 1e-9))) if step else 0
    return f"{value:,.{digits}f}"


def numbers(found: Sequence[float], zero: bool, domain: tuple[float, float] | None, log: bool) -> Scale:
    """A scale that has room for all of them, and ends at round numbers."""
    if domain is not None:
        return Scale("log" if log else "number", *domain)
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    if log:
        positive = [value for value in found if value > 0]
        low, high = (min(positive), max(positive)) if positive else (1.0, 10.0)
        return Scale("log", 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high * 1.0001)))
    if zero:
        low, high = min(0.0, low), max(0.0, high)
    if low == high:
        low, high = (low - 1, high + 1) if low else (0.0, 1.0)
    step = nice_step(high - low, TICKS)
    return Scale("number", math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


def times(found: Sequence[float]) -> Scale:
    """A scale from the first to the last moment."""
    low, high = (min(found), max(found)) if found else (0.0, 1.0)
    return Scale("time", low, high if high > low else low + 86_400)


def _times(low: float, high: float, count: int) -> list[tuple[float, str]]:
    span = high - low
    for step, form in (*_MINUTES, *_TIMES):
        if span / step <= count:
            first = math.ceil(low / step) * step
            marks = [first + index * step for index in range(int((high - first) // step) + 1)]
            return [(at, _told_time(at, form)) for at in marks]
    months = next((many for many in (1, 2, 3, 6) if span / (many * 30.4 * 86_400) <= count), 0)
    if months:
        return _months(low, high, months)
    years = max(1, math.ceil(nice_step(span / (365.25 * 86_400), count)))
    first_year, last_year = _moment(low).year, _moment(high).year
    found = [year for year in range(first_year, last_year + 1) if year % years == 0]
    named = [(datetime(year, 1, 1, tzinfo=UTC).timestamp(), str(year)) for year in found if year > 0]
    return [(at, name) for at, name in named if low <= at <= high]


def _told_time(seconds: float, form: str) -> str:
    told = _moment(seconds).strftime(form)
    return told.removeprefix("0") if form.startswith("%d") else told


def _months(low: float, high: float, many: int) -> list[tuple[float, str]]:
    at, marks = _moment(low), list[tuple[float, str]]()
    year, month = at.year, at.month - (at.month - 1) % many
    while len(marks) < 60:
        moment = datetime(year, month, 1, tzinfo=UTC)
        if moment.timestamp() > high:
            break
        if moment.timestamp() >= low:
            marks.append((moment.timestamp(), moment.strftime("%b" if month > 1 else "%Y")))
        month += many
        year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return marks


def _moment(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=max(-6e10, min(2e11, seconds)))
