"""MCP servers as the app holds them: a real MCP host, real servers, the real gate, and a person who answers."""

import asyncio
import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop.app.wiring.mcp import _schema_problem, value_check
from desktop.domain.approval.call_facts import CallFacts
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.approval.rule_book import RuleMatch
from desktop.domain.errors import SecretsUnavailable
from desktop.domain.files.documents import DocumentOpener
from desktop.domain.keyring import KeyPlace
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.output import upright
from desktop.safety.confinement.process import held
from desktop.safety.confinement.select import Machine, SystemConfinement
from desktop.safety.permission.gate import PermissionGate
from desktop.safety.secrets.redaction import SecretRedactor
from desktop.supervision.tasks import TaskOwner
from desktop.tools.mcp.asking.questions import PersonQuestions
from desktop.tools.mcp.offered import SchemaCheck
from desktop.tools.mcp.pins import McpPins
from desktop.tools.mcp.servers import McpServers, ServerFacts
from desktop.tools.mcp.services import McpServices
from desktop.tools.registry import ToolRegistry
from desktop.workers.child import ChildProcess
from desktop.workers.mcp_child import mcp_host
from tests.harness.timeouts import until
from tests.unit.safety.world import World

KEY = "ghp_keyring0123456789secretvalue"


class Pinned:
    """A store of pins in memory."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def put(self, values: Mapping[str, Any]) -> None:
        self.values |= json.loads(json.dumps(values))


class NoRules:
    def match(self, facts: CallFacts) -> RuleMatch | None:
        return None

    async def add(self, rule: Mapping[str, Any]) -> None:
        raise AssertionError(rule)

    def decided(self, facts: CallFacts, by: RuleMatch | None) -> None:
        return None


class Person:
    """Answers requests in order: a choice, a decision made from the request, or nothing more to say: denied."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.asked: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else "deny"
        if callable(answer):
            answer = answer(request)
        if asyncio.iscoroutine(answer):
            answer = await answer
        return answer if isinstance(answer, Decision) else Decision(answer, request.digest)


class Lent:
    """A host that several benches use, one after the other: who is done with it ends its own servers alone."""

    def __init__(self, host: ChildProcess) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    async def stop(self) -> None:
        return


class KeptSecrets:
    """A keyring in memory that can be locked."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}
        self.here: set[tuple[str, str]] = set()
        self.locked = False

    async def lookup(self, service: str, user: str) -> str | None:
        if self.locked and (service, user) not in self.here:
            raise SecretsUnavailable("The keyring is locked.")
        return self.values.get((service, user))

    async def keep(self, service: str, user: str, value: str) -> bool:
        self.values[service, user] = value
        (self.here.add if self.locked else self.here.discard)((service, user))
        return not self.locked

    async def drop(self, service: str, user: str) -> None:
        self.values.pop((service, user), None)

    def place(self, service: str, user: str) -> KeyPlace:
        return "session" if (service, user) in self.here else "kept"


class McpBench:
    """``put`` writes mcp.yaml and puts it in force; ``call`` goes through every gate."""

    def __init__(
        self,
        folder: Path,
        kinds: tuple[Any, ...] = ("bubblewrap", "landlock"),
        taken: Callable[[str], str] = str,
        check_schema: SchemaCheck = _schema_problem,
        caches: str = "",
        idle_s: float = 90.0,
        host: Lent | None = None,
        documents: DocumentOpener | None = None,
        machine: Callable[[], Machine] = Machine.here,
    ) -> None:
        world = self.world = World(folder)
        self.owner, self.person, self.redactor = TaskOwner(), Person(), SecretRedactor()
        self.told, self.registry = 0, ToolRegistry()
        self.pins, self.host = Pinned(), host or mcp_host(secrets=tuple)
        self.questions, self.secrets = PersonQuestions(self._write), KeptSecrets()
        self.keys, self.audit = dict[tuple[str, str], str](), list[AuditEntry]()
        self.path = world.home / "mcp.yaml"

        def settings() -> Any:
            return world.settings

        async def lookup(service: str, user: str) -> str | None:
            self.redactor.remember(KEY)
            return {("github", "ida"): KEY, **self.keys}.get((service, user))

        self.confinement = SystemConfinement(world.policy, settings, kinds=kinds, caches=caches, machine=machine)
        self.services = McpServices(
            self.host,
            world.policy,
            self.confinement,
            AllowlistEnvironment(settings, keyring=lookup),
            settings,
            held,
            check_schema,
            value_check(),
            McpPins(self.pins),
            self.owner.spawn,
            self.redactor,
            upright,
            self.questions,
            self.secrets,
            self.redactor.remember,
            self.pins,
            first_pause_s=0.05,
            idle_s=idle_s,
            documents=documents,
        )
        self.servers = McpServers(
            self.path,
            self.registry,
            self.services,
            needs_admin=needs_admin,
            taken=lambda name: "" if taken is str else taken(name),
            told=self._tell,
        )
        gate = PermissionGate(self.person, NoRules(), self._write, settings, redactor=self.redactor)
        self.pipeline = self._pipeline(gate)
        self.output, self._calls = list[str](), 0

    def _pipeline(self, gate: PermissionGate) -> Pipeline:
        spawn, outside = self.owner.spawn, gate.outside
        return Pipeline(self.registry, spawn, trust=gate, redactor=self.redactor, outside=outside)

    def _tell(self) -> None:
        self.told += 1

    async def _write(self, entry: AuditEntry) -> int:
        self.audit.append(entry)
        return len(self.audit)

    async def put(self, *entries: Mapping[str, Any], text: str = "") -> None:
        self.path.write_text(text or json.dumps({"servers": [{"enabled": True, **entry} for entry in entries]}))
        await asyncio.to_thread(self.servers.reload)
        await asyncio.sleep(0)
        self.servers.begin()

    async def until(self, true: Callable[[], Any], what: str) -> None:
        await until(true, what, seen=lambda: self.servers.state)

    def server(self, name: str) -> ServerFacts:
        return self.servers.state.server(name)

    async def running(self, name: str) -> ServerFacts:
        await self.until(lambda: self.server(name).condition == "running", f"{name} running")
        return self.server(name)

    async def accept(self, name: str) -> None:
        """The person has looked at everything that is not off by itself; waits until it can be called."""
        facts = await self.running(name)
        tools = [one for one in facts.tools if not one.offered.problem]
        await self.servers.accept(name, {one.offered.raw: one.offered.digest for one in tools})
        await self.until(
            lambda: all(self.registry.find(t.offered.name) for t in self.server(name).tools if not t.off), "registered"
        )

    async def ready(self, name: str, command: Sequence[str], **more: Any) -> ServerFacts:
        """One server, running and accepted."""
        await self.put({"name": name, "command": command[0], "args": list(command[1:]), **more})
        await self.accept(name)
        return self.server(name)

    async def call(self, tool: str, /, token: CancellationToken | None = None, **arguments: Any) -> CallResult:
        self._calls += 1
        block = ToolCallBlock(f"call{self._calls}", tool, arguments)
        meta = RunMeta("run", token or CancellationToken(), thread_id="thread")
        request = CallRequest(block, Caller("native", ("Workbench",)), Invocation(meta), self._hear)
        return await self.pipeline.invoke(request)

    def _hear(self, event: Any) -> None:
        if type(event).__name__ == "ToolCallOutput":
            self.output.append(event.text)

    def change(self, **fields: Any) -> None:
        self.world.settings = dataclasses.replace(self.world.settings, **fields)

    async def end(self) -> None:
        await self.servers.close()
        await self.owner.close()
        self.confinement.close()
