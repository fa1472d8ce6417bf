"""The index of all search folders: read, checked, kept on disk, and broken in every way."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from wheel_index import write_index

from desktop.domain.skills import SkillSource
from desktop.skills.catalogue import index_file
from desktop.skills.catalogue.build_index import read_build_index
from desktop.skills.catalogue.index import SkillIndex
from desktop.skills.catalogue.index_file import load_index, save_index
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.snapshot import Snapshot, SnapshotRow
from desktop.skills.formats import LoadedFile, load_skills_from_file
from desktop.skills.resolution.find import find_tool
from tests.harness.skills import empty_globals
from tests.unit.skills.resolution.kit import folder_skill, skill, text, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    skill(root, "one", "The first; ünïcode.", allowed="read-* #web", tags=["B", "a b"], visibility="hidden")
    folder_skill(root, "two", category="write", params="\n    type: object\n    properties: {n: {type: integer}}")
    (root / "several.skill.md").write_text(text("three") + text("four", role="middleware"))
    (root / "bad.skill.md").write_text("no frontmatter")
    (root / "half.skill.md").write_text(text("five").replace("description: Does it.", "license: MIT"))
    (root / "code.skill.py").write_text(
        "frontmatter = {'name': 'six', 'description': 'Six.', 'metadata': {'category': 'read'}}\n"
        "def run(ctx, args):\n    return 6\n"
    )
    return root


def mine(root: Path) -> SearchRoot:
    return SearchRoot(str(root), "mine")


def checked(root: Path, index: SkillIndex | None = None) -> Snapshot:
    return (index or SkillIndex()).check(mine(root), ()).snapshot


@pytest.mark.spec("R-RES-6", "R-SK-2")
def test_a_definition_from_the_index_is_what_reading_the_file_gives(root: Path, tmp_path: Path) -> None:
    snapshot = checked(root)
    save_index(str(tmp_path / "index"), [snapshot])
    kept = load_index(str(tmp_path / "index"))[0]
    assert kept.columns == snapshot.columns
    assert kept.listing.files == snapshot.listing.files
    assert kept.listing.folders == snapshot.listing.folders
    named = [number for number, name in enumerate(kept.columns[SnapshotRow._fields.index("name")]) if name]
    assert len(named) == 6
    for number in named:
        path = kept.paths[number]
        loaded = load_skills_from_file(path, source="mine", root=str(root))
        read = next(one for one in loaded.definitions if one.name == kept.row(number).name)
        assert kept.definition(number, mine(root)) == read


@pytest.mark.spec("R-SK-2")
def test_a_file_that_holds_no_skill_is_a_row_with_its_problem(root: Path) -> None:
    snapshot = checked(root)
    number = snapshot.rows_of("bad.skill.md")[0]
    assert snapshot.row(number).name == ""
    assert snapshot.problems(number)[0].line == 1
    assert snapshot.problems(number)[0].path == str(root / "bad.skill.md")


def test_problems_beside_a_skill_and_of_the_folder_survive_too(root: Path, tmp_path: Path) -> None:
    os.symlink(root / "two", root / "linked")
    (root / "mixed.skill.md").write_text(text("good") + text("Bad_Name"))
    save_index(str(tmp_path / "index"), [checked(root)])
    kept = load_index(str(tmp_path / "index"))[0]
    names = {kept.row(number).name: number for number in kept.rows_of("mixed.skill.md")}
    assert set(names) == {"good", ""}
    assert kept.problems(names[""])[0].code == "name.invalid"
    assert [problem.code for problem in kept.listing.problems[""]] == ["scan.link"]


def test_an_index_of_an_earlier_process_is_checked_by_stamps_and_only_changed_files_are_read(root: Path) -> None:
    first = SkillIndex()
    snapshot = checked(root, first)
    for rel, stamp in snapshot.listing.files.items():
        snapshot.listing.files[rel] = stamp._replace(racy=False)
    later = SkillIndex()
    later.adopt([snapshot])
    assert later.peek(str(root), ()) is snapshot
    assert not later.was_checked(str(root), ())
    skill(root, "one", "Changed while nobody looked.")
    found = later.check(mine(root), ())
    assert later.files_read == 1
    assert found.names == {"one"}
    assert found.files == {str(root / "one.skill.md")}
    assert later.check(mine(root), ()).names == frozenset()


def test_nothing_changed_is_the_same_snapshot(root: Path) -> None:
    index = SkillIndex()
    before = checked(root, index)
    for rel, stamp in before.listing.files.items():
        before.listing.files[rel] = stamp._replace(racy=False)
    for rel in before.listing.folders:
        found = os.stat(root / rel)
        before.listing.folders[rel] = (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    assert checked(root, index) is before


def test_names_of_deleted_and_renamed_skills_are_told(root: Path) -> None:
    index = SkillIndex()
    checked(root, index)
    (root / "one.skill.md").unlink()
    write(root / "two" / "SKILL.md", "renamed")
    found = index.check(mine(root), ())
    assert found.names == {"one", "two", "renamed"}


def test_many_threads_share_one_check(root: Path) -> None:
    index = SkillIndex()
    asked = 0.0
    first = index.check(mine(root), (), asked=asked)
    read = index.files_read
    assert index.check(mine(root), (), asked=asked).snapshot is first.snapshot
    assert index.files_read == read


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_index_is_no_index(root: Path, tmp_path: Path, seed: int) -> None:
    path, rng = tmp_path / "index", random.Random(seed)
    save_index(str(path), [checked(root)])
    data = bytearray(path.read_bytes())
    match seed % 4:
        case 0:
            data = data[: rng.randrange(len(data))]
        case 1:
            at = rng.randrange(len(data))
            data[at] ^= 1 << rng.randrange(8)
        case 2:
            data += rng.randbytes(rng.randint(1, 100))
        case _:
            at = rng.randrange(len(data))
            del data[at : at + rng.randint(1, 50)]
    path.write_bytes(data)
    assert load_index(str(path)) == []


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"folders": [], "crc": 0}',
        b"[" * 100_000,
        b'{"folders": [{}], "crc": 0, "bytes": 0}',
        b'{"folders": [{"folder": 1, "lengths": [-1]}], "crc": 0, "bytes": 0}',
    ],
)
def test_a_strange_header_is_no_index(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "index").write_bytes(index_file.MAGIC + header + b"\n")
    assert load_index(str(tmp_path / "index")) == []


def test_an_index_that_is_missing_or_a_folder_is_no_index(tmp_path: Path) -> None:
    assert load_index(str(tmp_path / "none")) == []
    assert load_index(str(tmp_path)) == []


def test_names_and_paths_of_any_kind_survive(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    odd = root / "line\nbreak \udcff"
    os.makedirs(os.fsencode(odd))
    (odd / "x.skill.md").write_text(text("odd"))
    save_index(str(tmp_path / "index"), [checked(root)])
    kept = load_index(str(tmp_path / "index"))[0]
    assert kept.names == {"odd": str(odd / "x.skill.md")}


def test_writing_replaces_as_a_whole_and_only_the_owner_reads(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "index"
    save_index(str(path), [checked(root)])
    save_index(str(path), [checked(root), replace_folder(checked(root), "/elsewhere")])
    assert len(load_index(str(path))) == 2
    assert path.stat().st_mode & 0o077 == 0
    assert [found.name for found in tmp_path.iterdir() if found.is_file()] == ["index"]
    with pytest.raises(OSError, match="directory"):
        save_index(str(tmp_path / "none" / "index"), [])


def replace_folder(snapshot: Snapshot, folder: str) -> Snapshot:
    return Snapshot(folder, snapshot.ignore, snapshot.listing, snapshot.columns)


@pytest.mark.spec("R-RES-6")
def test_the_build_time_index_holds_the_first_name_of_each_file_and_the_disk_has_the_others(root: Path) -> None:
    names = dict(checked(root).names)
    assert set(names) == {"one", "two", "three", "four", "five", "six"}
    write_index(root)
    assert find_tool("four", empty_globals([str(root)])).path == names.pop("four")
    assert read_build_index(str(root)) == names


def test_metadata_that_contains_itself_breaks_its_skill_only(root: Path) -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop

    def load(path: str, *, source: object, root: str) -> object:
        loaded = load_skills_from_file(path, source="mine", root=root)
        return replace(loaded, definitions=tuple(replace(one, metadata=loop) for one in loaded.definitions))

    snapshot = SkillIndex(load).check(mine(root), ()).snapshot  # type: ignore[arg-type]
    found = snapshot.definition(snapshot.first["one"], mine(root))
    assert found.state == "broken"
    assert found.problems[-1].code == "frontmatter.cyclic"


@pytest.mark.spec("R-SK-2")
@pytest.mark.expects_log("BugError.*could not be read as a skill")
def test_a_file_that_our_own_code_cannot_cope_with_takes_no_other_file_with_it(root: Path) -> None:
    bad = skill(root, "worse")

    def load(path: str, *, source: SkillSource, root: str) -> LoadedFile:
        if path == str(bad):
            raise AttributeError("a mistake of ours")
        return load_skills_from_file(path, source=source, root=root)

    snapshot = SkillIndex(load).check(mine(root), ()).snapshot
    assert set(snapshot.names) == set(checked(root).names) - {"worse"}
    problems = [one for number in snapshot.rows_of("worse.skill.md") for one in snapshot.problems(number)]
    assert [(one.path, one.code) for one in problems] == [(str(bad), "file.bug")]
