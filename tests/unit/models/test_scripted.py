"""The scripted model: rounds in order, failures on demand, and scripts from a file."""

import asyncio
import json
from pathlib import Path

import pytest

from desktop.domain import errors
from desktop.domain.errors import CancellationError, ConfigurationError, ModelError
from desktop.domain.messages import Usage, user_message
from desktop.domain.models import Finished, ReasoningDelta, TextDelta, ToolCallProgress
from desktop.domain.runs.cancellation import CancellationToken
from desktop.models.client import build
from desktop.models.scripted import ERRORS, ScriptedModel, calls, fails, says
from desktop.workers.model_child import model_host
from tests.harness.timeouts import WAIT_S
from tests.servers.hosts import Secrets, collect, meta, request


async def test_rounds_are_played_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel([calls("read_file", {"path": "a"}, text="Look: "), says("Done.", pieces=2)])
    first = [item async for item in model.stream(request("scripted/scripted", tools=({"name": "read_file"},)), meta())]
    second = [item async for item in model.stream(request("scripted/scripted"), meta())]
    assert isinstance(first[0], TextDelta)
    assert isinstance(first[1], ToolCallProgress)
    end = first[-1]
    assert isinstance(end, Finished)
    assert (end.stop_reason, end.tool_calls[0].tool, end.tool_calls[0].arguments) == (
        "tool_calls",
        "read_file",
        {"path": "a"},
    )
    assert [i.text for i in second if isinstance(i, TextDelta)] == ["Don", "e."]
    assert len(model.requests) == 2
    with pytest.raises(ModelError, match="script is over"):
        await anext(model.stream(request("scripted/scripted"), meta()))


async def test_a_call_of_a_tool_that_was_not_offered_is_refused_as_real_models_cannot_make_one() -> None:
    asked = request("scripted/scripted", tools=({"name": "look"},))
    with pytest.raises(errors.ModelBadRequest, match="calls drop, which the request did not offer: look"):
        _ = [item async for item in ScriptedModel([calls("drop", {})]).stream(asked, meta())]
    with pytest.raises(errors.ModelBadRequest, match="no tools"):
        _ = [item async for item in ScriptedModel([calls("look", {})]).stream(request("scripted/scripted"), meta())]
    items = [item async for item in ScriptedModel([calls("drop", {}, unoffered=True)]).stream(asked, meta())]
    assert [call.tool for call in items[-1].tool_calls] == ["drop"]
    with pytest.raises(errors.ModelBadRequest, match="look as unoffered, and the request offers it"):
        _ = [item async for item in ScriptedModel([calls("look", {}, unoffered=True)]).stream(asked, meta())]


@pytest.mark.parametrize("code", sorted(ERRORS))
async def test_every_model_error_can_be_played(code: str) -> None:
    model = ScriptedModel([fails(code, "Words.", retry_after=2.0)])
    with pytest.raises(ERRORS[code], match="Words"):
        await anext(model.stream(request("scripted/scripted"), meta()))


@pytest.mark.spec("R-LOOP-13")
async def test_reasoning_usage_and_malformed_arguments_are_played() -> None:
    steps = [{"reasoning": "Hm."}, {"call": {"tool": "t", "arguments": "{bad"}}, {"usage": {"input": 3, "cost": 0.5}}]
    asked = request("scripted/scripted", tools=({"name": "t"},))
    items = [item async for item in ScriptedModel([steps]).stream(asked, meta())]
    assert items[0] == ReasoningDelta("Hm.")
    end = items[-1]
    assert isinstance(end, Finished)
    assert end.usage == Usage(3, cost_usd=0.5)
    assert "not valid JSON" in end.tool_calls[0].problem


async def test_a_cut_stream_has_no_end() -> None:
    stream = ScriptedModel([[{"text": "Half"}, {"cut": True}]]).stream(request("scripted/scripted"), meta())
    assert await anext(stream) == TextDelta("Half")
    with pytest.raises(errors.ModelStreamBroken):
        await anext(stream)


async def test_a_hanging_round_ends_when_it_is_cancelled() -> None:
    token = CancellationToken()
    asyncio.get_running_loop().call_later(0.1, token.cancel, "enough")
    hanging = ScriptedModel([[{"hang": True}]]).stream(request("scripted/scripted"), meta(token))
    with pytest.raises(CancellationError, match="enough"):
        await asyncio.wait_for(anext(hanging), WAIT_S)


async def test_an_endless_round_leaves_time_for_others() -> None:
    token = CancellationToken()
    asyncio.get_running_loop().call_later(0.05, token.cancel)

    async def read() -> None:
        model = ScriptedModel([[{"times": -1, "steps": [{"text": "x"}]}]])
        async for _ in model.stream(request("scripted/scripted"), meta(token)):
            pass

    with pytest.raises(CancellationError):
        await read()


async def test_a_round_can_wait_for_a_word() -> None:
    model = ScriptedModel([{"when": "title", "steps": says("A title")}, says("An answer")])
    for words, expected in (("hello", "An answer"), ("give a title", "A title")):
        items = [i async for i in model.stream(request("scripted/scripted", [user_message(words)]), meta())]
        assert items[0] == TextDelta(expected)


async def test_a_script_file_makes_a_model_of_the_room(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rounds": [says("From a file.")], "repeat": True}))
    models = build(model_host(secrets=tuple), Secrets(), tuple, script=script)
    for _ in range(2):
        items = await collect(models, request("scripted/scripted"))
        assert items[0] == TextDelta("From a file.")


@pytest.mark.parametrize("content", ["{", "[]", '{"rounds": [{"when": "x"}]}', '{"rounds": 3}'])
def test_a_broken_script_is_named(tmp_path: Path, content: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(content)
    with pytest.raises(ConfigurationError, match=r"script\.json"):
        ScriptedModel.load(script)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.json"):
        ScriptedModel.load(tmp_path / "none.json")
