"""The MCP host as a client for the official conformance suite: ``python mcp_client.py URL``.

It does what the app would: it holds the server at that address, judges the tools that it lists, and calls those that
hold up, with what the scenario asks for or with plain values. A question is accepted with the values that its form has
already. Prints what came; the suite judges the traffic.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from desktop.app.wiring.mcp import _schema_problem
from desktop.domain.errors import KnownError
from desktop.tools.mcp.offered import Offered, judged
from desktop.workers.mcp_child import mcp_host

SERVER = "suite"
SCENARIO, CONTEXT = "MCP_CONFORMANCE_SCENARIO", "MCP_CONFORMANCE_CONTEXT"
VALUES = {"string": "text", "number": 5, "integer": 3, "boolean": True, "array": [], "object": {}}


class Suite:
    """One connection, followed until it has told its tools."""

    def __init__(self, url: str) -> None:
        self.host = mcp_host(secrets=tuple)
        launch = {"server": SERVER, "url": url, "headers": {}, "timeout": 20, "elicitation": ["form"]}
        self.stream = self.host.stream("serve", launch)
        self.tools: list[Offered] = []
        self.listed = asyncio.Event()
        self.questions: dict[int, list[str]] = {}

    async def follow(self) -> None:
        items: dict[int, list[str]] = {}
        async for event in self.stream:
            match event.get("event"):
                case "item" if event["kind"] == "tools":
                    items.setdefault(event["number"], []).append(event["text"])
                case "list" if event["kind"] == "tools":
                    texts = ["".join(pieces) for pieces in items.values()]
                    self.tools = list(judged(SERVER, texts, _schema_problem, lambda said: said))
                    self.listed.set()
                case "ask":
                    self.questions.setdefault(event["id"], []).append(event["text"])
                case "asked":
                    await self.answer(event["id"], json.loads("".join(self.questions.pop(event["id"]))))

    async def answer(self, number: int, asked: Mapping[str, Any]) -> None:
        fields = (asked.get("requestedSchema") or {}).get("properties") or {}
        content = {name: field["default"] for name, field in fields.items() if "default" in field}
        answer = json.dumps({"action": "accept", "content": content})
        await self.ask("answer", {"id": number}, answer)

    async def ask(self, method: str, params: Mapping[str, Any], *parts: str) -> Any:
        stream = self.host.stream(method, {"server": SERVER, "timeout": 20, **params}, parts=parts)
        return [item async for item in stream], stream.value

    def wanted(self) -> list[tuple[str, Mapping[str, Any]]]:
        """(tool, arguments) of each call: what the scenario says, else each tool that can be called."""
        told = json.loads(os.environ.get(CONTEXT) or "{}").get("toolCalls")
        if told:
            return [(one["name"], one["arguments"]) for one in told]
        good = [one for one in self.tools if not one.problem]
        first = next((one.schema for one in good if "schema" not in one.schema.get("properties", {})), {})
        return [(one.raw, _plain_values(one.schema, first)) for one in good]

    async def call_all(self) -> None:
        for tool, given in self.wanted():
            print(tool, given, await self.ask("call", {"tool": tool}, json.dumps(given)))


def _plain_values(schema: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a tool; one that is called ``schema`` is given the schema of another tool, as it was read."""
    of = schema.get("properties") or {}
    given = {name: VALUES.get(about.get("type"), "text") for name, about in of.items()}
    return {**given, **({"schema": other} if "schema" in of else {})}


async def main(url: str) -> int:
    """0 where the server could be used."""
    suite = Suite(url)
    following = asyncio.ensure_future(suite.follow())
    listed = asyncio.ensure_future(suite.listed.wait())
    try:
        await asyncio.wait({following, listed}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
        await suite.call_all()
    except KnownError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    finally:
        listed.cancel()
        following.cancel()
        suite.stream.cancel()
        await suite.host.stop()
    return 0


if __name__ == "__main__":
    print(os.environ.get(SCENARIO, "no scenario"))
    sys.exit(asyncio.run(main(sys.argv[-1])))
