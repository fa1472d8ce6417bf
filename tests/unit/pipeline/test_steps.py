"""The thirteen steps of a call are one list, in their order."""

from __future__ import annotations

import pytest

from desktop.domain.approval.judgement import Category
from desktop.pipeline.recovery.gate import RecoveryGate
from desktop.pipeline.steps import CallLayer
from tests.unit.pipeline.kit import Bench, FakeTool, Person


class Noting:
    """Middleware that notes when the call goes in and comes out."""

    def __init__(self, noted: list[str], name: str, *, observe_only: bool = False) -> None:
        self.noted, self.name, self.observe_only = noted, name, observe_only

    async def process(self, context, call_next) -> None:
        self.noted.append(f"{self.name} in")
        await call_next()
        self.noted.append(f"{self.name} out")


@pytest.mark.spec("R-INV-1", "R-INV-2", "R-MW-7")
def test_all_steps_stand_in_the_list_in_their_order_and_the_past_is_looked_at_right_before_a_person() -> None:
    steps = Bench(FakeTool(), layers=[Noting([], "mine")]).pipeline.steps
    numbers = [int(one) for step in steps for one in step.number.split(", ") if one]
    assert numbers == list(range(1, 14))
    layers = [step.layer for step in steps if isinstance(step, CallLayer)]
    gate = next(place for place, layer in enumerate(layers) if isinstance(layer, RecoveryGate))
    assert layers[gate + 1] is next(step.layer for step in steps if isinstance(step, CallLayer) and step.number == "10")


@pytest.mark.spec("R-INV-4", "R-MW-2", "R-MW-7")
async def test_a_call_is_taken_through_the_steps_as_they_stand_there() -> None:
    noted: list[str] = []

    def body(_args, _context) -> str:
        noted.append("runs")
        return "done"

    class EffectRequest(Person):
        async def decide(self, call, asking):
            noted.append("person")
            return await super().decide(call, asking)

    layers = [Noting(noted, "first"), Noting(noted, "watches", observe_only=True), Noting(noted, "second")]
    bench = Bench(FakeTool("write-file", Category.WRITE, body=body), person=EffectRequest("allow_once"), layers=layers)
    assert (await bench.call("write-file")).result.text == "done"
    inner = ["first in", "second in", "runs", "second out", "first out"]
    assert noted == ["watches in", "person", *inner, "watches out"]
