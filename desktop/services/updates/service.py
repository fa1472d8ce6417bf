"""Looks for new versions once a day, if a person switched that on, and does what the person wants of one.

Nothing is asked of anybody before the switch is on. What is sent then is the names of files, the same for
everybody with this kind of system.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.runs.events import Event
from desktop.domain.updates.numbers import is_newer
from desktop.domain.updates.rights import BadManifest, Manifest, RightChange, differences
from desktop.services.updates.build import manifest_of
from desktop.services.updates.installing import Server, lay_down, not_written
from desktop.services.updates.launcher import renew_launcher
from desktop.services.updates.memory import Memory, OfferedVersion
from desktop.services.updates.state import UpdateState
from desktop.services.updates.versions import Versions
from desktop.settings import SettingsService

KEY = "updates.look"
EVERY_S, AGAIN_S = 24 * 3600.0, 3600.0
"""Seconds from one look to the next, and to the next try after one that failed."""
IDLE_LOOK_S = 2.0
"""Seconds between two looks at whether runs are at work, beside the looks that follow what runs tell."""

Compared = tuple[OfferedVersion, tuple[RightChange, ...]]
Spawn = Callable[[Coroutine[Any, Any, None], str], "asyncio.Task[None]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateParts:
    """What the service works with."""

    version: str
    """The number of this version."""
    resources: Path
    """The folder of resources of this build."""
    server: Server | None
    """The server of new versions; None: the build names none."""
    versions: Versions | None
    """The versions beside this one; None: something else installs them, such as a package manager."""
    memory: Memory
    """What is remembered."""
    settings: SettingsService
    """Whether it is switched on."""
    spawn: Spawn
    """Starts a task."""
    running: Callable[[], tuple[str, ...]]
    """Threads with a run at work."""
    hear: Callable[[Callable[[Event], None]], Callable[[], None]]
    """Hears of runs."""
    restart: Callable[[], None]
    """Ends the app in order and starts the current version."""
    clock: Callable[[], float] = time.time
    """Seconds since the epoch."""


class UpdateService:
    """``state`` is how it stands; ``on_change`` hears that it is another. Commands raise nothing: what goes wrong is
    ``state.problem``."""

    def __init__(self, parts: UpdateParts) -> None:
        self._parts = parts
        self._listeners: list[Callable[[], None]] = []
        self._manifest: Manifest | None = None
        self._switched = asyncio.Event()
        self._at_work = False
        self._update: asyncio.Task[None] | None = None
        self._tidying: asyncio.Task[None] | None = None
        self._held = -1
        self.state = UpdateState()

    @property
    def can_look(self) -> bool:
        """Whether this build names a place to look."""
        return self._parts.server is not None

    @property
    def can_install(self) -> bool:
        """Whether new versions are laid down from here, and not by a package manager or another person."""
        return self._parts.server is not None and self._parts.versions is not None and self._parts.versions.writable

    @property
    def version(self) -> str:
        """The number of this version."""
        return self._parts.version

    @property
    def is_on(self) -> bool:
        """Whether a person switched it on."""
        return self._parts.settings.current.updates.look

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call this whenever ``state`` is another."""
        self._listeners.append(listener)

    # -- from the start to the end -------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """The app has started well: say so, remember, and look once a day from here on."""
        parts = self._parts
        parts.settings.subscribe(self._settings_changed)
        if parts.versions is not None:
            await asyncio.to_thread(self._begin, parts.versions)
        await parts.memory.load()
        self._manifest = await asyncio.to_thread(self._own_manifest)
        await self._remembered()
        if parts.versions is not None and parts.versions.writable:
            self._tidying = parts.spawn(self._tidied(parts.versions), "updates: versions that nobody comes back to")
        while True:
            await self._due()
            await self.look()

    def _begin(self, versions: Versions) -> None:
        """Blocks. An installation that cannot be written is no hindrance: then nothing changes in it. Nor is a folder
        that another process has, or one without locks, as on some networks: this start is a good one all the same."""
        with contextlib.suppress(OSError):
            self._held = versions.hold()
        try:
            fell_back = versions.fell_back() if versions.writable else ""
            if versions.writable:
                versions.started_well()
        except OSError:
            return
        self.state = replace(self.state, fell_back=fell_back)

    async def _tidied(self, versions: Versions) -> None:
        """Takes a while: a version has thousands of files, and a launcher is tried before it is renewed."""
        for work in (functools.partial(renew_launcher, versions), versions.tidy):
            with contextlib.suppress(OSError):
                await asyncio.to_thread(work)

    def _own_manifest(self) -> Manifest | None:
        try:
            return manifest_of(self._parts.resources)
        except BadManifest:
            return None

    async def _remembered(self) -> None:
        now = self._parts.memory.now
        if self.state.fell_back:  # it is not offered at once again
            self._spawn_keep(skipped=self.state.fell_back)
            now = replace(now, skipped=self.state.fell_back)
        self._set(looked=now.looked, **self._kept())
        compared = await self._compared(now.offer)
        self._show(compared if self.is_on else None, now.skipped)

    def _kept(self) -> dict[str, Any]:
        versions = self._parts.versions
        if versions is None:
            return {}
        current, previous = versions.current, versions.previous
        there = previous if versions.is_whole(previous) and previous != self.version else ""
        starts = current if current not in ("", self.version) else ""
        return {"previous": there, "previous_reads": self._reads(versions, there), "starts": starts}

    def _reads(self, versions: Versions, other: str) -> bool:
        """Whether another version reads what this one keeps; one that does not say so does not."""
        if not other or self._manifest is None:
            return True
        try:
            within = self._parts.resources.resolve().relative_to(versions.place(self.version).resolve())
            there = manifest_of(versions.place(other) / within)
        except (ValueError, BadManifest):
            return False
        return all(there.formats.get(name, 0) >= form for name, form in self._manifest.formats.items())

    async def _due(self) -> None:
        """Until it is switched on, and a day has gone by since the last look."""
        while True:
            self._switched.clear()
            is_free = self.is_on and self.can_look and self.state.phase == "resting"
            left = self._left() if is_free else None
            if left is not None and left <= 0:
                return
            try:
                async with asyncio.timeout(left):
                    await self._switched.wait()
            except TimeoutError:
                pass

    def _left(self) -> float:
        since = self._parts.clock() - self.state.looked
        waits = AGAIN_S if self.state.problem else EVERY_S
        return 0.0 if since < 0 else max(0.0, waits - since)

    def _settings_changed(self, _settings: object, keys: frozenset[str]) -> None:
        if KEY in keys:
            if not self.is_on:
                self.stop()
                self._show(None, "")
                self._spawn_keep(offer=None)
            self._set()
            self._switched.set()

    # -- looking -------------------------------------------------------------------------------------------------------

    async def look(self) -> None:
        """Ask the server, unless it is not switched on."""
        server = self._parts.server
        if server is None or not self.is_on or self.state.phase != "resting":
            return
        self._set(phase="looking")
        try:
            found = await server.newest()
            compared = await self._compared(found)
        except KnownError as error:
            self._set(phase="resting", problem=error.advice, looked=self._parts.clock())
            return
        except BaseException:
            self._set(phase="resting")
            raise
        finally:
            self._switched.set()  # the daily look may have come due meanwhile, and waits
        skipped = self._parts.memory.now.skipped
        if not self.is_on:  # switched off meanwhile
            self._set(phase="resting")
            return
        self._set(phase="resting", problem="", looked=self._parts.clock())
        self._show(compared, skipped)
        await self._parts.memory.keep(looked=self.state.looked, offer=found)

    async def _compared(self, offer: OfferedVersion | None) -> Compared | None:
        """It with what it may do otherwise, if it is a newer one. In a thread: there may be thousands of rights."""
        if offer is None or not is_newer(offer.version, self.version):
            return None
        own = self._manifest or Manifest(self.version)
        return offer, await asyncio.to_thread(differences, own, offer.manifest)

    def _show(self, compared: Compared | None, skipped: str) -> None:
        offer, found = compared if compared is not None else (None, ())
        self._set(offer=offer, differences=found, skipped=offer is not None and offer.version == skipped)

    # -- what the person wants of it -----------------------------------------------------------------------------------

    async def skip(self) -> None:
        """Not this version; the next one is offered again."""
        if self.state.offer is not None:
            self._set(skipped=True)
            await self._parts.memory.keep(skipped=self.state.offer.version)

    async def take_up(self) -> None:
        """This version after all."""
        self._set(skipped=False)
        await self._parts.memory.keep(skipped="")

    def later(self) -> None:
        """Nothing more of it until the next start."""
        self._set(later=True)

    def update(self) -> None:
        """Fetch the version that is offered, and switch to it as soon as no run is at work."""
        if self.state.offer is not None and self.can_install and self.state.phase == "resting":
            self._begin_task(self._updated(self.state.offer), "update: fetch, and wait for runs")

    def go_back(self) -> None:
        """Switch to the version that was kept, as soon as no run is at work."""
        if self.state.previous and self.state.phase == "resting":
            self._begin_task(self._switched_to(self.state.previous), "update: go back")

    def stop(self) -> None:
        """Fetch or wait no longer. What is ready stays so."""
        if self._update is not None:
            self._update.cancel()

    def restart(self) -> None:
        """Start the current version now, unless a run is at work."""
        if self.state.starts and not self._parts.running():
            self._parts.restart()

    def _begin_task(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._update = self._parts.spawn(self._guarded(work), name)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        problem = ""
        try:
            await work
        except KnownError as error:
            problem = error.advice
        except OSError as error:
            problem = str(not_written(error))
        finally:
            self._update = None
            self._set(phase="resting", done=0, total=0, waits_for=(), problem=problem, **self._kept())
            self._switched.set()

    async def _updated(self, offer: OfferedVersion) -> None:
        server, versions = self._parts.server, self._parts.versions
        assert server is not None
        assert versions is not None
        self._set(phase="fetching", done=0, total=offer.size, problem="")
        if self._tidying is not None:
            await asyncio.wait([self._tidying])
        await lay_down(server, versions, offer, self._far)
        await self._switched_to(offer.version)

    def _far(self, what: str, done: int, total: int) -> None:
        self._set(phase="fetching" if what == "fetch" else "unpacking", done=done, total=total)

    async def _switched_to(self, version: str) -> None:
        versions = self._parts.versions
        assert versions is not None
        await self._idle()
        self._update = None  # whoever gives up now is too late
        await asyncio.to_thread(versions.switch, version)
        if is_newer(self.version, version):  # went back: the newer one is not offered at once again
            await self._parts.memory.keep(skipped=self.version)

    async def _idle(self) -> None:
        """Until no run is at work."""
        told = asyncio.Event()
        deaf = self._parts.hear(lambda _event: told.set())
        try:
            while running := self._parts.running():
                if (self.state.phase, self.state.waits_for) != ("waiting", running):
                    self._set(phase="waiting", waits_for=running)
                told.clear()
                try:
                    async with asyncio.timeout(IDLE_LOOK_S):
                        await told.wait()
                except TimeoutError:
                    pass
        finally:
            deaf()

    # -- telling -------------------------------------------------------------------------------------------------------

    def _set(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        for listener in self._listeners:
            listener()

    def _spawn_keep(self, **changes: Any) -> None:
        self._parts.spawn(self._parts.memory.keep(**changes), "updates: remember")
