"""Servers that are asked without the model library: what they may write, what a request says, what is not loaded."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from desktop.domain.messages import (
    ChatMessage,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    user_message,
)
from desktop.domain.model_settings import ModelSettings
from desktop.domain.models import Connection, ModelRequest
from desktop.models import providers
from desktop.workers.child import ChildProcess
from tests.harness.timeouts import WAIT_S
from tests.harness.two_ways import ByLibrary, told
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, models_over, request, running_host

pytestmark = pytest.mark.asyncio(loop_scope="session")

Wire = dict[str, Any]
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def event(value: Any) -> bytes:
    return f"data: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}\n\n".encode()


def piece(delta: Any, reason: str | None = None, **more: Any) -> bytes:
    return event({**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more})


def words(text: str) -> bytes:
    return piece({"content": text})


def called(*calls: Wire) -> bytes:
    return piece({"tool_calls": list(calls)})


STOP, DONE = piece({}, "stop"), event("[DONE]")
USED = event({**CHUNK, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
GREETING = words("Grüße ") + words("🙂") + STOP + USED + DONE
SPLIT = json.dumps({**CHUNK, "choices": [{"index": 0, "delta": {"content": "in two"}}]}).encode().split(b', "model"')
NO_CHOICES: tuple[Any, ...] = ([], None, [None], [{}], [{"delta": None}])
F = {"type": "function", "function": {"name": "f", "arguments": "{}"}}


def said(text: str, stop: str = "end", calls: Any = (), used: Any = None) -> list[Any]:
    return [*([["text", text]] if text else []), ["end", stop, list(calls), used]]


GREETED = said("Grüße 🙂", used=[3, 2, 0, 0, 0])
BROKEN = ["error", "ModelStreamBroken"]
STREAMS: dict[str, tuple[bytes, list[Any]]] = {
    "lines that end as on Windows": (GREETING.replace(b"\n", b"\r\n"), GREETED),
    "lines that end in a return": (GREETING.replace(b"\n", b"\r"), GREETED),
    "a mark of byte order": (b"\xef\xbb\xbf" + GREETING, GREETED),
    "a filter as the reason": (
        words("a") + piece({}, "content_filter") + DONE,
        [["text", "a"], ["error", "ModelBadRequest"]],
    ),
    "no space behind the colon": (GREETING.replace(b"data: ", b"data:"), GREETED),
    "comments that keep the connection alive": (b": PROCESSING\n\n".join([b"", words("a"), STOP, DONE]), said("a")),
    "names and numbers of events": (b"event: m\nid: 3\nretry: 5\n" + words("a") + STOP + DONE, said("a")),
    "one event in two lines": (
        b"data: " + SPLIT[0] + b'\ndata: , "model"' + SPLIT[1] + b"\n\n" + STOP + DONE,
        said("in two"),
    ),
    "no blank lines": (GREETING.replace(b"\n\n", b"\n") + b"\n", GREETED),
    "no DONE": (words("a") + STOP, said("a")),
    "a last event without its blank line": (words("a") + STOP.rstrip(), said("a")),
    "DONE, and nothing that says why": (words("a") + DONE, said("a")),
    "DONE, and more": (words("a") + STOP + DONE + words("b"), said("a")),
    "nothing but DONE": (DONE, [BROKEN]),
    "nothing": (b"", [BROKEN]),
    "an end in the middle": (words("a"), [["text", "a"], BROKEN]),
    "an end in the middle of an event": (words("a") + b'data: {"choi', [["text", "a"], BROKEN]),
    "what is no JSON": (words("a") + event("{{") + STOP + DONE, [["text", "a"], BROKEN]),
    "what is no JSON at the beginning": (event("hello") + STOP, [["error", "ModelBadRequest"]]),
    "a value that is no object": (event(5) + event([1]) + event(None) + words("a") + STOP + DONE, said("a")),
    "several choices": (
        event({**CHUNK, "choices": [{"index": n, "delta": {"content": f"{n}"}} for n in (0, 1)]}) + STOP + DONE,
        said("0"),
    ),
    "no choices, no delta": (
        event(CHUNK)
        + b"".join(event({**CHUNK, "choices": choices}) for choices in NO_CHOICES)
        + words("a")
        + STOP
        + DONE,
        said("a"),
    ),
    "deltas of nothing": (
        piece({}) + words("") + piece({"content": None}) + piece({"content": 5}) + words("a") + STOP + DONE,
        said("a"),
    ),
    "thinking under both names": (
        piece({"reasoning": "h"}) + piece({"reasoning_content": "m", "reasoning": "m"}) + words("a") + STOP + DONE,
        [["think", "hm"], *said("a")],
    ),
    "text and thinking in parts": (
        piece({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})
        + piece({"content": [{"type": "text", "text": "a"}]})
        + STOP
        + DONE,
        [["think", "hm"], *said("a")],
    ),
    "text after the end was said": (words("a") + STOP + words("b") + DONE, said("ab")),
    "the output limit": (words("a") + piece({}, "length") + DONE, said("a", "length")),
    "a reason that is not known": (words("a") + piece({}, "eos") + DONE, said("a")),
    "an error as the reason": (words("a") + piece({}, "error") + DONE, [["text", "a"], ["error", "ModelServerError"]]),
    "a call whole": (
        called({"index": 0, "id": "x", **F}) + piece({}, "tool_calls") + DONE,
        said("", "tool_calls", [["x", "f", {}, ""]]),
    ),
    "a call whose arguments are a value": (
        called({"id": "x", "function": {"name": "f", "arguments": {"a": 1}}}) + STOP + DONE,
        said("", "tool_calls", [["x", "f", {"a": 1}, ""]]),
    ),
    "a call in pieces, without a number": (
        called({"id": "x", "function": {"name": "f", "arguments": '{"a"'}})
        + called({"function": {"arguments": ": 1}"}})
        + STOP
        + DONE,
        said("", "tool_calls", [["x", "f", {"a": 1}, ""]]),
    ),
    "calls that are none": (piece({"tool_calls": [5, None]}) + piece({"tool_calls": {}}) + STOP + DONE, said("")),
    "a count that grows": (
        b"".join(piece({"content": "a"}, usage={"prompt_tokens": 3, "completion_tokens": n}) for n in range(40))
        + STOP
        + DONE,
        said("a" * 40, used=[3, 39, 0, 0, 0]),
    ),
    "counts under the names of others": (
        words("a")
        + piece({}, "stop", usage={"prompt_tokens": 30.0, "completion_tokens": "7", "prompt_cache_hit_tokens": 20})
        + DONE,
        said("a", used=[30, 7, 0, 20, 0]),
    ),
    "counts that are none": (
        words("a") + piece({}, "stop", usage={"prompt_tokens": -3, "completion_tokens": [1]}) + DONE,
        said("a"),
    ),
    "depth without end": (event('{"x":' + "[" * 9000) + STOP, [["error", "ModelBadRequest"]]),
}
FIRST: dict[str, tuple[Any, str, str]] = {
    "an object": ({"message": "boom", "type": "server_error"}, "ModelServerError", "boom"),
    "with a number": ({"message": "slow", "code": 429}, "ModelRateLimited", "slow"),
    "with a name for a number": ({"message": "boom", "code": "overloaded"}, "ModelServerError", "boom"),
    "a text": ("boom", "ModelServerError", "boom"),
    "too long": ({"code": 400, "message": "exceeds the available context size"}, "ModelContextTooLong", "longer than"),
}
PAGE = b"<html><head><title>502 Bad Gateway</title></head><body><hr>nginx</body></html>"
REFUSED: dict[str, tuple[int, str, Any, str, str]] = {
    "a page": (502, "text/html", PAGE, "ModelServerError", "It says: 502 Bad Gateway nginx"),
    "plain words": (400, "text/plain", b"not so", "ModelBadRequest", "It says: not so"),
    "nothing": (500, "text/plain", b"", "ModelServerError", "failed on its side (500)."),
    "an object": (400, "application/json", {"error": {"message": "odd „ü“"}}, "ModelBadRequest", "It says: odd „ü“"),
    "an error that is a text": (404, "application/json", {"error": "pull it first"}, "ModelUnknown", "pull it first"),
    "a detail": (404, "application/json", {"detail": "Not Found"}, "ModelUnknown", "It says: Not Found"),
    "details of fields": (
        422,
        "application/json",
        {"detail": [{"loc": ["body", "seed"], "msg": "not permitted"}]},
        "ModelBadRequest",
        "It says: body.seed: not permitted",
    ),
    "vLLM's": (
        400,
        "application/json",
        {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400},
        "ModelContextTooLong",
        "maximum context length",
    ),
    "a model that is loading": (503, "application/json", {"error": {"message": "Loading"}}, "ModelServerError", "Load"),
    "a time-out": (408, "application/json", {"error": {"message": "Late"}}, "ModelTooSlow", "time allowed"),
    "a key": (401, "application/json", {"error": {"message": f"Wrong key {KEY}"}}, "ModelKeyRefused", "this key (401)"),
}


def at(provider: ProviderSpace, kind: str = "openai_compatible") -> Connection:
    path = "/api/v1" if kind == "openrouter" else "/v1"
    return Connection(kind, kind, kind.title(), provider.base_url + path, "key")


async def answered(
    host: ChildProcess, provider: ProviderSpace, body: bytes, kind: str = "text/event-stream", status: int = 200
) -> list[Any]:
    """What is told of an answer of these bytes, errors by their class alone."""
    steps = [{"raw_base64": base64.b64encode(body).decode()}] if body else []
    provider.rounds({"bare": True, "bare_status": status, "headers": {"Content-Type": kind}, "steps": steps})
    items = await told(models_over(host, at(provider)), request("openai_compatible/m"))
    return [item[:4] if item[0] != "end" else [*item[:3], item[3] and item[3][:5]] for item in items]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.spec("S-MOD-1")
async def test_a_stream_is_read_in_whatever_way_it_is_written(
    host: ChildProcess, provider: ProviderSpace, name: str
) -> None:
    body, expected = STREAMS[name]
    items = await answered(host, provider, body)
    assert [item[:2] if item[0] == "error" else item for item in items] == expected


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("way", ["in the stream", "in the stream, after a word", "as the whole answer"])
async def test_an_error_in_a_good_answer_is_told_in_the_words_of_the_server(
    host: ChildProcess, provider: ProviderSpace, name: str, way: str
) -> None:
    error, kind, quoted = FIRST[name]
    if way == "as the whole answer":
        items = await answered(host, provider, json.dumps({"error": error}).encode(), "application/json")
    else:
        before = words("a") if "after" in way else b""
        items = await answered(host, provider, before + event({"error": error}) + DONE)
        assert [item for item in items if item[0] == "text"] == ([["text", "a"]] if before else [])
    assert items[-1][:2] == ["error", kind]
    assert quoted in items[-1][2]


@pytest.mark.spec("R-SEC-6")
async def test_a_page_in_the_place_of_an_answer_is_called_no_answer(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    ((_, kind, said, _),) = await answered(host, provider, b"<html>Sign in to this network</html>\n", "text/html")
    assert (kind, said.partition(": ")[2]) == ("ModelBadRequest", "it is not in OpenAI's format.")


async def test_a_server_that_does_not_stream_is_understood(host: ChildProcess, provider: ProviderSpace) -> None:
    message = {"role": "assistant", "content": "Hi", "tool_calls": [{"id": "x", **F}]}
    used = {"prompt_tokens": 3, "completion_tokens": 2}
    whole = {"object": "chat.completion", "choices": [{"message": message, "finish_reason": "stop"}], "usage": used}
    items = await answered(host, provider, json.dumps(whole, indent=2).encode(), "application/json")
    assert items == said("Hi", "tool_calls", [["x", "f", {}, ""]], [3, 2, 0, 0, 0])


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.spec("R-LOOP-14", "R-SEC-6")
async def test_a_refusal_says_what_the_server_says(host: ChildProcess, provider: ProviderSpace, name: str) -> None:
    status, content, body, kind, quoted = REFUSED[name]
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    (error,) = await answered(host, provider, sent, content, status)
    assert error[:2] == ["error", kind]
    assert quoted in error[2]
    assert KEY not in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "1500"}, 1.5), ({"Retry-After": "soon"}, None), ({}, None)],
)
async def test_how_long_to_wait_is_read_from_the_answer(
    host: ChildProcess, provider: ProviderSpace, headers: dict[str, str], seconds: float | None
) -> None:
    provider.refuse(429, {"error": {"message": "Slow down"}}, headers)
    (error,) = await told(models_over(host, at(provider)), request("openai_compatible/m"))
    assert (error[1], error[4]) == ("ModelRateLimited", seconds)


# -- what a request says

CALL = ToolCallBlock("c1", "read_file", {"path": "ü"})
WINDOW = (
    user_message("Look.", [ImageBlock("image/png", "aGk=")]),
    ChatMessage("assistant", (ReasoningBlock("I look."), TextBlock("So."), CALL)),
    ChatMessage("tool", (ToolResultBlock("c1", "read_file", "text of it"),)),
)
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "path": {"type": "string", "pattern": r"^\p{L}+$", "default": {"pattern": r"\p{L}"}},
        "any": {"anyOf": [{"type": "string", "pattern": "^a$"}, {"type": "null"}]},
        "map": {"type": "object", "patternProperties": {r"^\p{L}$": {}, "^a$": {}}, "additionalProperties": False},
    },
    "additionalProperties": False,
}
TOOL = {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}
ALL = ModelSettings(0.5, 0.9, 40, 4000, 7, ("END", "STOP"), "high")
ASKED: dict[str, dict[str, Any]] = {
    "a greeting": {},
    "a tool round": {"messages": WINDOW, "system": "Be brief.", "tools": (TOOL,), "note": "It is noon."},
    "settings": {"settings": ALL},
    "the most effort": {"settings": ModelSettings(effort="max")},
    "a schema": {"answer_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
MODELS = {
    "mistral": "mistral-large-latest",
    "openrouter": "anthropic/claude-sonnet-4.5",
    "deepseek": "deepseek-chat",
    "groq": "openai/gpt-oss-120b",
    "xai": "grok-4",
    "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "fireworks": "accounts/fireworks/models/deepseek-v3",
    "openai_compatible": "some-model",
    "lmstudio": "some-model",
    "llamacpp": "some-model",
    "vllm": "some-model",
}


@pytest.mark.parametrize("kind", [info.provider for info in providers.PROVIDERS if info.provider in MODELS])
@pytest.mark.spec("S-MOD-1")
async def test_a_request_says_what_it_says_by_the_library(
    host: ChildProcess, provider: ProviderSpace, kind: str
) -> None:
    for name, what in ASKED.items():
        asked: ModelRequest = request(f"{kind}/{MODELS[kind]}", **what)
        for child in (host, ByLibrary(host)):
            models = models_over(child, at(provider, kind))
            await told(models, replace(asked, messages=_made_by(asked, at(provider, kind))))
        ours, its = [one["body"] for one in provider.requests() if "body" in one][-2:]
        assert ours == its, f"{kind}, {name}"


def _made_by(asked: ModelRequest, connection: Connection) -> tuple[ChatMessage, ...]:
    """The window as its model's own, so that it gets its thinking again."""
    maker = providers.maker(connection, asked.model.model)

    def own(block: Any) -> Any:
        return replace(block, maker=maker) if isinstance(block, ReasoningBlock) else block

    return tuple(replace(one, blocks=tuple(map(own, one.blocks))) for one in asked.messages)


async def test_every_kind_that_is_asked_directly_is_compared() -> None:
    kinds = {info.provider for info in providers.PROVIDERS} - {providers.DEMO}
    assert {kind for kind in kinds if providers.dialect(kind).direct} == set(MODELS)


@pytest.mark.parametrize(
    "ref",
    [
        "openai_compatible/gpt-5.1",
        "openai_compatible/o3",
        "openai_compatible/openai/o4-mini",
        "mistral/magistral-small",
    ],
)
async def test_models_for_which_the_library_translates_settings_are_asked_by_it(
    host: ChildProcess, provider: ProviderSpace, ref: str
) -> None:
    await told(models_over(host, at(provider, ref.partition("/")[0])), request(ref, settings=ModelSettings()))
    assert provider.requests()[-1]["headers"]["user-agent"] != "Assent"


async def test_an_address_that_was_copied_with_its_path_is_asked(host: ChildProcess, provider: ProviderSpace) -> None:
    connection = replace(at(provider), base_url=f"{provider.openai_url}/chat/completions")
    items = await told(models_over(host, connection), request("openai_compatible/m"))
    assert items[0] == ["text", "Hello there."]


async def test_a_model_of_this_computer_is_asked_without_the_library(provider: ProviderSpace) -> None:
    """Which takes seconds to load and 160 MB to hold."""
    async with running_host(loaded=False) as fresh:
        models = models_over(fresh, at(provider, "llamacpp"))
        items = await told(models, request("llamacpp/m", settings=ALL, answer_schema={"type": "object"}))
        state = await fresh.call("ping", timeout=WAIT_S)
    assert items[0] == ["text", "Hello there."]
    assert (state["loading"], state["ready"]) == (False, False)
