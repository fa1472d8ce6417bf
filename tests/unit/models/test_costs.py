"""What an answer is said to have cost, where providers count in a way of their own."""

from typing import Any

import pytest

from desktop.domain.messages import Usage
from desktop.domain.models import Finished
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import collect, connection, models_over, request

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.spec("R-MOD-3")]
OWN_KEY = {"is_byok": True, "cost_details": {"upstream_inference_cost": 0.0105}}
"""What OpenRouter adds where the maker bills the person at its own place."""


async def used(host: ChildProcess, provider: ProviderSpace, kind: str, model: str, **usage: Any) -> Usage:
    """What the app counts of an answer of which the provider told this."""
    provider.steps({"text": "Hi"}, {"finish": "stop"}, {"usage": {"input": 2000, "output": 300, **usage}})
    path = {"openrouter": "/api/v1"}.get(kind, "/v1")
    models = models_over(host, connection(kind, provider.base_url + path))
    end = (await collect(models, request(f"{kind}/{model}")))[-1]
    assert isinstance(end, Finished)
    assert end.usage is not None
    return end.usage


async def test_thinking_that_is_counted_beside_the_answer_is_part_of_the_output(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    apart = await used(host, provider, "xai", "grok-4.3", reasoning=500, told={"total_tokens": 2800})
    among = await used(host, provider, "openai", "gpt-5.1", reasoning=200)
    assert (apart.output_tokens, apart.reasoning_tokens) == (800, 500)
    assert (among.output_tokens, among.reasoning_tokens) == (300, 200)


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        ({"cost": 0.00123, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}}, 0.00123),
        ({"cost": 0.0001, "told": OWN_KEY}, 0.0106),
        ({"cost": 0, "told": OWN_KEY}, 0.0105),
        ({"cost": 0}, 0.0),
        ({"cost": -1}, None),
        ({"cost": float("nan")}, None),
        ({"cost": float("inf")}, None),
        ({"cost": 10**30}, None),
        ({"cost": True}, None),
        ({"cost": 0.5, "told": {"is_byok": True, "cost_details": {"upstream_inference_cost": float("nan")}}}, 0.5),
    ],
)
async def test_what_openrouter_says_is_the_cost_and_what_the_maker_bills_beside_it(
    host: ChildProcess, provider: ProviderSpace, told: dict[str, Any], cost: float | None
) -> None:
    found = await used(host, provider, "openrouter", "some/free-model", **told)
    assert found.cost_usd == (None if cost is None else pytest.approx(cost))


async def test_no_answer_has_more_tokens_than_there_can_be(host: ChildProcess, provider: ProviderSpace) -> None:
    found = await used(host, provider, "openai_compatible", "m", input=10**30, output=10**400, cached=10**30)
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == (10**9, 10**9, 10**9)
    assert found.cost_usd is None
