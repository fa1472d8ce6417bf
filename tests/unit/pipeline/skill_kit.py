"""Skills for tests of the pipeline: a finder over plain definitions, and a pipeline that runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.domain.approval.judgement import Category
from desktop.domain.messages import ToolCallBlock
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.skills import SkillDef
from desktop.pipeline.context import CallContext, CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller, ExactTools
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.pipeline.skills.run import SkillRuns
from desktop.pipeline.skills.side import SkillSide
from desktop.pipeline.table import SkillTable
from desktop.skills.cascade.effective import Cascades, Promotions
from desktop.supervision.tasks import TaskOwner
from tests.unit.pipeline.kit import FakeTool, Person, Table


class Finder:
    """Skills by name; one is in memory once it was looked up, which ``looked_up`` counts."""

    def __init__(self, *definitions: SkillDef, authority: SkillDef | None = None) -> None:
        self.definitions = {definition.name: definition for definition in definitions}
        self.authority = authority
        self.looked_up: list[str] = []
        self.bodies: dict[str, str] = {}

    def find_tool(self, ref: str, *, cwd: str | None = None) -> SkillDef | None:
        self.looked_up.append(ref)
        return self.definitions.get(ref)

    def find_cached(self, ref: str) -> tuple[bool, SkillDef | None]:
        return (True, self.definitions.get(ref)) if ref in self.looked_up else (False, None)

    def list_tools(self) -> list[SkillDef]:
        return list(self.definitions.values())

    def find_authority(self, definition: SkillDef) -> SkillDef | None:
        return self.authority

    def body(self, definition: SkillDef) -> str:
        return self.bodies.get(definition.name, "")


def skill(name: str, fn: Any = None, **values: Any) -> SkillDef:
    """A definition whose code is ``fn(ctx, args)``; arguments are free unless ``params`` says otherwise."""
    metadata = {"params": {"type": "object", "additionalProperties": True}, **values.pop("metadata", {})}
    given: dict[str, Any] = {"kind": "program", "source": "mine", "category": "read", "fn": fn, **values}
    return SkillDef(name, f"the skill {name}", metadata=metadata, **given)


def middleware(name: str, fn: Any, **metadata: Any) -> SkillDef:
    """Middleware of the library."""
    return skill(name, fn, role="middleware", source="library", visibility="hidden", metadata=metadata)


class SkillBench:
    """A pipeline over skills and plain tools."""

    def __init__(
        self,
        *definitions: SkillDef,
        tools: tuple[FakeTool, ...] = (),
        person: Person | None = None,
        authority: SkillDef | None = None,
        promoted: Promotions | None = None,
        **options: Any,
    ) -> None:
        self.finder = Finder(*definitions, authority=authority)
        self.runs = SkillRuns(**options.pop("runs", {}))
        self.cascades = Cascades(self.finder)
        table = SkillTable(Table(*tools), self.finder, self.runs)
        side = SkillSide(table, self.cascades, self.prompt, lambda: promoted or Promotions())
        self.owner = TaskOwner()
        self.events: list[Any] = []
        self.token = CancellationToken()
        self.root = Invocation(RunMeta("run", self.token, "thread"))
        self.pipeline = Pipeline(
            table, self.owner.spawn, trust=person, settings=CallSettings(margin_s=0.05), skills=side, **options
        )
        self.runs.pipeline = self.pipeline

    async def prompt(self, definition: SkillDef, args: Mapping[str, Any], call: CallContext) -> str:
        return self.finder.body(definition).replace(":arg[name]", str(args.get("name", "")))

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        origin: str = "native",
        allowed: tuple[str, ...] | None = None,
        **values: Any,
    ) -> CallResult:
        caller = Caller(origin, ("agent",), ExactTools(allowed))  # type: ignore[arg-type]
        block = ToolCallBlock("c1", name, dict(arguments or {}))
        request = CallRequest(block, caller, self.root, self.events.append, "m1", "m2", **values)
        return await self.pipeline.invoke(request)

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def file_skill(path: Path, definition: SkillDef) -> SkillDef:
    """The same skill in a file."""
    stat = path.stat()
    return replace(definition, path=str(path), stamp=f"{stat.st_size}:{stat.st_mtime_ns}", fn=None)


READ, WRITE, ADMIN = Category.READ, Category.WRITE, Category.ADMIN
