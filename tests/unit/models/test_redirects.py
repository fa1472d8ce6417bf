"""A model server that sends requests on to another address gets no request there, and no key: whatever it speaks."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from desktop.domain.errors import ModelError, ModelRedirected
from desktop.domain.models import Connection
from desktop.models.providers import BEDROCK_ACCESS, DEMO, PROVIDERS, LocalAddresses
from desktop.workers.child import ChildProcess
from tests.servers.hosts import KEY, collect, models_over, request
from tests.servers.signed import ACCESS_KEY_ID, SECRET_ACCESS_KEY
from tests.servers.signpost import STATUSES, Signpost, signpost

pytestmark = pytest.mark.asyncio(loop_scope="session")

WIRES = [info.provider for info in PROVIDERS if info.provider != DEMO]
OPTIONS = {"api_version": "2024-10-21", "deployment": "prod", "region": "eu-central-1"}
MODELS = {"bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0", BEDROCK_ACCESS: "amazon.nova-pro-v1:0"}


@pytest.fixture
def post() -> Iterator[Signpost]:
    with signpost() as made:
        yield made


def at(provider: str, post: Signpost) -> Connection:
    secret = "access" if provider == BEDROCK_ACCESS else "key"
    return Connection(provider, provider, provider.title(), post.url, secret, OPTIONS)


def check(error: ModelError, post: Signpost, place: str) -> None:
    """One request was made, nothing arrived at the second place, and the person is told where it pointed."""
    assert type(error) is ModelRedirected, (place, post.status, error)
    assert len(post.came) == 1, (place, post.status, post.came)
    assert post.arrived == [], (place, post.status)
    told = f"{error} {error.next_step}"
    assert KEY not in told
    assert SECRET_ACCESS_KEY not in told
    if place.startswith("another"):
        host = {"another host": "localhost", "another loopback address": "127.0.0.2"}.get(place, "127.0.0.1")
        port = post.port if place == "another path" else post.elsewhere
        assert f"{host}:{port}/" in told, (place, told)


def each_once(post: Signpost, wire: str) -> Iterator[tuple[int, tuple[str, str]]]:
    """Every place, and every status at some of them: over all wires each status meets each place."""
    statuses = itertools.cycle(STATUSES)
    return zip(itertools.islice(statuses, WIRES.index(wire) % len(STATUSES), None), post.places().items(), strict=False)


def all_pairs(post: Signpost, wire: str) -> Iterator[tuple[int, tuple[str, str]]]:
    return itertools.product(STATUSES, post.places().items())


@pytest.mark.spec("R-SEC-3")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("ways", [each_once, pytest.param(all_pairs, marks=pytest.mark.soak)])
async def test_a_redirect_of_a_model_server_is_not_followed(
    host: ChildProcess, post: Signpost, wire: str, ways: Callable[..., Iterator[tuple[int, tuple[str, str]]]]
) -> None:
    models = models_over(host, at(wire, post))
    for status, (place, location) in ways(post, wire):
        post.status, post.location = status, location
        post.came.clear()
        with pytest.raises(ModelError) as refused:
            await collect(models, request(f"{wire}/{MODELS.get(wire, 'gpt-4o')}"))
        check(refused.value, post, place)


@pytest.mark.spec("R-SEC-3")
@pytest.mark.parametrize("wire", WIRES)
async def test_a_redirect_is_not_followed_when_a_connection_is_tested(
    host: ChildProcess, post: Signpost, wire: str
) -> None:
    catalogue = models_over(host).catalogue
    more = {"access_key_id": ACCESS_KEY_ID} if wire == BEDROCK_ACCESS else {}
    for status, (place, location) in each_once(post, wire):
        post.status, post.location = status, location
        post.came.clear()
        with pytest.raises(ModelError) as refused:
            await catalogue.test(at(wire, post), KEY, more)
        check(refused.value, post, place)


async def test_a_redirect_is_not_followed_when_servers_of_this_machine_are_looked_for(
    host: ChildProcess, post: Signpost
) -> None:
    kinds = ("ollama", "lmstudio", "llamacpp", "vllm")
    models = models_over(host, addresses=LocalAddresses(dict.fromkeys(kinds, (post.url,))))
    for status, (place, location) in zip(itertools.cycle(STATUSES), post.places().items(), strict=False):
        post.status, post.location = status, location
        post.came.clear()
        found = await models.catalogue.servers()
        assert [server.running for server in found] == [False] * 4, (place, post.status)
        assert all("sends requests on" in server.problem for server in found), (place, post.status)
        assert len(post.came) == len(kinds), (place, post.status, post.came)
        assert post.arrived == [], (place, post.status)


async def test_a_key_in_the_address_of_a_redirect_is_not_shown(host: ChildProcess, post: Signpost) -> None:
    post.location = f"https://someone:{KEY}@elsewhere.example/{KEY}?key={KEY}#{KEY}"
    models = models_over(host, replace(at("openai_compatible", post), title="Lab"))
    with pytest.raises(ModelRedirected) as refused:
        await collect(models, request("openai_compatible/m"))
    assert "Lab sends requests on to https://elsewhere.example/" in str(refused.value)
    assert KEY not in f"{refused.value} {refused.value.next_step}"
    assert "someone" not in str(refused.value)
