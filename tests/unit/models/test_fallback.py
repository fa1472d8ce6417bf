"""Where a model cannot answer now, the next one of the person's list does: over a real model host and real servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from desktop.agents.loop.answer import INSTEAD, Answerer
from desktop.agents.loop.retry import RetryPolicy
from desktop.domain import errors
from desktop.domain.messages import NoticeBlock
from desktop.domain.models import (
    Connection,
    ModelAnswer,
    ModelRef,
    ModelRequest,
    SettingsLeftOut,
    StreamItem,
    TextDelta,
)
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.models.client import ModelServices, build
from desktop.models.fallback import FallbackClient
from desktop.models.providers import LocalAddresses
from desktop.models.router import Connections
from desktop.workers.child import ChildProcess
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, Secrets, meta, request
from tests.unit.agents.script import Script, says

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.spec("R-MOD-7")]
ANSWER: dict[str, Any] = {"steps": [{"text": "I am the other one."}, {"finish": "stop"}]}
BUSY = {"status": 529, "body": {"error": {"type": "overloaded_error", "message": "Overloaded"}}}
FIRST, SECOND, THIRD = "first/claude-sonnet-4-5", "second/some-model", "third/some-model"


class World:
    """Three servers, and an address where there is none."""

    def __init__(self, host: ChildProcess, port: int) -> None:
        self.first, self.second, self.third = (ProviderSpace(port) for _ in range(3))
        self.chain: list[str] = [SECOND, THIRD]
        self.has_price: Callable[[ModelRef], bool] = lambda _ref: True
        connections = (
            Connection("first", "anthropic", "First", self.first.base_url, "key"),
            Connection("second", "openai_compatible", "Second", self.second.openai_url, "key"),
            Connection("third", "openai_compatible", "Third", self.third.openai_url, "key"),
            Connection("gone", "openai_compatible", "Gone", "http://127.0.0.1:9/v1", "key"),
        )
        self.models: ModelServices = build(
            host,
            Secrets(key=KEY),
            lambda: connections,
            addresses=LocalAddresses({}),
            fallbacks=lambda: self.chain,
            has_price=self._priced,
        )

    def _priced(self, ref: ModelRef) -> bool:
        return self.has_price(ref)

    async def answer(self, ref: str = FIRST) -> ModelAnswer:
        """What the round loop gets, without the waits of its retries."""
        answerer = Answerer(self.models.client, retry=RetryPolicy(retries=0))
        return await answerer.ask(request(ref), meta(), lambda _event: None)

    def asked(self) -> list[int]:
        """How many requests each server got."""
        return [
            len([one for one in space.requests() if one.get("body")]) for space in (self.first, self.second, self.third)
        ]


@pytest.fixture
def world(host: ChildProcess, provider_process: int) -> World:
    made = World(host, provider_process)
    for space in (made.first, made.second, made.third):
        space.rounds(ANSWER)
    return made


def notices(answer: ModelAnswer) -> list[str]:
    return [block.text for block in answer.message.blocks if isinstance(block, NoticeBlock) and block.code == INSTEAD]


async def test_an_overloaded_model_is_replaced_by_the_next_and_the_message_says_by_which(world: World) -> None:
    world.first.rounds(BUSY)
    answer = await world.answer()
    assert (answer.error, answer.message.text) == (None, "I am the other one.")
    assert notices(answer) == [f"{FIRST} is out of order or overloaded, so {SECOND} answers."]
    assert world.asked() == [1, 1, 0]


async def test_one_that_takes_no_more_requests_and_one_that_cannot_be_reached_are_passed_over(world: World) -> None:
    world.second.refuse(429, {"error": {"message": "Slow down"}}, {"retry-after": "700"})
    answer = await world.answer("gone/some-model")
    assert answer.message.text == "I am the other one."
    assert notices(answer) == [f"gone/some-model cannot be reached, so {THIRD} answers."]
    world.first.refuse(429, {"error": {"message": "Slow down"}})
    assert notices(await world.answer()) == [f"{FIRST} takes no more requests now, so {THIRD} answers."]


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (401, "Incorrect API key provided.", errors.ModelKeyRefused),
        (400, "Your request was refused by the content policy.", errors.ModelBadRequest),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", errors.ModelContextTooLong),
    ],
)
async def test_a_wrong_key_refused_content_and_a_full_window_are_told_and_nobody_else_is_asked(
    world: World, status: int, said: str, kind: type[Exception]
) -> None:
    world.first.refuse(status, {"error": {"type": "invalid_request_error", "message": said}})
    answer = await world.answer()
    assert type(answer.error) is kind
    assert world.asked() == [1, 0, 0]


CONNECTIONS = (
    Connection("here", "ollama", "Here", "http://127.0.0.1:11434"),
    Connection("lan", "openai_compatible", "Lan", "http://192.168.1.7/v1"),
    Connection("hosted", "ollama", "Hosted", "https://ollama.example.org"),
    Connection("far", "openai_compatible", "Far", "https://models.example.org/v1"),
    Connection("cloud", "anthropic", "Cloud", "", "key"),
)
AWAY = [errors.ModelUnreachable("The server is away.")]


async def played(ref: str, chain: Sequence[str], *answers: Any) -> tuple[list[str], ModelAnswer]:
    """Who was asked, in order, by a client that plays these answers; and what came."""
    script = Script(*answers, last=says("yes"))
    known = Connections(lambda: CONNECTIONS, LocalAddresses({}))
    client = FallbackClient(script, known, lambda: chain, lambda _ref: True)
    answerer = Answerer(client, retry=RetryPolicy(retries=0))
    answer = await answerer.ask(request(ref), meta(), lambda _event: None)
    return [str(one.model) for one in script.requests], answer


async def test_once_anything_of_an_answer_has_come_nobody_else_is_asked() -> None:
    asked, answer = await played("cloud/a", ["here/b"], [TextDelta("Half of a sen"), *AWAY])
    assert (asked, answer.message.text) == (["cloud/a"], "Half of a sen")
    assert isinstance(answer.error, errors.ModelUnreachable)


@pytest.mark.parametrize(
    ("ref", "asked"),
    [
        ("here/a", ["here/a", "lan/b", "here/c"]),
        ("lan/a", ["lan/a", "lan/b", "here/c"]),
        ("hosted/a", ["hosted/a", "lan/b", "here/c"]),
        ("cloud/a", ["cloud/a", "hosted/b", "far/b", "lan/b", "cloud/b", "here/c"]),
    ],
)
async def test_what_is_asked_here_goes_nowhere_else_whatever_the_list_says(ref: str, asked: list[str]) -> None:
    chain = ["hosted/b", "far/b", "nobody/knows", "", ref, "lan/b", "cloud/b", "here/c", "lan/b"]
    assert (await played(ref, chain, *[AWAY] * 5))[0] == asked


async def test_a_run_that_was_stopped_while_a_model_failed_asks_nobody_else() -> None:
    token, asked = CancellationToken(), []

    class Stopped:
        """Fails as a server does whose connection the person's stop has closed."""

        async def stream(self, request: ModelRequest, _: RunMeta) -> AsyncIterator[StreamItem]:
            asked.append(str(request.model))
            token.cancel("stopped")
            raise errors.ModelUnreachable("The server is away.")
            yield

    known = Connections(lambda: CONNECTIONS, LocalAddresses({}))
    client = FallbackClient(Stopped(), known, lambda: ["far/b"], lambda _ref: True)
    with pytest.raises(errors.CancellationError):
        async for _ in client.stream(request("cloud/a"), RunMeta("run", token, thread_id="thread")):
            pass
    assert asked == ["cloud/a"]


async def test_what_a_model_left_out_that_then_failed_is_not_said() -> None:
    left = SettingsLeftOut(("temperature",))
    _, answer = await played("cloud/a", ["here/b"], [left, *AWAY], [left, *says("yes")])
    said = [block.text for block in answer.message.blocks if isinstance(block, NoticeBlock)]
    assert said == [
        "cloud/a cannot be reached, so here/b answers.",
        "here/b does not take these settings, so they were left out: temperature.",
    ]


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize("holds", [True, False])
async def test_a_schema_goes_to_another_model_only_where_that_is_held_to_it(holds: bool) -> None:
    script = Script(AWAY, last=says('{"n": 1}'))
    asked: list[tuple[str, bool]] = []

    async def held(ref: ModelRef, *, with_tools: bool) -> bool:
        asked.append((str(ref), with_tools))
        return holds

    known = Connections(lambda: CONNECTIONS, LocalAddresses({}))
    client = FallbackClient(script, known, lambda: ["far/b"], lambda _ref: True, held)
    tool = {"name": "t", "description": "d", "parameters": {"type": "object", "properties": {}}}
    answerer = Answerer(client, retry=RetryPolicy(retries=0))
    await answerer.ask(request("cloud/a", answer_schema=SCHEMA, tools=(tool,)), meta(), lambda _event: None)
    first, second = script.requests
    assert (first.answer_schema, second.answer_schema) == (SCHEMA, SCHEMA if holds else None)
    assert asked == [("far/b", True)]


async def test_a_server_that_refuses_schemas_answers_instead_of_one_that_is_held_to_them(world: World) -> None:
    world.first.rounds(BUSY)
    answerer = Answerer(world.models.client, retry=RetryPolicy(retries=0))
    answer = await answerer.ask(request(FIRST, answer_schema=SCHEMA), meta(), lambda _event: None)
    assert answer.message.text == "I am the other one."
    (body,) = [one["body"] for one in world.second.requests() if one.get("body")]
    assert "response_format" not in body
    sent = [one["body"] for one in world.first.requests() if one.get("body")]
    assert "output_format" in sent[-1]


async def test_where_nobody_can_answer_the_first_failure_is_told(world: World) -> None:
    world.first.rounds(BUSY)
    for space in (world.second, world.third):
        space.refuse(503, {"error": {"message": "later"}})
    answer = await world.answer()
    assert isinstance(answer.error, errors.ModelServerError)
    assert "Overloaded" in str(answer.error) or "First" in str(answer.error)
    assert world.asked() == [1, 1, 1]


async def test_another_models_wrong_key_ends_the_chain_and_is_told_and_its_small_window_is_passed_over(
    world: World,
) -> None:
    world.first.rounds(BUSY)
    world.second.refuse(401, {"error": {"message": "Incorrect API key provided."}})
    answer = await world.answer()
    assert isinstance(answer.error, errors.ModelServerError)
    assert f"{SECOND} could not answer instead" in answer.error.next_step
    assert world.asked() == [1, 1, 0]
    world.second.refuse(400, {"error": {"message": "This model's maximum context length is 8 tokens."}})
    assert notices(await world.answer()) == [f"{FIRST} is out of order or overloaded, so {THIRD} answers."]


async def test_a_run_whose_cost_is_counted_goes_to_no_model_of_unknown_price(world: World) -> None:
    world.has_price = lambda ref: str(ref) != SECOND
    world.first.rounds(BUSY)
    assert notices(await world.answer()) == [f"{FIRST} is out of order or overloaded, so {THIRD} answers."]
    world.has_price = lambda ref: str(ref) == THIRD  # that of the first is not known either: nothing is lost
    assert notices(await world.answer()) == [f"{FIRST} is out of order or overloaded, so {SECOND} answers."]


async def test_without_a_list_a_failure_is_told_as_ever(world: World) -> None:
    world.chain = []
    world.first.rounds(BUSY)
    answer = await world.answer()
    assert isinstance(answer.error, errors.ModelServerError)
    assert not notices(answer)
