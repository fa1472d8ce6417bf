"""What is taken into the staging folder, what is left out, and what is refused as a whole."""

from __future__ import annotations

import io
import os
import stat
import struct
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.skills.importing import limits
from desktop.skills.importing.limits import ImportRefused
from desktop.skills.importing.staging import Candidate, Staged, Staging

SKILL = b"---\nname: tide\ndescription: Reads tide tables.\nallowed-tools: Read\n---\nRead the table.\n"
HOSTILE = (
    "../out.txt",
    "a/../../out.txt",
    "/etc/passwd",
    "..\\out.txt",
    "C:\\out.txt",
    "a\u202egnp.exe",
    "a\u200bb.txt",
    "a\nb.txt",
    "nul",
    "com1.txt",
    "ends.",
    " begins",
    "x" * 300,
    "/".join("a" * 30),
    "sk\u00adill.md",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "data" / "imports"


@pytest.fixture
def stage(place: Path) -> Callable[[Path], Staged]:
    staging = Staging(place)
    return lambda path: staging.from_path(str(path), threading.Event())


def zipped(path: Path, files: dict[str, bytes], modes: dict[str, int] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.filename = name  # as written: the constructor would tidy it up
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (modes or {}).get(name, 0o100644) << 16
            archive.writestr(entry, data)
    return path


def tarred(path: Path, files: dict[str, bytes], *more: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for entry in more:
            archive.addfile(entry)
    return path


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def the_only(staged: Staged) -> Candidate:
    (candidate,) = staged.candidates
    return candidate


@pytest.mark.parametrize("form", ["folder", "zip", "tar.gz"])
def test_a_skill_comes_with_its_files_and_says_which_are_scripts(
    form: str, tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    files = {
        "tide/SKILL.md": SKILL,
        "tide/forms.md": b"# Forms",
        "tide/scripts/fit.py": b"raise SystemExit(1)\n",
        "tide/.git/config": b"x",
        "__MACOSX/tide/._SKILL.md": b"x",
        "tide/.DS_Store": b"x",
    }
    for name, data in files.items():
        path = tmp_path / "from" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    chosen = {
        "folder": tmp_path / "from" / "tide",
        "zip": zipped(tmp_path / "tide.zip", files, {"tide/scripts/fit.py": 0o104755}),
        "tar.gz": tarred(tmp_path / "tide.tar.gz", files),
    }[form]
    found = the_only(stage(chosen))
    assert found.name == "tide"
    assert found.definition is not None
    assert found.definition.allowed_tools
    assert [file.path for file in found.files] == ["forms.md", "scripts/fit.py"]
    assert found.scripts == ("scripts/fit.py",)
    assert found.problems == ()


def test_what_may_run_in_an_archive_may_run_here_and_nothing_else_of_its_mode_stays(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    staged = stage(zipped(tmp_path / "a.zip", {"SKILL.md": SKILL, "go": b"#!/bin/sh\n"}, {"go": 0o104777}))
    assert stat.S_IMODE((staged.folder / "go").stat().st_mode) == 0o700
    assert the_only(staged).scripts == ("go",)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_name_that_leads_elsewhere_or_cannot_be_read_refuses_the_whole(
    form: str, name: str, tmp_path: Path, place: Path, stage: Callable[[Path], Staged]
) -> None:
    make = zipped if form == "zip" else tarred
    path = make(tmp_path / f"bad.{form}", {"SKILL.md": SKILL, name: b"x"})
    with pytest.raises(ImportRefused):
        stage(path)
    assert list(place.iterdir()) == [], "nothing is left behind"
    assert not (tmp_path / "out.txt").exists()
    assert not (tmp_path / "data" / "out.txt").exists()


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused(kind: bytes, tmp_path: Path, stage: Callable[[Path], Staged]) -> None:
    with pytest.raises(ImportRefused, match="device"):
        stage(tarred(tmp_path / "a.tar.gz", {"SKILL.md": SKILL}, member("null", kind)))
    with pytest.raises(ImportRefused, match="device"):
        stage(zipped(tmp_path / "a.zip", {"SKILL.md": SKILL, "null": b""}, {"null": 0o020666}))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(SKILL)
    os.mkfifo(folder / "pipe")
    with pytest.raises(ImportRefused, match="pipe"):
        stage(folder)


def test_links_are_left_out_and_counted_whatever_they_lead_to(tmp_path: Path, stage: Callable[[Path], Staged]) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(SKILL)
    (folder / "key").symlink_to(secret)
    (folder / "all").symlink_to(tmp_path)
    links = (member("key", tarfile.SYMTYPE, str(secret)), member("hard", tarfile.LNKTYPE, "../../secret"))
    for chosen, count in (
        (folder, 2),
        (tarred(tmp_path / "a.tar.gz", {"SKILL.md": SKILL}, *links), 2),
        (zipped(tmp_path / "a.zip", {"SKILL.md": SKILL, "key": b"/etc/passwd"}, {"key": 0o120777}), 1),
    ):
        staged = stage(chosen)
        assert staged.links == count
        assert [path.name for path in staged.folder.rglob("*")] == ["SKILL.md"]


def test_a_file_behind_a_link_of_the_archive_is_not_written_through_it(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(member("out", tarfile.SYMTYPE, str(tmp_path)))
        for name in ("SKILL.md", "out/escaped"):
            entry = tarfile.TarInfo(name)
            entry.size = len(SKILL)
            archive.addfile(entry, io.BytesIO(SKILL))
    stage(path)
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_bombs_stop_at_what_they_unpack_to(
    form: str, tmp_path: Path, place: Path, stage: Callable[[Path], Staged]
) -> None:
    make = zipped if form == "zip" else tarred
    with pytest.raises(ImportRefused, match="larger than"):
        stage(make(tmp_path / f"a.{form}", {"SKILL.md": SKILL, "zeros": bytes(limits.MAX_FILE + 1)}))
    assert list(place.iterdir()) == []


def test_a_zip_file_that_lies_about_a_size_is_stopped_by_what_comes_out(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    path = zipped(tmp_path / "a.zip", {"SKILL.md": SKILL, "zeros": bytes(100_000)})
    data = bytearray(path.read_bytes())
    at = 0
    while (at := data.find(struct.pack("<L", 100_000), at)) >= 0:
        data[at : at + 4] = struct.pack("<L", 10)
    path.write_bytes(data)
    with pytest.raises(ImportRefused):
        stage(path)


def test_too_many_files_and_too_long_a_list_of_them_are_refused(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    many = {f"n/{n}": b"" for n in range(limits.MAX_FILES + 1)}
    with pytest.raises(ImportRefused, match="more than"):
        stage(zipped(tmp_path / "a.zip", {"SKILL.md": SKILL, **many}))
    path = zipped(tmp_path / "b.zip", {"SKILL.md": SKILL})
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, len(data) - 22 + 12, 0x7FFFFFFF)
    path.write_bytes(data)
    with pytest.raises(ImportRefused, match="too many"):
        stage(path)


def test_a_tar_header_with_a_name_of_megabytes_is_refused_before_it_is_read(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, compresslevel=1) as archive:
        entry = tarfile.TarInfo("SKILL.md")
        entry.size = len(SKILL)
        entry.pax_headers = {"comment": "x" * 3_000_000}
        archive.addfile(entry, io.BytesIO(SKILL))
    with pytest.raises(ImportRefused, match="too long"):
        stage(path)


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_two_files_of_one_name_are_refused_for_one_would_be_shown_and_another_kept(
    form: str, tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    make = zipped if form == "zip" else tarred
    with pytest.raises(ImportRefused, match="two files"):
        stage(make(tmp_path / f"a.{form}", {"SKILL.md": SKILL, "./SKILL.md": b"other"}))
    with pytest.raises(ImportRefused, match="two files"):
        stage(make(tmp_path / f"b.{form}", {"SKILL.md": SKILL, "Skill.MD": b"other"}))


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x03\x04" + b"x" * 90, b"\x1f\x8b\x08" + b"x" * 90, b"hello " * 99])
def test_what_is_no_archive_says_so(data: bytes, tmp_path: Path, stage: Callable[[Path], Staged]) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    with pytest.raises(ImportRefused):
        stage(path)


def test_every_skill_of_a_repository_is_one_to_choose_and_none_rides_along_in_another(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    other = SKILL.replace(b"tide", b"wave")
    code = b'frontmatter = {"name": "hidden", "description": "x"}\nasync def run(ctx, args):\n    return 1\n'
    path = zipped(
        tmp_path / "repo-main.zip",
        {
            "repo/README.md": b"x",
            "repo/tide/SKILL.md": SKILL,
            "repo/tide/wave/SKILL.md": other,
            "repo/tide/scripts/hidden.skill.py": code,
            "repo/tide/wave/own.txt": b"x",
        },
    )
    found = {one.name: one for one in stage(path).candidates}
    assert sorted(found) == ["hidden", "tide", "wave"]
    assert found["tide"].files == ()
    assert [file.path for file in found["wave"].files] == ["own.txt"]


def test_a_file_of_several_skills_is_not_kept_for_only_one_would_be_looked_at(
    tmp_path: Path, stage: Callable[[Path], Staged]
) -> None:
    code = (
        b'skills = [{"name": "nice", "description": "x", "entry": "a"},'
        b' {"name": "deploy", "description": "x", "entry": "b"}]\n'
        b"async def a(ctx, args):\n    return 1\nasync def b(ctx, args):\n    return 2\n"
    )
    found = the_only(stage(zipped(tmp_path / "one.zip", {"nice.skill.py": code})))
    assert found.definition is None
    assert [problem.code for problem in found.problems] == ["import.several"]
    assert "(nice, deploy)" in found.problems[0].message


def test_a_pasted_text_is_a_skill_or_says_what_is_wrong(place: Path) -> None:
    staging = Staging(place)
    staged = staging.from_text(SKILL.decode(), threading.Event())
    assert the_only(staged).name == "tide"
    staging.discard(staged)
    wrong = the_only(staging.from_text("Just some words.", threading.Event()))
    assert wrong.definition is None
    assert wrong.problems
    with pytest.raises(ImportRefused):
        staging.from_text("  \n", threading.Event())


def test_a_cancelled_import_stops_and_leaves_nothing(tmp_path: Path, place: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(ImportRefused, match="cancelled"):
        Staging(place).from_path(str(zipped(tmp_path / "a.zip", {"SKILL.md": SKILL})), stop)
    assert list(place.iterdir()) == []


def test_what_a_crash_left_behind_goes_with_the_next_import(tmp_path: Path, place: Path) -> None:
    (place / "import-old").mkdir(parents=True)
    Staging(place).from_text(SKILL.decode(), threading.Event())
    assert not (place / "import-old").exists()
