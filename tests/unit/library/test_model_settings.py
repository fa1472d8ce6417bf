"""What a skill says below ``model`` about its requests: it reaches them, and its model is the one that is asked."""

from pathlib import Path
from typing import Any

import pytest

from desktop.domain.model_settings import UNSAID, ModelSettings
from desktop.domain.models import ModelRef
from desktop.models.scripted import ScriptedModel, calls, says
from tests.unit.library.kit import LibraryBench

SKILL = """---
name: {name}
description: Works.
allowed-tools: named silent
metadata:
  model: {model}
{more}---
Do it.
"""


def bench_of(tmp_path: Path, *rounds: Any, **models: str) -> LibraryBench:
    bench = LibraryBench(tmp_path, model=ScriptedModel(rounds))
    for name, model in models.items():
        bench.write(f"{name}.skill.md", SKILL.format(name=name, model=model, more=""))
    return bench


def asked(bench: LibraryBench) -> list[tuple[str, ModelSettings]]:
    return [(str(request.model), request.settings) for request in bench.model.requests]


@pytest.mark.spec("R-MOD-1")
async def test_what_a_skill_says_reaches_its_requests(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("done"), one="{temperature: 0.2, maxTokens: 300, effort: low, stop: END}")
    assert (await bench.call("one")).result.text == "done"
    settings = ModelSettings(temperature=0.2, max_tokens=300, effort="low", stop=("END",))
    assert asked(bench) == [("test/scripted", settings)]


@pytest.mark.spec("R-MOD-2")
async def test_the_model_that_a_called_skill_names_is_asked_else_its_callers(tmp_path: Path) -> None:
    rounds = (calls("named", {}), calls("silent", {}), says("deep"), says("named"), calls("silent", {}), says("s"))
    bench = bench_of(tmp_path, *rounds, says("done"), top="{}", named="{model: other/big}", silent="{seed: 3}")
    outcome = await bench.call("top")
    assert outcome.result.text == "done"
    assert [model for model, _ in asked(bench)] == [
        "test/scripted",
        "other/big",
        "other/big",
        "other/big",
        "test/scripted",
        "test/scripted",
        "test/scripted",
    ]
    assert [settings.seed for _, settings in asked(bench)] == [None, None, 3, None, None, 3, None]


@pytest.mark.spec("R-MOD-2")
async def test_a_name_alone_says_which_model(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("done"), one="other/big")
    await bench.call("one")
    assert asked(bench) == [("other/big", UNSAID)]


@pytest.mark.spec("R-MOD-2")
async def test_a_model_that_is_not_connected_is_said_before_the_first_round(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("never"), one="{model: gone/big}")
    bench.lent = {"connected": lambda ref: ref.connection_id != "gone"}
    outcome = await bench.call("one")
    assert outcome.state == "failed"
    assert "one is to be worked on by gone/big, and there is no connection named gone." in outcome.result.text
    assert bench.model.requests == []


@pytest.mark.spec("R-MOD-1")
async def test_a_wrong_value_is_said_with_file_and_line_before_the_first_round(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, says("never"), one="{temperature: hot, seed: 1}")
    outcome = await bench.call("one")
    assert outcome.state == "failed"
    where = f"{bench.mine / 'one.skill.md'}:6"
    assert (
        f"model.temperature has to be a number from 0 to 2, not 'hot' (the skill one, {where})" in outcome.result.text
    )
    assert bench.model.requests == []


@pytest.mark.spec("R-MOD-1")
async def test_what_a_person_said_for_the_chat_stands_over_a_skill_and_the_agents_choice_below_it(
    tmp_path: Path,
) -> None:
    bench = bench_of(tmp_path, says("a"), says("b"), says("c"), one="{temperature: 0.2, effort: high}", two="{seed: 3}")
    bench.lent = {"settings": ModelSettings(temperature=0.9), "usual": ModelSettings(effort="low")}
    await bench.call("one")
    await bench.call("two")
    bench.write("three.skill.md", SKILL.format(name="three", model="{model: other/big}", more=""))
    await bench.call("three")
    assert asked(bench) == [
        ("test/scripted", ModelSettings(temperature=0.9, effort="high")),
        ("test/scripted", ModelSettings(temperature=0.9, effort="low", seed=3)),
        ("other/big", ModelSettings(temperature=0.9)),
    ]


# -- a promised value by the model's own structured output

RETURNS = "  returns:\n    type: object\n    properties: {count: {type: integer}}\n    required: [count]\n"
CLOSED = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}


def promising(
    tmp_path: Path, *rounds: Any, returns: str = RETURNS, model: str = "{}", held: bool = True
) -> LibraryBench:
    bench = LibraryBench(tmp_path, model=ScriptedModel(rounds))
    bench.write("one.skill.md", SKILL.format(name="one", model="{}", more=returns).replace("named silent", '""'))

    async def held_to_schemas(ref: ModelRef, *, with_tools: bool) -> bool:
        return held and not with_tools

    bench.lent = {"held_to_schemas": held_to_schemas}
    return bench


@pytest.mark.spec("R-MOD-8")
async def test_a_model_that_can_be_held_to_a_schema_gives_the_value_as_its_answer(tmp_path: Path) -> None:
    bench = promising(tmp_path, says('{"count": 3}'))
    assert (await bench.call("one")).result.structured == {"count": 3}
    (request,) = bench.model.requests
    assert (request.answer_schema, request.tools) == (CLOSED, ())
    assert "as your whole answer, in JSON" in request.system


@pytest.mark.spec("R-MOD-8", "R-RET-3")
async def test_what_it_gives_is_checked_all_the_same(tmp_path: Path) -> None:
    bench = promising(tmp_path, says('{"count": "three"}'), says("so sorry"), says('{"count": 3}'))
    assert (await bench.call("one")).result.structured == {"count": 3}
    reminders = [request.messages[-1].text for request in bench.model.requests[1:]]
    assert ["as your whole answer, in JSON" in text for text in reminders] == [True, True]


@pytest.mark.spec("R-MOD-8", "R-RET-6")
async def test_a_promised_value_that_is_no_object_is_unwrapped(tmp_path: Path) -> None:
    bench = promising(tmp_path, says('{"value": ["a"]}'), returns="  returns: {type: array, items: {type: string}}\n")
    assert (await bench.call("one")).result.structured == ["a"]


@pytest.mark.parametrize("case", ["another model", "a schema that cannot be closed"])
@pytest.mark.spec("R-MOD-8", "R-RET-5")
async def test_otherwise_the_tool_takes_the_value(tmp_path: Path, case: str) -> None:
    returns = RETURNS.replace("required: [count]", "required: []") if case.startswith("a schema") else RETURNS
    bench = promising(tmp_path, calls("finish", {"count": 3}), returns=returns, held=case != "another model")
    assert (await bench.call("one")).result.structured == {"count": 3}
    (request,) = bench.model.requests
    assert request.answer_schema is None
    assert "finish" in [tool["name"] for tool in request.tools]
