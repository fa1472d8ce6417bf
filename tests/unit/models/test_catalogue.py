"""Which models there are: local servers with real context sizes, providers with prices, keys tested by one request."""

import base64
from collections.abc import Mapping

import pytest

from desktop.domain import errors
from desktop.domain.models import Connection, LocalServer, ModelInfo, ModelRef
from desktop.domain.processes import ChildRefused
from desktop.models.client import ModelServices
from desktop.models.failures import model_error
from desktop.models.providers import PROVIDERS, LocalAddresses
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, connection, models_over

pytestmark = pytest.mark.asyncio(loop_scope="session")
KINDS = ("ollama", "lmstudio", "llamacpp", "vllm")
DEAD = "http://127.0.0.1:9"

OLLAMA = {
    "models": [
        {"name": "qwen3:30b", "size": 18_000_000_000, "context": 262_144, "loaded": 32_768},
        {"name": "mistral-small:24b", "context": 131_072, "num_ctx": 16_384},
        {"name": "gemma3:12b", "context": 131_072, "capabilities": ["completion", "vision"]},
    ]
}


def addresses(provider: ProviderSpace | None, *kinds: str) -> LocalAddresses:
    found = provider.base_url if provider else DEAD
    return LocalAddresses({kind: (DEAD, found) if kind in kinds else (DEAD,) for kind in KINDS})


async def servers(models: ModelServices) -> Mapping[str, LocalServer]:
    return {server.kind: server for server in await models.catalogue.servers()}


def contexts(server: LocalServer) -> dict[str, int | None]:
    return {model.ref.model: model.context_window for model in server.models}


async def test_ollama_is_found_with_the_context_it_really_gives(host: ChildProcess, provider: ProviderSpace) -> None:
    """Loaded: what /api/ps states. Not loaded: the Modelfile's num_ctx, or unknown; never what the model could."""
    provider.local(ollama=OLLAMA)
    found = (await servers(models_over(host, addresses=addresses(provider, "ollama"))))["ollama"]
    assert found.running
    assert found.base_url == provider.base_url
    assert contexts(found) == {"qwen3:30b": 32_768, "mistral-small:24b": 16_384, "gemma3:12b": None}
    assert found.models[0].size_bytes == 18_000_000_000
    assert [(m.tools, m.vision) for m in found.models] == [(True, False), (True, False), (False, True)]
    assert all(m.input_price == 0.0 and m.locality == "local" for m in found.models)


async def test_a_context_that_no_computer_has_is_unknown(host: ChildProcess, provider: ProviderSpace) -> None:
    """One like it could not even be written down: the database holds no such number."""
    provider.local(vllm={"models": [{"id": "m", "owned_by": "vllm", "max_model_len": 1 << 70}]})
    found = (await servers(models_over(host, addresses=addresses(provider, "vllm"))))["vllm"]
    assert contexts(found) == {"m": None}


async def test_models_of_ollamas_cloud_are_none_of_this_machine(host: ChildProcess, provider: ProviderSpace) -> None:
    """Ollama passes on what is asked of them: the page would promise that nothing leaves this computer."""
    far = {"name": "gpt-oss:120b-cloud", "remote_host": "https://ollama.com:443", "remote_model": "gpt-oss:120b"}
    provider.local(ollama={"models": [*OLLAMA["models"], far]})
    models = models_over(host, addresses=addresses(provider, "ollama"))
    found = (await servers(models))["ollama"]
    assert [model.ref.model for model in found.models] == ["qwen3:30b", "mistral-small:24b", "gemma3:12b"]
    assert found.note == "1 of its models runs at ollama.com, not on this computer, and is left out."
    provider.local(ollama={"models": [far, {**far, "name": "b", "remote_host": ""}]})
    found = (await servers(models))["ollama"]
    assert found.models == ()
    assert found.note.startswith("2 of its models run at another computer, ollama.com, not on this")


async def test_lm_studio_is_found(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(
        lmstudio={
            "models": [
                {
                    "id": "a",
                    "type": "llm",
                    "state": "loaded",
                    "max_context_length": 131072,
                    "loaded_context_length": 8192,
                },
                {"id": "b", "type": "vlm", "state": "not-loaded", "max_context_length": 131072},
                {"id": "c", "type": "embeddings"},
            ]
        }
    )
    found = (await servers(models_over(host, addresses=addresses(provider, "lmstudio"))))["lmstudio"]
    assert contexts(found) == {"a": 8192, "b": None}


async def test_llama_cpp_is_found(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(llamacpp={"default_generation_settings": {"n_ctx": 4096}, "model_path": "/models/phi-4.gguf"})
    found = (await servers(models_over(host, addresses=addresses(provider, "llamacpp"))))["llamacpp"]
    assert contexts(found) == {"phi-4.gguf": 4096}


async def test_vllm_is_found(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(vllm={"models": [{"id": "org/big", "owned_by": "vllm", "max_model_len": 40960}]})
    found = (await servers(models_over(host, addresses=addresses(provider, "vllm"))))["vllm"]
    assert contexts(found) == {"org/big": 40960}


async def test_servers_that_do_not_run_are_named_and_nothing_is_wrong(host: ChildProcess) -> None:
    found = await servers(models_over(host, addresses=addresses(None)))
    assert list(found) == list(KINDS)
    assert not any(server.running or server.problem or server.models for server in found.values())


async def test_another_program_on_the_port_is_told_apart(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(vllm={"models": [{"id": "x", "owned_by": "someone"}]})
    found = await servers(models_over(host, addresses=addresses(provider, "vllm", "ollama")))
    assert not found["vllm"].running
    assert "Another program" in found["vllm"].problem
    assert "Another program" in found["ollama"].problem


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b"[" * 100_000, b'{"models": 3}', b'{"models": [1, null, {}]}', b""])
async def test_nonsense_on_the_port_harms_nothing(host: ChildProcess, provider: ProviderSpace, body: bytes) -> None:
    provider.local(raw_base64=base64.b64encode(body).decode())
    found = await servers(models_over(host, addresses=addresses(provider, *KINDS)))
    assert set(found) == set(KINDS)


async def test_a_server_that_hangs_costs_little_time(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(slow=30, ollama=OLLAMA)
    found = await servers(models_over(host, addresses=addresses(provider, "ollama")))
    assert not found["ollama"].running


async def test_all_models_are_listed_together(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(ollama=OLLAMA, list={"body": {"data": [{"id": "lab-model", "max_model_len": 4096}]}})
    lab = Connection("lab", "openai_compatible", "Lab", base_url=provider.openai_url, secret_name="key")
    models = models_over(host, lab, addresses=addresses(provider, "ollama"))
    listed = {str(m.ref): m for m in await models.catalogue.models()}
    assert set(listed) == {
        "lab/lab-model",
        "ollama/qwen3:30b",
        "ollama/mistral-small:24b",
        "ollama/gemma3:12b",
        "demo/demo",
    }
    assert listed["lab/lab-model"].input_price is None
    assert "not an AI" in listed["demo/demo"].title
    assert models.connections.find("ollama") == Connection("ollama", "ollama", "Ollama", base_url=provider.base_url)


async def test_a_list_is_asked_for_once(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(list={"body": {"data": [{"id": "m"}]}})
    models = models_over(host, connection("openai_compatible", provider.openai_url))

    def lists() -> int:
        return sum(one["path"].endswith("/models") for one in provider.requests())

    await models.catalogue.models()
    await models.catalogue.models()
    assert lists() == 1
    await models.catalogue.forget("openai_compatible")
    await models.catalogue.models()
    assert lists() == 2


async def test_a_provider_that_fails_hides_nothing_else(host: ChildProcess, provider: ProviderSpace) -> None:
    broken = Connection("broken", "openai_compatible", "Broken", base_url=DEAD)
    models = models_over(host, broken)
    assert [str(m.ref) for m in await models.catalogue.models()] == ["demo/demo"]
    assert isinstance(models.catalogue.problems["broken"], errors.ModelUnreachable)


async def _test_key(host: ChildProcess, provider: ProviderSpace, kind: str, **options: str) -> tuple[ModelInfo, ...]:
    base = provider.openai_url if kind in ("openai", "mistral") else provider.base_url
    made = Connection(kind, kind, kind.title(), base_url=base, options=options)
    return await models_over(host).catalogue.test(made, KEY)


async def test_a_key_is_tested_with_one_request_and_sizes_come_from_the_table(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    """Not the prices: a server on this machine that speaks OpenAI's format is likely the person's own."""
    provider.local(list={"body": {"data": [{"id": "gpt-4o"}, {"id": "text-embedding-3-large"}, {"id": "new-model"}]}})
    models = {m.ref.model: m for m in await _test_key(host, provider, "openai")}
    assert set(models) == {"gpt-4o", "new-model"}
    assert models["gpt-4o"].context_window == 128_000
    assert models["gpt-4o"].input_price is None
    assert models["new-model"].context_window is None
    (asked,) = provider.requests()
    assert asked["headers"]["authorization"] == f"Bearer {KEY}"


async def test_prices_come_from_the_table_and_an_unknown_one_stays_unknown(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    able = {"supportedGenerationMethods": ["generateContent"], "inputTokenLimit": 1_048_576}
    rows = [{"name": "models/gemini-2.5-flash", **able}, {"name": "models/new-model", **able}, {"name": "models/embed"}]
    provider.local(list={"body": {"models": rows}})
    known, new = await _test_key(host, provider, "gemini")
    assert (known.ref.model, known.input_price, known.output_price) == ("gemini-2.5-flash", 0.3, 2.5)
    assert (new.ref.model, new.input_price, new.context_window) == ("new-model", None, 1_048_576)
    assert provider.requests()[-1]["headers"]["x-goog-api-key"] == KEY


async def test_each_provider_gets_the_key_its_own_way(host: ChildProcess, provider: ProviderSpace) -> None:
    provider.local(list={"body": {"data": [{"id": "claude-sonnet-4-5", "display_name": "Claude"}]}})
    (model,) = await _test_key(host, provider, "anthropic")
    assert model.title == "Claude"
    assert model.context_window is not None
    assert provider.requests()[-1]["headers"]["x-api-key"] == KEY


@pytest.mark.spec("R-SEC-6", "R-UI-6")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.ModelKeyRefused),
        (429, errors.ModelRateLimited),
        (500, errors.ModelServerError),
        (302, errors.ModelRedirected),
    ],
)
async def test_a_key_that_is_not_accepted_is_told_in_plain_words(
    host: ChildProcess, provider: ProviderSpace, status: int, kind: type[errors.ModelError]
) -> None:
    body = {"error": {"message": f"No such key {KEY}"}}
    provider.local(list={"status": status, "body": body, "headers": {"Location": "http://127.0.0.1:9/elsewhere"}})
    with pytest.raises(kind) as refused:
        await _test_key(host, provider, "mistral")
    assert KEY not in f"{refused.value} {refused.value.next_step}"
    if status == 401:
        assert str(refused.value) == "Mistral does not know this key (401)."
        assert "copied whole and not revoked" in refused.value.next_step
    assert len(provider.requests()) == 1, "a key never follows a redirect"


async def test_an_azure_connection_offers_its_deployment(host: ChildProcess, provider: ProviderSpace) -> None:
    made = Connection("az", "azure", "Azure", base_url=DEAD, options={"deployment": "prod"})
    with pytest.raises(errors.ModelBadRequest):
        await models_over(host).catalogue.test(made, KEY)


async def test_every_provider_says_what_it_needs() -> None:
    needs = {info.provider: info.needs for info in PROVIDERS}
    names = set(needs)
    assert names >= {"openai", "anthropic", "gemini", "bedrock", "azure", "openrouter", "mistral", "openai_compatible"}
    assert names >= set(KINDS)
    assert needs["azure"] == ("key", "base_url", "api_version", "deployment", "model?")
    assert needs["openai_compatible"] == ("base_url", "key?")
    assert ModelRef.parse("lab/org/model") == ModelRef("lab", "org/model")


@pytest.mark.parametrize(
    ("title", "address", "called"),
    [
        ("Other server that speaks OpenAI's format", "http://me:pw@lab.example:8/v1", "The server at lab.example:8"),
        ("", "", "The server"),
        ("Lab", "http://lab.example:8000/v1", "Lab"),
    ],
)
async def test_a_server_without_a_name_is_called_by_its_address(title: str, address: str, called: str) -> None:
    lab = Connection("lab", "openai_compatible", title, address)
    error = model_error(ChildRefused("model.key_refused", "no", {"status": 401}), lab, "m")
    assert str(error) == f"{called} does not know this key (401)."
