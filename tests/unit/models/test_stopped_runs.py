"""What a stopped run, and an answer that was cut, leave behind: a transcript that every provider takes.

The runs are real ones on a real database, stopped at every point; what the next request then is, is read from what a
server gets in three wire formats, after the model host and litellm have made it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.errors import ModelStreamBroken
from desktop.domain.models import Connection, ModelRef, ModelRequest
from desktop.domain.runs.events import Event as AnyEvent
from desktop.domain.runs.events import (
    MessageOpened,
    ReasoningArrived,
    TextArrived,
    ToolCallFinished,
    ToolCallStarted,
    ToolCallWriting,
)
from desktop.models.scripted import ScriptedModel, says
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import collect, models_over
from tests.unit.pipeline.kit import FakeTool
from tests.unit.services.kit import World, world

pytestmark = pytest.mark.asyncio(loop_scope="session")

Steps = list[dict[str, Any]]
WIRES = {"openai_compatible": "some-model", "anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-flash"}
THINKS, SAYS, HANGS = {"reasoning": "Let me see. "}, {"text": "I look. "}, {"hang": True}
KEPT = "Operation aborted"


def call(tool: str, path: str) -> dict[str, Any]:
    return {"call": {"tool": tool, "arguments": {"path": path}, "id": f"id-{tool}-{path}"}}


STOPPED: dict[str, tuple[Steps, type[AnyEvent], int]] = {
    "before the first word": ([HANGS], MessageOpened, 1),
    "amid thinking": ([THINKS, HANGS], ReasoningArrived, 1),
    "amid a text": ([SAYS, HANGS], TextArrived, 1),
    "amid a text after thinking": ([THINKS, SAYS, HANGS], TextArrived, 1),
    "amid a call": ([call("quick", "a"), HANGS], ToolCallWriting, 1),
    "amid a call after a text": ([SAYS, call("quick", "a"), HANGS], ToolCallWriting, 1),
    "after a call, before its result": ([call("slow", "a")], ToolCallStarted, 1),
    "after a text and a call, before its result": ([THINKS, SAYS, call("slow", "a")], ToolCallStarted, 1),
    "between results": ([call("quick", "a"), call("slow", "b"), call("quick", "c")], ToolCallFinished, 1),
    "before the first of several results": ([call("slow", "a"), call("quick", "b")], ToolCallStarted, 1),
    "between parallel results": ([call("even", "a"), call("even", "wait"), call("even", "c")], ToolCallFinished, 2),
    "after the last result": ([call("quick", "a")], MessageOpened, 2),
}
"""What the model does, and the event, and which of its kind, at which the person stops it."""


def tools() -> tuple[FakeTool, ...]:
    async def forever(*_: Any) -> str:
        await asyncio.sleep(3600)
        return "never"

    async def even(args: Mapping[str, Any], _context: Any) -> str:
        return await forever() if args["path"] == "wait" else f"saw {args['path']}"

    return (
        FakeTool("quick", body=lambda args, _c: f"saw {args['path']}"),
        FakeTool("slow", body=forever),
        FakeTool("even", body=even, parallel_safe=True),
    )


async def stopped(w: World, thread: str, event: type[AnyEvent], count: int) -> None:
    await w.service.send(thread, "look")
    await w.until(event, count)
    await w.service.stop(thread)
    await w.settled(thread)
    assert w.ends()[-1].reason == "cancelled"


async def next_request(
    path: Path, steps: Steps, event: type[AnyEvent] | None, count: int
) -> tuple[ModelRequest, World]:
    """The request of the message after it."""
    model = ScriptedModel(
        [steps, says("after"), says("after")]
        if count < 2 or event is not MessageOpened
        else [steps, [HANGS], says("after")]
    )
    async with world(path, model, *tools()) as w:
        thread = await w.thread()
        if event is None:
            await w.ask(thread, "look")
        else:
            await stopped(w, thread, event, count)
        await w.ask(thread, "and now?")
        return model.requests[-1], w


# -- what a provider accepts, by its documentation --------------------------------------------------------------------


def openai_takes(body: Mapping[str, Any]) -> None:
    """Calls are answered directly, each once; nothing is empty; nobody speaks twice in a row."""
    messages = [m for m in body["messages"] if m["role"] != "system"]
    owed: list[str] = []
    before = ""
    for message in messages:
        role, made = message["role"], message.get("tool_calls") or []
        if role == "tool":
            assert message["tool_call_id"] == owed.pop(0)
        else:
            assert not owed, f"{owed} are not answered"
            assert role != before
        assert role in ("user", "assistant", "tool")
        assert made or filled(message["content"]), message
        owed += [call["id"] for call in made]
        before = role
    assert not owed
    assert (messages[0]["role"], messages[-1]["role"]) == ("user", "user")


def anthropic_takes(body: Mapping[str, Any]) -> None:
    """Roles alternate; the next message answers all calls of the one before, first thing."""
    messages = body["messages"]
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    assert messages[-1]["role"] == "user"
    owed: list[str] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks
        assert all(filled(block["text"]) for block in blocks if block["type"] == "text")
        answers = [block for block in blocks if block["type"] == "tool_result"]
        assert [block["tool_use_id"] for block in answers] == owed
        assert blocks[: len(answers)] == answers
        assert all(filled(block["content"]) for block in answers)
        owed = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert len(owed) == len(set(owed))
    assert not owed


def gemini_takes(body: Mapping[str, Any]) -> None:
    """As many answers as calls, of the same names, in a message of their own after them; else roles alternate."""
    contents = body["contents"]
    assert (contents[0]["role"], contents[-1]["role"]) == ("user", "user")
    owed: list[str] = []
    before, answering = "", False
    for content in contents:
        assert content["role"] in ("user", "model")
        assert content["parts"]
        assert content["role"] != before or answering
        before, answering = content["role"], bool(owed)
        assert all(filled(part["text"]) for part in content["parts"] if "text" in part)
        answers = [part.get("functionResponse") or part.get("function_response") for part in content["parts"]]
        assert [answer["name"] for answer in answers if answer] == owed
        made = [part.get("functionCall") or part.get("function_call") for part in content["parts"]]
        owed = [one["name"] for one in made if one]
    assert not owed


def filled(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return bool(content) and all(filled(one["text"]) for one in content if one.get("type") == "text")


TAKES = {"openai_compatible": openai_takes, "anthropic": anthropic_takes, "gemini": gemini_takes}


async def sent(host: ChildProcess, provider: ProviderSpace, wire: str, asked: ModelRequest) -> Mapping[str, Any]:
    """What the server gets of it."""
    url = provider.openai_url if wire == "openai_compatible" else provider.base_url
    models = models_over(host, Connection(wire, wire, wire, url, "key"))
    ref = ModelRef.parse(f"{wire}/{WIRES[wire]}")
    await collect(models, ModelRequest(ref, asked.messages, asked.system, asked.tools))
    body: Mapping[str, Any] = (await asyncio.to_thread(provider.requests))[-1]["body"]
    return body


async def all_take(host: ChildProcess, provider: ProviderSpace, asked: ModelRequest) -> str:
    """Each of the three; returns everything that they were told."""
    told = ""
    for wire, takes in TAKES.items():
        body = await sent(host, provider, wire, asked)
        takes(body)
        told += str(body)
    return told


@pytest.mark.parametrize("point", STOPPED)
@pytest.mark.spec("R-LOOP-10", "R-CTX-5")
async def test_a_run_stopped_at_any_point_leaves_what_every_provider_takes(
    tmp_path: Path, host: ChildProcess, provider: ProviderSpace, point: str
) -> None:
    steps, event, count = STOPPED[point]
    asked, _ = await next_request(tmp_path, steps, event, count)
    told = await all_take(host, provider, asked)
    assert "and now?" in told
    assert "Let me see" not in told
    assert ("I look." in told) == (SAYS in steps)
    made = [one for one in steps if "call" in one and HANGS not in steps]
    assert all(told.count(f"saw {one['call']['arguments']['path']}") in (0, len(TAKES)) for one in made)
    unanswered = sum(one["call"]["tool"] == "slow" or one["call"]["arguments"]["path"] == "wait" for one in made)
    assert told.count(KEPT) >= len(TAKES) * unanswered
    assert ("tool_call" in told) == bool(made)


@pytest.mark.parametrize("texts", [(), (SAYS,), (THINKS, SAYS)])
@pytest.mark.spec("R-LOOP-11", "R-CTX-5")
async def test_a_response_cut_by_the_token_limit_runs_none_of_its_calls_and_every_provider_takes_what_is_left(
    tmp_path: Path, host: ChildProcess, provider: ProviderSpace, texts: Sequence[dict[str, Any]]
) -> None:
    steps = [*texts, call("quick", "a"), call("even", "b"), {"finish": "length"}]
    asked, w = await next_request(tmp_path, list(steps), None, 0)
    ran = [tool.calls for tool in map(w.skills.table.find, ("quick", "even")) if isinstance(tool, FakeTool)]
    assert ran == [[], []]
    told = await all_take(host, provider, asked)
    assert told.count("cut at the output limit") == 2 * len(TAKES)
    assert "saw " not in told


@pytest.mark.parametrize("steps", [[THINKS], [SAYS], [SAYS, call("quick", "a")]])
@pytest.mark.spec("R-LOOP-10", "R-CTX-5")
async def test_a_stream_that_broke_off_leaves_what_every_provider_takes(
    tmp_path: Path, host: ChildProcess, provider: ProviderSpace, steps: Steps
) -> None:
    cut = {"error": {"code": ModelStreamBroken.code, "message": "It broke off."}}
    asked, _ = await next_request(tmp_path, [*steps, cut], None, 0)
    told = await all_take(host, provider, asked)
    assert "saw " not in told
    assert "It broke off" not in told
    assert ("I look." in told) == (SAYS in steps)
