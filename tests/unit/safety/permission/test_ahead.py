"""What a person allows where an agent asks ahead of a call: that very call, once, and as their own answer."""

from dataclasses import replace

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.tools import PreCheck, StandsFor
from tests.unit.safety.permission.test_gate import Call, GateBench, Person


@pytest.mark.spec("R-ACP-2", "R-PRM-5")
async def test_a_yes_ahead_of_a_call_is_told_as_the_persons_own_and_counts_once_for_exactly_that_call() -> None:
    write = Call()
    assert write.check is not None
    ahead = StandsFor(write.target.spec, write.frozen, write.check)
    asks = Call(tool="acp-asks", check=PreCheck(Category.WRITE, stands_for=ahead))
    bench = GateBench(person := Person("allow_once"))
    assert (await bench.decide(asks)).by == "user"
    first = await bench.decide(replace(write))
    assert (first.allowed, first.by, bench.log[-1].by) == (True, "pledge", "pledge")
    assert len(person.asked) == 1
    again = await bench.decide(replace(write))
    assert (again.by, len(person.asked)) == ("user", 2), "a second one is asked about"
