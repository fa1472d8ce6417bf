"""On a computer that has nothing to confine with, as Windows is until its wall was proved there: whatever would run as
a process says so where a person is asked, or does not run."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from shots.other_agents import asks_request

from desktop.domain.approval.permission import PermissionRequest
from desktop.domain.files.outcomes import NoCopy
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.tools import PreCheck
from desktop.pipeline.skills.code_mode import CodeTool
from desktop.presenter.approvals.request_facts import request_facts
from desktop.presenter.approvals.request_words import confinement_words, is_unconfined
from desktop.presenter.editors.requests import request_text
from desktop.presenter.transcript.by_itself import confined_fact
from desktop.safety.confinement import reports
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import KINDS, Machine, SystemConfinement
from desktop.safety.confinement.shut_in import launcher_file
from desktop.safety.outcomes.copies import Copies
from desktop.safety.outcomes.no_copies import WHY, NoCopies
from desktop.tools.acp.asks import AgentAsks, AgentDid, OpenRequests
from desktop.tools.builtin.rehearsals import CommandsInCopies
from desktop.tools.builtin.shell import Bash
from desktop.tools.cli.definitions import CliRules, parse
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.tool import CliTool
from desktop.workers.js_code.engine import JsEngine
from desktop.workers.js_code.process import WorkerSpec
from tests.servers.mcp import honest
from tests.unit.safety.world import World
from tests.unit.tools.conftest import context
from tests.unit.tools.mcp.kit import McpBench

pytestmark = pytest.mark.spec("R-PKG-3", "R-PRM-2")


@pytest.fixture
def world(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.person))
    return made


@pytest.fixture(params=["win32", "darwin", "linux"])
def bare(world: World, request: pytest.FixtureRequest) -> Iterator[SystemConfinement]:
    """What every room asks, with all that there is to choose from, on a computer that has none of it."""
    machine = Machine(platform=request.param)
    made = SystemConfinement(world.policy, lambda: world.settings, machine=lambda: machine)
    with contextlib.closing(made):
        assert made.probe() == reports.nothing(request.param)
        yield made


def asked(check: PreCheck) -> PermissionRequest:
    """The request as a person sees it."""
    assert check.denied is None, check.denied
    return replace(asks_request("said"), preview=check.preview)


def says_so(check: PreCheck) -> bool:
    request = asked(check)
    told = confinement_words(request).startswith("Not confined: nothing on this computer holds")
    return is_unconfined(request) and told and "Nothing confines it." in request_text(request, "My chat", str)


def bash(world: World, confinement: SystemConfinement, copies: Any = None) -> Bash:
    environment, runner = AllowlistEnvironment(lambda: world.settings), GroupRunner()
    in_copies = None
    if copies is not None:
        made = copies(str(world.home / "copies"), confinement, world.policy)
        in_copies = CommandsInCopies(made, confinement, runner, None, lambda: world.settings)  # type: ignore[arg-type]
    return Bash(world.reader, world.policy, confinement, environment, runner, lambda: world.settings, in_copies)


def test_on_windows_nothing_is_relied_on_that_was_not_proved_there(world: World) -> None:
    """With all that this computer has, which holds: what the table does not rely on is not even tried."""
    machine = replace(Machine.here(), platform="win32")
    with contextlib.closing(SystemConfinement(world.policy, lambda: world.settings, machine=lambda: machine)) as made:
        assert made.probe() == reports.nothing("win32")


@pytest.mark.parametrize("command", ["ls", "echo x > made", "mv note.txt kept", "curl https://example.org"])
async def test_a_command_says_so_whatever_it_does(world: World, bare: SystemConfinement, command: str) -> None:
    assert says_so(await bash(world, bare).precheck({"command": command}, NOWHERE))


@pytest.mark.parametrize("copies", [NoCopies, Copies])
async def test_a_command_says_why_it_is_not_tried_in_a_copy_first(
    world: World, bare: SystemConfinement, copies: Any
) -> None:
    world.change(commands_first="show")
    check = await bash(world, bare, copies).precheck({"command": "echo x > made"}, NOWHERE)
    assert says_so(check)
    assert not check.rehearsable
    assert check.preview["no_copy"]


def test_where_there_are_no_copies_none_is_made(world: World, bare: SystemConfinement) -> None:
    copies = NoCopies("", bare, world.policy)
    with pytest.raises(NoCopy, match=WHY):
        copies.make()
    assert copies.refusal() == WHY


async def test_a_declared_tool_says_so(world: World, bare: SystemConfinement) -> None:
    text = f"tools:\n  - name: probe\n    description: A probe.\n    cmd: {sys.executable}\n    category: write\n"
    environment = AllowlistEnvironment(lambda: world.settings)
    services = CliServices(world.reader, world.policy, bare, environment, GroupRunner(), lambda: world.settings)
    (definition,) = parse(text, CliRules(needs_admin)).definitions
    assert says_so(await CliTool(definition, services).precheck({}, NOWHERE))


async def test_a_call_of_a_server_says_so(tmp_path: Any) -> None:
    bench = McpBench(tmp_path, KINDS, machine=lambda: Machine(platform="win32"))
    try:
        await bench.ready("files", honest())
        await bench.call("files_say", text="hi", times=1)
        (request,) = bench.person.asked
        assert is_unconfined(request)
        assert confinement_words(request) == reports.nothing("win32").sentence
    finally:
        await bench.end()


@pytest.mark.parametrize("kind", ["read", "edit", "execute", "other"])
async def test_what_another_agent_asks_for_says_so(world: World, bare: SystemConfinement, kind: str) -> None:
    """Nothing holds it to what it asked for."""

    async def knows_nothing(*_: Any) -> None:
        return None

    asks = AgentAsks(world.policy, bare, knows_nothing, OpenRequests())
    args = {"agent": "honest", "request": "1", "kind": kind, "paths": [str(world.workspace / "x")], "says": "x"}
    check = await asks.precheck(args, NOWHERE)
    assert says_so(check)
    facts = {fact.caption: fact.text for fact in request_facts(asked(check), "My chat")}
    assert "which nothing confines" in facts["A yes is"]


async def test_what_another_agent_did_by_itself_says_so(world: World, bare: SystemConfinement) -> None:
    args = {"agent": "honest", "kind": "edit", "state": "completed", "text": "", "says": "x"}
    done = await AgentDid(bare).execute(args, context())
    assert confined_fact(done.facts) == ("by itself, not confined",)


async def test_code_that_a_model_wrote_says_so_where_its_engine_alone_keeps_it_in(tmp_path: Any) -> None:
    for held in (True, False):
        engine = JsEngine(lambda shut=held: WorkerSpec(str(tmp_path), launcher_file if shut else ""))
        tool = CodeTool("agent-code", engine.session(), None, None, None)  # type: ignore[arg-type]  # it is not run
        check = await tool.precheck({"code": "return 1"}, NOWHERE)
        if not (held and launcher_file):
            assert says_so(check)
        else:
            assert not is_unconfined(asked(check))
