"""Model lists in the shapes that real servers give them: routers, proxies, bare lists, sizes under many names."""

from collections.abc import Sequence
from typing import Any

import pytest

from desktop.domain.model_settings import ModelSettings, ModelTraits
from desktop.domain.models import Connection, LocalServer, ModelInfo, SettingsLeftOut
from desktop.models.providers import LocalAddresses
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, collect, models_over, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUTER = {
    "role": "router",
    "max_instances": 4,
    "models_autoload": True,
    "model_alias": "llama-server",
    "model_path": "none",
    "default_generation_settings": {"params": None, "n_ctx": 0},
}


def routed(name: str, state: str, makes: str = "text", *takes: str, **more: Any) -> dict[str, Any]:
    """A row of a llama.cpp router's list."""
    return {
        "id": name,
        "aliases": [],
        "tags": [],
        "object": "model",
        "owned_by": "llamacpp",
        "created": 1,
        "status": {"value": state, "args": ["llama-server", "--ctx-size", "4096"]},
        "source": "cache",
        "architecture": {"input_modalities": ["text", *takes], "output_modalities": [makes]},
        **more,
    }


async def found(host: ChildProcess, provider: ProviderSpace, *kinds: str) -> dict[str, LocalServer]:
    addresses = LocalAddresses(dict.fromkeys(kinds, (provider.base_url,)))
    return {server.kind: server for server in await models_over(host, addresses=addresses).catalogue.servers()}


def sizes(models: tuple[ModelInfo, ...]) -> dict[str, int | None]:
    return {model.ref.model: model.context_window for model in models}


async def test_a_llama_cpp_router_has_the_models_of_its_list(host: ChildProcess, provider: ProviderSpace) -> None:
    """Those that are loaded with the context that they have; asking for it loads none."""
    provider.local(
        llamacpp=ROUTER,
        props_of={"org/older:Q8_0": {"default_generation_settings": {"n_ctx": 16_384}}},
        list={
            "body": {
                "object": "list",
                "data": [
                    routed("org/gemma:Q4_K_M", "loaded", "text", "image", meta={"n_ctx": 8192, "n_ctx_train": 131_072}),
                    routed("org/older:Q8_0", "sleeping"),
                    routed("qwen.gguf", "unloaded"),
                    routed("org/broken:Q2_K", "unloaded"),
                    routed("org/coming:Q4_0", "downloading"),
                    routed("a-decider", "loaded", "decisions"),
                ],
            }
        },
    )
    server = (await found(host, provider, "llamacpp"))["llamacpp"]
    assert server.running
    assert sizes(server.models) == {
        "org/gemma:Q4_K_M": 8192,
        "org/older:Q8_0": 16_384,
        "qwen.gguf": None,
        "org/broken:Q2_K": None,
    }
    assert [model.vision for model in server.models] == [True, False, False, False]
    asked = [one["path"] for one in provider.requests() if one["path"].endswith("/props")]
    assert len(asked) == 2, "of the router, and of the one loaded model whose context is not listed"


async def test_llama_cpp_with_one_model_has_the_name_of_its_list(host: ChildProcess, provider: ProviderSpace) -> None:
    row = {"id": "my-alias", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072, "n_params": 4}}
    provider.local(
        llamacpp={"default_generation_settings": {"n_ctx": 4096}, "model_path": "/m/phi-4.gguf", "total_slots": 1},
        list={"body": {"object": "list", "data": [row]}},
    )
    assert sizes((await found(host, provider, "llamacpp"))["llamacpp"].models) == {"my-alias": 4096}


async def test_llama_cpp_python_is_llama_cpp(host: ChildProcess, provider: ProviderSpace) -> None:
    """Its usual address is vLLM's, which is no problem of vLLM."""
    row = {"id": "/models/phi-4.gguf", "object": "model", "owned_by": "me", "permissions": []}
    provider.local(list={"body": {"object": "list", "data": [row]}})
    servers = await found(host, provider, "llamacpp", "vllm")
    (model,) = servers["llamacpp"].models
    assert (model.ref.model, model.title) == ("/models/phi-4.gguf", "phi-4.gguf")
    assert model.takes.structured is False, "it refuses an answer that is to be held to a schema"
    assert (servers["vllm"].running, servers["vllm"].problem) == (False, "")


async def test_llama_cpp_is_looked_for_where_llama_cpp_python_listens() -> None:
    assert "http://127.0.0.1:8000" in LocalAddresses().addresses["llamacpp"]
    assert LocalAddresses().addresses["llamacpp"][0] == "http://127.0.0.1:8080"


async def test_another_server_with_one_strange_model_is_not_llama_cpp(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    provider.local(list={"body": {"data": [{"id": "a", "owned_by": "me"}, {"id": "b", "owned_by": "someone"}]}})
    assert not (await found(host, provider, "llamacpp"))["llamacpp"].running


async def listed(host: ChildProcess, provider: ProviderSpace, kind: str = "openai_compatible") -> tuple[ModelInfo, ...]:
    return await models_over(host).catalogue.test(Connection(kind, kind, "Lab", base_url=provider.openai_url), KEY)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            [
                {"id": "org/chat", "object": "model", "type": "chat", "context_length": 32_768},
                {"id": "org/pictures", "type": "image", "context_length": None},
                {"id": "org/vectors", "type": "embedding", "context_length": 512},
            ],
            {"org/chat": 32_768},
            id="Together: nothing around the list",
        ),
        pytest.param(
            {
                "object": "list",
                "data": [
                    {"id": "llama", "owned_by": "Meta", "context_window": 131_072, "max_completion_tokens": 32_768}
                ],
            },
            {"llama": 131_072},
            id="Groq",
        ),
        pytest.param(
            {
                "data": [
                    {
                        "id": "accounts/f/models/a",
                        "context_length": 163_840,
                        "supports_chat": True,
                        "supports_tools": True,
                    },
                    {"id": "accounts/f/models/flux", "supports_chat": False},
                ]
            },
            {"accounts/f/models/a": 163_840},
            id="Fireworks",
        ),
        pytest.param({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 40_960}]}, {"m": 40_960}, id="vLLM"),
        pytest.param(
            {
                "data": [
                    {"id": "fast", "mode": "chat", "max_input_tokens": 128_000, "max_output_tokens": 16_384},
                    {"id": "vectors", "owned_by": "openai", "mode": "embedding", "max_input_tokens": 8191},
                ]
            },
            {"fast": 128_000},
            id="LiteLLM's proxy, a new one",
        ),
        pytest.param(
            {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx": 8192, "n_ctx_train": 131_072}}]},
            {"m": 8192},
            id="llama.cpp behind another address",
        ),
        pytest.param(
            {"data": [{"id": "m", "context_length": "many", "context_window": -1, "max_model_len": True}]},
            {"m": None},
            id="nonsense",
        ),
    ],
)
async def test_a_list_is_read_in_the_shape_it_has(
    host: ChildProcess, provider: ProviderSpace, body: Any, expected: dict[str, int | None]
) -> None:
    provider.local(list={"body": body})
    assert sizes(await listed(host, provider)) == expected


async def test_a_bare_list_is_read_from_a_known_provider_too(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(list={"body": [{"id": "org/chat", "type": "chat", "context_length": 4096}]})
    assert sizes(await listed(host, provider, "together")) == {"org/chat": 4096}


async def test_what_models_of_a_litellm_proxy_can_do_stands_beside_its_list(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    """As litellm[proxy] of November 2026 answers; its list has sizes and nothing else."""
    names = ("house-model", "blind", "taking-turns")
    row = {"object": "model", "created": 1677610602, "owned_by": "openai", "max_input_tokens": 54_321}

    def info(name: str, **about: Any) -> dict[str, Any]:
        return {"model_name": name, "model_info": {"id": "1", "mode": None, "supports_audio_input": None, **about}}

    provider.local(
        list={"body": {"data": [{"id": name, **row} for name in names], "object": "list"}},
        info={
            "body": {
                "data": [
                    info("house-model", max_input_tokens=9, supports_vision=True, supports_function_calling=True),
                    info("blind", supports_vision=False),
                    info("taking-turns", supports_vision=True),
                    info("taking-turns", supports_vision=False),
                    info("a-stranger", supports_vision=True),
                ]
            }
        },
    )
    found = await listed(host, provider)
    assert [(one.context_window, one.vision, one.hearing) for one in found] == [
        (54_321, True, None),
        (54_321, False, None),
        (54_321, False, None),
    ]


async def test_an_older_litellm_proxy_states_sizes_beside_its_list(host: ChildProcess, provider: ProviderSpace) -> None:
    """One name can stand for several models: the smallest size holds for all."""

    def deployment(name: str, **about: Any) -> dict[str, Any]:
        return {"model_name": name, "litellm_params": {"model": "openai/x"}, "model_info": {"id": "1", **about}}

    provider.local(
        list={"body": {"object": "list", "data": [{"id": name, "owned_by": "openai"} for name in ("fast", "own")]}},
        info={
            "body": {
                "data": [
                    deployment("fast", max_input_tokens=128_000, max_output_tokens=16_384.0, mode="chat"),
                    deployment("fast", max_input_tokens=64_000, max_output_tokens=None),
                    deployment("own", max_input_tokens=None, max_tokens=4096),
                    deployment("openai/*", max_input_tokens=5),
                    "nonsense",
                    {"model_name": "own", "model_info": []},
                ]
            }
        },
    )
    models = await listed(host, provider)
    assert sizes(models) == {"fast": 64_000, "own": None}
    assert [model.max_output for model in models] == [16_384, None]
    asked = next(one for one in provider.requests() if one["path"].endswith("/model/info"))
    assert asked["headers"]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("info", [{"status": 404}, {"status": 500}, {"body": [1]}, {"body": {"data": {}}}])
async def test_a_server_without_such_a_place_is_listed_all_the_same(
    host: ChildProcess, provider: ProviderSpace, info: dict[str, Any]
) -> None:
    provider.local(list={"body": {"data": [{"id": "m"}]}}, info=info)
    assert sizes(await listed(host, provider)) == {"m": None}


# -- what servers say that their models take


def takes(models: Sequence[ModelInfo]) -> dict[str, ModelTraits]:
    return {model.ref.model: model.takes for model in models}


@pytest.mark.spec("R-MOD-1")
async def test_openrouter_says_which_settings_a_model_takes(host: ChildProcess, provider: ProviderSpace) -> None:
    named = ["max_tokens", "temperature", "tools", "reasoning", "structured_outputs"]
    thinker = {"id": "a/thinker", "supported_parameters": named, "reasoning": {"supported_efforts": ["high", "low"]}}
    plain = {"id": "a/plain", "supported_parameters": ["max_completion_tokens", "seed", "stop", "top_p", "top_k"]}
    provider.local(list={"body": {"data": [thinker, plain, {"id": "a/silent"}]}})
    made = Connection("openrouter", "openrouter", "O", provider.base_url + "/api/v1", "key")
    found = takes(await models_over(host, made).catalogue.test(made, KEY))
    both = {"temperature": True, "top_p": False, "top_k": False, "max_tokens": True, "seed": False, "stop": False}
    assert found["a/thinker"] == ModelTraits({**both, "effort": True}, ("low", "high"), True)
    others = {"temperature": False, "top_p": True, "top_k": True, "max_tokens": True, "seed": True, "stop": True}
    assert found["a/plain"] == ModelTraits({**others, "effort": False}, (), False)
    assert found["a/silent"] == ModelTraits()


@pytest.mark.spec("R-MOD-1")
async def test_anthropic_says_how_much_a_model_can_think(host: ChildProcess, provider: ProviderSpace) -> None:
    yes, no = {"supported": True}, {"supported": False}
    able = {"effort": {**yes, "low": yes, "high": yes, "max": no}, "thinking": yes, "structured_outputs": yes}
    rows = [
        {"id": "claude-next", "capabilities": able, "max_input_tokens": 200_000, "max_tokens": 64_000},
        {"id": "claude-plain", "capabilities": {"thinking": no, "effort": no, "structured_outputs": no}},
        {"id": "claude-odd", "capabilities": {"effort": "yes", "thinking": []}},
    ]
    provider.local(list={"body": {"data": rows}})
    made = Connection("anthropic", "anthropic", "A", provider.base_url, "key")
    models = await models_over(host, made).catalogue.test(made, KEY)
    assert takes(models) == {
        "claude-next": ModelTraits({}, ("low", "high"), True),
        "claude-plain": ModelTraits({}, (), False),
        "claude-odd": ModelTraits(),
    }
    assert (models[0].context_window, models[0].max_output) == (200_000, 64_000)


@pytest.mark.spec("R-MOD-1")
async def test_local_servers_say_whether_a_model_thinks(host: ChildProcess, provider: ProviderSpace) -> None:
    thinks = ["completion", "thinking"]
    models = [
        {"name": "qwen3:8b", "capabilities": thinks},
        {"name": "gpt-oss:20b", "capabilities": thinks},
        {"name": "gemma3", "capabilities": ["completion", "vision"]},
    ]
    settings = {"default_generation_settings": {"n_ctx": 8192}, "model_alias": "m"}
    for template, efforts in (
        ("{% if enable_thinking %}…", ("none", "medium")),
        ("{{ reasoning_effort }}", ("low", "medium", "high")),
        ("{{ messages }}", ()),
        (None, None),
    ):
        provider.local(ollama={"models": models}, llamacpp={**settings, "chat_template": template})
        found = await found_servers(host, provider)
        assert takes(found["llamacpp"].models) == {"m": ModelTraits({}, efforts, True)}
    assert takes(found["ollama"].models) == {
        "qwen3:8b": ModelTraits({}, ("none", "medium"), True),
        "gpt-oss:20b": ModelTraits({}, ("low", "medium", "high"), True),
        "gemma3": ModelTraits({}, (), True),
    }


async def found_servers(host: ChildProcess, provider: ProviderSpace) -> dict[str, LocalServer]:
    return await found(host, provider, "ollama", "llamacpp")


@pytest.mark.spec("R-MOD-1")
async def test_what_a_server_says_decides_what_is_sent(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(ollama={"models": [{"name": "gemma3", "capabilities": ["completion"]}]})
    models = models_over(host, addresses=LocalAddresses({"ollama": (provider.base_url,)}))
    settings = ModelSettings(effort="high", temperature=0.5)
    items = await collect(models, request("ollama/gemma3", settings=settings))
    body = next(one["body"] for one in provider.requests() if one["path"].endswith("/api/chat"))
    assert (body.get("think"), body["options"]["temperature"]) == (None, 0.5)
    assert [item.settings for item in items if isinstance(item, SettingsLeftOut)] == [("effort",)]
