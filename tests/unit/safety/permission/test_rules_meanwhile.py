"""A rule that is written between a request and its answer: the answer does not go round it."""

import pytest

from desktop.domain.approval.permission import Decision, PermissionRequest
from tests.unit.safety.permission.test_gate import Call, GateBench, Person


@pytest.mark.spec("R-PRM-12", "R-PRM-5")
@pytest.mark.parametrize("choice", ["allow_once", "allow_run"])
async def test_a_deny_rule_that_was_written_while_the_request_waited_counts(choice: str) -> None:
    class Writes(Person):
        async def ask(self, request: PermissionRequest) -> Decision:
            await bench.rules.add({"tool": "write-file", "policy": "deny", "reason": "not any more"})
            return await super().ask(request)

    bench = GateBench(Writes(choice))
    decision = await bench.decide(Call())
    assert (decision.allowed, decision.by) == (False, "rule"), decision
    assert [(entry.decision, entry.by) for entry in bench.log] == [("deny", "rule")]
    assert not (await bench.decide(Call())).allowed, "nothing was remembered either"
