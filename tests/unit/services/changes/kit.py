"""A recorder with a real store and real files, and calls of several agents that write through it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from desktop.domain.files.undo import UndoPreview
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.runs.meta import RunMeta
from desktop.domain.threads import ThreadRecord
from desktop.domain.tools import ToolCallContext
from desktop.safety.changes.apply import JournaledApplier
from desktop.safety.secrets.key_files import holds_keys
from desktop.services.changes.recording import Keeping, KeepingRecorder
from desktop.services.changes.service import ChangesService
from desktop.store import Store
from desktop.supervision.tasks import TaskOwner
from tests.unit.safety.world import World


@dataclass
class Limits:
    """As the settings would say it."""

    most_bytes: int = 500_000_000
    keep_s: float = 30 * 86_400.0


class Calls:
    """Calls of agents in a person's thread ``t``, and what is kept of them."""

    def __init__(self, world: World, store: Store, owner: TaskOwner) -> None:
        self.world, self.store, self.limits = world, store, Limits()
        self.files = world.files()
        self.applier = JournaledApplier(world.policy, str(world.home / "data" / "changes"))
        self.keeping = Keeping(store.changes, store.kept_files, self.applier, self.files, self.limits, holds_keys)
        self.recorder = KeepingRecorder(self.keeping, owner.spawn)
        self.service = ChangesService(store.changes, store.kept_files, self.recorder, self.files, store.audit)
        self.count = 0

    @property
    def root(self) -> Path:
        return self.world.workspace

    def context(self, agent: str = "", run: str = "r1", tool: str = "write-file") -> ToolCallContext:
        """A call by an agent that was called in the thread, or by the thread's own."""
        self.count += 1
        meta = RunMeta(run, CancellationToken(), agent or "t", above=("t",) if agent else ())
        return ToolCallContext(meta, f"c{self.count}", (agent or "workbench", tool))

    async def write(self, name: str, text: str | bytes, agent: str = "", run: str = "r1") -> str:
        """One call that writes a file; its id among the changes."""
        data = text.encode() if isinstance(text, str) else text
        await self.recorder.write(
            self.files, str(self.root / name), data, expected=None, context=self.context(agent, run)
        )
        return (await self.store.changes.of_thread(thread_id="t"))[-1].change_id

    async def undo(self, *change_ids: str) -> UndoPreview:
        """Undo them, as shown."""
        plan = await self.service.plan(change_ids)
        if plan.preview.does_something:
            assert (await self.service.undo(plan))[0] == ()
        return plan.preview

    async def last(self) -> str:
        """The id of the last change."""
        return (await self.store.changes.of_thread(thread_id="t"))[-1].change_id

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def kept(self) -> list[str]:
        """The digests of the contents on the disk."""
        return sorted(digest for digest, _ in self.store.kept_files.every())


@asynccontextmanager
async def calls_in(root: Path, *, fresh: bool = True) -> AsyncIterator[Calls]:
    """An open store with the thread ``t``, closed at the end; not ``fresh``: as an earlier process left it, after what
    each start does."""
    world = World(root, fresh=fresh)
    if fresh:
        (world.workspace / "note.txt").unlink()
        (world.home / "data" / "assent.db").unlink()
    store, owner = Store(world.home / "data" / "assent.db"), TaskOwner()
    await store.open()
    if fresh:
        await store.threads.create(record=ThreadRecord("t", "First", 1.0, 1.0))
    calls = Calls(world, store, owner)
    await asyncio.to_thread(calls.applier.recover)
    await calls.recorder.settle()
    try:
        yield calls
    finally:
        await owner.close()
        await store.close()
