"""Folders by convention, trust in projects, and pins of what was installed from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError, NotFound
from desktop.skills.catalogue.pins import ALL, Pins
from desktop.skills.catalogue.roots import Project, SearchRoot, conventional_roots, search_entries
from desktop.skills.resolution.fabric import SkillFabric
from desktop.skills.values.path_entries import extract_ignore, iter_paths
from tests.unit.skills.resolution.kit import MemoryStore, folder_skill, skill, write


def conventional(tmp_path: Path, *projects: Project) -> tuple[SearchRoot, ...]:
    home = str(tmp_path / "home")
    return conventional_roots(
        home=home, agent_home=f"{home}/.agent", library=str(tmp_path / "library"), projects=projects
    )


@pytest.mark.spec("R-RES-5", "R-SK-15")
def test_the_project_comes_first_then_one_s_own_then_shared_ones_then_the_library(tmp_path: Path) -> None:
    found = conventional(tmp_path, Project(str(tmp_path / "p"), True), Project(str(tmp_path / "q"), False))
    assert [(os.path.relpath(root.path, tmp_path), root.source, root.trusted) for root in found] == [
        ("p/.agent/skills", "project", True),
        ("p/.agents/skills", "project", True),
        ("p/.claude/skills", "project", True),
        ("q/.agent/skills", "project", False),
        ("q/.agents/skills", "project", False),
        ("q/.claude/skills", "project", False),
        ("home/.agent/skills", "mine", True),
        ("home/.agents/skills", "shared", True),
        ("home/.claude/skills", "shared", True),
        ("library", "library", True),
    ]
    entries = search_entries(found)
    assert [os.path.relpath(entry.dir, tmp_path) for entry in iter_paths(entries)] == [
        "p/.agent/skills",
        "p/.agents/skills",
        "p/.claude/skills",
        "home/.agent/skills",
        "home/.agents/skills",
        "home/.claude/skills",
        "library",
    ]
    assert [entry.external for entry in iter_paths(entries)] == [False] * 6 + [True]
    assert {"dist", "node_modules", ".git", ".cache"} <= set(extract_ignore(entries))


def test_home_opened_as_a_project_takes_nothing_away_from_the_person(tmp_path: Path) -> None:
    found = conventional(tmp_path, Project(str(tmp_path / "home"), False))
    assert [root.source for root in found] == ["mine", "shared", "shared", "library"]


def test_a_project_s_folder_that_leads_out_of_it_is_left_out_and_one_under_two_names_counts_once(
    tmp_path: Path,
) -> None:
    project = tmp_path / "p"
    for folder in (".agents/skills", ".claude"):
        (project / folder).mkdir(parents=True)
    (project / ".claude" / "skills").symlink_to(project / ".agents" / "skills")
    (tmp_path / "elsewhere").mkdir()
    (project / ".agent").symlink_to(tmp_path / "elsewhere")
    found = conventional(tmp_path, Project(str(project), True))
    assert [os.path.relpath(root.path, project) for root in found if root.source == "project"] == [".agents/skills"]


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".agents" / "skills"


def fabric_over(shared: Path, store: MemoryStore) -> SkillFabric:
    fabric = SkillFabric.open([SearchRoot(str(shared), "shared")], pin_store=store)
    fabric.refresh()
    return fabric


def states(fabric: SkillFabric) -> dict[str, str]:
    return {definition.name: definition.state for definition in fabric.list_tools()}


@pytest.mark.spec("R-SK-15")
def test_a_project_s_skills_are_listed_and_not_found_until_the_person_trusts_it(tmp_path: Path) -> None:
    path = skill(tmp_path / "p" / ".claude" / "skills", "theirs")
    fabric = SkillFabric.open(conventional(tmp_path, Project(str(tmp_path / "p"), False)))
    fabric.refresh()
    assert fabric.find_tool("theirs") is None
    assert fabric.list_tools() == []
    assert fabric.find_tool(str(path)).state == "untrusted"
    assert fabric.find_tool(f"file://{path}").state == "untrusted"
    assert [fabric.catalog().row(row).state for row in fabric.catalog().filter()] == ["untrusted"]
    fabric.set_roots(conventional(tmp_path, Project(str(tmp_path / "p"), True)), project=str(tmp_path / "p"))
    assert fabric.find_tool("theirs").state == "ready"
    assert fabric.find_tool(str(path)).state == "ready"
    fabric.set_roots(conventional(tmp_path, Project(str(tmp_path / "p"), False)))
    assert fabric.find_tool("theirs") is None


@pytest.mark.spec("R-SK-15")
def test_a_file_that_belongs_nowhere_is_not_trusted(tmp_path: Path) -> None:
    path = skill(tmp_path / "downloads", "loose")
    fabric = SkillFabric.open(conventional(tmp_path))
    assert fabric.find_tool(str(path)).state == "untrusted"


@pytest.mark.spec("R-SK-10")
def test_a_link_into_the_library_does_not_make_a_file_the_library_s(tmp_path: Path) -> None:
    path = skill(tmp_path / "downloads", "loose", tags=["meta-internal"])
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "way-in").symlink_to(tmp_path / "downloads")
    fabric = SkillFabric.open(conventional(tmp_path))
    for ref in (f"{tmp_path}/library/way-in/{path.name}", f"{tmp_path}/library/../downloads/{path.name}"):
        found = fabric.find_tool(ref)
        assert (found.source, found.state, found.tags) == ("project", "untrusted", ())


def test_what_a_folder_holds_at_first_is_on_and_off_once_it_changes_until_that_is_accepted(shared: Path) -> None:
    store = MemoryStore()
    path = folder_skill(shared, "tool", "As installed.")
    assert states(fabric_over(shared, store)) == {"tool": "ready"}
    folder_skill(shared, "tool", "Changed by an update.")
    skill(shared, "new-one")
    fabric = fabric_over(shared, store)
    assert states(fabric) == {"tool": "changed", "new-one": "changed"}
    fabric.accept(str(shared / "new-one.skill.md"), seen=fabric.difference(f"{shared}/new-one.skill.md").digest)
    assert fabric.find_tool("tool").description == "Changed by an update."
    assert [one["name"] for one in fabric.catalog().skill_list()] == ["new-one"]
    with pytest.raises(KnownError) as caught:
        fabric.body(fabric.find_tool("tool"))
    assert caught.value.code == "skills.changed"
    difference = fabric.difference(str(path))
    assert [(file.name, "As installed." in file.before, "an update." in file.after) for file in difference.files] == [
        ("SKILL.md", True, True)
    ]
    told: list[object] = []
    fabric.on_change(told.append)
    fabric.accept(str(path), seen=difference.digest)
    assert states(fabric)["tool"] == "ready"
    assert told
    assert fabric.body(fabric.find_tool("tool")) == "Do it.\n"
    assert states(fabric_over(shared, store))["tool"] == "ready"
    assert fabric.difference(str(path)).files == ()


def test_going_back_to_what_was_seen_turns_the_skill_on_again(shared: Path) -> None:
    store = MemoryStore()
    skill(shared, "tool", "One.")
    fabric_over(shared, store)
    skill(shared, "tool", "Two.")
    assert states(fabric_over(shared, store)) == {"tool": "changed"}
    skill(shared, "tool", "One.")
    assert states(fabric_over(shared, store)) == {"tool": "ready"}


def test_only_the_content_that_was_shown_can_be_accepted(shared: Path) -> None:
    store = MemoryStore()
    path = skill(shared, "tool", "One.")
    fabric_over(shared, store)
    skill(shared, "tool", "Two.")
    fabric = fabric_over(shared, store)
    difference = fabric.difference(str(path))
    skill(shared, "tool", "Three, slipped in.")
    with pytest.raises(KnownError) as caught:
        fabric.accept(str(path), seen=difference.digest)
    assert caught.value.code == "skills.changed_again"
    assert states(fabric) == {"tool": "changed"}


def test_a_script_beside_the_skill_is_part_of_what_was_seen(shared: Path) -> None:
    store = MemoryStore()
    path = folder_skill(shared, "tool")
    write(shared / "tool" / "scripts" / "run.sh", "x", body="echo good")
    folder_skill(shared / "tool" / "nested", "inner")
    assert states(fabric_over(shared, store)) == {"tool": "ready", "inner": "ready"}
    write(shared / "tool" / "scripts" / "run.sh", "x", body="echo evil")
    write(shared / "tool" / "added.txt", "x")
    fabric = fabric_over(shared, store)
    assert states(fabric) == {"tool": "changed", "inner": "ready"}
    files = {file.name: file for file in fabric.difference(str(path)).files}
    assert set(files) == {"scripts/run.sh", "added.txt"}
    assert "echo good" in files["scripts/run.sh"].before
    assert "echo evil" in files["scripts/run.sh"].after
    assert files["added.txt"].before is None


def test_what_the_file_says_when_it_is_used_has_to_be_what_was_seen(shared: Path) -> None:
    path = skill(shared, "tool", "One.")
    fabric = fabric_over(shared, MemoryStore())
    definition = fabric.find_tool("tool")
    assert fabric.body(definition) == "Do it.\n"
    skill(shared, "tool", "One.", "Do something else.")
    with pytest.raises(KnownError, match="changed"):
        fabric.body(definition)
    path.unlink()
    with pytest.raises(NotFound):
        fabric.body(definition)


def test_what_the_person_writes_in_the_editor_has_been_seen(shared: Path) -> None:
    fabric = fabric_over(shared, MemoryStore())
    path = skill(shared, "tool", "One.")
    fabric.invalidate_file(str(path), by_person=True)
    assert states(fabric) == {"tool": "ready"}
    skill(shared, "tool", "Two.")
    fabric.invalidate_file(str(path), by_person=True)
    assert states(fabric) == {"tool": "ready"}
    skill(shared, "tool", "Three.")
    fabric.invalidate_file(str(path))
    assert states(fabric) == {"tool": "changed"}


def test_one_s_own_skills_and_the_library_are_not_pinned(tmp_path: Path) -> None:
    store = MemoryStore()
    for source in ("mine", "library"):
        path = skill(tmp_path / source, "tool", "One.", category="read")
        fabric = SkillFabric.open([SearchRoot(str(tmp_path / source), source)], pin_store=store)
        fabric.refresh()
        skill(tmp_path / source, "tool", "Two.", category="read")
        fabric.refresh()
        assert states(fabric) == {"tool": "ready"}
        with pytest.raises(NotFound):
            fabric.difference(str(path))
    assert store.values == {}


@pytest.mark.spec("R-SK-15")
def test_a_project_is_pinned_from_when_it_is_trusted(tmp_path: Path) -> None:
    store = MemoryStore()
    skill(tmp_path / "p" / ".agents" / "skills", "tool", "Before trust.")
    fabric = SkillFabric.open(conventional(tmp_path, Project(str(tmp_path / "p"), False)), pin_store=store)
    fabric.refresh()
    assert store.values[ALL] == {}
    skill(tmp_path / "p" / ".agents" / "skills", "tool", "At trust.")
    fabric.set_roots(conventional(tmp_path, Project(str(tmp_path / "p"), True)))
    assert states(fabric) == {"tool": "ready"}
    skill(tmp_path / "p" / ".agents" / "skills", "tool", "After a pull.")
    fabric.refresh()
    assert states(fabric) == {"tool": "changed"}


@pytest.mark.spec("R-SK-15")
def test_what_arrives_later_in_a_folder_that_is_pinned_is_off_until_it_was_looked_at(shared: Path) -> None:
    store = MemoryStore()
    fabric = fabric_over(shared, store)
    path = skill(shared, "late")
    fabric.refresh()
    assert states(fabric) == {"late": "changed"}
    assert states(fabric_over(shared, store)) == {"late": "changed"}
    difference = fabric.difference(str(path))
    assert [(file.before, "Do it." in (file.after or "")) for file in difference.files] == [(None, True)]
    fabric.accept(str(path), seen=difference.digest)
    assert states(fabric_over(shared, store)) == {"late": "ready"}


@pytest.mark.spec("R-SK-15")
def test_a_changed_skill_stays_off_under_another_name_and_one_that_was_seen_may_move(shared: Path) -> None:
    path, other = folder_skill(shared, "tool"), folder_skill(shared, "other")
    fabric = fabric_over(shared, MemoryStore())
    folder_skill(shared, "tool", "Changed.")
    path.parent.rename(shared / "renamed")
    other.parent.rename(shared / "moved")
    fabric.refresh()
    assert states(fabric) == {"tool": "changed", "other": "ready"}
    with pytest.raises(KnownError):
        fabric.body(fabric.find_tool("tool"))


@pytest.mark.spec("R-SK-10", "R-SK-15")
def test_the_main_skill_above_a_project_s_skill_folders_is_pinned_with_the_project(tmp_path: Path) -> None:
    project, store = tmp_path / "p", MemoryStore()
    write(project / "SKILL.md", "chief", "At trust.", role="main")
    own = skill(project / ".agents" / "skills", "own")
    trusted = conventional(tmp_path, Project(str(project), True))

    def opened() -> SkillFabric:
        fabric = SkillFabric.open(trusted, pin_store=store, project=str(project))
        fabric.refresh()
        return fabric

    def authority(fabric: SkillFabric) -> str | None:
        found = fabric.find_authority(fabric.find_tool(str(own)))
        return None if found is None else found.description

    assert authority(opened()) == "At trust."
    write(project / "SKILL.md", "chief", "After a pull.", role="main")
    write(project / ".agents" / "head.skill.md", "head", "Slipped in.", role="main")
    fabric = opened()
    assert authority(fabric) is None
    chief = fabric.find_tool(str(project / "SKILL.md"))
    assert chief.state == "changed"
    with pytest.raises(KnownError):
        fabric.body(chief)
    fabric.accept(str(project / "SKILL.md"), seen=fabric.difference(str(project / "SKILL.md")).digest)
    assert authority(fabric) == "After a pull."
    fabric.set_roots(conventional(tmp_path, Project(str(project), False)))
    fabric.set_roots(trusted, project=str(project))
    assert authority(fabric) == "Slipped in."


@pytest.mark.spec("R-SK-15")
def test_trusting_a_project_anew_takes_it_as_it_is_then_and_leaves_other_pins_alone(
    tmp_path: Path, shared: Path
) -> None:
    tools = tmp_path / "p" / ".agents" / "skills"
    skill(tools, "tool", "One.")
    skill(shared, "other", "One.")
    fabric = SkillFabric.open(conventional(tmp_path, Project(str(tmp_path / "p"), True)), pin_store=MemoryStore())
    fabric.refresh()
    skill(tools, "tool", "Two.")
    skill(tools, "late")
    skill(shared, "other", "Two.")
    fabric.refresh()
    assert states(fabric) == {"tool": "changed", "late": "changed", "other": "changed"}
    fabric.set_roots(conventional(tmp_path, Project(str(tmp_path / "p"), False)))
    fabric.set_roots(conventional(tmp_path, Project(str(tmp_path / "p"), True)))
    assert states(fabric) == {"tool": "ready", "late": "ready", "other": "changed"}


@pytest.mark.spec("R-SK-15")
def test_another_trust_in_a_folder_holds_at_once_and_is_told_even_when_no_file_is_different(
    tmp_path: Path, shared: Path
) -> None:
    project = tmp_path / "p"
    skill(project / ".agents" / "skills", "tool", "The project's.")
    skill(shared, "tool", "Shared.")
    fabric = SkillFabric.open(conventional(tmp_path, Project(str(project), True)))
    fabric.refresh()
    told: list[object] = []
    fabric.on_change(told.append)
    assert (fabric.find_tool("tool").description, len(fabric.catalog())) == ("The project's.", 2)
    for trusted, found in ((False, "Shared."), (True, "The project's.")):
        told.clear()
        changes = fabric.set_roots(conventional(tmp_path, Project(str(project), trusted)))
        assert told == [changes]
        assert fabric.find_tool("tool").description == found
        assert [row["description"] for row in fabric.catalog().skill_list()] == [found]
        assert len(fabric.catalog()) == 2, "it is listed either way"
    fabric.set_roots(conventional(tmp_path))
    assert (fabric.find_tool("tool").description, len(fabric.catalog())) == ("Shared.", 1)
    assert len(told) == 2


class FailingStore(MemoryStore):
    """A store whose disk is full."""

    def put(self, values: object) -> None:
        raise KnownError("The disk is full.")


@pytest.mark.expects_log("could not be pinned")
def test_a_store_that_fails_does_not_stop_resolution(shared: Path) -> None:
    skill(shared, "tool")
    assert states(fabric_over(shared, FailingStore())) == {"tool": "ready"}


@pytest.mark.parametrize("kept", [None, 3, [], {"/x": 1}, {"/x": ["a"]}, {"/x": [1, 2]}])
def test_pins_that_make_no_sense_are_none(kept: object) -> None:
    store = MemoryStore()
    store.values[ALL] = kept
    assert not Pins(store).is_changed("/x", "digest")
