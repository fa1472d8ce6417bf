"""A model provider of ours, run as a process: real HTTP, real streams, every misbehaviour on demand.

``python -m tests.servers.provider`` prints ``{"port": N}`` and serves until its stdin closes. Each test opens a
*space* (``/s/NAME``) with its own script and log, so that one process serves many tests.

Control, under ``/s/NAME/control``: ``POST rounds`` (a list: each model request takes the next, the last one stays),
``POST local`` (what discovery finds), ``POST strict`` (thinking is refused where the real ones do), ``POST cache``
(tokens are counted as by a provider with a cache), ``GET requests`` (what came in, and how each ended).

A round: ``{"status": 200, "headers": {}, "body": json, "steps": [...], "before": seconds}``. Beside the steps of
wire.py, which have the format around them unless the round says ``"bare": true`` (then ``"bare_status"`` is its
status): ``{"wait": seconds}``, ``{"raw": text}``, ``{"raw_base64": text}``, ``{"hang": true}``, ``{"cut": true}`` (the
stream ends politely, unfinished), ``{"reset": true}`` (the socket is torn), and
``{"times": n, "steps": [...], "every": seconds}`` (n = -1: never stops).
"""

import asyncio
import base64
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.harness.prefix_cache import PrefixCache
from tests.servers.clouds import Azure, Bedrock, Gemini, OpenRouter
from tests.servers.local import LocalServers, local_routes, lowered
from tests.servers.makers import Issued, refusal
from tests.servers.responses import Responses
from tests.servers.signed import signed_well
from tests.servers.wire import Anthropic, Ollama, OpenAI

Wire = OpenAI | Anthropic | Ollama | Gemini | Bedrock | Responses
FORMATS: dict[str, type[Wire]] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "ollama": Ollama,
    "gemini": Gemini,
    "azure": Azure,
    "openrouter": OpenRouter,
    "bedrock": Bedrock,
    "responses": Responses,
}
DEFAULT: dict[str, Any] = {
    "steps": [{"text": "Hello"}, {"text": " there."}, {"finish": "stop"}, {"usage": {"input": 11, "output": 3}}]
}


@dataclass
class Space:
    """One test's script and log."""

    rounds: list[dict[str, Any]] = field(default_factory=list)
    local: dict[str, Any] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    strict: bool = False
    cache: PrefixCache | None = None
    issued: Issued = field(default_factory=Issued)

    def next_round(self) -> dict[str, Any]:
        if not self.rounds:
            return DEFAULT
        return self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]


SPACES = web.AppKey("spaces", dict[str, Space])


class Torn(Exception):
    """The script says: tear the connection."""


def _space(request: web.Request) -> Space:
    return request.app[SPACES].setdefault(request.match_info["space"], Space())


async def _steps(steps: Sequence[Mapping[str, Any]]) -> AsyncIterator[Mapping[str, Any]]:
    """The steps one by one, repetitions unrolled."""
    for step in steps:
        if "times" not in step:
            yield step
            continue
        count = 0
        while step["times"] < 0 or count < step["times"]:
            for inner in step["steps"]:
                yield _numbered(inner, count)
            if step.get("every"):
                await asyncio.sleep(step["every"])
            count += 1


def _numbered(step: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    """``#`` in texts and ids of a repeated step is its number; a repeated call has that index."""
    plain = json.loads(json.dumps(step).replace("#", str(count)))
    if "call" in plain:
        plain["call"]["index"] = count
    return plain


async def _write(response: web.StreamResponse, wire: Wire, round_: Mapping[str, Any], request: web.Request) -> str:
    if not round_.get("bare"):
        await response.write(wire.opening())
    async for step in _steps(round_.get("steps", ())):
        if "wait" in step:
            await asyncio.sleep(step["wait"])
        elif "raw" in step:
            await response.write(step["raw"].encode())
        elif "raw_base64" in step:
            await response.write(base64.b64decode(step["raw_base64"]))
        elif "hang" in step:
            await asyncio.sleep(3600)
        elif "cut" in step:
            return "cut"
        elif "reset" in step:
            raise Torn
        else:
            await response.write(wire.step(step))
    if not round_.get("bare"):
        await response.write(wire.closing())
    return "complete"


async def _answer(request: web.Request, format_: str) -> web.StreamResponse:
    space = _space(request)
    body = await request.json()
    record: dict[str, Any] = {
        "path": request.path,
        "headers": lowered(request.headers),
        "body": body,
        "at": time.time(),
        "outcome": "open",
        "query": dict(request.query),
        "signed_well": signed_well(request, await request.read()),
    }
    space.requests.append(record)
    if space.strict and (refused := refusal(format_, body, space.issued)) is not None:
        record["outcome"] = "refused"
        return web.json_response(refused[1], status=refused[0])
    counted = space.cache.count(body, time.time()) if space.cache is not None else None
    round_ = space.next_round()
    space.issued.played(round_.get("steps", ()))
    try:
        await asyncio.sleep(round_.get("before", 0))
        if round_.get("status", 200) != 200:
            record["outcome"] = "refused"
            return web.json_response(round_.get("body"), status=round_["status"], headers=round_.get("headers"))
        wire = FORMATS[format_](str(body.get("model", request.match_info.get("model", ""))))
        if counted is not None and isinstance(wire, Anthropic | Bedrock):
            wire.counted = counted
            record["counted"] = [counted.plain, counted.read, counted.written]
        headers = {"Content-Type": wire.content_type, **round_.get("headers", {})}
        response = web.StreamResponse(status=round_.get("bare_status", 200), headers=headers)
        await response.prepare(request)
        record["outcome"] = await _write(response, wire, round_, request)
        await response.write_eof()
        return response
    except Torn:
        record["outcome"] = "reset"
        if request.transport is not None:
            request.transport.abort()
        return response
    except (asyncio.CancelledError, ConnectionError):
        record["outcome"] = "disconnected"
        raise
    finally:
        record["ended"] = time.time()


async def _azure(request: web.Request) -> web.StreamResponse:
    if (await request.json()).get("messages") == []:
        servers = LocalServers(lambda r: _space(r).local, lambda r: _space(r).requests)
        return await servers.azure_without_messages(request)
    return await _answer(request, "azure")


def _model_routes() -> list[web.RouteDef]:
    def handler(format_: str) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await _answer(request, format_)

        return handle

    return [
        web.post("/s/{space}/v1/chat/completions", handler("openai")),
        web.post("/s/{space}/api/v1/chat/completions", handler("openrouter")),
        web.post("/s/{space}/openai/deployments/{deployment}/chat/completions", _azure),
        web.post("/s/{space}/v1beta/models/{model}:streamGenerateContent", handler("gemini")),
        web.post("/s/{space}/model/{model}/converse-stream", handler("bedrock")),
        web.post("/s/{space}/v1/messages", handler("anthropic")),
        web.post("/s/{space}/v1/responses", handler("responses")),
        web.post("/s/{space}/api/chat", handler("ollama")),
    ]


async def _set_rounds(request: web.Request) -> web.Response:
    _space(request).rounds = await request.json()
    return web.Response()


async def _set_local(request: web.Request) -> web.Response:
    _space(request).local = await request.json()
    return web.Response()


async def _set_strict(request: web.Request) -> web.Response:
    _space(request).strict = await request.json()
    return web.Response()


async def _set_cache(request: web.Request) -> web.Response:
    _space(request).cache = PrefixCache() if await request.json() else None
    return web.Response()


async def _get_requests(request: web.Request) -> web.Response:
    return web.json_response(_space(request).requests)


def application() -> web.Application:
    app = web.Application(client_max_size=256 * 1024 * 1024)
    app[SPACES] = {}
    app.add_routes(_model_routes())
    app.add_routes(local_routes(lambda request: _space(request).local, lambda request: _space(request).requests))
    app.add_routes(
        [
            web.post("/s/{space}/control/rounds", _set_rounds),
            web.post("/s/{space}/control/local", _set_local),
            web.post("/s/{space}/control/strict", _set_strict),
            web.post("/s/{space}/control/cache", _set_cache),
            web.get("/s/{space}/control/requests", _get_requests),
        ]
    )
    return app


async def main() -> None:
    runner = web.AppRunner(application(), handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
