"""Runs that nobody watches, and what is said where nothing confines."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.permission import AuditEntry
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.settings.schema import schema
from desktop.supervision.tasks import TaskOwner
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from desktop.tools.registry import ToolRegistry
from tests.harness.changes import KeepsNothing
from tests.harness.help_pages import page
from tests.unit.safety.world import World

ROOT = Path(__file__).resolve().parents[4]


@dataclass
class Job:
    """File tools behind the real gates, and no person to ask."""

    world: World
    pipeline: Pipeline
    log: list[AuditEntry]

    async def call(self, tool: str, **arguments: Any) -> CallResult:
        root = Invocation(RunMeta("job", CancellationToken(), "thread"))
        block = ToolCallBlock("c", tool, arguments, "", "")
        return await self.pipeline.invoke(CallRequest(block, Caller(), root, lambda _: None, "m", "r"))


@pytest.fixture
async def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Job]:
    world, log, owner = World(tmp_path), [], TaskOwner()
    monkeypatch.setenv("HOME", str(world.person))

    async def audit(entry: AuditEntry) -> None:
        log.append(entry)

    def settings() -> Any:
        return world.settings

    files = world.files()
    tools = ToolRegistry([ReadFile(files, settings), ListDirectory(files), WriteFile(files, KeepsNothing())])
    gate = PermissionGate(None, TrustRules(), audit, settings)
    made = Job(world, Pipeline(tools, owner.spawn, trust=gate), log)
    await made.pipeline.validator.prepare()
    yield made
    await owner.close()


@pytest.mark.spec("R-FS-8", "R-FS-7")
async def test_without_a_person_the_limits_are_the_same(job: Job) -> None:
    world = job.world
    assert (await job.call("read_file", path="note.txt")).result.text == "note\n"
    refused = await job.call("read_file", path=str(world.outside / "secret.txt"))
    assert refused.state == "denied"
    assert str(world.outside / "secret.txt") in refused.result.text
    world.change(denied=(str(world.workspace / "note.txt"),))
    assert (await job.call("read_file", path="note.txt")).state == "denied"


@pytest.mark.spec("R-FS-8", "R-PRM-6", "R-TOOL-4")
async def test_without_a_person_nothing_is_elevated(job: Job) -> None:
    """A folder granted for a session is admin to read; a person could agree to it, nobody else can."""
    world = job.world
    world.change(granted=(str(world.outside),))
    granted = await job.call("read_file", path=str(world.outside / "secret.txt"))
    assert granted.state == "denied"
    assert "OUTSIDE" not in granted.result.text
    assert (await job.call("write_file", path="new.txt", content="x")).state == "denied"
    assert not (world.workspace / "new.txt").exists()
    assert {entry.by for entry in job.log} == {"no_handler"}


@pytest.mark.spec("R-BLK-9")
def test_wherever_the_list_of_refused_commands_is_shown_it_is_called_no_wall() -> None:
    assert "it cannot stop every way to do the same" in schema()["security.blocklist_extra"].help
    for text in ((ROOT / "README.md").read_text("utf-8"), page("safety")):
        assert "defence in depth, not a wall" in " ".join(text.split())
