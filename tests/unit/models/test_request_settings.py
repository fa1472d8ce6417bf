"""Settings of a request as they really arrive: the client over a real host, at a server of ours in every format."""

import contextlib
import json
from typing import Any

import pytest

from desktop.domain.errors import ModelError
from desktop.domain.model_settings import ModelSettings
from desktop.domain.models import Connection, ModelRef, SettingsLeftOut
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.models.client import build
from desktop.models.providers import BEDROCK_ACCESS, LocalAddresses
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, Secrets, collect, meta, models_over, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ALL = ModelSettings(0.5, 0.9, 40, 4000, 7, ("END", "STOP"), "high")
NOT_WHILE_IT_THINKS = {f"{name} (not while it thinks)" for name in ("temperature", "top_p", "top_k")}
NEAREST_TO_MAX = ("effort max (high is the nearest it has)",)
CHANCE = {"temperature": 0.5, "top_p": 0.9}
ANSWERED: dict[str, Any] = {"steps": [{"text": "Hi"}, {"finish": "stop"}]}


def connected(provider: ProviderSpace, kind: str) -> Connection:
    versioned = dict.fromkeys(("openai", "openai_compatible", "groq", "xai"), "/v1")
    path = {**versioned, "openrouter": "/api/v1"}.get(kind, "")
    options = {"region": "eu-central-1"} if kind == "bedrock" else {}
    return Connection(kind, kind, kind.title(), provider.base_url + path, "key", options)


async def sent(
    host: ChildProcess, provider: ProviderSpace, kind: str, model: str, settings: ModelSettings
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What settings added to the request's body, and what was left out."""
    models = models_over(host, connected(provider, kind))
    await collect(models, request(f"{kind}/{model}"))
    items = await collect(models, request(f"{kind}/{model}", settings=settings))
    plain, body = [one["body"] for one in provider.requests() if "body" in one][-2:]
    left = next((item.settings for item in items if isinstance(item, SettingsLeftOut)), ())
    return added(plain, body), left


def added(before: Any, after: Any) -> dict[str, Any]:
    """What ``after`` has that ``before`` lacks, as far down as both are mappings."""
    found: dict[str, Any] = {}
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found |= {key: below} if (below := added(old, new)) else {}
        elif old != new:
            found[key] = new
    return found


WIRES: list[tuple[str, str, dict[str, Any], set[str]]] = [
    ("openai", "gpt-4o", {**CHANCE, "max_tokens": 4000, "seed": 7, "stop": ["END", "STOP"]}, {"effort", "top_k"}),
    (
        "openai",
        "gpt-5",
        {"max_completion_tokens": 4000, "seed": 7, "reasoning_effort": "high"},
        {"temperature", "top_p", "top_k", "stop"},
    ),
    (
        "openai",
        "gpt-5-codex",
        {"max_output_tokens": 4000, "reasoning": {"effort": "high", "summary": "auto"}},
        {"temperature", "top_p", "top_k", "seed", "stop"},
    ),
    (
        "openai_compatible",
        "some-model",
        {**CHANCE, "top_k": 40, "max_tokens": 4000, "seed": 7, "stop": ["END", "STOP"], "reasoning_effort": "high"},
        set(),
    ),
    (
        "anthropic",
        "claude-3-5-haiku-20241022",
        {"temperature": 0.5, "top_k": 40, "max_tokens": 4000, "stop_sequences": ["END", "STOP"]},
        {"top_p (not beside temperature)", "seed", "effort"},
    ),
    (
        "anthropic",
        "claude-opus-4-6",
        {
            "max_tokens": 4000,
            "stop_sequences": ["END", "STOP"],
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "high"},
        },
        {*NOT_WHILE_IT_THINKS, "seed"},
    ),
    (
        "anthropic",
        "claude-sonnet-4-5",
        {"max_tokens": 4000, "stop_sequences": ["END", "STOP"], "thinking": {"type": "enabled", "budget_tokens": 2000}},
        {*NOT_WHILE_IT_THINKS, "seed"},
    ),
    (
        "gemini",
        "gemini-2.5-flash",
        {
            "generationConfig": {
                **CHANCE,
                "top_k": 40,
                "max_output_tokens": 4000,
                "seed": 7,
                "stop_sequences": ["END", "STOP"],
                "thinkingConfig": {"thinkingBudget": 4096, "includeThoughts": True},
            }
        },
        set(),
    ),
    (
        "bedrock",
        CLAUDE,
        {
            "inferenceConfig": {"maxTokens": 4000, "stopSequences": ["END", "STOP"]},
            "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            "additionalModelResponseFieldPaths": ["/usage/output_tokens_details"],
        },
        {*NOT_WHILE_IT_THINKS, "seed"},
    ),
    (
        "bedrock",
        "amazon.nova-pro-v1:0",
        {
            "inferenceConfig": {"temperature": 0.5, "topP": 0.9, "maxTokens": 4000, "stopSequences": ["END", "STOP"]},
            "additionalModelRequestFields": {"inferenceConfig": {"topK": 40}},
        },
        {"seed", "effort"},
    ),
    (
        "ollama",
        "qwen3:30b",
        {"options": {**CHANCE, "top_k": 40, "num_predict": 4000, "seed": 7, "stop": ["END", "STOP"]}, "think": True},
        set(),
    ),
    (
        "lmstudio",
        "some-model",
        {**CHANCE, "top_k": 40, "max_tokens": 4000, "seed": 7, "stop": ["END", "STOP"], "reasoning_effort": "high"},
        set(),
    ),
    (
        "llamacpp",
        "some-model",
        {
            **CHANCE,
            "top_k": 40,
            "max_tokens": 4000,
            "seed": 7,
            "stop": ["END", "STOP"],
            "chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": "high"},
        },
        set(),
    ),
    (
        "vllm",
        "some-model",
        {**CHANCE, "top_k": 40, "max_tokens": 4000, "seed": 7, "stop": ["END", "STOP"], "reasoning_effort": "high"},
        set(),
    ),
    (
        "openrouter",
        "openai/gpt-5",
        {**CHANCE, "top_k": 40, "max_tokens": 4000, "seed": 7, "stop": ["END", "STOP"], "reasoning_effort": "high"},
        set(),
    ),
    (
        "mistral",
        "mistral-large-latest",
        {**CHANCE, "max_tokens": 4000, "random_seed": 7, "stop": ["END", "STOP"]},
        {"effort", "top_k"},
    ),
]


@pytest.mark.parametrize(
    ("kind", "model", "arrived", "left"), WIRES, ids=lambda one: one if isinstance(one, str) else ""
)
@pytest.mark.spec("R-MOD-1")
async def test_each_setting_arrives_under_its_name_and_what_is_not_taken_is_told(
    host: ChildProcess, provider: ProviderSpace, kind: str, model: str, arrived: dict[str, Any], left: set[str]
) -> None:
    found, told = await sent(host, provider, kind, model, ALL)
    assert found == arrived
    assert set(told) == left


@pytest.mark.spec("R-MOD-1")
async def test_a_setting_that_is_not_said_is_not_sent(host: ChildProcess, provider: ProviderSpace) -> None:
    found, told = await sent(host, provider, "openai", "gpt-4o", ModelSettings(temperature=0.0))
    assert (found, told) == ({"temperature": 0.0}, ())


@pytest.mark.spec("R-MOD-1")
async def test_what_a_model_does_not_take_is_told_once_a_chat(host: ChildProcess, provider: ProviderSpace) -> None:
    models = models_over(host, connected(provider, "openai"))
    asked = request("openai/gpt-4o", settings=ModelSettings(top_k=3))
    other = RunMeta("run", CancellationToken(), thread_id="another thread")
    told = [await collect(models, asked, about) for about in (meta(), meta(), other)]
    assert [[type(item) for item in items].count(SettingsLeftOut) for items in told] == [1, 0, 1]


@pytest.mark.spec("R-MOD-1")
async def test_what_is_left_out_is_told_with_the_answer_where_the_first_try_failed(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = models_over(host, connected(provider, "openai"))
    asked = request("openai/gpt-4o", settings=ModelSettings(top_k=3))
    provider.rounds({"status": 503, "body": {"error": {"message": "later"}}}, {"steps": [{"text": "Hi"}]}, ANSWERED)
    told: list[list[str]] = []
    for _ in range(3):
        told.append([])
        with contextlib.suppress(ModelError):
            async for item in models.client.stream(asked, meta()):
                told[-1].append(type(item).__name__)
    assert told == [[], ["SettingsLeftOut", "TextDelta"], ["TextDelta", "Finished"]]


@pytest.mark.spec("R-MOD-1")
async def test_the_region_is_the_one_that_was_said_and_nothing_but_a_region(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = models_over(host, Connection("aws", BEDROCK_ACCESS, "A", provider.base_url, "access", {"region": "us-1"}))
    for settings in (ModelSettings(), ModelSettings(region="eu-west-3"), ModelSettings(region="x.evil.example/")):
        await collect(models, request("aws/amazon.nova-pro-v1:0", settings=settings))
    signed = [one["headers"]["authorization"] for one in provider.requests()]
    assert ["/us-1/" in signed[0], "/eu-west-3/" in signed[1], "/us-1/" in signed[2]] == [True, True, True]


async def test_no_setting_can_redirect_a_key(host: ChildProcess, provider: ProviderSpace) -> None:
    elsewhere = {"api_base": "http://127.0.0.1:1", "base_url": "http://127.0.0.1:1", "extra_headers": {"x": "y"}}
    plain = {"temperature": 0.5, "extra_body": {"a": 1}, "api_key": "k", "aws_region_name": "r", **elsewhere}
    params = {
        "provider": "openai_compatible",
        "model": "openai/some-model",
        "base_url": provider.openai_url,
        "key": KEY,
        "settings": plain,
        "window": {"key": "k", "base": 0, "keep": 0, "version": 1},
    }
    said = [["m", {"role": "user"}], ["b", {"kind": "text", "text": "Hi"}]]
    async for _ in host.stream("stream", params, parts=[said[0], said[1]]):
        pass
    (arrived,) = provider.requests()
    assert set(arrived["body"]) == {"model", "messages", "stream", "stream_options", "temperature"}
    assert "x" not in arrived["headers"]
    assert arrived["headers"]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("kind", "model", "settings", "arrived", "left"),
    [
        ("openai", "gpt-5.1", ModelSettings(effort="max"), {"reasoning_effort": "high"}, NEAREST_TO_MAX),
        (
            "openai",
            "gpt-5.1",
            ModelSettings(effort="none", temperature=0.3),
            {"reasoning_effort": "none", "temperature": 0.3},
            (),
        ),
        ("openai", "gpt-4o", ModelSettings(effort="none"), {}, ()),
        ("openai", "gpt-4o", ModelSettings(region="eu-west-3", seed=1), {"seed": 1}, ("region",)),
        ("anthropic", "claude-sonnet-4-5", ModelSettings(temperature=1.5), {}, ("temperature (at most 1 here)",)),
        (
            "anthropic",
            "claude-sonnet-4-5",
            ModelSettings(effort="high", max_tokens=500),
            {"max_tokens": 500},
            ("effort (an answer of 500 tokens has no room for it)",),
        ),
        ("anthropic", "claude-opus-4-7", ModelSettings(temperature=0.2), {}, ("temperature",)),
        ("anthropic", "claude-sonnet-4-5", ModelSettings(effort="none", temperature=0.3), {"temperature": 0.3}, ()),
        (
            "anthropic",
            "claude-sonnet-4-5",
            ModelSettings(effort="high"),
            {"thinking": {"type": "enabled", "budget_tokens": 4096}},
            (),
        ),
        (
            "gemini",
            "gemini-2.5-flash",
            ModelSettings(effort="none"),
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0, "includeThoughts": False}}},
            (),
        ),
        (
            "gemini",
            "gemini-2.5-pro",
            ModelSettings(effort="none"),
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": True}}},
            ("effort none (low is the nearest it has)",),
        ),
        ("gemini", "gemini-99-new", ModelSettings(effort="max"), None, NEAREST_TO_MAX),
        ("ollama", "qwen3:30b", ModelSettings(effort="max"), {"think": True}, NEAREST_TO_MAX),
        ("vllm", "some-model", ModelSettings(effort="max"), {"reasoning_effort": "high"}, NEAREST_TO_MAX),
        ("xai", "grok-4.3", ModelSettings(effort="high", stop=("END",)), {"reasoning_effort": "high"}, ("stop",)),
    ],
)
@pytest.mark.spec("R-MOD-1")
async def test_what_a_model_takes_in_part_is_fitted_to_it(
    host: ChildProcess,
    provider: ProviderSpace,
    kind: str,
    model: str,
    settings: ModelSettings,
    arrived: dict[str, Any] | None,
    left: tuple[str, ...],
) -> None:
    found, told = await sent(host, provider, kind, model, settings)
    assert (found if arrived is not None else None, told) == (arrived, left)


# -- what a promised value is held to

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
BY_NAME = {"type": "json_schema", "json_schema": {"name": "result", "schema": SCHEMA, "strict": True}}


FORMAT = {"response_format": BY_NAME}
BEDROCK = {"type": "json_schema", "structure": {"jsonSchema": {"name": "result", "schema": json.dumps(SCHEMA)}}}
GEMINI = {"response_mime_type": "application/json", "response_json_schema": SCHEMA}


@pytest.mark.parametrize(
    ("kind", "model", "arrived"),
    [
        ("openai", "gpt-4o", FORMAT),
        (
            "openai",
            "gpt-5-codex",
            {"text": {"format": {"type": "json_schema", "name": "result", "schema": SCHEMA, "strict": True}}},
        ),
        ("anthropic", "claude-sonnet-4-5", {"output_format": {"type": "json_schema", "schema": SCHEMA}}),
        ("anthropic", "claude-3-5-haiku-20241022", {}),
        ("bedrock", CLAUDE, {"outputConfig": {"textFormat": BEDROCK}}),
        ("bedrock", "amazon.nova-pro-v1:0", {}),
        ("gemini", "gemini-2.5-flash", {"generationConfig": GEMINI}),
        ("ollama", "qwen3:30b", {"format": SCHEMA}),
        ("lmstudio", "some-model", FORMAT),
        ("llamacpp", "some-model", FORMAT),
        ("vllm", "some-model", FORMAT),
        ("openrouter", "openai/gpt-5", FORMAT),
        ("mistral", "mistral-large-latest", FORMAT),
    ],
)
@pytest.mark.spec("R-MOD-8")
async def test_the_schema_of_a_promised_value_arrives_where_it_forces_no_tool(
    host: ChildProcess, provider: ProviderSpace, kind: str, model: str, arrived: dict[str, Any]
) -> None:
    models = models_over(host, connected(provider, kind))
    await collect(models, request(f"{kind}/{model}"))
    await collect(models, request(f"{kind}/{model}", answer_schema=SCHEMA))
    plain, body = (one["body"] for one in provider.requests())
    assert added(plain, body) == arrived


@pytest.mark.spec("R-MOD-8")
async def test_a_model_is_held_to_a_schema_where_its_server_or_the_table_says_so(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    rows = [{"id": name} for name in ("gpt-4o", "gpt-4", "claude-sonnet-4-5", "claude-3-5-haiku-20241022")]
    provider.local(
        list={"body": {"data": rows}}, ollama={"models": [{"name": "qwen3", "capabilities": ["completion"]}]}
    )
    kinds = ("openai", "anthropic", "ollama", "openai_compatible")
    models = models_over(host, *(connected(provider, kind) for kind in kinds))
    refs = (
        "openai/gpt-4o",
        "openai/gpt-4",
        "anthropic/claude-sonnet-4-5",
        "anthropic/claude-3-5-haiku-20241022",
        "ollama/qwen3",
        "openai_compatible/gpt-4o",
        "gone/m",
    )
    held = {
        ref: [await models.is_held_to_schemas(ModelRef.parse(ref), with_tools=tools) for tools in (False, True)]
        for ref in refs
    }
    assert held == {
        "openai/gpt-4o": [True, True],
        "openai/gpt-4": [False, False],
        "anthropic/claude-sonnet-4-5": [True, True],
        "anthropic/claude-3-5-haiku-20241022": [False, False],
        "ollama/qwen3": [True, False],
        "openai_compatible/gpt-4o": [False, False],
        "gone/m": [False, False],
    }


@pytest.mark.spec("R-MOD-1")
async def test_what_a_person_corrects_stands_over_the_list_and_the_server(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    secrets, said = Secrets(key=KEY), ["openai/gpt-4o effort=low seed=no", "other/m seed=yes"]
    models = build(
        host, secrets, lambda: [connected(provider, "openai")], addresses=LocalAddresses({}), corrections=lambda: said
    )
    settings = ModelSettings(effort="high", seed=3, temperature=0.5)
    items = await collect(models, request("openai/gpt-4o", settings=settings))
    body = [one["body"] for one in provider.requests() if "body" in one][-1]
    assert {name: body.get(name) for name in ("reasoning_effort", "seed", "temperature")} == {
        "reasoning_effort": "low",
        "seed": None,
        "temperature": 0.5,
    }
    (told,) = (item.settings for item in items if isinstance(item, SettingsLeftOut))
    assert told == ("effort high (low is the nearest it has)", "seed")


@pytest.mark.spec("R-MOD-1")
async def test_a_correction_that_is_taken_back_holds_no_longer(host: ChildProcess, provider: ProviderSpace) -> None:
    said = ["openai/gpt-4o seed=no schema=no"]
    provider.local(list={"body": {"data": [{"id": "gpt-4o"}]}})
    models = build(
        host,
        Secrets(key=KEY),
        lambda: [connected(provider, "openai")],
        addresses=LocalAddresses({}),
        corrections=lambda: said,
    )
    ref = ModelRef("openai", "gpt-4o")

    async def listed() -> tuple[bool | None, bool | None]:
        takes = next(model.takes for model in await models.catalogue.models() if model.ref == ref)
        return takes.settings.get("seed"), takes.structured

    assert await listed() == (False, False)
    said.clear()
    assert models.catalogue.traits(ref).settings.get("seed") is None
    assert await listed() == (None, True)
