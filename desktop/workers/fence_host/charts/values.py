"""Values of a chart's rows: numbers, times, and what many come to."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from desktop.workers.fence_host.undrawn import NotDrawn

Row = dict[str, Any]
_FORMATS = (
    "%b %d %Y",
    "%B %d, %Y %H:%M:%S",
    "%a, %d %b %Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%z",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%b %Y",
    "%B %Y",
    "%Y-%m",
    "%Y",
    "%H:%M",
)
_LATEST_YEAR = 3_000
GREATEST = 1e100
LATEST = 1e14
"""Milliseconds from 1970 within which a time is one: some 3,000 years."""
_AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum,
    "mean": statistics.fmean,
    "average": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
}
_UNITS = {
    "year": "%Y",
    "yearquarter": "",
    "yearmonth": "%Y-%m",
    "yearmonthdate": "%Y-%m-%d",
    "month": "%m",
    "date": "%d",
    "hours": "%H",
    "quarter": "",
    "day": "%w",
}
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_DAYS = "Sun Mon Tue Wed Thu Fri Sat".split()


def number(value: Any) -> float | None:
    """As a number; None for what is none, is not finite, or too great to be summed."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if abs(found) < GREATEST else None


def moment(value: Any) -> float | None:
    """As seconds since 1970: a date as text, milliseconds, or a year."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if 0 < value < _LATEST_YEAR and float(value).is_integer():
            return datetime(int(value), 1, 1, tzinfo=UTC).timestamp()
        return value / 1000 if abs(value) < LATEST else None
    if not isinstance(value, str) or len(value) > 60:
        return None
    text = value.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = next((made for made in (_as(text, form) for form in _FORMATS) if made is not None), None)  # type: ignore[assignment]
    if found is None:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _as(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def word(value: Any) -> str:
    """As a category, as it is written."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).casefold()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)[:120]


def unit_of(value: Any, unit: str) -> str:
    """The part of a time that counts, as a category that sorts. Raises NotDrawn for a unit that is not known here."""
    unit = unit.removeprefix("utc")
    if unit not in _UNITS:
        raise NotDrawn(f"It takes times by {unit[:40]}, which is not drawn here.")
    seconds = moment(value)
    if seconds is None:
        return "null"
    at = datetime.fromtimestamp(seconds, UTC)
    if unit == "month":
        return _MONTHS[at.month - 1]
    if unit == "day":
        return _DAYS[(at.weekday() + 1) % 7]
    if unit in ("quarter", "yearquarter"):
        return f"{at.year} Q{(at.month + 2) // 3}" if unit == "yearquarter" else f"Q{(at.month + 2) // 3}"
    return at.strftime(_UNITS[unit])


def order_of(unit: str) -> Sequence[str]:
    """Categories of a unit whose order is not that of their letters."""
    return {"month": _MONTHS, "day": _DAYS}.get(unit.removeprefix("utc"), ())


def aggregated(values: Sequence[Any], how: str) -> float | None:
    """What many values come to. Raises NotDrawn for a way that is not known here."""
    if how == "count":
        return float(len(values))
    if how == "distinct":
        return float(len({word(value) for value in values}))
    if how not in _AGGREGATES:
        raise NotDrawn(f"It takes the {how[:40]} of values, which is not drawn here.")
    found = [known for known in map(number, values) if known is not None]
    return _AGGREGATES[how](found) if found else None
