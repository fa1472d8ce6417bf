"""Linked skill folders: followed where they stay in a known folder, else listed with why (R-RES-7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillFabric
from tests.unit.skills.resolution.kit import MemoryStore, folder_skill


def opened(*roots: SearchRoot) -> SkillFabric:
    fabric = SkillFabric.open(roots, pin_store=MemoryStore())
    fabric.refresh()
    return fabric


def links(fabric: SkillFabric, root: Path) -> list[str]:
    """What is said of links in a folder."""
    known = fabric.globals.index.peek(str(root), fabric._ignores)
    assert known is not None
    return [one.message for found in known.listing.problems.values() for one in found if one.code == "scan.link"]


@pytest.mark.spec("R-RES-7")
def test_a_linked_folder_is_followed_into_another_folder_that_is_searched(tmp_path: Path) -> None:
    agents, claude = tmp_path / "agents", tmp_path / "claude"
    folder_skill(agents, "pdf", body="Fill forms.")
    (agents / "pdf" / "forms.md").write_text("fields")
    claude.mkdir()
    (claude / "pdf").symlink_to(agents / "pdf", target_is_directory=True)
    fabric = opened(SearchRoot(str(claude), "shared"), SearchRoot(str(agents), "shared"))
    found = fabric.find_tool("pdf")
    assert found is not None
    assert (found.path, found.state) == (str(claude / "pdf" / "SKILL.md"), "ready")
    assert fabric.body(found) == "Fill forms.\n"
    assert fabric.read_beside(found, "forms.md") == b"fields"
    assert links(fabric, claude) == []


@pytest.mark.spec("R-RES-7", "R-SK-15")
def test_a_projects_link_is_followed_within_the_project_and_no_further(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    folder_skill(project / "plugins", "inside")
    folder_skill(other, "outside")
    root = project / ".claude" / "skills"
    root.mkdir(parents=True)
    (root / "inside").symlink_to("../../plugins/inside", target_is_directory=True)
    (root / "outside").symlink_to(other / "outside", target_is_directory=True)
    fabric = opened(SearchRoot(str(root), "project", True, str(project)), SearchRoot(str(other), "mine"))
    inside = fabric.find_tool("inside")
    assert inside is not None
    assert fabric.body(inside) == "Do it.\n"
    (said,) = links(fabric, root)
    assert said.startswith("outside is a link to a folder; it leads to ")
    assert "outside of the folders that are known" in said
    outside = fabric.find_tool("outside")
    assert outside is not None
    assert outside.source == "mine"  # where it lies, and not through the link
    (project / "plugins" / "inside" / "SKILL.md").write_text("---\nname: inside\ndescription: x\n---\nElse.\n")
    fabric.refresh()
    changed = fabric.find_tool("inside")
    assert changed is not None
    assert changed.state == "changed"


@pytest.mark.spec("R-RES-7")
def test_links_back_up_and_links_behind_links_are_said_and_not_followed(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    folder_skill(one, "a")
    folder_skill(two, "b")
    (one / "again").symlink_to(one / "a", target_is_directory=True)
    (one / "up").symlink_to(tmp_path, target_is_directory=True)
    (one / "two").symlink_to(two, target_is_directory=True)
    (two / "back").symlink_to(one, target_is_directory=True)
    fabric = opened(SearchRoot(str(one), "mine"), SearchRoot(str(two), "shared"))
    assert {skill.name for skill in fabric.list_tools()} == {"a", "b"}
    said = sorted(links(fabric, one))
    assert [message.split(" ")[0] for message in said] == ["again", "back", "up"]
    assert "searched where it lies" in said[0]
    assert "reached by a link" in said[1]


@pytest.mark.spec("R-RES-7", "R-SK-15")
def test_a_link_into_a_folder_that_is_trusted_no_longer_or_elsewhere_now_is_followed_no_more(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    folder_skill(two, "b")
    one.mkdir()
    (one / "b").symlink_to(two / "b", target_is_directory=True)
    fabric = opened(SearchRoot(str(one), "mine"), SearchRoot(str(two), "shared"))
    assert fabric.find_tool("b") is not None
    fabric.set_roots([SearchRoot(str(one), "mine"), SearchRoot(str(two), "shared", False)])
    assert fabric.find_tool("b") is None
    assert len(links(fabric, one)) == 1
    fabric.set_roots([SearchRoot(str(one), "mine"), SearchRoot(str(two), "shared")])
    assert fabric.find_tool("b") is not None
    (one / "b").unlink()
    folder_skill(tmp_path / "three", "b")
    (one / "b").symlink_to(tmp_path / "three" / "b", target_is_directory=True)
    fabric.refresh()
    found = fabric.find_tool("b")
    assert found is not None
    assert found.root == str(two)


@pytest.mark.spec("R-RES-7")
def test_a_linked_file_that_is_no_skill_by_itself_is_pinned_as_the_link_shows_it(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    (root / "wiki").mkdir(parents=True)
    (root / "commands").mkdir()
    (root / "commands" / "wiki.md").write_text("---\nname: wiki\ndescription: x\n---\nAsk.\n")
    (root / "wiki" / "SKILL.md").symlink_to("../commands/wiki.md")
    fabric = opened(SearchRoot(str(root), "shared"))
    found = fabric.find_tool("wiki")
    assert found is not None
    assert fabric.body(found) == "Ask.\n"
    (root / "commands" / "wiki.md").write_text("---\nname: wiki\ndescription: x\n---\nElse.\n")
    with pytest.raises(KnownError, match="changed since you saw it"):
        fabric.body(found)
