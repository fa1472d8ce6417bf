"""No definition is started again and again without end."""

import pytest

from desktop.domain.errors import LimitReached
from desktop.supervision.start_rate import StartRate


def test_ten_starts_a_minute_for_each_definition_and_then_the_next_when_the_first_is_a_minute_old() -> None:
    now = [100.0]
    rate = StartRate(clock=lambda: now[0])
    for _ in range(10):
        rate.start("helper")
        now[0] += 1
    with pytest.raises(LimitReached, match="helper was started 10 times within a minute: starts a minute 10") as caught:
        rate.start("helper")
    assert caught.value.next_step == "Wait 50 s, or do the work without it."
    rate.start("other")
    rate.start_skill("helper")
    now[0] = 160.0
    rate.start("helper")
    with pytest.raises(LimitReached):
        rate.start("helper")


async def test_whoever_starts_counts_and_beyond_it_a_model_is_refused_a_job_waits_and_a_person_goes_on() -> None:
    now, slept = [0.0], []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    rate = StartRate(lambda: 2, lambda: 3, clock=lambda: now[0], sleep=sleep)
    for _ in range(5):
        rate.count("helper")
        now[0] += 1
    assert rate.full("helper")
    with pytest.raises(LimitReached):
        rate.start("helper")
    await rate.turn("helper")
    assert (now[0], rate.full("helper")) == (pytest.approx(63.0), True), "the last but one of a person was a minute ago"
    assert max(slept) <= 1.0, "the limit may be raised meanwhile"
    for _ in range(3):
        rate.start_skill("summarise")
    with pytest.raises(LimitReached, match="summarise was started 3 times"):
        rate.start_skill("summarise")
