"""read-file, list-directory and write-file over real files."""

import os
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation, CancellationError, ToolFailure
from desktop.domain.files.work_place import NOWHERE
from desktop.domain.runs.cancellation import CancellationToken
from desktop.tools.builtin.files import LIST_DIRECTORY, READ_FILE, WRITE_FILE
from tests.unit.tools.conftest import Bench, context


@pytest.mark.spec("R-BLT-1", "R-TOOL-1", "R-TOOL-3")
def test_the_file_tools_have_their_names_and_categories_and_take_no_unknown_arguments() -> None:
    names = [(s.name, s.provider_name, s.category) for s in (READ_FILE, WRITE_FILE, LIST_DIRECTORY)]
    assert names == [
        ("read-file", "read_file", Category.READ),
        ("write-file", "write_file", Category.WRITE),
        ("list-directory", "list_directory", Category.READ),
    ]
    for spec in (READ_FILE, WRITE_FILE, LIST_DIRECTORY):
        assert spec.params["additionalProperties"] is False
        assert "meta-internal" in spec.tags


# -- read ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-BLT-5", "R-EDT-2")
async def test_text_in_utf_16_with_its_mark_is_read_in_parts_too(bench: Bench) -> None:
    (bench.world.workspace / "wide.txt").write_bytes("one\r\nzwölf\r\n😀\r\n".encode("utf-16"))
    assert (await bench.run(bench.read, path="wide.txt")).text == "one\r\nzwölf\r\n😀\r\n"
    part = await bench.run(bench.read, path="wide.txt", offset=2, limit=1)
    assert part.text.startswith("zwölf\r\n\n[")
    assert "lines 2 to 2 of 3 shown" in part.text


@pytest.mark.spec("R-EDT-2")
async def test_the_total_of_lines_is_told_of_a_file_too_large_to_be_edited(bench: Bench) -> None:
    (bench.world.workspace / "long.txt").write_bytes(b"a line\n" * 1_500_000 + b"last")
    result = await bench.run(bench.read, path="long.txt", offset=1_400_000, limit=1)
    assert "lines 1400000 to 1400000 of 1500001 shown" in result.text


@pytest.mark.spec("R-TOOL-10")
async def test_a_text_file_comes_back_as_it_is(bench: Bench) -> None:
    result = await bench.run(bench.read, path="note.txt")
    assert (result.text, result.is_error) == ("note\n", False)


@pytest.mark.spec("R-BLT-3", "R-FS-7")
@pytest.mark.parametrize("how", ["absolute", "dots", "link", "denied", "proc"])
async def test_nothing_outside_can_be_read(bench: Bench, how: str) -> None:
    world = bench.world
    (world.workspace / "link").symlink_to(world.outside / "secret.txt")
    path = {
        "absolute": str(world.outside / "secret.txt"),
        "dots": "../../../outside/secret.txt",
        "link": "link",
        "denied": "~/.ssh/id_rsa",
        "proc": f"/proc/self/root{world.outside}/secret.txt",
    }[how]
    with pytest.raises(BoundaryViolation) as caught:
        await bench.run(bench.read, path=path)
    assert "OUTSIDE" not in str(caught.value)
    with pytest.raises(BoundaryViolation):
        await bench.read.execute({"path": path}, context())


async def test_a_part_of_a_file_says_where_to_go_on(bench: Bench) -> None:
    (bench.world.workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    result = await bench.run(bench.read, path="long.txt", offset=10, limit=3)
    assert result.text.startswith("line 10\nline 11\nline 12\n\n[")
    assert "lines 10 to 12 of 100 shown; continue at offset 13" in result.text
    last = await bench.run(bench.read, path="long.txt", offset=100, limit=3)
    assert last.text == "line 100\n"
    beyond = await bench.run(bench.read, path="long.txt", offset=101)
    assert beyond.text == "[The file has 100 lines, and none at 101.]"


@pytest.mark.spec("R-TMO-5", "S-BLT-2")
async def test_a_long_file_is_cut_between_lines_and_can_be_read_to_its_end(bench: Bench) -> None:
    lines = [f"{n} " + "ä" * 50 for n in range(3000)]
    (bench.world.workspace / "long.txt").write_text("\n".join(lines) + "\n")
    bench.world.change(output_limit=20_000)
    seen: list[str] = []
    offset: int | None = 1
    while offset is not None:
        result = await bench.run(bench.read, path="long.txt", offset=offset)
        assert len(result.text.encode()) <= 20_000
        body, _, notice = result.text.rpartition("\n[")
        seen += (body or result.text).splitlines()
        offset = int(notice.rpartition("offset ")[2].rstrip("]")) if "continue at offset" in notice else None
    assert seen == lines


@pytest.mark.spec("R-TMO-5")
async def test_two_megabytes_in_one_line_are_cut_with_a_notice(bench: Bench) -> None:
    (bench.world.workspace / "one.json").write_text("€" * 700_000)
    result = await bench.run(bench.read, path="one.json")
    assert 190_000 < len(result.text.encode()) <= 200_000
    assert "line 1 is cut" in result.text
    assert "\ufffd" not in result.text


@pytest.mark.spec("R-BLT-5")
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"%PDF-1.7\n\x80\x81\0", "a PDF document"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"\x7fELF\x02\0", "a program"),
        (b"a\0b", "binary data"),
        ("grüße".encode("latin-1"), "another encoding"),
        ("text".encode("utf-32"), "UTF-32 text"),
        (b"\xff\xfet\x00e", "broken UTF-16 text"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"ok\n" * 9000 + b"\xff\xfe", "another encoding"),
        (b"ok\n" * 9000 + b"\0", "binary data"),
    ],
)
async def test_what_is_no_text_is_an_error_with_size_and_kind(bench: Bench, data: bytes, kind: str) -> None:
    (bench.world.workspace / "odd").write_bytes(data)
    with pytest.raises(ToolFailure) as caught:
        await bench.run(bench.read, path="odd")
    assert kind in str(caught.value)
    assert f"{len(data)} bytes" in str(caught.value)
    assert caught.value.code == "file.not_text"


async def test_a_byte_order_mark_and_carriage_returns_and_an_empty_file(bench: Bench) -> None:
    (bench.world.workspace / "bom.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert (await bench.run(bench.read, path="bom.txt")).text == "a\r\nb\rc\n"
    (bench.world.workspace / "empty").touch()
    assert (await bench.run(bench.read, path="empty")).text == "[The file is empty.]"


async def test_a_character_at_the_border_of_a_block_stays_whole(bench: Bench) -> None:
    text = "x" * 8191 + "€" + "y" * 65_534 + "😀end"
    (bench.world.workspace / "border").write_text(text)
    assert (await bench.run(bench.read, path="border")).text == text


@pytest.mark.spec("R-TOOL-4")
async def test_reading_by_a_session_grant_only_is_admin(bench: Bench) -> None:
    bench.world.change(granted=(str(bench.world.outside),))
    check = await bench.read.precheck({"path": str(bench.world.outside / "secret.txt")}, NOWHERE)
    assert (check.category, check.denied) == (Category.ADMIN, None)
    assert "grant" in check.raised_because


# -- list ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-BLT-6")
async def test_a_listing_marks_what_is_what_in_a_fixed_order(bench: Bench) -> None:
    workspace = bench.world.workspace
    (workspace / "b").mkdir()
    (workspace / "a\nb").write_text("xx")
    (workspace / "z").symlink_to("/etc")
    os.mkfifo(workspace / "pipe")
    open(os.fsencode(workspace) + b"/bad\xff", "w").close()
    expected = (
        "file  a\\nb  2 bytes\ndir   b/\nfile  bad\\udcff  0 bytes\nfile  note.txt  5 bytes\nother pipe\nlink  z@"
    )
    assert (await bench.run(bench.list)).text == expected
    assert (await bench.run(bench.list, path=".")).text == expected


async def test_a_huge_folder_is_capped_with_the_count(bench: Bench) -> None:
    for n in range(2100):
        (bench.world.workspace / f"f{n:04}").touch()
    result = await bench.run(bench.list)
    assert result.text.endswith("[2101 entries; the first 2000 are shown]")
    assert len(result.text.splitlines()) == 2001


@pytest.mark.spec("R-BLT-3")
async def test_folders_outside_are_not_listed(bench: Bench) -> None:
    with pytest.raises(BoundaryViolation):
        await bench.run(bench.list, path="..")


# -- write ---------------------------------------------------------------------------------------------


@pytest.mark.spec("R-BLT-4")
async def test_a_file_is_written_and_said_so(bench: Bench) -> None:
    result = await bench.run(bench.write, path="new/a.txt", content="grüße\n")
    assert (bench.world.workspace / "new/a.txt").read_text() == "grüße\n"
    assert "Created" in result.text
    assert "8 bytes" in result.text
    assert "Replaced" in (await bench.run(bench.write, path="new/a.txt", content="x")).text


@pytest.mark.spec("R-PRM-2")
async def test_the_precheck_shows_the_change_and_touches_nothing(bench: Bench) -> None:
    check = await bench.write.precheck({"path": "note.txt", "content": "new"}, NOWHERE)
    target = str(bench.world.workspace / "note.txt")
    assert (check.category, check.paths, check.constraint) == (Category.WRITE, (target,), target)
    assert {key: check.preview[key] for key in ("kind", "path", "before", "after", "new", "notes")} == {
        "kind": "diff",
        "path": target,
        "before": "note\n",
        "after": "new",
        "new": False,
        "notes": [],
    }
    fresh = await bench.write.precheck({"path": "deep/new.txt", "content": "x"}, NOWHERE)
    assert (fresh.preview["new"], fresh.preview["before"]) == (True, "")
    assert fresh.identity == {str(bench.world.workspace / "deep/new.txt"): "absent"}
    assert not (bench.world.workspace / "deep").exists()
    assert (bench.world.workspace / "note.txt").read_text() == "note\n"


async def test_previews_are_capped_and_say_so(bench: Bench) -> None:
    (bench.world.workspace / "big.txt").write_text("é" * 300_000)
    (bench.world.workspace / "bin").write_bytes(b"\0\xff")
    check = await bench.write.precheck({"path": "big.txt", "content": "€" * 300_000}, NOWHERE)
    assert len(check.preview["before"].encode()) <= 200_000
    assert len(check.preview["after"].encode()) <= 200_000
    assert len(check.preview["notes"]) == 2
    assert (await bench.write.precheck({"path": "bin", "content": ""}, NOWHERE)).preview["notes"] == [
        "the present file is not text"
    ]


@pytest.mark.spec("R-FS-3", "R-BLT-3")
async def test_denied_inside_allowed_cannot_be_written(bench: Bench) -> None:
    bench.world.change(denied=(str(bench.world.workspace / "private"),))
    for path in ("private/x", "./a/../private"):
        with pytest.raises(BoundaryViolation, match="denied"):
            await bench.run(bench.write, path=path, content="x")


@pytest.mark.spec("R-TOOL-4")
async def test_system_paths_raise_to_admin_with_a_reason(bench: Bench) -> None:
    bench.world.change(allowed=(str(bench.world.person),))
    check = await bench.write.precheck({"path": "~/.bashrc", "content": "x"}, NOWHERE)
    assert (check.category, bool(check.raised_because)) == (Category.ADMIN, True)


@pytest.mark.spec("R-PRM-5", "R-FS-9")
@pytest.mark.parametrize("trick", ["link", "content", "appeared", "folder"])
async def test_what_changed_after_approval_is_not_written(bench: Bench, trick: str) -> None:
    world = bench.world
    path = "new.txt" if trick == "appeared" else "sub/f.txt" if trick == "folder" else "note.txt"
    if trick == "folder":
        (world.workspace / "sub").mkdir()
        (world.workspace / "sub/f.txt").write_text("f")
        (world.workspace / "else").mkdir()
        (world.workspace / "else/f.txt").write_text("other")
    args = {"path": path, "content": "EVIL"}
    check = await bench.write.precheck(args, NOWHERE)
    target = world.workspace / path
    if trick == "link":
        target.unlink()
        target.symlink_to(world.outside / "secret.txt")
    elif trick == "folder":
        (world.workspace / "sub").rename(world.workspace / "sub2")
        (world.workspace / "sub").symlink_to("else")
    else:
        target.write_text("meanwhile")
    with pytest.raises(BoundaryViolation):
        await bench.write.execute(args, context(identity=check.identity))
    assert (world.outside / "secret.txt").read_text() == "OUTSIDE"
    for file in world.workspace.rglob("*"):
        assert file.is_dir() or "EVIL" not in file.read_text()


@pytest.mark.parametrize("content", ["\ud800", "ok \udfff"])
async def test_content_that_is_no_unicode_is_refused(bench: Bench, content: str) -> None:
    with pytest.raises(ToolFailure, match="surrogate"):
        await bench.run(bench.write, path="x", content=content)
    assert not (bench.world.workspace / "x").exists()


async def test_five_megabytes_are_written_off_the_loop(bench: Bench) -> None:
    await bench.run(bench.write, path="big", content="x" * 5_000_000)
    assert (bench.world.workspace / "big").stat().st_size == 5_000_000


@pytest.mark.spec("R-TOOL-6")
@pytest.mark.parametrize(
    ("tool", "args"), [("read", {"path": "note.txt"}), ("list", {}), ("write", {"path": "n", "content": "x"})]
)
async def test_a_cancelled_run_starts_nothing(bench: Bench, tool: str, args: dict[str, Any]) -> None:
    token = CancellationToken()
    token.cancel("stopped")
    with pytest.raises(CancellationError):
        await bench.run(getattr(bench, tool), token, **args)
    assert not (bench.world.workspace / "n").exists()


@pytest.mark.spec("R-INV-1", "R-PRM-1")
@pytest.mark.parametrize(
    ("path", "says"),
    [
        (".", "is a folder"),
        ("sub", "is a folder"),
        ("note.txt/below/x", "is a file"),
        ("n" * 300, "longer than"),
        ("new/" + "é" * 200 + "/x", "longer than"),
        ("a\0b", "NUL"),
        ("locked/x", "does not permit"),
    ],
)
async def test_what_is_certain_to_fail_is_refused_before_anyone_is_asked(bench: Bench, path: str, says: str) -> None:
    (bench.world.workspace / "sub").mkdir()
    locked = bench.world.workspace / "locked"
    locked.mkdir(0o500)
    if path.startswith("locked") and os.access(locked, os.W_OK):
        pytest.skip("this user may write everywhere")
    check = await bench.write.precheck({"path": path, "content": "x"}, NOWHERE)
    assert check.denied is not None
    assert says in str(check.denied)
    assert check.preview == {}


async def test_a_text_that_cannot_be_stored_is_refused_before_anyone_is_asked(bench: Bench) -> None:
    check = await bench.write.precheck({"path": "x.txt", "content": "a\ud800"}, NOWHERE)
    assert "surrogate" in str(check.denied)
    fine = await bench.write.precheck({"path": "deep/in/x.txt", "content": "a"}, NOWHERE)
    assert fine.denied is None
