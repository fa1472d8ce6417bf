"""Undoing on a later day: shown first, nothing that no call touched, every conflict named, and undone again."""

import os
import shutil
from pathlib import Path

import pytest

from desktop.domain.errors import BoundaryViolation, NotFound, StoreError, ToolFailure
from desktop.domain.files.changes import ABSENT, FileChange
from desktop.domain.files.undo import UndoPreview, of_agent, of_run, since, standing
from tests.unit.safety.changes.kit import KeptContents, file_state, tree_of
from tests.unit.services.changes.kit import Calls

TEXT = "".join(f"line {number}\n" for number in range(1, 11))


def told(preview: UndoPreview) -> list[tuple[str, int, int, list[str]]]:
    """Each conflict: file, lines, and who it is said to be by."""
    return [
        (os.path.basename(file.path), one.first, one.last, [later.chain[0] if later.by else "" for later in one.later])
        for file in preview.files
        for one in file.conflicts
    ]


def why(preview: UndoPreview) -> list[str]:
    return [one.why for file in preview.files for one in file.conflicts]


@pytest.mark.spec("R-UND-2")
async def test_an_undo_is_shown_before_it_is_done_and_can_be_undone(calls: Calls) -> None:
    (calls.root / "notes.md").write_text("one\n")
    change = await calls.write("notes.md", "one\ntwo\n")
    plan = await calls.service.plan([change])
    (file,) = plan.preview.files
    assert (file.now_text, file.then_text, file.added, file.removed) == ("one\ntwo\n", "one\n", 0, 1)
    assert calls.read("notes.md") == "one\ntwo\n"

    assert (await calls.service.undo(plan))[0] == ()
    assert calls.read("notes.md") == "one\n"
    records = await calls.service.of_thread("t")
    assert (records[-1].undoes, records[-1].origin.chain) == ((change,), ("you", "undo"))
    assert standing(records) == {records[-1].change_id}

    await calls.undo(records[-1].change_id)
    assert calls.read("notes.md") == "one\ntwo\n"
    assert change in standing(await calls.service.of_thread("t"))


@pytest.mark.spec("R-UND-2")
async def test_lines_that_somebody_changed_since_stay_and_are_named_and_the_others_are_taken_back(calls: Calls) -> None:
    (calls.root / "notes.md").write_text(TEXT)
    first = await calls.write("notes.md", TEXT.replace("line 2\n", "LINE 2\n").replace("line 5\n", "LINE 5\n"), "one")
    second = await calls.write("notes.md", calls.read("notes.md").replace("LINE 5", "Line five"), "two")
    (calls.root / "notes.md").write_text("by hand\n" + calls.read("notes.md").replace("line 9", "by hand, too"))

    preview = await calls.undo(first)
    assert told(preview) == [("notes.md", 6, 6, ["two"])]
    assert preview.standing_on == (second,)
    expected = TEXT.replace("line 5\n", "Line five\n").replace("line 9", "by hand, too")
    assert calls.read("notes.md") == "by hand\n" + expected


@pytest.mark.spec("R-UND-2")
async def test_lines_that_the_person_changed_are_named_with_when(calls: Calls) -> None:
    (calls.root / "notes.md").write_text(TEXT)
    change = await calls.write("notes.md", TEXT.replace("line 4\n", "LINE 4\n"))
    (calls.root / "notes.md").write_text(calls.read("notes.md").replace("LINE 4", "mine"))
    os.utime(calls.root / "notes.md", (1_700_000_000, 1_700_000_000))
    preview = await calls.undo(change)
    ((conflict,),) = [file.conflicts for file in preview.files]
    assert (conflict.first, conflict.last) == (4, 4)
    assert [(later.by, later.at) for later in conflict.later] == [("", 1_700_000_000)]
    assert not preview.does_something
    assert "mine\n" in calls.read("notes.md")


@pytest.mark.spec("R-UND-2")
async def test_undone_with_the_later_ones_that_stand_on_it_nothing_is_left(calls: Calls) -> None:
    (calls.root / "notes.md").write_text(TEXT)
    first = await calls.write("notes.md", TEXT.replace("line 5", "first"))
    second = await calls.write("notes.md", TEXT.replace("line 5", "second"), "two")
    plan = await calls.service.plan([first])
    assert plan.preview.standing_on == (second,)
    preview = await calls.undo(first, *plan.preview.standing_on)
    assert (preview.conflicts, calls.read("notes.md")) == (0, TEXT)


@pytest.mark.spec("R-UND-2")
async def test_one_agent_with_all_below_it_one_run_and_a_thread_since_a_moment(calls: Calls) -> None:
    await calls.write("a.md", "top")
    await calls.write("b.md", "called", "checker", run="r2")
    below = calls.context("helper", "r2")
    meta = type(below.meta)("r2", below.meta.cancellation, "helper", above=("t", "checker"))
    context = type(below)(meta, below.call_id, below.chain)
    await calls.recorder.write(calls.files, str(calls.root / "c.md"), b"below", expected=None, context=context)
    await calls.write("d.md", "later", run="r2")
    records = await calls.service.of_thread("t")
    ids = [record.change_id for record in records]
    assert of_agent(records, "checker") == ids[1:3]
    assert of_run(records, "r2") == ids[1:]
    assert since(records, records[2].number) == ids[2:]
    await calls.undo(*of_agent(records, "checker"))
    assert sorted(os.listdir(calls.root)) == ["a.md", "d.md"]
    again = await calls.service.of_thread("t")
    assert of_run(again, "r2") == ids[3:]


@pytest.mark.spec("R-UND-2")
async def test_what_no_call_touched_is_never_touched(calls: Calls) -> None:
    await calls.write("made/by/call.md", "x")
    (calls.root / "made" / "mine.md").write_text("mine")
    (record,) = await calls.service.of_thread("t")
    preview = await calls.undo(record.change_id)
    assert why(preview) == ["It holds mine.md, which stays."]
    assert [str(p.relative_to(calls.root)) for p in sorted(calls.root.rglob("*"))] == ["made", "made/mine.md"]


@pytest.mark.spec("R-UND-2")
async def test_a_command_that_renamed_and_deleted_is_undone_to_the_byte(calls: Calls) -> None:
    root = calls.root
    (root / "old").mkdir(mode=0o755)
    (root / "old" / "a.bin").write_bytes(b"\0\xff\r\n")
    (root / "old" / "a.bin").chmod(0o755)
    (root / "gone.txt").write_text("gone")
    (root / "gone.txt").chmod(0o600)
    (root / "link").symlink_to("gone.txt")
    before = tree_of(root)
    folder, binary = before["old"], before["old/a.bin"]
    changes = [
        FileChange(str(root / "old"), folder, ABSENT),
        FileChange(str(root / "old/a.bin"), binary, ABSENT),
        FileChange(str(root / "new"), ABSENT, folder, str(root / "old")),
        FileChange(str(root / "new/a.bin"), ABSENT, binary, str(root / "old/a.bin")),
        FileChange(str(root / "gone.txt"), before["gone.txt"], ABSENT),
        FileChange(str(root / "link"), before["link"], ABSENT),
    ]
    assert await calls.recorder.commit(changes, KeptContents(b"\0\xff\r\n"), calls.context(tool="bash")) == ()
    assert sorted(os.listdir(root)) == ["new"]
    preview = await calls.undo(await calls.last())
    assert preview.conflicts == 0
    assert tree_of(root) == before


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        (lambda path: (path.unlink(), path.mkdir()), ""),
        (lambda path: (path.unlink(), path.symlink_to("/etc/hostname")), ""),
        (lambda path: (path.unlink(), os.mkfifo(path)), "There is something else at its place now, such as a pipe."),
        (lambda path: path.unlink(), ""),
        (lambda path: path.write_bytes(b"\0binary"), ""),
    ],
    ids=["folder", "link", "pipe", "deleted", "binary"],
)
@pytest.mark.spec("R-UND-2")
async def test_a_file_that_became_something_else_stays_that(calls: Calls, meanwhile, said: str) -> None:
    (calls.root / "notes.md").write_text("one")
    change = await calls.write("notes.md", "two")
    meanwhile(calls.root / "notes.md")
    plan = await calls.service.plan([change])
    assert not plan.preview.does_something
    assert why(plan.preview) == [said]
    if not said:
        assert told(plan.preview) == [("notes.md", 0, 0, [""])]


async def test_what_was_set_back_by_hand_already_is_no_conflict(calls: Calls) -> None:
    (calls.root / "picture.bin").write_bytes(b"\0before")
    change = await calls.write("picture.bin", b"\0after")
    (calls.root / "picture.bin").write_bytes(b"\0before")
    made = await calls.write("made.md", "made")
    (calls.root / "made.md").unlink()
    for one in (change, made):
        plan = await calls.service.plan([one])
        assert (plan.preview.conflicts, plan.preview.does_something) == (0, False)


async def test_what_changes_while_the_preview_is_open_stops_the_undo(calls: Calls) -> None:
    (calls.root / "notes.md").write_text("one")
    change = await calls.write("notes.md", "two")
    plan = await calls.service.plan([change])
    (calls.root / "notes.md").write_text("mine")
    conflicts, _ = await calls.service.undo(plan)
    assert [os.path.basename(conflict.path) for conflict in conflicts] == ["notes.md"]
    assert calls.read("notes.md") == "mine"


async def test_what_is_let_go_while_the_preview_is_open_changes_nothing(calls: Calls) -> None:
    (calls.root / "notes.md").write_text("one")
    (calls.root / "other.md").write_text("one, too")
    change = await calls.write("notes.md", "two")
    plan = await calls.service.plan([change])
    await calls.service.clear()
    assert calls.kept() == []
    with pytest.raises(StoreError, match="not kept any more"):
        await calls.service.undo(plan)
    assert calls.read("notes.md") == "two"
    later = await calls.service.plan([change])
    assert why(later.preview) == ["It is too old: what it was before is not kept any more."]


@pytest.mark.parametrize("how", ["missing", "tampered", "torn"])
async def test_a_content_that_is_missing_or_tampered_with_is_not_used(calls: Calls, how: str) -> None:
    (calls.root / "notes.md").write_text("one\n" * 100)
    change = await calls.write("notes.md", "two")
    plan = await calls.service.plan([change])
    (record,) = await calls.service.of_thread("t")
    digest = record.files[0].change.before.digest
    (path,) = (calls.world.home / "data" / "changes" / "kept" / digest[:2]).iterdir()
    if how == "missing":
        path.unlink()
    elif how == "tampered":
        shutil.copy(Path("/etc/hostname"), path.with_suffix(""))
    else:
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises((StoreError, ToolFailure)):
        await calls.service.undo(plan)
    assert calls.read("notes.md") == "two"
    again = await calls.service.plan([change])
    assert why(again.preview) == ["What it was before is not kept any more, or is damaged."]


async def test_an_undo_stays_inside_the_boundary_of_today(calls: Calls) -> None:
    (calls.root / "sub").mkdir()
    (calls.root / "sub" / "notes.md").write_text("one")
    change = await calls.write("sub/notes.md", "two")
    calls.world.change(denied=(str(calls.root / "sub"),))
    plan = await calls.service.plan([change])
    assert not plan.preview.does_something
    assert "denied path" in why(plan.preview)[0]
    calls.world.change(denied=())
    plan = await calls.service.plan([change])
    calls.world.change(denied=(str(calls.root / "sub"),))
    with pytest.raises(BoundaryViolation):
        await calls.service.undo(plan)
    assert (calls.root / "sub" / "notes.md").read_text() == "two"


async def test_a_file_whose_folder_is_gone_is_named(calls: Calls) -> None:
    (calls.root / "sub").mkdir()
    path = calls.root / "sub" / "notes.md"
    path.write_text("one")
    path.chmod(0o644)
    await calls.recorder.commit([FileChange(str(path), file_state(b"one"), ABSENT)], KeptContents(), calls.context())
    (calls.root / "sub").rmdir()
    plan = await calls.service.plan([await calls.last()])
    assert why(plan.preview) == [f"Its folder {calls.root / 'sub'} is not there any more."]


async def test_what_is_not_there_any_more_cannot_be_planned(calls: Calls) -> None:
    with pytest.raises(NotFound):
        await calls.service.plan(["nothing"])
    with pytest.raises(NotFound):
        await calls.service.plan([])


async def test_changes_of_other_threads_are_named_too(calls: Calls) -> None:
    (calls.root / "notes.md").write_text(TEXT)
    change = await calls.write("notes.md", TEXT.replace("line 5", "first"))
    context = calls.context()
    meta = type(context.meta)("r9", context.meta.cancellation, "elsewhere")
    other = type(context)(meta, "c99", ("another chat", "edit-file"))
    data = TEXT.replace("line 5", "second").encode()
    await calls.recorder.write(calls.files, str(calls.root / "notes.md"), data, expected=None, context=other)
    plan = await calls.service.plan([change])
    assert told(plan.preview) == [("notes.md", 5, 5, ["another chat"])]


async def test_rights_go_back_and_a_long_content_that_went_on_stays(calls: Calls) -> None:
    path = calls.root / "long.txt"
    path.write_bytes(b"line\n" * 1_000_000)
    path.chmod(0o644)
    state = file_state(path.read_bytes())
    change = [FileChange(str(path), state, file_state(path.read_bytes(), 0o755))]
    await calls.recorder.commit(change, KeptContents(), calls.context(tool="bash"))
    with path.open("ab") as file:
        file.write(b"mine\n")
    await calls.undo(await calls.last())
    assert (path.stat().st_size, path.stat().st_mode & 0o777) == (5_000_005, 0o644)


async def test_rights_go_back_with_the_content(calls: Calls) -> None:
    path = calls.root / "run.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o644)
    change = [FileChange(str(path), file_state(b"#!/bin/sh\n"), file_state(b"#!/bin/sh\n", 0o755))]
    await calls.recorder.commit(change, KeptContents(), calls.context(tool="bash"))
    path.write_text("#!/bin/sh\necho\n")
    await calls.undo(await calls.last())
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("#!/bin/sh\necho\n", 0o644)
