"""The door of the room: opens the database of a home and holds the repositories."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from desktop.domain.threads import Recovery
from desktop.store import database
from desktop.store.audit import AuditRepository
from desktop.store.audit_log import AuditChain, HeadFile, head_path
from desktop.store.called_runs import CalledRunRepository
from desktop.store.changes import ChangeRepository
from desktop.store.composer import DraftRepository, QueueRepository, StateRepository
from desktop.store.debates import DebateRepository
from desktop.store.documents import DocumentRepository
from desktop.store.grants import GrantRepository
from desktop.store.jobs import JobRepository
from desktop.store.journal import EffectRepository
from desktop.store.kept_files import KeptFiles
from desktop.store.messages import MessageRepository
from desktop.store.overlays import OverlayRepository
from desktop.store.reads import ReadRepository
from desktop.store.rules import RuleRepository
from desktop.store.run_agents import RunAgentRepository
from desktop.store.runs import RunRepository, recover
from desktop.store.search import SearchRepository
from desktop.store.threads import ThreadRepository
from desktop.store.traces import TraceRepository
from desktop.store.uncertain_calls import UncertainCallRepository
from desktop.store.worker import StoreThread

KEPT = Path("changes", "kept")
"""Where beside the database the contents lie that files had."""
KEPT_DOCUMENTS = Path("documents")
"""Where the originals of attached documents lie."""


class Store:
    """``open`` it first, ``close`` it last; the repositories work in between, all on one event loop.

    ``path`` is the file, such as ``~/.agent/data/assent.db``. Only one process may have a home open, because opening
    closes the runs that the last process left: take the home first.
    """

    def __init__(self, path: Path, *, migrations: Path = database.MIGRATIONS) -> None:
        self.path = path
        kept = HeadFile(head_path(path))
        self._chain = AuditChain(kept)
        self._thread = StoreThread(path, lambda at: database.open_database(at, migrations), self._chain.committed)
        self.threads = ThreadRepository(self._thread)
        self.messages = MessageRepository(self._thread)
        self.runs = RunRepository(self._thread)
        self.audit = AuditRepository(self._thread, path, self._chain, kept)
        self.rules = RuleRepository(self._thread)
        self.grants = GrantRepository(self._thread)
        self.reads = ReadRepository(self._thread)
        self.drafts = DraftRepository(self._thread)
        self.queue = QueueRepository(self._thread)
        self.search = SearchRepository(self._thread)
        self.state = StateRepository(self._thread)
        self.traces = TraceRepository(self._thread)
        self.debates = DebateRepository(self._thread)
        self.jobs = JobRepository(self._thread)
        self.overlays = OverlayRepository(self._thread)
        self.effects = EffectRepository(self._thread)
        self.run_agents = RunAgentRepository(self._thread)
        self.called = CalledRunRepository(self._thread)
        self.changes = ChangeRepository(self._thread)
        self.kept_files = KeptFiles(path.parent / KEPT)
        self.documents = DocumentRepository(self._thread)
        self.kept_documents = KeptFiles(path.parent / KEPT_DOCUMENTS)
        self.uncertain_calls = UncertainCallRepository(self._thread)

    @property
    def is_open(self) -> bool:
        """Whether it can be used."""
        return self._thread.is_open

    async def open(self) -> Recovery:
        """Open, bring up to date, and close what a crash left open; what that was.

        Raises StoreCorrupt, StoreTooNew, StoreFull, HomeNotWritable or StoreError; then it stays closed, and
        ``recovery_copy`` and ``start_fresh`` still work.
        """
        await self._thread.open()
        try:
            now = time.time()
            found = await self._thread.write(lambda connection: recover(connection, now))
            await self.audit.begin()
        except BaseException:
            await self.close()
            raise
        return found

    async def close(self) -> None:
        """Write what is waiting and close. Safe to call twice."""
        await self._thread.close()
        await asyncio.to_thread(self._chain.close)

    async def version(self) -> int:
        """The format of the open database, for ``--check``."""
        return await self._thread.read(database.version)

    async def recovery_copy(self) -> Path:
        """Copy a damaged database, as it is, to a name that is not taken; where the copy is. Only while closed."""
        return await asyncio.to_thread(database.recovery_copy, self.path)

    async def start_fresh(self) -> Path:
        """Move the database aside, if the person agrees; where it is now. ``open`` then makes an empty one."""
        await self.close()
        return await asyncio.to_thread(database.start_fresh, self.path)
