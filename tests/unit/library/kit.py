"""The bundled library on the real fabric, beside skills that a test registers or writes into its own folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop.agents.skill.host import HOST, PERMISSIONS, Host
from desktop.domain.messages import ToolCallBlock
from desktop.domain.models import ModelRef
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.runs.supervision import ExecutionBudget
from desktop.models.scripted import ScriptedModel
from desktop.pipeline.context import CallRequest, CallResult, Invocation
from desktop.pipeline.names import Caller
from desktop.pipeline.pipeline import CallSettings, Pipeline
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.programmatic import RegisterToolOptions
from desktop.supervision.budgets import BudgetTracker
from desktop.supervision.tasks import TaskOwner
from tests.harness.skills import open_fabric
from tests.unit.pipeline.kit import FakeTool, Person, Table

LIBRARY = Path(__file__).resolve().parents[3] / "skills"
FREE = {"type": "object", "additionalProperties": True}


class LibraryBench:
    """``mine`` is a folder of skills that stands before the library; ``options`` are the world's. ``lent`` is more of
    what the run lends to agents (``Host``)."""

    def __init__(
        self,
        folder: Path,
        *tools: FakeTool,
        person: Person | None = None,
        model: ScriptedModel | None = None,
        pins: Any = None,
        **options: Any,
    ) -> None:
        self.mine = folder / "mine"
        self.mine.mkdir()
        roots = [SearchRoot(str(self.mine), "mine"), SearchRoot(str(LIBRARY), "library")]
        self.fabric = open_fabric(roots, pin_store=pins)
        self.world = SkillWorld(self.fabric, Table(*tools), data=str(folder / "data"), **options)
        self.owner = TaskOwner()
        self.seconds = 120.0
        limits = CallSettings(lambda _name: self.seconds, margin_s=0.05)
        self.pipeline = Pipeline(
            self.world.table, self.owner.spawn, trust=person, settings=limits, skills=self.world.side
        )
        self.world.runs.pipeline = self.pipeline
        self.events: list[Any] = []
        self.token = CancellationToken()
        self.model = model or ScriptedModel([])
        self.budget = BudgetTracker(ExecutionBudget())
        self.lent: dict[str, Any] = {}

    def register(self, name: str, fn: Any, **options: Any) -> None:
        """A programmatic skill; its arguments are free."""
        metadata = options.pop("metadata", {})
        given = {"category": "read", "params": FREE, "description": name, "metadata": metadata, **options}
        self.fabric.register_tool(RegisterToolOptions(name, fn, **given))

    def write(self, name: str, text: str) -> None:
        """A skill file of one's own."""
        (self.mine / name).parent.mkdir(parents=True, exist_ok=True)
        (self.mine / name).write_text(text)
        self.fabric.invalidate_file(str(self.mine / name), by_person=True)

    async def call(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        *,
        allowed: str | None = None,
        run_id: str = "run",
        said: str = "",
    ) -> CallResult:
        """As a model's native call."""
        listed = self.world.allowed(allowed)
        host = Host(
            pipeline=self.pipeline,
            client=self.model,
            model=ModelRef("test", "scripted"),
            budget=self.budget,
            system=lambda prompt, _tools: prompt,
            allowed_of=self.world.allowed,
            together=self.world.together,
            spawn=self.owner.spawn,
            **self.lent,
        )
        root = Invocation(
            RunMeta(run_id, self.token, "thread"), inherited={HOST: host, PERMISSIONS: listed}, shared=self.world.shared
        )
        block = ToolCallBlock("c1", name, dict(args or {}))
        return await self.pipeline.invoke(
            CallRequest(block, Caller("native", ("agent",), listed), root, self.events.append, said=said)
        )
