"""A job of an agent that writes code is warned where its list denies code."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop.agents.skill.calls import CODE
from desktop.domain.jobs import JobPolicy
from desktop.services.schedules.code_access import code_problems
from desktop.services.turns.unattended import CODE_TOOL, tool_problems
from tests.unit.services.schedules.test_service import HOURLY, jobs


@pytest.mark.parametrize(
    ("mode", "listed", "warned"),
    [
        ("code", ("write-file",), False),
        ("code", (), False),
        ("code", ("agent-code($deny)", "write-file"), True),
        ("code", ("*($deny)",), True),
        ("both", ("agent-code($deny)",), False),
        ("code", None, False),
        ("both", ("write-file",), False),
        ("", ("write-file",), False),
    ],
)
async def test_a_list_that_denies_code_is_told_to_who_has_an_agent_that_writes_it(
    tmp_path: Path, mode: str, listed: tuple[str, ...] | None, warned: bool
) -> None:
    async with jobs(tmp_path) as made:
        runtime = replace(made.world.runtime, tool_mode=lambda _agent: mode)
        found = await code_problems(runtime, replace(HOURLY, policy=JobPolicy(listed)))
        assert [(one.path, one.warning) for one in found] == [("policy.allowed_tools", True)] * warned
        assert all("denies agent-code" in one.text for one in found)
        assert await code_problems(runtime, replace(HOURLY, agent="nobody", policy=JobPolicy(listed))) == []


def test_the_entry_for_code_is_known_though_no_table_has_it() -> None:
    assert CODE_TOOL.name == CODE
    assert list(tool_problems(JobPolicy(("agent-code",)), [])) == []
