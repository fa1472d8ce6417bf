"""Declared tools called through every gate: schema, safety, the person, and then the process."""

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import AuditEntry, Decision, PermissionRequest
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import Pipeline
from desktop.safety.permission.gate import PermissionGate
from desktop.services.rules.trust import TrustRules
from desktop.skills.patterns.lists import AllowedList
from desktop.supervision.tasks import TaskOwner
from tests.unit.tools.cli.test_tools import Running
from tests.unit.tools.conftest import Bench

ECHO = "import json, sys; print(json.dumps(sys.argv[1:]))"
FILE = f"""\
tools:
  - name: kubectl_get
    description: Get Kubernetes resources
    category: read
    cmd: {sys.executable}
    args: ["-I", "-c", "{ECHO}", get, "{{{{resource}}}}"]
    optional_args:
      namespace: ["-n", "{{{{namespace}}}}"]
    parameters:
      resource: {{type: string, enum: [pods, services]}}
      namespace: {{type: string, pattern: "^[a-z0-9-]+$", optional: true}}
  - name: say
    description: Prints a text
    category: write
    cmd: {sys.executable}
    args: ["-I", "-c", "{ECHO}", "{{{{text}}}}"]
    parameters:
      text: {{type: string}}
  - name: run_text
    description: A shell by another name
    category: read
    cmd: sh
    args: ["-c", "{{{{text}}}}"]
    parameters:
      text: {{type: string}}
"""


class Calls:
    """Calls through the pipeline; the person gives ``answer`` each time."""

    def __init__(self, running: Running, owner: TaskOwner) -> None:
        self.asked: list[PermissionRequest] = []
        self.answer = "allow_once"
        self.logged: list[AuditEntry] = []
        gate = PermissionGate(self, TrustRules(), self._audit, lambda: running.world.settings)
        self.pipeline = Pipeline(running.registry, owner.spawn, trust=gate)

    async def ask(self, request: PermissionRequest) -> Decision:
        self.asked.append(request)
        return Decision(self.answer, request.digest)  # type: ignore[arg-type]  # a Choice

    async def _audit(self, entry: AuditEntry) -> int:
        self.logged.append(entry)
        return len(self.logged)

    async def call(self, tool: str, **args: Any) -> CallResult:
        root = Invocation(RunMeta("run", CancellationToken(), ""))
        caller = Caller("native", ("You",), AllowedList.of("*"))
        request = CallRequest(ToolCallBlock("c", tool, args), caller, root, lambda _: None)
        return await self.pipeline.invoke(request)


@pytest.fixture
async def calls(bench: Bench) -> AsyncIterator[Calls]:
    running = Running(bench, bench.confinement)
    running.put(FILE)
    running.service.reload()
    assert running.service.state.problems == ()
    owner = TaskOwner()
    yield Calls(running, owner)
    await owner.close()


@pytest.mark.spec("R-CLI-1", "R-TOOL-5", "C-30")
async def test_a_declared_tool_is_called_by_its_alias_and_a_read_one_asks_nobody(calls: Calls) -> None:
    outcome = await calls.call("kubectl_get", resource="pods", namespace="kube-system")
    assert json.loads(outcome.result.text) == ["get", "pods", "-n", "kube-system"]
    assert calls.asked == []
    assert (await calls.call("kubectl-get", resource="services")).state == "done"


@pytest.mark.spec("R-TOOL-7", "R-CLI-5")
async def test_the_schema_that_models_get_is_the_one_that_validates(calls: Calls) -> None:
    tool = calls.pipeline.table.find("kubectl_get")
    assert tool is not None
    assert calls.pipeline.validator.schema(tool.spec) == tool.spec.params
    assert tool.spec.params["properties"]["resource"]["enum"] == ["pods", "services"]


@pytest.mark.spec("R-CLI-5", "R-CLI-6", "R-CLI-8", "R-CLI-9")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("kubectl_get", {"resource": "pods; rm -rf ~"}),
        ("kubectl_get", {"resource": "pods", "namespace": "abc\n"}),
        ("kubectl_get", {"resource": "pods", "namespace": "-A"}),
        ("kubectl_get", {}),
        ("kubectl_get", {"resource": "pods", "extra": 1}),
        ("say", {"text": "-rf"}),
        ("say", {"text": "a\0b"}),
        ("say", {"text": "\ud800"}),
        ("say", {"text": 5}),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_and_nobody_is_asked(
    calls: Calls, tool: str, args: dict[str, Any]
) -> None:
    outcome = await calls.call(tool, **args)
    assert (outcome.state, outcome.result.code) == ("failed", "tool.validation")
    assert calls.asked == []


@pytest.mark.spec("R-CLI-11", "R-PRM-1", "R-PRM-2", "R-PRM-13")
async def test_a_write_tool_asks_with_its_vector_and_metacharacters_stay_literal(calls: Calls) -> None:
    text = "$(touch x); `id` && rm -rf ~ | cat > out\n'\"\\*"
    outcome = await calls.call("say", text=text)
    assert json.loads(outcome.result.text) == [text]
    request = calls.asked[0]
    assert request.category is Category.WRITE
    assert request.preview["argv"][-1] == text
    assert calls.logged[0].decision == "allow_once"


@pytest.mark.spec("R-PRM-4", "R-PRM-3")
async def test_a_denied_call_starts_nothing_and_admin_is_never_remembered(calls: Calls) -> None:
    calls.answer = "deny"
    assert (await calls.call("say", text="a")).state == "denied"
    calls.answer = "allow_run"
    assert (await calls.call("run_text", text="echo 1")).result.text == "1\n"
    assert (await calls.call("run_text", text="echo 1")).result.text == "1\n"
    assert [request.category.value for request in calls.asked] == ["write", "admin", "admin"]
    assert [entry.decision for entry in calls.logged] == ["deny", "allow_once", "allow_once"]


@pytest.mark.spec("R-BLK-1")
async def test_a_shell_by_another_name_is_no_way_around_the_blocklist(calls: Calls) -> None:
    outcome = await calls.call("run_text", text="rm -rf /")
    assert (outcome.state, outcome.result.code) == ("denied", "denied.blocklist")
    assert calls.asked == []


@pytest.mark.spec("R-CLI-13")
async def test_a_failing_program_is_an_error_result_for_the_model(calls: Calls) -> None:
    outcome = await calls.call("run_text", text="echo why; exit 9")
    assert (outcome.state, outcome.facts["exit_code"]) == ("failed", 9)
    assert outcome.result.text == "[Exit code 9.]\nwhy\n"
