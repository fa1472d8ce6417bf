"""One tool of an MCP server as a ``Tool`` of the one gate (S-RES-4).

Nothing that the server says grants anything: the category is the person's or admin, hints are shown as claims, and what
was not seen by the person does not run. Arguments go out exactly as they were approved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError, ToolAborted, ToolFailure, ToolTimeout
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.processes import ChildRefused, ChildStream
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.mcp.asking.questions import CallUnderWay
from desktop.tools.mcp.definitions import SOURCE, ToolRule
from desktop.tools.mcp.offered import Offered
from desktop.tools.mcp.pieces import in_pieces
from desktop.tools.mcp.pins import SeenAs
from desktop.tools.mcp.preview import preview_of
from desktop.tools.mcp.reading.answer import ServerAnswer
from desktop.tools.mcp.server import START_TIMEOUT_S, McpServer
from desktop.tools.mcp.tasks import McpTasks

MAX_AT_ONCE = 8
_AHEAD_OF_US_S = 10.0  # the pipeline's own limit comes after ours, which has what was told so far


class McpTool:
    """A tool of an MCP server. ``slots`` bounds the calls of all servers together; ``tasks`` keeps the calls of it that
    go on by themselves."""

    def __init__(
        self, server: McpServer, offered: Offered, rule: ToolRule, slots: asyncio.Semaphore, tasks: McpTasks
    ) -> None:
        self._server = server
        self._tasks = tasks
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
            gives="outside",
            whose=f"the MCP server {server.definition.name}",
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

    def stands_for(self, server: McpServer, offered: Offered, rule: ToolRule) -> bool:
        """Whether it is the tool of this server as it is declared now, under this rule."""
        mine = (self._server, self.offered.raw, self.offered.digest, self.rule, self.spec.category, self.timeout_s)
        seconds = rule.timeout_s or server.definition.timeout_s
        return mine == (server, offered.raw, offered.digest, rule, self.category, seconds)

    # -- judging ------------------------------------------------------------------------------------------------------

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """Who has to agree to the call, and to what; when the server is not there, nobody is asked."""
        server = self._server
        refusal = self._outdated() or (None if server.condition in ("running", "starting") else server.absent())
        preview = preview_of(server, self.offered.raw, self.offered.title, self.offered.claims)
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
        standing = server.standings.get(raw, SeenAs("new")).standing
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
            parts = await asyncio.to_thread(in_pieces, args)
            call = self._under_way(context)
            params = {"tool": self.offered.raw, "call": call.key}
            stream = self._server.ask("call", params, self.timeout_s, parts, patient=True)
            call.stop = stream.cancel
            detach = cancels(token, stream)
            answer = self._server.answer(self.offered.returns)
            try:
                with self._server.person.under_way(call):
                    await self._read(stream, answer, context)
            finally:
                detach()
                stream.cancel()
        value = stream.value
        if not isinstance(value, Mapping):
            raise ToolAborted("Operation aborted" + answer.partial)
        if isinstance(task := value.get("task"), Mapping):
            return self._tasks.begun(self._server, self.spec.name, task)
        return await answer.result(self.spec.name, is_error=value.get("is_error") is True)

    def _under_way(self, context: ToolCallContext) -> CallUnderWay:
        """The call, for what the server may ask while it works."""
        meta, chain = context.meta, context.chain[:-1]
        tell = context.progress or (lambda _: None)
        return CallUnderWay(chain, self.spec.name, meta.run_id, meta.thread_id, context.call_id, context.pause, tell)

    async def _read(self, stream: ChildStream, answer: ServerAnswer, context: ToolCallContext) -> None:
        try:
            async for item in stream:
                told = answer.take(item)
                if told is not None and context.progress is not None:
                    context.progress(told.line)
                if told is not None and context.advance is not None:
                    context.advance(told.done, told.total, told.words)
        except TimeoutError:
            raise self._too_slow(answer) from None
        except ChildRefused as error:
            if error.code == "mcp.timeout":
                raise self._too_slow(answer) from error
            raise self._server.failure(error) from error
        except ToolFailure:
            raise
        except KnownError as error:
            raise self._server.failure(error) from error

    def _too_slow(self, answer: ServerAnswer) -> ToolTimeout:
        name = self._server.definition.name
        return ToolTimeout(f"The MCP server {name} did not answer within {self.timeout_s:g} s.{answer.partial}")


def cancels(token: CancellationToken, stream: ChildStream) -> Callable[[], None]:
    """End the call with the run; the token may be cancelled on any thread (R-CAN-12)."""
    loop = asyncio.get_running_loop()

    def cancelled(_reason: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stream.cancel)

    return token.on_cancel(cancelled)
