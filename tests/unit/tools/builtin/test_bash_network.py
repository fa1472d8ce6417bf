"""The network of commands, through the real gate to a real server: opened for what was allowed with it (D-4)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest

from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.safety import NetworkMode
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.permission.gate import PermissionGate
from desktop.skills.patterns.policies import PolicyRules
from desktop.supervision.tasks import TaskOwner
from desktop.tools.registry import ToolRegistry
from tests.unit.tools.conftest import Bench


class Rules:
    """Trust rules of a person."""

    def __init__(self) -> None:
        self.text = ""

    def match(self, facts: CallFacts) -> RuleMatch | None:
        return PolicyRules.parse(self.text).decide(facts) if self.text else None

    async def add(self, rule: Mapping[str, Any]) -> None:
        raise AssertionError(rule)

    def decided(self, facts: CallFacts, by: RuleMatch | None) -> None:
        return None


class Line:
    """A server on this computer, commands that call it, and a person who answers."""

    def __init__(self, bench: Bench, port: int) -> None:
        self.bench, self.rules = bench, Rules()
        self.asked: list[PermissionRequest] = []
        self.audit: list[AuditEntry] = []
        self.answer: dict[str, Any] = {"choice": "allow_once"}
        self.known = f"curl -s -m 5 http://127.0.0.1:{port}/"
        script = bench.world.workspace / "build.sh"
        script.write_text(f"exec {self.known}\n")
        self.unclear = "sh build.sh"
        self.owner = TaskOwner()
        self.meanwhile: Callable[[], None] = lambda: None
        gate = PermissionGate(self, self.rules, self._write, lambda: bench.world.settings)
        self.pipeline = Pipeline(ToolRegistry([bench.bash]), self.owner.spawn, trust=gate)

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        self.meanwhile()
        return Decision(digest=request.digest, **self.answer)

    async def _write(self, entry: AuditEntry) -> int:
        self.audit.append(entry)
        return len(self.audit)

    async def run(self, command: str) -> CallResult:
        block = ToolCallBlock(f"call{len(self.audit)}", "bash", {"command": command})
        invocation = Invocation(RunMeta("run", CancellationToken()))
        request = CallRequest(block, Caller("native", ("Agent",)), invocation, _deaf)
        return await self.pipeline.invoke(request)


def _deaf(event: Any) -> None:
    return None


@pytest.fixture
async def line(bench: Bench) -> AsyncIterator[Line]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nREACHED")
        await writer.drain()
        writer.close()

    if bench.confinement.probe().kind == "none":
        pytest.skip("nothing confines commands here")
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    made = Line(bench, server.sockets[0].getsockname()[1])
    async with server:
        yield made
    await made.owner.close()


def reached(outcome: CallResult) -> bool:
    return "REACHED" in outcome.result.text


async def test_a_command_that_needs_the_network_says_so_and_has_it_when_allowed(line: Line) -> None:
    assert reached(await line.run(line.known))
    (request,) = line.asked
    assert request.preview["network"] is True
    assert request.preview["hosts"] == ["127.0.0.1"]
    assert "uses the network: 127.0.0.1" in request.preview["confinement"]
    assert line.audit[0].extra["network"] is True
    assert line.audit[0].extra["hosts"] == ["127.0.0.1"]


async def test_what_cannot_be_judged_runs_without_unless_it_is_ticked(line: Line) -> None:
    without = await line.run(line.unclear)
    assert not reached(without)
    assert "ran without the network" in without.result.text
    line.answer["with_network"] = True
    assert reached(await line.run(line.unclear))
    assert [entry.extra["network"] for entry in line.audit] == [False, True]
    assert all(request.preview["network_offered"] is True for request in line.asked)


async def test_a_tick_where_none_was_offered_gives_nothing(line: Line) -> None:
    line.answer["with_network"] = True
    line.bench.world.change(shell_network="never")
    assert not reached(await line.run(line.unclear))
    assert not reached(await line.run(line.known))
    assert [entry.extra["network"] for entry in line.audit] == [False, False]


async def test_a_tick_for_the_run_holds_for_this_command_alone(line: Line) -> None:
    line.answer = {"choice": "allow_run", "with_network": True}
    assert reached(await line.run(line.unclear))
    assert reached(await line.run(line.unclear))
    assert len(line.asked) == 1
    line.answer = {"choice": "allow_once"}
    assert not reached(await line.run(f"{line.unclear} -x"))


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("bash(command=curl *,$policy=allow)", 0),
        ("bash($policy=allow)", 1),
        ("bash(command=*,$policy=allow)", 1),
        ("bash(command=cu*,$policy=allow)", 1),
    ],
)
async def test_a_rule_opens_the_network_only_where_it_names_the_command(line: Line, rule: str, asked: int) -> None:
    line.rules.text = rule
    assert reached(await line.run(line.known))
    assert len(line.asked) == asked


async def test_a_rule_for_what_cannot_be_judged_gives_no_network(line: Line) -> None:
    line.rules.text = "bash(command=sh build.sh,$policy=allow)"
    outcome = await line.run(line.unclear)
    assert not reached(outcome)


@pytest.mark.parametrize(("mode", "known", "unclear"), [("never", False, False), ("always", True, True)])
async def test_the_setting_can_shut_or_open_it_for_all(
    line: Line, mode: NetworkMode, known: bool, unclear: bool
) -> None:
    line.bench.world.change(shell_network=mode)
    assert [reached(await line.run(line.known)), reached(await line.run(line.unclear))] == [known, unclear]


async def test_the_answer_is_bound_to_the_network_that_was_shown(line: Line) -> None:
    """While the person looks the setting opens it: what was allowed without is asked about anew."""
    line.meanwhile = lambda: line.bench.world.change(shell_network="always")
    await line.run(line.unclear)
    assert [request.preview["network"] for request in line.asked] == [False, True]
    assert line.asked[1].stale
    assert line.asked[0].digest != line.asked[1].digest
