"""A new version is fetched, tried, and made the one that starts the next time, while no run is at work."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import Child
from desktop.services.updates.build import UpdateSource, system
from desktop.services.updates.memory import Memory, OfferedVersion, offered
from desktop.services.updates.versions import START, Versions

LOOK_S, FETCH_S, QUIET_S = 90.0, 5 * 3600.0, 120.0
"""Seconds for one look; for one package; without a word about how far it is."""
TRY_S = 60
"""Seconds for the new version to say its number."""
BUSY = "Another Assent is laying down a version just now."
MakeHost = Callable[[Sequence[str]], Child]
"""Starts the process that asks the server, which writes in these folders alone."""
Told = Callable[[str, int, int], None]
"""Hears how far it is: fetch or unpack, bytes, of so many."""


@dataclass(frozen=True, slots=True)
class Server:
    """The server of new versions, asked by a process of its own for each question."""

    source: UpdateSource
    """Where it is, and whose signatures count."""
    memory: Memory
    """Where is kept what was seen of it."""
    host: MakeHost
    """Starts the process."""
    version: str
    """The number of the version that asks."""

    async def newest(self) -> OfferedVersion | None:
        """The newest version, if it is newer than this one. Raises KnownError."""
        async with self._asked(()) as child, in_time():
            said = await child.call("look", self._params(), timeout=LOOK_S)
        newest = said.get("newest") if isinstance(said, dict) else None
        return await asyncio.to_thread(offered, newest)  # thousands of rights take a while

    async def lay_down(self, offer: OfferedVersion, staging: Path, told: Told) -> Path:
        """Fetch it, checked and unpacked. Raises KnownError."""
        params = {**self._params(), "staging": str(staging), "digest": offer.digest}
        async with self._asked((str(staging),)) as child, in_time():
            stream = child.stream("fetch", params, deadline_s=FETCH_S, idle_s=QUIET_S)
            async for item in stream:
                what, done, total = item.get("what"), item.get("done"), item.get("total")
                if what in ("fetch", "unpack") and type(done) is int and type(total) is int:
                    told(what, done, total)
        return staging / offer.version

    def _params(self) -> Mapping[str, Any]:
        root = base64.b64encode(self.source.root).decode()
        return {"address": self.source.address, "root": root, "system": system(), "version": self.version}

    @asynccontextmanager
    async def _asked(self, folders: Sequence[str]) -> AsyncIterator[Child]:
        try:
            await asyncio.to_thread(self.memory.make)
        except OSError as error:
            raise not_written(error) from None
        child = self.host((str(self.memory.seen), *folders))
        try:
            yield child
        finally:
            await child.stop()


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    """A server that says nothing is an error in words."""
    try:
        yield
    except TimeoutError:
        raise KnownError("The server of updates does not answer, or too slowly.", code="updates.slow") from None


def not_written(error: OSError) -> KnownError:
    """What a disk did not take, in words."""
    why = os.strerror(error.errno or 0)
    return KnownError(
        f"The folder of Assent's versions cannot be written ({why}). Nothing was changed.", code="updates.disk"
    )


async def lay_down(server: Server, versions: Versions, offer: OfferedVersion, told: Told) -> None:
    """The version is there beside the others and says its number; nothing starts it yet. Raises KnownError."""
    claim = versions.claimed()
    try:
        staging = await asyncio.to_thread(claim.__enter__)
    except BlockingIOError:
        raise KnownError(BUSY, next_step="Try again when it is done.", code="updates.busy") from None
    except OSError as error:
        raise not_written(error) from None
    try:
        found = await server.lay_down(offer, staging, told)
        await asyncio.to_thread(try_start, found, offer.version)
        await asyncio.to_thread(versions.take_in, found, offer.version)
    except OSError as error:
        raise not_written(error) from None
    finally:
        await asyncio.to_thread(claim.__exit__, None, None, None)


def try_start(place: Path, version: str) -> None:
    """The version says its number when it is asked. Blocks. Raises KnownError."""
    try_command(str(place / START), version)


def try_command(program: str, version: str) -> None:
    """The program is this version of Assent, or starts it. Blocks. Raises KnownError."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in os.environ}
    try:
        done = subprocess.run(
            [program, "--version"],
            cwd=os.sep,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRY_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise _not_starting(version, "") from None
    if done.returncode or done.stdout.decode(errors="replace").split()[:2] != ["assent", version]:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise _not_starting(version, said[-1][:200] if said else "")


def _not_starting(version: str, said: str) -> KnownError:
    why = f" It says: {said!a}." if said else ""
    words = f"Assent {version} does not start on this computer, so it is not used.{why}"
    return KnownError(words, code="updates.not_starting")
