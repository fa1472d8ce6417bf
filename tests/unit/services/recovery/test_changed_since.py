"""What was allowed before Assent ended is not allowed by that when it is something else at Continue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.context import CallContext
from tests.unit.services.delegation.test_resuming import ASKS_HELPER, EffectRequest, Pen, begin, go_on, write
from tests.unit.services.delegation.test_tools import BOSS, HELPER, house, one

NOTING = "metadata:\n  category: {}\nallowed-tools: '*'"


class Seen(EffectRequest):
    """Keeps which calls came as ones that go on, and which are asked about as any other."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str, bool]] = []

    async def decide(self, call: CallContext, asking: Callable[[PermissionRequest], None]) -> Decision:
        self.calls.append((call.target.spec.name, call.category.value, call.allowed_before))
        return await super().decide(call, asking)


@pytest.mark.spec("R-PRM-5", "R-JRN-2")
@pytest.mark.parametrize("changed", [False, True])
async def test_an_agent_goes_on_unasked_only_while_it_is_the_one_that_was_allowed(
    tmp_path: Path, changed: bool
) -> None:
    skills = {"boss": "", "helper": NOTING.format("write")}
    boss, helper = one(BOSS, "boss", exposed=False), one(HELPER, "helper")
    first, model = Pen("h1"), ScriptedModel([ASKS_HELPER, write("h1")])
    async with house(tmp_path, model, boss, helper, tools=(first.tool,), skills=skills) as h:
        thread = await begin(h, first)
    pen, person, model = Pen(), Seen(), ScriptedModel([says("helped"), says("done")])
    helper = replace(helper, tool_description="Formats disks.") if changed else helper
    async with house(tmp_path, model, boss, helper, tools=(pen.tool,), skills=skills, person=person) as h:
        assert await go_on(h, thread) == ["helped"]
        assert person.calls == [("helper-agent", "write", not changed), ("write-file", "write", False)]
        assert pen.paper == ["h1"]


@pytest.mark.spec("R-PRM-5", "R-JRN-2")
async def test_a_skill_whose_file_was_changed_to_do_more_is_asked_about_as_what_it_is_now(tmp_path: Path) -> None:
    boss, ask = one(BOSS, "boss", exposed=False), calls("skill_invoke", {"ref": "noting"})
    model = ScriptedModel([ask, write("n1")])
    first = Pen("n1")
    skills = {"boss": "", "noting": NOTING.format("write")}
    async with house(tmp_path, model, boss, tools=(first.tool,), skills=skills) as h:
        thread = await begin(h, first)
    pen, person, model = Pen(), Seen(), ScriptedModel([says("noted"), says("done")])
    skills = {"boss": "", "noting": NOTING.format("admin")}
    async with house(tmp_path, model, boss, tools=(pen.tool,), skills=skills, person=person) as h:
        assert await go_on(h, thread) == ["noted"]
        assert [one for one in person.calls if one[1] != "read"] == [
            ("noting", "admin", False),
            ("write-file", "write", False),
        ]
