"""Choosing the folder of a thread: what can be chosen, what is remembered, and that a chosen one can be lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from desktop.domain.errors import KnownError
from desktop.domain.runs.events import ThreadChanged
from desktop.safety.boundary.choosing import judged_folder
from desktop.services.projects.instructions import ProjectInstructions
from desktop.services.projects.service import MAX_RECENT, ProjectService
from tests.unit.agents.script import Hang, Script
from tests.unit.agents.script import says as speaks
from tests.unit.safety.world import World as Places
from tests.unit.services.kit import World, world


class Chosen:
    """A service over a real store and a real boundary, with folders to choose from."""

    def __init__(self, made: World, places: Places) -> None:
        self.world, self.places = made, places
        judge = partial(judged_folder, places.policy)
        self.instructions = ProjectInstructions(places.files(), made.store.state)
        self.service = ProjectService(made.service, made.store.state, judge, made.service.is_working, self.instructions)
        self.work = places.person / "work"
        for name in ("tides", "report"):
            (self.work / name).mkdir(parents=True)

    async def project(self, thread: str) -> str:
        return (await self.world.store.threads.get(thread_id=thread)).project


@asynccontextmanager
async def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *answers: object) -> AsyncIterator[Chosen]:
    places = Places(tmp_path / "disk")
    monkeypatch.setenv("HOME", str(places.person))
    async with world(tmp_path, Script(*(answers or (speaks("done"),)))) as made:  # type: ignore[arg-type]
        yield Chosen(made, places)


@pytest.mark.spec("R-PRJ-1")
async def test_a_chosen_folder_is_kept_told_and_remembered_and_none_is_a_choice_too(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        thread = await at.world.thread()
        assert await at.service.choose(thread, "~/work/tides") == str(at.work / "tides")
        assert await at.project(thread) == str(at.work / "tides")
        changes = [e for e in at.world.events if isinstance(e, ThreadChanged) and e.what == "project"]
        assert [event.thread_id for event in changes] == [thread]
        assert await at.project(await at.world.thread()) == "", "a new thread has none"
        await at.service.choose(thread, "")
        assert await at.project(thread) == ""
        assert [row.folder.path for row in await at.service.recent()] == [str(at.work / "tides")]


@pytest.mark.spec("R-PRJ-1")
async def test_a_folder_chosen_by_a_link_says_nothing_of_where_the_link_leads_later(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        way, beside = at.work / "way", at.work / "beside"
        beside.mkdir()
        way.symlink_to(at.work / "tides")
        await at.service.choose(await at.world.thread(), str(way))
        way.unlink()
        way.symlink_to(beside)
        assert not await at.service.chosen_before(str(beside))
        await at.service.choose(await at.world.thread(), "~/work/tides")
        assert await at.service.chosen_before(str(at.work / "tides"))


@pytest.mark.spec("R-PRJ-1")
async def test_folders_that_cannot_be_used_say_why_and_change_nothing(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        thread, person = await at.world.thread(), at.places.person
        (at.work / "keys").mkdir()
        (at.work / "file").write_text("x")
        at.places.change(denied=(str(at.work / "keys"), str(at.places.ssh)))
        (at.work / "loop").symlink_to(at.work / "loop")
        (at.work / "home").symlink_to(person)
        (at.work / "secret").symlink_to(at.places.ssh)
        refused = {
            "/": "holds the whole computer",
            "~": "is your home folder",
            "~/work/home": "is your home folder",
            "~/work/keys": "is in a denied folder",
            "~/work/keys/deeper": "is gone",
            "~/work/secret": "is in a denied folder",
            "~/work/gone": "is gone",
            "~/work/file": "is not a folder",
            "~/work/loop": "is a link that leads back to itself",
            "~/.agent": "belongs to Assent itself",
            "~/.agent/agents": "belongs to Assent itself",
            "~/.agent/data": "belongs to Assent itself",
            "/etc": "belongs to the system",
            "/proc/self": "belongs to the system",
            "work/tides": "is no folder's whole path",
            "~/work/a\0b": "contains a NUL character",
        }
        for path, why in refused.items():
            with pytest.raises(KnownError, match=why):
                await at.service.choose(thread, path)
            assert await at.project(thread) == "", path
        assert await at.service.recent() == []
        assert await at.service.choose(thread, "~/.agent/workspace"), "the app's own workspace can be one"


async def test_a_folder_that_nobody_may_read_is_none(tmp_path, monkeypatch) -> None:
    if os.geteuid() == 0:
        pytest.skip("this user may read everywhere")
    async with chosen(tmp_path, monkeypatch) as at:
        (at.work / "tides").chmod(0)
        with pytest.raises(KnownError, match="cannot be read"):
            await at.service.choose("", "~/work/tides")


@pytest.mark.spec("R-PRJ-1")
async def test_a_link_is_used_as_the_folder_that_it_leads_to_and_still_listed_as_a_link(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        thread = await at.world.thread()
        (at.work / "short").symlink_to(at.work / "tides")
        assert await at.service.choose(thread, "~/work/short") == str(at.work / "tides")
        (row,) = await at.service.recent()
        assert row.folder.is_link
        assert (row.folder.given, row.threads) == (str(at.work / "short"), 1)


@pytest.mark.spec("R-PRJ-1")
async def test_what_was_used_stays_listed_with_the_reason_once_it_is_gone_or_denied(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        for name in ("tides", "report"):
            await at.service.choose(await at.world.thread(), f"~/work/{name}")
        (at.work / "tides").rename(at.work / "moved")
        at.places.change(denied=(str(at.work / "report"),))
        rows = {Path(row.folder.given).name: row for row in await at.service.recent()}
        assert {name: row.folder.closed for name, row in rows.items()} == {
            "tides": "is gone",
            "report": "is in a denied folder",
        }
        assert [row.threads for row in rows.values()] == [1, 1]
        look = await at.service.look(str(at.work / "tides"))
        assert (look.row.folder.closed, look.row.threads) == ("is gone", 1)
        paths = [str(at.work / name) for name in ("tides", "report", "moved")]
        assert set(await at.service.closed(paths)) == set(paths[:2])


@pytest.mark.spec("R-PRJ-1")
async def test_the_folder_of_a_thread_stays_while_it_is_at_work(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch, [Hang()]) as at:
        thread = await at.world.thread()
        await at.world.service.send(thread, "Please.", ())
        assert at.world.service.is_working(thread)
        for path in ("~/work/tides", ""):
            with pytest.raises(KnownError, match="while it is at work"):
                await at.service.choose(thread, path)
        await at.world.service.stop(thread)
        await at.world.settled(thread)
        assert await at.service.choose(thread, "~/work/tides")


async def test_the_list_of_folders_has_a_limit(tmp_path, monkeypatch) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        for number in range(MAX_RECENT + 5):
            (at.work / f"n{number}").mkdir()
        await asyncio.gather(*(at.service.used(str(at.work / f"n{n}")) for n in range(MAX_RECENT + 5)))
        await at.service.used(str(at.work / "tides"))
        rows = await at.service.recent()
        assert len(rows) == MAX_RECENT
        assert rows[0].folder.path == str(at.work / "tides")


@pytest.mark.parametrize("kept", [None, 3, {"a": 1}, [1, ["x"], ["a", "b"], ["/x", 1, 2], [[], 2]]])
async def test_a_list_that_was_damaged_is_an_empty_one(tmp_path, monkeypatch, kept: object) -> None:
    async with chosen(tmp_path, monkeypatch) as at:
        await at.world.store.state.put(key="projects.recent", value=kept)
        assert await at.service.recent() == []
