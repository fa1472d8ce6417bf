"""Updates as a person has them: off at first, once a day, never while a run works, and back again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop.domain.runs.events import ThreadChanged
from desktop.domain.updates.rights import Right
from desktop.files.holding import alone
from desktop.services.updates.installing import Server
from desktop.services.updates.memory import Memory
from desktop.services.updates.service import EVERY_S, KEY, UpdateParts, UpdateService
from desktop.services.updates.versions import Versions
from desktop.settings import SettingsService
from desktop.supervision.bus import Bus
from desktop.supervision.tasks import TaskOwner
from tests.harness.timeouts import until
from tests.servers.updates import INSIDE, SmallAssent, UpdateServer, manifest
from tests.unit.services.updates.conftest import confined, installed
from tests.unit.services.updates.test_versions import started

pytestmark = pytest.mark.spec("R-UPD-1", "R-UPD-2")
PICTURES = Right("tool:read-document", "write", "Keeps page pictures")


class World:
    """One installation with one home, and the service as an app of it has it."""

    def __init__(self, folder: Path, server: UpdateServer, versions: Versions) -> None:
        self.folder, self.server, self.versions = folder, server, versions
        self.now = 1_800_000_000.0
        self.running: list[str] = []
        self.restarts = 0
        self.bus = Bus()
        self.kept = folder / "home/data/updates/seen.json"
        self._owners: list[TaskOwner] = []

    async def start(self, version: str = "", *, source: bool = True) -> UpdateService:
        """A start of the app, as the version that is current."""
        version = version or self.versions.current
        settings = SettingsService(self.folder / "home")
        await settings.load()
        owner, memory = TaskOwner(), Memory(self.folder / "home/data")
        self._owners.append(owner)
        self.settings = settings
        versions = Versions(self.versions.top, version)
        made = UpdateService(
            UpdateParts(
                version=version,
                resources=versions.place(version) / INSIDE,
                server=Server(self.server.source, memory, confined, version) if source else None,
                versions=versions,
                memory=memory,
                settings=settings,
                spawn=owner.spawn,
                running=lambda: tuple(self.running),
                hear=self.bus.listen,
                restart=self._restarted,
                clock=lambda: self.now,
            )
        )
        self.begun = asyncio.Event()
        made.on_change(self.begun.set)
        owner.spawn(made.keep(), "keep")
        await self.begun.wait()  # it has said that it started well
        return made

    def _restarted(self) -> None:
        self.restarts += 1

    async def end(self) -> None:
        for owner in self._owners:
            await owner.close()
        self._owners.clear()


@pytest.fixture
async def world(tmp_path: Path, server: UpdateServer, versions: Versions) -> AsyncIterator[World]:
    (tmp_path / "home/data").mkdir(parents=True)
    made = World(tmp_path, server, versions)
    yield made
    await made.end()


async def _offered(world: World, service: UpdateService, version: str = "1.3") -> None:
    await world.settings.update(KEY, True)
    await until(lambda: service.state.offer and service.state.offer.version == version, seen=lambda: service.state)


async def _updated(service: UpdateService, version: str = "1.3") -> None:
    service.update()
    await until(
        lambda: service.state.starts == version and service.state.phase == "resting", seen=lambda: service.state
    )


async def test_nothing_is_asked_before_a_person_switches_it_on(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await service.look()
    world.now += 10 * EVERY_S
    await service.look()
    assert (world.server.web.seen, service.state.offer) == ([], None)
    await _offered(world, service)
    assert world.server.web.seen


async def test_a_build_that_names_no_place_has_nothing_to_switch_on(world: World) -> None:
    service = await world.start(source=False)
    await world.settings.update(KEY, True)
    await service.look()
    assert (service.can_look, service.can_install, service.state.offer) == (False, False, None)


async def test_what_it_may_newly_do_is_the_difference_to_this_version(world: World) -> None:
    world.server.offer(SmallAssent("1.3", manifest("1.3", PICTURES)))
    service = await world.start()
    await _offered(world, service)
    assert [(one.change, one.right) for one in service.state.differences] == [("new", PICTURES)]


async def test_it_looks_once_a_day_also_over_starts(world: World) -> None:
    service = await world.start()
    await world.settings.update(KEY, True)
    await until(world.kept.exists)
    asked = len(world.server.web.seen)
    await world.end()
    world.server.offer(SmallAssent("1.3"))
    world.now += EVERY_S - 1000
    service = await world.start()
    assert service.state.looked == world.now - EVERY_S + 1000
    assert len(world.server.web.seen) == asked
    await world.end()
    world.now += 1001
    service = await world.start()
    await until(lambda: service.state.offer, seen=lambda: service.state)


async def test_what_was_offered_is_there_again_at_the_next_start(world: World) -> None:
    world.server.offer(SmallAssent("1.3", manifest("1.3", PICTURES)))
    service = await world.start()
    await _offered(world, service)
    await until(world.kept.exists)
    await world.end()
    asked = len(world.server.web.seen)
    again = await world.start()
    await until(lambda: again.state.offer)
    assert again.state.differences == service.state.differences
    assert len(world.server.web.seen) == asked


async def test_an_update_waits_for_runs_and_is_there_at_the_next_start(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await _offered(world, service)
    world.running = ["t1"]
    service.update()
    await until(lambda: service.state.phase == "waiting", seen=lambda: service.state)
    assert service.state.waits_for == ("t1",)
    assert (world.versions.current, started(world.versions)) == ("1.2.4", "1.2.4:")
    world.running = []
    world.bus.publish(ThreadChanged(thread_id="t1", run_id="r1", what="title"))
    await until(lambda: service.state.starts == "1.3", seen=lambda: service.state)
    assert started(Versions(world.versions.top, "1.3")) == "1.3:"
    await world.end()
    later = await world.start("1.3")
    await until(lambda: later.state.previous == "1.2.4", seen=lambda: later.state)
    assert not (world.versions.folder / "trial").exists()
    assert later.state.offer is None


async def test_waiting_can_be_given_up_and_nothing_changes(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await _offered(world, service)
    world.running = ["t1"]
    service.update()
    await until(lambda: service.state.phase == "waiting")
    service.stop()
    await until(lambda: service.state.phase == "resting")
    assert (world.versions.current, service.state.starts, service.state.problem) == ("1.2.4", "", "")


async def test_switching_it_off_stops_what_is_being_fetched(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await _offered(world, service)

    async def endless(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    world.server.web.answers[world.server.path(".tar.gz")] = endless
    service.update()
    await until(lambda: service.state.phase == "fetching")
    await world.settings.update(KEY, False)
    await until(lambda: service.state.phase == "resting")
    assert (service.state.offer, world.versions.current) == (None, "1.2.4")


async def test_a_version_that_is_not_wanted_is_not_offered_again_but_the_next_is(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await _offered(world, service)
    await service.skip()
    await world.end()
    again = await world.start()
    await until(lambda: again.state.offer)
    assert again.state.skipped
    world.server.offer(SmallAssent("1.4"))
    await again.look()
    assert (again.state.offer and again.state.offer.version, again.state.skipped) == ("1.4", False)


async def test_a_refusal_is_said_and_the_app_goes_on(world: World) -> None:
    world.server.offer(SmallAssent("1.3", start="#!/bin/sh\nexit 1\n"))
    service = await world.start()
    await _offered(world, service)
    service.update()
    await until(lambda: service.state.problem, seen=lambda: service.state)
    assert service.state.problem == "Assent 1.3 does not start on this computer, so it is not used."
    assert (service.state.phase, world.versions.current) == ("resting", "1.2.4")


async def test_one_step_back_and_forward_again(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await _offered(world, service)
    await _updated(service)
    await world.end()
    newer = await world.start("1.3")
    await until(lambda: newer.state.previous == "1.2.4")
    newer.go_back()
    await until(lambda: newer.state.starts == "1.2.4", seen=lambda: newer.state)
    newer.restart()
    assert world.restarts == 1
    await world.end()
    older = await world.start("1.2.4")
    await until(lambda: older.state.previous == "1.3")
    assert started(world.versions) == "1.2.4:"
    await older.look()
    assert older.state.offer is None or older.state.skipped


@pytest.mark.parametrize(("database", "reads"), [(19, True), (20, False)])
async def test_what_the_older_version_cannot_read_is_known_before_it_starts(
    world: World, database: int, reads: bool
) -> None:
    world.server.offer(SmallAssent("1.3", manifest("1.3", database=database)))
    service = await world.start()
    await _offered(world, service)
    await _updated(service)
    await world.end()
    newer = await world.start("1.3")
    await until(lambda: newer.state.previous == "1.2.4")
    assert newer.state.previous_reads == reads


async def test_a_version_that_did_not_start_is_named_and_not_offered_at_once(world: World) -> None:
    world.server.offer(SmallAssent("1.3", code=1))
    service = await world.start()
    await _offered(world, service)
    await _updated(service)
    await world.end()
    assert started(world.versions).splitlines() == ["1.3:", "1.2.4:"]
    again = await world.start()
    await until(lambda: again.state.offer, seen=lambda: again.state)
    assert (again.state.fell_back, again.state.skipped) == ("1.3", True)


async def test_no_restart_while_a_run_works(world: World) -> None:
    world.server.offer(SmallAssent("1.3"))
    service = await world.start()
    await _offered(world, service)
    await _updated(service)
    world.running = ["t1"]
    service.restart()
    assert world.restarts == 0
    world.running = []
    service.restart()
    assert world.restarts == 1


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"looked": "x", "offer": {"version": "../x"}}', b"\xff" * 100])
async def test_a_memory_that_is_broken_is_none(world: World, broken: bytes) -> None:
    world.kept.parent.mkdir()
    world.kept.write_bytes(broken)
    service = await world.start()
    assert (service.state.offer, service.state.looked) == (None, 0.0)


async def test_a_look_that_was_given_up_is_made_up_for_when_the_day_is_over(world: World) -> None:
    """The daily one came due while it was under way, and does not wait for ever."""
    world.server.offer(SmallAssent("1.3"))
    world.kept.parent.mkdir()
    world.kept.write_text(f'{{"looked": {world.now}}}')
    service = await world.start()
    await world.settings.update(KEY, True)
    asked = asyncio.Event()

    async def hang(_writer: asyncio.StreamWriter) -> None:
        asked.set()
        await asyncio.Event().wait()

    world.server.web.answers[world.server.path("/timestamp.json")] = hang
    look = asyncio.create_task(service.look())
    await asked.wait()
    await world.settings.update(KEY, False)
    await world.settings.update(KEY, True)
    world.now += EVERY_S
    world.server.serve()
    look.cancel()
    await until(lambda: service.state.offer, seen=lambda: service.state)


@pytest.mark.parametrize("looked", ["1e300", "Infinity", "NaN", "-5", "1" + 400 * "0", "true"])
async def test_a_time_that_is_none_is_never(world: World, looked: str) -> None:
    world.kept.parent.mkdir()
    world.kept.write_text(f'{{"looked": {looked}}}')
    memory = Memory(world.folder / "home/data")
    await memory.load()
    assert memory.now.looked == 0.0


async def test_a_version_starts_well_although_its_folder_cannot_be_locked(world: World) -> None:
    """Another process has it just now."""
    (world.versions.folder / "trial").write_text("1.1")
    with alone(world.versions.place("1.2.4")):
        await world.start()
    await until(lambda: not (world.versions.folder / "trial").exists())


def test_installed_versions_are_found_by_what_is_current(tmp_path: Path) -> None:
    assert installed(tmp_path / "a", "2.0").current == "2.0"
