"""The client over a real model host and a real server in three wire formats."""

import asyncio
import base64
import json
import time
from typing import Any

import pytest

from desktop.domain import errors
from desktop.domain.errors import CancellationError, ModelError
from desktop.domain.messages import (
    ChatMessage,
    FileBlock,
    ImageBlock,
    NoticeBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    user_message,
)
from desktop.domain.models import Finished, ModelRequest, ReasoningDelta, StreamItem, TextDelta, ToolCallProgress
from desktop.domain.runs.cancellation import CancellationToken
from desktop.models.client import ModelServices
from desktop.workers.child import ChildProcess
from desktop.workers.model_host.wire.prompt import to_wire
from tests.harness.closed import environment_of
from tests.harness.timeouts import HELD_S, WAIT_S
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, collect, connection, meta, models_over, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

WIRES = ("openai_compatible", "anthropic", "ollama")
MODEL = {"openai_compatible": "some-model", "anthropic": "claude-sonnet-4-5", "ollama": "qwen3:30b"}


def over(host: ChildProcess, provider: ProviderSpace, wire: str = "openai_compatible") -> ModelServices:
    url = provider.openai_url if wire == "openai_compatible" else provider.base_url
    return models_over(host, connection(wire, url))


def asked(wire: str = "openai_compatible", **more: Any) -> ModelRequest:
    return request(f"{wire}/{MODEL[wire]}", **more)


def text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def finished(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished)
    return items[-1]


async def failing(models: ModelServices, what: ModelRequest) -> tuple[ModelError, list[StreamItem]]:
    """The error a stream ends with, and what had come before it."""
    items: list[StreamItem] = []
    try:
        async for item in models.client.stream(what, meta()):
            items.append(item)
    except ModelError as error:
        return error, items
    raise AssertionError(f"no failure: {items}")


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.spec("R-LOOP-5", "R-LOOP-15", "R-PRV-9")
async def test_text_reasoning_calls_and_usage_arrive(host: ChildProcess, provider: ProviderSpace, wire: str) -> None:
    provider.steps(
        {"reasoning": "Let me see."},
        {"text": "Hel"},
        {"text": "lo"},
        {"call": {"index": 0, "id": "call_1", "name": "read_file", "arguments": '{"path": "a.txt"}'}},
        {"finish": "tool_calls"},
        {"usage": {"input": 11, "output": 5}},
    )
    items = await collect(over(host, provider, wire), asked(wire))
    end = finished(items)
    assert text(items) == "Hello"
    assert "".join(i.text for i in items if isinstance(i, ReasoningDelta)) == "Let me see."
    assert any(isinstance(i, ToolCallProgress) and i.tool == "read_file" for i in items)
    assert end.stop_reason == "tool_calls"
    assert [(c.tool, c.arguments, c.problem) for c in end.tool_calls] == [("read_file", {"path": "a.txt"}, "")]
    assert end.usage is not None
    assert end.usage.input_tokens > 0


async def test_a_server_on_this_machine_costs_nothing_and_an_unknown_price_is_unknown(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    local = finished(await collect(over(host, provider, "ollama"), asked("ollama")))
    other = finished(await collect(over(host, provider), asked()))
    assert local.usage is not None
    assert local.usage.cost_usd == 0.0
    assert other.usage is not None
    assert other.usage.cost_usd is None


async def test_usage_that_was_not_reported_is_not_invented(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"text": "Hi"}, {"finish": "stop"})
    assert finished(await collect(over(host, provider), asked())).usage is None


async def test_an_empty_answer_is_an_answer(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"finish": "stop"})
    items = await collect(over(host, provider), asked())
    assert [type(item) for item in items] == [Finished]
    assert finished(items).stop_reason == "end"


@pytest.mark.spec("R-LOOP-11")
async def test_the_output_limit_is_reported_as_length(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"text": "Half an ans"}, {"finish": "length"})
    assert finished(await collect(over(host, provider), asked())).stop_reason == "length"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_cut_stream_is_an_error_and_what_came_is_kept(
    host: ChildProcess, provider: ProviderSpace, wire: str
) -> None:
    provider.steps({"text": "Half"}, {"wait": 0.05}, {"cut": True})
    error, items = await failing(over(host, provider, wire), asked(wire))
    assert isinstance(error, errors.ModelStreamBroken)
    assert text(items) == "Half"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_torn_connection_is_a_cut_stream(host: ChildProcess, provider: ProviderSpace, wire: str) -> None:
    provider.steps({"text": "Half"}, {"wait": 0.1}, {"reset": True})
    error, items = await failing(over(host, provider, wire), asked(wire))
    assert isinstance(error, errors.ModelStreamBroken)
    assert text(items) == "Half"


async def test_broken_utf8_ends_as_a_cut_stream(host: ChildProcess, provider: ProviderSpace) -> None:
    bad = base64.b64encode(b'data: {"choices":[\xff\xfe]}\n\n').decode()
    provider.steps({"text": "Half"}, {"wait": 0.1}, {"raw_base64": bad}, {"finish": "stop"})
    error, items = await failing(over(host, provider), asked())
    assert isinstance(error, errors.ModelStreamBroken)
    assert text(items) == "Half"


REFUSALS: list[tuple[int, Any, type[ModelError]]] = [
    (401, {"error": {"message": "Incorrect API key provided: sk-test-0123456789abcdefghij."}}, errors.ModelKeyRefused),
    (403, {"error": {"message": "no permission"}}, errors.ModelKeyRefused),
    (404, {"error": {"message": "The model `x` does not exist"}}, errors.ModelUnknown),
    (400, {"error": {"message": "tools: too odd"}}, errors.ModelBadRequest),
    (402, {"error": {"message": "pay first"}}, errors.ModelBadRequest),
    (429, {"error": {"message": "You exceeded your current quota."}}, errors.ModelBadRequest),
    (500, {"error": {"message": "oops"}}, errors.ModelServerError),
    (503, {"error": {"message": "later"}}, errors.ModelServerError),
    (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, errors.ModelServerError),
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("status", "body", "kind"), REFUSALS)
@pytest.mark.spec("R-LOOP-14", "R-SEC-6")
async def test_a_refusal_is_named_and_shows_no_key(
    host: ChildProcess, provider: ProviderSpace, wire: str, status: int, body: Any, kind: type[ModelError]
) -> None:
    provider.refuse(status, body)
    error, items = await failing(over(host, provider, wire), asked(wire))
    assert type(error) is kind, f"{error!r}"
    assert items == []
    assert KEY not in f"{error} {error.next_step} {error.args}"
    assert str(error).endswith((".", "!", "?")) or "It says:" in str(error)
    assert error.next_step


@pytest.mark.parametrize("wire", WIRES)
async def test_a_rate_limit_says_how_long_to_wait(host: ChildProcess, provider: ProviderSpace, wire: str) -> None:
    provider.refuse(429, {"error": {"message": "Slow down"}}, {"retry-after": "7"})
    error, _ = await failing(over(host, provider, wire), asked(wire))
    assert isinstance(error, errors.ModelRateLimited)
    assert error.retry_after == 7.0
    assert error.transient


TOO_LONG = [
    ("openai_compatible", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
    ("openai_compatible", "the request exceeds the available context size. try increasing the context size"),
    ("anthropic", "prompt is too long: 210000 tokens > 200000 maximum"),
    ("ollama", "input length exceeds the context length"),
]


@pytest.mark.parametrize(("wire", "said"), TOO_LONG)
async def test_a_context_too_long_is_named_in_every_wording(
    host: ChildProcess, provider: ProviderSpace, wire: str, said: str
) -> None:
    provider.refuse(400, {"error": {"type": "invalid_request_error", "message": said}})
    error, _ = await failing(over(host, provider, wire), asked(wire))
    assert isinstance(error, errors.ModelContextTooLong), repr(error)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_refused_connection_is_a_server_that_cannot_be_reached(host: ChildProcess, wire: str) -> None:
    models = models_over(host, connection(wire, "http://127.0.0.1:9"))
    error, _ = await failing(models, asked(wire))
    assert isinstance(error, errors.ModelUnreachable), repr(error)
    assert error.transient


async def test_a_stream_that_falls_silent_is_too_slow(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"text": "Half"}, {"hang": True})
    began = time.monotonic()
    error, items = await failing(over(host, provider), asked(idle_s=0.4))
    assert isinstance(error, errors.ModelTooSlow)
    assert text(items) == "Half"
    assert time.monotonic() - began < WAIT_S


async def test_a_slow_drip_ends_at_the_deadline(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"times": -1, "steps": [{"text": "drip # "}], "every": 0.1})
    began = time.monotonic()
    error, items = await failing(over(host, provider), asked(deadline_s=3.0, idle_s=60.0))
    assert isinstance(error, errors.ModelTooSlow)
    assert text(items).startswith("drip 0 drip 1")
    assert 2.8 < time.monotonic() - began < WAIT_S
    await asyncio.to_thread(provider.wait_for, lambda log: log[-1]["outcome"] == "disconnected")


async def test_a_server_that_never_answers_is_too_slow(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.rounds({"before": 60, "steps": []})
    error, _ = await failing(over(host, provider), asked(idle_s=0.4))
    assert isinstance(error, errors.ModelTooSlow)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.spec("R-PRV-10", "R-LOOP-6")
async def test_cancelling_ends_the_stream_and_closes_the_socket(
    host: ChildProcess, provider: ProviderSpace, wire: str
) -> None:
    provider.steps({"times": -1, "steps": [{"text": "tick # "}], "every": 0.01})
    token = CancellationToken()
    stream = over(host, provider, wire).client.stream(asked(wire), meta(token))
    count = 0

    async def read() -> None:
        nonlocal count
        async for _ in stream:
            count += 1
            if count == 5:
                token.cancel("the person")

    with pytest.raises(CancellationError, match="the person"):
        await read()
    assert count == 5, "nothing is read after it"
    await asyncio.to_thread(provider.wait_for, lambda log: log[-1]["outcome"] == "disconnected")


async def test_a_token_may_be_cancelled_from_a_thread_while_nothing_arrives(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    provider.steps({"text": "Half"}, {"hang": True})
    token = CancellationToken()
    asyncio.get_running_loop().call_later(0.3, lambda: asyncio.get_running_loop().run_in_executor(None, token.cancel))
    with pytest.raises(CancellationError):
        await collect(over(host, provider), asked(), meta(token))


async def test_a_run_past_its_deadline_is_cancelled(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"text": "Half"}, {"hang": True})
    token = CancellationToken(deadline=time.monotonic() + 0.4)
    with pytest.raises(CancellationError, match="deadline"):
        await collect(over(host, provider), asked(), meta(token))


MALFORMED = [
    ('{"path": "a', "not valid JSON"),
    ("[1, 2]", "must be a JSON object"),
    ('{"a": NaN}', "not valid JSON"),
    ("[" * 30_000, "more than 20,000 values"),
    ('{"a":' * 9_000, "nested too deeply"),
]


@pytest.mark.parametrize(("arguments", "problem"), MALFORMED)
@pytest.mark.spec("R-LOOP-13")
async def test_malformed_arguments_are_a_problem_of_the_call(
    host: ChildProcess, provider: ProviderSpace, arguments: str, problem: str
) -> None:
    call = {"index": 0, "id": "c", "name": "read_file", "arguments": arguments}
    provider.steps({"call": call}, {"finish": "tool_calls"})
    (made,) = finished(await collect(over(host, provider), asked())).tool_calls
    assert made.arguments is None
    assert problem in made.problem


async def test_ten_thousand_tool_calls_are_cut_to_what_is_sane(host: ChildProcess, provider: ProviderSpace) -> None:
    one = {"call": {"id": "c#", "name": "read_file", "arguments": "{}"}}
    provider.steps({"times": 10_000, "steps": [one]}, {"finish": "tool_calls"})
    end = finished(await collect(over(host, provider), asked()))
    assert len(end.tool_calls) == 128
    assert all(not call.problem for call in end.tool_calls[:-1])
    assert "More than 128 calls" in end.tool_calls[-1].problem
    assert await host.call("ping", timeout=WAIT_S)


async def test_arguments_without_end_are_cut(host: ChildProcess, provider: ProviderSpace) -> None:
    steps = [{"raw": _call_chunk(0, "c", "write_file", '{"content": "')}]
    steps += [{"times": 60, "steps": [{"raw": _call_chunk(0, None, None, "x" * 20_000)}]}]
    provider.steps(*steps, {"finish": "tool_calls"})
    (call,) = finished(await collect(over(host, provider), asked())).tool_calls
    assert call.arguments is None
    assert "longer than 1,000,000" in call.problem


def _call_chunk(index: int | None, call_id: str | None, name: str | None, arguments: str) -> str:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    entry = {k: v for k, v in (("index", index), ("id", call_id), ("function", function)) if v is not None}
    choice = {"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}
    return f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'model': 'm', 'choices': [choice]})}\n\n"


async def test_calls_numbered_carelessly_are_told_apart(host: ChildProcess, provider: ProviderSpace) -> None:
    """Every call numbered 0 and no id at all, as some local servers do."""
    provider.steps(
        {"raw": _call_chunk(0, "a", "read_file", '{"n": 1}')},
        {"raw": _call_chunk(0, "b", "read_file", '{"n":')},
        {"raw": _call_chunk(0, None, None, " 2}")},
        {"raw": _call_chunk(5, "b", "list_directory", "")},
        {"finish": "stop"},
    )
    end = finished(await collect(over(host, provider), asked()))
    assert [(c.tool, c.arguments) for c in end.tool_calls] == [
        ("read_file", {"n": 1}),
        ("read_file", {"n": 2}),
        ("list_directory", {}),
    ]
    assert len({c.call_id for c in end.tool_calls}) == 3
    assert end.stop_reason == "tool_calls"


async def test_an_answer_that_never_stops_is_ended(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"times": -1, "steps": [{"text": "# " + "y" * 60_000}]})
    items = await collect(over(host, provider), asked())
    assert finished(items).stop_reason == "length"
    assert len(text(items)) == 4_000_000


async def test_a_line_of_eight_megabytes_is_cut(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"times": 1, "steps": [{"text": "z" * 8_000_000}]}, {"finish": "stop"})
    items = await collect(over(host, provider), asked())
    assert len(text(items)) == 4_000_000


async def test_half_of_a_surrogate_pair_becomes_a_question_mark(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.steps({"text": "a\ud83d"}, {"wait": 0.1}, {"text": "b"}, {"finish": "stop"})
    assert text(await collect(over(host, provider), asked())) == "a?b"


@pytest.mark.spec("R-CTX-10", "R-CTX-5")
async def test_only_what_a_model_should_see_is_sent(host: ChildProcess, provider: ProviderSpace) -> None:
    messages = (
        ChatMessage("tool", (ToolResultBlock("gone", "read_file", "orphan"),)),
        user_message("One"),
        user_message("Two", [FileBlock("a.txt", "content"), ImageBlock("image/png", "aGk=")]),
        ChatMessage(
            "assistant",
            (
                ReasoningBlock("secret thought"),
                TextBlock("Looking."),
                NoticeBlock("limit"),
                ToolCallBlock("c1", "read_file", {"path": "x"}),
                ToolCallBlock("c2", "read_file", None, "{bad", "bad"),
                ToolCallBlock("c3", "read_file", {}),
            ),
        ),
        ChatMessage("tool", (ToolResultBlock("c1", "read_file", "text of x"),)),
        ChatMessage("tool", (ToolResultBlock("c2", "read_file", "not valid JSON", is_error=True),)),
    )
    tool = {"name": "read_file", "description": "Reads.", "parameters": {"type": "object", "properties": {}}}
    await collect(over(host, provider), asked(messages=messages, system="Be brief.", tools=(tool,)))
    body = provider.requests()[-1]["body"]
    system, user, assistant, *results = body["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"][0]["text"].startswith("One\n\nTwo\n\nAttached file a.txt:")
    assert user["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert assistant["content"] == "Looking."
    assert [call["id"] for call in assistant["tool_calls"]] == ["c1", "c2"]
    assert json.loads(assistant["tool_calls"][1]["function"]["arguments"]) == {"malformed": "{bad"}
    assert [(m["tool_call_id"], m["content"]) for m in results] == [("c1", "text of x"), ("c2", "not valid JSON")]
    assert "secret thought" not in json.dumps(body)
    assert "orphan" not in json.dumps(body)
    assert body["tools"][0]["function"]["name"] == "read_file"


async def test_after_the_results_mistral_reads_an_assistant_before_anybody_else() -> None:
    image = {"kind": "image", "media_type": "image/png", "data": "aGk=", "call_id": "c1"}
    messages = [
        {"role": "user", "blocks": [{"kind": "text", "text": "Look."}]},
        {"role": "assistant", "blocks": [{"kind": "tool_call", "call_id": "c1", "tool": "shot", "arguments": {}}]},
        {"role": "tool", "blocks": [{"kind": "tool_result", "call_id": "c1", "text": "taken"}, image]},
    ]
    roles = {name: [m["role"] for m in to_wire(messages, "", name)] for name in ("openai", "mistral")}
    assert roles["openai"] == ["user", "assistant", "tool", "user"]
    assert roles["mistral"] == ["user", "assistant", "tool", "assistant", "user"]


async def test_a_growing_window_crosses_the_pipe_once_and_arrives_whole(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = over(host, provider)
    window: list[ChatMessage] = []
    for number in range(4):
        window += [user_message(f"question {number}"), ChatMessage("assistant", (TextBlock(f"answer {number}"),))]
        await collect(models, asked(messages=[*window, user_message("next")]))
    sent = [m["content"] for m in provider.requests()[-1]["body"]["messages"]]
    assert sent == [t for n in range(4) for t in (f"question {n}", f"answer {n}")] + ["next"]


async def test_five_megabytes_pasted_arrive_whole_and_never_hold_the_loop(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    pasted = "Zeile für Zeile.\n" * 300_000
    longest, latest = 0.0, time.thread_time()  # of this thread alone: a busy machine holds nobody's loop

    async def tick() -> None:
        nonlocal longest, latest
        while True:
            longest, latest = max(longest, time.thread_time() - latest), time.thread_time()
            await asyncio.sleep(0)

    ticking = asyncio.ensure_future(tick())
    await collect(over(host, provider), asked(messages=[user_message(pasted)]))
    ticking.cancel()
    assert provider.requests()[-1]["body"]["messages"][0]["content"] == pasted
    assert longest < HELD_S


@pytest.mark.spec("R-SEC-3", "R-ENV-6")
async def test_the_key_goes_with_the_request_and_nowhere_else(host: ChildProcess, provider: ProviderSpace) -> None:
    await collect(over(host, provider), asked())
    await collect(over(host, provider, "anthropic"), asked("anthropic"))
    first, second = provider.requests()[-2:]
    assert first["headers"]["authorization"] == f"Bearer {KEY}"
    assert second["headers"]["x-api-key"] == KEY
    assert KEY.encode() not in environment_of(host.health.pid)


async def test_an_unknown_connection_is_named(host: ChildProcess) -> None:
    error, _ = await failing(models_over(host), request("nowhere/x"))
    assert isinstance(error, errors.ModelUnknown)
    assert "nowhere" in str(error)
