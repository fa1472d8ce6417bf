"""Cron expressions mean what they mean to cron, in the zone that was chosen."""

import faulthandler
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from desktop.domain.errors import ConfigurationError
from desktop.services.schedules.times import MAX_COUNTED, Passed, ThisMachine, read_times, times_of

BERLIN = ZoneInfo("Europe/Berlin")
SATURDAY = datetime(2026, 11, 21, 12, tzinfo=BERLIN).timestamp()


def following(schedule: str, after: float = SATURDAY, count: int = 3) -> list[str]:
    times = read_times(schedule, "Europe/Berlin")
    return [f"{datetime.fromtimestamp(at, BERLIN):%a %d %b %H:%M %z}" for at in times.between(after, 9e9, count)]


@pytest.mark.spec("S-CRON-1")
@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 9 * * 1-5", ["Mon 23 Nov 09:00", "Tue 24 Nov 09:00", "Wed 25 Nov 09:00"]),
        ("0 9 * * mon-fri", ["Mon 23 Nov 09:00", "Tue 24 Nov 09:00", "Wed 25 Nov 09:00"]),
        ("0 12 * * 0", ["Sun 22 Nov 12:00", "Sun 29 Nov 12:00", "Sun 06 Dec 12:00"]),
        ("0 12 * * 7", ["Sun 22 Nov 12:00", "Sun 29 Nov 12:00", "Sun 06 Dec 12:00"]),
        ("0 12 * * 5-7", ["Sun 22 Nov 12:00", "Fri 27 Nov 12:00", "Sat 28 Nov 12:00"]),
        ("0 12 * * fri-sun", ["Sun 22 Nov 12:00", "Fri 27 Nov 12:00", "Sat 28 Nov 12:00"]),
        ("0 12 * * 7-1", ["Sun 22 Nov 12:00", "Mon 23 Nov 12:00", "Sun 29 Nov 12:00"]),
        ("0 12 * * SAT-mon", ["Sun 22 Nov 12:00", "Mon 23 Nov 12:00", "Sat 28 Nov 12:00"]),
        ("0 0 * * */2", ["Sun 22 Nov 00:00", "Tue 24 Nov 00:00", "Thu 26 Nov 00:00"]),
        ("0 0 13 * 5", ["Fri 27 Nov 00:00", "Fri 04 Dec 00:00", "Fri 11 Dec 00:00"]),
        ("0 0 1,15 * *", ["Tue 01 Dec 00:00", "Tue 15 Dec 00:00", "Fri 01 Jan 00:00"]),
        ("*/20 * * * *", ["Sat 21 Nov 12:20", "Sat 21 Nov 12:40", "Sat 21 Nov 13:00"]),
        ("0 0 1 jan,JUN *", ["Fri 01 Jan 00:00", "Tue 01 Jun 00:00", "Sat 01 Jan 00:00"]),
        ("0 0 1 jan-jun/2 *", ["Fri 01 Jan 00:00", "Mon 01 Mar 00:00", "Sat 01 May 00:00"]),
        ("0 0 1 oct/2 *", ["Tue 01 Dec 00:00", "Fri 01 Oct 00:00", "Wed 01 Dec 00:00"]),
        ("0 0 1 */4 *", ["Fri 01 Jan 00:00", "Sat 01 May 00:00", "Wed 01 Sep 00:00"]),
        ("0 0 1 11-2/3 *", ["Mon 01 Feb 00:00", "Mon 01 Nov 00:00", "Tue 01 Feb 00:00"]),
        ("0 0 1 12 *", ["Tue 01 Dec 00:00", "Wed 01 Dec 00:00", "Fri 01 Dec 00:00"]),
        ("@weekly", ["Sun 22 Nov 00:00", "Sun 29 Nov 00:00", "Sun 06 Dec 00:00"]),
    ],
)
def test_an_expression_means_what_it_means_to_cron(schedule: str, expected: list[str]) -> None:
    assert [text.rpartition(" ")[0] for text in following(schedule)] == expected


def test_day_of_month_and_weekday_together_mean_either() -> None:
    assert "Sun 13 Dec 00:00 +0100" in following("0 0 13 * 5", count=5)


def test_an_hour_that_a_clock_leaves_out_is_made_up_for_and_one_that_comes_twice_counts_once() -> None:
    spring = datetime(2026, 3, 28, 12, tzinfo=BERLIN).timestamp()
    autumn = datetime(2026, 10, 24, 12, tzinfo=BERLIN).timestamp()
    assert following("30 2 * * *", spring, 2) == ["Sun 29 Mar 03:30 +0200", "Mon 30 Mar 02:30 +0200"]
    assert following("30 2 * * *", autumn, 2) == ["Sun 25 Oct 02:30 +0200", "Mon 26 Oct 02:30 +0100"]
    night = datetime(2026, 10, 25, 2, 0, tzinfo=BERLIN).timestamp()
    assert following("30 * * * *", night, 2) == ["Sun 25 Oct 02:30 +0200", "Sun 25 Oct 02:30 +0100"]


@pytest.mark.parametrize(
    ("schedule", "zone", "said"),
    [
        ("", "", "five fields"),
        ("x", "", "five fields"),
        ("* * * *", "", "five fields"),
        ("60 * * * *", "", "60"),
        ("0 24 * * *", "", "24"),
        ("0 0 0 * *", "", "0"),
        ("0 0 31 2 *", "", "never comes"),
        ("0 0 * * 8", "", "8"),
        ("0 0 * * 1-5/0", "", "no weekday"),
        ("0 0 * * fre", "", "fre"),
        ("0 0 L * *", "", "no day"),
        *(
            (f"0 9 1 {month} *", "", "no month")
            for month in ("mar-", "jan9", "feb-apr-dec", "0", "13", "janu", "jan-", "*-3", "first", "/2")
        ),
        ("0 9 1 jan/0 *", "", "no month"),
        ("0 0 * * fri-mon/0", "", "no weekday"),
        ("0 9 1 */13x *", "", "no month"),
        *((f"0 9 {day} * *", "", "no day") for day in ("last", "last-5", "last/2", "lastfoo", "1st", "32", "5-1")),
        ("last 9 * * *", "", "no minute"),
        ("0 9 * * 1-9", "", "no weekday"),
        ("0 9 * * 10", "", "no weekday"),
        ("*;rm * * * *", "", "minute"),
        ("1," * 300 + "1 * * * *", "", "five fields"),
        ("0 9 * * *", "Mars/Olympus", "no time zone"),
        ("0 9 * * *", "../../etc/passwd", "no time zone"),
    ],
)
async def test_what_is_no_schedule_is_refused_in_words(schedule: str, zone: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        await times_of(schedule, zone)


def test_without_a_zone_this_machines_clock_counts() -> None:
    code = "from desktop.services.schedules.times import read_times; print(read_times('0 9 * * *', '').after(%r))"
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    done = subprocess.run([sys.executable, "-c", code % SATURDAY], env=environment, capture_output=True, text=True)
    at = datetime.fromtimestamp(float(done.stdout), ZoneInfo("Asia/Tokyo"))
    assert f"{at:%a %d %b %H:%M}" == "Sun 22 Nov 09:00"


def test_what_passed_is_found_from_its_end_however_long_ago_it_began() -> None:
    minutely, yearly = read_times("* * * * *", "UTC"), read_times("0 0 29 2 *", "UTC")
    now = datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC).timestamp()
    assert minutely.passed(now - 10 * 365 * 86_400, now) == Passed(now - 30, now - 90, MAX_COUNTED)
    assert minutely.passed(now - 151, now) == Passed(now - 30, now - 90, 3)
    assert minutely.passed(now - 40, now) == Passed(now - 30, None, 1)
    assert minutely.passed(now - 30, now) is None
    leap, before = (datetime(year, 2, 29, tzinfo=UTC).timestamp() for year in (2024, 2020))
    assert yearly.passed(0, now) == Passed(leap, before, 14)
    assert yearly.passed(leap, now) is None


def test_a_time_that_is_known_is_that_of_every_moment_before_it() -> None:
    times = read_times("0 9,17 * * *", "Europe/Berlin")
    hours = [times.after(SATURDAY + hour * 3600) for hour in (0, 4, 5, 30, 4, -4, -3, 0)]
    assert [datetime.fromtimestamp(at or 0, BERLIN).strftime("%d %H") for at in hours] == [
        "21 17",
        "21 17",
        "22 09",
        "23 09",
        "21 17",
        "21 09",
        "21 17",
        "21 17",
    ]
    assert (times.offset(SATURDAY), times.offset(SATURDAY - 120 * 86_400)) == (3600, 7200)


CLOCK = """
import sys
from datetime import UTC, datetime
from desktop.services.schedules.times import ThisMachine, read_times
if sys.argv[1] == "none":
    sys.modules["tzdata"] = None
times = read_times("30 2 * * *", "")
for month, day in ((3, 28), (10, 24), (10, 25), (12, 1)):
    at = times.after(datetime(2026, month, day, 12, tzinfo=UTC).timestamp())
    print(datetime.fromtimestamp(at, UTC).strftime("%d %H:%M"), end=" ")
print(type(times.zone) is ThisMachine, read_times("0 9 * * *", "UTC").zone)
"""


@pytest.mark.parametrize(
    ("zone", "database", "said"),
    [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "some", "29 01:30 25 00:30 26 01:30 02 01:30 True UTC"),
        ("<+03>-3", "some", "28 23:30 24 23:30 25 23:30 01 23:30 True UTC"),
        ("Foo/Bar", "some", "29 02:30 25 02:30 26 02:30 02 02:30 True UTC"),
        ("Europe/Berlin", "some", "29 01:30 25 00:30 26 01:30 02 01:30 False UTC"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "none", "29 01:30 25 00:30 26 01:30 02 01:30 True UTC"),
    ],
)
def test_a_machine_whose_time_zone_has_no_name_here_keeps_to_its_clock(zone: str, database: str, said: str) -> None:
    env = {**os.environ, "TZ": zone} | ({"PYTHONTZPATH": ""} if database == "none" else {})
    ran = subprocess.run(
        [sys.executable, "-c", CLOCK, database], env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.stdout.strip(), ran.stderr) == (said, "")


def test_the_clock_of_a_machine_counts_an_hour_that_comes_twice_twice() -> None:
    zone = ThisMachine()
    for at in (SATURDAY, SATURDAY + 0.25, 0.0):
        moment = datetime.fromtimestamp(at, zone)
        assert (moment.timestamp(), zone.tzname(moment)) == (at, "this machine")
        assert moment.replace(tzinfo=None) == datetime.fromtimestamp(at)


ZONES = (
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Africa/Casablanca",
    "America/St_Johns",
    "Pacific/Auckland",
    "Antarctica/Troll",
    "Asia/Tehran",
    "UTC",
)
CHANGING = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
ORDINARY = tuple(
    f"{minute} {hour} {days}"
    for minute, hour in (
        ("0", "0"),
        ("30", "1"),
        ("0", "2"),
        ("30", "2"),
        ("0", "3"),
        ("*/15", "*"),
        ("0", "*"),
        ("0", "*/2"),
        ("0,30", "1-3"),
        ("0", "9-17"),
        ("*/20", "2"),
        ("45", "23"),
    )
    for days in ("* * *", "1 * *", "* * 1-5", "* * 0", "1,15 * *", "13 * 5", "* 3,10 *", "*/2 * *")
)


def minutes_of(begin: datetime, end: datetime) -> range:
    return range(int(begin.replace(tzinfo=UTC).timestamp()), int(end.replace(tzinfo=UTC).timestamp()), 60)


TWO_YEARS = minutes_of(datetime(2025, 1, 1), datetime(2027, 1, 1))
CHANGES = (
    minutes_of(datetime(2026, 3, 14), datetime(2026, 4, 8)),
    minutes_of(datetime(2026, 9, 26), datetime(2026, 11, 8)),
)
AWAY = 6 * 3600


def numbers(field: str, low: int, high: int) -> set[int]:
    """What a field of these schedules means, written out."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def walked(schedule: str, walls: list[tuple[int, datetime]]) -> dict[float, datetime]:
    """Every minute whose clock shows what the schedule says, with what it shows."""
    minute, hour, day, month, weekday = schedule.split()
    minutes, hours, months = numbers(minute, 0, 59), numbers(hour, 0, 23), numbers(month, 1, 12)
    days, weekdays = numbers(day, 1, 31), numbers(weekday, 0, 6)
    either = day[0] != "*" and weekday[0] != "*"
    on: dict[tuple[int, int, int], bool] = {}
    found = {}
    for at, wall in walls:
        if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
            continue
        key = (wall.year, wall.month, wall.day)
        if key not in on:
            both = (wall.day in days, wall.isoweekday() % 7 in weekdays)
            on[key] = any(both) if either else all(both)
        if on[key]:
            found[float(at)] = wall
    return found


def wrong_runs(zone: str, span: range, schedules: Sequence[str] = ORDINARY) -> list[str]:
    """Runs that are lost, come too often, or come where no clock was changed."""
    walls = [(at, datetime.fromtimestamp(at, ZoneInfo(zone))) for at in span]
    steps = zip(walls[1:], walls, strict=False)
    shifts = [at for (at, wall), (_, before) in steps if wall.utcoffset() != before.utcoffset()]
    wrong = []
    for schedule in schedules:
        times = read_times(schedule, zone)
        found = times.between(span[0] - 1, span[-1], len(span))
        known, plain = set(found), walked(schedule, walls)
        lost = [wall for at, wall in plain.items() if at not in known and (times.every_hour or not wall.fold)]
        extra = [at for at in known - plain.keys() if not any(0 <= at - shift < AWAY for shift in shifts)]
        twice = [at for at in found if at in plain and plain[at].fold and not times.every_hour]
        if lost or extra or twice or found != sorted(known):
            wrong.append(f"{schedule} in {zone}: lost {lost[:3]}, too many {extra[:3]}, twice {twice[:3]}")
    return wrong


@pytest.mark.parametrize("span", CHANGES, ids=("spring", "autumn"))
@pytest.mark.parametrize("zone", CHANGING)
def test_no_ordinary_schedule_loses_a_run_where_the_clock_changes(zone: str, span: range) -> None:
    """Each schedule over each change in one of the zones; the walk below has every one in all of them."""
    assert wrong_runs(zone, span, ORDINARY[CHANGING.index(zone) :: len(CHANGING)]) == []


@pytest.mark.soak
@pytest.mark.parametrize("zone", ZONES)
def test_no_ordinary_schedule_loses_a_run_in_two_years(zone: str) -> None:
    faulthandler.cancel_dump_traceback_later()  # a walk over a million minutes takes longer than an ordinary test
    assert wrong_runs(zone, TWO_YEARS) == []


def test_a_monthly_run_at_midnight_comes_in_the_month_whose_clock_changes() -> None:
    begin = datetime(2026, 3, 15, tzinfo=BERLIN).timestamp()
    assert following("0 0 1 * *", begin, 2) == ["Wed 01 Apr 00:00 +0200", "Fri 01 May 00:00 +0200"]
    begin = datetime(2026, 3, 28, 12, tzinfo=BERLIN).timestamp()
    assert following("0 0 * * *", begin, 2) == ["Sun 29 Mar 00:00 +0100", "Mon 30 Mar 00:00 +0200"]
