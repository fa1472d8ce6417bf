"""Three agents of different makers at work at once: one desk for all of them (R-ACP-4)."""

import asyncio
from pathlib import Path

import pytest

from desktop.domain.approval.audit import AuditFilter
from desktop.domain.runs.events import RunEnded
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.acp.kit import Desk, desk, shown

NAMES = ("first", "second", "third")
TASK = """---
name: task-of-{name}
description: Has {name} work.
allowed-tools: acp-asks acp-did write-file
metadata:
  params:
    type: object
    properties: {{arguments: {{type: string}}}}
    required: [arguments]
  model: {{agent: agent-acp, acp: {name}}}
---
Do what you are told.
"""


async def at_once(d: Desk, orders: dict[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """Orders to several agents, each in a chat of its own, all sent before any is over."""
    threads = {name: await d.thread(name) for name in orders}
    for name, lines in orders.items():
        await d.services.chats.send(threads[name], "\n".join(lines))
    for thread in threads.values():
        assert await d.services.chats.wait(thread, WAIT_S)
    return {name: shown(await d.services.chats.path(thread)) for name, thread in threads.items()}


@pytest.mark.spec("R-ACP-4")
async def test_each_write_and_command_stands_once_in_activity_and_one_rule_binds_all(tmp_path: Path) -> None:
    async with desk(tmp_path / "home", "allow_once") as d:
        for name in NAMES:
            await d.switched_on(name)
        await d.services.rules.book.add({"pattern": "write-file(path=**/secret.txt)", "policy": "deny"})
        outside = tmp_path / "outside.txt"
        told = await at_once(
            d,
            {
                name: (
                    f"write {name}.txt by {name}",
                    f"run cat {name}.txt",
                    "write secret.txt x",
                    "ask-write secret.txt x",
                    f"write {outside} x",
                    f"self-write {outside} x",
                )
                for name in NAMES
            },
        )
        for name in NAMES:
            assert (d.workspace / f"{name}.txt").read_text() == f"by {name}"
            denied = [line for line in told[name] if line.startswith("denied")]
            assert len(denied) == 3, "by the rule, asked for or not, and by the boundary"
            assert sum("by a rule" in line for line in denied) == 2
        assert not (d.workspace / "secret.txt").exists()
        assert not outside.exists(), "none outside the boundary"
        page = await d.services.store.audit.page(AuditFilter(), limit=500)
        allowed = [
            (row.entry.chain[0], row.entry.tool)
            for row in page.rows
            if row.entry.decision == "allow_once" and row.entry.tool in ("write-file", "bash")
        ]
        wanted = [(f"acp_{name}", tool) for name in NAMES for tool in ("bash", "write-file")]
        assert sorted(allowed) == sorted(wanted)
        assert all(request.tool in ("write-file", "bash") for request in d.asked.requests)


@pytest.mark.spec("R-ACP-4")
async def test_one_budget_stops_all_of_them(tmp_path: Path) -> None:
    async with desk(tmp_path, "allow_once") as d:
        folder = tmp_path / "skills"
        folder.mkdir(exist_ok=True)
        for name in NAMES:
            await d.switched_on(name, tools=tuple(f"task-of-{other}" for other in NAMES if other != name))
            (folder / f"task-of-{name}.skill.md").write_text(TASK.format(name=name))
        d.services.skills.fabric.refresh()
        await d.services.settings.update("limits.run_tokens", 1_000)
        thread = await d.thread("first")
        used = '{"arguments": "use 600"}'
        orders = (f"tool task_of_second {used}", f"tool task_of_third {used}", "write after.txt x", "say never")
        told = await d.says(thread, *orders)
        ends = [event for event in d.events if isinstance(event, RunEnded) and event.thread_id == thread]
        assert [end.reason for end in ends] == ["budget"], told
        assert not (d.workspace / "after.txt").exists()
        assert not any("never" in line for line in told[1:])
        async with asyncio.timeout(WAIT_S):
            while d.services.others.session(thread) is not None and d.services.others.session(thread).at_work:  # type: ignore[union-attr]
                await asyncio.sleep(0.02)
