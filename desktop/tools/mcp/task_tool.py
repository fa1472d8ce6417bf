"""``mcp-task``: what came of a call that goes on at a server by itself, or its end; it is there while one does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.tools.mcp.definitions import SOURCE
from desktop.tools.mcp.preview import preview_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.tools.mcp.server import McpServer
    from desktop.tools.mcp.tasks import McpTasks

MCP_TASK = "mcp-task"
_TIMEOUT_S = 90.0


class McpTaskTool:
    """The tasks of all servers. ``server`` finds one by its name and raises NotFound."""

    def __init__(self, tasks: McpTasks, server: Callable[[str], McpServer]) -> None:
        self._tasks, self._server = tasks, server
        self.spec = ToolSpec(
            name=MCP_TASK,
            description="Gives the result of a call that goes on at an MCP server as a task, or cancels the task.",
            params={
                "type": "object",
                "properties": {
                    "server": {"type": "string", "description": "The MCP server."},
                    "task": {"type": "string", "description": "The task, as the call named it."},
                    "cancel": {"type": "boolean", "description": "End it instead of asking for its result."},
                },
                "required": ["server", "task"],
                "additionalProperties": False,
            },
            category=Category.READ,
            tags=("mcp",),
            source=SOURCE,
            timeout_s=_TIMEOUT_S,
            on_server="server",
            version="1",
            gives="outside",
            whose="an MCP server",
        )

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        """As grave as calls to the server's tools: a result is as much the server's word as any other."""
        try:
            task = self._tasks.known(str(args.get("server")), str(args.get("task")))
            server = self._server(task.server)
        except KnownError as error:
            return PreCheck(Category.ADMIN, denied=error)
        category = Category.ADMIN if server.confinement.weak else server.definition.category
        because = server.confinement.weak or f"that is the category of the MCP server {task.server}"
        return PreCheck(
            category,
            raised_because=because if category is not Category.READ else "",
            preview=preview_of(server, task.tool, "End a task" if args.get("cancel") else "Result of a task"),
            denied=None if server.condition in ("running", "starting") else server.absent(),
            identity={f"mcp://{task.server}": server.definition.identity},
        )

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        """The result, how the task stands, or its end. Raises ToolFailure."""
        context.meta.cancellation.check()
        server, task = str(args["server"]), str(args["task"])
        try:
            if args.get("cancel") is True:
                return ToolResult(
                    f"The server was told. The task is {(await self._tasks.cancel(server, task)).status}."
                )
            return await self._tasks.result(server, task)
        except ToolFailure:
            raise
        except KnownError as error:
            raise ToolFailure(str(error), code=error.code, next_step=error.next_step) from error
