"""The model host as the app runs it: killed and restarted, on the Qt loop, without network and without keys."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from desktop.domain.errors import ModelError, ModelHostDied
from desktop.domain.messages import ChatMessage, TextBlock, user_message
from desktop.domain.models import StreamItem, TextDelta
from desktop.models.providers import LocalAddresses
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.model_child import SERVICE, environment, model_host
from tests.harness.closed import environment_of
from tests.harness.timeouts import WAIT_S
from tests.servers.fixtures import ProviderSpace, provider, provider_process
from tests.servers.hosts import KEY, collect, connection, meta, models_over, request, running_host

__all__ = ["provider", "provider_process"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.qt
@pytest.mark.expects_log("signal 9")
async def test_a_host_killed_in_the_middle_costs_one_answer_and_tells_no_key(provider: ProviderSpace) -> None:
    """On the app's own loop. What came is kept, the error names the next step, the same window works with the new
    host, and a key that a server repeats is in no word of it."""
    async with running_host() as host:
        models = models_over(host, connection("openai_compatible", provider.openai_url))
        provider.refuse(401, {"error": {"message": f"Key {KEY} is wrong"}})
        with pytest.raises(ModelError) as refused:
            await collect(models, request("openai_compatible/m"))
        assert KEY not in repr(refused.value)
        window = [user_message("one"), ChatMessage("assistant", (TextBlock("two"),)), user_message("three")]
        asked = request("openai_compatible/m", window)
        provider.steps({"times": 300, "steps": [{"text": "word "}]}, {"finish": "stop"})
        assert said(await collect(models, asked)) == "word " * 300
        provider.rounds(
            {"steps": [{"times": -1, "steps": [{"text": "tick "}], "every": 0.01}]},
            {"steps": [{"text": "again"}, {"finish": "stop"}]},
        )
        items: list[StreamItem] = []

        async def read() -> None:
            async for item in models.client.stream(asked, meta()):
                items.append(item)
                if len(items) == 5:
                    os.kill(host.health.pid or 0, signal.SIGKILL)

        with pytest.raises(ModelHostDied) as died:
            await read()
        assert len(items) >= 5
        assert "started again" in str(died.value)
        assert died.value.transient
        assert KEY not in host.health.detail + str(died.value)
        assert said(await collect(models, asked)) == "again"
        assert [m["content"] for m in provider.requests()[-1]["body"]["messages"]] == ["one", "two", "three"]
        assert host.health.generation == 2
    assert host.health.state == "stopped"


def said(items: Iterable[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


@pytest.fixture
async def fresh() -> AsyncIterator[ChildProcess]:
    """A model host from which nothing was asked yet."""
    host = model_host(secrets=tuple)
    yield host
    await host.stop()


async def loading(host: ChildProcess) -> tuple[bool, bool]:
    """Whether it has begun to load litellm, and what asks without it. It answers while it does."""
    state = await host.call("ping", timeout=WAIT_S)
    return state["loading"], state["direct"]


NOTHING, DIRECT, BOTH = (False, False), (False, True), (True, True)


async def test_who_has_no_model_to_ask_is_spared_the_loading_of_litellm(fresh: ChildProcess) -> None:
    nowhere = {"servers": {"vllm": ["http://127.0.0.1:9"]}}
    await models_over(fresh).catalogue.prewarm()
    found = await fresh.call("discover", nowhere, timeout=WAIT_S)
    assert [row["running"] for row in found] == [False]
    assert await loading(fresh) == NOTHING


async def test_with_a_connection_litellm_is_loaded_before_the_first_request(fresh: ChildProcess) -> None:
    await models_over(fresh, connection("anthropic", "http://127.0.0.1:9")).catalogue.prewarm()
    assert await loading(fresh) == BOTH
    await fresh.stop()
    assert fresh.health.state == "stopped", "also while it loads"


async def test_who_has_only_servers_that_are_asked_directly_is_spared_it_too(fresh: ChildProcess) -> None:
    await models_over(fresh, connection("openai_compatible", "http://127.0.0.1:9")).catalogue.prewarm()
    assert await loading(fresh) == DIRECT


@pytest.mark.parametrize(("kind", "loads"), [("vllm", DIRECT), ("ollama", BOTH)])
async def test_a_server_that_was_found_is_about_to_be_asked(
    fresh: ChildProcess, provider: ProviderSpace, kind: str, loads: tuple[bool, bool]
) -> None:
    about = {"vllm": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}], "ollama": [{"name": "m"}]}
    provider.local(**{kind: {"models": about[kind]}})
    addresses = LocalAddresses({kind: (provider.base_url,)})
    found = await models_over(fresh, addresses=addresses).catalogue.servers()
    assert [server.running for server in found] == [True]
    assert await loading(fresh) == loads


@pytest.mark.parametrize(("kind", "loads"), [("openai_compatible", DIRECT), ("groq", BOTH)])
async def test_a_connection_whose_models_are_listed_is_about_to_be_asked(
    fresh: ChildProcess, kind: str, loads: tuple[bool, bool]
) -> None:
    with pytest.raises(ModelError):
        await models_over(fresh).catalogue.test(connection(kind, "http://127.0.0.1:9"), KEY)
    assert await loading(fresh) == loads


NO_NETWORK = """
import sys
def audit(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        print("NETWORK", event, args, file=sys.stderr, flush=True)
sys.addaudithook(audit)
sys.argv = [{script!r}]
exec(compile(open({script!r}).read(), {script!r}, "exec"), {{"__name__": "__main__", "__file__": {script!r}}})
"""


@pytest.mark.expects_log("exit code|signal 9")
@pytest.mark.spec("R-ENV-6")
async def test_loading_touches_no_network_and_finds_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A key in our environment and one in a .env file beside it: neither reaches the host."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    script = str(ROOT / "desktop" / "workers" / "model_host" / "__main__.py")
    argv = (sys.executable, "-I", "-c", NO_NETWORK.format(script=script))
    host = ChildProcess(ChildSpec(SERVICE, argv, environment(os.environ), folder=str(tmp_path)))
    try:
        assert (await host.call("ping", {"wait": True}, timeout=WAIT_S))["ready"]
        await asyncio.sleep(0.3)
        pid = host.health.pid or 0
        assert KEY.encode() not in environment_of(pid)
        os.kill(pid, signal.SIGKILL)
        while not host.health.last_end:
            await asyncio.sleep(0.01)
        assert "NETWORK" not in host.health.detail
    finally:
        await host.stop()
