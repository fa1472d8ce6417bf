"""The fabric as the app holds it: start from the index, changes on disk, saves by the editor."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from wheel_index import write_index

from desktop.domain.errors import KnownError, NotFound
from desktop.domain.skills import SkillFinder
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillChanges, SkillFabric
from desktop.skills.resolution.programmatic import RegisterToolOptions
from tests.unit.skills.resolution.kit import folder_skill, skill, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "skills"


@pytest.fixture
def index(tmp_path: Path) -> str:
    return str(tmp_path / "data" / "skills.index")


def opened(root: Path, index: str = "") -> SkillFabric:
    return SkillFabric.open([SearchRoot(str(root), "mine")], index)


def shown(fabric: SkillFabric) -> list[str]:
    return [fabric.catalog().row(row).name for row in fabric.catalog().filter()]


def test_the_fabric_is_what_the_other_rooms_ask_for(root: Path) -> None:
    finder: SkillFinder = opened(root)
    assert finder.find_tool("none") is None


@pytest.mark.spec("R-RES-6")
def test_the_list_is_shown_from_the_index_before_anything_is_read(root: Path, index: str) -> None:
    skill(root, "one")
    first = opened(root, index)
    assert shown(first) == []
    first.refresh()
    assert shown(first) == ["one"]
    first.close()
    (root / "one.skill.md").unlink()
    skill(root, "two")
    later = opened(root, index)
    assert shown(later) == ["one"]
    assert later.globals.index.files_read == 0
    assert later.find_tool("one") is None
    assert later.find_tool("two").name == "two"
    assert later.refresh() == SkillChanges()
    assert shown(later) == ["two"]


@pytest.mark.parametrize("content", [b"", b"nonsense" * 1000, None])
def test_a_broken_index_is_made_anew(root: Path, index: str, content: bytes | None) -> None:
    skill(root, "one")
    first = opened(root, index)
    first.refresh()
    data = Path(index).read_bytes()
    Path(index).write_bytes(data[: len(data) // 2] if content is None else content)
    later = opened(root, index)
    assert shown(later) == []
    later.refresh()
    assert shown(later) == ["one"]
    assert Path(index).read_bytes()[: len(data) // 4] == data[: len(data) // 4]


@pytest.mark.expects_log("cannot be written")
def test_a_disk_that_does_not_take_the_index_costs_nothing_else(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    skill(root, "one")
    fabric = opened(root, str(tmp_path / "file" / "index"))
    fabric.refresh()
    assert shown(fabric) == ["one"]


def test_folders_that_are_searched_no_more_leave_the_index(root: Path, tmp_path: Path, index: str) -> None:
    skill(root, "one")
    skill(tmp_path / "other", "two")
    both = [SearchRoot(str(root), "mine"), SearchRoot(str(tmp_path / "other"), "shared")]
    fabric = SkillFabric.open(both, index)
    fabric.refresh()
    assert shown(fabric) == ["one", "two"]
    fabric.set_roots(both[:1])
    assert shown(fabric) == ["one"]
    assert fabric.find_tool("two") is None
    assert b"two" not in Path(index).read_bytes()


@pytest.mark.spec("R-SK-13", "R-RES-17", "R-RES-8")
def test_once_a_save_returned_the_skill_is_what_was_saved(root: Path) -> None:
    skill(root, "old-name")
    fabric = opened(root)
    fabric.refresh()
    assert [fabric.find_tool(name) for name in ("new-name", "deep-one")] == [None, None]
    listed = fabric.list_tools()
    path = write(root / "old-name.skill.md", "new-name", "Saved.")
    assert fabric.invalidate_file(str(path)).names == {"old-name", "new-name"}
    assert fabric.find_tool("new-name").description == "Saved."
    assert fabric.find_tool("old-name") is None
    assert fabric.list_tools() != listed
    deep = folder_skill(root / "a" / "b", "deep-one")
    assert fabric.invalidate_file(str(deep)).names == {"deep-one"}
    assert fabric.find_tool("deep-one").path == str(deep)
    assert shown(fabric) == ["deep-one", "new-name"]
    shutil.rmtree(root / "a")
    assert fabric.invalidate_file(str(deep)).names == {"deep-one"}
    assert fabric.find_tool("deep-one") is None
    assert fabric.find_tool(str(deep)) is None


@pytest.mark.spec("R-SK-13")
def test_a_saved_file_outside_the_search_path_is_read_anew(root: Path, tmp_path: Path) -> None:
    path = skill(tmp_path / "elsewhere", "loose", "One.")
    fabric = opened(root)
    assert fabric.find_tool(str(path)).description == "One."
    skill(tmp_path / "elsewhere", "loose", "Two.")
    fabric.invalidate_file(str(path))
    assert fabric.find_tool(str(path)).description == "Two."


@pytest.mark.spec("R-RES-5", "R-RES-17")
def test_a_saved_skill_shadows_and_a_deleted_one_uncovers(root: Path, tmp_path: Path) -> None:
    skill(tmp_path / "library", "tool", "The library's.", category="read")
    fabric = SkillFabric.open([SearchRoot(str(root), "mine"), SearchRoot(str(tmp_path / "library"), "library")])
    assert fabric.find_tool("tool").source == "library"
    path = skill(root, "tool", "Mine.")
    fabric.invalidate_file(str(path))
    assert fabric.find_tool("tool").source == "mine"
    path.unlink()
    fabric.invalidate_file(str(path))
    assert fabric.find_tool("tool").source == "library"


def test_listeners_hear_of_changes_until_they_end_and_their_faults_stay_theirs(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fabric = opened(root)
    heard: list[SkillChanges] = []
    end = fabric.on_change(heard.append)
    path = skill(root, "one")
    fabric.refresh()
    assert heard == [SkillChanges(frozenset({"one"}), frozenset({str(path)}))]
    end()
    end()
    skill(root, "two")
    fabric.refresh()
    assert len(heard) == 1


@pytest.mark.expects_log("a listener of skill changes failed")
def test_a_listener_that_raises_does_not_keep_others_from_hearing(root: Path) -> None:
    fabric = opened(root)
    heard: list[SkillChanges] = []

    def broken(changes: SkillChanges) -> None:
        raise ValueError("mine alone")

    fabric.on_change(broken)
    fabric.on_change(heard.append)
    skill(root, "one")
    fabric.refresh()
    assert len(heard) == 1


def test_a_body_is_what_the_file_has_now_unless_its_meaning_changed(root: Path) -> None:
    path = skill(root, "one", body="First body.")
    fabric = opened(root)
    definition = fabric.find_tool("one")
    assert fabric.body(definition) == "First body.\n"
    skill(root, "one", body="Second body.")
    assert fabric.body(definition) == "Second body.\n"
    skill(root, "one", allowed="bash")
    with pytest.raises(KnownError, match="changed"):
        fabric.body(definition)
    path.unlink()
    with pytest.raises(NotFound):
        fabric.body(definition)
    fabric.register_tool(RegisterToolOptions("tool"))
    with pytest.raises(NotFound):
        fabric.body(fabric.find_tool("tool"))


def test_callbacks_and_near_names_through_the_fabric(root: Path) -> None:
    skill(root, "file-read")
    fabric = opened(root)
    name = fabric.create_callback_ref("on-end", lambda ctx, args: 7)
    assert fabric.find_cached(name)[1].fn(None, {}) == 7
    assert fabric.unregister_tool(name)
    fabric.refresh()
    assert fabric.suggest_names("file-reed") == ["file-read"]


def test_a_home_that_is_a_link_is_searched(tmp_path: Path) -> None:
    skill(tmp_path / "real" / "skills", "one")
    os.symlink(tmp_path / "real", tmp_path / "home")
    fabric = opened(tmp_path / "home" / "skills")
    fabric.refresh()
    assert fabric.find_tool("one").path == str(tmp_path / "home" / "skills" / "one.skill.md")
    path = skill(tmp_path / "real" / "skills", "two")
    fabric.invalidate_file(str(path))
    assert fabric.find_tool("two").path == str(tmp_path / "home" / "skills" / "two.skill.md")


def test_a_refresh_reads_anew_what_was_loaded_by_path_from_elsewhere(root: Path, tmp_path: Path) -> None:
    path = skill(tmp_path / "elsewhere", "loose", "One.")
    fabric = opened(root)
    assert fabric.find_tool(str(path)).description == "One."
    skill(tmp_path / "elsewhere", "loose", "Two.")
    assert fabric.find_tool(str(path)).description == "One."
    fabric.refresh()
    assert fabric.find_tool(str(path)).description == "Two."


@pytest.mark.spec("R-SK-13", "R-RES-17")
def test_a_save_counts_at_once_however_many_threads_are_looking(root: Path) -> None:
    path = skill(root, "busy", "Version 0.")
    for number in range(30):
        skill(root, f"other-{number}")
    fabric, stop = opened(root), threading.Event()

    def look() -> None:
        while not stop.is_set():
            fabric.find_tool("busy")
            fabric.find_tool("absent")
            fabric.list_tools()
            fabric.catalog().skill_list()

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(1, 40):
            name = "busy" if number % 3 else "absent"
            write(path, name, f"Version {number}.")
            fabric.invalidate_file(str(path))
            assert fabric.find_tool(name).description == f"Version {number}."
            assert fabric.find_tool("absent" if name == "busy" else "busy") is None
            assert f"Version {number}." in {one.description for one in fabric.list_tools()}
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.spec("R-RES-6", "R-RES-17")
def test_what_the_build_time_index_led_to_is_forgotten_when_the_folder_turns_out_different(root: Path) -> None:
    skill(root, "hinted", "Packed.")
    write_index(root)
    fabric = opened(root)
    assert fabric.find_tool("hinted").description == "Packed."
    skill(root, "hinted", "Newer.")
    fabric.refresh()
    assert fabric.find_tool("hinted").description == "Newer."
