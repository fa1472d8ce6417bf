"""The code sandbox, wired: where its workers start, what shuts them in, and the skills that run in it."""

from __future__ import annotations

import asyncio
import tempfile

from desktop.conversation.skill_world import SkillWorld
from desktop.pipeline.js_worker import JavaScriptWorker
from desktop.safety.code_walls import code_walls
from desktop.workers.js_code.engine import JsEngine, WorkerSpec


class CodeRoom:
    """The engine, which starts nothing before code is to be run, and the empty folder that its workers stand in."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.engine = JsEngine(self._spec)

    def _spec(self) -> WorkerSpec:
        """Blocks."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="assent-code-")
        launcher, program = code_walls()
        return WorkerSpec(self._folder.name, launcher, program)

    async def close(self) -> None:
        """End the workers."""
        await self.engine.close()
        if self._folder is not None:
            await asyncio.to_thread(self._folder.cleanup)


def open_code(skills: SkillWorld) -> CodeRoom:
    """The sandbox, which from now on also runs JavaScript skills (R-SK-14)."""
    room = CodeRoom()
    skills.runs.javascript = JavaScriptWorker(room.engine, skills.fabric.body)
    return room
