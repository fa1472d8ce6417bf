"""What a thread has read is known after a restart: edits are made against it, or refused with what changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from desktop.domain.files.reads import ReadFileVersion
from desktop.domain.threads import ThreadRecord
from desktop.store import Store
from desktop.store import reads as kept_reads
from tests.unit.app.test_edge import Bench, Person, running


async def kept(bench: Bench, count: int) -> Sequence[ReadFileVersion]:
    """What is kept of the thread, once there is so much."""
    store, found = bench.services.store, list[ReadFileVersion]()
    while len(found) < count or not all(one.digest for one in found):
        found = await store.reads.of_thread(thread_id=bench.thread_id)
    return found


@pytest.mark.spec("R-EDT-1")
async def test_a_file_that_was_read_before_a_restart_is_edited_and_one_that_changed_meanwhile_is_refused(
    tmp_path: Path,
) -> None:
    pem = f"-----BEGIN RSA {'PRIVATE'} KEY-----\nMIIEow{'A' * 60}\n-----END RSA {'PRIVATE'} KEY-----\n"
    async with running(tmp_path, "ask", Person()) as bench:
        for name, text in (("same.txt", "one\ntwo\n"), ("other.txt", "one\ntwo\n"), ("key.txt", pem)):
            (bench.project / name).write_text(text)
            await bench.call("read_file", path=name)
        (bench.project / "unread.txt").write_text("one\n")
        thread_id, found = bench.thread_id, await kept(bench, 3)
        assert {Path(one.path).name: bool(one.packed) for one in found} == {
            "same.txt": True,
            "other.txt": True,
            "key.txt": False,
        }, "of a key nothing but a digest is kept"
    async with running(tmp_path, "ask", Person()) as bench:
        bench.thread_id = thread_id
        (bench.project / "other.txt").write_text("one\nand a half\ntwo\n")
        (bench.project / "key.txt").write_text(f"{pem}more\n")
        edit = [{"old": "two", "new": "three"}]
        done = await bench.call("edit_file", path="same.txt", edits=edit)
        assert (done.result.is_error, (bench.project / "same.txt").read_text()) == (False, "one\nthree\n")
        refused = await bench.call("edit_file", path="other.txt", edits=edit)
        assert refused.result.code == "file.changed"
        assert "+and a half" in refused.result.text, "with what changed"
        assert (bench.project / "other.txt").read_text() == "one\nand a half\ntwo\n"
        refused = await bench.call("edit_file", path="key.txt", edits=[{"old": "more", "new": "less"}])
        assert refused.result.code == "file.changed"
        refused = await bench.call("edit_file", path="unread.txt", edits=edit)
        assert refused.result.code == "file.not_read"
        bench.thread_id = (await bench.services.chats.create_thread(project=str(bench.project))).thread_id
        refused = await bench.call("edit_file", path="same.txt", edits=[{"old": "three", "new": "four"}])
        assert refused.result.code == "file.not_read", "another thread has read nothing"


@pytest.mark.spec("R-EDT-1")
async def test_what_is_kept_is_bounded_and_goes_with_its_thread(tmp_path: Path) -> None:
    store = Store(tmp_path / "assent.db")
    await store.open()
    try:
        for name in ("t", "u"):
            await store.threads.create(record=ThreadRecord(name, "Mine", 1.0, 1.0))
        big = b"x" * (kept_reads.MOST_BYTES // 2)
        for number in range(4):
            await store.reads.put(thread_id="t", versions=[ReadFileVersion(f"/{number}", True, "d", 1, 1.0, big)])
        assert [one.path for one in await store.reads.of_thread(thread_id="t")] == ["/2", "/3"]
        many = [ReadFileVersion(f"/{number}", False) for number in range(kept_reads.MOST + 50)]
        await store.reads.put(thread_id="u", versions=many)
        assert len(await store.reads.of_thread(thread_id="u")) == kept_reads.MOST
        await store.reads.put(thread_id="gone", versions=many[:1])
        assert await store.reads.of_thread(thread_id="gone") == [], "of a thread that is gone nothing is kept"
        await store.threads.delete(thread_id="u", at=2.0)
        await store.threads.purge(thread_id="u")
        assert await store.reads.of_thread(thread_id="u") == []
    finally:
        await store.close()
