"""The one thread that owns the database connection: work goes in as functions, results come back as futures.

Work is done in the order in which it was given. Writes that wait together are committed together; each stands in a
savepoint of its own, so one that fails takes nobody with it. A future is answered after the commit, never before.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from desktop.domain.errors import StoreError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.store.failures import translate

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
GROUP = 64  # writes committed together at most, so that the first of them need not wait long


@dataclass(slots=True)
class StoreTask(Generic[T]):
    """One function to run with the connection.

    ``durable``: the commit waits until the disk has it, so it also survives a power cut. A write may be run twice
    (its first transaction rolled back), so it must do nothing but database work.
    """

    work: Work[T]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[T]
    writes: bool
    durable: bool = False


@dataclass(slots=True)
class TaskOutcome:
    """What became of a job."""

    job: StoreTask[Any]
    value: Any = None
    error: Exception | None = None

    def deliver(self) -> None:
        """On the loop's thread. Nobody may be waiting any more."""
        if self.job.future.done():
            return
        if self.error is not None:
            self.job.future.set_exception(self.error)
        else:
            self.job.future.set_result(self.value)


class StoreThread:
    """Owns the connection and its thread. Made and used on one event loop; ``open`` first, ``close`` last."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[Path], sqlite3.Connection],
        committed: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """``committed`` is told on the thread after each commit, before anybody is answered; it must not raise."""
        self._path = path
        self._connect = connect
        self._committed = committed or _nothing
        self._jobs: queue.SimpleQueue[StoreTask[Any] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._durable: bool | None = None
        """How the connection was told to commit last; None: it was not told yet."""

    @property
    def is_open(self) -> bool:
        """Whether work is accepted."""
        return self._thread is not None and not self._closing

    async def open(self) -> None:
        """Start the thread and open the database there. Raises what ``open_database`` raises."""
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = loop.create_future()
        first: StoreTask[None] = StoreTask(_nothing, loop, opened, writes=False)
        thread = threading.Thread(target=self._run, args=(first,), name="assent-store", daemon=True)
        self._thread, self._closing, self._durable = thread, False, None
        thread.start()
        try:
            await asyncio.shield(opened)
        except asyncio.CancelledError:
            await self.close()
            raise
        except BaseException:
            self._jobs.put(None)
            thread.join()
            self._thread = None
            raise

    async def close(self) -> None:
        """Do what is queued, close the database, end the thread. Safe to call twice."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._closing = True
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        self._jobs.put(StoreTask(_tidy, loop, ended, writes=False))
        self._jobs.put(None)
        await asyncio.wait([ended])
        if not ended.cancelled():
            ended.exception()  # an untidy end is no reason to fail: everything is committed
        thread.join()

    def read(self, work: Work[T]) -> asyncio.Future[T]:
        """Run ``work`` after everything given before it."""
        return self._give(work, writes=False, durable=False)

    def write(self, work: Work[T], *, durable: bool = False) -> asyncio.Future[T]:
        """Run ``work`` in a transaction; the future is answered when that is committed."""
        return self._give(work, writes=True, durable=durable)

    def _give(self, work: Work[T], *, writes: bool, durable: bool) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if self.is_open:
            self._jobs.put(StoreTask(work, loop, future, writes, durable))
        else:
            future.set_exception(StoreError("The database is closed.", code="store.closed"))
        return future

    # -- on the thread ----------------------------------------------------------------------------------------------

    def _run(self, first: StoreTask[None]) -> None:
        try:
            connection = self._connect(self._path)
        except Exception as error:  # boundary: whatever kept the database from opening belongs to who asked for it
            _answer([TaskOutcome(first, error=error)])
            while (job := self._jobs.get()) is not None:
                _answer([TaskOutcome(job, error=error)])
            return
        try:
            _answer([TaskOutcome(first)])
            self._serve(connection)
        finally:
            connection.close()

    def _serve(self, connection: sqlite3.Connection) -> None:
        held: StoreTask[Any] | None = None
        while True:
            job = held or self._jobs.get()
            held = None
            if job is None:
                return
            if not job.writes:
                _answer([self._attempt(connection, job)])
                continue
            group = [job]
            while len(group) < GROUP and not self._jobs.empty():
                following = self._jobs.get()
                if following is None or not following.writes:
                    self._commit(connection, group)
                    if following is None:
                        return
                    group, held = [], following
                    break
                group.append(following)
            if group:
                self._commit(connection, group)

    def _commit(self, connection: sqlite3.Connection, group: Sequence[StoreTask[Any]]) -> None:
        """All in one transaction; when that is impossible, each in its own, so that the fault finds its owner."""
        outcomes = self._transaction(connection, group)
        if outcomes is None:
            outcomes = [found for job in group for found in self._alone(connection, job)]
        _answer(outcomes)

    def _transaction(self, connection: sqlite3.Connection, group: Sequence[StoreTask[Any]]) -> list[TaskOutcome] | None:
        """The outcomes of a committed transaction, or None when it was rolled back."""
        if len(group) == 1:
            return None
        outcomes = []
        try:
            self._begin(connection, durable=any(job.durable for job in group))
            for job in group:
                connection.execute("SAVEPOINT job")
                outcome = self._attempt(connection, job)
                if outcome.error is not None:
                    connection.execute("ROLLBACK TO job")
                connection.execute("RELEASE job")
                outcomes.append(outcome)
            connection.execute("COMMIT")
        except sqlite3.Error:
            _roll_back(connection)
            return None
        self._committed(connection)
        return outcomes

    def _alone(self, connection: sqlite3.Connection, job: StoreTask[Any]) -> list[TaskOutcome]:
        try:
            self._begin(connection, durable=job.durable)
            outcome = self._attempt(connection, job)
            if outcome.error is None:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            outcome = TaskOutcome(job, error=translate(error, self._path))
        _roll_back(connection)
        if outcome.error is None:
            self._committed(connection)
        return [outcome]

    def _begin(self, connection: sqlite3.Connection, *, durable: bool) -> None:
        if durable is not self._durable:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable
        connection.execute("BEGIN IMMEDIATE")

    def _attempt(self, connection: sqlite3.Connection, job: StoreTask[Any]) -> TaskOutcome:
        """A cursor never leaves the thread: the last to let go of it resets its statement, and on another thread that
        would be in the middle of the same statement's next use."""
        try:
            value = job.work(connection)
            return TaskOutcome(job, value=None if isinstance(value, sqlite3.Cursor) else value)
        except Exception as error:  # boundary: a job's failure is its caller's, the thread goes on
            return TaskOutcome(job, error=translate(error, self._path))


def _roll_back(connection: sqlite3.Connection) -> None:
    """SQLite has rolled back already after some errors (a full disk, for one)."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _nothing(_connection: sqlite3.Connection) -> None:
    """What the opening is answered with; and nobody wants to know of commits."""


def _tidy(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA optimize")


def _answer(outcomes: Sequence[TaskOutcome]) -> None:
    """One wake-up of the loop for all of them. A loop that is gone has nobody waiting."""
    loop = outcomes[0].job.loop
    try:
        loop.call_soon_threadsafe(_deliver, outcomes)
    except RuntimeError:
        if not loop.is_closed():
            raise


def _deliver(outcomes: Sequence[TaskOutcome]) -> None:
    for outcome in outcomes:
        outcome.deliver()
