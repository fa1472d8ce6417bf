"""When a job is due: cron expressions as cron reads them, in a time zone, over apscheduler's triggers.

apscheduler counts weekdays from Monday and wants day of month *and* weekday where both are given; cron counts from
Sunday and takes either. What is read here is cron's meaning, written down in apscheduler's.
"""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from desktop.domain.errors import ConfigurationError

DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SHORT = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
FIELDS = ("minute", "hour", "day", "month", "weekday")
FAR_YEARS = 10
"""A schedule without a time in so many years has none: apscheduler would look for one until the year 9999."""
MOST_COUNTED = 1_000
"""Times that passed are counted so far: more are "more than"."""
_PART = re.compile(r"(\*|[a-z]{3}|\d{1,2})(?:-([a-z]{3}|\d{1,2}))?(?:/(\d{1,2}))?", re.I)
_HOUR = 3600.0
_LONGEST = 200
_NEXT = "Write five fields: minute, hour, day of month, month, weekday, such as `0 9 * * mon-fri`."


@dataclass(frozen=True, slots=True)
class Passed:
    """Times that are over: the last one, the one before it if there was one, and how many, up to ``MOST_COUNTED``."""

    last: float
    before: float | None
    count: int


@dataclass(slots=True)
class JobTimes:
    """The times of one schedule. Made by ``times_of``. ``every_hour``: the hour that a clock goes back counts twice;
    a job of a fixed hour runs once on that day, as with cron."""

    triggers: tuple[Any, ...]
    zone: tzinfo
    every_hour: bool
    _known: tuple[float, float] | None = None

    def after(self, at: float) -> float | None:
        """The first time later than ``at``; None: there is none."""
        known = self._known  # between two times nothing is computed again: jobs are looked at all day
        if known is not None and known[0] <= at < known[1]:
            return known[1]
        later = [one.timestamp() for one in (self._next(trigger, at) for trigger in self.triggers) if one is not None]
        found = min(later, default=None)
        if found is not None:
            self._known = (at, found)
        return found

    def _next(self, trigger: Any, at: float) -> datetime | None:
        moment = datetime.fromtimestamp(at, UTC).astimezone(self.zone)
        found: datetime | None = trigger.get_next_fire_time(moment, moment)
        while found is not None and found.fold and not self.every_hour:
            found = trigger.get_next_fire_time(found, found)
        return found

    def between(self, begin: float, end: float, most: int) -> list[float]:
        """The times later than ``begin`` and up to ``end``, the first ``most``."""
        found: list[float] = []
        at = self.after(begin)
        while at is not None and at <= end and len(found) < most:
            found.append(at)
            at = self.after(at)
        return found

    def passed(self, begin: float, end: float) -> Passed | None:
        """What of it is later than ``begin`` and not later than ``end``. The last ones are looked for from the end, so
        that a job of every minute that rested for years takes no longer."""
        span, latest = _HOUR, self._latest(begin, end, _HOUR)
        while len(latest) < 2 and end - span > begin:
            span *= 8
            latest = self._latest(begin, end, span)
        if not latest:
            return None
        count = len(self.between(begin, latest[-1], MOST_COUNTED))
        return Passed(latest[-1], latest[-2] if len(latest) > 1 else None, count)

    def _latest(self, begin: float, end: float, span: float) -> list[float]:
        found: list[float] = []
        at = self.after(max(begin, end - span))
        while at is not None and at <= end:
            found = [*found[-1:], at]
            at = self.after(at)
        return found

    def offset(self, at: float) -> float:
        """Seconds that its clock is ahead of UTC at a time."""
        ahead = datetime.fromtimestamp(at, UTC).astimezone(self.zone).utcoffset()
        return ahead.total_seconds() if ahead is not None else 0.0


class ThisMachine(tzinfo):
    """This machine's clock as its C library keeps it, for where nobody can say the name of its time zone."""

    def fromutc(self, dt: datetime) -> datetime:
        """As the clock on the wall shows it."""
        return datetime.fromtimestamp(dt.replace(tzinfo=UTC).timestamp()).replace(tzinfo=self)

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """What it is ahead of UTC then."""
        if dt is None:
            return None
        wall = dt.replace(tzinfo=None)
        return wall.replace(fold=0) - datetime.fromtimestamp(wall.timestamp(), UTC).replace(tzinfo=None)

    def dst(self, dt: datetime | None) -> timedelta | None:
        """Nobody says."""
        return None

    def tzname(self, dt: datetime | None) -> str:
        """Not the name of a time zone."""
        return "this machine"


async def times_of(schedule: str, zone: str) -> JobTimes:
    """Read a schedule. Raises ConfigurationError for what is no cron expression or time zone, or has no time."""
    return await asyncio.to_thread(read_times, schedule, zone)


def read_times(schedule: str, zone: str) -> JobTimes:
    """As ``times_of``. Blocks: it imports apscheduler and reads the time zones."""
    fields = _fields(schedule)
    place = _zone(zone)
    trigger = _trigger_class()
    last = datetime.now(UTC).year + FAR_YEARS
    names = dict(zip(FIELDS, fields, strict=True))
    month, minute, hour = ",".join(months_of(names["month"])), names["minute"], names["hour"]
    weekdays = ",".join(weekdays_of(names["weekday"]))
    day = names["day"]
    if re.search(r"[a-z]", f"{minute} {hour} {day}", re.I):  # apscheduler reads words there that cron has not
        raise ConfigurationError(f"{schedule!r} is no schedule: only months and weekdays have names.", next_step=_NEXT)
    if day[0] != "*" and names["weekday"][0] != "*":
        pairs = [(day, "*"), ("*", weekdays)]
    else:
        pairs = [(day, weekdays)]
    try:
        made = tuple(
            trigger(
                year=f"1970-{last}", month=month, day=on, day_of_week=weekday, hour=hour,
                minute=minute, timezone=place,
            )
            for on, weekday in pairs
        )  # fmt: skip
    except (ValueError, TypeError) as error:
        said = str(error).rpartition(": ")[2].rstrip(".")
        raise ConfigurationError(f"{schedule!r} is no schedule: {said}.", next_step=_NEXT) from error
    times = JobTimes(made, place, hour[0] == "*")
    if times.after(datetime.now(UTC).timestamp()) is None:
        raise ConfigurationError(f"{schedule!r} never comes.", next_step="Choose another day or month.")
    return times


def _trigger_class() -> Any:
    """apscheduler takes 0.1 s to import: only in a thread, and only where there is a job."""
    return importlib.import_module("apscheduler.triggers.cron").CronTrigger


def _fields(schedule: str) -> Sequence[str]:
    text = SHORT.get(schedule.strip().lower(), schedule)
    fields = text.split() if len(text) <= _LONGEST else []
    if len(fields) != len(FIELDS):
        raise ConfigurationError(f"{schedule[:60]!r} is no schedule: it has not five fields.", next_step=_NEXT)
    for name, value in zip(FIELDS, fields, strict=True):
        if re.search(r"[^0-9a-zA-Z*,/-]", value):
            raise ConfigurationError(f"{value!r} is no {name}.", next_step=_NEXT)
    return fields


def _zone(name: str) -> tzinfo:
    if not name:
        return _this_machine()
    if name == "UTC":
        return UTC
    try:
        return importlib.import_module("zoneinfo").ZoneInfo(name)  # type: ignore[no-any-return]  # where it is wanted
    except (KeyError, ValueError, OSError) as error:  # a ZoneInfoNotFoundError is a KeyError
        raise ConfigurationError(f"There is no time zone {name[:60]!r}.", next_step="As in Europe/Berlin.") from error


def _this_machine() -> tzinfo:
    """Its time zone; where that has no name, or none that is known here, its clock."""
    try:
        return importlib.import_module("tzlocal").get_localzone()  # type: ignore[no-any-return]
    except (KeyError, ValueError, OSError):  # TZ=CET-1CEST,…, a name that is none, no database of time zones
        return ThisMachine()


def weekdays_of(text: str) -> list[str]:
    """The weekdays of a cron field by name, from Sunday; "*" alone stays. Raises ConfigurationError."""
    return [DAYS[day] if isinstance(day, int) else day for day in _values(text, "weekday", DAYS, 0)]


def months_of(text: str) -> list[str]:
    """The months of a cron field by number; "*" alone stays. Raises ConfigurationError."""
    return [str(month) for month in _values(text, "month", MONTHS, 1)]


def _values(text: str, what: str, names: Sequence[str], low: int) -> list[int] | list[str]:
    """Numbers of a field in which names stand for numbers from ``low``; ranges may go over the end."""
    if text == "*":
        return ["*"]
    return sorted({value for part in text.split(",") for value in _part(part, what, names, low)})


def _part(part: str, what: str, names: Sequence[str], low: int) -> Iterator[int]:
    match = _PART.fullmatch(part)
    if match is None or (match[1] == "*" and match[2]):
        raise ConfigurationError(f"{part!r} is no {what}.", next_step=_NEXT)
    step, high = int(match[3] or 1), low + len(names) - 1
    first = low if match[1] == "*" else _value(match[1], what, names, low)
    to_end = match[1] == "*" or (match[3] and not match[2])
    last = high if to_end else _value(match[2] or match[1], what, names, low)
    if last < first:
        last += len(names)
    if step == 0:
        raise ConfigurationError(f"{part!r} is no {what}: it goes in steps of nothing.", next_step=_NEXT)
    return (low + (value - low) % len(names) for value in range(first, last + 1, step))


def _value(text: str, what: str, names: Sequence[str], low: int) -> int:
    """7 is Sunday too."""
    if text.isdigit() and low <= int(text) <= len(names):
        return int(text)
    if text.lower() in names:
        return low + names.index(text.lower())
    raise ConfigurationError(f"{text!r} is no {what}.", next_step=_NEXT)
