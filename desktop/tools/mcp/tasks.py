"""Calls that go on at a server by themselves: which there are, what came of them, and their end.

A task outlives the call that began it, and may outlive the server's process or not: a server that knows nothing of it
any more says so, and the task is shown as gone. Nothing of this is kept beyond the app.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from desktop.domain.errors import KnownError, NotFound, ToolFailure
from desktop.domain.processes import ChildRefused
from desktop.domain.servers.mcp import McpTask, TaskStatus
from desktop.domain.tools import ToolResult
from desktop.tools.mcp.offered import plain

if TYPE_CHECKING:
    from desktop.tools.mcp.server import McpServer

MAX_TASKS = 50
"""Of all servers; of more the oldest are forgotten."""
RESULT_S = 60.0
LOOK_S = 10.0
STATUSES: tuple[TaskStatus, ...] = ("working", "input_required", "completed", "failed", "cancelled")
OPEN = ("working", "input_required")
_GONE = "mcp.task_gone"


class McpTasks:
    """The tasks of all servers. ``server`` finds one by its name and raises NotFound; ``changed`` is called after every
    change."""

    def __init__(self, server: Callable[[str], McpServer], changed: Callable[[], None]) -> None:
        self._server, self._changed = server, changed
        self._tasks: dict[tuple[str, str], McpTask] = {}

    @property
    def all(self) -> tuple[McpTask, ...]:
        """Every task, the oldest first."""
        return tuple(self._tasks.values())

    def begun(self, server: McpServer, tool: str, said: Mapping[str, Any]) -> ToolResult:
        """A call goes on as a task: the result that its caller gets instead."""
        name, task_id = server.definition.name, str(said.get("id", ""))
        task = McpTask(name, task_id, tool, begun=time.time())
        self._keep(_with(task, said))
        while len(self._tasks) > MAX_TASKS:
            del self._tasks[next(iter(self._tasks))]
        words = (
            f"{tool} is not done within its time: it goes on at the MCP server {name} by itself, as the task {task_id}."
            " mcp_task gives what comes of it, or ends it."
        )
        facts = {"task": {"server": name, "id": task_id, "status": self._tasks[name, task_id].status}}
        return ToolResult(words, code="mcp.task", facts=facts)

    def known(self, server: str, task_id: str) -> McpTask:
        """One task. Raises NotFound."""
        found = self._tasks.get((server, task_id))
        if found is None:
            raise NotFound(f"There is no task {task_id[:100]} of the MCP server {server[:100]}.")
        return found

    async def result(self, server: str, task_id: str) -> ToolResult:
        """What came of a task, or how it stands. Raises NotFound, and ToolFailure for one that failed or is gone."""
        task = self.known(server, task_id)
        answer, value = await self._asked(task, "result", RESULT_S)
        if isinstance(said := value.get("task"), Mapping):
            task = _with(task, said)
            self._keep(task)
            doing = f": {task.message}" if task.message else ""
            facts = {"task": {"server": server, "id": task_id, "status": task.status}}
            return ToolResult(f"It is not done yet ({task.status}{doing}).", code="mcp.task", facts=facts)
        self._keep(replace(task, status="completed"))
        result: ToolResult = await answer.result(task.tool, is_error=value.get("is_error") is True)
        return result

    async def cancel(self, server: str, task_id: str) -> McpTask:
        """Tell the server that nobody wants it any more; how it stands then. Raises NotFound and ToolFailure."""
        task = self.known(server, task_id)
        _, value = await self._asked(task, "cancel", LOOK_S)
        said = value.get("task")
        self._keep(_with(task, said if isinstance(said, Mapping) else {}))
        return self.known(server, task_id)

    async def look(self, server: str) -> None:
        """Ask how the open tasks of a server are: after it was started anew, or while somebody looks."""
        for task in [one for one in self.all if one.server == server and one.status in OPEN]:
            try:
                _, value = await self._asked(task, "get", LOOK_S)
            except KnownError:
                continue  # it is marked as gone where the server said so
            said = value.get("task")
            self._keep(_with(task, said if isinstance(said, Mapping) else {}))

    async def _asked(self, task: McpTask, wanted: str, seconds: float) -> tuple[Any, Mapping[str, Any]]:
        server = self._server(task.server)
        if server.condition != "running":
            raise server.absent()
        stream, answer = server.ask("task", {"task": task.task_id, "wanted": wanted}, seconds), server.answer()
        try:
            async for item in stream:
                answer.take(item)
        except TimeoutError:
            raise ToolFailure(f"The MCP server {task.server} did not answer in time.", code="mcp.timeout") from None
        except KnownError as error:
            if isinstance(error, ChildRefused) and error.code in (_GONE, "mcp.task_failed"):
                self._keep(replace(task, status="gone" if error.code == _GONE else "failed"))
            raise server.failure(error) from error
        finally:
            stream.cancel()
        return answer, stream.value if isinstance(stream.value, Mapping) else {}

    def _keep(self, task: McpTask) -> None:
        self._tasks[task.server, task.task_id] = task
        self._changed()


def _with(task: McpTask, said: Mapping[str, Any]) -> McpTask:
    """A task as the server says that it is."""
    status = next((one for one in STATUSES if one == said.get("status")), task.status)
    return replace(task, status=status, message=" ".join(plain(said.get("message"), 300).split()))
