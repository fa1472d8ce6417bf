"""What a call changes is kept before it is changed."""

import asyncio
import os
import stat
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, CannotBeUndone, KnownError, StoreError, ToolFailure
from desktop.domain.files.changes import ABSENT, MOST_KEPT, ChangedFile, ChangeOrigin, FileChange, FileState, KeptChange
from desktop.domain.safety import GuardedFiles
from desktop.services.changes import recording
from tests.harness.timeouts import WAIT_S
from tests.unit.safety.changes.kit import KeptContents, digest, file_state
from tests.unit.services.changes.kit import Calls


def content(calls: Calls, one: str) -> bytes:
    with calls.store.kept_files.open(one) as stream:
        return stream.read()


@pytest.mark.spec("R-UND-1")
async def test_a_write_keeps_what_was_there_and_what_came(calls: Calls) -> None:
    (calls.root / "notes.md").write_text("one\ntwo\n")
    await calls.write("notes.md", "one\nzwei\ndrei\n", agent="fact-checker")

    (kept,) = await calls.store.changes.of_thread(thread_id="t")
    (file,) = kept.files
    assert (file.change.path, file.added, file.removed, file.not_kept) == (str(calls.root / "notes.md"), 2, 1, "")
    assert content(calls, file.change.before.digest) == b"one\ntwo\n"
    assert content(calls, file.change.after.digest) == b"one\nzwei\ndrei\n"
    assert (kept.origin.thread_id, kept.origin.above, kept.origin.run_id) == ("fact-checker", ("t",), "r1")
    assert kept.origin.chain == ("fact-checker", "write-file")


@pytest.mark.spec("R-UND-1")
async def test_what_was_there_is_on_the_disk_before_the_file_is_written(calls: Calls) -> None:
    (calls.root / "notes.md").write_text("before")
    seen: list[tuple[list[str], int]] = []

    class Watched(type(calls.files)):  # type: ignore[misc]
        def write_atomic(self, path: str, data: bytes, *, expected: str | None = None):
            begun = os.path.getsize(calls.store.path.with_name("assent.db-wal"))
            seen.append((calls.kept(), begun))
            return super().write_atomic(path, data, expected=expected)

    files: GuardedFiles = Watched(calls.world.policy)
    size = os.path.getsize(calls.store.path.with_name("assent.db-wal"))
    path = str(calls.root / "notes.md")
    await calls.recorder.write(files, path, b"after", expected=None, context=calls.context())
    ((kept, begun),) = seen
    assert kept == sorted([digest(b"before"), digest(b"after")])
    assert begun > size


async def test_the_contents_are_for_the_person_alone(calls: Calls) -> None:
    await calls.write("notes.md", "mine")
    folder = calls.world.home / "data" / "changes" / "kept"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
    assert modes == {0o700, 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.spec("R-UND-1")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "TOKEN=abc"),
        ("deploy/id_ed25519", "x"),
        ("server.pem", "x"),
        ("Secrets.YAML", "x"),
        ("prod.env", "TOKEN=abc"),
        (".docker/config.json", "x"),
        ("harmless.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"),
        ("late.txt", "\n" * 70_000 + "-----BEGIN OPENSSH PRIVATE KEY-----\nabc"),
    ],
)
async def test_files_of_keys_are_changed_and_kept_nowhere(calls: Calls, name: str, text: str) -> None:
    await calls.write(name, text)
    await calls.write(name, text + "more")
    assert (calls.root / name).read_text() == text + "more"
    assert calls.kept() == []
    (*_, last) = await calls.store.changes.of_thread(thread_id="t")
    assert [file.not_kept for file in last.files] == ["a key"]


async def test_a_refused_write_leaves_no_record(calls: Calls) -> None:
    with pytest.raises(BoundaryViolation):
        await calls.recorder.write(
            calls.files, str(calls.world.outside / "x"), b"x", expected=None, context=calls.context()
        )
    (calls.root / "folder").mkdir()
    with pytest.raises(ToolFailure):
        await calls.write("folder", "x")
    (calls.root / "notes.md").write_text("one")
    with pytest.raises(BoundaryViolation, match="has changed"):
        await calls.recorder.write(
            calls.files, str(calls.root / "notes.md"), b"x", expected="1:2:3:4:5", context=calls.context()
        )
    assert await calls.store.changes.of_thread(thread_id="t") == []
    assert await calls.store.changes.begun() == []


@pytest.mark.spec("R-UND-1")
async def test_a_file_that_cannot_be_read_is_changed_and_said(calls: Calls) -> None:
    class Unreadable(type(calls.files)):  # type: ignore[misc]
        def open_read(self, path: str):
            raise ToolFailure("The system does not permit it.")

    (calls.root / "notes.md").write_text("before")
    calls.files = Unreadable(calls.world.policy)
    await calls.write("notes.md", "after")
    (kept,) = await calls.store.changes.of_thread(thread_id="t")
    assert [file.not_kept for file in kept.files] == ["unreadable"]


@pytest.mark.spec("R-UND-1")
async def test_folders_that_a_write_makes_belong_to_it(calls: Calls) -> None:
    await calls.write("a/b/new.txt", "x")
    (kept,) = await calls.store.changes.of_thread(thread_id="t")
    assert {os.path.relpath(f.change.path, calls.root): f.change.after.kind for f in kept.files} == {
        "a": "folder",
        "a/b": "folder",
        "a/b/new.txt": "file",
    }
    assert {f.change.after.mode for f in kept.files if f.change.after.kind == "folder"} == {
        stat.S_IMODE((calls.root / "a").stat().st_mode)
    }


@pytest.mark.spec("R-UND-1", "R-OUT-3")
async def test_a_command_s_changes_are_kept_and_made_together(calls: Calls) -> None:
    (calls.root / "old.txt").write_text("old")
    (calls.root / "old.txt").chmod(0o644)
    changes = [
        FileChange(str(calls.root / "old.txt"), file_state(b"old"), ABSENT),
        FileChange(str(calls.root / "new.txt"), ABSENT, file_state(b"new")),
    ]
    conflicts = await calls.recorder.commit(changes, KeptContents(b"new"), calls.context(tool="bash"), "python make.py")
    assert conflicts == ()
    (kept,) = await calls.store.changes.of_thread(thread_id="t")
    assert (kept.origin.summary, len(kept.files)) == ("python make.py", 2)
    assert calls.kept() == sorted([digest(b"old"), digest(b"new")])
    again = await calls.recorder.commit(changes, KeptContents(b"new"), calls.context(tool="bash"))
    assert len(again) == 2
    assert len(await calls.store.changes.of_thread(thread_id="t")) == 1


async def test_who_left_a_file_as_it_is_is_told_and_after_a_person_nobody(calls: Calls) -> None:
    path, other = str(calls.root / "a.txt"), str(calls.root / "b.txt")
    await calls.write("a.txt", "one", agent="writer")
    await calls.write("a.txt", "two", agent="checker")
    now = file_state(b"two")
    assert await calls.recorder.who_left({path: now, other: ABSENT}) == {path: ("checker", "write-file"), other: ()}
    by_hand = file_state(b"one")
    assert await calls.recorder.who_left({path: by_hand}) == {path: ()}, "a call left it so, and another changed it"


@pytest.mark.spec("R-UND-1")
async def test_what_is_too_long_or_too_much_is_changed_and_said(calls: Calls) -> None:
    big = b"\0" * (recording.FILE_CAP + 1)
    await calls.write("big.bin", big)
    calls.limits.most_bytes = 10_000
    await calls.write("more.bin", os.urandom(20_000))
    first, second = await calls.store.changes.of_thread(thread_id="t")
    assert [first.files[0].not_kept, second.files[0].not_kept] == ["too big", "no room"]
    assert (calls.root / "big.bin").stat().st_size == len(big)


@pytest.mark.spec("R-UND-1")
async def test_where_there_is_too_much_the_oldest_goes_and_the_newest_stays(calls: Calls) -> None:
    calls.limits.most_bytes = 100_000
    for number in range(8):
        await calls.write(f"{number}.bin", os.urandom(30_000))
    records = await calls.store.changes.of_thread(thread_id="t")
    assert [record.kept for record in records] == [False] * 5 + [True] * 3
    assert len(calls.kept()) == 3
    assert (await calls.store.changes.amount()).size <= 100_000


@pytest.mark.spec("R-ASK-1", "R-UND-1")
async def test_what_nobody_was_asked_about_pushes_out_nothing_of_the_last_days(calls: Calls) -> None:
    calls.limits.most_bytes = 100_000

    async def at_the_edge(name: str) -> None:
        context = replace(calls.context(), at_edge=True)
        path, data = str(calls.root / name), os.urandom(30_000)
        await calls.recorder.write(calls.files, path, data, expected=None, context=context)

    old, before = os.urandom(30_000), time.time() - recording.RECENT_S - 60
    stored = calls.store.kept_files.keep(digest(old), old)
    change = ChangedFile(FileChange(str(calls.root / "old.bin"), ABSENT, file_state(old)))
    record = KeptChange("old", before, (change,), ChangeOrigin("t"))
    await calls.store.changes.begin(record=record, contents={digest(old): stored})
    await calls.store.changes.done(change_id="old", files=())

    for number in range(3):
        await at_the_edge(f"{number}.bin")
    assert digest(old) not in calls.kept(), "what is older goes"
    kept = calls.kept()
    with pytest.raises(CannotBeUndone, match="last three days"):
        await at_the_edge("3.bin")
    assert not (calls.root / "3.bin").exists()
    assert [record.kept for record in await calls.store.changes.of_thread(thread_id="t")] == [False, *[True] * 3]
    assert calls.kept() == kept, "nothing is left of what was not made"


@pytest.mark.spec("R-UND-1")
async def test_after_its_days_nothing_is_kept_of_a_change(calls: Calls) -> None:
    await calls.write("notes.md", "x")
    calls.limits.keep_s = -1.0
    await calls.recorder.make_room()
    assert calls.kept() == []
    (record,) = await calls.store.changes.of_thread(thread_id="t")
    assert not record.kept
    with pytest.raises(StoreError, match="not kept any more"):
        content(calls, record.files[0].change.after.digest)


@pytest.mark.spec("R-UND-1")
async def test_with_a_thread_go_its_contents_and_no_other_s(calls: Calls) -> None:
    await calls.write("one.md", "shared")
    context = calls.context()
    other = type(context)(type(context.meta)("r2", context.meta.cancellation, "elsewhere"), "c9", ("w", "write-file"))
    path = str(calls.root / "two.md")
    await calls.recorder.write(calls.files, path, b"shared", expected=None, context=other)
    await calls.write("three.md", "alone")
    await calls.store.threads.delete(thread_id="t", at=5.0)
    await calls.store.threads.purge(thread_id="t")
    await calls.recorder.sweep()
    assert calls.kept() == [digest(b"shared")]


async def test_what_nobody_knows_of_goes_once_it_is_as_old_as_anything_kept(calls: Calls) -> None:
    await calls.write("notes.md", "known")
    for content, age_s in ((b"old", 31 * 86_400.0), (b"young", 86_400.0)):
        calls.store.kept_files.keep(digest(content), content)
        (path,) = (calls.world.home / "data" / "changes" / "kept" / digest(content)[:2]).glob(digest(content) + "*")
        os.utime(path, (time.time() - age_s,) * 2)
    await calls.recorder.tidy()
    assert calls.kept() == sorted([digest(b"known"), digest(b"young")])


async def test_a_call_that_nobody_waits_for_any_more_is_written_down(calls: Calls) -> None:
    begun, go_on, done = threading.Event(), threading.Event(), asyncio.Event()

    class Slow(type(calls.files)):  # type: ignore[misc]
        def write_atomic(self, path: str, data: bytes, *, expected: str | None = None):
            begun.set()
            go_on.wait(WAIT_S)
            return super().write_atomic(path, data, expected=expected)

    calls.files = Slow(calls.world.policy)
    task = asyncio.ensure_future(calls.write("notes.md", "x"))
    calls.recorder.on_done(lambda record: done.set())
    await asyncio.to_thread(begun.wait, WAIT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await asyncio.wait_for(done.wait(), WAIT_S)
    assert len(await calls.store.changes.of_thread(thread_id="t")) == 1


@pytest.mark.parametrize("made", [True, False])
async def test_of_a_change_that_was_interrupted_the_files_say_whether_it_was_made(calls: Calls, made: bool) -> None:
    (calls.root / "notes.md").write_text("old")
    await calls.write("notes.md", "new")
    (record,) = await calls.store.changes.of_thread(thread_id="t")
    await calls.store.changes.drop(change_id=record.change_id)
    await calls.store.changes.begin(record=record, contents={})
    if not made:
        (calls.root / "notes.md").write_text("old")
    (calls.root / ".assent-0123456789abcdef.tmp").write_text("half of it")
    (calls.root / ".assent-mine.tmp").write_text("mine")
    await calls.recorder.settle()
    assert sorted(os.listdir(calls.root)) == [".assent-mine.tmp", "notes.md"]
    assert len(await calls.store.changes.of_thread(thread_id="t")) == made
    assert await calls.store.changes.begun() == []


async def test_without_room_for_what_was_there_nothing_is_changed(calls: Calls) -> None:
    (calls.world.home / "data" / "changes").mkdir(exist_ok=True)
    (calls.world.home / "data" / "changes" / "kept").write_text("a file where the folder should be")
    (calls.root / "notes.md").write_text("before")
    with pytest.raises(KnownError, match="could not be kept first"):
        await calls.write("notes.md", "after")
    assert (calls.root / "notes.md").read_text() == "before"
    assert Path(calls.root / "notes.md").exists()


@pytest.mark.soak
@pytest.mark.spec("R-UND-1", "R-UND-2")
async def test_of_more_files_than_are_kept_all_are_made_and_none_is_undone(calls: Calls) -> None:
    state = FileState("file", 0o644, 3, digest(b"new"))
    paths = [str(calls.root / f"{number:05}") for number in range(MOST_KEPT + 1)]
    changes = [FileChange(path, ABSENT, state) for path in paths]
    assert await calls.recorder.commit(changes, KeptContents(b"new"), calls.context(tool="bash")) == ()
    assert len(os.listdir(calls.root)) == len(paths)
    (kept,) = await calls.store.changes.of_thread(thread_id="t")
    assert {file.not_kept for file in kept.files} == {"too many"}
    preview = await calls.undo(kept.change_id)
    assert not preview.does_something
    assert preview.conflicts == len(kept.files)
    assert len(os.listdir(calls.root)) == len(paths), "not even a part"
    with pytest.raises(CannotBeUndone, match="more files than are kept"):
        await calls.recorder.make(changes, KeptContents(b"new"), ChangeOrigin("t"), (), whole=True)
