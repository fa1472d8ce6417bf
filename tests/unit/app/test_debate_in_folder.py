"""A debate that works in a folder, in the whole runtime: both sides work there, and none begins in a closed one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from desktop.domain.debates import DebateSetup, SideSetup
from desktop.domain.errors import ConfigurationError
from desktop.domain.messages import ToolResultBlock
from desktop.services.debates.setup import from_plain, to_plain
from tests.harness.timeouts import WAIT_S
from tests.unit.app.test_edge import Bench, Person, running

MODEL = "scripted/scripted"


def debate(project: str) -> DebateSetup:
    tools = ("read-file", "write-file")
    sides = (SideSetup("", prompt_text=f"You are {name}.", model=MODEL, tools=tools) for name in "ab")
    return DebateSetup("What does the plan say?", *sides, max_turns=2, project=project)


def turn(name: str) -> list[Any]:
    reads = [{"call": {"tool": "read_file", "arguments": {"path": "plan.txt"}}}]
    writes = [{"call": {"tool": "write_file", "arguments": {"path": f"{name}.txt", "content": name}}}]
    return [reads, writes, [{"text": f"Said {name}."}]]


async def held(bench: Bench, setup: DebateSetup) -> tuple[str, list[str]]:
    """The thread of a debate that was held, and what its calls gave."""
    debates = bench.services.debates
    thread_id = await debates.create(setup)
    await debates.start(thread_id)
    await debates.wait(thread_id, 4 * WAIT_S)
    path = await bench.services.chats.path(thread_id)
    return thread_id, [one.text for said in path for one in said.blocks if isinstance(one, ToolResultBlock)]


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2")
async def test_both_sides_of_a_debate_work_in_its_folder_and_a_fork_too(tmp_path: Path) -> None:
    async with running(tmp_path, "ask", Person(), [*turn("a"), *turn("b")]) as bench:
        (bench.project / "plan.txt").write_text("the plan\n")
        (bench.project / "AGENTS.md").write_text("Be short.\n")
        thread_id, results = await held(bench, debate(str(bench.project)))
        assert [text.strip() for text in results[::2]] == ["the plan", "the plan"]
        assert [(bench.project / f"{name}.txt").read_text() for name in "ab"] == ["a", "b"]
        assert {request.project for request in bench.person.asked} == {str(bench.project)}
        assert (await bench.services.chats.thread(thread_id)).project == str(bench.project)
        state = await bench.services.debates.state(thread_id)
        assert (state.setup.project, from_plain(to_plain(state.setup)).project) == (str(bench.project),) * 2
        (told,) = await bench.services.projects.instructions.look(str(bench.project))
        assert told.state == "told", "what the folder held when it was chosen counts as seen"
        fork = await bench.services.debates.fork(thread_id, 1, state.setup)
        assert (await bench.services.chats.thread(fork)).project == str(bench.project)


@pytest.mark.spec("R-PRJ-1")
async def test_a_debate_without_a_folder_works_in_none(tmp_path: Path) -> None:
    async with running(tmp_path, "ask", Person("deny"), [*turn("a"), *turn("b")]) as bench:
        (bench.project / "plan.txt").write_text("the plan\n")
        _, results = await held(bench, debate(""))
        assert not any("the plan" in text for text in results)


@pytest.mark.spec("R-PRJ-1", "R-PRJ-2")
@pytest.mark.parametrize("odd", ["gone", "file", "root", "of the app", "denied", "became a link", "unreadable"])
async def test_a_debate_does_not_begin_in_a_folder_that_no_thread_can_work_in(tmp_path: Path, odd: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    async with running(tmp_path, "ask", Person(), denied=str(secret)) as bench:
        (tmp_path / "file").write_text("no folder")
        moved = tmp_path / "work" / "moved"
        moved.mkdir()
        if odd == "unreadable" and os.geteuid() == 0:
            pytest.skip("this user may read everywhere")
        closed = {
            "gone": "/gone/away",
            "file": str(tmp_path / "file"),
            "root": "/",
            "of the app": str(tmp_path / "home" / "data"),
            "denied": str(secret),
            "became a link": str(bench.project),
            "unreadable": str(moved),
        }[odd]
        if odd == "became a link":
            bench.project.rmdir()
            bench.project.symlink_to(secret)
        if odd == "unreadable":
            moved.chmod(0)
        with pytest.raises(ConfigurationError, match="project: "):
            await bench.services.debates.create(debate(closed))
        moved.chmod(0o755)
        assert await bench.services.debates.debates() == [], "nothing half-done stays"
