"""What a person sets in the Run panel while an agent works holds from its next round on."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.models import ModelRequest
from desktop.domain.runs.events import RunTreeChanged
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.services.chats.tree_actions import RunTreeService
from tests.unit.agents.script import Script, call, calls, says
from tests.unit.services.kit import agent, world

HAND = "you, in the Run panel"


@pytest.mark.spec("R-SUP-9", "R-LIM-1", "R-SES-16")
@pytest.mark.parametrize(
    ("own", "before", "by_hand", "made", "limit"),
    [
        (None, 2, 6, 6, f"max_rounds 6 (set by {HAND})"),  # the run's budget is raised
        (None, 30, 3, 3, f"max_rounds 3 (set by {HAND})"),  # and lowered
        (3, None, 7, 7, f"max_rounds 7 (set by {HAND})"),  # the agent's own limit gives way to what a person sets
        (3, 5, None, 3, "maxSteps 3 (set by the agent assistant)"),  # and holds again where they take theirs back
    ],
)
async def test_the_rounds_of_a_running_agent_can_be_changed(
    tmp_path: Path, own: int | None, before: int | None, by_hand: int | None, made: int, limit: str
) -> None:
    asked: list[ModelRequest] = []

    def reply(request: ModelRequest) -> object:
        asked.append(request)
        if len(asked) == 1:
            run = next(iter(w.live._trees))
            RunTreeService(w.live, w.store.run_agents).change_budget(run, "0", ExecutionBudget(max_rounds=by_hand))
        return calls(call(f"c{len(asked)}", "no-such-tool")) if len(asked) < 12 else says("end")

    options = {"supervised": True, "budget": ExecutionBudget(max_rounds=before), "agents": agent(max_rounds=own)}
    async with world(tmp_path, Script(last=reply), **options) as w:
        await w.ask(await w.thread(), "go")
        assert (len(asked), w.ends()[-1].limit) == (made, limit)
        assert "This is your last round" in (asked[-1].note)
        assert all("This is your last round" not in one.note for one in asked[1:-1])
        few = [one.note.count("rounds remain") for one in asked[1:]]
        assert sum(few) == (1 if made > 2 else 0)
        nodes = [node for event in w.events if isinstance(event, RunTreeChanged) for node in event.nodes]
        assert (nodes[-1].own_rounds, nodes[-1].own_rounds_from) == (
            own or 20,
            "the agent assistant" if own else "the loop's default",
        )
