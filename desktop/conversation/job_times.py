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
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from desktop.domain.errors import ConfigurationError

DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
SHORT = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
FIELDS = ("minute", "hour", "day", "month", "weekday")
FAR_YEARS = 10
"""A schedule without a time in so many years has none: apscheduler would look for one until the year 9999."""
_PART = re.compile(r"(\*|[a-z]{3}|\d)(?:-([a-z]{3}|\d))?(?:/(\d{1,2}))?", re.I)
_LONGEST = 200
_NEXT = "Write five fields: minute, hour, day of month, month, weekday, such as `0 9 * * mon-fri`."


@dataclass(frozen=True, slots=True)
class JobTimes:
    """The times of one schedule. Made by ``times_of``. ``every_hour``: the hour that a clock goes back counts twice;
    a job of a fixed hour runs once on that day, as with cron."""

    triggers: tuple[Any, ...]
    zone: tzinfo
    every_hour: bool

    def after(self, at: float) -> float | None:
        """The first time later than ``at``; None: there is none."""
        later = [one.timestamp() for one in (self._next(trigger, at) for trigger in self.triggers) if one is not None]
        return min(later, default=None)

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
    month, minute, hour = names["month"].lower(), names["minute"], names["hour"]
    weekdays = ",".join(weekdays_of(names["weekday"]))
    day = names["day"]
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
        return importlib.import_module("tzlocal").get_localzone()  # type: ignore[no-any-return]
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigurationError(f"There is no time zone {name[:60]!r}.", next_step="As in Europe/Berlin.") from error


def weekdays_of(text: str) -> list[str]:
    """The weekdays of a cron field by name, from Sunday; "*" alone stays. Raises ConfigurationError."""
    if text == "*":
        return ["*"]
    found = {day for part in text.split(",") for day in _part(part)}
    return [DAYS[day] for day in sorted(found)]


def _part(part: str) -> Iterator[int]:
    match = _PART.fullmatch(part)
    if match is None or (match[1] == "*" and match[2]):
        raise ConfigurationError(f"{part!r} is no weekday.", next_step=_NEXT)
    step = int(match[3] or 1)
    first = 0 if match[1] == "*" else _day(match[1])
    last = 6 if match[1] == "*" or (match[3] and not match[2]) else _day(match[2] or match[1])
    if last < first:
        last += 7
    if step == 0:
        raise ConfigurationError(f"{part!r} is no weekday: it goes in steps of nothing.", next_step=_NEXT)
    return (day % 7 for day in range(first, last + 1, step))


def _day(text: str) -> int:
    if text.isdigit() and int(text) <= 7:
        return int(text)
    if text.lower() in DAYS:
        return DAYS.index(text.lower())
    raise ConfigurationError(f"{text!r} is no weekday.", next_step=_NEXT)
