"""Writing for tests that are not about undoing: at once, and nothing is kept."""

import asyncio
from collections.abc import Mapping, Sequence

from desktop.domain.files.changes import ChangeConflict, Contents, FileChange, FileState
from desktop.domain.safety import GuardedFiles, WriteOutcome
from desktop.domain.tools import ToolCallContext


class KeepsNothing:
    """Implements ``domain.file_changes.ChangeRecorder`` where there is no store."""

    async def write(
        self, files: GuardedFiles, path: str, data: bytes, *, expected: str | None, context: ToolCallContext
    ) -> WriteOutcome:
        return await asyncio.to_thread(files.write_atomic, path, data, expected=expected)

    async def commit(
        self, changes: Sequence[FileChange], contents: Contents, context: ToolCallContext, summary: str = ""
    ) -> tuple[ChangeConflict, ...]:
        raise AssertionError("a test that commits changes needs a store")

    async def who_left(self, states: Mapping[str, FileState]) -> Mapping[str, tuple[str, ...]]:
        return dict.fromkeys(states, ())
