"""The changes of a thread as rows and words."""

from dataclasses import replace

import pytest
from shots import changes as shots

from desktop.domain.files.changes import ABSENT, ChangedFile, FileChange, FileState
from desktop.domain.files.undo import LaterChange, ThreadChanges, UndoConflict, UndoneFile, UndoPreview
from desktop.presenter.changes import words
from desktop.presenter.changes.rows import call_rows, file_rows

SAMPLE = shots.sample("some", object()).changes
assert SAMPLE is not None


def with_records(*records, undone=()) -> ThreadChanges:
    return ThreadChanges(tuple(records), dict(undone), shots._paths(tuple(records)), 0, 500_000_000, 30.0)


@pytest.mark.spec("R-UND-3")
def test_each_file_has_a_row_against_the_beginning_and_what_one_call_made_in_a_folder_is_one() -> None:
    rows = file_rows(SAMPLE, shots.TITLES)
    assert [(row.name + row.more, row.word, row.who) for row in rows] == [
        ("out/gauge-07/, 31 files", "made", "march-cleanup › bash"),
        ("out/old-a.tmp", "deleted", "march-cleanup › bash"),
        ("out/old-b.tmp", "deleted", "march-cleanup › bash"),
        ("docs/sources.md", "changed since", "fact-checker › edit-file, later by hand or another program"),
        ("docs/tides.md", "undone, as at the beginning", "fact-checker › edit-file"),
        ("docs/stations.md", "changed", "fact-checker › bash"),
        ("docs/gauges/gauge-07.md", "changed", "Workbench › edit-file"),
        ("logs/maintenance.md", "changed", "Workbench › edit-file"),
    ]


@pytest.mark.spec("R-UND-3")
def test_calls_undos_and_what_was_done_by_hand_stand_in_their_order() -> None:
    rows = call_rows(SAMPLE, shots.TITLES)
    assert [(row.time, row.who, row.what, row.note, row.can_undo) for row in rows] == [
        ("13:52", "march-cleanup › bash", "33 files in out/", "", True),
        ("13:58", "fact-checker › edit-file", "docs/sources.md", "", True),
        ("14:01", "fact-checker › edit-file", "docs/tides.md", "undone at 14:09", False),
        ("14:03", "fact-checker › bash", "docs/stations.md", "", True),
        ("14:05", "Workbench › edit-file", "docs/gauges/gauge-07.md", "", True),
        ("14:05", "Workbench › edit-file", "logs/maintenance.md", "", True),
        ("14:07", "By hand or another program", "docs/sources.md", "not Assent’s to undo", False),
        ("14:09", "Undo of fact-checker › edit-file", "docs/tides.md", "", True),
    ]


def test_what_cannot_be_undone_any_more_says_why() -> None:
    first = SAMPLE.records[1]
    old = replace(first, kept=False)
    big = replace(first, files=tuple(replace(file, not_kept="too big") for file in first.files))
    key = replace(first, files=tuple(replace(file, not_kept="a key") for file in first.files))
    notes = [call_rows(with_records(one), {})[0].note for one in (old, big, key)]
    assert notes == ["too old to undo", "too big to undo", "a file of keys, not kept"]


def test_a_folder_that_came_with_its_files_has_no_row_of_its_own() -> None:
    folder = ChangedFile(FileChange(f"{shots.PROJECT}/new", ABSENT, FileState("folder", 0o755)))
    file = ChangedFile(FileChange(f"{shots.PROJECT}/new/a.md", ABSENT, shots._file("a")), 3, 0)
    record = replace(SAMPLE.records[1], files=(folder, file))
    assert [row.name for row in file_rows(with_records(record), {})] == ["new/a.md"]
    alone = replace(SAMPLE.records[1], files=(folder,))
    assert [row.name for row in file_rows(with_records(alone), {})] == ["new"]


def test_a_change_of_rights_alone_is_called_that() -> None:
    before, after = FileState("file", 0o644, 1, "x"), FileState("file", 0o755, 1, "x")
    record = replace(SAMPLE.records[1], files=(ChangedFile(FileChange(f"{shots.PROJECT}/run.sh", before, after)),))
    assert [row.word for row in file_rows(with_records(record), {})] == ["rights changed"]


LATER = LaterChange("c9", ("fact-checker", "edit-file"), shots._at("14:07"))
HAND = LaterChange("", (), shots._at("14:08"))


@pytest.mark.parametrize(
    ("conflict", "said"),
    [
        (UndoConflict(44, 44, (HAND,)), "line 44 was changed again at 14:08, by hand or another program"),
        (UndoConflict(4, 6, (LATER,)), "lines 4 to 6 were changed again at 14:07, by fact-checker › edit-file"),
        (UndoConflict(4, 3, (LATER,)), "the lines at line 4 were removed at 14:07, by fact-checker › edit-file"),
        (UndoConflict(0, 0, (HAND,)), "the file was changed again at 14:08, by hand or another program"),
        (UndoConflict(0, 0, (), "It holds mine.md, which stays."), "it holds mine.md, which stays"),
        (
            UndoConflict(0, 0, (LATER, HAND)),
            "the file was changed again at 14:07, by fact-checker › edit-file and at 14:08, by hand or another program",
        ),
    ],
)
@pytest.mark.spec("R-UND-2")
def test_a_conflict_is_named_with_who_and_when(conflict: UndoConflict, said: str) -> None:
    assert words.conflict_words(conflict, {}) == said


def test_what_an_undo_leaves_is_said_in_a_sentence_or_two() -> None:
    preview = shots.preview()
    assert words.preview_words(preview, {}) == (
        "One conflict: line 44 was changed again at 14:07, by hand or another program. "
        "Undo leaves that as it is now and takes the rest back."
    )
    nothing = UndoPreview(("c",), (replace(preview.files[0], then=preview.files[0].now),))
    assert words.preview_words(nothing, {}).endswith("Undo leaves that as it is now, so there is nothing to take back.")
    done = UndoPreview(("c",), (replace(nothing.files[0], conflicts=()),))
    assert words.preview_words(done, {}) == "Everything is as it was before already."


def _undone(path: str, now: FileState, then: FileState, text: str | None = "") -> UndoneFile:
    return UndoneFile(f"/p/{path}", now, then, text, text, 0, 0, ())


FOLDER, TEXT = FileState("folder", 0o755), FileState("file", 0o644, 1, "a")


def test_an_undo_counts_a_folder_only_where_nothing_in_it_tells_of_it() -> None:
    rows = (
        _undone("a", FOLDER, ABSENT),
        _undone("a/b", FOLDER, ABSENT),
        _undone("a/b/c", TEXT, ABSENT),
        _undone("empty", FOLDER, ABSENT),
        _undone("closed", FOLDER, replace(FOLDER, mode=0o700)),
        _undone("closed/c", TEXT, ABSENT),
        _undone("was-file", FOLDER, TEXT),
        _undone("was-file/c", TEXT, ABSENT),
        _undone("stays", FOLDER, FOLDER),
        _undone("alone", ABSENT, FOLDER),
        _undone("alone/stays", TEXT, TEXT),
    )
    preview = UndoPreview(("c",), rows)
    counted = ["a/b/c", "empty", "closed", "closed/c", "was-file", "was-file/c", "alone"]
    assert [one.path.removeprefix("/p/") for one in preview.changed] == counted
    assert words.undone_words(preview, "/p") == "Undone: 7 files"
    assert words.undone_words(UndoPreview(("c",), rows[:3]), "/p") == "Undone: a/b/c"


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        (TEXT, replace(TEXT, mode=0o755), "rights rw-r--r-- → rwxr-xr-x"),
        (replace(TEXT, mode=0o4755), TEXT, "rights rwsr-xr-x → rw-r--r--"),
        (FOLDER, replace(FOLDER, mode=0o700), "folder rights rwxr-xr-x → rwx------"),
        (TEXT, FileState("file", 0o755, 1, "b"), "goes back, rights rw-r--r-- → rwxr-xr-x"),
        (TEXT, FileState("file", 0o644, 1, "b"), "goes back"),
        (FileState("link", target="x"), TEXT, "goes back"),
        (ABSENT, FOLDER, "folder comes back"),
        (FileState("link", target="x"), ABSENT, "link is removed"),
    ],
)
def test_what_an_undo_does_to_a_file_is_said_with_its_rights(now: FileState, then: FileState, said: str) -> None:
    assert words.what_words(_undone("f", now, then)) == said


def test_a_long_chain_keeps_its_ends() -> None:
    assert words.who(("workbench", "skill", "inner", "write-file"), {"workbench": "Workbench"}) == (
        "Workbench › … › write-file"
    )


def test_paths_are_shown_from_the_project_on() -> None:
    assert words.path_in("/w/p/a/b.md", "/w/p") == "a/b.md"
    assert words.path_in("/w/pq/a", "/w/p") == "/w/pq/a"
