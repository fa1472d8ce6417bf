"""The order in which tools are offered stays as it was; what is new comes last."""

import pytest

from desktop.domain.tools import Tool
from desktop.services.turns.steady import MAX_THREADS, OfferedOrder
from tests.unit.pipeline.kit import FakeTool


def offered(order: OfferedOrder, *names: str, key: str = "t") -> list[str]:
    tools: list[Tool] = [FakeTool(name) for name in names]
    return [tool.spec.name for tool in order.of(key, tools)]


@pytest.mark.spec("R-MOD-3")
def test_new_tools_come_last_and_one_that_was_away_has_its_place_again() -> None:
    order = OfferedOrder()
    assert offered(order, "b", "d") == ["b", "d"]
    assert offered(order, "a", "b", "c", "d") == ["b", "d", "a", "c"]
    assert offered(order, "a", "c", "d") == ["d", "a", "c"]
    assert offered(order, "a", "b", "c", "d") == ["b", "d", "a", "c"]
    assert offered(order, "a", "b", key="another") == ["a", "b"]


def test_it_remembers_the_threads_that_were_asked_lately_alone() -> None:
    order = OfferedOrder()
    offered(order, "b")
    for number in range(MAX_THREADS):
        offered(order, "x", key=str(number))
    assert offered(order, "a", "b") == ["a", "b"]
