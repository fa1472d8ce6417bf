"""The model host as the app runs it: killed and restarted, on the Qt loop, without network and without keys."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from desktop.domain.errors import ModelError, ModelHostDied
from desktop.domain.messages import ChatMessage, TextBlock, user_message
from desktop.domain.models import StreamItem, TextDelta
from desktop.workers.child import ChildProcess, ChildSpec
from desktop.workers.model_child import SERVICE, environment, model_host
from tests.harness.patience import PATIENCE_S
from tests.servers.fixtures import ProviderSpace, provider, provider_process
from tests.servers.hosts import KEY, collect, connection, meta, models_over, request, running_host

__all__ = ["provider", "provider_process"]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.expects_log("signal 9")
async def test_a_host_killed_in_the_middle_costs_one_answer(provider: ProviderSpace) -> None:
    """What came is kept, the error names the next step, and the same window works with the new host."""
    async with running_host() as host:
        models = models_over(host, connection("openai_compatible", provider.openai_url))
        window = [user_message("one"), ChatMessage("assistant", (TextBlock("two"),)), user_message("three")]
        asked = request("openai_compatible/m", window)
        await collect(models, asked)
        provider.rounds({"steps": [{"times": -1, "steps": [{"text": "tick "}], "every": 0.01}]}, {"steps": [
            {"text": "again"}, {"finish": "stop"},
        ]})  # fmt: skip
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
        assert await collect(models, asked) != []
        assert [m["content"] for m in provider.requests()[-1]["body"]["messages"]] == ["one", "two", "three"]
        assert host.health.generation == 2


async def test_it_answers_before_litellm_is_loaded() -> None:
    host = model_host()
    try:
        host.start()
        assert await host.call("ping", timeout=PATIENCE_S) == {"ready": False, "load_s": None}
        found = await host.call("discover", {"servers": {"vllm": ["http://127.0.0.1:9"]}}, timeout=PATIENCE_S)
        assert [row["running"] for row in found] == [False]
        assert (await host.call("ping", timeout=PATIENCE_S))["ready"] is False
    finally:
        await host.stop()


async def test_stopping_while_it_loads_is_quick() -> None:
    host = model_host()
    await host.call("ping", timeout=PATIENCE_S)
    began = time.monotonic()
    await host.stop()
    assert time.monotonic() - began < 1.5


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
        assert (await host.call("ping", {"wait": True}, timeout=PATIENCE_S))["ready"]
        await asyncio.sleep(0.3)
        pid = host.health.pid or 0
        assert KEY.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        os.kill(pid, signal.SIGKILL)
        while not host.health.last_end:
            await asyncio.sleep(0.01)
        assert "NETWORK" not in host.health.detail
    finally:
        await host.stop()


@pytest.mark.qt
async def test_on_the_apps_own_loop_a_stream_arrives_and_nothing_is_left(provider: ProviderSpace) -> None:
    provider.steps({"times": 300, "steps": [{"text": "word "}]}, {"finish": "stop"})
    async with running_host() as host:
        models = models_over(host, connection("openai_compatible", provider.openai_url))
        items = await collect(models, request("openai_compatible/m"))
        assert "".join(i.text for i in items if isinstance(i, TextDelta)) == "word " * 300
    assert host.health.state == "stopped"


async def test_the_key_is_not_in_what_a_dying_host_says(provider: ProviderSpace) -> None:
    provider.refuse(401, {"error": {"message": f"Key {KEY} is wrong"}})
    async with running_host() as host:
        models = models_over(host, connection("openai_compatible", provider.openai_url))
        with pytest.raises(ModelError) as refused:
            await collect(models, request("openai_compatible/m"))
        assert KEY not in repr(refused.value)
    assert KEY not in host.health.detail
