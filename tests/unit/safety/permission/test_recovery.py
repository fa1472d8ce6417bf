"""What was allowed before Assent ended, and what a person is asked about all the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from desktop.safety.permission.trust_rules import rule_from
from tests.unit.safety.permission.test_gate import ADMIN, Call, GateBench, Person


@pytest.mark.spec("R-PRM-3", "R-PRM-4", "R-PRM-5")
async def test_what_goes_on_is_asked_about_where_it_is_admin_or_more_than_it_says_or_a_rule_wants_that() -> None:
    admin, raised = Call(ADMIN, allowed_before=True), Call(ADMIN, allowed_before=True)
    admin.target = SimpleNamespace(spec=replace(admin.target.spec, category=ADMIN))
    rule = rule_from({"tool": "write-file", "policy": "ask"})
    for call, rules in ((admin, ()), (raised, ()), (Call(allowed_before=True), (rule,))):
        assert (await GateBench(person := Person(), *rules).decide(call)).by == "user"
        assert len(person.asked) == 1
