"""What model-written code may set for the calls that it makes, and under whose list a provider works (D-11)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from desktop.agents.skill.discovery import resolve_visible_tools
from desktop.domain.code import CodeLimits
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.safety.confinement.linux.code_profile import code_sandbox_profile
from desktop.skills.patterns.lists import AllowedList
from desktop.workers.js_code.engine import JsEngine, WorkerSpec
from tests.unit.library.kit import LibraryBench
from tests.unit.library.test_code_mode import runs, told
from tests.unit.pipeline.kit import FakeTool

pytestmark = pytest.mark.spec("D-11")

OPENED = {"activatable": True}
CONFIG = {"type": "object", "properties": {"how": {"type": "string"}}, "required": ["how"]}
TASK = "---\nname: task\ndescription: x\n{more}metadata:\n  model: {{toolMode: code}}\n---\nDo it.\n"
SUB = "---\nname: sub\ndescription: x\nmetadata:\n  timeout: 5\n  $remove: session\n---\nDo that.\n"
EVIL = ("agent-hidden", "agent-denied")

KERNEL = [
    {"model": {"agent": "agent-hidden"}},
    {"model": {"agent": "agent-denied"}},
    {"model": {"maxTurns": 900}},
    {"model": {"maxSteps": 900}},
    {"model": {"persistent": True}},
    {"model": {"toolMode": "code"}},
    {"model": {}},
    {"model": True},
    {"returns": {"type": "object"}},
    {"role": "middleware"},
    {"tags": ["a"]},
    {"trust": "*"},
    {"visibility": "shown"},
    {"paths": ["/"]},
    {"cwd": "/"},
    {"workspace": "/"},
    {"include": "x"},
    {"mcp": {}},
    {"category": "read"},
    {"main": True},
    {"params": {}},
    {"allowed-tools": "*"},
    {"allowedTools": "*"},
    {"allowed_tools": "*"},
    {"delegate": "look"},
    {"activatable": True},
    {"order": {}},
    {"hook": "$next"},
    {"validate-args": False},
    {"validate-allowed-tools": False},
    {"limits": False},
    {"safety": False},
    {"directives": False},
    {"$inherit": False},
    {"$order": {}},
    {"$remove": "timeout"},
    {"$local": {}},
]
SPELLINGS = [
    {"metadata": {"model": {"agent": "agent-hidden"}}},
    {"metadata": {"metadata": {"model": {"agent": "agent-hidden"}}}},
    {"frontmatter": {"model": {"agent": "agent-hidden"}}},
    {"metadata.model": {"agent": "agent-hidden"}},
    {"metadata.model.agent": "agent-hidden"},
    {"model.agent": "agent-hidden"},
    {"Model": {"agent": "agent-hidden"}},
    {"model ": {"agent": "agent-hidden"}},
    {"metadata": {"mark": {"how": "x"}}, "model": {"agent": "agent-hidden"}},
    {"metadata": {}, "model": {"agent": "agent-hidden"}},
    {"mark": {"how": "x"}, "model": {"agent": "agent-hidden"}},
    {"constructor": {}},
    {"prototype": {}},
    {"./mark.skill.py": {}},
    {"file:///tmp/mark.skill.py": {}},
    {"inline://mark": {}},
    {"": {}},
    {"nothing-of-this-name": {}},
    {"look": {}},
    {"sub": {}},
    {"agent": {}},
    {"ma_rk": {}},
    {"MARK": {"how": "x"}},
]
SHUT = [
    {"shut": {"how": "x"}},
    {"concealed": {"how": "x"}},
    {"bare": {}},
    {"denied-one": {"how": "x"}},
    {"no-role": {}},
    {"timeout": {"seconds": 900}},
    {"timeout": False},
    {"session": {"key": "other"}},
]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[JsEngine]:
    (tmp_path / "empty").mkdir()
    found = JsEngine(lambda: WorkerSpec(str(tmp_path / "empty"), *code_sandbox_profile()), CodeLimits(cpu_s=20))
    yield found
    await found.close()


class World:
    """Providers that count when they run, middleware of every kind, a prompt to call, a task whose code calls it."""

    def __init__(self, folder: Path, engine: JsEngine | None, *rounds: Any, list_: str = "") -> None:
        self.ran: list[str] = []
        folder.mkdir(exist_ok=True)
        self.bench = LibraryBench(folder, FakeTool("look"), model=ScriptedModel([*rounds, *[says("end")] * 9]))
        self.bench.lent = {"code": engine} if engine is not None else {}
        for name in EVIL:
            self.bench.register(name, self._noting(name), visibility="hidden" if name == "agent-hidden" else "")
        for name, metadata, params, visibility in (
            ("mark", OPENED, CONFIG, ""),
            ("shut", {}, CONFIG, ""),
            ("concealed", OPENED, CONFIG, "hidden"),
            ("bare", OPENED, None, ""),
            ("denied-one", OPENED, CONFIG, ""),
        ):
            self.bench.register(
                name, self._noting(name), role="middleware", metadata=metadata, params=params, visibility=visibility
            )
        self.bench.register("no-role", self._noting("no-role"), metadata=OPENED)
        more = f'allowed-tools: "{list_}"\n' if list_ else ""
        self.bench.write("task.skill.md", TASK.format(more=more))
        self.bench.write("sub.skill.md", SUB)

    def _noting(self, name: str) -> Any:
        async def run(ctx: Any, args: Any) -> Any:
            self.ran.append(name)

        return run


def tried(overrides: list[Any], ref: str = "sub", args: Any = None) -> str:
    """Code that makes one call with each of these and gives what became of them."""
    called = f"ctx.manager.invoke({json.dumps(ref)}, {json.dumps(args or {})}, {{frontmatter}})"
    return (
        f"const out = []; for (const frontmatter of {json.dumps(overrides)})"
        f"try {{ await {called}; out.push('ran') }} catch (e) {{ out.push(e.code) }} return out"
    )


def value(world: "World") -> Any:
    """What the task's code gave, which is the last thing that its model read."""
    return told(world.bench, -1)["value"]


ALL = "* agent-denied($deny) denied-one($deny)"


@pytest.mark.spec("R-INV-15")
@pytest.mark.parametrize("corpus", [KERNEL, SPELLINGS, SHUT], ids=["keys of the kernel", "spellings", "not opened"])
@pytest.mark.parametrize("ref", ["sub", "look"])
async def test_code_sets_nothing_for_a_call_but_what_was_opened_to_it(
    tmp_path: Path, engine: JsEngine, corpus: list[Any], ref: str
) -> None:
    world = World(tmp_path / "w", engine, runs(tried(corpus, ref, {"path": "a"} if ref == "look" else {})), list_=ALL)
    refused = [one for one in corpus if ref == "sub" or not {"timeout", "session"} & one.keys()]
    await world.bench.call("task")
    got = dict(zip(map(json.dumps, corpus), value(world), strict=True))
    assert {text: got[text] for text in map(json.dumps, refused)} == {
        json.dumps(one): "denied.untrusted_ref" for one in refused
    }
    assert world.ran == []


async def test_prototype_keys_are_no_keys(tmp_path: Path, engine: JsEngine) -> None:
    code = (
        'const out = []; for (const text of [\'{"__proto__": {"model": {"agent": "agent-hidden"}}}\'])'
        "try { await ctx.manager.invoke('sub', {}, {frontmatter: JSON.parse(text)}); out.push('ran') }"
        "catch (e) { out.push(e.code) }"
        "const made = Object.create({model: {agent: 'agent-hidden'}});"
        "out.push(await ctx.manager.invoke('sub', {}, {frontmatter: made})); return out"
    )
    world = World(tmp_path / "w", engine, runs(code))
    await world.bench.call("task")
    assert value(world) == ["denied.untrusted_ref", "end"]
    assert world.ran == []


@pytest.mark.spec("R-INV-15", "R-DSC-7")
async def test_what_was_opened_stands_around_a_call_with_values_that_fit(tmp_path: Path, engine: JsEngine) -> None:
    corpus = [{"mark": {"how": "x"}}, {"metadata": {"mark": {"how": "x"}}}, {"mark": {"how": 1}}, {"mark": {}}]
    world = World(tmp_path / "w", engine, runs(tried([*corpus, {"mark": True}, {"mark": {"how": "x", "b": 1}}])))
    await world.bench.call("task")
    assert value(world) == ["ran", "ran", *["tool.validation"] * 4]
    assert world.ran == ["mark", "mark"]


@pytest.mark.spec("R-INV-15", "R-INV-3")
@pytest.mark.parametrize(
    ("list_", "expected"),
    [
        ("sub", "denied.untrusted_ref"),
        ("sub mark", "ran"),
        ("sub concealed", "denied.untrusted_ref"),
        ("sub mark(how=y)", "denied.allowed_tools"),
        ("* mark($deny)", "denied.untrusted_ref"),
        ("sub ma*", "ran"),
    ],
)
async def test_what_code_activates_has_to_be_in_its_list(
    tmp_path: Path, engine: JsEngine, list_: str, expected: str
) -> None:
    world = World(tmp_path / "w", engine, runs(tried([{"mark": {"how": "x"}}])), list_=list_)
    await world.bench.call("task")
    assert value(world) == [expected]


@pytest.mark.spec("R-VIS-1")
async def test_hidden_middleware_has_to_be_named(tmp_path: Path, engine: JsEngine) -> None:
    world = World(tmp_path / "w", engine, runs(tried([{"concealed": {"how": "x"}}])), list_="* concealed")
    await world.bench.call("task", allowed="* concealed")
    assert (value(world), world.ran) == (["ran"], ["concealed"])


@pytest.mark.spec("R-DSC-7")
async def test_the_prompt_tells_of_the_librarys_four_with_their_parameters_and_of_no_plumbing(
    tmp_path: Path, engine: JsEngine
) -> None:
    world = World(tmp_path / "w", engine, list_=ALL)
    await world.bench.call("task")
    section = world.bench.model.requests[0].system.partition("# Middleware")[2]
    shown = [line.removeprefix("## ") for line in section.splitlines() if line.startswith("## ")]
    assert shown == ["cache", "mark", "retry", "session", "timeout"]
    for word in ("ttl", "attempts", "seconds", "capture"):
        assert f'"{word}"' in section
    visible = resolve_visible_tools(world.bench.world.table.tools(), AllowedList.of(None))
    assert {tool.spec.name for tool in visible.middleware} == {*shown, "denied-one"}
    assert not {"cache", "mark", "retry"} & {tool.spec.name for tool in visible.usable}


async def test_code_repeats_and_remembers_a_call_with_the_librarys_own(tmp_path: Path, engine: JsEngine) -> None:
    code = (
        "const cached = {frontmatter: {cache: {ttl: 60}, retry: {attempts: 3, delay: 0}, session: {key: 'k'}}};"
        "const out = []; for (const i of [1, 2]) out.push(await ctx.manager.invoke('shaky', {}, cached));"
        "try { await ctx.manager.invoke('slow', {}, {frontmatter: {timeout: {seconds: 0.05}}}) }"
        "catch (e) { out.push(e.code) } return out"
    )
    world, tries = World(tmp_path / "w", engine, runs(code)), []

    async def shaky(ctx: Any, args: Any) -> str:
        tries.append(len(ctx.locals["session"]))
        if len(tries) == 1:
            raise RuntimeError("not yet")
        return f"try {len(tries)}"

    async def slow(ctx: Any, args: Any) -> None:
        await ctx.manager.invoke("event-wait", {"topic": "never", "timeout": 60})

    world.bench.register("shaky", shaky)
    world.bench.register("slow", slow)
    await world.bench.call("task")
    assert value(world) == ["try 2", "try 2", "tool.timeout"]


async def test_middleware_that_is_called_by_itself_says_what_it_is_for(tmp_path: Path) -> None:
    bench = LibraryBench(tmp_path)
    for name, args in (("retry", {}), ("cache", {"ttl": 1}), ("timeout", {"seconds": 1}), ("session", {})):
        result = (await bench.call(name, args)).result
        assert (result.code, "stands around a call" in result.text) == ("skill.not_middleware", True), name


@pytest.mark.spec("R-INV-15")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "ctx.manager.invoke('skill-invoke', {ref: 'sub', args: {$frontmatter: {model: {agent: 'agent-hidden'}}}})",
            "denied.untrusted_ref",
        ),
        (
            "ctx.manager.invoke('skill-invoke', {ref: 'sub', frontmatter: {model: {agent: 'agent-hidden'}}})",
            "tool.validation",
        ),
        (
            "ctx.manager.invoke('skill-invoke', {ref: 'sub', $frontmatter: {model: {agent: 'agent-hidden'}}})",
            "denied.untrusted_ref",
        ),
        (
            "ctx.manager.invoke('skill-invoke', {ref: 'sub'}, {frontmatter: {model: {agent: 'agent-hidden'}}})",
            "denied.untrusted_ref",
        ),
        ("ctx.manager.invoke('skill-invoke', {ref: 'agent-hidden'})", "denied.visibility"),
        ("ctx.manager.invoke('skill-invoke', {ref: 'agent-denied'})", "denied.allowed_tools"),
        (
            "ctx.manager.invoke('context-manager', {op: 'invoke', ref: 'sub', args: {$frontmatter: {}}})",
            "denied.untrusted_ref",
        ),
        ("ctx.manager.invoke('context-manager', {op: 'invoke', ref: 'agent-hidden'})", "denied.visibility"),
        ("ctx.manager.invoke('context-manager', {op: 'invoke', ref: 'agent-denied'})", "denied.allowed_tools"),
        ("ctx.manager.invoke('context-manager', {op: 'invoke', ref: 'sub', frontmatter: {}})", "tool.validation"),
        ("ctx.manager.invoke('agent', {prompt: 'x', config: {agent: 'agent-hidden'}})", "configuration"),
        (
            "ctx.manager.invoke('agent', {prompt: 'x', config: {agent: 'agent-hidden'}, allowedTools: '*'})",
            "configuration",
        ),
        (
            "ctx.manager.invoke('agent', {prompt: 'x', config: {agent: 'agent-hidden'}, allowedTools: 'agent-hidden'})",
            "configuration",
        ),
        ("ctx.manager.invoke('agent', {prompt: 'x', config: {agent: 'agent-demo'}})", "configuration"),
        (
            "ctx.manager.invoke('agent', {prompt: 'x', config: {agent: 'agent-denied'}, allowedTools: '*'})",
            "configuration",
        ),
    ],
)
async def test_no_way_round_reaches_a_hidden_or_denied_agent(
    tmp_path: Path, engine: JsEngine, code: str, expected: str
) -> None:
    piece = f"try {{ await {code}; return 'ran' }} catch (e) {{ return e.code }}"
    list_ = f"{ALL} context-manager agent"
    world = World(tmp_path / "w", engine, runs(piece), list_=list_)
    await world.bench.call("task", allowed=list_)
    assert (value(world), world.ran) == (expected, [])


@pytest.mark.spec("R-INV-15", "R-COD-9")
async def test_a_callback_that_code_leaves_behind_gets_no_further(tmp_path: Path, engine: JsEngine) -> None:
    code = (
        "await ctx.manager.invoke('event-subscribe', {topic: 'news', ref: 'agent-hidden'});"
        "await ctx.manager.invoke('event-subscribe', {topic: 'news', ref: 'sub'}, {});"
        "const event = {$frontmatter: {model: {agent: 'agent-hidden'}}, frontmatter: {model: {agent: 'agent-hidden'}}};"
        "await ctx.manager.invoke('event-emit', {topic: 'news', data: event}); return 1"
    )
    world = World(tmp_path / "w", engine, runs(code))
    await world.bench.call("task")
    await world.bench.owner.close()
    assert (value(world), world.ran) == (1, [])


# -- providers --------------------------------------------------------------------------------------------------------

BY_FILE = "---\nname: served\ndescription: x\n{more}metadata:\n  model: {{agent: {agent}}}\n---\nDo it.\n"


@pytest.mark.spec("R-AG-3", "R-AG-5", "R-AG-7")
@pytest.mark.parametrize(
    ("agent", "own", "above", "runs_"),
    [
        ("agent-hidden", None, None, True),
        ("agent-hidden", "look agent-hidden", None, True),
        ("agent-hidden", "look agent-hidden", "served look", True),
        ("agent-hidden", "agent-*", None, True),
        ("agent-hidden", "look", None, False),
        ("agent-hidden", "", None, False),
        ("agent-hidden", "* agent-hidden($deny)", None, False),
        ("agent-hidden", None, "* agent-hidden($deny)", False),
        ("agent-hidden", "agent-hidden", "* agent-*($deny)", False),
        ("agent-hidden", "look (", None, False),
    ],
)
async def test_a_provider_that_a_file_names_is_called_under_that_files_list(
    tmp_path: Path, agent: str, own: str | None, above: str | None, runs_: bool
) -> None:
    world = World(tmp_path, None)
    more = "" if own is None else f'allowed-tools: "{own}"\n'
    world.bench.write("served.skill.md", BY_FILE.format(agent=agent, more=more))
    result = (await world.bench.call("served", allowed=above)).result
    assert world.ran == ([agent] if runs_ else [])
    if not runs_ and own != "look (":
        assert result.code == "configuration"
        assert "model.agent" in result.text
        assert "allowed-tools" in result.text


@pytest.mark.spec("R-AG-3", "R-AG-5")
@pytest.mark.parametrize(("list_", "ran"), [("look", []), ("look agent-hidden", ["agent-hidden"])])
async def test_a_provider_that_a_skill_of_ones_own_sets_for_a_call_is_called_under_the_called_skills_list(
    tmp_path: Path, list_: str, ran: list[str]
) -> None:
    world = World(tmp_path, None)
    world.bench.write("served.skill.md", f'---\nname: served\ndescription: x\nallowed-tools: "{list_}"\n---\nDo it.\n')

    async def boss(ctx: Any, args: Any) -> Any:
        return await ctx.manager.invoke("served", {}, {"frontmatter": {"model": {"agent": "agent-hidden"}}})

    world.bench.register("boss", boss, source="mine")
    result = (await world.bench.call("boss")).result
    assert (world.ran, result.code) == (ran, "" if ran else "configuration")


@pytest.mark.spec("R-DSC-6")
async def test_the_provider_that_a_list_names_is_no_tool_of_its_model(tmp_path: Path) -> None:
    world, given = World(tmp_path, None), []

    async def provider(ctx: Any, args: Any) -> Any:
        given.append([tool["name"] for tool in args["tools"]])
        return (await ctx.manager.invoke(args["invokeRef"], {"tool": "agent-mine", "args": {}}))["code"]

    world.bench.register("agent-mine", provider)
    more = 'allowed-tools: "look agent-mine"\n'
    world.bench.write("served.skill.md", BY_FILE.format(agent="agent-mine", more=more))
    assert (await world.bench.call("served")).result.text == "denied.allowed_tools"
    assert given == [["look"]]


@pytest.mark.spec("R-AG-3")
async def test_what_the_app_brings_along_needs_no_mention_and_heeds_a_denial(tmp_path: Path) -> None:
    world = World(tmp_path, None)
    world.bench.write("served.skill.md", BY_FILE.format(agent="agent-demo", more='allowed-tools: "look"\n'))
    assert not (await world.bench.call("served")).result.is_error
    denied = 'allowed-tools: "* agent-demo($deny)"\n'
    world.bench.write("served.skill.md", BY_FILE.format(agent="agent-demo", more=denied))
    assert (await world.bench.call("served")).result.code == "configuration"
    plain = "---\nname: plain\ndescription: x\nallowed-tools: {}\n---\nDo it.\n"
    world.bench.write("plain.skill.md", plain.format("look"))
    assert (await world.bench.call("plain", allowed="plain")).result.text == "end"
    assert (await world.bench.call("plain", allowed="* agent-litellm($deny)")).result.code == "configuration"


async def test_a_model_that_may_call_agents_names_its_provider_in_its_list(tmp_path: Path, engine: JsEngine) -> None:
    asked = calls("agent", {"prompt": "x", "config": {"agent": "agent-hidden"}})
    for list_, ran in (("agent", []), ("agent agent-hidden", ["agent-hidden"])):
        world = World(tmp_path / str(len(list_)), None, asked)
        head = f'---\nname: boss\ndescription: x\nallowed-tools: "{list_}"\n---\nDo it.\n'
        world.bench.write("boss.skill.md", head)
        await world.bench.call("boss")
        assert world.ran == ran
