"""Which files a skill's text may take in, and how long that may take (S-SK-1)."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from desktop.domain.errors import CancellationError, ToolFailure
from desktop.domain.files.work_place import WorkPlace
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import Access, PathVerdict
from desktop.domain.skills import SkillSource
from desktop.services.skills.world import SkillWorld
from desktop.skills.catalogue.roots import SearchRoot
from desktop.skills.resolution.fabric import SkillFabric
from tests.harness.timeouts import WAIT_S
from tests.unit.library.kit import LibraryBench
from tests.unit.pipeline.kit import Table
from tests.unit.safety.world import World
from tests.unit.skills.resolution.kit import MemoryStore

HEAD = "---\nname: reader\ndescription: reads\n---\n"


class Place:
    """A folder of skills beside a boundary whose only allowed folder is the workspace."""

    def __init__(self, tmp_path: Path, source: SkillSource = "mine", **options: Any) -> None:
        self.safe = World(tmp_path / "safe")
        self.root = self.safe.root / "skills"
        self.own = self.root / "reader"
        self.own.mkdir(parents=True)
        options.setdefault("files", self.safe.files())
        self.fabric = SkillFabric.open([SearchRoot(str(self.root), source)], pin_store=MemoryStore())
        self.world = SkillWorld(self.fabric, Table(), **options)
        self.token = CancellationToken()

    def folder_skill(self, body: str) -> None:
        (self.own / "SKILL.md").write_text(HEAD + body)
        self.fabric.refresh()

    def file_skill(self, body: str) -> None:
        (self.root / "reader.skill.md").write_text(HEAD + body)
        self.fabric.refresh()

    async def text(self) -> str:
        found = await self.world.find("reader")
        assert found is not None
        return await self.world.expanded(found, {}, {}, {}, token=self.token)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_folder_skill_takes_in_its_own_files_wherever_it_lies(place: Place) -> None:
    (place.own / "references").mkdir()
    (place.own / "references" / "tone.md").write_text("Be kind.")
    place.folder_skill(":inline[references/tone.md] :inline[./references/../references/tone.md]\n")
    assert (await place.text()).startswith("Be kind. Be kind.\n\n(About this skill.")


async def test_a_skill_that_is_a_file_takes_in_what_read_file_may_read_and_nothing_else(place: Place) -> None:
    (place.root / "beside.txt").write_text("BESIDE")
    place.file_skill(f":inline[{place.safe.workspace}/note.txt]\n")
    assert await place.text() == "note\n\n"
    place.file_skill(":inline[beside.txt]\n")
    with pytest.raises(ToolFailure, match="outside the allowed folders") as caught:
        await place.text()
    assert "BESIDE" not in str(caught.value)


@pytest.mark.spec("R-FS-3")
@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("listed", [False, True])
async def test_what_is_denied_stays_denied_beside_a_skill(place: Place, kind: str, listed: bool) -> None:
    folder = place.root if kind == "file" else place.own
    (folder / ".env").write_text("KEY=PRIVATE")
    allowed = (str(place.root),) if listed else (str(place.safe.workspace),)
    place.safe.change(denied=(str(folder / ".env"),), allowed=allowed)
    (place.file_skill if kind == "file" else place.folder_skill)(":inline[.env]\n")
    with pytest.raises(ToolFailure, match="denied") as caught:
        await place.text()
    assert "PRIVATE" not in str(caught.value)


@pytest.mark.spec("R-FS-3", "R-FS-4")
async def test_a_link_in_a_skills_folder_leads_nowhere_that_read_file_may_not_read(place: Place) -> None:
    (place.own / "key.md").symlink_to(place.safe.ssh / "id_rsa")
    (place.own / "away").symlink_to(place.safe.outside)
    place.safe.change(denied=(str(place.safe.ssh),))
    for name, why in (("key.md", "denied"), ("away/secret.txt", "outside")):
        place.folder_skill(f":inline[{name}]\n")
        with pytest.raises(ToolFailure, match=why) as caught:
            await place.text()
        assert not any(secret in str(caught.value) for secret in ("PRIVATE", "OUTSIDE"))


@pytest.mark.spec("R-FS-13")
@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
async def test_pipes_and_devices_are_refused_and_never_waited_for(place: Place, kind: str, what: str) -> None:
    folder = place.root if kind == "file" else place.own
    if what == "pipe":
        os.mkfifo(folder / "odd")
    elif what == "device":
        (folder / "odd").symlink_to("/dev/zero")
    else:
        (folder / "odd").mkdir()
    place.safe.change(allowed=(str(place.root), "/dev"))
    (place.file_skill if kind == "file" else place.folder_skill)(":inline[odd]\n")
    with pytest.raises(ToolFailure, match="line 1 of its text"):
        await asyncio.wait_for(place.text(), WAIT_S)


async def test_a_name_that_is_no_path_and_a_file_that_is_too_long_fail_in_words(place: Place) -> None:
    (place.own / "long.txt").write_text("x" * 200_001)
    for name in ("long.txt", "a\0b", "no-such-file"):
        place.folder_skill(f":inline[{name}]\n")
        with pytest.raises(ToolFailure, match="line 1 of its text"):
            await place.text()


@pytest.mark.spec("R-SK-12")
async def test_a_companion_that_changed_since_it_was_seen_is_not_taken_in(tmp_path: Path) -> None:
    place = Place(tmp_path, "shared")
    (place.own / "references").mkdir()
    tone = place.own / "references" / "tone.md"
    tone.write_text("Be kind.")
    place.safe.change(allowed=(str(place.root),))  # where read_file could read it: that lifts no pin
    place.folder_skill(":inline[references/tone.md]\n")
    assert (await place.text()).startswith("Be kind.\n")
    tone.write_text("Be evil.")
    with pytest.raises(ToolFailure, match="not as you saw it"):
        await place.text()


class Stuck:
    """A boundary whose disk does not answer until it is let go."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def within(self, place: WorkPlace) -> "Stuck":
        return self

    def explain(self, path: str, access: Access) -> PathVerdict:
        return PathVerdict(True, path, path, "allowed", "", access)

    def open_read(self, path: str) -> BinaryIO:
        self.asked.set()
        self.go.wait(60)
        raise OSError(5, "no disk")


@pytest.mark.spec("R-CAN-2")
async def test_stop_ends_a_text_that_waits_for_a_disk(tmp_path: Path) -> None:
    stuck = Stuck()
    place = Place(tmp_path, files=stuck)
    place.file_skill(":inline[far.txt]\n")
    waiting = asyncio.ensure_future(place.text())
    await asyncio.to_thread(stuck.asked.wait, 30)
    place.token.cancel("stop")
    try:
        with pytest.raises(CancellationError, match="stop"):
            await asyncio.wait_for(waiting, WAIT_S)
    finally:
        stuck.go.set()


@pytest.mark.spec("R-TMO-1")
async def test_a_text_that_is_not_ready_in_time_fails_in_words(tmp_path: Path) -> None:
    stuck = Stuck()
    place = Place(tmp_path, files=stuck, timeout=0.2)
    place.file_skill(":inline[far.txt]\n")
    try:
        with pytest.raises(ToolFailure, match=r"reader was not ready after 0\.2 s"):
            await asyncio.wait_for(place.text(), WAIT_S)
    finally:
        stuck.go.set()


@pytest.mark.spec("R-CAN-2", "R-SK-12")
async def test_a_call_of_such_a_skill_ends_with_the_run_before_any_model_is_asked(tmp_path: Path) -> None:
    stuck = Stuck()
    bench = LibraryBench(tmp_path, files=stuck)
    bench.write("reader.skill.md", HEAD + ":inline[far.txt]\n")
    call = asyncio.ensure_future(bench.call("reader"))
    await asyncio.to_thread(stuck.asked.wait, 30)
    bench.token.cancel("stop")
    try:
        assert (await asyncio.wait_for(call, WAIT_S)).state == "aborted"
        assert not bench.model.requests
    finally:
        stuck.go.set()
        await bench.owner.close()
