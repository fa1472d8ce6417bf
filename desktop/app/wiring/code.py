"""The code sandbox, wired: where its workers start, what shuts them in, and the skills that run in it.

Its code is imported when the first piece of code is to be run.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.code import CodeEngine, CodeSession
from desktop.domain.lazy import Lazy
from desktop.domain.skills import SkillDef
from desktop.services.skills.world import SkillWorld
from desktop.skills.resolution.fabric import SkillFabric

if TYPE_CHECKING:
    from desktop.pipeline.skill_context import Context
    from desktop.pipeline.skills.js_worker import JavaScriptWorker
    from desktop.pipeline.skills.run import CodeWorker
    from desktop.workers.js_code.engine import JsEngine
    from desktop.workers.js_code.process import WorkerSpec

ENGINE: Lazy[type[JsEngine]] = Lazy("desktop.workers.js_code.engine", "JsEngine")
SPEC: Lazy[type[WorkerSpec]] = Lazy("desktop.workers.js_code.process", "WorkerSpec")
PROFILE: Lazy[Callable[[], tuple[str, str]]] = Lazy("desktop.safety.confinement.code_profile", "code_sandbox_profile")
WORKER: Lazy[type[JavaScriptWorker]] = Lazy("desktop.pipeline.skills.js_worker", "JavaScriptWorker")


class CodeSandbox:
    """The engine, which starts nothing before code is to be run, and the empty folder that its workers stand in.
    Implements ``domain.code.CodeEngine``."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._engine: CodeEngine | None = None

    @property
    def engine(self) -> CodeEngine:
        """As it is wired."""
        return self

    def session(self, memory: Mapping[str, Any] | None = None) -> CodeSession:
        """Of the real engine."""
        return self._made().session(memory)

    async def prewarm(self) -> None:
        """Have a worker ready."""
        await asyncio.to_thread(ENGINE.get)
        await self._made().prewarm()

    def _made(self) -> CodeEngine:
        if self._engine is None:
            self._engine = ENGINE.get()(self._spec)
        return self._engine

    def _spec(self) -> WorkerSpec:
        """Blocks."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="assent-code-")
        return SPEC.get()(self._folder.name, *PROFILE.get()())

    async def close(self) -> None:
        """End the workers."""
        if self._engine is not None:
            await self._engine.close()
        if self._folder is not None:
            await asyncio.to_thread(self._folder.cleanup)


class _LazyWorker:
    """As ``JavaScriptWorker``, which does the work."""

    def __init__(self, engine: CodeEngine, fabric: SkillFabric) -> None:
        self._engine, self._fabric = engine, fabric
        self._worker: CodeWorker | None = None

    async def run(self, definition: SkillDef, context: Context, args: Mapping[str, Any]) -> Any:
        if self._worker is None:
            worker = await asyncio.to_thread(WORKER.get)
            self._worker = worker(self._engine, self._fabric.body)
        return await self._worker.run(definition, context, args)


def open_code(skills: SkillWorld) -> CodeSandbox:
    """The sandbox, which from now on also runs JavaScript skills (R-SK-14)."""
    room = CodeSandbox()
    skills.runs.javascript = _LazyWorker(room.engine, skills.fabric)
    return room
