"""Tools, a table and a person for tests of the pipeline and of the loop: plain objects, nothing patched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.approval.permission import Decision, PermissionRequest
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.text.outside import Gives
from desktop.domain.tools import PreCheck, ToolCallContext, ToolResult, ToolSpec
from desktop.pipeline.context import CallContext, CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.supervision.tasks import TaskOwner

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@dataclass
class FakeTool:
    """A tool whose every part is given: ``body(args, context)`` does the work."""

    name: str = "read-file"
    category: Category = Category.READ
    params: Mapping[str, Any] = field(default_factory=lambda: PATH)
    body: Callable[..., Any] | None = None
    checks: Callable[[Mapping[str, Any]], PreCheck] | None = None
    visibility: str = ""
    parallel_safe: bool = False
    timeout_s: float | None = None
    gives: Gives = "local"
    calls: list[dict[str, Any]] = field(default_factory=list)
    prechecks: int = 0
    places: list[WorkPlace] = field(default_factory=list)
    """Where its calls were judged and made."""

    def __post_init__(self) -> None:
        self.spec = ToolSpec(
            self.name,
            f"the tool {self.name}",
            self.params,
            self.category,
            visibility=self.visibility,
            parallel_safe=self.parallel_safe,
            timeout_s=self.timeout_s,
            gives=self.gives,
        )

    async def precheck(self, args: Mapping[str, Any], place: WorkPlace) -> PreCheck:
        self.prechecks += 1
        self.places.append(place)
        return self.checks(args) if self.checks else PreCheck(self.category)

    async def execute(self, args: Mapping[str, Any], context: ToolCallContext) -> ToolResult:
        self.calls.append(dict(args))
        self.places.append(context.meta.work_place)
        result = self.body(args, context) if self.body else ToolResult(f"did {self.name}")
        if asyncio.iscoroutine(result):
            result = await result
        return result if isinstance(result, ToolResult) else ToolResult(str(result))


class Table:
    def __init__(self, *tools: FakeTool) -> None:
        self._tools = tools

    def find(self, name: str) -> FakeTool | None:
        return next((t for t in self._tools if name in (t.spec.name, t.spec.provider_name)), None)

    def tools(self) -> tuple[FakeTool, ...]:
        return self._tools


class Person:
    """Gate 10 with a person who answers from a list; ``asked`` is everything they were shown."""

    def __init__(self, *answers: Any, wait: float = 0.0) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionRequest] = []
        self.decided: list[str] = []
        self.wait = wait

    async def decide(self, call: CallContext, asking: Callable[[PermissionRequest], None]) -> Decision:
        self.decided.append(call.target.spec.name)
        if call.category is Category.READ and not call.question:
            return Decision("allow_once", "", by="setting")
        assert call.check is not None
        request = PermissionRequest(
            "r",
            call.meta.run_id,
            call.meta.thread_id,
            call.request.block.call_id,
            call.tool,
            "",
            call.category,
            call.check.raised_because,
            (),
            call.shown,
            call.check.paths,
            (),
            {},
            "digest",
            0.0,
            call.stale,
            call.original,
            unknown=call.question,
            node=call.meta.node,
            unrepeatable=call.unrepeatable,
            refused=call.refused,
        )
        self.asked.append(request)
        asking(request)
        await asyncio.sleep(self.wait)
        answer = self.answers.pop(0)
        decision: Decision = answer(request) if callable(answer) else Decision(answer, "digest", waited_s=self.wait)
        return decision


class Bench:
    """A pipeline with everything around it."""

    def __init__(self, *tools: FakeTool, person: Person | None = None, **options: Any) -> None:
        self.owner = TaskOwner()
        self.events: list[Any] = []
        self.token = CancellationToken()
        self.root = Invocation(RunMeta("run", self.token, "thread"))
        settings = options.pop("settings", CallSettings(margin_s=0.05))
        self.pipeline = Pipeline(Table(*tools), self.owner.spawn, trust=person, settings=settings, **options)

    async def call(
        self,
        tool: str,
        arguments: Any = None,
        *,
        caller: Caller | None = None,
        parent: Invocation | None = None,
        limits: Any = None,
        problem: str = "",
    ) -> CallResult:
        given = {"path": "a"} if arguments is None and not problem else arguments
        block = ToolCallBlock("c1", tool, given, "", problem)
        request = CallRequest(block, caller or Caller(), parent or self.root, self.events.append, "m1", "m2", limits)
        return await self.pipeline.invoke(request)

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]
