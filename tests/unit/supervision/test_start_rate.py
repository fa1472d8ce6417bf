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
    now[0] = 160.0
    rate.start("helper")
    with pytest.raises(LimitReached):
        rate.start("helper")
