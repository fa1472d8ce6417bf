"""Calls that a server takes as a task: it answers with a name at once, and is asked for the result.

Up to 2025-11-25 the client asks for a task, and ``tasks/result`` gives what came of it; since then the server decides,
and ``tasks/get`` has the result in it. A task outlives the call whose time is up; a cancelled call ends its task.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types
from mcp.shared.exceptions import MCPError

from desktop.workers.inside import CallError
from desktop.workers.mcp_host import limits
from desktop.workers.mcp_host.exchange import ServerExchange
from desktop.workers.mcp_host.pieces import cut
from desktop.workers.mcp_host.under_way import RequestUnderWay

STATUSES = ("working", "input_required", "completed", "failed", "cancelled")
OVER = ("completed", "failed", "cancelled")
Said = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ServerTask:
    """One task as the server last said it is. ``result`` is there where it came with the status."""

    task_id: str
    status: str
    message: str = ""
    pause: float = limits.TASK_PAUSE
    inputs: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None

    @property
    def plain(self) -> dict[str, str]:
        """For the app."""
        return {"id": self.task_id, "status": self.status, "message": self.message}


def task_of(result: Mapping[str, Any], *, modern: bool) -> ServerTask | None:
    """The task that a server gave in the place of a result; None where it gave a result."""
    found = result if modern and result.get("resultType") == "task" else result.get("task") if not modern else None
    if not isinstance(found, Mapping) or not isinstance(found.get("taskId"), str):
        return None
    return _task(found)


def _task(found: Mapping[str, Any]) -> ServerTask:
    task_id, status = found.get("taskId"), found.get("status")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= limits.TASK_ID_MAX:
        raise CallError("mcp.refused", "It gave a task no name that can be used.")
    wait = found.get("pollIntervalMs", found.get("pollInterval"))
    seconds = wait / 1000 if isinstance(wait, int | float) and not isinstance(wait, bool) else limits.TASK_PAUSE
    inputs, result, error = found.get("inputRequests"), found.get("result"), found.get("error")
    message = cut(found.get("statusMessage"), limits.PROGRESS_MAX)
    if isinstance(error, Mapping):
        message = cut(error.get("message"), limits.WORDS_MAX) or message
    return ServerTask(
        task_id,
        status if status in STATUSES else "working",
        message,
        min(max(seconds, limits.TASK_PAUSE_MIN), limits.TASK_PAUSE_MAX),
        inputs if isinstance(inputs, Mapping) else None,
        result if isinstance(result, Mapping) else None,
    )


class ServerTasks:
    """The tasks of one server; the app keeps which there are."""

    def __init__(self, exchange: ServerExchange) -> None:
        self._exchange = exchange

    async def wait(
        self, task: ServerTask, tool: str, seconds: float, said: Said, key: str = ""
    ) -> Mapping[str, Any] | ServerTask:
        """The result of a task, or the task itself where its time is up; ``key`` is the app's name of its call. A
        cancelled call ends the task. Raises CallError for one that failed, and MCPError."""
        answered: set[str] = set()
        try:
            async with self._exchange.under_way.one(seconds, key, tool) as request:
                while task.status not in OVER:
                    await said(task.message)
                    if task.status == "input_required":
                        if not self._exchange.envelope.era.modern:
                            break  # what it needs comes while its result is asked for
                        await self._inputs(task, request, answered)
                    await asyncio.sleep(task.pause)
                    task = await self.get(task.task_id)
                return await self.result(task, seconds)
        except TimeoutError:
            return task
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True), contextlib.suppress(MCPError, CallError, TimeoutError):
                async with asyncio.timeout(limits.CANCEL_TIMEOUT):
                    await self.cancel(task.task_id)
            raise

    async def get(self, task_id: str) -> ServerTask:
        """A task as it is now. Raises CallError ``mcp.task_gone`` for one that the server does not know."""
        return _task({**await self._asked("tasks/get", task_id), "taskId": task_id})

    async def result(self, task: ServerTask, seconds: float) -> Mapping[str, Any]:
        """What came of a task. Raises CallError for one that failed or was cancelled, and MCPError."""
        if task.status in ("failed", "cancelled"):
            word = "failed" if task.status == "failed" else "was cancelled"
            raise CallError("mcp.task_failed", f"The task {word}{f': {task.message}' if task.message else '.'}")
        if task.result is not None:
            return task.result
        if self._exchange.envelope.era.modern:
            raise CallError("mcp.refused", "It says that the task is done, and gives no result.")
        return await self._asked("tasks/result", task.task_id, seconds)

    async def cancel(self, task_id: str) -> None:
        """Tell the server that nobody wants it any more. Raises CallError and MCPError."""
        await self._asked("tasks/cancel", task_id)

    async def _inputs(self, task: ServerTask, request: RequestUnderWay, answered: set[str]) -> None:
        """Answer what a task needs; what was answered once is not asked again."""
        wanted = {key: wish for key, wish in (task.inputs or {}).items() if key not in answered}
        if wanted:
            answers = await self._exchange.inputs(wanted, request)
            answered |= wanted.keys()
            await self._asked("tasks/update", task.task_id, inputResponses=answers)

    async def _asked(
        self, method: str, task_id: str, seconds: float = limits.LIST_TIMEOUT, **more: Any
    ) -> dict[str, Any]:
        try:
            return await self._exchange.request(method, {"taskId": task_id, **more}, seconds)
        except MCPError as error:
            if error.error.code in (mcp_types.INVALID_PARAMS, mcp_types.METHOD_NOT_FOUND):
                raise CallError("mcp.task_gone", "The server knows nothing of this task any more.") from error
            raise
