"""Model lists in the shapes that real servers give them: routers, proxies, bare lists, sizes under many names."""

from typing import Any

import pytest

from desktop.domain.models import Connection, LocalServer, ModelInfo
from desktop.models.providers import LocalAddresses
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, models_over

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
