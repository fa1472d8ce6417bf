"""One tool of an MCP server as a ``Tool`` of the one gate (S-RES-4).

Nothing that the server says grants anything: the category is the person's or admin, hints are shown as claims, and what
was not seen by the person does not run. Arguments go out exactly as they were approved.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from desktop.domain.cancellation import CancellationToken
from desktop.domain.errors import KnownError, ToolAborted, ToolFailure, ToolTimeout
from desktop.domain.judgement import Category
from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.processes import ChildRefused, ChildStream
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.mcp.definitions import SOURCE, ToolRule
from desktop.tools.mcp.media import MediaPieces
from desktop.tools.mcp.offered import Offered, plain
from desktop.tools.mcp.server import START_TIMEOUT_S, McpServer

MAX_ARGUMENTS = 2_000_000
PIECE = 16_000
MAX_AT_ONCE = 8
_AHEAD_OF_US_S = 10.0  # the pipeline's own limit comes after ours, which has what was told so far


class McpTool:
    """A tool of an MCP server. ``slots`` bounds the calls of all servers together."""

    def __init__(self, server: McpServer, offered: Offered, rule: ToolRule, slots: asyncio.Semaphore) -> None:
        self._server = server
        self.offered = offered
        self.rule = rule
        self._slots = slots
        self._own = asyncio.Semaphore(MAX_AT_ONCE)
        self.timeout_s = rule.timeout_s or server.definition.timeout_s
        self.spec = ToolSpec(
            name=offered.name,
            description=offered.description,
            params=offered.schema,
            category=self.category,
            tags=("mcp", f"mcp-{server.definition.name}"),
            source=SOURCE,
            uri=self.uri,
            timeout_s=self.timeout_s + START_TIMEOUT_S + _AHEAD_OF_US_S,
            version=f"{server.definition.launch!r} {offered.digest} {rule!r} {self.category.value} {self.timeout_s}",
        )

    @property
    def uri(self) -> str:
        """The tool's reference (R-RES-1)."""
        return f"mcp://{self._server.definition.name}/{self.offered.raw}"

    @property
    def guidance(self) -> tuple[str, str]:
        """The server's name and instructions, "" for instructions that nobody has looked at. Implements
        ``GuidedTool``."""
        return self._server.definition.name, self._server.guidance

    @property
    def category(self) -> Category:
        """The person's word for it, or for its server; admin where there is none, or where agents can change it."""
        if self._server.confinement.weak:
            return Category.ADMIN
        return self.rule.category or self._server.definition.category

    def same_as(self, other: McpTool) -> bool:
        """Whether both are the same tool of the same server under the same rules."""
        mine = (self._server, self.offered.raw, self.offered.digest, self.rule, self.spec.category, self.timeout_s)
        return mine == (
            other._server,
            other.offered.raw,
            other.offered.digest,
            other.rule,
            other.spec.category,
            other.timeout_s,
        )

    # -- judging ------------------------------------------------------------------------------------------------------

    async def precheck(self, args: Mapping[str, Any]) -> PreCheck:
        """Who has to agree to the call, and to what; when the server is not there, nobody is asked."""
        server = self._server
        refusal = self._outdated() or (None if server.condition in ("running", "starting") else server.absent())
        definition = server.definition
        preview = {
            "kind": "mcp",
            "server": definition.name,
            "tool": self.offered.raw,
            "title": self.offered.title,
            "where": definition.where,
            "claims": list(self.offered.claims),
            "confinement": server.confinement.sentence,
            "confined_by": server.confinement.kind,
            "network": server.confinement.network,
            "environment": sorted(definition.env),
        }
        return PreCheck(
            self.category,
            raised_because=server.confinement.weak,
            preview=preview,
            denied=refusal,
            identity={self.uri: self.offered.digest},
        )

    def _outdated(self) -> ToolFailure | None:
        """The server declares it otherwise by now, or not at all, and nobody has seen that."""
        server, raw = self._server, self.offered.raw
        now = next((one for one in server.offered if one.raw == raw and not one.problem), None)
        standing = server.standings.get(raw, ("new", ""))[0]
        if now is not None and now.digest == self.offered.digest and standing == "seen":
            return None
        what = "offers it no longer" if now is None else "has changed it, and that was not looked at yet"
        return ToolFailure(
            f"{self.spec.name} is off: the MCP server {what}.",
            code="mcp.changed",
            next_step="Settings, MCP servers shows the difference.",
        )

    # -- running ------------------------------------------------------------------------------------------------------

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """Call the server's tool. Raises ToolFailure, ToolTimeout or ToolAborted; an error of the tool is an error
        result."""
        token = context.meta.cancellation
        token.check()
        async with self._own, self._slots:
            await self._server.ready(START_TIMEOUT_S)
            refusal = self._outdated()
            if refusal is not None:
                raise refusal
            pieces = await asyncio.to_thread(_pieces, args)
            stream = self._server.call(self.offered.raw, pieces, self.timeout_s)
            detach = _cancels(token, stream)
            answer = _Answer(self._server.output_limit, self._server.clean)
            try:
                await self._read(stream, answer, context)
            finally:
                detach()
                stream.cancel()
        if not isinstance(stream.value, Mapping):
            raise ToolAborted("Operation aborted" + answer.partial)
        return await answer.result(self.spec.name, is_error=stream.value.get("is_error") is True)

    async def _read(self, stream: ChildStream, answer: _Answer, context: ToolCallContext) -> None:
        name = self._server.definition.name
        try:
            async for item in stream:
                told = answer.take(item)
                if told and context.progress is not None:
                    context.progress(told)
        except TimeoutError:
            raise self._too_slow(answer) from None
        except ChildRefused as error:
            if error.code == "mcp.timeout":
                raise self._too_slow(answer) from error
            raise ToolFailure(f"The MCP server {name}: {plain(str(error), 2_000)}", code=error.code) from error
        except ToolFailure:
            raise
        except KnownError as error:
            raise ToolFailure(f"The MCP server {name} is gone: {error}", code="mcp.ended") from error

    def _too_slow(self, answer: _Answer) -> ToolTimeout:
        name = self._server.definition.name
        return ToolTimeout(f"The MCP server {name} did not answer within {self.timeout_s:g} s.{answer.partial}")


def _cancels(token: CancellationToken, stream: ChildStream) -> Callable[[], None]:
    """End the call with the run; the token may be cancelled on any thread (R-CAN-12)."""
    loop = asyncio.get_running_loop()

    def cancelled(_reason: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stream.cancel)

    return token.on_cancel(cancelled)


@dataclass(slots=True)
class _Answer:
    """What came so far, capped in characters while it comes."""

    limit: int
    """How many characters are kept."""
    clean: Callable[[str], str]
    """For all that a model gets of it (R-TMO-8)."""
    texts: list[str] = field(default_factory=list)
    """Its texts."""
    structured: list[str] = field(default_factory=list)
    """Its structured result, in pieces of JSON."""
    media: MediaPieces = field(default_factory=MediaPieces)
    """Its images and sounds."""
    progress: str = ""
    """The last word on its progress."""
    size: int = 0
    """How many characters came."""
    dropped: int = 0
    """How many were left out."""

    def take(self, item: Any) -> str:
        """Take one piece of the answer; returns the text that is to be shown at once."""
        if not isinstance(item, Mapping) or self.media.add(item):
            return ""
        text = item.get("text")
        if isinstance(text, str):
            room = max(0, self.limit - self.size)
            self.texts.append(text[:room])
            self.size += min(room, len(text))
            self.dropped += max(0, len(text) - room)
        elif isinstance(item.get("structured"), str):
            self.structured.append(item["structured"])
        elif isinstance(item.get("progress"), str):
            self.progress = plain(item["progress"], 600)
            return self.progress
        return ""

    @property
    def partial(self) -> str:
        """For a call that was ended: how far it said it was."""
        return f"\nThe last it reported: {self.progress.strip()}" if self.progress else ""

    async def result(self, tool: str, *, is_error: bool) -> ToolResult:
        """The result of the call, from all pieces of the answer."""
        text = await asyncio.to_thread(self.clean, "".join(self.texts))
        if self.dropped:
            text += f"\n[Output cut: {self.size + self.dropped:,} characters, the first {self.size:,} are shown]"
        media, wrong = await asyncio.to_thread(self.media.blocks, tool)
        text = "\n".join(part for part in (text, *wrong) if part)
        value = await asyncio.to_thread(self._value) if self.structured else None
        facts = {"characters": self.size + self.dropped, "truncated": bool(self.dropped)}
        code = "mcp.tool_error" if is_error else ""
        return ToolResult(text or "[No output.]", is_error, None if is_error else value, code, facts, media)

    def _value(self) -> Any:
        """The structured result; None where it is no object."""
        try:
            found = json.loads("".join(self.structured))
            return _cleaned(found, self.clean) if isinstance(found, dict) else None
        except (ValueError, RecursionError):
            return None


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """The texts within, names of fields included."""
    if isinstance(value, dict):
        return {clean(name): _cleaned(one, clean) for name, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, clean) for one in value]
    return clean(value) if isinstance(value, str) else value


def _pieces(args: Mapping[str, Any]) -> list[str]:
    text = json.dumps(args, ensure_ascii=False)
    if len(text) > MAX_ARGUMENTS:
        raise ToolFailure(f"The arguments are too long: {len(text):,} characters of {MAX_ARGUMENTS:,}.")
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
