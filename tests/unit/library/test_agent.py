"""Markdown skills, run by the ``agent`` skill with a model of their own rounds."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.models import TextDelta
from desktop.domain.runs.events import AgentTraced
from desktop.models.scripted import ScriptedModel, calls, fails, says
from tests.harness.timeouts import WAIT_S, until
from tests.unit.agents.script import Hang, Script
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import FakeTool, Person

GREET = """---
name: greet
description: Greets somebody.
{more}metadata:
  params:
    type: object
    properties:
      name: {{type: string}}
    required: [name]
{metadata}---
Greet :arg[name] warmly. :skill[look-around]
"""


def bench_of(
    tmp_path: Path, *rounds: Any, person: Person | None = None, more: str = "", metadata: str = ""
) -> LibraryBench:
    tools = (FakeTool("write-file", Category.WRITE), FakeTool("look"))
    bench = LibraryBench(tmp_path, *tools, person=person, model=ScriptedModel(rounds))
    bench.write("greet.skill.md", GREET.format(more=more, metadata=metadata))
    return bench


@pytest.mark.spec("R-AG-1", "R-SK-12", "R-AG-10")
async def test_a_skill_works_on_its_expanded_text_and_its_last_text_is_the_result(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("Hello Ada"))
    outcome = await bench.call("greet", {"name": "Ada"})
    assert outcome.result.text == "Hello Ada"
    request = bench.model.requests[0]
    assert request.system.startswith("Greet Ada warmly.")
    assert request.messages[0].text.startswith("Execute the task.")
    assert '"name": "Ada"' in request.messages[0].text


@pytest.mark.spec("R-INV-2", "R-AG-2", "R-DSC-3")
async def test_its_calls_pass_the_gates_and_its_list_governs_what_it_sees(tmp_path: Path) -> None:
    person = Person("deny")
    rounds = (calls("write_file", {"path": "a"}), calls("look", {"path": "b"}, unoffered=True), says("done"))
    bench = bench_of(tmp_path, *rounds, person=person, more='allowed-tools: "write-file"\n')
    outcome = await bench.call("greet", {"name": "Ada"})
    assert outcome.result.text == "done"
    assert [tool["name"] for tool in bench.model.requests[0].tools] == ["write_file"]
    results = [
        block for message in bench.model.requests[2].messages for block in message.blocks if hasattr(block, "is_error")
    ]
    assert ["denied by user" in results[0].text, "not among the tools" in results[1].text] == [True, True]
    assert [(call["tool"], call["state"], call["args"]) for call in outcome.facts["nested"]] == [
        ("write_file", "denied", "a"),
        ("look", "denied", "b"),
    ]


@pytest.mark.spec("R-AG-5")
async def test_an_agent_can_never_do_more_than_who_called_it(tmp_path: Path) -> None:
    rounds = (calls("write_file", {"path": "a"}, unoffered=True), says("done"))
    bench = bench_of(tmp_path, *rounds, person=Person("allow_once"), more='allowed-tools: "write-file look"\n')
    await bench.call("greet", {"name": "Ada"}, allowed="greet look")
    assert [tool["name"] for tool in bench.model.requests[0].tools] == ["look"]
    result = bench.model.requests[1].messages[-1].blocks[0]
    assert result.is_error


@pytest.mark.spec("R-AG-8", "R-AG-7", "R-DSC-4", "R-DSC-10")
async def test_without_a_list_it_explores_and_does_not_find_itself(tmp_path: Path) -> None:
    agents = ("greet", "agent", "agent-litellm")
    rounds = (
        calls("skill_list", {"includeHidden": True}),
        *(calls("skill_describe", {"name": name}) for name in agents),
        *(calls("skill_invoke", {"ref": name, "args": {"name": "again"}}) for name in agents),
        says("done"),
    )
    bench = bench_of(tmp_path, *rounds)
    bench.write("wave.skill.md", GREET.format(more="", metadata="").replace("name: greet", "name: wave"))
    assert (await bench.call("greet", {"name": "Ada"})).result.text == "done"
    offered = [tool["name"] for tool in bench.model.requests[0].tools]
    assert offered == ["look", "write_file", "skill_list", "skill_describe", "skill_invoke"]
    listed, *told = (request.messages[-1].blocks[0] for request in bench.model.requests[1:])
    names = {row["name"] for row in json.loads(listed.text)}
    assert "wave" in names
    assert not names & set(agents)
    for result in told[:3]:
        assert "There is no tool named" in result.text
    for result in told[3:]:
        assert (result.is_error, result.facts["code"].partition(".")[0]) == (True, "denied"), result.text


@pytest.mark.spec("R-RET-1", "R-RET-2", "R-RET-3", "S-RET-1")
async def test_a_promised_value_is_asked_for_again_and_checked(tmp_path: Path) -> None:
    returns = "  returns:\n    type: object\n    properties: {n: {type: number}}\n    required: [n]\n"
    bench = bench_of(tmp_path, says("Well…"), says('```json\n{"n": 3}\n```'), metadata=returns)
    assert (await bench.call("greet", {"name": "Ada"})).result.structured == {"n": 3}
    assert '"required": ["n"]' in bench.model.requests[0].system
    wrong = (
        bench_of(tmp_path / "b", says('{"n": "x"}'), metadata=returns) if (tmp_path / "b").mkdir() is None else bench
    )
    # asked again with what was wrong, three times, and then it fails (S-RET-1)
    wrong.model = ScriptedModel([says('{"n": "x"}')], repeat=True)
    outcome = await wrong.call("greet", {"name": "Ada"})
    assert (outcome.result.is_error, len(wrong.model.requests)) == (True, 4)
    assert "no valid result" in outcome.result.text
    assert "n: " in wrong.model.requests[1].messages[-1].text


@pytest.mark.spec("R-LIM-1", "R-LIM-5")
async def test_its_own_limit_stops_it_and_is_named(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, *[calls("look", {"path": "a"})] * 5, metadata="  model:\n    maxTurns: 2\n")
    outcome = await bench.call("greet", {"name": "Ada"})
    assert not outcome.result.is_error
    assert "maxTurns 2 (set by the skill greet)" in outcome.result.text
    assert len(bench.model.requests) == 2


async def test_a_model_that_fails_is_a_failure_of_the_call_in_words(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, fails("model.key_refused", "The key is wrong."))
    outcome = await bench.call("greet", {"name": "Ada"})
    assert outcome.result.is_error
    assert "The key is wrong." in outcome.result.text


@pytest.mark.spec("R-AG-12")
async def test_stopping_the_run_stops_the_agent_in_it_and_the_request_under_way(tmp_path: Path) -> None:
    bench = bench_of(tmp_path)
    bench.model = model = Script([TextDelta("…"), Hang()])
    task = asyncio.ensure_future(bench.call("greet", {"name": "Ada"}))
    await until(lambda: model.requests, "a request")
    bench.token.cancel("stop")
    assert (await asyncio.wait_for(task, WAIT_S)).state == "aborted"
    await until(lambda: model.cancelled, "the end of the request")
    (ended,) = [one.data for one in bench.events if isinstance(one, AgentTraced) and one.type == "agent-complete"]
    assert (ended["status"], ended["error"]) == ("aborted", "stop")
    await bench.owner.close()


@pytest.mark.spec("R-SK-12")
async def test_a_directive_that_fails_stops_the_call_before_any_model_is_asked(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("never"))
    bench.write("reader.skill.md", "---\nname: reader\ndescription: reads\n---\nline\n:inline[/etc/shadow]\n")
    outcome = await bench.call("reader")
    assert outcome.result.is_error
    assert "line" in outcome.result.text
    assert not bench.model.requests


@pytest.mark.spec("R-SK-13", "R-RES-17")
async def test_a_saved_text_is_what_the_next_call_works_on(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("one"), says("two"))
    await bench.call("greet", {"name": "Ada"})
    bench.write("greet.skill.md", "---\nname: greet\ndescription: x\n---\nSomething else.\n")
    await bench.call("greet")
    assert bench.model.requests[1].system.startswith("Something else.")
    assert (await bench.call("greet", {"name": "Ada"})).result.code == "tool.validation"


@pytest.mark.spec("R-INV-9", "R-AG-11", "R-BLT-9")
async def test_finish_ends_the_agents_work_with_its_value(tmp_path: Path) -> None:
    rounds = (calls("context_manager", {"op": "finish", "value": {"v": 42}}), says("never asked"))
    bench = bench_of(tmp_path, *rounds, more='allowed-tools: "context-manager"\n')
    outcome = await bench.call("greet", {"name": "Ada"}, allowed="greet context-manager")
    assert outcome.result.structured == {"v": 42}
    assert len(bench.model.requests) == 1


@pytest.mark.spec("R-INV-9")
async def test_fail_ends_the_agents_work_with_its_reason(tmp_path: Path) -> None:
    rounds = (calls("context_manager", {"op": "fail", "reason": "cannot be done"}), says("never asked"))
    bench = bench_of(tmp_path, *rounds, more='allowed-tools: "context-manager"\n')
    outcome = await bench.call("greet", {"name": "Ada"}, allowed="greet context-manager")
    assert outcome.result.is_error
    assert "cannot be done" in outcome.result.text
    assert len(bench.model.requests) == 1


@pytest.mark.spec("R-RET-3")
@pytest.mark.parametrize("text", ["plain words", '"a text"', "3"])
async def test_a_promised_object_is_never_something_else(tmp_path: Path, text: str) -> None:
    returns = "  returns:\n    type: object\n"
    bench = bench_of(tmp_path, *[says(text)] * 5, metadata=returns)
    assert (await bench.call("greet", {"name": "Ada"})).result.is_error
