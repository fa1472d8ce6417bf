"""Tools of tools.yaml that name a denied folder they need: a person agrees once, through every gate (D-4)."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.errors import Denied
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.jobs import JobPolicy
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.boundary.consents import Consents
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.services.turns.unattended import JobPermission
from desktop.skills.patterns.lists import AllowedList
from desktop.skills.patterns.paths import Where
from desktop.supervision.tasks import TaskOwner
from desktop.tools.cli.definitions import CliFile, CliRules, parse
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.tool import CliTool
from desktop.tools.cli.tools import CliTools
from desktop.tools.registry import ToolRegistry
from tests.unit.safety.boundary.test_closed_places import State
from tests.unit.tools.conftest import Bench, context

FILE = """\
tools:
  - name: cluster
    description: Says which cluster is meant.
    category: read
    cmd: cat
    args: ["{config}"]
    reads: [~/.kube]
  - name: curious
    description: The same without saying so.
    category: read
    cmd: cat
    args: ["{config}"]
"""


class Running:
    """Tools over a gate and what confines them; the person answers with ``answer``."""

    def __init__(self, bench: Bench, owner: TaskOwner, confinement: SystemConfinement) -> None:
        self.bench, self.world, self.owner, self.confinement = bench, bench.world, owner, confinement
        self.kube = self.world.person / ".kube"
        self.kube.mkdir()
        (self.kube / "config").write_text("CLUSTER")
        self.world.change(denied=(*self.world.settings.denied, "~/.kube"))
        self.asked: list[PermissionRequest] = []
        self.answer: Callable[[PermissionRequest], Decision] = lambda r: Decision("allow_once", r.digest)
        self.state = State()
        self.text = FILE.format(config=self.kube / "config")
        self.start()

    def start(self) -> None:
        """As after a restart, but for what was loaded."""
        world, registry = self.world, ToolRegistry()

        def settings() -> Any:
            return world.settings

        self.consents = Consents(world.policy, self.state)
        self.services = CliServices(
            world.reader,
            world.policy,
            self.confinement,
            AllowlistEnvironment(settings),
            GroupRunner(),
            settings,
            self.consents,
        )
        path = world.home / "tools.yaml"
        self.cli = CliTools(
            path, registry, lambda d: CliTool(d, self.services), needs_admin=needs_admin, opens=self.consents.judge
        )
        path.write_text(self.text)
        self.cli.reload()
        assert self.cli.state.problems == ()
        gate = PermissionGate(self, TrustRules(), self._audit, settings, consents=self.consents)
        alone = PermissionGate(None, TrustRules(), self._audit, settings, consents=self.consents)
        self.pipeline = Pipeline(registry, self.owner.spawn, trust=gate)
        self.headless = Pipeline(registry, self.owner.spawn, trust=alone)

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return self.answer(request)

    async def _audit(self, entry: AuditEntry) -> int:
        return 1

    async def call(self, tool: str, *, job: bool = False, headless: bool = False) -> CallResult:
        policy = JobPolicy(allowed_tools=("cluster",), allow_admin=("cluster",))
        permission = JobPermission(policy, lambda: True, Where("/w", "/h")) if job else None
        root = Invocation(RunMeta("run", CancellationToken(), "", unattended=permission))
        caller = Caller("native", ("You",), AllowedList.of("*"))
        request = CallRequest(ToolCallBlock("c", tool, {}), caller, root, lambda _: None)
        return await (self.headless if headless else self.pipeline).invoke(request)


@pytest.fixture
async def running(bench: Bench) -> AsyncIterator[Running]:
    """Nothing confines the processes: what is tried here is who was asked."""
    owner = TaskOwner()
    yield Running(bench, owner, SystemConfinement(bench.world.policy, lambda: bench.world.settings, kinds=()))
    await owner.close()


@pytest.fixture
async def confined(bench: Bench) -> AsyncIterator[Running]:
    """Under what confines on this machine."""
    if bench.confinement.probe().kind == "none":
        pytest.skip("nothing confines processes here")
    owner = TaskOwner()
    yield Running(bench, owner, bench.confinement)
    await owner.close()


@pytest.mark.spec("R-FS-3", "R-TOOL-4")
async def test_a_person_agrees_once_and_the_tool_reads_also_after_a_restart(running: Running) -> None:
    assert (await running.call("cluster")).result.text.strip() == "CLUSTER"
    running.start()
    await running.consents.load()
    assert (await running.call("cluster")).result.text.strip() == "CLUSTER"
    (request,) = running.asked
    assert request.category is Category.ADMIN
    why = f"it reads {running.kube}, which is closed to every other tool"
    assert request.raised_because == f"{why}; agreeing once holds until its definition changes"
    assert f"It reads {running.kube}" in request.preview["confinement"]


@pytest.mark.spec("R-FS-3")
async def test_in_real_walls_that_tool_reads_it_and_no_other_and_no_file_tool(confined: Running) -> None:
    assert (await confined.call("cluster")).result.text.strip() == "CLUSTER"
    assert "CLUSTER" not in (await confined.call("curious")).result.text
    with pytest.raises(Denied):
        await confined.bench.run(confined.bench.read, path=str(confined.kube / "config"))


async def test_a_changed_definition_asks_again_and_names_the_folder_when_it_is_allowed_too(running: Running) -> None:
    await running.call("cluster")
    running.text = running.text.replace("Says which", "Tells which").replace("category: read", "category: write", 1)
    running.start()
    await running.consents.load()
    for _ in range(2):
        assert not (await running.call("cluster")).result.is_error
    assert [request.category for request in running.asked] == [Category.ADMIN, Category.ADMIN, Category.WRITE]
    assert all(f"It reads {running.kube}" in request.preview["confinement"] for request in running.asked)


async def test_what_is_taken_back_is_asked_again(running: Running) -> None:
    await running.call("cluster")
    (tool, _) = running.cli.state.tools
    assert tool.reads.agreed == (str(running.kube),)
    await tool.reads.take_back()
    assert tool.reads.agreed == ()
    running.answer = lambda request: Decision("deny", request.digest)
    assert "CLUSTER" not in (await running.call("cluster")).result.text
    assert len(running.asked) == 2
    assert running.state.kept == {"reads": []}


NO_YES: dict[str, Callable[[PermissionRequest], Decision]] = {
    "no": lambda request: Decision("deny", request.digest),
    "to another question": lambda request: Decision("allow_once", "other"),
    "by a rule": lambda request: Decision("allow_once", request.digest, by="rule"),
    "done": lambda request: Decision("done", request.digest),
}


@pytest.mark.parametrize("answer", NO_YES)
async def test_only_a_persons_yes_to_exactly_that_is_kept(running: Running, answer: str) -> None:
    running.answer = NO_YES[answer]
    assert "CLUSTER" not in (await running.call("cluster")).result.text
    assert running.state.kept == {}


@pytest.mark.spec("R-CRON-1", "R-PRM-6")
async def test_where_nobody_is_it_is_refused_with_the_reason_until_a_person_agreed(running: Running) -> None:
    for unattended in ({"job": True}, {"headless": True}):
        found = await running.call("cluster", **unattended)
        assert found.result.is_error
        assert f"it reads {running.kube}, which is closed" in found.result.text
        assert "nobody has agreed" in found.result.text
    assert (running.asked, running.state.kept) == ([], {})
    await running.call("cluster")
    for unattended in ({"job": True}, {"headless": True}):
        assert (await running.call("cluster", **unattended)).result.text.strip() == "CLUSTER"
    assert len(running.asked) == 1


async def test_the_tool_itself_runs_for_nobody_who_did_not_agree(running: Running) -> None:
    (tool, _) = running.cli.state.tools
    with pytest.raises(Denied, match="nobody has agreed"):
        await tool.execute({}, context())
    lone = CliTool(tool.definition, dataclasses.replace(running.services, places=None))
    assert isinstance((await lone.precheck({}, NOWHERE)).denied, Denied)
    with pytest.raises(Denied, match="nothing can be opened"):
        await lone.execute({}, context())


async def test_a_folder_that_became_a_link_is_refused_at_the_call(running: Running) -> None:
    await running.call("cluster")
    running.kube.rename(running.kube.with_name(".other"))
    running.kube.symlink_to(running.world.ssh)
    found = await running.call("cluster")
    assert found.result.is_error
    assert "it is a link" in found.result.text
    (tool, _) = running.cli.state.tools
    with pytest.raises(Denied):
        await tool.execute({}, context())


async def test_what_is_closed_later_is_no_part_of_what_was_agreed(running: Running) -> None:
    running.text = running.text.replace("[~/.kube]", "[~/.kube, ~/.aws]")
    (running.world.person / ".aws").mkdir()
    running.world.change(denied=(*running.world.settings.denied, "~/.aws"))
    running.start()
    running.world.change(denied=tuple(one for one in running.world.settings.denied if one != "~/.aws"))
    await running.call("cluster")
    running.world.change(denied=(*running.world.settings.denied, "~/.aws"))
    await running.call("cluster")
    assert [("/.aws" in request.raised_because) for request in running.asked] == [False, True]


# -- the file ---------------------------------------------------------------------------------------------------------


def read(running: Running, value: str) -> CliFile:
    text = f"tools:\n  - name: a\n    description: A.\n    category: read\n    cmd: cat\n    reads: {value}\n"
    return parse(text, CliRules(needs_admin, opens=running.consents.judge))


WRONG = {
    "~/.kube": (12, "has to be a list"),
    "{a: b}": (12, "has to be a list"),
    "[/]": (13, "home"),
    "[~]": (13, "begins"),
    "[" + ", ".join(["~/.kube"] * 9) + "]": (12, "at most 8"),
    "[[~/.kube]]": (13, "has to be a path"),
    "[~/.kube, ~/.kube/../.ssh]": (22, "begins"),
    "[~/link]": (13, "link"),
    "[~/.agent/data]": (13, "Assent"),
    '["~/.kube\\0"]': (13, "NUL"),
    '[""]': (13, "begins"),
    "[null]": (13, "has to be a path"),
    "[~/.local/share/keyrings]": (13, "keyring"),
}


@pytest.mark.parametrize("value", WRONG)
async def test_an_entry_that_cannot_be_opened_costs_its_tool_with_its_place(running: Running, value: str) -> None:
    (running.world.person / "link").symlink_to(running.kube)
    found = await asyncio.to_thread(read, running, value)
    (problem,) = [one for one in found.problems if one.severity == "error"]
    column, words = WRONG[value]
    assert (problem.line, problem.column, found.definitions) == (6, column, ())
    assert words in problem.message


async def test_what_is_not_there_is_a_warning_and_opens_nothing(running: Running) -> None:
    found = await asyncio.to_thread(read, running, "[~/.kube/none]")
    (problem,) = found.problems
    assert (problem.severity, problem.line, problem.column) == ("warning", 6, 13)
    assert "does not exist" in problem.message
    tool = CliTool(found.definitions[0], running.services)
    assert (await asyncio.to_thread(tool.reads.now)).opened() == ()
    assert (await tool.precheck({}, NOWHERE)).consent is None


def test_without_the_boundary_nothing_is_opened(tmp_path: Path) -> None:
    text = "tools:\n  - {name: a, category: read, cmd: cat, reads: [~/.kube]}\n"
    assert parse(text, CliRules(needs_admin)).definitions == ()
