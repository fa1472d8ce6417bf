"""find_authority: under whose configuration a tool stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.skills.catalogue.roots import Project, SearchRoot, conventional_roots
from desktop.skills.resolution.fabric import SkillFabric
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.unit.skills.resolution.kit import skill, write


@pytest.fixture
def fabric(tmp_path: Path) -> SkillFabric:
    library, project = tmp_path / "library", tmp_path / "project"
    write(library / "main" / "SKILL.md", "default", role="main", category="read")
    skill(library / "deep", "library-tool", category="read")
    write(project / ".agent" / "skills" / "top.skill.md", "chief", role="main")
    skill(project / ".agent" / "skills" / "a" / "b", "plain")
    write(project / ".agent" / "skills" / "sub" / "head.skill.md", "head", role="main")
    skill(project / ".agent" / "skills" / "sub" / "inner", "under-head")
    skill(tmp_path / "home" / ".agent" / "skills", "own")
    write(tmp_path / "home" / ".agent" / "skills" / "x.skill.md", "would-be", role="main")
    return opened(tmp_path, trusted=True)


def opened(tmp_path: Path, *, trusted: bool) -> SkillFabric:
    home, project = str(tmp_path / "home"), str(tmp_path / "project")
    roots = conventional_roots(
        home=home, agent_home=f"{home}/.agent", library=str(tmp_path / "library"), projects=[Project(project, trusted)]
    )
    return SkillFabric.open(roots, project=project)


def authority(fabric: SkillFabric, name: str) -> str | None:
    found = fabric.find_authority(fabric.find_tool(name))
    return None if found is None else found.name


@pytest.mark.spec("R-RES-16")
@pytest.mark.parametrize(
    ("name", "main"),
    [("plain", "chief"), ("under-head", "head"), ("head", "chief"), ("library-tool", "chief"), ("own", "chief")],
)
def test_the_nearest_main_skill_above_counts_else_the_project_s(fabric: SkillFabric, name: str, main: str) -> None:
    assert authority(fabric, name) == main
    assert authority(fabric, name) == main


@pytest.mark.spec("R-RES-16")
def test_the_main_skill_in_the_project_s_own_folder_counts_above_its_skill_folders(
    fabric: SkillFabric, tmp_path: Path
) -> None:
    (tmp_path / "project" / ".agent" / "skills" / "top.skill.md").unlink()
    write(tmp_path / "project" / "SKILL.md", "whole-project", role="main")
    assert authority(fabric, "plain") == "whole-project"
    assert authority(fabric, "own") == "whole-project"


@pytest.mark.spec("R-RES-16")
def test_a_programmatic_tool_stands_under_the_project_else_the_library(fabric: SkillFabric, tmp_path: Path) -> None:
    for src in (None, "mcp://a/b", "inline://1"):
        fabric.register_tool(RegisterToolOptions("tool", src=src))
        assert authority(fabric, "tool") == "chief"
    alone = SkillFabric.open([SearchRoot(str(tmp_path / "library"), "library")])
    alone.register_tool(RegisterToolOptions("tool"))
    assert authority(alone, "tool") == "default"
    nothing = SkillFabric.open([])
    nothing.register_tool(RegisterToolOptions("tool"))
    assert authority(nothing, "tool") is None


@pytest.mark.spec("R-RES-16", "R-SK-10", "R-SK-15")
def test_a_project_that_is_not_trusted_and_a_main_skill_of_one_s_own_have_no_authority(tmp_path: Path) -> None:
    write(tmp_path / "library" / "main" / "SKILL.md", "default", role="main", category="read")
    write(tmp_path / "project" / ".agent" / "skills" / "top.skill.md", "chief", role="main")
    write(tmp_path / "project" / "SKILL.md", "whole-project", role="main")
    skill(tmp_path / "home" / ".agent" / "skills", "own")
    write(tmp_path / "home" / ".agent" / "skills" / "x.skill.md", "would-be", role="main")
    fabric = opened(tmp_path, trusted=False)
    assert authority(fabric, "own") == "default"
    fabric.set_roots([*map(trusting, fabric.roots)], project=str(tmp_path / "project"))
    assert authority(fabric, "own") == "whole-project"


def trusting(root: SearchRoot) -> SearchRoot:
    return SearchRoot(root.path, root.source, True, root.project)


@pytest.mark.spec("R-RES-17")
def test_a_new_main_skill_takes_over_once_its_file_was_saved(fabric: SkillFabric, tmp_path: Path) -> None:
    assert authority(fabric, "plain") == "chief"
    path = write(tmp_path / "project" / ".agent" / "skills" / "a" / "near.skill.md", "near", role="main")
    fabric.invalidate_file(str(path))
    assert authority(fabric, "plain") == "near"
    path.unlink()
    fabric.invalidate_file(str(path))
    assert authority(fabric, "plain") == "chief"
