"""Gemini, Azure, OpenRouter and Bedrock as they really speak: the client over a real host and a server of ours."""

import json
from typing import Any

import pytest

from desktop.domain import errors
from desktop.domain.errors import ModelError
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.models import Connection, Finished, ModelRequest, ReasoningDelta, StreamItem, TextDelta
from desktop.models.client import ModelServices
from desktop.models.providers import BEDROCK_ACCESS, is_priced
from desktop.workers.child import ChildProcess
from tests.harness.closed import environment_of
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, collect, meta, models_over, request
from tests.servers.signed import ACCESS_KEY_ID, SECRET_ACCESS_KEY

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CLOUDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "gemini": ("gemini-2.5-flash", "", {}),
    "azure": ("prod", "", {"api_version": "2024-10-21", "deployment": "prod"}),
    "openrouter": ("openai/gpt-4o", "/api/v1", {}),
    "bedrock": (CLAUDE, "", {"region": "eu-central-1"}),
    BEDROCK_ACCESS: ("amazon.nova-pro-v1:0", "", {"region": "eu-central-1"}),
}
TOOL = {
    "name": "read_file",
    "description": "Reads.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
CALL = {"call": {"index": 0, "id": "call_1", "name": "read_file", "arguments": '{"path": "a.txt"}'}}
every_cloud = pytest.mark.parametrize("cloud", CLOUDS)


def at(cloud: str, provider: ProviderSpace) -> Connection:
    _, path, options = CLOUDS[cloud]
    secret = "access" if cloud == BEDROCK_ACCESS else "key"
    return Connection(cloud, cloud, cloud.title(), provider.base_url + path, secret, options)


def over(host: ChildProcess, provider: ProviderSpace, cloud: str) -> ModelServices:
    return models_over(host, at(cloud, provider))


def asked(cloud: str, **more: Any) -> ModelRequest:
    return request(f"{cloud}/{CLOUDS[cloud][0]}", **more)


def text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def finished(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished)
    return items[-1]


async def failing(models: ModelServices, what: ModelRequest) -> tuple[ModelError, list[StreamItem]]:
    items: list[StreamItem] = []
    try:
        async for item in models.client.stream(what, meta()):
            items.append(item)
    except ModelError as error:
        return error, items
    raise AssertionError(f"no failure: {items}")


# -- answers


@every_cloud
@pytest.mark.spec("R-LOOP-5", "R-LOOP-15", "R-PRV-9")
async def test_text_reasoning_a_call_usage_and_cost_arrive(
    host: ChildProcess, provider: ProviderSpace, cloud: str
) -> None:
    usage = {"usage": {"input": 1000, "output": 100, "cost": 0.0123}}
    provider.steps({"reasoning": "Let me see."}, {"text": "Hel"}, {"text": "lo"}, CALL, {"finish": "tool_calls"}, usage)
    items = await collect(over(host, provider, cloud), asked(cloud, tools=(TOOL,), system="Be brief."))
    end = finished(items)
    assert text(items) == "Hello"
    assert "".join(i.text for i in items if isinstance(i, ReasoningDelta)) == "Let me see."
    assert end.stop_reason == "tool_calls"
    assert [(c.tool, c.arguments, c.problem) for c in end.tool_calls] == [("read_file", {"path": "a.txt"}, "")]
    assert end.usage is not None
    assert (end.usage.input_tokens, end.usage.output_tokens) == (1000, 100)
    cost = {"gemini": 0.00055, "azure": 0.0035, "openrouter": 0.0123, "bedrock": 0.00495, BEDROCK_ACCESS: 0.00112}
    assert end.usage.cost_usd == pytest.approx(cost[cloud])
    body = json.dumps(provider.requests()[-1]["body"])
    assert "Be brief." in body
    assert "read_file" in body


@every_cloud
async def test_an_answer_at_the_output_limit_is_reported_as_length(
    host: ChildProcess, provider: ProviderSpace, cloud: str
) -> None:
    provider.steps({"text": "Half an ans"}, {"finish": "length"})
    end = finished(await collect(over(host, provider, cloud), asked(cloud)))
    assert (end.stop_reason, end.usage) == ("length", None)


@pytest.mark.parametrize(("cloud", "reason"), [("gemini", "SAFETY"), ("azure", "content_filter")])
@pytest.mark.spec("R-SEC-6")
async def test_an_answer_that_a_filter_ended_is_told_to_be_one(
    host: ChildProcess, provider: ProviderSpace, cloud: str, reason: str
) -> None:
    provider.steps({"text": "Half an ans"}, {"finish": reason})
    error, items = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelBadRequest)
    assert "its filter of contents ended the answer" in str(error)
    assert text(items) == "Half an ans"


@every_cloud
async def test_a_tool_result_goes_back_in_the_providers_form(
    host: ChildProcess, provider: ProviderSpace, cloud: str
) -> None:
    provider.rounds({"steps": [CALL, {"finish": "tool_calls"}]}, {"steps": [{"text": "Done"}, {"finish": "stop"}]})
    models = over(host, provider, cloud)
    (call,) = finished(await collect(models, asked(cloud, tools=(TOOL,)))).tool_calls
    assert isinstance(call, ToolCallBlock)
    window = (
        user_message("Read a.txt"),
        ChatMessage("assistant", (call,)),
        ChatMessage("tool", (ToolResultBlock(call.call_id, "read_file", "text of a"),)),
    )
    items = await collect(models, asked(cloud, messages=window, tools=(TOOL,)))
    assert text(items) == "Done"
    assert "text of a" in json.dumps(provider.requests()[-1]["body"])


async def test_each_cloud_is_asked_at_its_own_address_with_its_own_key(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    for cloud in CLOUDS:
        await collect(over(host, provider, cloud), asked(cloud))
    gemini, azure, openrouter, bedrock, signed = provider.requests()
    assert gemini["path"].endswith("/v1beta/models/gemini-2.5-flash:streamGenerateContent")
    assert (gemini["query"], gemini["headers"]["x-goog-api-key"]) == ({"alt": "sse"}, KEY)
    assert azure["path"].endswith("/openai/deployments/prod/chat/completions")
    assert (azure["query"], azure["headers"]["api-key"]) == ({"api-version": "2024-10-21"}, KEY)
    assert openrouter["path"].endswith("/api/v1/chat/completions")
    assert (openrouter["headers"]["authorization"], openrouter["headers"]["x-title"]) == (f"Bearer {KEY}", "Assent")
    assert bedrock["path"].endswith(f"/model/{CLAUDE}/converse-stream")
    assert (bedrock["headers"]["authorization"], bedrock["signed_well"]) == (f"Bearer {KEY}", None)
    assert f"Credential={ACCESS_KEY_ID}/" in signed["headers"]["authorization"]
    assert "/eu-central-1/bedrock/aws4_request" in signed["headers"]["authorization"]
    assert signed["signed_well"] is True


@pytest.mark.spec("R-SEC-3", "R-SEC-6")
async def test_no_part_of_an_access_key_is_shown_or_kept(host: ChildProcess, provider: ProviderSpace) -> None:
    said = f"The key {ACCESS_KEY_ID} with {SECRET_ACCESS_KEY} is not known."
    provider.refuse(403, {"message": said})
    error, _ = await failing(over(host, provider, BEDROCK_ACCESS), asked(BEDROCK_ACCESS))
    provider.refuse(400, {"message": said})
    other, _ = await failing(over(host, provider, BEDROCK_ACCESS), asked(BEDROCK_ACCESS))
    shown = f"{error} {error.next_step} {error.args} {other} {other.args}"
    assert ACCESS_KEY_ID not in shown
    assert SECRET_ACCESS_KEY not in shown
    assert SECRET_ACCESS_KEY.encode() not in environment_of(host.health.pid)


# -- failures


@every_cloud
async def test_a_stream_that_just_ends_is_cut(host: ChildProcess, provider: ProviderSpace, cloud: str) -> None:
    provider.steps({"text": "Half"}, {"cut": True})
    error, items = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelStreamBroken), repr(error)
    assert text(items) == "Half"


@every_cloud
async def test_a_torn_connection_is_a_cut_stream(host: ChildProcess, provider: ProviderSpace, cloud: str) -> None:
    provider.steps({"text": "Half"}, {"wait": 0.1}, {"reset": True})
    error, items = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelStreamBroken), repr(error)
    assert text(items) == "Half"


FAULTS = {"gemini": 500, "azure": 500, "openrouter": 502, "bedrock": "modelStreamErrorException"}


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("cloud", FAULTS)
async def test_an_error_inside_a_stream_is_the_providers(
    host: ChildProcess, provider: ProviderSpace, cloud: str, begun: bool
) -> None:
    fault = {"fault": {"code": FAULTS[cloud], "message": "The model fell over"}}
    provider.steps(*([{"text": "Half"}, fault] if begun else [fault]))
    error, items = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelServerError), repr(error)
    assert str(error).endswith("The model fell over")
    assert text(items) == ("Half" if begun else "")


def _google(code: int, status: str, message: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "status": status, "message": message, "details": list(details)}}


def _openai(code: Any, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


WRONG_KEY: dict[str, tuple[int, Any]] = {
    "gemini": (
        400,
        _google(
            400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", {"reason": "API_KEY_INVALID"}
        ),
    ),
    "azure": (401, _openai("401", "Access denied due to invalid subscription key or wrong API endpoint.")),
    "openrouter": (401, _openai(401, "User not found.")),
    "bedrock": (403, {"Message": "Authentication failed: Please make sure your API Key is valid."}),
    BEDROCK_ACCESS: (403, {"message": "The security token included in the request is invalid."}),
}


@every_cloud
@pytest.mark.spec("R-LOOP-14", "R-SEC-6")
async def test_a_wrong_key_is_named_in_every_wording(host: ChildProcess, provider: ProviderSpace, cloud: str) -> None:
    provider.refuse(*WRONG_KEY[cloud])
    error, _ = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelKeyRefused), repr(error)
    assert "replace it in Settings" in error.next_step
    assert KEY not in f"{error} {error.args}"


RATE: dict[str, tuple[Any, dict[str, str], float | None]] = {
    "gemini": (_google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted", {"retryDelay": "7s"}), {}, 7.0),
    "azure": (_openai("429", "Requests have exceeded call rate limit."), {"retry-after": "7"}, 7.0),
    "openrouter": (_openai(429, "Rate limit exceeded: free-models-per-min."), {"retry-after": "7"}, 7.0),
    "bedrock": ({"message": "Too many requests, please wait before trying again."}, {}, None),
    BEDROCK_ACCESS: ({"message": "Too many tokens per day, please wait before trying again."}, {}, None),
}


@every_cloud
async def test_a_rate_limit_says_how_long_to_wait_if_the_provider_does(
    host: ChildProcess, provider: ProviderSpace, cloud: str
) -> None:
    body, headers, seconds = RATE[cloud]
    provider.refuse(429, body, headers)
    error, _ = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelRateLimited), repr(error)
    assert (error.retry_after, error.transient) == (seconds, True)


TOO_LONG: dict[str, Any] = {
    "gemini": _google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "azure": _openai("context_length_exceeded", "This model's maximum context length is 128000 tokens."),
    "openrouter": _openai(400, "This endpoint's maximum context length is 128000 tokens. However, you requested more"),
    "bedrock": {"message": "The model returned the following errors: Input is too long for requested model."},
    BEDROCK_ACCESS: {"message": "Too many input tokens. Max input tokens: 300000, request input token count: 310000"},
}


@every_cloud
async def test_a_context_too_long_is_named_in_every_wording(
    host: ChildProcess, provider: ProviderSpace, cloud: str
) -> None:
    provider.refuse(400, TOO_LONG[cloud])
    error, _ = await failing(over(host, provider, cloud), asked(cloud))
    assert isinstance(error, errors.ModelContextTooLong), repr(error)


OTHERS: list[tuple[str, int, Any, type[ModelError], str]] = [
    ("gemini", 404, _google(404, "NOT_FOUND", "models/x is not found for API version v1beta"), errors.ModelUnknown, ""),
    ("gemini", 503, _google(503, "UNAVAILABLE", "The model is overloaded."), errors.ModelServerError, "overloaded"),
    ("azure", 404, _openai("DeploymentNotFound", "The API deployment does not exist."), errors.ModelUnknown, ""),
    (
        "azure",
        400,
        _openai("content_filter", "triggering Azure OpenAI's content management policy"),
        errors.ModelBadRequest,
        "content management policy",
    ),
    ("openrouter", 402, _openai(402, "Insufficient credits."), errors.ModelBadRequest, "no credit left"),
    (
        "openrouter",
        403,
        _openai(403, "openai/x requires moderation on OpenAI. Your input was flagged."),
        errors.ModelBadRequest,
        "flagged",
    ),
    ("openrouter", 502, _openai(502, "Provider returned error"), errors.ModelServerError, "Provider returned error"),
    (
        "bedrock",
        403,
        {"message": "You don't have access to the model with the specified model ID."},
        errors.ModelUnknown,
        "does not let this account use",
    ),
    ("bedrock", 400, {"message": "The provided model identifier is invalid."}, errors.ModelUnknown, "no model named"),
    ("bedrock", 424, {"message": "The model failed."}, errors.ModelServerError, "The model failed"),
    (
        BEDROCK_ACCESS,
        403,
        {"message": "User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:Invoke"},
        errors.ModelUnknown,
        "does not let this account use",
    ),
]


@pytest.mark.parametrize(("cloud", "status", "body", "kind", "says"), OTHERS)
async def test_other_refusals_are_told_apart(
    host: ChildProcess, provider: ProviderSpace, cloud: str, status: int, body: Any, kind: type[ModelError], says: str
) -> None:
    provider.refuse(status, body)
    error, _ = await failing(over(host, provider, cloud), asked(cloud))
    assert type(error) is kind, repr(error)
    assert says in str(error)


# -- what there is


def _models(*rows: tuple[str, str, tuple[str, ...]]) -> list[dict[str, Any]]:
    return [
        {
            "modelId": name,
            "modelName": name,
            "outputModalities": [output],
            "inputModalities": ["TEXT"],
            "inferenceTypesSupported": list(ways),
            "responseStreamingSupported": True,
        }
        for name, output, ways in rows
    ]


FOUNDATION = _models(
    ("amazon.nova-pro-v1:0", "TEXT", ("ON_DEMAND",)),
    ("anthropic.claude-sonnet-4-5", "TEXT", ("INFERENCE_PROFILE",)),
    ("amazon.titan-embed", "EMBEDDING", ("ON_DEMAND",)),
    ("stability.sd3", "IMAGE", ("INFERENCE_PROFILE",)),
)
ARN = "arn:aws:bedrock:eu-west-1::foundation-model/"
PROFILES = [
    {
        "inferenceProfileId": f"eu.{name}",
        "inferenceProfileName": name,
        "status": "ACTIVE",
        "models": [{"modelArn": ARN + name}],
    }
    for name in ("anthropic.claude-sonnet-4-5", "stability.sd3", "unheard.of")
]


@pytest.mark.parametrize("cloud", ["bedrock", BEDROCK_ACCESS])
async def test_bedrock_offers_what_this_account_can_really_use(
    host: ChildProcess, provider: ProviderSpace, cloud: str
) -> None:
    """Newer models are reached through profiles only; a key that may not list those still works."""
    provider.local(
        foundation={"body": {"modelSummaries": FOUNDATION}}, profiles={"body": {"inferenceProfileSummaries": PROFILES}}
    )
    models = over(host, provider, cloud)
    found = [m.ref.model for m in await models.catalogue.test_saved(cloud)]
    assert found == ["eu.anthropic.claude-sonnet-4-5", "amazon.nova-pro-v1:0"]
    assert {entry["signed_well"] for entry in provider.requests()} == ({True} if cloud == BEDROCK_ACCESS else {None})
    provider.local(foundation={"body": {"modelSummaries": FOUNDATION}}, profiles={"status": 403})
    assert [m.ref.model for m in await models.catalogue.test_saved(cloud)] == ["amazon.nova-pro-v1:0"]


async def test_a_wrong_access_key_is_told_when_it_is_tested(host: ChildProcess, provider: ProviderSpace) -> None:
    said = {"message": "The request signature we calculated does not match the signature you provided."}
    provider.local(foundation={"status": 403, "body": said})
    with pytest.raises(errors.ModelKeyRefused):
        await over(host, provider, BEDROCK_ACCESS).catalogue.test_saved(BEDROCK_ACCESS)


async def test_azure_is_tested_with_the_deployment_and_nothing_is_generated(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    provider.local(azure_key=KEY, deployments=["prod"])
    models = over(host, provider, "azure")
    (model,) = await models.catalogue.test_saved("azure")
    assert (model.ref.model, model.context_window, model.input_price) == ("prod", None, None)
    with pytest.raises(errors.ModelKeyRefused):
        await models.catalogue.test(at("azure", provider), "another key")
    gone = Connection("az", "azure", "Azure", provider.base_url, "key", {"api_version": "1", "deployment": "gone"})
    with pytest.raises(errors.ModelUnknown, match="deployment"):
        await models.catalogue.test(gone, KEY)
    assert all(entry["outcome"] == "listed" for entry in provider.requests())


async def test_azure_sizes_and_prices_are_of_the_model_behind_the_deployment(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    provider.local(azure_key=KEY, deployments=["prod"])
    options = {"api_version": "2024-10-21", "deployment": "prod", "model": "gpt-4o"}
    whole = provider.base_url + "/openai/deployments/prod/chat/completions?api-version=2024-10-21"
    made = Connection("az", "azure", "Azure", whole, "key", options)
    (model,) = await models_over(host).catalogue.test(made, KEY)
    assert (model.title, model.context_window, model.input_price) == ("prod (gpt-4o)", 128_000, 2.5)


async def test_an_openrouter_key_is_checked_although_its_list_is_public(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    prices = {"prompt": "0.0000025", "completion": "0.00001"}
    row = {"id": "openai/gpt-4o", "context_length": 128_000, "pricing": prices}
    provider.local(list={"body": {"data": [row]}})
    (model,) = await over(host, provider, "openrouter").catalogue.test_saved("openrouter")
    assert (model.context_window, model.input_price, model.output_price) == (128_000, 2.5, 10.0)
    provider.local(list={"body": {"data": [row]}}, key={"status": 401, "body": _openai(401, "User not found.")})
    with pytest.raises(errors.ModelKeyRefused):
        await over(host, provider, "openrouter").catalogue.test_saved("openrouter")


# -- prices


@pytest.mark.parametrize(
    ("provider_kind", "address", "priced"),
    [
        ("openai", "", True),
        ("openai", "https://gateway.example.com/v1", True),
        ("openai", "http://127.0.0.1:1/v1", False),
        ("openai", "http://localhost:1/v1", False),
        ("anthropic", "http://192.168.1.7", False),
        ("anthropic", "https://claude.example.com", True),
        ("mistral", "http://box.local:8", False),
        ("openai", "http://[::1]:8/v1", False),
        ("gemini", "http://127.0.0.1:1", True),
        ("azure", "https://x.openai.azure.com", True),
        ("openai_compatible", "https://api.example.com/v1", False),
        ("ollama", "http://127.0.0.1:11434", False),
    ],
)
async def test_a_price_is_known_where_the_provider_itself_answers(
    provider_kind: str, address: str, priced: bool
) -> None:
    assert is_priced(Connection("c", provider_kind, "C", address)) is priced


async def test_a_server_on_this_machine_in_a_providers_format_has_no_price(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    made = Connection("openai", "openai", "OpenAI", provider.openai_url, "key")
    end = finished(await collect(models_over(host, made), request("openai/gpt-4o")))
    assert end.usage is not None
    assert end.usage.cost_usd is None
