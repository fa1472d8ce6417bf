"""find_tool: which definition a reference means."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from wheel_index import write_index

from desktop.domain.errors import ConfigurationError
from desktop.skills.catalogue.scan import BUILD_INDEX
from desktop.skills.resolution.find import find_cached, find_tool
from desktop.skills.resolution.listing import list_tools
from desktop.skills.resolution.programmatic import RegisterToolOptions, register_tool, unregister_tool
from desktop.skills.resolution.suggestions import suggest_names
from tests.harness.skills import empty_globals, look_again
from tests.unit.skills.resolution.kit import folder_skill, skill, text, write


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return tmp_path / "one"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return tmp_path / "two"


@pytest.mark.spec("R-RES-5", "R-RES-10")
def test_the_first_folder_with_the_name_wins_and_programmatic_tools_before_all(one: Path, two: Path) -> None:
    skill(one, "both", "The first.")
    skill(two, "both", "The second.")
    skill(two, "later")
    globals = empty_globals([str(one), str(two)])
    assert find_tool("both", globals).description == "The first."
    assert find_tool("later", globals).root == str(two)
    register_tool(globals, RegisterToolOptions("both", lambda ctx, args: 1, "By code."))
    assert find_tool("both", globals).description == "By code."
    unregister_tool(globals, "both")
    assert find_tool("both", globals).description == "The first."


@pytest.mark.spec("R-RES-8", "R-RES-20")
def test_a_missing_name_is_none_and_known_to_be_missing_until_it_is_invalidated(one: Path) -> None:
    one.mkdir()
    globals = empty_globals([str(one)])
    assert find_tool("new", globals) is None
    assert find_cached("new", globals) == (True, None)
    skill(one, "new")
    assert find_tool("new", globals) is None
    look_again(globals)
    assert find_cached("new", globals) == (False, None)
    assert find_tool("new", globals).name == "new"
    assert find_cached("new", globals)[1].name == "new"


@pytest.mark.spec("R-RES-6")
def test_a_name_that_the_index_lacks_is_looked_for_on_the_disk_once(one: Path, two: Path) -> None:
    skill(one, "old")
    skill(two, "fresh", "Of the second folder.")
    globals = empty_globals([str(one), str(two)])
    assert find_tool("old", globals)
    skill(one, "fresh", "Of the first folder.")
    assert find_tool("fresh", globals).description == "Of the first folder."


@pytest.mark.spec("R-RES-6")
def test_the_build_time_index_is_asked_first_and_believed_only_as_far_as_the_files_agree(one: Path) -> None:
    skill(one, "listed")
    skill(one, "renamed")
    gone = skill(one, "gone")
    write_index(one)
    gone.unlink()
    write(one / "renamed.skill.md", "other-name")
    globals = empty_globals([str(one)])
    assert find_tool("listed", globals).name == "listed"
    assert globals.index.files_read == 0
    assert find_tool("renamed", globals) is None
    assert find_tool("other-name", globals).name == "other-name"
    assert find_tool("gone", globals) is None


@pytest.mark.spec("R-RES-6")
@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"version": 1, "names": 3}',
        '{"version": 9, "names": {}}',
        '{"version": 1, "names": {"here": "../../etc/passwd.skill.md", "here2": 3}}',
    ],
)
def test_a_broken_build_time_index_is_passed_over(one: Path, content: str) -> None:
    skill(one, "here")
    (one / BUILD_INDEX).write_text(content)
    assert find_tool("here", empty_globals([str(one)])).path == str(one / "here.skill.md")


@pytest.mark.spec("R-RES-4", "R-RES-18")
def test_a_path_goes_past_the_search_path_against_the_working_folder(one: Path, two: Path) -> None:
    skill(one, "tool", "On the search path.")
    skill(two, "tool", "Elsewhere.")
    globals = empty_globals([str(one)], cwd=str(two))
    assert find_tool("./tool.skill.md", globals).description == "Elsewhere."
    assert find_tool("one/tool.skill.md", globals, cwd=str(one.parent)).description == "On the search path."
    assert find_tool(str(one / "tool.skill.md"), globals).root == str(one)
    assert find_tool("./missing.skill.md", globals) is None
    assert find_tool("Tool", globals) is None
    assert find_tool("a\0b", globals) is None


def test_a_path_to_a_folder_means_the_skill_in_it(one: Path) -> None:
    folder_skill(one, "inner")
    assert find_tool("./inner", empty_globals([], cwd=str(one))).name == "inner"


@pytest.mark.spec("R-RES-2", "S-RES-4")
def test_uris_match_the_source_of_registered_tools_and_files_load_directly(one: Path) -> None:
    path = skill(one, "on-disk")
    globals = empty_globals([])
    assert find_tool("mcp://server/tool", globals) is None
    assert find_tool(f"file://{path}", globals).name == "on-disk"
    register_tool(globals, RegisterToolOptions("server-tool", src="mcp://server/tool", source="mcp"))
    register_tool(globals, RegisterToolOptions("delegate", src="inline://7"))
    assert find_tool("mcp://server/tool", globals).name == "server-tool"
    assert find_tool("inline://7", globals).name == "delegate"
    assert find_tool("inline://8", globals) is None
    assert find_tool("file://elsewhere/x", globals) is None


@pytest.mark.spec("R-RES-2", "R-RES-4", "R-SK-8")
def test_a_fragment_selects_in_a_file_of_several_skills(one: Path) -> None:
    path = one / "several.skill.md"
    one.mkdir()
    path.write_text(text("first") + text("second"))
    globals = empty_globals([str(one)])
    assert find_tool(f"{path}#second", globals).name == "second"
    assert find_tool(f"file://{path}#first", globals).name == "first"
    assert find_tool(f"{path}#third", globals) is None
    with pytest.raises(ConfigurationError, match="several") as caught:
        find_tool(str(path), globals)
    assert "#first" in caught.value.next_step
    path.write_text(text("first") + text("second", role="main"))
    look_again(globals)
    assert find_tool(str(path), globals).name == "second"


@pytest.mark.spec("R-RES-10", "S-RES-3")
def test_a_further_name_means_its_tool_before_any_file_of_that_name(one: Path) -> None:
    skill(one, "read-all", "On disk.")
    skill(one, "read-some", "On disk.")
    globals = empty_globals([str(one)], cwd=str(one))
    register_tool(globals, RegisterToolOptions("read-file", description="By code.", aliases=("read_file", "read-all")))
    for ref in ("read-file", "read_file", "read-all"):
        assert find_tool(ref, globals).description == "By code.", ref
        assert find_cached(ref, globals) == (True, find_tool("read-file", globals)), ref
    assert find_tool("read-some", globals).description == "On disk."
    unregister_tool(globals, "read-file")
    assert find_tool("read-all", globals).description == "On disk."
    assert find_tool("read_file", globals) is None


@pytest.mark.spec("R-RES-20")
def test_near_names_are_offered_for_one_that_is_missing_but_never_a_hidden_one(one: Path) -> None:
    for name in ("file-read", "file-write", "file-reader", "unrelated"):
        skill(one, name)
    skill(one, "file-raed", visibility="hidden")
    globals = empty_globals([str(one)])
    register_tool(globals, RegisterToolOptions("far-off"))
    assert find_tool("file-red", globals) is None
    assert suggest_names("file-red", globals) == ["file-read", "file-reader", "file-write"]
    assert suggest_names("file_read.skill", globals, 1) == ["file-read"]
    assert suggest_names("zzzz", globals) == []
    assert suggest_names("", globals) == []


@pytest.mark.spec("R-RES-9")
def test_all_tools_are_listed_once_programmatic_ones_first_then_folder_by_folder(one: Path, two: Path) -> None:
    skill(one, "b-skill")
    skill(one, "a-skill")
    skill(two, "a-skill", "Shadowed.")
    skill(two, "c-skill")
    globals = empty_globals([str(one), str(two)])
    register_tool(globals, RegisterToolOptions("z-tool"))
    register_tool(globals, RegisterToolOptions("c-skill", description="By code."))
    found = list_tools(globals)
    assert [definition.name for definition in found] == ["z-tool", "c-skill", "a-skill", "b-skill"]
    assert found[1].description == "By code."
    assert {definition.name: definition for definition in found}["a-skill"].description == "Does it."
    assert found[2] is find_tool("a-skill", globals)


@pytest.mark.spec("R-SK-6")
def test_a_code_skill_that_raises_when_it_runs_is_listed_and_not_run(one: Path) -> None:
    one.mkdir()
    marker = one / "ran"
    (one / "bad.skill.py").write_text(
        "frontmatter = {'name': 'bad', 'description': 'Raises.'}\n"
        f"open({str(marker)!r}, 'w')\nraise SystemExit('run')\n\ndef run(ctx, args):\n    return 1\n"
    )
    globals = empty_globals([str(one)])
    assert [definition.name for definition in list_tools(globals)] == ["bad"]
    assert find_tool("bad", globals).kind == "python"
    assert not marker.exists()


@pytest.mark.spec("R-RES-19")
def test_of_two_files_with_one_name_the_first_by_path_wins_and_the_other_says_so(one: Path) -> None:
    second = write(one / "b" / "x.skill.md", "twin", "The second.")
    first = write(one / "a" / "y.skill.md", "twin", "The first.")
    globals = empty_globals([str(one)])
    assert find_tool("twin", globals).path == str(first)
    loser = find_tool(str(second), globals)
    assert loser.state == "broken"
    assert "name.duplicate" in {problem.code for problem in loser.problems}


def test_a_file_that_goes_between_listing_and_loading_is_simply_not_there(one: Path) -> None:
    path = skill(one, "going")
    skill(one, "staying")
    globals = empty_globals([str(one)])
    write_index(one)
    path.unlink()
    assert find_tool("going", globals) is None
    assert [definition.name for definition in list_tools(globals)] == ["staying"]


@pytest.mark.spec("R-RES-8")
def test_many_threads_find_the_same_definition(one: Path) -> None:
    for number in range(50):
        skill(one, f"skill-{number}")
    globals = empty_globals([str(one)])
    found: list[set[int]] = []

    def look() -> None:
        found.append({id(find_tool(f"skill-{number}", globals)) for number in range(50)})

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    names = {find_tool(f"skill-{number}", globals).name for number in range(50)}
    assert names == {f"skill-{number}" for number in range(50)}


@pytest.mark.spec("R-RES-6")
def test_a_watched_folder_is_asked_again_only_before_a_name_counts_as_absent_everywhere(one: Path, two: Path) -> None:
    skill(one, "old")
    skill(two, "second", "Of the second folder.")
    globals = empty_globals([str(one), str(two)])
    assert find_tool("old", globals)
    globals.watched = frozenset({str(one)})
    skill(one, "second", "Not reported yet.")
    assert find_tool("second", globals).description == "Of the second folder."
    skill(one, "third")
    assert find_tool("third", globals).root == str(one)
