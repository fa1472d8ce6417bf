"""edit-file over real files: all edits or none, bound to the version that was read."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.tools import PreCheck
from desktop.tools.builtin.edit_file import EDIT_FILE, MAX_EDITS
from desktop.tools.builtin.files import MAX_EDITED
from tests.unit.tools.conftest import Bench, context

CODE = "import os\n\n\ndef load(path):\n    rows = read(path)\n    return rows\n\n\ndef store(rows):\n    return rows\n"


def edits(*pairs: tuple[str, str] | tuple[str, str, bool]) -> list[dict[str, Any]]:
    return [{"old": pair[0], "new": pair[1], **({"all": pair[2]} if len(pair) > 2 else {})} for pair in pairs]


def made(bench: Bench, text: str | bytes = CODE, name: str = "code.py") -> Path:
    path = bench.world.workspace / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    bench.versions.saw("", str(path), read=True)
    return path


async def checked(bench: Bench, path: str, changes: list[dict[str, Any]], thread_id: str = "") -> PreCheck:
    return await bench.edit.precheck({"path": path, "edits": changes}, WorkPlace(thread_id=thread_id))


@pytest.mark.spec("R-EDT-1", "R-BLT-1")
async def test_several_edits_are_made_at_once_and_the_answer_is_short(bench: Bench) -> None:
    path = made(bench)
    result = await bench.run(
        bench.edit,
        path="code.py",
        edits=edits(("read(path)", "read(path, 1)\n    rows.sort()"), ("import os", "import re")),
    )
    assert path.read_text() == CODE.replace("read(path)", "read(path, 1)\n    rows.sort()").replace("os", "re", 1)
    assert result.text == f"Made 2 edits in {path}; now at lines 1, 5-6."
    assert (EDIT_FILE.category, EDIT_FILE.provider_name) == (Category.WRITE, "edit_file")


@pytest.mark.spec("R-EDT-1")
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            edits(("nowhere", "x")),
            "Edit 1: old is not in the file. Nothing in the file is like it: read the file again.",
        ),
        (edits(("return rows", "x")), "Edit 1: old is in the file 2 times, at lines 6, 10."),
        (edits(("\trows = read(path)", "x")), "line 5 differs in its indentation (the file has 4 spaces, old 1 tab)"),
        (edits(("5: rows = read(path)", "x")), "without the line numbers: they are no part of the file's text"),
        (edits(("Import OS", "x")), "line 1 differs in upper and lower case"),
        (edits(("", "x")), "Edit 1: old is empty."),
        (edits(("import os", "import os")), "old and new are the same text"),
        (edits(("import os\r\n", "import os\n")), "old and new are the same text"),
        (edits(("def load(path):\n    rows", "x"), ("rows = read", "y")), "Edits 1 and 2 overlap at line 5"),
        (edits(("import os", "import re"), ("import re", "import json")), "but in the new text of edit 1"),
        (edits(("import os", "\ud800")), "half of a surrogate pair"),
    ],
)
async def test_edits_that_cannot_be_made_leave_the_file_and_say_how_to_mend_them(
    bench: Bench, changes: list[dict[str, Any]], says: str
) -> None:
    path = made(bench)
    good = edits(("def store(rows):", "def keep(rows):"))
    check = await checked(bench, "code.py", [*changes, *good])
    assert isinstance(check.denied, ToolFailure)
    assert says in str(check.denied)
    with pytest.raises(ToolFailure):
        await bench.edit.execute({"path": "code.py", "edits": [*changes, *good]}, context())
    assert path.read_text() == CODE


async def test_the_nearest_place_is_quoted_as_it_is_in_the_file(bench: Bench) -> None:
    made(bench, "a\nb = “quoted” and more\nc\n", "q.txt")
    check = await checked(bench, "q.txt", edits(('b = "quoted" and more', "x")))
    assert "letters that look alike (the file has “ U+201C LEFT DOUBLE QUOTATION MARK" in str(check.denied)
    assert "There it reads:\nb = “quoted” and more" in str(check.denied)


async def test_every_problem_of_a_call_is_told_at_once(bench: Bench) -> None:
    made(bench)
    check = await checked(bench, "code.py", edits(("nowhere", "x"), ("return rows", "x"), ("", "y")))
    assert [line[:7] for line in str(check.denied).splitlines() if line.startswith("Edit ")] == [
        "Edit 1:",
        "Edit 2:",
        "Edit 3:",
    ]


@pytest.mark.spec("R-EDT-1")
async def test_all_changes_every_place(bench: Bench) -> None:
    path = made(bench)
    result = await bench.run(bench.edit, path="code.py", edits=edits(("rows", "lines", True)))
    assert path.read_text() == CODE.replace("rows", "lines")
    assert result.text.startswith(f"Made 1 edit at 4 places in {path}")


async def test_a_text_that_overlaps_itself_is_not_taken_for_unique(bench: Bench) -> None:
    path = made(bench, "aaa\n", "a.txt")
    assert "2 times" in str((await checked(bench, "a.txt", edits(("aa", "b")))).denied)
    await bench.run(bench.edit, path="a.txt", edits=edits(("aa", "b", True)))
    assert path.read_text() == "ba\n"


@pytest.mark.spec("R-EDT-1")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\nzwei\r\nzwo\r\nthree\r\n"),
        (b"one\ntwo\r\nthree\n", b"one\nzwei\r\nzwo\r\nthree\n"),
        (b"\xef\xbb\xbfone\ntwo\nthree", b"\xef\xbb\xbfone\nzwei\nzwo\nthree"),
        ("\ufeffone\r\ntwo\r\nthree".encode("utf-16-le"), "\ufeffone\r\nzwei\r\nzwo\r\nthree".encode("utf-16-le")),
        ("\ufeffone\ntwo\nthree 😀".encode("utf-16-be"), "\ufeffone\nzwei\nzwo\nthree 😀".encode("utf-16-be")),
        (b"one\rtwo\rthree", b"one\rzwei\nzwo\rthree"),
    ],
    ids=["CRLF", "mixed", "UTF-8 with a mark", "UTF-16 little", "UTF-16 big", "lone CR"],
)
async def test_line_ends_encoding_mark_and_mode_stay(bench: Bench, before: bytes, after: bytes) -> None:
    path = made(bench, before, "t.txt")
    path.chmod(0o750)
    await bench.run(bench.edit, path="t.txt", edits=edits(("two", "zwei\nzwo")))
    assert path.read_bytes() == after
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


async def test_a_model_may_write_the_line_ends_as_it_likes(bench: Bench) -> None:
    path = made(bench, b"one\r\ntwo\r\n", "t.txt")
    await bench.run(bench.edit, path="t.txt", edits=edits(("one\ntwo", "1\r\n2\n3")))
    assert path.read_bytes() == b"1\r\n2\r\n3\r\n"


@pytest.mark.spec("R-EDT-1")
async def test_a_file_that_changed_since_it_was_read_is_refused_once_with_what_changed(bench: Bench) -> None:
    path = made(bench)
    await bench.run(bench.read, path="code.py", limit=2, thread_id="t1")
    path.write_text(CODE.replace("read(path)", "load_rows(path)"))
    change = edits(("import os", "import re"))
    refused = (await checked(bench, "code.py", change, "t1")).denied
    assert isinstance(refused, ToolFailure)
    assert "has changed since you read it" in str(refused)
    assert "@ line 5\n-    rows = read(path)\n+    rows = load_rows(path)" in str(refused)
    assert (await checked(bench, "code.py", change, "t1")).denied is None  # it has been told


async def test_what_one_thread_read_binds_no_other(bench: Bench) -> None:
    path = made(bench)
    await bench.run(bench.read, path="code.py", thread_id="t1")
    bench.versions.saw("t2", str(path), read=True)  # as by find-text
    path.write_text(CODE + "\n")
    assert (await checked(bench, "code.py", edits(("import os", "x")), "t2")).denied is None


async def test_a_touched_file_is_the_same_version_and_an_own_edit_is_a_known_one(bench: Bench) -> None:
    path = made(bench)
    await bench.run(bench.read, path="code.py", thread_id="t1")
    os.utime(path, (1, 1))
    await bench.run(bench.edit, path="code.py", edits=edits(("import os", "import re")), thread_id="t1")
    await bench.run(bench.edit, path="code.py", edits=edits(("import re", "import json")), thread_id="t1")
    await bench.run(bench.write, path="code.py", content="new\n", thread_id="t1")
    await bench.run(bench.edit, path="code.py", edits=edits(("new", "newer")), thread_id="t1")
    assert path.read_text() == "newer\n"


@pytest.mark.spec("R-EDT-1", "R-PRM-2")
async def test_the_request_shows_each_edit_and_the_version_it_is_for(bench: Bench) -> None:
    made(bench)
    await bench.run(bench.read, path="code.py", thread_id="t1")
    check = await checked(bench, "code.py", edits(("rows = read(path)", "rows = read(path)\n    sort(rows)")), "t1")
    shown = check.preview
    assert (shown["kind"], shown["before"], shown["new"]) == ("diff", CODE, False)
    assert shown["after"] == CODE.replace("read(path)", "read(path)\n    sort(rows)")
    assert shown["bound"]["lines"] == 10
    assert shown["bound"]["read_at"] > 0
    assert (shown["bound"]["ends"], shown["bound"]["encoding"], shown["bound"]["changed"]) == ("LF", "UTF-8", "")
    one = shown["edits"][0]
    assert (one["number"], one["first"], one["last"], one["line"], one["new_line"]) == (1, 5, 5, 3, 3)
    assert one["before"] == "\ndef load(path):\n    rows = read(path)\n    return rows\n\n"
    assert one["after"] == "\ndef load(path):\n    rows = read(path)\n    sort(rows)\n    return rows\n\n"


async def test_of_a_large_file_the_request_shows_the_part_that_changes(bench: Bench) -> None:
    text = "".join(f"line {number}\n" for number in range(60_000))
    made(bench, text, "big.txt")
    shown = (await checked(bench, "big.txt", edits(("line 40000\n", "LINE\n")))).preview
    assert (shown["first_line"], shown["notes"]) == (39998, [])
    assert shown["before"] == "".join(f"line {number}\n" for number in range(39_997, 40_004))
    assert shown["after"] == shown["before"].replace("line 40000", "LINE")


@pytest.mark.spec("R-EDT-1", "R-PRM-5")
async def test_a_change_while_a_person_is_asked_asks_again_and_says_what_changed(bench: Bench) -> None:
    path = made(bench)
    await bench.run(bench.read, path="code.py", thread_id="t1")
    change = edits(("import os", "import re"))
    first = await checked(bench, "code.py", change, "t1")
    path.write_text(CODE.replace("def store", "def keep"))
    again = await checked(bench, "code.py", change, "t1")
    assert again.denied is None
    assert again.identity != first.identity
    assert again.preview["bound"]["changed"] == "@ line 9\n-def store(rows):\n+def keep(rows):"
    with pytest.raises(BoundaryViolation):  # the first answer is void
        await bench.edit.execute({"path": "code.py", "edits": change}, context(identity=first.identity, thread_id="t1"))
    done = await bench.edit.execute(
        {"path": "code.py", "edits": change}, context(identity=again.identity, thread_id="t1")
    )
    assert "The file had changed meanwhile:\n@ line 9" in done.text
    assert path.read_text() == CODE.replace("def store", "def keep").replace("os", "re", 1)


async def test_a_file_written_by_another_process_is_never_half_edited(bench: Bench) -> None:
    """Another writer at work the whole time: each call either fails or changes exactly what is there."""
    path = made(bench, "x = 0\nend\n", "busy.txt")
    over = asyncio.Event()

    async def write_on() -> None:
        number = 0
        while not over.is_set():
            number += 1
            beside = path.with_suffix(".new")
            await asyncio.to_thread(beside.write_text, f"x = {number}\n" + "y\n" * (number % 7) + "end\n")
            await asyncio.to_thread(os.replace, beside, path)

    writer = asyncio.create_task(write_on())
    outcomes = {"made": 0, "refused": 0}
    try:
        for _ in range(60):
            try:
                await bench.run(bench.edit, path="busy.txt", edits=edits(("end", "END")))
                outcomes["made"] += 1
            except (ToolFailure, BoundaryViolation):
                outcomes["refused"] += 1
            text = path.read_text().splitlines()
            assert text[0].startswith("x = ")
            assert set(text[1:-1]) <= {"y"}
            assert text[-1] in ("end", "END")
    finally:
        over.set()
        await writer
    assert sum(outcomes.values()) == 60


@pytest.mark.parametrize(
    "what", ["outside", "link", "denied", "own", "folder", "absent", "pipe", "binary", "utf32", "huge"]
)
async def test_what_cannot_be_edited_is_refused_with_a_reason(bench: Bench, what: str) -> None:
    world = bench.world
    (world.workspace / "link").symlink_to(world.outside / "secret.txt")
    os.mkfifo(world.workspace / "pipe")
    made(bench, b"\x00\x01OUTSIDE", "data.bin")
    made(bench, "\ufeffOUTSIDE".encode("utf-32-le"), "wide.txt")
    made(bench, b"OUTSIDE\n" * (MAX_EDITED // 8 + 1), "huge.txt")
    path, says = {
        "outside": (str(world.outside / "secret.txt"), "outside the allowed folders"),
        "link": ("link", "outside the allowed folders"),
        "denied": ("~/.ssh/id_rsa", "Permission denied"),
        "own": (str(world.home / "data" / "assent.db"), "Permission denied"),
        "folder": (str(world.workspace), "is a folder"),
        "absent": ("none.txt", "There is no file"),
        "pipe": ("pipe", "is a pipe"),
        "binary": ("data.bin", "binary data"),
        "utf32": ("wide.txt", "UTF-32 text"),
        "huge": ("huge.txt", "too large to be edited in parts"),
    }[what]
    check = await checked(bench, path, edits(("OUTSIDE", "x")))
    assert check.denied is not None
    assert says in str(check.denied)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_a_file_without_permission_is_refused(bench: Bench) -> None:
    path = made(bench)
    path.chmod(0o000)
    assert "does not permit" in str((await checked(bench, "code.py", edits(("os", "re")))).denied)
    path.chmod(0o444)
    assert "does not permit changing" in str((await checked(bench, "code.py", edits(("import os", "re")))).denied)


async def test_a_second_name_of_the_file_keeps_the_old_text(bench: Bench) -> None:
    path = made(bench)
    other = bench.world.workspace / "other.py"
    os.link(path, other)
    await bench.run(bench.edit, path="code.py", edits=edits(("import os", "import re")))
    assert (other.read_text(), path.read_text().splitlines()[0]) == (CODE, "import re")


async def test_a_link_inside_the_boundary_stays_a_link(bench: Bench) -> None:
    path = made(bench)
    (bench.world.workspace / "way").symlink_to(path)
    await bench.run(bench.edit, path="way", edits=edits(("import os", "import re")))
    assert (bench.world.workspace / "way").is_symlink()
    assert path.read_text().startswith("import re\n")


async def test_a_thousand_edits_are_made(bench: Bench) -> None:
    text = "".join(f"<{number}>\n" for number in range(MAX_EDITS))
    path = made(bench, text, "many.txt")
    await bench.run(bench.edit, path="many.txt", edits=edits(*((f"<{n}>", f"[{n}]") for n in range(MAX_EDITS))))
    assert path.read_text() == text.replace("<", "[").replace(">", "]")


@pytest.mark.spec("R-EDT-1")
async def test_a_file_that_the_thread_was_not_shown_is_not_edited_and_nothing_is_said_of_it(bench: Bench) -> None:
    """A rule may keep it from being read: an error that quotes it, or tells whether a text is in it, would show it."""
    (bench.world.workspace / "key.env").write_text("TOKEN=abcdef\n")
    for old in ("TOKEN=", "TOKEN=abc", "TOKEN = abcdef", "nothing"):
        refused = str((await checked(bench, "key.env", edits((old, "x")), "t1")).denied)
        where = bench.world.workspace / "key.env"
        assert refused == f"{where} was not read yet. Read the part that you change with read_file first."
    await bench.run(bench.read, path="key.env", thread_id="t1")
    assert (await checked(bench, "key.env", edits(("TOKEN=", "x")), "t1")).denied is None


@pytest.mark.spec("R-EDT-1")
async def test_of_a_file_that_was_only_written_nothing_is_quoted(bench: Bench) -> None:
    path = bench.world.workspace / "own.txt"
    await bench.run(bench.write, path="own.txt", content="mine\n", thread_id="t1")
    missing = str((await checked(bench, "own.txt", edits(("Mine", "x")), "t1")).denied)
    assert "Read the file first." in missing
    assert "mine" not in missing
    path.write_text("mine\nsecret of the person\n")
    changed = str((await checked(bench, "own.txt", edits(("mine", "x")), "t1")).denied)
    assert "has changed since you read it" in changed
    assert "secret" not in changed
