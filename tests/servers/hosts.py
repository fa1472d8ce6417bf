"""A real model host for coroutine tests, each on its own loop, and what a request to it takes."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

from desktop.domain.messages import ChatMessage, user_message
from desktop.domain.models import Connection, ModelRef, ModelRequest, StreamItem
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.models.client import ModelServices, build
from desktop.models.providers import LocalAddresses
from desktop.workers.child import ChildProcess
from desktop.workers.model_child import model_host
from tests.harness.timeouts import WAIT_S
from tests.servers.signed import ACCESS_KEY_ID, SECRET_ACCESS_KEY

KEY = "sk-test-0123456789abcdefghij"


class Secrets:
    """A secret store in memory: the keyring's own tests are the safety room's."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.asked: list[str] = []

    async def get(self, name: str) -> str | None:
        self.asked.append(name)
        return self.values.get(name)

    async def put(self, name: str, value: str) -> bool:
        self.values[name] = value
        return False

    async def delete(self, name: str) -> None:
        self.values.pop(name, None)


@contextlib.asynccontextmanager
async def running_host(*, loaded: bool = True) -> AsyncIterator[ChildProcess]:
    """A model host that has loaded litellm, where that is needed: it takes seconds. Ended with the block."""
    host = model_host(secrets=lambda: (KEY,))
    try:
        host.start()
        await host.call("ping", {"wait": loaded}, timeout=WAIT_S)
        yield host
    finally:
        await host.stop()


def models_over(child: Any, *connections: Connection, addresses: LocalAddresses | None = None) -> ModelServices:
    """The models room over a child, with a key for every connection."""
    secrets = Secrets(key=KEY, access=SECRET_ACCESS_KEY, **{"access/access_key_id": ACCESS_KEY_ID})
    return build(child, secrets, lambda: connections, addresses=addresses or LocalAddresses({}), demo_pace_s=0)


def connection(provider: str, base_url: str, **options: str) -> Connection:
    return Connection(provider, provider, provider.title(), base_url=base_url, secret_name="key", options=options)


def request(ref: str, messages: Sequence[ChatMessage] = (), **more: Any) -> ModelRequest:
    return ModelRequest(ModelRef.parse(ref), tuple(messages) or (user_message("Hi"),), **more)


def meta(token: CancellationToken | None = None) -> RunMeta:
    return RunMeta("run", token or CancellationToken(), thread_id="thread")


async def collect(models: ModelServices, asked: ModelRequest, about: RunMeta | None = None) -> list[StreamItem]:
    """All items of one stream."""
    return [item async for item in models.client.stream(asked, about or meta())]
