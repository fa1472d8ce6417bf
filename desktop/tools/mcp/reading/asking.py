"""What a person reads of a server beside calling its tools: resources, prompts, proposed values, what has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.files.pictures import PictureOpener
from desktop.domain.messages import MediaBlock
from desktop.domain.servers.mcp import McpCompletion, McpPart, McpPrompt, McpPromptText, McpRead, McpSaid, McpTemplate
from desktop.tools.mcp.offered import plain
from desktop.tools.mcp.pieces import in_pieces
from desktop.tools.mcp.reading.listed import MAX_NAME, name_problem, uri_problem

if TYPE_CHECKING:
    from desktop.tools.mcp.reading.answer import ServerAnswer
    from desktop.tools.mcp.server import McpServer

READ_S = 60.0
COMPLETE_S = 5.0
MAX_VALUE = 20_000
"""Characters of one argument of a prompt."""
MAX_VALUES = 100

Changed = Callable[[str, str], None]
"""Told (server, address) of a watched resource that changed."""


class McpReading:
    """Asks servers for what is no tool. ``server`` finds one by its name and raises NotFound."""

    def __init__(self, server: Callable[[str], McpServer], pictures: PictureOpener | None = None) -> None:
        self._server = server
        self._pictures = pictures
        self._listeners: list[Changed] = []

    async def read_resource(self, server: str, uri: str, pages: str = "") -> McpRead:
        """A resource as it is now; ``pages``: which of a document. Raises KnownError: an address that cannot be asked
        for, a server that is not there, refuses, or takes too long."""
        asked = self._server(server)
        wrong = uri_problem(uri, elsewhere=asked.definition.elsewhere)
        if wrong:
            raise ToolFailure(f"This resource of the MCP server {server} cannot be read: {wrong}.", code="mcp.uri")
        answer, value = await self._asked(asked, "read", {"uri": uri})
        pieces, said = await self._remade(await _with_documents(answer, server, pages))
        return McpRead(server, uri, tuple(part for _, part in pieces), (*_notes(answer, value), *said))

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> McpPromptText:
        """A prompt, filled in by the server. Raises KnownError as ``read_resource`` does, and for arguments that are
        missing or too long."""
        asked = self._server(server)
        known = next((one for one in asked.listed.prompts if one.name == name), None)
        wrong = name_problem(name) or (known.problem if known is not None else "")
        if wrong:
            raise ToolFailure(f"This prompt of the MCP server {server} cannot be used: {wrong}.", code="mcp.prompt")
        missing = [one.name for one in known.arguments if one.required and not arguments.get(one.name)] if known else []
        if missing:
            raise ToolFailure(f"The prompt {name} needs {', '.join(missing)}.", code="mcp.prompt")
        given = {key: value for key, value in arguments.items() if value}
        if any(len(value) > MAX_VALUE for value in given.values()):
            raise ToolFailure(f"A value of a prompt has at most {MAX_VALUE:,} characters.", code="mcp.prompt")
        parts = await asyncio.to_thread(in_pieces, given)
        answer, value = await self._asked(asked, "prompt", {"prompt": name}, parts)
        pieces, notes = await self._remade(await _with_documents(answer, server))
        said = tuple(McpSaid("assistant" if role == "assistant" else "user", part) for role, part in pieces)
        description = plain(value.get("description"), 2_000)
        return McpPromptText(server, name, description, said, (*_notes(answer, value), *notes))

    async def _remade(self, pieces: Sequence[tuple[str, McpPart]]) -> tuple[list[tuple[str, McpPart]], list[str]]:
        """Their pictures made anew, and what is to be said of that."""
        held = [part.media for _, part in pieces if part.media is not None]
        if self._pictures is None or not held:
            return list(pieces), []
        made, said = await self._pictures.remade(held)
        left = iter(made)
        return [(role, part if part.media is None else _with(part, next(left))) for role, part in pieces], said

    async def complete(
        self, of: McpPrompt | McpTemplate, argument: str, value: str, context: Mapping[str, str]
    ) -> McpCompletion:
        """Values that the server proposes for one argument; none where it knows none, or where anything goes wrong: a
        person types on without them."""
        try:
            server = self._server(of.server)
            if server.condition != "running" or "completions" not in server.about.has or of.problem:
                return McpCompletion()
            ref = _reference(of)
            params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value[:MAX_VALUE]}}
            if context:
                params["context"] = {"arguments": {key: one[:MAX_VALUE] for key, one in context.items()}}
            stream = server.ask("complete", {}, COMPLETE_S, await asyncio.to_thread(in_pieces, params))
            async for _ in stream:
                pass
        except (KnownError, TimeoutError):
            return McpCompletion()
        found = stream.value if isinstance(stream.value, Mapping) else {}
        values = found.get("values")
        texts = [plain(one, 500) for one in values if isinstance(one, str)] if isinstance(values, list) else []
        return McpCompletion(tuple(dict.fromkeys(filter(None, texts)))[:MAX_VALUES], found.get("more") is True)

    async def watch(self, server: str, uri: str) -> None:
        """Hear when a resource changes (``on_resource``), also after the server was started anew. Raises KnownError."""
        asked = self._server(server)
        wrong = uri_problem(uri, elsewhere=asked.definition.elsewhere)
        if wrong:
            raise ToolFailure(f"This resource of the MCP server {server} cannot be watched: {wrong}.", code="mcp.uri")
        await asked.standing.watch(uri, on=True)

    async def unwatch(self, server: str, uri: str) -> None:
        """Hear of it no longer. Raises KnownError."""
        await self._server(server).standing.watch(uri, on=False)

    def on_resource(self, listener: Changed) -> Callable[[], None]:
        """Call ``listener`` with each watched resource that changed. Returns how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def updated(self, server: str, uri: str) -> None:
        """Tell every listener."""
        for listener in tuple(self._listeners):
            listener(server, plain(uri, MAX_NAME * 10))

    async def set_log_level(self, server: str, level: str) -> None:
        """How much a server writes to its log. Raises KnownError."""
        await self._server(server).standing.log_from(level)

    async def _asked(
        self, server: McpServer, method: str, params: Mapping[str, Any], parts: Sequence[str] = ()
    ) -> tuple[ServerAnswer, Mapping[str, Any]]:
        await server.ready(READ_S)
        stream, answer = server.ask(method, params, READ_S, parts, patient=True), server.answer()
        try:
            async for item in stream:
                answer.take(item)
        except TimeoutError:
            raise ToolFailure(f"{server.definition.name} did not answer in time.", code="mcp.timeout") from None
        except ToolFailure:
            raise
        except KnownError as error:
            raise server.failure(error) from error
        finally:
            stream.cancel()
        return answer, stream.value if isinstance(stream.value, Mapping) else {}


async def _with_documents(answer: ServerAnswer, server: str, pages: str = "") -> list[tuple[str, McpPart]]:
    """(whose it is, piece) of what was read, documents as their text."""
    pieces = await asyncio.to_thread(answer.pieces, server)
    texts = await answer.read_documents(pages)
    if not texts:
        return pieces
    numbers = await asyncio.to_thread(answer.numbers)
    return [
        (role, replace(part, kind="resource", text=texts[number]) if number in texts else part)
        for (role, part), number in zip(pieces, numbers, strict=False)
    ]


def _with(part: McpPart, media: MediaBlock | None) -> McpPart:
    if media is None:
        return replace(part, kind="other", media=None)
    return replace(part, media=media, media_type=media.media_type)


def _reference(of: McpPrompt | McpTemplate) -> dict[str, str]:
    if isinstance(of, McpPrompt):
        return {"type": "ref/prompt", "name": of.name}
    return {"type": "ref/resource", "uri": of.template}


def _notes(answer: ServerAnswer, value: Mapping[str, Any]) -> tuple[str, ...]:
    said = value.get("notes")
    told = [plain(one, 200) for one in said if isinstance(one, str)] if isinstance(said, list) else []
    cut = [f"[Cut: {answer.dropped:,} characters more]"] if answer.dropped else []
    return (*told, *cut)
