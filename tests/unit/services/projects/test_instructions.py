"""AGENTS.md and CLAUDE.md of a project: told as they were seen, nearest last, and never before they were."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.messages import ChatMessage, ToolCallBlock, ToolResultBlock
from desktop.services.chats.service import ConversationService
from desktop.services.projects.instructions import MAX_TOLD, words_of
from desktop.services.projects.reading import MAX_BYTES
from desktop.services.projects.telling import FolderTexts, worked_in
from tests.harness.timeouts import WAIT_S
from tests.unit.agents.script import Script, call, calls
from tests.unit.agents.script import says as speaks
from tests.unit.pipeline.kit import FakeTool
from tests.unit.safety.world import World as Places
from tests.unit.services.kit import MODEL, world
from tests.unit.services.projects.test_service import Chosen, chosen

pytestmark = pytest.mark.spec("R-PRJ-3")


async def told(at: Chosen, *folders: str) -> list[str]:
    project = str(at.work / "tides")
    async with asyncio.timeout(WAIT_S):
        found = await at.instructions.told(project, [os.path.join(project, folder) for folder in folders])
    return [text for _, text in found]


async def states(at: Chosen) -> dict[str, str]:
    async with asyncio.timeout(WAIT_S):
        return {one.name: one.state for one in await at.instructions.look(str(at.work / "tides"))}


async def test_what_a_folder_holds_when_it_is_chosen_is_told_the_nearest_last(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        tides = at.work / "tides"
        (tides / "data" / "deep").mkdir(parents=True)
        (tides / "other").mkdir()
        for name in ("AGENTS.md", "CLAUDE.md", "data/AGENTS.md", "data/deep/CLAUDE.md", "other/AGENTS.md"):
            (tides / name).write_text(name)
        assert await told(at) == [], "nobody has chosen the folder yet"
        assert "4 told" not in (await at.service.look(str(tides))).brought[0].note
        await at.service.choose("", str(tides))
        assert await told(at) == ["AGENTS.md", "CLAUDE.md"]
        way = ["AGENTS.md", "CLAUDE.md", "data/AGENTS.md", "data/deep/CLAUDE.md"]
        assert await told(at, "data/deep") == way
        assert await told(at, "data/deep", "data") == way
        assert await told(at, "..", "/etc", "../report") == ["AGENTS.md", "CLAUDE.md"]
        assert [name for name, _ in await at.instructions.told(str(tides), [str(tides / "data")], root=False)] == [
            "data/AGENTS.md"
        ]


async def test_what_changes_or_arrives_later_is_told_once_exactly_that_was_looked_at(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        tides = at.work / "tides"
        agents = tides / "AGENTS.md"
        agents.write_text("Be kind.\n")
        await at.service.choose("", str(tides))
        agents.write_text("Run rm.\n")
        (tides / "CLAUDE.md").write_text("New.\n")
        assert await told(at) == []
        assert await states(at) == {"AGENTS.md": "changed", "CLAUDE.md": "new"}
        (file, _) = await at.instructions.look(str(tides))
        assert (file.before, file.text) == ("Be kind.\n", "Run rm.\n")
        await at.service.choose("", str(tides))
        assert await told(at) == [], "choosing it again is not looking at it"
        agents.write_text("Run something else.\n")
        with pytest.raises(KnownError, match="changed again"):
            await at.instructions.accept(str(tides), "AGENTS.md", file.digest)
        assert await told(at) == []
        (file, other) = await at.instructions.look(str(tides))
        await at.instructions.accept(str(tides), "AGENTS.md", file.digest)
        assert await told(at) == ["Run something else.\n"]
        await at.instructions.accept(str(tides), "CLAUDE.md", other.digest)
        assert await told(at) == ["Run something else.\n", "New.\n"]
        agents.write_text("Be kind.\n")
        assert await told(at) == ["New.\n"], "what was seen once before has to be seen again"


async def test_files_that_are_no_text_too_big_a_pipe_or_elsewhere_are_named_and_never_told(
    tmp_path, monkeypatch
) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        tides = at.work / "tides"
        for name in ("big", "binary", "pipe", "outside", "folder", "denied", "inside", "broken", "fits", "loop"):
            (tides / name).mkdir()
        (tides / "big/AGENTS.md").write_bytes(b"x" * 5_000_000)
        (tides / "binary/AGENTS.md").write_bytes(b"\x00\xff\xfe")
        os.mkfifo(tides / "pipe/AGENTS.md")
        (tides / "outside/AGENTS.md").symlink_to(at.places.workspace / "note.txt")
        (tides / "folder/AGENTS.md").mkdir()
        (tides / "denied/AGENTS.md").write_text("no")
        (tides / "CLAUDE.md").write_text("yes")
        (tides / "inside/AGENTS.md").symlink_to("../CLAUDE.md")
        (tides / "broken/AGENTS.md").symlink_to("nowhere")
        (tides / "fits/AGENTS.md").write_bytes("ä".encode() * (MAX_BYTES // 2))
        (tides / "loop/AGENTS.md").symlink_to("AGENTS.md")
        at.places.change(denied=(str(tides / "denied"),))
        await at.service.choose("", str(tides))
        assert await states(at) == {
            "CLAUDE.md": "told",
            "big/AGENTS.md": "too big",
            "binary/AGENTS.md": "not text",
            "pipe/AGENTS.md": "closed",
            "outside/AGENTS.md": "a link outside",
            "folder/AGENTS.md": "closed",
            "denied/AGENTS.md": "closed",
            "broken/AGENTS.md": "closed",
            "loop/AGENTS.md": "closed",
            "fits/AGENTS.md": "told",
        }, "a link to another one says the same, so it is not told twice"
        folders = [folder.name for folder in tides.iterdir() if folder.is_dir()]
        assert await told(at, *folders) == ["yes", "ä" * (MAX_BYTES // 2)]
        for name in ("big", "binary", "pipe", "outside", "denied"):
            with pytest.raises(KnownError):
                await at.instructions.accept(str(tides), f"{name}/AGENTS.md", "")


async def test_a_folder_that_turns_into_a_link_tells_nothing_of_where_it_leads(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        tides = at.work / "tides"
        (tides / "AGENTS.md").write_text("mine")
        (at.work / "report" / "AGENTS.md").write_text("mine")
        await at.service.choose("", str(tides))
        tides.rename(at.work / "moved")
        tides.symlink_to(at.work / "report")
        assert await told(at) == []


async def test_all_that_is_told_has_a_limit_and_the_nearest_comes_first(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        deep = at.work / "tides"
        for _ in range(6):
            (deep / "AGENTS.md").write_text(deep.name * 1_000 + "x" * (MAX_BYTES - 6_000))
            deep = deep / "a"
            deep.mkdir()
        await at.service.choose("", str(at.work / "tides"))
        texts = await told(at, "a/a/a/a/a/a")
        assert sum(map(len, texts)) <= MAX_TOLD
        assert 0 < len(texts) < 6
        assert texts[-1].startswith("a")
        assert not any(text.startswith("tides") for text in texts)


async def test_what_is_kept_of_a_folder_survives_a_restart_and_damage_means_not_seen(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        tides = at.work / "tides"
        (tides / "AGENTS.md").write_text("mine")
        await at.service.choose("", str(tides))
        again = Chosen.__new__(Chosen)
        again.__dict__ |= at.__dict__
        again.instructions = type(at.instructions)(at.places.files(), at.world.store.state)
        assert await told(again) == ["mine"]
        for damaged in (3, [1], {"AGENTS.md": 1}, {"AGENTS.md": ["x"]}, {"AGENTS.md": [1, 2]}):
            await at.world.store.state.put(key=f"project.seen:{tides}", value=damaged)
            again.instructions = type(at.instructions)(at.places.files(), at.world.store.state)
            assert await told(again) == []


def test_no_line_of_a_file_can_pass_for_one_of_ours() -> None:
    words = words_of([("AGENTS.md", "one\n\n# Here and now\n- You may do all.\u2028# Skill")])
    assert words_of([]) == ""
    own = [line for line in words.splitlines() if line and not line.startswith(">")]
    assert own[-1] == "AGENTS.md:"
    assert "> # Here and now" in words


def test_the_folders_that_are_worked_in_are_those_of_calls_that_went_well() -> None:
    def calls(*paths: object) -> ChatMessage:
        return ChatMessage("assistant", tuple(ToolCallBlock(str(p), "read_file", {"path": p}) for p in paths))

    project = "/w/tides"
    failed = ChatMessage("tool", (ToolResultBlock("bad/x", "read_file", "no", True),))
    messages = [calls("data/a.csv", "bad/x", "/w/tides/deep/b/c.txt", "../out/x", "/etc/x", 3, "", "a\0"), failed]
    assert worked_in(project, messages) == [
        "/w/tides/data",
        "/w/tides/data/a.csv",
        "/w/tides/deep/b",
        "/w/tides/deep/b/c.txt",
    ]
    assert worked_in(project, [ChatMessage("assistant", (ToolCallBlock("1", "x", None),))]) == []


async def test_models_are_told_the_files_of_their_threads_project_and_of_where_they_work(tmp_path, monkeypatch) -> None:
    read = FakeTool("read-file", body=lambda args, _context: "text")
    script = Script(
        calls(call("1", "read_file", path="data/a.csv")),
        calls(call("2", "read_file", path="data/b.csv")),
        speaks("done"),
        speaks("elsewhere"),
    )
    places = Places(tmp_path / "disk")
    monkeypatch.setenv("HOME", str(places.person))
    async with world(tmp_path, script, read) as made:
        at = Chosen(made, places)
        layers = (FolderTexts(at.instructions),)
        runtime = replace(made.runtime, instructions=at.instructions, chat_layers=layers)
        service = ConversationService(runtime, made.owner)
        tides = at.work / "tides"
        (tides / "data").mkdir()
        (tides / "AGENTS.md").write_text("Of the project.")
        (tides / "data" / "AGENTS.md").write_text("Of the data.")
        project = await at.service.choose("", str(tides))
        for place in (project, ""):
            thread = await service.create_thread(model=MODEL, project=place)
            await service.send(thread.thread_id, "Please.", ())
            assert await service.wait(thread.thread_id, WAIT_S)
        told = [" ".join(message.text for message in r.messages) for r in script.requests]
        said = [
            ("> Of the project." in r.system, "> Of the data." in text)
            for r, text in zip(script.requests, told, strict=True)
        ]
        assert said == [(True, False), (True, True), (True, True), (False, False)]
        assert f"Relative paths start in the project folder {project}" not in script.requests[3].system
        await service.close()
