"""tools.yaml of a running app: in force at once, the last good set kept, changed only through the app."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.approval.judgement import Category
from desktop.domain.errors import BoundaryViolation
from desktop.safety.confinement.environment import AllowlistEnvironment, needs_admin
from desktop.safety.confinement.process import GroupRunner
from desktop.safety.confinement.select import SystemConfinement
from desktop.tools.cli.definitions import SOURCE
from desktop.tools.cli.services import CliServices
from desktop.tools.cli.tool import CliTool
from desktop.tools.cli.tools import CliState, CliTools
from desktop.tools.person_file import ABSENT, CannotSaveTools, ToolsFileConflict
from desktop.tools.registry import ToolRegistry
from tests.unit.pipeline.kit import FakeTool
from tests.unit.tools.conftest import Bench

ENTRY = "  - {{name: {}, description: d, category: {}, cmd: {}, args: [{}]}}\n"


def tools(*entries: tuple[str, str]) -> str:
    return "tools:\n" + "".join(ENTRY.format(name, "read", cmd, "") for name, cmd in entries)


class Running:
    """The service with real tools, in a small world."""

    def __init__(self, bench: Bench, confinement: SystemConfinement) -> None:
        world = bench.world
        self.world = world

        def settings() -> Any:
            return world.settings

        services = CliServices(
            world.reader, world.policy, confinement, AllowlistEnvironment(settings), GroupRunner(), settings
        )
        self.path = world.home / "tools.yaml"
        self.registry = ToolRegistry([bench.bash, bench.read, bench.write])
        self.service = CliTools(
            self.path,
            self.registry,
            lambda definition: CliTool(definition, services),
            needs_admin=needs_admin,
            reserved=lambda name: "a skill of Assent" if name == "skill-list" else "",
        )

    def put(self, text: str) -> None:
        """As another program would write it."""
        self.path.write_text(text)

    @property
    def names(self) -> list[str]:
        return [tool.spec.name for tool in self.registry.tools() if tool.spec.source == SOURCE]


def reloaded(service: CliTools) -> CliState:
    service.reload()
    return service.state


@pytest.fixture
def running(bench: Bench) -> Running:
    return Running(bench, bench.confinement)


@pytest.mark.spec("R-CLI-1")
def test_every_valid_entry_is_registered_by_name_and_by_its_alias(running: Running) -> None:
    running.put(tools(("disk_free", "df"), ("today", "date")))
    assert reloaded(running.service).problems == ()
    assert running.names == ["disk-free", "today"]
    assert running.registry.find("disk_free") is running.registry.find("disk-free")
    assert running.registry.find("disk-free").spec.category is Category.READ  # type: ignore[union-attr]


@pytest.mark.spec("R-CLI-14")
def test_a_reload_replaces_all_and_a_broken_file_keeps_the_last_good_set(running: Running) -> None:
    running.put(tools(("one", "true"), ("two", "true")))
    running.service.reload()
    old = running.registry.find("one")
    for broken in ("tools: [", "words", "\x00", "tools: 5", "\udcff"):
        running.path.write_bytes(broken.encode("utf-8", "surrogateescape"))
        state = reloaded(running.service)
        assert state.kept
        assert state.problems[0].severity == "error"
        assert [tool.spec.name for tool in state.tools] == ["one", "two"]
        assert running.registry.find("one") is old
    running.put(tools(("two", "date"), ("three", "true")))
    assert not reloaded(running.service).kept
    assert running.names == ["three", "two"]
    running.path.unlink()
    assert reloaded(running.service).tools == ()
    assert running.names == []


@pytest.mark.spec("R-CLI-14", "R-TOOL-8")
def test_a_name_of_another_tool_or_of_the_apps_own_skills_is_refused(running: Running) -> None:
    running.put(tools(("bash", "true"), ("read_file", "true"), ("skill_list", "true"), ("mine", "true")))
    state = reloaded(running.service)
    assert running.names == ["mine"]
    assert [p.line for p in state.problems] == [2, 3, 4]
    assert running.registry.find("bash").spec.source == "library"  # type: ignore[union-attr]


@pytest.mark.spec("R-CLI-14")
def test_a_name_that_is_taken_between_check_and_swap_changes_nothing(running: Running) -> None:
    running.put(tools(("mine", "true")))
    running.service.reload()
    made = running.service._make

    def late(definition: Any) -> Any:
        if running.registry.find("late") is None:
            running.registry.register(FakeTool("late"))  # type: ignore[arg-type]
        return made(definition)

    service = CliTools(running.path, running.registry, late, needs_admin=needs_admin)
    running.put(tools(("mine", "true"), ("late", "true")))
    state = reloaded(service)
    assert state.kept
    assert "late" in state.problems[-1].message
    assert running.names == ["mine"]


@pytest.mark.spec("R-CLI-14")
def test_readers_never_see_half_a_set_while_it_is_replaced(running: Running) -> None:
    first, second = tools(("a1", "true"), ("a2", "true")), tools(("b1", "true"), ("b2", "true"))
    running.put(first)
    running.service.reload()
    seen: set[tuple[str, ...]] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.add(tuple(running.names))

    thread = threading.Thread(target=look)
    thread.start()
    for turn in range(40):
        running.put(second if turn % 2 else first)
        running.service.reload()
    stop.set()
    thread.join()
    assert seen <= {("a1", "a2"), ("b1", "b2")}


@pytest.mark.spec("R-CLI-14")
def test_a_file_that_looks_the_same_is_not_read_again_and_listeners_hear_of_reloads(running: Running) -> None:
    heard: list[int] = []
    end = running.service.on_change(lambda: heard.append(len(running.service.state.tools)))
    running.service.reload()
    running.service.reload_if_changed()
    running.put(tools(("one", "true")))
    running.service.reload_if_changed()
    running.service.reload_if_changed()
    end()
    running.service.reload()
    assert heard == [0, 1]


@pytest.mark.spec("R-CLI-14")
def test_a_file_of_the_same_size_whose_time_was_set_back_is_read_again(running: Running) -> None:
    running.put(tools(("one", "true")))
    running.service.reload()
    before = running.path.stat()
    running.path.write_text(running.path.read_text().replace("one", "two"))
    os.utime(running.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    running.service.reload_if_changed()
    assert [tool.definition.name for tool in running.service.state.tools] == ["two"]


@pytest.mark.spec("R-CLI-14")
def test_the_app_saves_atomically_privately_and_puts_it_in_force(running: Running) -> None:
    file = running.service.read()
    assert (file.text, file.stamp) == ("", ABSENT)
    text = tools(("one", "true"))
    saved = running.service.save(text, file.stamp)
    assert running.path.read_text() == text
    assert stat.S_IMODE(running.path.stat().st_mode) == 0o600
    assert running.names == ["one"]
    assert [name for name in os.listdir(running.path.parent) if name.startswith(".tools-")] == []
    again = running.service.save(tools(("two", "true")), saved.stamp)
    assert (running.names, again.text) == (["two"], tools(("two", "true")))


@pytest.mark.spec("R-CLI-14", "Q-17")
def test_a_change_of_another_program_is_never_overwritten_unasked(running: Running) -> None:
    mine = running.service.read()
    running.put("# theirs\n")
    with pytest.raises(ToolsFileConflict) as raised:
        running.service.save(tools(("one", "true")), mine.stamp)
    assert raised.value.theirs == "# theirs\n"
    assert running.path.read_text() == "# theirs\n"
    running.service.save(tools(("one", "true")), mine.stamp, over=True)
    assert running.names == ["one"]
    running.path.unlink()
    with pytest.raises(ToolsFileConflict) as raised:
        running.service.save("tools: []\n", "other")
    assert raised.value.theirs is None


@pytest.mark.spec("R-CLI-14")
def test_a_text_that_is_no_list_of_tools_is_not_saved(running: Running) -> None:
    running.put(tools(("one", "true")))
    running.service.reload()
    file = running.service.read()
    with pytest.raises(CannotSaveTools, match="Line 1, column 8"):
        running.service.save("tools: 5", file.stamp)
    assert running.path.read_text() == file.text
    running.service.save("tools:\n  - bad\n" + ENTRY.format("good", "read", "true", ""), file.stamp)
    assert running.names == ["good"]
    assert len(running.service.state.problems) == 1


@pytest.mark.spec("R-CLI-14")
def test_a_folder_a_pipe_and_a_huge_file_are_problems_and_no_hang(running: Running) -> None:
    running.path.mkdir()
    assert reloaded(running.service).kept
    running.path.rmdir()
    os.mkfifo(running.path)
    assert "no file" in reloaded(running.service).problems[0].message
    running.path.unlink()
    running.path.write_bytes(b"#" * 300_000)
    assert "larger than" in reloaded(running.service).problems[0].message


@pytest.mark.spec("R-CLI-14")
def test_a_link_to_the_file_stays_a_link(running: Running, tmp_path: Path) -> None:
    real = running.world.person / "dotfiles.yaml"
    real.write_text("tools: []\n")
    running.path.symlink_to(real)
    running.service.save(tools(("one", "true")), running.service.read().stamp)
    assert running.path.is_symlink()
    assert real.read_text() == tools(("one", "true"))


@pytest.mark.spec("R-FS-10", "Q-17")
async def test_file_tools_and_the_shell_never_write_it_whatever_is_allowed(running: Running, bench: Bench) -> None:
    running.put(tools(("one", "true")))
    before = running.path.read_text()
    world = running.world
    link = world.workspace / "innocent.yaml"
    link.symlink_to(running.path)
    for allowed in ((str(world.workspace),), (str(world.home),), ("/",), (str(world.workspace), str(running.path))):
        world.change(allowed=allowed)
        for path in (str(running.path), "../tools.yaml", "innocent.yaml", "/proc/self/root" + str(running.path)):
            with pytest.raises(BoundaryViolation):
                await bench.run(bench.write, path=path, content="tools: []")
        await bench.run(bench.bash, command="echo 'tools: []' > ../tools.yaml; cp note.txt ../tools.yaml; true")
        assert running.path.read_text() == before
    running.path.unlink()
    world.change(allowed=(str(world.home),))
    with pytest.raises(BoundaryViolation):
        await bench.run(bench.write, path=str(running.path), content="tools: []")
