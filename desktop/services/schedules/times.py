"""When a job is due: cron expressions as cron reads them, in a time zone.

cronsim says which minutes of a calendar an expression means. Which moments those are where a clock is put forward or
back is decided here: no run is lost, and none of a fixed hour comes twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from desktop.domain.errors import ConfigurationError
from desktop.domain.loading.lazy import lazy_module
from desktop.domain.loading.lazy_dataclass import dataclass

# 0.5 MB: in a thread, and only where there is a job.
if TYPE_CHECKING:
    import zoneinfo

    import cronsim
    import cronsim.cronsim as cronsim_fields
    import tzlocal
else:
    zoneinfo = lazy_module("zoneinfo")
    cronsim = lazy_module("cronsim")
    cronsim_fields = lazy_module("cronsim.cronsim")
    tzlocal = lazy_module("tzlocal")

SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
FIELDS = ("minute", "hour", "day", "month", "weekday")
MAX_COUNTED = 1_000
"""Times that passed are counted so far: more are "more than"."""
CYCLES = {"month": (1, 12), "weekday": (0, 6)}
"""First and last number of the fields whose ranges may go over the end, such as ``fri-sun``."""
CHANGE_S = 3 * 3600.0
"""No clock is put forward or back by more, but where a place changes the side of the date line."""
_HOUR = 3600.0
_LONGEST = 200
_NEXT = "Write five fields: minute, hour, day of month, month, weekday, such as `0 9 * * mon-fri`."


@dataclass(frozen=True, slots=True)
class Passed:
    """Times that are over: the last one, the one before it if there was one, and how many, up to ``MAX_COUNTED``."""

    last: float
    before: float | None
    count: int


@dataclass(slots=True)
class JobTimes:
    """The times of one schedule, made by ``times_of``.

    A time that a clock leaves out comes as much later as the clock was put forward. ``every_hour``: of an hour that
    comes twice both count; a job of a fixed hour runs once on that day, as with cron.
    """

    expression: str
    zone: tzinfo
    every_hour: bool
    _known: tuple[float, float] | None = None

    def after(self, at: float) -> float | None:
        """The first time later than ``at``; None: there is none."""
        known = self._known  # between two times nothing is computed again: jobs are looked at all day
        if known is not None and known[0] <= at < known[1]:
            return known[1]
        found = self._first(at, around=self._changes(at))
        if found is not None and self._changes(found):
            found = self._first(at, around=True)
        if found is not None:
            self._known = (at, found)
        return found

    def _first(self, at: float, *, around: bool) -> float | None:
        """The first time after ``at``. ``around``: the clock changes near by, so that what the calendar has later may
        come earlier."""
        wall, window = self._wall(at), timedelta(seconds=CHANGE_S if around else 0)
        best: float | None = None
        for minute in _calendar(self.expression, wall - window):
            if best is not None and minute >= self._wall(best) + window:
                break
            for moment in self._moments(minute):
                if moment > at and (best is None or moment < best):
                    best = moment
        return best

    def _moments(self, minute: datetime) -> Sequence[float]:
        """When a clock there shows that minute: once or twice. One that is left out comes later by what is left out."""
        first = minute.replace(tzinfo=self.zone).timestamp()
        if not self.every_hour or not self._changes(first):
            return (first,)
        again = minute.replace(tzinfo=self.zone, fold=1).timestamp()
        return (first, again) if again > first else (first,)

    def _wall(self, at: float) -> datetime:
        return datetime.fromtimestamp(at, UTC).astimezone(self.zone).replace(tzinfo=None)

    def _changes(self, at: float) -> bool:
        return self.offset(at - CHANGE_S) != self.offset(at + CHANGE_S)

    def between(self, begin: float, end: float, maximum: int) -> list[float]:
        """The times later than ``begin`` and up to ``end``, the first ``maximum``."""
        found: list[float] = []
        at = self.after(begin)
        while at is not None and at <= end and len(found) < maximum:
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
        count = len(self.between(begin, latest[-1], MAX_COUNTED))
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
        """The local time that the machine's clock shows."""
        return datetime.fromtimestamp(dt.replace(tzinfo=UTC).timestamp()).replace(tzinfo=self)

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """How far this computer's time is ahead of UTC at ``dt``."""
        if dt is None:
            return None
        wall = dt.replace(tzinfo=None)
        return wall.replace(fold=0) - datetime.fromtimestamp(wall.timestamp(), UTC).replace(tzinfo=None)

    def dst(self, dt: datetime | None) -> timedelta | None:
        """None: this clock does not say whether summer time holds."""
        return None

    def tzname(self, dt: datetime | None) -> str:
        """A name for error texts; it is not the name of a time zone."""
        return "this machine"


async def times_of(schedule: str, zone: str) -> JobTimes:
    """Read a schedule. Raises ConfigurationError for what is no cron expression or time zone, or has no time."""
    return await asyncio.to_thread(read_times, schedule, zone)


def read_times(schedule: str, zone: str) -> JobTimes:
    """Read a schedule, like ``times_of``. Blocks: it imports cronsim and reads the time zones."""
    fields = _fields(schedule)
    place = _zone(zone)
    expression = " ".join(fields)
    try:
        _calendar(expression, datetime(1970, 1, 1))
    except cronsim.CronSimError:  # each field alone is right: a day that none of the months has
        raise _never_comes(schedule) from None
    times = JobTimes(expression, place, fields[1].startswith("*"))
    if times.after(datetime.now(UTC).timestamp()) is None:
        raise _never_comes(schedule)
    return times


def _never_comes(schedule: str) -> ConfigurationError:
    return ConfigurationError(f"{schedule!r} never comes.", next_step="Choose another day or month.")


def _calendar(expression: str, begin: datetime) -> Iterator[datetime]:
    """The minutes later than ``begin`` of a calendar without a zone. Raises CronSimError."""
    return iter(cronsim.CronSim(expression, begin))


def _fields(schedule: str) -> list[str]:
    """Five fields that cronsim reads. Raises ConfigurationError naming the field that is wrong."""
    text = SHORT.get(schedule.strip().lower(), schedule)
    fields = text.split() if len(text) <= _LONGEST else []
    if len(fields) != len(FIELDS):
        raise ConfigurationError(f"{schedule[:60]!r} is no schedule: it needs five fields.", next_step=_NEXT)
    return [_field(at, value) for at, value in enumerate(fields)]


def _field(at: int, value: str) -> str:
    name = FIELDS[at]
    wrong = ConfigurationError(f"{value!r} is no {name}.", next_step=_NEXT)
    allowed = r"[0-9a-z*,/-]+" if name in CYCLES else r"[0-9*,/-]+"  # cronsim's letters are an extension of cron
    if not re.fullmatch(allowed, value, re.I):
        raise wrong
    alone = ["*"] * len(FIELDS)
    try:
        if name in CYCLES:
            value = ",".join(_unrolled(part, at) for part in value.split(","))
        alone[at] = value
        _calendar(" ".join(alone), datetime(1970, 1, 1))
    except cronsim.CronSimError:
        raise wrong from None
    return value


def _unrolled(part: str, at: int) -> str:
    """A range over the end of the week or the year as the numbers that it means; anything else as it is. Raises
    CronSimError."""
    span, _, step = part.partition("/")
    first, dash, last = span.partition("-")
    if not dash:
        return part
    field = cronsim_fields.Field(at + 1)  # its first one are seconds
    low, high = CYCLES[FIELDS[at]]
    begin, end = field.int(first.upper()), field.int(last.upper())
    if begin <= end:
        return part
    if begin > high:  # Sunday as 7
        return part.replace(first, str(low), 1)
    if step and not (step.isdecimal() and int(step)):
        raise cronsim.CronSimError(step)
    values = [*range(begin, high + 1), *range(low, end + 1)]
    return ",".join(str(value) for value in values[:: int(step or 1)])


def _zone(name: str) -> tzinfo:
    if not name:
        return _this_machine()
    if name == "UTC":
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # a ZoneInfoNotFoundError is a KeyError
        raise ConfigurationError(f"There is no time zone {name[:60]!r}.", next_step="Such as Europe/Berlin.") from error


def _this_machine() -> tzinfo:
    """This machine's time zone; where it has no name, or none that is known here, its clock."""
    try:
        return tzlocal.get_localzone()
    except (KeyError, ValueError, OSError):  # TZ=CET-1CEST,…, a name that is none, no database of time zones
        return ThisMachine()
