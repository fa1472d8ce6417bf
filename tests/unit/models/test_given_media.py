"""Images and sounds that tools gave: which models get them, and what another is told (R-MOD-6)."""

import asyncio
import json
from typing import Any

import pytest

from desktop.domain.messages import AudioBlock, ChatMessage, ImageBlock, ToolCallBlock, ToolResultBlock, user_message
from desktop.domain.models import ModelRef, Senses
from desktop.models.catalogue import Catalogue
from desktop.models.client import HostModelClient
from desktop.models.providers import LocalAddresses
from desktop.models.router import Connections
from desktop.workers.child import ChildProcess
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace
from tests.servers.hosts import KEY, Secrets, collect, connection, meta
from tests.unit.models.test_host_client import MODEL, asked, over

pytestmark = pytest.mark.asyncio(loop_scope="session")

IMAGE = ImageBlock("image/png", "aGk=", "shot 1")
SOUNDS = (AudioBlock("audio/wav", "aGk=", "say"), AudioBlock("audio/ogg", "aGk="))
SHOWN = (
    user_message("Look.", [ImageBlock("image/png", "aGk=", "cat.png")]),
    ChatMessage("assistant", (ToolCallBlock("c1", "shot", {}), ToolCallBlock("c2", "shot", {}))),
    ChatMessage("tool", (ToolResultBlock("c1", "shot", "taken", media=(IMAGE, *SOUNDS)),)),
    ChatMessage("tool", (ToolResultBlock("c2", "shot", "nothing"),)),
    user_message("And?"),
)


async def sent(host: ChildProcess, provider: ProviderSpace, senses: Senses, wire: str = "openai_compatible") -> Any:
    url = provider.openai_url if wire == "openai_compatible" else provider.base_url
    known = Connections(lambda: [connection(wire, url)], LocalAddresses({}))
    client = HostModelClient(host, Secrets(key=KEY), known, lambda _ref: senses)
    async for _ in client.stream(asked(wire, messages=SHOWN), meta()):
        pass
    return provider.requests()[-1]["body"]["messages"]


@pytest.mark.spec("R-MOD-6")
async def test_a_model_that_sees_gets_what_a_tool_gave_right_after_the_results(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    *_, first, second, given = await sent(host, provider, Senses(True, True))
    assert (first["role"], second["role"], second["content"]) == ("tool", "tool", "nothing")
    assert first["content"] == "taken\n[Sound (audio/ogg) is not given to you: models take no sounds of this kind.]"
    intro, image, sound, question = given["content"]
    assert (given["role"], "given by the tools" in intro["text"], question["text"]) == ("user", True, "And?")
    assert image["image_url"]["url"] == "data:image/png;base64,aGk="
    assert sound["input_audio"] == {"data": "aGk=", "format": "wav"}
    whole = json.dumps(await sent(host, provider, Senses(True, False), "anthropic"))
    assert whole.count('"type": "image"') == 2
    assert "this model is not known to hear sounds" in whole


@pytest.mark.spec("R-MOD-6")
async def test_what_a_model_takes_is_asked_for_once_where_nobody_has_listed_it(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = over(host, provider, "anthropic")
    provider.local(list={"body": {"data": [{"id": MODEL["anthropic"]}]}})
    for messages, lists in ((SHOWN[-1:], 0), (SHOWN, 1), (SHOWN, 1)):
        await collect(models, asked("anthropic", messages=messages))
        last = [one for one in provider.requests() if "body" in one][-1]
        assert json.dumps(last["body"]["messages"]).count('"type": "image"') == (2 if messages is SHOWN else 0)
        assert sum(one["path"].partition("?")[0].endswith("/models") for one in provider.requests()) == lists


def pictures(request: Any) -> int:
    return json.dumps(request["body"]["messages"]).count('"type": "image"')


@pytest.mark.spec("R-MOD-6")
async def test_two_requests_at_once_wait_for_the_same_listing(host: ChildProcess, provider: ProviderSpace) -> None:
    models = over(host, provider, "anthropic")
    provider.local(list={"body": {"data": [{"id": MODEL["anthropic"]}]}})
    await asyncio.gather(*(collect(models, asked("anthropic", messages=SHOWN)) for _ in range(2)))
    assert [pictures(one) for one in provider.requests() if "body" in one] == [2, 2]
    assert sum(one["path"].partition("?")[0].endswith("/models") for one in provider.requests()) == 1


@pytest.mark.spec("R-MOD-6")
async def test_a_listing_that_failed_is_asked_for_again(host: ChildProcess, provider: ProviderSpace) -> None:
    models = over(host, provider, "anthropic")
    provider.local(list={"status": 400, "body": {}})
    await collect(models, asked("anthropic", messages=SHOWN))
    provider.local(list={"body": {"data": [{"id": MODEL["anthropic"]}]}})
    await collect(models, asked("anthropic", messages=SHOWN))
    sent = [pictures(one) for one in provider.requests() if "body" in one]
    assert sent == [1, 2]  # the person's own picture goes out in any case


@pytest.mark.spec("R-MOD-6")
async def test_a_server_that_never_lists_its_models_is_waited_for_once_and_not_long(host: ChildProcess) -> None:
    asked_for: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: asked_for.append(writer), "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        known = Connections(lambda: [connection("openai_compatible", address)], LocalAddresses({}))
        catalogue = Catalogue(host, Secrets(key=KEY), known, learn_s=0.5)
        async with asyncio.timeout(WAIT_S):
            while not asked_for:  # a machine that is busy may not have come so far in half a second
                await Catalogue(host, Secrets(key=KEY), known, learn_s=0.5).learn(ModelRef("openai_compatible", "m"))
            before = len(asked_for)
            for _ in range(3):
                await catalogue.learn(ModelRef("openai_compatible", "m"))
        assert len(asked_for) - before <= 1
        for writer in asked_for:
            writer.close()


@pytest.mark.spec("R-MOD-6")
async def test_a_listing_that_was_stopped_is_asked_for_by_the_one_who_waits(
    host: ChildProcess, provider: ProviderSpace
) -> None:
    models = over(host, provider, "anthropic")
    provider.local(list={"body": {"data": [{"id": MODEL["anthropic"]}]}})
    what = asked("anthropic").model
    async with asyncio.TaskGroup() as group:
        stopped = group.create_task(models.catalogue.learn(what))
        group.create_task(models.catalogue.learn(what))
        await asyncio.sleep(0)  # both have begun
        stopped.cancel()
    assert models.catalogue.senses(what).images


@pytest.mark.spec("R-MOD-6")
@pytest.mark.parametrize("sees", [None, False])
async def test_another_model_gets_a_line_that_says_what_it_is_not_shown(
    host: ChildProcess, provider: ProviderSpace, sees: bool | None
) -> None:
    user, _, first, _, question = await sent(host, provider, Senses(sees, None))
    said = "[Image “shot 1” (image/png) is not given to you: this model is not known to see images.]"
    assert said in first["content"]
    assert question["content"] == "And?"
    attached = json.dumps(user["content"], ensure_ascii=False)
    told = "cat.png” (image/png) is not shown to you" in attached
    assert ("image_url" in attached, told) == (sees is None, sees is False)
