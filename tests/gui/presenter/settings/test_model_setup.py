"""What the settings page asks of a person is enough: filled in, tested, kept, and then a first answer."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from desktop.domain.models import Connection, Finished, ModelInfo, ModelRef
from desktop.models.client import ModelServices, build
from desktop.models.providers import PROVIDERS, LocalAddresses, provider_info
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.settings.connections.trials import NOT_KEPT, Saved
from desktop.presenter.settings.model_setup import DEMO_MODEL, ModelSetupViewModel
from desktop.workers.model_child import model_host
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace, provider, provider_process
from tests.servers.hosts import KEY, Secrets, collect, request, running_host
from tests.servers.signed import ACCESS_KEY_ID, SECRET_ACCESS_KEY

__all__ = ["provider", "provider_process"]

TYPED = {
    "key": KEY,
    "api_version": "2024-10-21",
    "deployment": "prod",
    "region": "eu-central-1",
    "access_key_id": ACCESS_KEY_ID,
    "secret_access_key": SECRET_ACCESS_KEY,
}
PATHS = {"openai_compatible": "/v1"}
ASKED_FOR_AN_ADDRESS = [p.provider for p in PROVIDERS if "base_url" in p.needs and p.locality == "provider"]
NOVA = {"modelId": "amazon.nova-pro-v1:0", "outputModalities": ["TEXT"], "inferenceTypesSupported": ["ON_DEMAND"]}


class Page:
    """The view-model over settings and a keyring in memory."""

    def __init__(self, child: Any) -> None:
        self.secrets = Secrets()
        self.connections: tuple[Connection, ...] = ()
        self.bridge = Bridge()
        self.models: ModelServices = build(child, self.secrets, lambda: self.connections, addresses=LocalAddresses({}))
        self.setup = ModelSetupViewModel(
            self.models.catalogue,
            self.secrets,
            self.bridge,
            Saved(
                lambda: self.connections,
                self._keep,
                lambda: "",
                self._nothing,
                self._no_note,
                lambda name: "kept" if name in self.secrets.values else "missing",
                lambda: False,
            ),
        )
        self.outcomes: list[tuple[str, bool, str]] = []
        self.setup.tested.connect(lambda *outcome: self.outcomes.append(outcome))

    async def _keep(self, connections: Sequence[Connection]) -> None:
        self.connections = tuple(connections)

    async def _nothing(self, _: str) -> None:
        """The default model is another's business."""

    async def _no_note(self) -> str:
        return ""

    async def done(self, act: Callable[[], None]) -> tuple[str, bool, str]:
        """Act, and the outcome it comes to."""
        before = len(self.outcomes)
        act()
        async with asyncio.timeout(WAIT_S):
            while len(self.outcomes) == before or self.setup.testing:
                await asyncio.sleep(0.01)
        return self.outcomes[-1]


def typed(kind: str, base: str) -> dict[str, str]:
    """What a person types into the fields that are asked for."""
    fields = {name: TYPED.get(name, "") for name in provider_info(kind).needs if not name.endswith("?")}
    if "base_url" in fields:
        fields["base_url"] = base + PATHS.get(kind, "")
    return fields


@pytest.mark.spec("R-UI-6", "R-SEC-3")
async def test_what_a_person_fills_in_is_enough_for_a_first_answer(provider: ProviderSpace) -> None:
    provider.local(azure_key=KEY, deployments=["prod"], list={"body": {"data": [{"id": "some-model"}]}})
    async with running_host() as host:
        for kind in ASKED_FOR_AN_ADDRESS:
            page = Page(host)
            fields = typed(kind, provider.base_url)
            outcome = await page.done(partial(page.setup.test_and_keep, kind, fields))
            assert outcome[1], outcome
            assert KEY not in repr(page.connections)
            (model,) = [m for m in await page.models.catalogue.models() if m.ref.connection_id == kind]
            items = await collect(page.models, request(str(model.ref)))
            assert isinstance(items[-1], Finished), kind
            await page.bridge.shutdown(5.0)


async def test_an_access_key_lies_in_the_keyring_in_parts_and_goes_with_its_connection(provider: ProviderSpace) -> None:
    provider.local(foundation={"body": {"modelSummaries": [NOVA]}})
    async with running_host() as host:
        page = Page(host)
        kind = "bedrock_access_key"
        here = Connection(kind, kind, "Bedrock", provider.base_url, f"connection/{kind}", {"region": "eu-central-1"})
        page.connections = (here,)
        given = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY, "session_token": ""}
        outcome = await page.done(lambda: page.setup.replace_key(kind, given))
        assert outcome[1:] == (True, "The new key works: 1 model." + NOT_KEPT)
        assert page.secrets.values == {
            f"connection/{kind}": SECRET_ACCESS_KEY,
            f"connection/{kind}/access_key_id": ACCESS_KEY_ID,
        }
        items = await collect(page.models, request(f"{kind}/amazon.nova-pro-v1:0"))
        assert isinstance(items[-1], Finished)
        assert {r["signed_well"] for r in provider.requests()} == {True}
        page.setup.delete_connection(kind)
        async with asyncio.timeout(WAIT_S):
            while page.bridge.task_names:
                await asyncio.sleep(0.01)
        assert (page.connections, page.secrets.values) == ((), {})
        await page.bridge.shutdown(5.0)


@pytest.mark.parametrize(
    ("kind", "leaves_out", "says"),
    [
        ("mistral", "key", "There is no key yet."),
        ("azure", "api_version", "The API version is missing."),
        ("azure", "deployment", "The deployment is missing."),
        ("bedrock", "region", "The region is missing."),
        ("bedrock_access_key", "access_key_id", "The access key ID is missing."),
        ("openai_compatible", "base_url", "The address is missing."),
    ],
)
async def test_a_field_that_is_needed_and_empty_is_named_before_anything_is_asked(
    kind: str, leaves_out: str, says: str
) -> None:
    page = Page(model_host(secrets=tuple))
    fields = typed(kind, "https://example.org") | {leaves_out: " "}
    name, worked, sentence = await page.done(lambda: page.setup.test_and_keep(kind, fields))
    assert (name, worked, page.setup.wrong_field) == (f"new:{kind}", False, leaves_out)
    assert sentence.startswith(says)
    assert sentence.endswith("Nothing was kept.")
    assert (page.connections, page.secrets.values) == ((), {})
    await page.bridge.shutdown(5.0)


class Listed:
    """A catalogue that lists at once."""

    problems: dict[str, Any] = {}

    async def servers(self) -> tuple[()]:
        return ()

    async def models(self) -> tuple[ModelInfo, ...]:
        half = ModelInfo(ModelRef("p", "half"), "Half", input_price=1.0)
        own = ModelInfo(ModelRef("o", "own"), "Own", locality="local")
        return (ModelInfo(ModelRef("p", "dear"), "Dear", input_price=1.0, output_price=2.0), half, own)


async def test_a_models_cost_is_known_by_both_prices_or_because_it_runs_here() -> None:
    page = Page(None)
    saved = Saved(lambda: (), page._keep, lambda: "", page._nothing, page._no_note, lambda _: "kept", lambda: False)
    setup = ModelSetupViewModel(Listed(), page.secrets, page.bridge, saved)  # type: ignore[arg-type]
    setup.look()
    async with asyncio.timeout(WAIT_S):
        while not setup.models:
            await asyncio.sleep(0.01)
    known = {ref: setup.priced(ref) for ref in ("p/dear", "p/half", "o/own", "gone/m")}
    assert known == {"p/dear": True, "p/half": False, "o/own": True, "gone/m": False}
    await page.bridge.shutdown(5.0)


class Unlocked(Listed):
    """Its test works; what it lists is known from then on."""

    async def test_saved(self, connection_id: str) -> tuple[ModelInfo, ...]:
        return tuple(model for model in await self.models() if model.ref.connection_id == connection_id)


async def test_a_good_test_and_a_late_keyring_have_the_models_read_again() -> None:
    for act in (lambda setup: setup.test_connection("p"), lambda setup: setup.keyring_answered()):
        page = Page(None)
        saved = Saved(lambda: (), page._keep, lambda: "", page._nothing, page._no_note, lambda _: "kept", lambda: False)
        setup = ModelSetupViewModel(Unlocked(), page.secrets, page.bridge, saved)  # type: ignore[arg-type]
        act(setup)
        async with asyncio.timeout(WAIT_S):
            while page.bridge.task_names:
                await asyncio.sleep(0.01)
        assert [str(model.ref) for model in setup.models] == ["p/dear", "p/half", "o/own"]
        await page.bridge.shutdown(5.0)


async def test_a_model_of_ones_own_is_offered_only_while_new_chats_use_the_demo() -> None:
    own = Connection("p", "mistral", "Mistral", "", "")
    for default, connections, offered in (
        (DEMO_MODEL, (own,), "p/dear"),
        (DEMO_MODEL, (), None),
        ("p/half", (own,), None),
        ("", (own,), None),
    ):
        page = Page(None)
        saved = Saved(
            lambda connections=connections: connections,
            page._keep,
            lambda default=default: default,
            page._nothing,
            page._no_note,
            lambda _: "kept",
            lambda: False,
        )
        setup = ModelSetupViewModel(Listed(), page.secrets, page.bridge, saved)  # type: ignore[arg-type]
        setup.look()
        async with asyncio.timeout(WAIT_S):
            while page.bridge.task_names:
                await asyncio.sleep(0.01)
        instead = setup.instead_of_demo
        assert (str(instead.ref) if instead else None) == offered
        await page.bridge.shutdown(5.0)


@pytest.mark.parametrize("wrong", ["", "There is no keyring here. Keys are forgotten when Assent is closed."])
async def test_a_form_for_keys_knows_whether_there_is_a_keyring_and_looks_once(wrong: str) -> None:
    page, asked, changes = Page(None), [], []

    async def there() -> str:
        asked.append(1)
        return wrong

    saved = Saved(
        lambda: (), page._keep, lambda: "", page._nothing, page._no_note, lambda _: "kept", lambda: False, there
    )
    setup = ModelSetupViewModel(Listed(), page.secrets, page.bridge, saved)  # type: ignore[arg-type]
    setup.changed.connect(lambda: changes.append(setup.keyring_note))
    for _ in range(3):
        setup.look_for_keyring()
    async with asyncio.timeout(WAIT_S):
        while page.bridge.task_names:
            await asyncio.sleep(0.01)
    assert (asked, changes, setup.keyring_note) == ([1], [wrong] if wrong else [], wrong)
    await page.bridge.shutdown(5.0)
