"""Connections have names, can be changed, and a test is told of where it belongs."""

import importlib.util
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.models import Connection
from desktop.models.providers import PROVIDERS, addresses_to_try, base_url
from tests.gui.presenter.settings.test_model_setup import Page
from tests.servers.fixtures import ProviderSpace, provider, provider_process
from tests.servers.hosts import KEY, running_host

__all__ = ["provider", "provider_process"]

LAB = {"body": {"data": [{"id": "lab-model", "max_model_len": 4096}]}}


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with running_host(loaded=False) as host:
        yield Page(host)


async def test_a_connection_is_named_changed_and_keeps_its_key(page: Page, provider: ProviderSpace) -> None:
    provider.local(list=LAB)
    bare = provider.openai_url.removeprefix("http://")
    fields = {"base_url": bare, "key": KEY, "name": "The lab"}
    outcome = await page.done(lambda: page.setup.test_and_keep("openai_compatible", fields))
    assert outcome == (
        "new:openai_compatible",
        True,
        "The lab works: 1 model. No keyring could save the key, so it is forgotten when Assent is closed.",
    )
    (made,) = page.connections
    assert (made.title, made.base_url) == ("The lab", provider.openai_url), "the address was completed"
    assert page.setup.place("openai_compatible") == "The lab"

    asked = len(provider.requests())
    outcome = await page.done(lambda: page.setup.edit_connection("openai_compatible", {"name": "Cellar", "key": ""}))
    assert outcome == ("openai_compatible", True, "It is called Cellar now.")
    assert len(provider.requests()) == asked, "another name needs no request"
    assert page.connections[0].title == page.setup.place("openai_compatible") == "Cellar"
    assert page.secrets.values[made.secret_name] == KEY

    dead = {"name": "Cellar", "base_url": "http://127.0.0.1:9/v1", "key": ""}
    _, worked, _ = await page.done(lambda: page.setup.edit_connection("openai_compatible", dead))
    assert not worked
    assert page.setup.wrong_field == "base_url"
    assert page.connections[0].base_url == provider.openai_url, "nothing changes until it works"

    moved = {"name": "Cellar", "base_url": provider.openai_url + "/", "key": "sk-other-0123456789abcdefgh"}
    _, worked, _ = await page.done(lambda: page.setup.edit_connection("openai_compatible", moved))
    assert worked
    assert page.secrets.values[made.secret_name] == "sk-other-0123456789abcdefgh"


async def test_the_field_that_is_wrong_is_known(page: Page, provider: ProviderSpace) -> None:
    fields = {"base_url": "127.0.0.1:9", "key": KEY}
    _, worked, _ = await page.done(lambda: page.setup.test_and_keep("openai_compatible", fields))
    assert (worked, page.setup.wrong_field) == (False, "base_url")
    provider.local(list={"status": 401, "body": {"error": {"message": "no"}}})
    fields["base_url"] = provider.openai_url
    _, worked, _ = await page.done(lambda: page.setup.test_and_keep("openai_compatible", fields))
    assert (worked, page.setup.wrong_field) == (False, "key")
    _, worked, _ = await page.done(lambda: page.setup.test_and_keep("azure", {"key": KEY, "base_url": ""}))
    assert (worked, page.setup.wrong_field) == (False, "base_url")


@pytest.mark.parametrize(
    ("typed", "tried"),
    [
        ("http://lab:8000/v1", ["http://lab:8000/v1"]),
        (
            "localhost:8000",
            [
                "http://localhost:8000",
                "http://localhost:8000/v1",
                "https://localhost:8000",
                "https://localhost:8000/v1",
            ],
        ),
        ("192.168.1.5:8000/v1", ["http://192.168.1.5:8000/v1", "https://192.168.1.5:8000/v1"]),
        ("api.example.com/v1", ["https://api.example.com/v1"]),
    ],
)
def test_a_key_never_goes_in_the_clear_because_http_was_guessed(typed: str, tried: list[str]) -> None:
    assert list(addresses_to_try("openai_compatible", typed)) == tried


def test_known_providers_are_ready_to_fill_in() -> None:
    kinds = {info.provider: info for info in PROVIDERS}
    for name in ("deepseek", "groq", "xai", "together", "fireworks"):
        assert kinds[name].needs == ("key",)
        assert base_url(Connection(name, name, "")).startswith("https://")
    for name in ("vllm", "llamacpp", "lmstudio", "ollama"):
        assert kinds[name].address.startswith("http://127.0.0.1:")


def test_the_addresses_of_hosted_providers_are_those_that_litellm_knows() -> None:
    """Read from the text of the installed litellm; importing it takes seconds."""
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.submodule_search_locations is not None
    home = Path(found.submodule_search_locations[0])
    texts = [home / "constants.py", home / "litellm_core_utils" / "get_llm_provider_logic.py"]
    texts += (home / "llms").glob("*/chat/transformation.py")
    known = "\n".join(path.read_text(encoding="utf-8") for path in texts)
    for name in ("deepseek", "groq", "xai", "together", "fireworks"):
        address = base_url(Connection(name, name, "")).removeprefix("https://")
        assert f'"{address}"' in known or f'"https://{address}"' in known, address
    assert 'or "https://api.together.ai/v1"' in known, "litellm's own choice of Together's two addresses"
    assert base_url(Connection("together", "together", "")) == "https://api.together.ai/v1"
