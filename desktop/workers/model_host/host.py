"""The model host's methods: ``ping``, ``load``, ``discover``, ``list``, ``describe``, ``stream``, ``forget``.

Answers pings and discovery at once. litellm loads beside them (library.py) once there is a model to be asked by it:
when the app says so, when a server was found, when a provider's models are listed, and at the latest with the first
request. A server of OpenAI's format without prices is asked without it (``direct``), and never has it loaded.
"""

from __future__ import annotations

import asyncio
from typing import Any

from desktop.workers.hardening import bound_memory, harden
from desktop.workers.inside import ChildServer, WorkerCall, pipes, run
from desktop.workers.model_host.capabilities import described, row_of
from desktop.workers.model_host.direct.opening import DirectServers
from desktop.workers.model_host.discovery import discover
from desktop.workers.model_host.library import Library
from desktop.workers.model_host.limits import MEMORY_MAX
from desktop.workers.model_host.listing import list_models
from desktop.workers.model_host.streaming import Streamer

SERVICE = "model-host"
VERSION = "1"


class ModelHost:
    """Holds the library and the message windows; keys only inside the calls that bring them."""

    def __init__(self) -> None:
        self._library = Library()
        self._direct = DirectServers()
        self._streamer = Streamer(self._library, self._direct)

    async def ping(self, call: WorkerCall) -> dict[str, Any]:
        """The state of the model library: ``loading``, ``ready``, and ``load_s`` seconds that loading took; ``direct``:
        whether what asks without it is being loaded. With ``wait``, answers when the library is loaded."""
        if call.params.get("wait"):
            await self._library.ready()
        library = {"loading": self._library.begun, "ready": self._library.loaded, "load_s": self._library.seconds}
        return {**library, "direct": self._direct.begun}

    async def load(self, call: WorkerCall) -> None:
        """Begin to load what a request needs; answers at once. ``direct``: it needs no litellm."""
        self._prepare(direct=call.params.get("direct") is True)

    def _prepare(self, *, direct: bool) -> None:
        self._direct.load()
        if not direct:
            self._library.load()

    async def discover(self, call: WorkerCall) -> list[dict[str, Any]]:
        """``servers``: kind -> addresses to try; ``direct``: the kinds that are asked without litellm."""
        found = await discover(call.params.get("servers") or {})
        kinds = {server.get("kind") for server in found if server.get("running")}
        if kinds:
            self._prepare(direct=kinds <= {*(call.params.get("direct") or ())})
        return found

    async def list(self, call: WorkerCall) -> None:
        """Streams the model records of a connection. ``direct``: its models are asked without litellm."""
        self._prepare(direct=call.params.get("direct") is True)
        for row in await list_models(call.params):
            await call.emit(row)

    async def describe(self, call: WorkerCall) -> dict[str, Any]:
        """For litellm names ``models``: context, output limit, prices per million, abilities, as its table has them."""
        library = await self._library.ready()
        names = [str(name) for name in call.params.get("models") or ()][:500]
        return {name: known for name in names if (known := described(row_of(library, name), name))}

    async def forget(self, _: WorkerCall) -> None:
        """Close idle connections and drop the keys they hold."""
        self._library.forget_clients()
        await self._direct.forget()

    def methods(self) -> dict[str, Any]:
        own = (self.ping, self.load, self.discover, self.list, self.describe, self.forget)
        return {method.__name__: method for method in own} | {"stream": self._streamer.stream}


async def _serve() -> None:
    reader, writer = await pipes()
    host = ModelHost()
    await ChildServer(SERVICE, VERSION, host.methods()).serve(reader, writer)
    await asyncio.sleep(0)


def main() -> None:
    """Entry point of the child."""
    harden()
    bound_memory(MEMORY_MAX)
    run(_serve, SERVICE)
