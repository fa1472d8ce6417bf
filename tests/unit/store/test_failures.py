"""Databases that are damaged, newer, foreign, locked, or have no room: real files, each told in words and kept."""

import asyncio
import contextlib
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from desktop.domain.errors import HomeNotWritable, StoreCorrupt, StoreError, StoreFull, StoreTooNew
from desktop.domain.messages import TextBlock
from desktop.domain.threads import MessageRecord, ThreadRecord
from desktop.store import Store
from desktop.store.database import verify
from desktop.store.failures import translate
from tests.harness.store import search_faults
from tests.harness.timeouts import WAIT_S
from tests.unit.store.conftest import say


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def filled(path: Path, size: int = 200_000) -> Store:
    store = Store(path)
    await store.open()
    await store.threads.create(record=ThreadRecord("t", "Kept", 1, 1))
    await store.messages.add(record=say("m1", None, "word " * (size // 5)))
    return store


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(20_000))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def scribbled(path: Path) -> None:
    """The page that holds the schema is gone, the header is not."""
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3_900)


def stub(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00")


@pytest.mark.parametrize("damage", [garbage, cut, scribbled, stub])
async def test_a_damaged_database_is_named_and_kept_and_a_copy_and_a_fresh_start_are_offered(tmp_path, damage):
    path = tmp_path / "data" / "assent.db"
    await (await filled(path)).close()
    damage(path)
    before = digest(path)
    store = Store(path)
    with pytest.raises(StoreCorrupt) as caught:
        await store.open()
    assert str(path) in str(caught.value)
    assert caught.value.next_step
    assert digest(path) == before
    copies = [await store.recovery_copy(), await store.recovery_copy()]
    assert copies[0] != copies[1]
    assert [digest(copy) for copy in copies] == [before, before]
    aside = await store.start_fresh()
    assert digest(aside) == before
    await store.open()
    assert await store.threads.list_all() == []
    await store.close()


async def test_damage_inside_is_found_by_the_check_of_the_whole_file(tmp_path):
    path = tmp_path / "assent.db"
    store = await filled(path)
    await asyncio.to_thread(verify, store.path)
    await store.close()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 4096 * 20)
        file.write(b"\xff" * 4096 * 15)
    await store.open()
    with pytest.raises(StoreCorrupt, match=r"assent\.db"):
        await asyncio.to_thread(verify, store.path)
    await store.close()


async def test_setting_aside_takes_the_write_ahead_log_along(tmp_path):
    """Killed: the newest messages are only in the log."""
    path = tmp_path / "assent.db"
    store = await filled(path)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("assent.db", "assent.db-wal"):
        shutil.copy(tmp_path / name, crashed / name)
    await store.close()
    left = Store(crashed / "assent.db")
    copy = await left.recovery_copy()
    again = Store(copy)
    await again.open()
    assert len(await again.messages.path(thread_id="t")) == 1
    await again.close()
    aside = await left.start_fresh()
    assert sorted(p.name for p in crashed.glob("assent*")) == sorted([aside.name, aside.name + "-wal"])


@pytest.mark.parametrize("killed", [False, True])
async def test_a_newer_database_is_refused_untouched(tmp_path, killed):
    path = tmp_path / "data" / "assent.db"
    await (await filled(path)).close()
    newer = sqlite3.connect(path, isolation_level=None)
    newer.execute("PRAGMA user_version = 999")
    if killed:  # what the newer one wrote last is only in its log
        home = tmp_path / "killed"
        shutil.copytree(path.parent, home)
        (home / "assent.db-shm").unlink(missing_ok=True)
        path = home / "assent.db"
    newer.close()
    files = {p.name: digest(p) for p in path.parent.iterdir()}
    store = Store(path)
    with pytest.raises(StoreTooNew, match="format 999"):
        await store.open()
    assert {p.name: digest(p) for p in path.parent.iterdir() if not p.name.endswith("-shm")} == files


async def test_the_database_of_another_program_is_refused_untouched(tmp_path):
    path = tmp_path / "assent.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    before = digest(path)
    with pytest.raises(StoreError, match="another program") as caught:
        await Store(path).open()
    assert caught.value.code == "store.foreign"
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    assert digest(path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["assent.db"]


LOCKER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


async def test_a_database_locked_by_another_process_is_told_in_words_and_works_afterwards(tmp_path):
    path = tmp_path / "assent.db"
    store = await filled(path)
    with subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(StoreError, match="Another program is using") as caught:
            await store.state.put(key="a", value=1)
        assert caught.value.code == "store.locked"
        assert len(await store.messages.path(thread_id="t")) == 1, "reading goes on"
        other.stdin.close()
        other.wait(WAIT_S)
    await store.state.put(key="a", value=2)
    assert await store.state.get(key="a") == 2
    await store.close()


def test_a_disk_that_cannot_hold_a_database_in_use_is_told_apart_from_a_broken_one(tmp_path):
    """SFTP, SMB and some others do not let two programs see the same piece of a file in memory; sshfs with direct_io
    fails so."""
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMMAP
    told = translate(failure, tmp_path / "assent.db")
    assert type(told) is StoreError
    assert "network" in str(told)
    assert "--home DIR" in told.next_step
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR_READ
    assert "network" not in str(translate(failure, tmp_path / "assent.db"))


@contextlib.contextmanager
def nobody():
    """Root may write anywhere; the tests of permissions are run as somebody who may not."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def foreign_home():
    """A folder that others can reach and not write."""
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        os.chmod(name, 0o555)
        yield Path(name)
        os.chmod(name, 0o755)


async def test_a_home_without_write_permission_is_told_in_words(foreign_home):
    store = Store(foreign_home / "data" / "assent.db")
    with nobody(), pytest.raises(HomeNotWritable, match=str(foreign_home)) as caught:
        await store.open()
    assert "permission" in caught.value.next_step


async def test_a_database_file_without_write_permission_is_told_in_words(foreign_home):
    os.chmod(foreign_home, 0o777)
    path = foreign_home / "assent.db"
    await (await filled(path)).close()
    os.chmod(path, 0o444)
    with nobody(), pytest.raises(HomeNotWritable, match=r"assent\.db"):
        await Store(path).open()


async def test_a_home_that_is_a_file_is_told_in_words(tmp_path):
    (tmp_path / "home").write_text("a file")
    with pytest.raises(HomeNotWritable, match="home"):
        await Store(tmp_path / "home" / "data" / "assent.db").open()


async def limit_pages(store: Store, pages: int) -> None:
    await store._thread.read(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())


async def test_a_full_disk_leaves_nothing_half_written_and_a_retry_works_when_there_is_space(tmp_path):
    store = await filled(tmp_path / "assent.db")
    await limit_pages(store, 1)  # SQLite takes the present size then
    big = say("m2", "m1", "more " * 100_000)
    with pytest.raises(StoreFull, match="disk is full") as caught:
        await store.messages.add(record=big)
    assert "space" in caught.value.next_step
    assert [m.message_id for m in await store.messages.path(thread_id="t")] == ["m1"]
    assert await search_faults(store) == []
    await limit_pages(store, 1_000_000)
    await store.messages.add(record=big)
    assert (await store.messages.path(thread_id="t"))[-1] == big
    await store.close()


async def test_an_answer_that_streams_while_the_disk_is_full_is_kept_and_saved_later(tmp_path):
    store = await filled(tmp_path / "assent.db")
    problems: list[BaseException] = []
    writer = await store.messages.open(
        record=MessageRecord("m2", "t", "m1", "assistant", (), 3.0, "open"), on_problem=problems.append
    )
    await limit_pages(store, 1)
    writer.add_text("long " * 100_000)
    with pytest.raises(StoreFull):
        await writer.close(stop_reason="end")
    assert (await store.messages.get(message_id="m2")).status == "open"
    await limit_pages(store, 1_000_000)
    stored = await writer.close(stop_reason="end")
    assert stored.blocks == (TextBlock("long " * 100_000),)
    assert await store.messages.get(message_id="m2") == stored
    assert await search_faults(store) == []
    await store.close()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1.5 MB."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(folder)], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"mounting is not allowed here: {done.stderr!r}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_disk_that_is_really_full_is_told_in_words_and_works_again(small_disk):
    store = await filled(small_disk / "assent.db", 10_000)
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with pytest.raises(StoreFull):
        await store.messages.add(record=say("m2", "m1", "more " * 40_000))
    with pytest.raises(StoreFull):
        await Store(small_disk / "second.db").open()
    with pytest.raises(StoreFull):
        await store.recovery_copy()
    ballast.unlink()
    await store.messages.add(record=say("m2", "m1", "more " * 10_000))
    assert len(await store.messages.path(thread_id="t")) == 2
    assert await search_faults(store) == []
    await store.close()


async def test_what_is_stored_is_for_its_owner_alone(tmp_path):
    await (await filled(tmp_path / "home" / "data" / "assent.db")).close()
    assert (tmp_path / "home" / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home" / "data" / "assent.db").stat().st_mode & 0o777 == 0o600
