"""Files of a folder skill, read into it: its own, regular, and of pinned skills only as they were seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError, NotFound
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.content import MAX_BESIDE
from desktop.skills.resolution.fabric import SkillFabric
from tests.unit.skills.resolution.kit import MemoryStore, folder_skill, opened, skill


def over(path: Path, source: str) -> SkillFabric:
    fabric = opened(SearchRoot(str(path), source), pin_store=MemoryStore())  # type: ignore[arg-type]
    fabric.refresh()
    return fabric


@pytest.mark.spec("R-SK-12")
@pytest.mark.parametrize("source", ["mine", "shared"])
def test_a_folder_skill_reads_the_regular_files_of_its_own_folder_and_no_others(tmp_path: Path, source: str) -> None:
    folder_skill(tmp_path / "skills", "tool")
    own = tmp_path / "skills" / "tool"
    (own / "notes").mkdir()
    (own / "notes" / "a.txt").write_bytes(b"notes")
    (own / "large.txt").write_bytes(b"x" * (MAX_BESIDE + 1))
    (own / "out.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    os.mkfifo(own / "pipe")
    skill(tmp_path / "skills", "loose")
    fabric = over(tmp_path / "skills", source)
    tool, loose = fabric.find_tool("tool"), fabric.find_tool("loose")
    assert fabric.read_beside(tool, "notes/a.txt") == b"notes"
    assert fabric.read_beside(tool, "notes/../notes/a.txt") == b"notes"
    for rel in ("out.txt", "pipe", "notes", ".", "", "../loose.skill.md", str(tmp_path / "secret.txt"), "a\0b"):
        with pytest.raises(NotFound) as caught:
            fabric.read_beside(tool, rel)
        assert caught.value.code == "skills.not_beside", rel
    with pytest.raises(NotFound):
        fabric.read_beside(loose, "tool/notes/a.txt")
    with pytest.raises(KnownError) as too_large:
        fabric.read_beside(tool, "large.txt")
    assert too_large.value.code == "skills.too_large"


@pytest.mark.spec("R-SK-15")
def test_a_pinned_skill_s_file_is_read_only_as_it_was_seen_even_before_anybody_noticed(tmp_path: Path) -> None:
    folder_skill(tmp_path / "skills", "tool")
    (tmp_path / "skills" / "tool" / "a.txt").write_bytes(b"seen")
    fabric = over(tmp_path / "skills", "shared")
    tool = fabric.find_tool("tool")
    assert fabric.read_beside(tool, "a.txt") == b"seen"
    (tmp_path / "skills" / "tool" / "a.txt").write_bytes(b"evil")
    (tmp_path / "skills" / "tool" / "b.txt").write_bytes(b"added")
    for rel in ("a.txt", "b.txt"):
        with pytest.raises(KnownError) as caught:
            fabric.read_beside(tool, rel)
        assert caught.value.code == "skills.changed"


@pytest.mark.spec("R-SK-15")
def test_a_skill_that_is_not_trusted_reads_nothing_beside_it(tmp_path: Path) -> None:
    path = folder_skill(tmp_path / "skills", "tool")
    (tmp_path / "skills" / "tool" / "a.txt").write_bytes(b"x")
    fabric = opened(SearchRoot(str(tmp_path / "skills"), "project", trusted=False, project=str(tmp_path)))
    with pytest.raises(NotFound):
        fabric.read_beside(fabric.find_tool(str(path)), "a.txt")
