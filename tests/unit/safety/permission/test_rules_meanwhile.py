"""A rule that is written between a request and its answer: the answer does not go round it."""

import pytest

from desktop.domain.permission import Decision, PermissionRequest
from tests.unit.safety.permission.test_gate import Call, Desk, Person


@pytest.mark.spec("R-PRM-12", "R-PRM-5")
@pytest.mark.parametrize("choice", ["allow_once", "allow_run"])
async def test_a_deny_rule_that_was_written_while_the_request_waited_counts(choice: str) -> None:
    class Writes(Person):
        async def ask(self, request: PermissionRequest) -> Decision:
            await desk.rules.add({"tool": "write-file", "policy": "deny", "reason": "not any more"})
            return await super().ask(request)

    desk = Desk(Writes(choice))
    decision = await desk.decide(Call())
    assert (decision.allowed, decision.by) == (False, "rule"), decision
    assert [(entry.decision, entry.by) for entry in desk.log] == [("deny", "rule")]
    assert not (await desk.decide(Call())).allowed, "nothing was remembered either"
