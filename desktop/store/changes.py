"""What calls changed of a person's files, and which contents are kept for it (``kept_files.py`` holds these)."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.files.changes import ChangedFile, ChangeOrigin, FileChange, FileState, KeptChange
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.store.rows import clean, to_json
from desktop.store.worker import StoreThread

_RECORD = "seq, change_id, at, phase, kept, undoes_json, origin_json"
_FILE = "change_seq, path, before_json, after_json, renamed_from, added, removed, not_kept"
_USED = (
    "EXISTS (SELECT 1 FROM changed_files f JOIN changes c ON c.seq = f.change_seq WHERE f.{side}_digest = k.digest "
    "AND f.{side}_digest <> '' AND c.kept = 1)"
)
_UNUSED = f"NOT {_USED.format(side='before')} AND NOT {_USED.format(side='after')}"
_ROWS = 2_000
"""Files of one record that are read in one step of the store's thread."""
_AT_ONCE = 500
"""Paths looked for, and records let go, in one step of the store's thread."""


@dataclass(frozen=True, slots=True)
class KeptAmount:
    """How much is kept."""

    size: int
    """Bytes on the disk."""
    contents: int
    """How many contents."""
    oldest: float | None
    """When the oldest change of which contents are kept was made."""


class ChangeRepository:
    """Records of changes: begun before a file is touched, done when it was."""

    def __init__(self, thread: StoreThread) -> None:
        self._thread = thread

    async def begin(self, *, record: KeptChange, contents: Mapping[str, int]) -> None:
        """Write a change down before it is made, with the contents that were kept for it (digest and bytes on the
        disk). It survives a power cut."""

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO kept_contents VALUES (?, ?)", list(contents.items()))
            top = record.origin.above[0] if record.origin.above else record.origin.thread_id
            seq = connection.execute(
                "INSERT INTO changes (change_id, thread_id, at, phase, kept, undoes_json, origin_json) "
                "VALUES (?, (SELECT thread_id FROM threads WHERE thread_id = ?), ?, 'begun', 1, ?, ?)",
                (record.change_id, top, record.at, to_json(list(record.undoes)), _origin_text(record.origin)),
            ).lastrowid
            _insert_files(connection, seq, record.files)

        await self._thread.write(work, durable=True)

    async def done(self, *, change_id: str, files: Sequence[ChangedFile]) -> None:
        """It was made, with these files as they are now."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE changes SET phase = 'done' WHERE change_id = ?", (change_id,))
            seq = connection.execute("SELECT seq FROM changes WHERE change_id = ?", (change_id,)).fetchone()
            if seq is not None:
                _insert_files(connection, seq[0], files)

        await self._thread.write(work)

    async def drop(self, *, change_id: str) -> None:
        """It was not made."""
        await self._thread.write(lambda c: c.execute("DELETE FROM changes WHERE change_id = ?", (change_id,)))

    async def begun(self) -> list[KeptChange]:
        """Those of which nobody has heard whether they were made."""
        return await self._select("phase = 'begun'", ())

    async def of_thread(self, *, thread_id: str) -> list[KeptChange]:
        """All that was changed in a person's thread, by the agents that work for it, too; the oldest first."""
        return await self._select("thread_id = ? AND phase = 'done'", (thread_id,))

    async def get(self, *, change_ids: Sequence[str]) -> list[KeptChange]:
        """These, the oldest first."""
        marks = ",".join("?" * len(change_ids))
        return await self._select(f"change_id IN ({marks})", tuple(change_ids))

    async def touching(self, *, paths: Sequence[str], since: int) -> list[KeptChange]:
        """All records from this number on, of any thread, that name one of these paths; each with these paths alone.
        The oldest first."""
        found: dict[int, KeptChange] = {}
        for at in range(0, len(paths), _AT_ONCE):
            some = tuple(os.fsencode(path) for path in paths[at : at + _AT_ONCE])
            for one in await self._thread.read(lambda connection, some=some: _touching(connection, some, since)):  # type: ignore[misc]
                known = found.get(one.number)
                files = (*known.files, *one.files) if known else one.files
                found[one.number] = _with_files(one, files)
        return [found[number] for number in sorted(found)]

    async def amount(self) -> KeptAmount:
        """How much is kept."""

        def work(connection: sqlite3.Connection) -> KeptAmount:
            size, count = connection.execute("SELECT coalesce(sum(stored), 0), count(*) FROM kept_contents").fetchone()
            oldest = connection.execute("SELECT min(at) FROM changes WHERE kept = 1").fetchone()[0]
            return KeptAmount(size, count, oldest)

        return await self._thread.read(work)

    async def taken_since(self, *, at: float) -> int:
        """Bytes on the disk of the contents that changes made from then on need."""
        recent = "FROM changed_files f JOIN changes c ON c.seq = f.change_seq WHERE c.kept = 1 AND c.at >= :at"
        query = (
            "SELECT coalesce(sum(stored), 0) FROM kept_contents WHERE digest IN "
            f"(SELECT f.before_digest {recent} UNION SELECT f.after_digest {recent})"
        )
        row = await self._thread.read(lambda connection: connection.execute(query, {"at": at}).fetchone())
        return int(row[0])

    async def let_go(self, *, before: float, most: int, but: str = "") -> None:
        """From now on nothing is kept for changes made before then, and for the oldest beyond ``most`` bytes; one
        record is spared, which is being made."""

        def old(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE changes SET kept = 0 WHERE kept = 1 AND at < ? AND change_id <> ?", (before, but)
            )

        def oldest(connection: sqlite3.Connection) -> bool:
            used = f"SELECT coalesce(sum(stored), 0) FROM kept_contents k WHERE NOT ({_UNUSED})"
            if connection.execute(used).fetchone()[0] <= most:
                return False
            return bool(
                connection.execute(
                    "UPDATE changes SET kept = 0 WHERE seq IN (SELECT seq FROM changes WHERE kept = 1 AND "
                    "change_id <> ? ORDER BY seq LIMIT max(1, (SELECT count(*) / 20 FROM changes WHERE kept = 1)))",
                    (but,),
                ).rowcount
            )

        await self._thread.write(old)
        while await self._thread.write(oldest):
            pass

    async def unused(self) -> list[str]:
        """The digests of contents that no change needs any more."""
        query = f"SELECT digest FROM kept_contents k WHERE {_UNUSED}"
        return await self._thread.read(lambda connection: [row[0] for row in connection.execute(query)])

    async def known(self) -> frozenset[str]:
        """The digests of all contents that are kept."""
        query = "SELECT digest FROM kept_contents"
        return await self._thread.read(lambda c: frozenset(row[0] for row in c.execute(query)))

    async def forget(self, *, digests: Sequence[str]) -> None:
        """These contents are not on the disk any more."""
        rows = [(digest,) for digest in digests]
        await self._thread.write(lambda c: c.executemany("DELETE FROM kept_contents WHERE digest = ?", rows))

    async def _select(self, condition: str, values: tuple[Any, ...]) -> list[KeptChange]:
        query = f"SELECT {_RECORD} FROM changes WHERE {condition} ORDER BY seq"
        rows = await self._thread.read(lambda connection: connection.execute(query, values).fetchall())
        files: dict[int, list[Sequence[Any]]] = {row[0]: [] for row in rows}
        for seq in files:
            path: bytes | None = b""
            while path is not None:
                some = await self._thread.read(lambda connection, seq=seq, path=path: _some(connection, seq, path))  # type: ignore[misc]
                files[seq] += some
                path = some[-1][1] if len(some) == _ROWS else None
        return await asyncio.to_thread(lambda: [_made(row, tuple(map(_file, files[row[0]]))) for row in rows])


def _some(connection: sqlite3.Connection, seq: int, after: bytes) -> list[Sequence[Any]]:
    """The next files of a record; not all at once, so that an answer is saved in time while a long one is read."""
    query = f"SELECT {_FILE} FROM changed_files WHERE change_seq = ? AND path > ? ORDER BY path LIMIT ?"
    return connection.execute(query, (seq, after, _ROWS)).fetchall()


def _touching(connection: sqlite3.Connection, names: tuple[bytes, ...], since: int) -> list[KeptChange]:
    marks = ",".join("?" * len(names))
    rows = connection.execute(
        f"SELECT {_FILE} FROM changed_files WHERE path IN ({marks}) AND change_seq >= ?", (*names, since)
    ).fetchall()
    files: dict[int, list[ChangedFile]] = {}
    for row in rows:
        files.setdefault(row[0], []).append(_file(row))
    found = []
    for seq, some in files.items():
        row = connection.execute(f"SELECT {_RECORD} FROM changes WHERE seq = ? AND phase = 'done'", (seq,)).fetchone()
        if row is not None:
            found.append(_made(row, tuple(some)))
    return found


def _insert_files(connection: sqlite3.Connection, seq: int | None, files: Iterable[ChangedFile]) -> None:
    marks = ",".join("?" * 10)
    connection.executemany(f"INSERT OR REPLACE INTO changed_files VALUES ({marks})", _file_rows(seq, files))


def _file_rows(seq: int | None, files: Iterable[ChangedFile]) -> Iterator[tuple[Any, ...]]:
    for one in files:
        change = one.change
        yield (
            seq,
            os.fsencode(change.path),
            change.before.digest,
            _state_text(change.before),
            change.after.digest,
            _state_text(change.after),
            os.fsencode(change.renamed_from),
            one.added,
            one.removed,
            one.not_kept,
        )


def _made(row: Sequence[Any], files: tuple[ChangedFile, ...]) -> KeptChange:
    seq, change_id, at, phase, kept, undoes, origin = row
    return KeptChange(change_id, at, files, _origin(origin), tuple(json.loads(undoes)), phase, bool(kept), seq)


def _with_files(record: KeptChange, files: tuple[ChangedFile, ...]) -> KeptChange:
    return replace(record, files=files)


def _file(row: Sequence[Any]) -> ChangedFile:
    _, path, before, after, renamed_from, added, removed, not_kept = row
    change = FileChange(os.fsdecode(path), _state(before), _state(after), os.fsdecode(renamed_from))
    return ChangedFile(change, added, removed, not_kept)


def _state_text(state: FileState) -> str:
    return to_json([state.kind, state.mode, state.size, state.digest, state.target])


def _state(text: str) -> FileState:
    return FileState(*json.loads(text))


def _origin_text(origin: ChangeOrigin) -> str:
    plain = {
        "thread": origin.thread_id,
        "above": list(origin.above),
        "run": origin.run_id,
        "call": origin.call,
        "call_id": origin.call_id,
        "chain": [clean(name) for name in origin.chain],
        "project": origin.project,
        "summary": clean(origin.summary),
        "asked": origin.asked,
    }
    return to_json(plain)


def _origin(text: str) -> ChangeOrigin:
    plain = json.loads(text)
    return ChangeOrigin(
        plain["thread"],
        tuple(plain["above"]),
        plain["run"],
        plain["call"],
        plain["call_id"],
        tuple(plain["chain"]),
        plain["project"],
        plain["summary"],
        plain["asked"],
    )
