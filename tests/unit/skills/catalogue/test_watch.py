"""Changes on disk are seen, through real notifications, and the watching ends when told."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.skills.catalogue import watch as watching
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.catalogue.watch import FolderWatch
from desktop.skills.resolution.fabric import SkillChanges, SkillFabric
from tests.harness.timeouts import WAIT_S
from tests.unit.skills.resolution.kit import MemoryStore, folder_skill, skill, until, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "home" / "skills"


@pytest.fixture
def fabric(root: Path) -> Iterator[SkillFabric]:
    """A fabric over a folder with one skill, watching."""
    skill(root, "first")
    fabric = SkillFabric.open([SearchRoot(str(root), "mine")])
    fabric.watch(wait=WAIT_S)
    fabric.refresh()
    yield fabric
    fabric.close()


def description(fabric: SkillFabric, name: str) -> str | None:
    """What the fabric believes, without being told to look."""
    catalog = fabric.catalog()
    return next((catalog.row(row).description for row in catalog.filter() if catalog.row(row).name == name), None)


@pytest.mark.spec("R-RES-17", "S-RES-2")
def test_a_new_an_edited_and_a_deleted_file_are_seen_and_names_follow(fabric: SkillFabric, root: Path) -> None:
    assert fabric.globals.watched == {str(root)}
    heard: list[SkillChanges] = []
    fabric.on_change(heard.append)
    assert fabric.find_tool("second") is None
    path = skill(root, "second", "New.")
    until(lambda: fabric.find_cached("second") != (True, None))
    assert fabric.find_tool("second").description == "New."
    skill(root, "second", "Edited.")
    until(lambda: fabric.find_tool("second").description == "Edited.")
    path.unlink()
    until(lambda: fabric.find_tool("second") is None)
    until(lambda: {"second"} <= frozenset().union(*(changes.names for changes in heard)))


@pytest.mark.spec("S-RES-2")
def test_a_change_is_seen_within_a_second(fabric: SkillFabric, root: Path) -> None:
    took: list[float] = []
    while not took or (min(took) >= 1.0 and len(took) < 5):  # the quickest of some: a machine may be busy for a while
        words = f"Version {len(took)}."
        skill(root, "first", words)
        begun = time.monotonic()
        until(lambda words=words: description(fabric, "first") == words)
        took.append(time.monotonic() - begun)
    assert min(took) < 1.0


def test_an_atomic_replace_is_seen_again_and_again(fabric: SkillFabric, root: Path) -> None:
    for number in range(3):
        part = write(root / ".part", "first", f"Version {number}.")
        os.replace(part, root / "first.skill.md")
        until(lambda number=number: description(fabric, "first") == f"Version {number}.")


def test_new_moved_and_deleted_folders_are_seen(fabric: SkillFabric, root: Path, tmp_path: Path) -> None:
    folder_skill(root / "a" / "b", "deep", "In a new folder.")
    until(lambda: description(fabric, "deep"))
    (root / "a").rename(root / "moved")
    until(lambda: (found := fabric.find_tool("deep")) and found.path == str(root / "moved" / "b" / "deep" / "SKILL.md"))
    folder_skill(root / "moved" / "b", "deep", "Edited after the move.")
    until(lambda: description(fabric, "deep") == "Edited after the move.")
    (root / "moved").rename(tmp_path / "outside")
    until(lambda: fabric.find_tool("deep") is None)
    (tmp_path / "outside").rename(root / "back")
    until(lambda: description(fabric, "deep"))
    shutil.rmtree(root / "back")
    until(lambda: description(fabric, "deep") is None)


def test_the_folder_itself_may_go_come_back_and_go_on(fabric: SkillFabric, root: Path) -> None:
    for number in range(2):
        shutil.rmtree(root)
        until(lambda: description(fabric, "first") is None)
        skill(root, "first", f"Back for time {number}.")
        until(lambda number=number: description(fabric, "first") == f"Back for time {number}.")
    skill(root, "first", "Edited.")
    until(lambda: description(fabric, "first") == "Edited.")


def test_a_folder_that_does_not_exist_yet_is_seen_when_it_is_made(tmp_path: Path) -> None:
    root = tmp_path / "home" / ".agents" / "skills"
    (tmp_path / "home").mkdir()
    fabric = SkillFabric.open([SearchRoot(str(root), "shared")], pin_store=MemoryStore())
    try:
        fabric.watch(wait=WAIT_S)
        fabric.refresh()
        root.parent.mkdir()
        folder_skill(root, "late")
        until(lambda: description(fabric, "late"))
        write(root / "late" / "scripts" / "x.py", "x")
        until(lambda: fabric.find_tool("late").state == "changed")
    finally:
        fabric.close()


def test_set_roots_watches_the_new_folders(fabric: SkillFabric, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    skill(other, "there")
    fabric.set_roots([*fabric.roots, SearchRoot(str(other), "mine")])
    assert description(fabric, "there")
    skill(other, "more")
    until(lambda: description(fabric, "more"))


def test_single_files_are_seen_come_change_and_go_and_nothing_beside_them_is(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "dotfiles"
    home.mkdir()
    elsewhere.mkdir()
    plain, linked, late = home / "tools.yaml", home / "linked.yaml", tmp_path / "later" / "mcp.yaml"
    linked.symlink_to(elsewhere / "real.yaml")
    seen: list[frozenset[str] | None] = []

    def last(path: Path) -> bool:
        return bool(seen) and (seen[-1] is None or seen[-1] == {str(path)})

    watch = FolderWatch((), seen.append, files=[str(plain), str(linked), str(late)])
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        (home / "other.yaml").write_text("x")
        for act in (
            lambda: plain.write_text("tools: []"),
            lambda: os.replace(home / "other.yaml", plain),
            plain.unlink,
        ):
            seen.clear()
            act()
            until(lambda: last(plain))
        seen.clear()
        (elsewhere / "real.yaml").write_text("y")
        until(lambda: last(linked))
        late.parent.mkdir()
        late.write_text("servers: []")
        until(lambda: last(late))
        seen.clear()
        late.write_text("servers: [] # more")
        until(lambda: last(late))
    finally:
        watch.stop()


def lead(link: Path, target: Path) -> None:
    """Let a link lead elsewhere in one step, as stow and home-manager do."""
    fresh = link.with_name(f"{link.name}-fresh")
    fresh.symlink_to(target)
    os.replace(fresh, link)


@pytest.mark.parametrize("moved", ["the file", "a link in the middle", "a folder above", "a folder by a relative link"])
def test_a_file_behind_links_is_followed_when_any_link_on_the_way_leads_elsewhere(tmp_path: Path, moved: str) -> None:
    first, second, between, home = (tmp_path / name for name in ("first", "second", "between", "home"))
    for folder in (first, second, between, home):
        folder.mkdir()
        (folder / "real.yaml").write_text("1")
    file = home / "tools.yaml"
    link, at, to = {
        "the file": (file, first / "real.yaml", second / "real.yaml"),
        "a link in the middle": (between / "middle", first / "real.yaml", second / "real.yaml"),
        "a folder above": (between / "current", first, second),
        "a folder by a relative link": (between / "current", Path("../first"), Path("..") / "second"),
    }[moved]
    link.symlink_to(at)
    if link != file:
        file.symlink_to(link / "real.yaml" if link.is_dir() else link)
    seen: list[frozenset[str] | None] = []
    watch = FolderWatch((), seen.append, files=[str(file)])
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        lead(link, to)
        until(lambda: bool(seen) and seen[-1] is None)
        for folder in (second, first):
            seen.clear()
            (folder / "real.yaml").write_text("2")
            if folder == first:
                lead(link, at)
            until(lambda: bool(seen))
    finally:
        watch.stop()


def test_a_skill_folder_behind_links_is_followed_when_one_leads_elsewhere(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name / "skills").mkdir(parents=True)
    (tmp_path / "current").symlink_to(tmp_path / "first")
    (tmp_path / "home").mkdir()
    root = tmp_path / "home" / "skills"
    root.symlink_to(tmp_path / "current" / "skills")
    seen: list[frozenset[str] | None] = []
    watch = FolderWatch([str(root)], seen.append)
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        lead(tmp_path / "current", tmp_path / "second")
        until(lambda: None in seen)
        seen.clear()
        skill(tmp_path / "second" / "skills", "new")
        until(lambda: any("new" in path for paths in seen for path in paths or ()))
    finally:
        watch.stop()


def test_links_in_a_ring_lead_nowhere_and_are_seen_when_they_do(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.symlink_to(file)
    seen: list[frozenset[str] | None] = []
    watch = FolderWatch((), seen.append, files=[str(file)])
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        file.unlink()
        file.write_text("tools: []")
        until(lambda: bool(seen))
        seen.clear()
        file.write_text("tools: [] # more")
        until(lambda: bool(seen))
    finally:
        watch.stop()


def test_stop_ends_the_thread_and_may_be_called_twice(root: Path) -> None:
    skill(root, "first")
    before = os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else []
    watch = FolderWatch([str(root)], lambda paths: None)
    watch.start()
    assert watch.wait_settled(WAIT_S)
    assert watch.live
    watch.stop()
    watch.stop()
    assert not watch.live
    assert not [thread for thread in threading.enumerate() if thread.name == "skills-watch"]
    if before:  # the system's own threads too, not only Python's
        until(lambda: len(os.listdir("/proc/self/task")) <= len(before))


class Exhausted:
    """A system whose limit of watches is reached: from the start, or after some folders."""

    def __init__(self, good: int = 0) -> None:
        self._good = good

    def __call__(self, folders: list[str], *, recursive: bool) -> watching.Notify:
        if self._good <= 0:
            raise OSError(28, "OS file watch limit reached.")
        self._good -= 1
        return watching.open_notify(folders, recursive=recursive)


class MadeMeanwhile:
    """Somebody makes ``folder`` in the very moment in which the watching of what is above it begins."""

    def __init__(self, folder: Path, *, before: bool) -> None:
        self._folder, self._before = folder, before

    def __call__(self, folders: list[str], *, recursive: bool) -> watching.Notify:
        if self._before and not recursive:
            self._folder.mkdir(exist_ok=True)
        notify = watching.open_notify(folders, recursive=recursive)
        if not recursive:
            self._folder.mkdir(exist_ok=True)
        return notify


@pytest.mark.spec("R-RES-17")
@pytest.mark.parametrize("made", ["skills", ".agents"])
@pytest.mark.parametrize("before", [True, False])
def test_a_folder_made_while_the_watching_begins_is_watched(tmp_path: Path, made: str, before: bool) -> None:
    root = tmp_path / ".agents" / "skills"
    if made == "skills":
        root.parent.mkdir()
    seen: list[frozenset[str] | None] = []
    meanwhile = MadeMeanwhile(root if made == "skills" else root.parent, before=before)
    watch = FolderWatch([str(root)], seen.append, open_notify=meanwhile)
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        skill(root, "one")
        until(lambda: None in seen or any("one" in path for paths in seen for path in paths or ()))
        until(lambda: watch.live)
        seen.clear()
        skill(root, "two")
        until(lambda: None in seen or any("two" in path for paths in seen for path in paths or ()))
    finally:
        watch.stop()


@pytest.mark.expects_log("cannot be watched")
@pytest.mark.parametrize("good", [0, 1])
def test_where_watching_is_not_possible_the_folders_are_looked_at_from_time_to_time(root: Path, good: int) -> None:
    skill(root, "first")
    looks: list[Any] = []
    watch = FolderWatch([str(root)], looks.append, open_notify=Exhausted(good))
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        assert not watch.live
        until(lambda: len(looks) >= 2)
        assert set(looks) == {None}
    finally:
        watch.stop()


@pytest.mark.expects_log("could not be taken in")
def test_whoever_takes_the_report_cannot_end_the_watching(root: Path) -> None:
    skill(root, "first")
    seen: list[str] = []

    def take(paths: frozenset[str] | None) -> None:
        seen.extend(paths or ())
        raise ValueError("mine alone")

    watch = FolderWatch([str(root)], take)
    watch.start()
    try:
        assert watch.wait_settled(WAIT_S)
        skill(root, "one")
        until(lambda: any("one" in path for path in seen))
        skill(root, "two")
        until(lambda: any("two" in path for path in seen))
    finally:
        watch.stop()
