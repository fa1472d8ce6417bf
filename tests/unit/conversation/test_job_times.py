"""Cron expressions mean what they mean to cron, in the zone that was chosen."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from desktop.conversation.job_times import read_times, times_of
from desktop.domain.errors import ConfigurationError

BERLIN = ZoneInfo("Europe/Berlin")
SATURDAY = datetime(2026, 11, 21, 12, tzinfo=BERLIN).timestamp()


def following(schedule: str, after: float = SATURDAY, count: int = 3) -> list[str]:
    times = read_times(schedule, "Europe/Berlin")
    return [f"{datetime.fromtimestamp(at, BERLIN):%a %d %b %H:%M %z}" for at in times.between(after, 9e9, count)]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("0 9 * * 1-5", ["Mon 23 Nov 09:00", "Tue 24 Nov 09:00", "Wed 25 Nov 09:00"]),
        ("0 9 * * mon-fri", ["Mon 23 Nov 09:00", "Tue 24 Nov 09:00", "Wed 25 Nov 09:00"]),
        ("0 12 * * 0", ["Sun 22 Nov 12:00", "Sun 29 Nov 12:00", "Sun 06 Dec 12:00"]),
        ("0 12 * * 7", ["Sun 22 Nov 12:00", "Sun 29 Nov 12:00", "Sun 06 Dec 12:00"]),
        ("0 12 * * 5-7", ["Sun 22 Nov 12:00", "Fri 27 Nov 12:00", "Sat 28 Nov 12:00"]),
        ("0 12 * * SAT-mon", ["Sun 22 Nov 12:00", "Mon 23 Nov 12:00", "Sat 28 Nov 12:00"]),
        ("0 0 * * */2", ["Sun 22 Nov 00:00", "Tue 24 Nov 00:00", "Thu 26 Nov 00:00"]),
        ("0 0 13 * 5", ["Fri 27 Nov 00:00", "Fri 04 Dec 00:00", "Fri 11 Dec 00:00"]),
        ("0 0 1,15 * *", ["Tue 01 Dec 00:00", "Tue 15 Dec 00:00", "Fri 01 Jan 00:00"]),
        ("*/20 * * * *", ["Sat 21 Nov 12:20", "Sat 21 Nov 12:40", "Sat 21 Nov 13:00"]),
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
        ("", "", "five fields"), ("x", "", "five fields"), ("* * * *", "", "five fields"), ("60 * * * *", "", "60"),
        ("0 24 * * *", "", "24"), ("0 0 0 * *", "", "0"), ("0 0 31 2 *", "", "never comes"), ("0 0 * * 8", "", "8"),
        ("0 0 * * 1-5/0", "", "steps of nothing"), ("0 0 * * fre", "", "fre"), ("0 0 L * *", "", "is no schedule"),
        ("*;rm * * * *", "", "minute"), ("1," * 300 + "1 * * * *", "", "five fields"),
        ("0 9 * * *", "Mars/Olympus", "no time zone"), ("0 9 * * *", "../../etc/passwd", "no time zone"),
    ],
)  # fmt: skip
async def test_what_is_no_schedule_is_refused_in_words(schedule: str, zone: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        await times_of(schedule, zone)


async def test_without_a_zone_this_machines_clock_counts() -> None:
    assert (await times_of("0 9 * * *", "")).after(SATURDAY) is not None
