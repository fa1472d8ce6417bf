"""The tools over the real safety room, in the small world of tests/unit/safety/world.py."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.tools import Tool, ToolCallContext, ToolResult
from desktop.safety.confinement.environment import AllowlistEnvironment
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.tools.builtin.edit_file import EditFile
from desktop.tools.builtin.edits.versions import ReadVersions
from desktop.tools.builtin.files import ListDirectory, ReadFile, WriteFile
from desktop.tools.builtin.shell import Bash
from desktop.workers.mcp_child import mcp_host
from tests.harness.changes import KeepsNothing
from tests.harness.loops import threads_ready
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.world import World
from tests.unit.tools.mcp.kit import Lent


@dataclass
class Bench:
    """A world and its tools."""

    world: World
    confinement: SystemConfinement

    def __post_init__(self) -> None:
        world = self.world
        files, policy = world.files(), world.policy

        def settings() -> Any:
            return world.settings

        self.versions = ReadVersions()
        self.read = ReadFile(files, settings, self.versions)
        self.list = ListDirectory(files)
        self.write = WriteFile(files, KeepsNothing(), self.versions)
        self.edit = EditFile(files, KeepsNothing(), self.versions)
        self.bash = Bash(
            world.reader, policy, self.confinement, AllowlistEnvironment(settings), GroupRunner(), settings
        )

    async def run(self, tool: Tool, token: CancellationToken | None = None, **args: Any) -> ToolResult:
        """Pre-check and execute like the pipeline, with the approved identity handed over."""
        return await self.run_in("", tool, token, **args)

    async def run_in(
        self, project: Path | str, tool: Tool, token: CancellationToken | None = None, **args: Any
    ) -> ToolResult:
        """The same in a thread that works in a project."""
        at = context(token, project=str(project), thread_id=str(args.pop("thread_id", "")))
        check = await tool.precheck(args, at.meta.work_place)
        if check.denied is not None:
            raise check.denied
        return await tool.execute(args, replace(at, identity=check.identity))


def context(
    token: CancellationToken | None = None, identity: Any = None, project: str = "", thread_id: str = ""
) -> ToolCallContext:
    meta = RunMeta("run", token or CancellationToken(), project=project, thread_id=thread_id)
    return ToolCallContext(meta, "call", identity=identity or {})


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    world = World(tmp_path)
    monkeypatch.setenv("HOME", str(world.person))
    confinement = SystemConfinement(world.policy, lambda: world.settings)
    yield Bench(world, confinement)
    confinement.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def lent() -> AsyncIterator[Lent]:
    """One MCP host for tests marked ``asyncio(loop_scope="session")``: each of its own imports its library anew."""
    host = mcp_host(secrets=tuple)
    with threads_ready():
        await host.call("ping", timeout=WAIT_S)
        yield Lent(host)
        await host.stop()
