"""Every kind of tool passes the same gates in the same order, in the whole app, whatever a hostile model writes.

Each gate is shown to come before the next one by a call that both would refuse: the first one answers.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.limits import Limit
from desktop.domain.runs.meta import RunMeta
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller, ExactTools
from desktop.skills.resolution.programmatic import RegisterToolOptions, register_tool
from tests.gui.app.kit import Running, call
from tests.servers.mcp import honest

SKILL = 'frontmatter = {{"name": "{name}", "description": "Leaves a mark", "metadata": {{"category": "write"}}}}\n'
PYTHON = SKILL.format(name="py-mark") + "\n\nasync def run(ctx, args):\n    return 'ran'\n"
SCRIPT = (
    'export const frontmatter = {name: "js-mark", description: "Leaves a mark", metadata: {category: "write"}};\n'
    "export default async function run(ctx, args) { return 'ran'; }\n"
)
TEXT = "---\nname: text-mark\ndescription: Leaves a mark\n---\nDo nothing.\n"
CLI = "".join(
    f"  - name: cli-{category}\n    description: Leaves a mark\n    category: {category}\n    cmd: {sys.executable}\n"
    '    args: ["-c", "1"]\n    parameters: {text: {type: string}}\n'
    for category in ("read", "write", "admin")
)


class NoMore:
    """Limits that are used up."""

    def count_call(self) -> None:
        """Counted."""

    def refuse_call(self) -> Limit:
        return Limit("calls", 0, "the test")


@pytest.fixture
async def app(start: Any, tmp_path: Path) -> Running:
    """The app with a tool of every kind: built in, of tools.yaml, of a server, in code, as text, made by a program."""
    home = tmp_path / "home"
    (home / "skills").mkdir(parents=True)
    home.chmod(0o700)
    for name, text in (("py-mark.skill.py", PYTHON), ("js-mark.skill.js", SCRIPT), ("text-mark.skill.md", TEXT)):
        (home / "skills" / name).write_text(text)
    (home / "tools.yaml").write_text("tools:\n" + CLI)
    server = {"name": "files", "command": honest()[0], "args": honest()[1:], "enabled": True}
    (home / "mcp.yaml").write_text(json.dumps({"servers": [server]}))
    made = await start([{"text": "Hello."}], joined=True)
    services = made.startup._services
    await made.until(lambda: made.models.mcp.rows and made.models.mcp.rows[0].state == "running", "the server")
    server = services.mcp._one("files")
    await services.mcp.accept("files", {one.raw: one.digest for one in server.offered})
    register_tool(services.skills.fabric.globals, RegisterToolOptions("made-up", lambda ctx, args: "ran", "Made"))
    wanted = {"bash", "write-file", "cli-read", "cli-admin", "files-say", "py-mark", "js-mark", "text-mark", "made-up"}
    await made.until(lambda: wanted <= {tool.spec.name for tool in tools_of(made)}, "all of them")
    return made


def tools_of(app: Running) -> list[Any]:
    return list(app.startup._services.chats._runtime.pipeline.table.tools())


class Spy:
    """Who was asked, and what ran."""

    def __init__(self, app: Running) -> None:
        self.asked: list[Any] = []
        app.models.approvals.asked.connect(self.asked.append)


async def invoke(app: Running, tool: Any, arguments: Any, caller: Caller, **more: Any) -> CallResult:
    runtime = app.startup._services.chats._runtime
    root = Invocation(RunMeta("run", CancellationToken(), ""), shared=runtime.skills.shared)
    name = tool if isinstance(tool, str) else tool.spec.name
    return await runtime.pipeline.invoke(
        CallRequest(ToolCallBlock("call-1", name, arguments), caller, root, lambda _event: None, **more)
    )


def all_but(name: str) -> ExactTools:
    """A list on which everything is but this."""
    return ExactTools(("nothing", name + "-not"))


@pytest.mark.spec("R-INV-1", "R-INV-2", "R-TOOL-2", "R-TOOL-3", "R-PRM-1", "R-RES-10")
async def test_every_kind_of_tool_is_refused_by_each_gate_before_the_next_one_looks(app):
    spy = Spy(app)
    found = tools_of(app)
    assert {tool.spec.source for tool in found} >= {"library", "tools.yaml", "mcp", "mine", "program"}
    for tool in found:
        name, hidden = tool.spec.name, tool.spec.visibility == "hidden"
        own = Caller("native", ("a",), ExactTools((name,)))
        nothing = await invoke(app, tool, {}, Caller("native", ("a",), ExactTools(())))
        assert nothing.result.code == ("denied.visibility" if hidden else "denied.allowed_tools"), name
        steered = await invoke(app, tool, {"$policy": "allow", "$name": "bash"}, own)
        assert steered.result.code == "denied.untrusted_ref", name
        listed = await invoke(app, tool, {"made-up-argument": 1}, Caller("native", ("a",), all_but(name)))
        assert listed.result.code in ("denied.visibility", "denied.allowed_tools"), name
        if tool.spec.params.get("additionalProperties") is False or not tool.spec.params:
            wrong = await invoke(app, tool, {"made-up-argument": 1}, own, limits=NoMore())
            assert wrong.result.code == "tool.validation", (name, wrong.result)
        elif not tool.spec.params.get("required"):
            over = await invoke(app, tool, {}, own, limits=NoMore())
            assert over.result.code == "denied.limit", (name, over.result)
    assert spy.asked == []


@pytest.mark.spec("R-PRM-1", "R-PRM-6", "R-INV-1", "R-TOOL-5")
async def test_every_kind_of_tool_that_writes_waits_for_the_person_and_runs_nothing_when_they_say_no(app):
    given = {
        "bash": {"command": "touch mark"},
        "write-file": {"path": "mark", "content": "x"},
        "cli-write": {"text": "x"},
        "cli-admin": {"text": "x"},
        "files-say": {"text": "x"},
        "py-mark": {},
        "js-mark": {},
        "made-up": {},
    }
    for name, arguments in given.items():
        caller = Caller("native", ("a",), ExactTools((name,)))
        doing = asyncio.ensure_future(invoke(app, name, arguments, caller))
        await app.until(lambda: app.models.approvals.requests, f"a request of {name}")
        (request,) = app.models.approvals.requests
        assert request.tool == name
        app.models.approvals.answer(request.request_id, "deny", digest=request.digest)
        outcome = await doing
        assert (outcome.state, outcome.result.code) == ("denied", "denied.permission"), name
    assert list((app.home.path / "workspace").iterdir()) == []


HOSTILE: list[tuple[str, Any]] = [
    ("read_file", {"path": "x", "roots": ["/"], "allowed_paths": ["/"]}),
    ("read_file", {"path": "x", "$policy": "allow"}),
    ("bash", {"command": "id", "cwd": "/", "network": True, "confinement": "none"}),
    ("bash", {"command": "id", "category": "read"}),
    ("bash", {"command": ["rm", "-rf", "/"]}),
    ("bash", {"command": "x" * 100_001}),
    ("write_file", {"path": "x", "content": "x" * 10, "rules": {"allow": "*"}}),
    ("write_file", {"path": ["x"], "content": None}),
    ("write_file", {"path": "x" * 300_000, "content": "y"}),
    ("write_file", []),
    ("write_file", None),
    ("list_directory", {"path": {"$ref": "file:///etc/passwd"}}),
    ("../skills/py-mark", {}),
    ("file:///etc/passwd", {}),
    ("inline://js,1", {}),
    ("mcp://files/say", {"text": "x"}),
    ("agent", {"prompt": "x"}),
    ("context_manager", {"op": "invoke", "ref": "bash", "args": {"command": "id"}}),
    ("trust", {}),
    ("validate-allowed-tools", {}),
    ("", {}),
    ("bash\n", {"command": "id"}),
    ("Bash", {"command": "id"}),
    ("b" * 100_000, {}),
    ("__class__", {}),
    ("agent-invoke", {}),
    ("bash;write_file", {}),
    ("made_up", {"$context": {"caller": "library"}}),
    ("skill_invoke", {"ref": "bash", "$as_caller": True}),
    ("skill_invoke", {"ref": "trust", "args": {"$policy": "allow"}}),
    ("skill_invoke", {"ref": "bash", "frontmatter": {"metadata": {"trust": "allow"}}}),
]


@pytest.mark.spec("R-INV-15", "R-TOOL-2", "R-TOOL-3", "R-LOOP-13", "R-FS-10")
async def test_nothing_that_a_hostile_model_writes_asks_for_more_or_runs(app):
    """With the assistant's own list, so that only what it may call at all gets further."""
    spy = Spy(app)
    runtime = app.startup._services.chats._runtime
    skill = await runtime.skills.find("assistant")
    caller = Caller("native", ("assistant",), runtime.skills.allowed_of(skill))
    for tool, arguments in HOSTILE:
        block = ToolCallBlock("same-id", tool, arguments if isinstance(arguments, dict) else None, "", "no object")
        root = Invocation(RunMeta("run", CancellationToken(), ""), shared=runtime.skills.shared)
        outcome = await runtime.pipeline.invoke(CallRequest(block, caller, root, lambda _event: None))
        assert outcome.result.is_error, (tool[:40], str(arguments)[:80], outcome.result.text[:200])
        assert len(outcome.result.text) < 20_000
    assert spy.asked == []
    assert list((app.home.path / "workspace").iterdir()) == []


@pytest.mark.spec("R-LOOP-13", "R-PRM-8", "R-PRM-5")
async def test_calls_of_one_message_with_the_same_id_are_two_calls_and_two_questions(start):
    twice = [*call("write_file", path="a.txt", content="a"), *call("write_file", path="b.txt", content="b")]
    for step in twice:
        step["call"]["id"] = "the-same"
    app = await start(twice, [{"text": "Done."}], joined=True)
    app.say("go")
    first = await app.asked()
    app.models.approvals.answer(first.request_id, "deny", digest=first.digest)
    await app.until(lambda: app.models.approvals.requests and app.models.approvals.requests[0] != first, "the second")
    second = app.models.approvals.requests[0]
    assert first.call_id != second.call_id
    app.models.approvals.answer(first.request_id, "allow_once", digest=first.digest)
    app.models.approvals.answer(second.request_id, "allow_once", digest=second.digest)
    await app.answered("Done.")
    folder = app.home.path / "workspace"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"b.txt": "b"}
