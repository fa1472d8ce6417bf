"""Scanning a folder: what is found, what is passed over, what is a problem, and the second look."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.skills.catalogue import scan
from desktop.skills.catalogue.ignores import ignoring
from desktop.skills.catalogue.scan import FolderListing, Hint, Scan, ScanRules
from tests.unit.skills.resolution.kit import folder_skill, skill, write


def look(root: Path, *ignores: str, **rules: bool) -> FolderListing:
    return Scan(str(root), ScanRules(ignoring(ignores), **rules)).whole()


def codes(listing: FolderListing) -> list[str]:
    return sorted(problem.code for found in listing.problems.values() for problem in found)


def test_every_kind_of_skill_file_is_found_at_every_depth(tmp_path: Path) -> None:
    for name in (
        "a.skill.md",
        "b.skill.py",
        "c/d.skill.js",
        "c/e/f.skill.ts",
        "g/SKILL.md",
        "h/skill.md",
        "README.md",
        "x.md",
        "c/notes.txt",
    ):
        write(tmp_path / name, "x")
    assert sorted(look(tmp_path).files) == [
        "a.skill.md",
        "b.skill.py",
        "c/d.skill.js",
        "c/e/f.skill.ts",
        "g/SKILL.md",
        "h/skill.md",
    ]


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert look(tmp_path / "none") == FolderListing()


@pytest.mark.spec("R-RES-7")
def test_ignored_names_and_patterns_are_passed_over_at_every_depth(tmp_path: Path) -> None:
    for place in ("dist", "a/dist", "a/b/dist/c", "tmp-1", "a/tmp-2", "docs/old", "a/docs/old"):
        skill(tmp_path / place, "lost")
    skill(tmp_path, "kept")
    skill(tmp_path / "a" / "docs" / "old", "kept-too")
    write(tmp_path / "a" / "draft.skill.md", "lost-file")
    found = look(tmp_path, "dist", "tmp-*", "docs/old", "draft.*", "[broken")
    assert sorted(found.files) == ["a/docs/old/kept-too.skill.md", "a/docs/old/lost.skill.md", "kept.skill.md"]


@pytest.mark.spec("R-RES-7")
def test_linked_folders_are_not_followed_and_loops_are_no_trouble(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    folder_skill(outside, "stranger")
    folder_skill(root, "own")
    os.symlink(outside, root / "linked")
    os.symlink(root, root / "own" / "loop")
    os.symlink("self", root / "self")
    found = look(root)
    assert list(found.files) == ["own/SKILL.md"]
    assert codes(found) == ["scan.link", "scan.link"]
    assert {problem.severity for listed in found.problems.values() for problem in listed} == {"warning"}


def test_a_linked_file_is_followed_inside_the_folder_and_outside_only_where_that_is_allowed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    skill(root, "own")
    outside = skill(tmp_path, "outside")
    os.symlink(root / "own.skill.md", root / "again.skill.md")
    os.symlink(outside, root / "out.skill.md")
    os.symlink("nowhere", root / "dangling.skill.md")
    found = look(root)
    assert sorted(found.files) == ["again.skill.md", "own.skill.md"]
    assert "scan.link" in codes(found)
    assert "out.skill.md" in look(root, links_anywhere=True).files


def test_what_is_no_file_is_no_skill(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.skill.md")
    (tmp_path / "folder.skill.md").mkdir()
    assert not look(tmp_path).files


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users reach too."""
    with tempfile.TemporaryDirectory(prefix="assent-scan-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_a_folder_without_permission_is_a_problem_and_is_tried_again(open_folder: Path) -> None:
    folder_skill(open_folder, "fine")
    folder_skill(open_folder, "shut")
    os.chmod(open_folder / "shut", 0o000)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may read everything; for a moment we are nobody
    try:
        found = look(open_folder)
    finally:
        if user == 0:
            os.seteuid(0)
    assert list(found.files) == ["fine/SKILL.md"]
    assert codes(found) == ["scan.unreadable"]
    assert found.problems["shut"][0].path == str(open_folder / "shut")
    os.chmod(open_folder / "shut", 0o755)
    again = Scan(str(open_folder), ScanRules()).again(found)
    assert sorted(again.files) == ["fine/SKILL.md", "shut/SKILL.md"]
    assert not again.problems


def test_depth_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path
    for number in range(scan.MAX_DEPTH + 3):
        deep = deep / f"d{number}"
        skill(deep, "here")
    found = look(tmp_path)
    assert len(found.files) < scan.MAX_DEPTH + 1
    assert codes(found) == ["scan.depth"]


def test_files_beside_a_skill_are_listed_where_they_count(tmp_path: Path) -> None:
    folder_skill(tmp_path, "one")
    write(tmp_path / "one" / "scripts" / "run.py", "x")
    (tmp_path / "one" / ".DS_Store").touch()
    assert list(look(tmp_path).files) == ["one/SKILL.md"]
    found = look(tmp_path, companions=True)
    assert {rel: stamp.companion for rel, stamp in found.files.items()} == {
        "one/SKILL.md": False,
        "one/scripts/run.py": True,
    }


def settled(listing: FolderListing) -> FolderListing:
    """As if the first look had been long after the last change: stamps are believed."""
    for rel, stamp in listing.files.items():
        listing.files[rel] = stamp._replace(racy=False)
    return listing


def facts(root: Path) -> dict[str, tuple[int, int, int]]:
    return {rel: (stamp.size, stamp.mtime, stamp.inode) for rel, stamp in look(root, "ignored").files.items()}


def test_a_second_look_reads_only_what_changed(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        folder_skill(tmp_path, name)
    known = settled(look(tmp_path))
    assert Scan(str(tmp_path), ScanRules()).again(known).changed == set()
    folder_skill(tmp_path, "b", "Changed.")
    folder_skill(tmp_path, "d")
    shutil.rmtree(tmp_path / "a")
    found = Scan(str(tmp_path), ScanRules()).again(known)
    assert found.changed == {"b/SKILL.md", "d/SKILL.md"}
    assert sorted(found.files) == ["b/SKILL.md", "c/SKILL.md", "d/SKILL.md"]


def test_a_young_file_is_read_again_even_if_its_stamp_is_the_same(tmp_path: Path) -> None:
    skill(tmp_path, "young")
    known = look(tmp_path)
    assert Scan(str(tmp_path), ScanRules()).again(known).changed == {"young.skill.md"}


@pytest.mark.parametrize("seed", range(25))
def test_after_any_changes_a_second_look_finds_what_a_first_would(tmp_path: Path, seed: int) -> None:
    """Files and folders made, changed, moved, deleted, ignored and replaced by links, in any order."""
    rng, root = random.Random(seed), tmp_path / "root"
    root.mkdir()
    places = ["", "a", "b", "a/x", "a/x/y", "b/ignored", "c"]
    listing = look(root, "ignored")
    for _ in range(6):
        for _ in range(rng.randint(1, 6)):
            change(rng, root, root / rng.choice(places))
        listing = settled(Scan(str(root), ScanRules(ignoring(["ignored"]))).again(listing))
        found = {rel: (stamp.size, stamp.mtime, stamp.inode) for rel, stamp in listing.files.items()}
        assert found == facts(root)
        assert listing.folders.keys() == look(root, "ignored").folders.keys()
        assert codes(listing) == codes(look(root, "ignored"))


def change(rng: random.Random, root: Path, folder: Path) -> None:
    match rng.choice(["write", "write", "file", "delete", "remove", "move", "link"]):
        case "write" if not any(parent.is_symlink() for parent in (folder, *folder.parents)):
            skill(folder, f"s{rng.randint(0, 3)}", "x" * rng.randint(1, 30))
        case "file" if folder.is_dir():
            (folder / "notes.txt").write_text("x")
        case "delete" if folder.is_dir():
            for path in folder.glob("*.skill.md"):
                path.unlink()
        case "remove" if folder != root and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
        case "move" if folder != root and folder.exists() and not (root / "moved").exists():
            folder.rename(root / "moved")
        case "link" if folder != root and folder.parent.is_dir() and not folder.exists() and not folder.is_symlink():
            folder.symlink_to(root)


def test_a_hint_limits_the_look_to_what_it_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder_skill(tmp_path, name)
    known = settled(look(tmp_path))
    folder_skill(tmp_path, "a", "Changed.")
    folder_skill(tmp_path, "b", "Changed too.")
    found = Scan(str(tmp_path), ScanRules()).again(known, Hint(frozenset({"a/SKILL.md"}), frozenset({"a"})))
    assert found.changed == {"a/SKILL.md"}
    assert sorted(found.files) == ["a/SKILL.md", "b/SKILL.md"]
