"""The caches: their keys, what is kept in them and what is evicted when."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.skills.cascade.effective import Cascades, promotions
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution import folders
from desktop.skills.resolution.authority import find_authority
from desktop.skills.resolution.caches import MAX_KEPT, Caches
from desktop.skills.resolution.find import find_cached, find_tool
from desktop.skills.resolution.globals import Globals, search_path
from desktop.skills.resolution.listing import list_tools
from desktop.skills.resolution.peers import cyclic_peers
from desktop.skills.resolution.resolver import Resolver
from tests.harness.skills import empty_globals, look_again
from tests.unit.skills.resolution.kit import opened, skill, write

CACHES = {
    "tool",
    "list",
    "dir",
    "cascade",
    "file",
    "authority",
    "cyclic_peers",
    "main_in_dir",
    "name_index",
    "promotions",
    "cascade_deps",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "skills"


def used(root: Path) -> Globals:
    """Globals in which every cache holds something."""
    write(root / "main.skill.md", "chief", role="main")
    skill(root, "note", role="middleware", level="call")
    skill(root, "tool", allowed="tool", note='"${args.path}"')
    globals = empty_globals([str(root), {"ignore": "dist"}], cwd=str(root))
    list_tools(globals)
    find_tool("missing", globals)
    tool = find_tool("tool", globals)
    chief = find_authority(tool, globals)
    Cascades(Resolver(globals), globals.cache).of(tool, {"path": "a"})
    cyclic_peers(globals)
    globals.cache.promotions = promotions(chief)
    assert all(getattr(globals.cache, name) for name in CACHES)
    return globals


@pytest.mark.spec("R-RES-13", "R-RES-14")
def test_there_are_these_caches_with_the_keys_of_the_table(root: Path) -> None:
    globals = used(root)
    caches, key = globals.cache, search_path(globals).key
    assert set(vars(caches)) - {"lock", "generation"} == CACHES
    assert caches.tool[("missing", key)] is None
    assert caches.tool[("tool", key)].name == "tool"
    assert [definition.name for definition in caches.list[key]] == ["chief", "note", "tool"]
    assert caches.dir[(str(root), ("dist",))] == (
        str(root / "main.skill.md"),
        str(root / "note.skill.md"),
        str(root / "tool.skill.md"),
    )
    assert [definition.name for definition in caches.file[str(root / "tool.skill.md")]] == ["tool"]
    assert caches.authority[f"file://{root}/tool.skill.md"].name == "chief"
    assert caches.main_in_dir[str(root)].name == "chief"
    assert caches.name_index[str(root)].names == {
        "chief": str(root / "main.skill.md"),
        "note": str(root / "note.skill.md"),
        "tool": str(root / "tool.skill.md"),
    }
    tool = caches.tool[("tool", key)]
    of_tool = ("tool", tool.path, tool.entry, tool.stamp, ())
    assert caches.cascade_deps == {of_tool: ("args.path",)}
    assert [key[: len(of_tool)] for key in caches.cascade] == [of_tool]
    assert caches.cyclic_peers == {"tool": frozenset({"tool"})}


@pytest.mark.spec("R-RES-13", "R-RES-14")
def test_values_that_read_alike_have_cascades_of_their_own(root: Path) -> None:
    globals = used(root)
    skill(root, "both", note='"${args.a} ${args.b}"')
    look_again(globals)
    both = find_tool("both", globals)
    cascades = Cascades(Resolver(globals), globals.cache)
    for args in ({"a": "x y", "b": "z"}, {"a": "x", "b": "y z"}, {"a": "1", "b": 2}, {"a": 1, "b": "2"}, {"a": "1 2"}):
        made = cascades.of(both, args)
        assert cascades.known(both, args) is made
    assert len(globals.cache.cascade) == 5


@pytest.mark.spec("R-RES-13")
def test_other_search_paths_have_other_entries(root: Path, tmp_path: Path) -> None:
    skill(root, "tool", "Here.")
    skill(tmp_path / "other", "tool", "There.")
    globals = empty_globals([str(root)])
    assert find_tool("tool", globals).description == "Here."
    assert find_tool("tool", globals, paths=[str(tmp_path / "other")]).description == "There."
    assert find_tool("tool", globals).description == "Here."
    assert len([key for key in globals.cache.tool if key[0] == "tool"]) == 2


@pytest.mark.spec("R-RES-15")
def test_other_search_folders_leave_nothing_of_what_was_known_promotions_included(root: Path, tmp_path: Path) -> None:
    chief = write(root / "main.skill.md", "chief", role="main")
    fabric = opened(SearchRoot(str(root), "mine"))
    caches = fabric.globals.cache
    caches.promotions = promotions(fabric.find_tool("chief"))
    assert fabric.find_tool("missing") is None
    assert fabric.list_tools()
    cyclic_peers(fabric.globals)
    fabric.set_roots([SearchRoot(str(tmp_path / "none"), "mine")])
    known = {name for name in CACHES if getattr(caches, name)}
    assert (known, set(caches.name_index)) == ({"dir", "name_index"}, {str(tmp_path / "none")}), "just looked into"
    assert (caches.promotions, fabric.find_tool("chief")) == (None, None)
    fabric.set_roots([SearchRoot(str(root), "mine")])
    assert fabric.find_tool("chief").path == str(chief)


@pytest.mark.spec("R-RES-15", "R-RES-17")
def test_a_changed_file_evicts_all_that_its_names_could_come_from_and_no_promotions(root: Path) -> None:
    globals = used(root)
    find_tool("chief", globals)
    names, paths = globals.cache.name_index[str(root)], globals.cache.dir[(str(root), ("dist",))]
    skill(root, "tool", "Changed.")
    skill(root, "added")
    look_again(globals)
    caches, key = globals.cache, search_path(globals).key
    assert ("tool", key) not in caches.tool
    assert ("missing", key) not in caches.tool
    assert caches.tool[("chief", key)].name == "chief"
    assert str(root / "tool.skill.md") not in caches.file
    assert set(caches.name_index[str(root)].names) == {*names.names, "added"}
    assert set(caches.dir[(str(root), ("dist",))]) == {*paths, str(root / "added.skill.md")}
    assert not any((caches.list, caches.main_in_dir, caches.authority, caches.cascade, caches.cascade_deps))
    assert caches.cyclic_peers is None
    assert caches.promotions is not None


@pytest.mark.spec("R-RES-15")
def test_nothing_is_forgotten_by_itself(root: Path) -> None:
    globals = used(root)
    before = find_tool("tool", globals)
    write(root / "tool.skill.md", "tool", "Changed behind its back.")
    assert find_tool("tool", globals) is before


@pytest.mark.spec("R-RES-17")
def test_a_name_that_moved_to_another_file_is_found_there(root: Path) -> None:
    globals = used(root)
    (root / "tool.skill.md").unlink()
    write(root / "deep" / "er" / "x.skill.md", "tool", "Moved.")
    look_again(globals)
    assert find_tool("tool", globals).description == "Moved."
    assert [definition.name for definition in list_tools(globals)] == ["tool", "chief", "note"]


@pytest.mark.spec("R-RES-17")
def test_an_edit_of_the_same_size_in_the_same_moment_is_seen(root: Path) -> None:
    path = skill(root, "tool", "Text number 1.")
    globals = empty_globals([str(root)])
    for number in range(2, 8):
        assert find_tool("tool", globals).description == f"Text number {number - 1}."
        write(path, "tool", f"Text number {number}.")
        look_again(globals)


@pytest.mark.spec("R-RES-17")
def test_what_was_worked_out_before_an_invalidation_is_not_kept_after_it() -> None:
    caches = Caches()
    began = caches.generation
    caches.forget_folders((), (), ["x"])
    assert caches.keep(began, caches.tool, ("x", ()), None) is None
    assert not caches.tool
    caches.keep(caches.generation, caches.tool, ("x", ()), None)
    assert caches.tool == {("x", ()): None}


def test_misses_do_not_fill_the_memory() -> None:
    caches = Caches()
    for number in range(MAX_KEPT + 10):
        caches.keep(caches.generation, caches.tool, (f"name-{number}", ()), None)
    assert len(caches.tool) <= MAX_KEPT


@pytest.mark.spec("R-RES-17")
def test_a_change_of_one_file_leaves_other_entries_alone(root: Path) -> None:
    globals = used(root)
    path = search_path(globals)
    other = globals.cache.file[str(root / "main.skill.md")]
    find_tool("chief", globals)
    write(root / "tool.skill.md", "tool", "New text.")
    folders.refresh_folder(globals, path.roots[0], path.ignore)
    assert globals.cache.file[str(root / "main.skill.md")] is other
    assert find_cached("chief", globals)[0]
    assert find_cached("tool", globals) == (False, None)
    assert find_tool("tool", globals).description == "New text."
