"""The provider that the page on providers shows, taken from there and run as a person's own skill: in a confined
process, with nothing but plain data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import ImageBlock, media_to_plain
from desktop.domain.tools import ToolResult
from desktop.models.scripted import ScriptedModel, calls, says
from desktop.pipeline.skills.python_worker import PythonWorker
from desktop.safety.confinement.select import SystemConfinement
from tests.harness.help_pages import samples
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person
from tests.unit.safety.world import World

PICTURE = (ImageBlock("image/png", "aGVsbG8="),)
HEAD = (
    "---\nname: task\ndescription: x\nallowed-tools: look write-file agent-careful\nmetadata:\n"
    "  model: {agent: agent-careful}\n"
)


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[SystemConfinement]:
    world = World(tmp_path / "world")
    made = SystemConfinement(world.policy, lambda: world.settings)
    if made.probe().kind == "none":
        pytest.skip("nothing can confine a process here")
    yield made
    made.close()


def bench_of(
    tmp_path: Path, confinement: SystemConfinement, *rounds: Any, more: str = "", person: Person | None = None
) -> LibraryBench:
    (source,) = samples("models-and-providers", "python")
    workspace = str(confinement.profile().writable[0])

    def text(definition: Any) -> str:
        return Path(definition.path).read_text("utf-8")

    folder = tmp_path / "bench"
    folder.mkdir()
    paints = FakeTool("paint", body=lambda *_: ToolResult("painted", media=PICTURE))
    tools = (FakeTool("look", body=lambda *_: "seen"), FakeTool("write-file", Category.WRITE), paints)
    worker = PythonWorker(confinement, lambda: workspace, text)
    bench = LibraryBench(folder, *tools, model=ScriptedModel(rounds), python=worker, person=person)
    bench.write("agent-careful.skill.py", source)
    bench.write("task.skill.md", f"{HEAD}{more}---\nDo it.\n")
    return bench


class Seen:
    """What stands around every model request."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    async def process(self, context: Any, call_next: Any) -> None:
        self.requests.append(context.request)
        await call_next()


STREAMS = """
import asyncio
frontmatter = {"name": "agent-careful", "description": "x", "metadata": {"category": "read", "visibility": "hidden",
    "params": {"type": "object", "additionalProperties": True}}}
async def run(ctx, args):
    event = {"type": "message", "text": "a", "delta": True}
    for _ in range(22):
        await asyncio.gather(*(ctx.manager.invoke(args["hookRef"], event) for _ in range(50)))
    try:
        await ctx.manager.invoke(args["hookRef"] + "x", {})
    except Exception as error:
        caught = str(error)
    answer = await ctx.manager.invoke(args["invokeRef"], {"tool": "passes-on", "args": {"ref": args["invokeRef"]}})
    return [caught, answer["text"]]
"""
PASSES = """
frontmatter = {"name": "passes-on", "description": "x", "metadata": {"category": "read",
    "params": {"type": "object", "additionalProperties": True}}}
async def run(ctx, args):
    try:
        return await ctx.manager.invoke(args["ref"], {"tool": "look", "args": {"path": "a"}})
    except Exception as error:
        return "caught: " + str(error)
"""


@pytest.mark.spec("R-PRV-2", "R-PRV-11")
async def test_it_may_tell_each_word_and_anothers_callback_is_a_failure_that_can_be_caught(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    bench = bench_of(tmp_path, confinement)
    bench.write("agent-careful.skill.py", STREAMS)
    bench.write("passes-on.skill.py", PASSES)
    bench.write("task.skill.md", HEAD.replace("look", "look passes-on") + "---\nDo it.\n")
    outcome = await bench.call("task", allowed="task look passes-on")
    assert not outcome.result.is_error, outcome.result.text
    caught, passed = outcome.result.structured
    assert "no tool" in caught
    assert passed == "caught: There is no such tool here."


CALLS = """
frontmatter = {"name": "agent-careful", "description": "x", "metadata": {"category": "read", "visibility": "hidden",
    "params": {"type": "object", "additionalProperties": True}}}
async def run(ctx, args):
    calls = [{"tool": "paint", "args": {"path": "a"}}, {"tool": "look", "args": {"path": "a"}}, {"args": {"path": "a"}}]
    return [await ctx.manager.invoke(args["invokeRef"], call) for call in calls]
"""


@pytest.mark.spec("R-PRV-2")
async def test_it_gets_the_pictures_of_a_call_that_gave_any_and_a_refusal_for_what_is_no_call(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    bench = bench_of(tmp_path, confinement)
    bench.write("agent-careful.skill.py", CALLS)
    bench.write("task.skill.md", HEAD.replace("look", "look paint") + "---\nDo it.\n")
    outcome = await bench.call("task", allowed="task look paint")
    assert not outcome.result.is_error, outcome.result.text
    painted, looked, nothing = outcome.result.structured
    assert (painted["text"], painted["media"]) == ("painted", media_to_plain(PICTURE))
    assert looked == {"ok": True, "text": "seen", "code": "", "state": "done", "structured": None, "finished": False}
    assert nothing["text"] == "That is no call that can be made here."
    assert {**nothing, "text": ""} == {**looked, "text": "", "ok": False, "code": "tool.unknown", "state": "denied"}


PASSES_ON = CALLS.replace(
    '{"tool": "paint", "args": {"path": "a"}}',
    '{"tool": "skill-invoke", "args": {"ref": "look", "args": {"path": "b"}}}',
)


@pytest.mark.spec("R-PRV-2")
async def test_a_call_through_skill_invoke_is_the_call_that_it_asks_for(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    bench = bench_of(tmp_path, confinement)
    bench.write("agent-careful.skill.py", PASSES_ON)
    bench.write("task.skill.md", HEAD.replace("look", "look skill-invoke") + "---\nDo it.\n")
    outcome = await bench.call("task", allowed="task look skill-invoke")
    assert not outcome.result.is_error, outcome.result.text
    assert outcome.result.structured[0]["text"] == "seen"
    assert [(call["tool"], call["args"]) for call in outcome.facts["nested"]][:1] == [("look", "b")]


@pytest.mark.spec("R-PRV-11", "R-AG-3")
async def test_a_provider_that_runs_into_what_is_not_there_is_itself_not_said_to_be_missing(
    tmp_path: Path, confinement: SystemConfinement
) -> None:
    bench = bench_of(tmp_path, confinement)
    uncaught = STREAMS.replace("22", "1").replace("try:", "if True:").replace("except Exception as error:", "if 0:")
    bench.write("agent-careful.skill.py", uncaught)
    outcome = await bench.call("task", allowed="task look")
    assert outcome.result.is_error
    assert "There is no agent provider" not in outcome.result.text
    assert "There is no tool named" in outcome.result.text
    bench.write("task.skill.md", HEAD.replace("agent-careful", "agent-nope") + "---\nDo it.\n")
    assert "There is no agent provider named agent-nope" in (await bench.call("task", allowed="task look")).result.text


def _said(message: Any) -> str:
    return str(message.text or message.blocks[0].text)


@pytest.mark.spec("R-PRV-1", "R-AG-3", "R-AG-4", "R-SK-14", "R-SUP-7")
async def test_it_runs_the_loop_with_nothing_but_plain_data(tmp_path: Path, confinement: SystemConfinement) -> None:
    rounds = (calls("look", {"path": "a"}, text="Hm."), says("A draft."), says("The answer."))
    bench, layer = bench_of(tmp_path, confinement, *rounds), Seen()
    bench.lent["layers"] = (layer,)
    outcome = await bench.call("task", allowed="task look write-file")
    assert outcome.result.text == "The answer.", outcome.result
    assert layer.requests == bench.model.requests, "what holds a model request holds its requests too"
    heard = [[_said(message) for message in request.messages] for request in bench.model.requests]
    assert heard[1] == ["Execute the task.", "Hm.", "seen"]
    assert heard[2][-1].startswith("Check this answer.")
    assert [tool["name"] for tool in bench.model.requests[0].tools] == ["look", "write_file"]


@pytest.mark.spec("R-AG-5", "R-PRV-5")
async def test_its_calls_are_asked_about_like_any_agents(tmp_path: Path, confinement: SystemConfinement) -> None:
    person = Person("deny", "allow_once")
    write = calls("write_file", {"path": "a"})
    bench = bench_of(tmp_path, confinement, write, write, says("x"), says("Done."), person=person)
    await bench.call("task", allowed="task look write-file")
    assert [request.tool for request in person.asked] == ["write-file", "write-file"]
    texts = [bench.model.requests[at].messages[-1].blocks[0].text for at in (1, 2)]
    assert "denied by user" in texts[0]
    assert texts[1] == "did write-file"


@pytest.mark.spec("R-LIM-1", "R-RET-4")
async def test_limits_and_promised_values_are_kept_for_it(tmp_path: Path, confinement: SystemConfinement) -> None:
    returns = "  returns: {type: object, required: [n], properties: {n: {type: number}}}\n"
    bench = bench_of(tmp_path, confinement, says("words"), calls("finish", {"n": 1}), more=returns)
    assert (await bench.call("task", allowed="task look write-file")).result.structured == {"n": 1}
