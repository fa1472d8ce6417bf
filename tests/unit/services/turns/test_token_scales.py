"""How a model counts is learned from its reports, and holds for what fits into its window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.agents.loop.window import PromptWindow
from desktop.domain.errors import ModelContextTooLong, ModelUnreachable
from desktop.domain.estimates import estimate_request
from desktop.domain.messages import ChatMessage, ImageBlock, TextBlock, Usage, user_message
from desktop.domain.models import Connection, Finished, ModelRef, ModelRequest, TextDelta
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.models.fallback import FallbackClient
from desktop.models.providers import LocalAddresses
from desktop.models.router import Connections
from desktop.models.scripted import ScriptedModel
from desktop.services.turns.token_scales import MAXIMUM, TokenScales
from desktop.store import Store
from desktop.supervision.tasks import TaskOwner
from tests.unit.agents.script import Script

REF = ModelRef("lab", "harbour-8b")
OTHER = ModelRef("lab", "quay-1b")
pytestmark = pytest.mark.spec("R-MOD-9")


class World:
    """A store, and what was learned in it."""

    def __init__(self, folder: Path) -> None:
        self.store, self.owner = Store(folder / "assent.db"), TaskOwner()

    async def restarted(self) -> TokenScales:
        await asyncio.gather(*self.owner._tasks)
        return await self.scales()

    async def scales(self) -> TokenScales:
        return await TokenScales.opened(self.store.state, self.owner.spawn)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    await made.store.open()
    yield made
    await made.owner.close()
    await made.store.close()


def request(*texts: str) -> ModelRequest:
    return ModelRequest(REF, tuple(user_message(text) for text in texts))


async def asked(scales: TokenScales, what: ModelRequest, reported: int) -> None:
    model = ScriptedModel([{"steps": [{"usage": {"input": reported, "output": 3}}, {"text": "yes"}]}])
    async for _ in scales.learning(model).stream(what, RunMeta("run", CancellationToken(), "thread")):
        pass


async def test_what_a_server_reports_moves_the_scale_of_its_model_alone_and_outlives_a_restart(world: World) -> None:
    scales = await world.scales()
    question = request("a = 1\n" * 400)
    await asked(scales, question, 2 * estimate_request(question))
    assert (scales(REF), scales(OTHER)) == (2.0, 1.0)
    await asked(scales, question, 3 * estimate_request(question))
    assert scales(REF) == 2.5  # half of the way up
    await asked(scales, question, estimate_request(question))
    assert scales(REF) == pytest.approx(2.2)  # a fifth of it down
    assert (await world.restarted())(REF) == pytest.approx(2.2)


async def test_what_a_model_reports_that_answers_instead_teaches_how_that_one_counts(world: World) -> None:
    scales, question = await world.scales(), request("a = 1\n" * 400)
    used = Finished("end", (), Usage(2 * estimate_request(question), 3))
    script = Script([ModelUnreachable("The server is away.")], [TextDelta("yes"), used])
    known = Connections(
        lambda: [Connection("lab", "openai_compatible", "Lab", "http://10.0.0.7/v1")], LocalAddresses({})
    )
    client = FallbackClient(script, known, lambda: [str(OTHER)], lambda _ref: True)
    async for _ in scales.learning(client).stream(question, RunMeta("run", CancellationToken(), "thread")):
        pass
    assert (scales(REF), scales(OTHER)) == (1.0, 2.0)


@pytest.mark.parametrize(("times", "why"), [(0.1, "only what was new was counted"), (40.0, "nobody counts so")])
async def test_a_report_that_nobody_can_mean_teaches_nothing(world: World, times: float, why: str) -> None:
    scales = await world.scales()
    question = request("words and words " * 100)
    await asked(scales, question, round(times * estimate_request(question)))
    assert scales(REF) == 1.0, why


async def test_a_short_request_and_one_with_a_picture_teach_nothing(world: World) -> None:
    scales = await world.scales()
    await asked(scales, request("hello"), 20)
    picture = ChatMessage("user", (TextBlock("what is this? " * 100), ImageBlock("image/png", "AAAA")))
    await asked(scales, ModelRequest(REF, (picture,)), 3_000)
    assert scales(REF) == 1.0


async def test_of_many_models_the_latest_are_kept_and_what_was_kept_wrong_is_not_believed(world: World) -> None:
    scales = await world.scales()
    for n in (*range(MAXIMUM), 0, MAXIMUM):
        scales.learn(ModelRef("lab", str(n)), 1_000, 2_000)
    assert [scales(ModelRef("lab", str(n))) for n in range(3)] == [2.0, 1.0, 2.0]
    await asyncio.gather(*world.owner._tasks)
    await world.store.state.put(key="token_scales", value={str(REF): 90, str(OTHER): "2", "lab/3": 1.5, "lab/4": None})
    again = await world.scales()
    assert (again(REF), again(OTHER), again(ModelRef("lab", "3"))) == (1.0, 1.0, 1.5)


def test_a_model_that_counts_twice_as_much_is_sent_half_as_much_and_the_meter_counts_as_it_does() -> None:
    messages = [user_message("w" * 4_000) for _ in range(12)]
    scale = [1.0]
    window = PromptWindow(context_window=16_000, scale=lambda: scale[0])
    assert len(window.view(messages).messages) == 8
    scale[0] = 2.0  # learned while the turn goes on
    view = window.view(messages)
    assert (len(view.messages), view.tokens) == (4, 4 * 2 * 1_004)
    scale[0] = 16.0
    with pytest.raises(ModelContextTooLong):
        window.view(messages)
