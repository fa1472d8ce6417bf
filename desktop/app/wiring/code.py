"""The code sandbox, wired: where its workers start, what shuts them in, and the skills that run in it.

Its code is imported when the first piece of code is to be run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from desktop.domain.code import CodeEngine, CodeSession
from desktop.domain.loading.lazy import lazy_module, load
from desktop.domain.skills import SkillDef
from desktop.files.temporary import TemporaryFolder
from desktop.services.skills.world import SkillWorld
from desktop.skills.resolution.fabric import SkillFabric

if TYPE_CHECKING:
    from desktop.pipeline.skill_context import Context
    from desktop.pipeline.skills import js_worker as skills_js_worker
    from desktop.pipeline.skills.js_worker import JavaScriptWorker
    from desktop.safety.confinement import shut_in as confinement_shut_in
    from desktop.workers.js_code import engine as js_code_engine
    from desktop.workers.js_code import process as js_code_process
    from desktop.workers.js_code.process import WorkerSpec
else:
    skills_js_worker = lazy_module("desktop.pipeline.skills.js_worker")
    confinement_shut_in = lazy_module("desktop.safety.confinement.shut_in")
    js_code_engine = lazy_module("desktop.workers.js_code.engine")
    js_code_process = lazy_module("desktop.workers.js_code.process")


class CodeSandbox:
    """The engine, which starts nothing before code is to be run, and the empty folder that its workers stand in.
    Implements ``domain.code.CodeEngine``."""

    def __init__(self) -> None:
        self._folder: TemporaryFolder | None = None
        self._engine: CodeEngine | None = None

    @property
    def engine(self) -> CodeEngine:
        """The engine: this object itself."""
        return self

    def session(self, memory: Mapping[str, Any] | None = None) -> CodeSession:
        """A session of the real engine."""
        return self._made().session(memory)

    async def held(self) -> bool:
        """Whether the system itself holds its workers."""
        return await self._made().held()

    async def prewarm(self) -> None:
        """Have a worker ready."""
        await asyncio.to_thread(load, js_code_engine)
        await self._made().prewarm()

    def _made(self) -> CodeEngine:
        if self._engine is None:
            self._engine = js_code_engine.JsEngine(self._spec)
        return self._engine

    def _spec(self) -> WorkerSpec:
        """What a worker is started with, in an empty folder. Blocks."""
        if self._folder is None:
            self._folder = TemporaryFolder("code")
        return js_code_process.WorkerSpec(self._folder.path, *confinement_shut_in.code_sandbox_profile())

    async def close(self) -> None:
        """End the workers and remove the folder."""
        if self._engine is not None:
            await self._engine.close()
        if self._folder is not None:
            await asyncio.to_thread(self._folder.close)


class _LazyWorker:
    """A stand-in for ``JavaScriptWorker`` that imports it with the first call."""

    def __init__(self, engine: CodeEngine, fabric: SkillFabric) -> None:
        self._engine, self._fabric = engine, fabric
        self._worker: JavaScriptWorker | None = None

    async def held(self) -> bool:
        return await self._engine.held()

    async def run(self, definition: SkillDef, context: Context, args: Mapping[str, Any]) -> Any:
        if self._worker is None:
            await asyncio.to_thread(load, skills_js_worker)
            self._worker = skills_js_worker.JavaScriptWorker(self._engine, self._fabric.body)
        return await self._worker.run(definition, context, args)


def open_code(skills: SkillWorld) -> CodeSandbox:
    """The sandbox, which from now on also runs JavaScript skills (R-SK-14)."""
    room = CodeSandbox()
    skills.runs.javascript = _LazyWorker(room.engine, skills.fabric)
    return room
