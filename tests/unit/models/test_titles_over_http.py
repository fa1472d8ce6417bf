"""Titles from a real server that is slow, thinks first, or fails: the chat is never held up (N-4)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.models import Connection
from desktop.services.chats.model_titles import MAX_TOKENS, SYSTEM
from desktop.workers.child import ChildProcess
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import models_over
from tests.unit.services.kit import World, world

pytestmark = [pytest.mark.spec("N-4"), pytest.mark.asyncio(loop_scope="session")]

ONE = {"steps": [{"text": "Ninety metres."}, {"finish": "stop"}]}
TWO = {"steps": [{"text": "Ten more."}, {"finish": "stop"}]}
THINKS = [{"reasoning": "They ask about a tower. "}, {"reasoning": "Short, then. "}]
TITLE = {"steps": [*THINKS, {"text": "Height of the tower"}, {"finish": "stop"}]}


def titles(provider: ProviderSpace) -> list[dict[str, Any]]:
    """Requests for a title that came in."""
    return [one for one in provider.requests() if SYSTEM in str(one["body"])]


def over(host: ChildProcess, provider: ProviderSpace) -> Any:
    made = Connection("local", "openai_compatible", "Local", base_url=provider.openai_url, secret_name="key")
    return models_over(host, made).client


async def quiet(w: World) -> None:
    async with asyncio.timeout(WAIT_S):
        while w.owner.alive:
            await asyncio.sleep(0.01)


async def begun(provider: ProviderSpace, count: int) -> None:
    """Until the server has so many requests for a title."""
    async with asyncio.timeout(WAIT_S):
        while len(await asyncio.to_thread(titles, provider)) < count:
            await asyncio.sleep(0.01)


async def test_a_title_is_asked_with_a_limit_and_taken_after_what_was_thought(
    host: ChildProcess, provider: ProviderSpace, tmp_path: Path
) -> None:
    provider.rounds(ONE, TITLE)
    async with world(tmp_path, over(host, provider), titles=lambda: True) as w:
        thread = await w.thread("local/some-model")
        await w.ask(thread, "how tall is that tower")
        await quiet(w)
        assert (await w.service.thread(thread)).title == "Height of the tower"
    (asked,) = titles(provider)
    assert asked["body"]["max_tokens"] == MAX_TOKENS


@pytest.mark.parametrize(
    "said",
    [
        {"status": 500, "body": {"error": {"message": "no"}}},
        {"status": 400, "body": {"error": {"message": "no"}}},
        {"steps": [*THINKS, {"finish": "length"}]},
        {"steps": [{"cut": True}]},
        {"steps": [{"reset": True}]},
        {"status": 200, "body": "<html>", "bare": True},
    ],
)
async def test_one_that_fails_or_only_thinks_leaves_the_first_words_and_the_chat_goes_on(
    host: ChildProcess, provider: ProviderSpace, tmp_path: Path, said: dict[str, Any]
) -> None:
    provider.rounds(ONE, said, TWO)
    async with world(tmp_path, over(host, provider), titles=lambda: True) as w:
        thread = await w.thread("local/some-model")
        await w.ask(thread, "how tall is that tower")
        await quiet(w)
        assert (await w.ask(thread, "and the other?"))[-1].text == "Ten more."
        await quiet(w)
        assert (await w.service.thread(thread)).title == "How tall is that tower"
        assert [end.reason for end in w.ends()] == ["response", "response"]
    assert len(titles(provider)) == 1


async def test_the_next_question_ends_a_slow_asking_which_is_taken_up_after_the_answer(
    host: ChildProcess, provider: ProviderSpace, tmp_path: Path
) -> None:
    provider.rounds(ONE, {"steps": [*THINKS, {"hang": True}]}, TWO, TITLE)
    async with world(tmp_path, over(host, provider), titles=lambda: True) as w:
        thread = await w.thread("local/some-model")
        await w.ask(thread, "how tall is that tower")
        await begun(provider, 1)
        assert (await w.ask(thread, "and the other?"))[-1].text == "Ten more."
        await quiet(w)
        assert (await w.service.thread(thread)).title == "Height of the tower"
    first, second = titles(provider)
    assert first["ended"] < second["ended"], "a server with one place is free again"
    assert "Ninety metres." in str(second["body"]), "it is the first answer's title"
