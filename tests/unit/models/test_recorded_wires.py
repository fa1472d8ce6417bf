"""What real servers answered, played back to the real model host: what is in it arrives, whoever reads it."""

from collections.abc import Sequence
from typing import Any

import pytest

from desktop.domain.models import Connection
from desktop.workers.child import ChildProcess
from tests.harness.two_ways import ByLibrary, told
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import models_over, request
from tests.servers.recorded import RECORDINGS, Recording, spoken_directly

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATHS = {"openrouter": "/api/v1", "anthropic": "", "gemini": "", "bedrock": "", "azure": "", "ollama": ""}
OPTIONS = {"api_version": "2024-10-21", "deployment": "prod", "region": "eu-central-1"}
NOT_AS_THE_LIBRARY = {
    "groq-error": "what the server says of its error is told, also where a part of the answer had come",
    "openrouter-error": "the error's own number decides what kind it is, also where a part of the answer had come",
    "mistral-thinking": "a text that is thought is one, and no seal is made up for it",
    "snowflake-text": "an answer that the server calls done is whole, although it never says why it ended",
}
"""Recordings of which more is told when the library is left out."""


def connected(one: Recording, space: ProviderSpace) -> Connection:
    url = space.base_url + PATHS.get(one.provider, "/v1")
    return Connection(one.provider, one.provider, one.provider.title(), url, "key", OPTIONS)


def brief(items: Sequence[Any], one: Recording) -> list[Any]:
    """Without what depends on prices and names, and without ids that are not in the answer; of a seal, which is opaque,
    how long it is."""
    body = one.body.decode("utf-8", "replace")

    def end(item: list[Any]) -> list[Any]:
        calls = [["made" if call[0] not in body else call[0], *call[1:]] for call in item[2]]
        return ["end", item[1], calls, item[3] and item[3][:5]]

    short = {"seal": lambda item: ["seal", len(item[1])], "end": end}
    return [short.get(item[0], list)(item) for item in items]


@pytest.mark.parametrize("one", RECORDINGS, ids=lambda one: one.name)
@pytest.mark.spec("R-LOOP-5", "R-PRV-9")
async def test_what_is_in_a_recorded_answer_arrives(
    host: ChildProcess, provider: ProviderSpace, one: Recording
) -> None:
    one.played(provider)
    items = await told(models_over(host, connected(one, provider)), request(f"{one.provider}/{one.model}"))
    assert brief(items, one) == one.expected


@pytest.mark.parametrize("one", list(spoken_directly()), ids=lambda one: one.name)
@pytest.mark.spec("S-MOD-1")
async def test_a_server_that_is_asked_directly_is_understood_as_the_library_understands_it(
    host: ChildProcess, provider: ProviderSpace, one: Recording
) -> None:
    one.played(provider)
    asked = request(f"{one.provider}/{one.model}")
    ours = await told(models_over(host, connected(one, provider)), asked)
    its = await told(models_over(ByLibrary(host), connected(one, provider)), asked)
    assert (ours == its) is (one.name not in NOT_AS_THE_LIBRARY), f"{ours}\n{its}"
    direct, by_library = (sent["headers"]["user-agent"] for sent in provider.requests())
    assert (direct, by_library == "Assent") == ("Assent", False), "each was asked in its own way"


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_an_answer_is_the_same_however_it_is_cut_into_pieces(
    host: ChildProcess, provider: ProviderSpace, size: int
) -> None:
    """Also in the middle of a letter: the answer has some of more than one byte."""
    (one,) = (one for one in RECORDINGS if one.name == "llamacpp-text")
    body = one.body[: 40 * size + 2000] if size < 100 else one.body
    one.played(provider, [body])
    asked, models = request(f"{one.provider}/{one.model}"), models_over(host, connected(one, provider))
    whole = await told(models, asked)
    one.played(provider, [body[at : at + size] for at in range(0, len(body), size)])
    assert await told(models, asked) == whole
