"""The methods of the update host: ``look``, ``fetch``. It reaches no file but what it lays down and has seen."""

from __future__ import annotations

import asyncio
import base64
import errno
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import certifi

from desktop.domain.updates.numbers import is_newer
from desktop.domain.web.proxies import WebProxies, proxies_of
from desktop.workers.hardening import bound_memory, harden, shut_in_with_network
from desktop.workers.inside import CallError, ChildServer, WorkerCall, pipes, run
from desktop.workers.update_host import limits
from desktop.workers.update_host.fetching import PACKAGE, OneServer, served
from desktop.workers.update_host.trusting import SignedOffer, Trusted
from desktop.workers.update_host.unpacking import Expected, room_for, unpack

SERVICE = "update-host"
VERSION = "1"
PART = "package.part"
"""The package while it comes, in the folder where the version is laid down."""
_TELL_S = 0.2
"""Seconds between two words about how far it is."""

T = TypeVar("T")


class UpdateHost:
    """``folder`` keeps what was seen of servers."""

    def __init__(self, folder: str, proxies: WebProxies) -> None:
        self._folder, self._proxies = folder, proxies

    def methods(self) -> dict[str, Any]:
        """By name."""
        return {"look": self.look, "fetch": self.fetch}

    async def look(self, call: WorkerCall) -> Mapping[str, Any]:
        """The newest version for ``system``, if it is newer than ``version``."""
        return await _in_thread(lambda: self._look(call.params))

    async def fetch(self, call: WorkerCall) -> Mapping[str, Any]:
        """Fetches the version whose ``digest`` a person has seen, and lays it down in ``staging``; streams how far it
        is. The value is the folder."""
        done = _Done()
        work = asyncio.ensure_future(_in_thread(lambda: self._fetch(call.params, done)))
        try:
            while not work.done():
                await asyncio.wait([work], timeout=_TELL_S)
                await call.emit({"what": done.what, "done": done.bytes, "total": done.total})
        finally:
            done.is_given_up = True
        return {"folder": await work}

    def _trusted(self, params: Mapping[str, Any]) -> Trusted:
        address = served(str(params["address"]))
        server = OneServer(address, self._proxies)
        return Trusted(server, address.text, address.host, base64.b64decode(str(params["root"])), self._folder)

    def _look(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self._trusted(params).newest(str(params["system"]))
        if found is None or not is_newer(found.version, str(params["version"])):
            return {"newest": None}
        return {
            "newest": {
                "version": found.version,
                "date": found.date,
                "bytes": found.package.length,
                "rights": found.rights.decode("utf-8"),
                "news": list(found.news),
                "digest": found.digest,
            }
        }

    def _fetch(self, params: Mapping[str, Any], done: _Done) -> str:
        trusted, staging = self._trusted(params), str(params["staging"])
        offer = trusted.newest(str(params["system"]))
        if offer is None or offer.digest != params["digest"] or not is_newer(offer.version, str(params["version"])):
            raise CallError("updates.other", "Another version is offered by now. Look at what it may do first.")
        package, root = os.path.join(staging, PART), os.path.join(staging, offer.version)
        room_for(staging, offer.package.length + offer.unpacked)
        try:
            self._bring(trusted, offer, package, done)
            done.next("unpack", offer.unpacked)
            unpack(package, root, Expected(offer.version, offer.unpacked, offer.rights), done.came)
        except BaseException:
            shutil.rmtree(root, ignore_errors=True)
            raise
        finally:
            if os.path.exists(package):
                os.unlink(package)
        return root

    def _bring(self, trusted: Trusted, offer: SignedOffer, path: str, done: _Done) -> None:
        done.next("fetch", offer.package.length)
        with trusted.verified(offer.package, path), open(path, "wb") as file:
            for piece in trusted.server.pieces(trusted.url(offer.package), PACKAGE):
                if done.bytes + len(piece) > offer.package.length:
                    raise CallError("updates.too_long", "The package is longer than was signed, and is cut off.")
                file.write(piece)
                done.came(len(piece))


class _Done:
    """How far it is, told by the thread that works and read by the one that tells."""

    def __init__(self) -> None:
        self.what, self.bytes, self.total = "look", 0, 0
        self.is_given_up = False

    def next(self, what: str, total: int) -> None:
        self.what, self.bytes, self.total = what, 0, total

    def came(self, size: int) -> None:
        if self.is_given_up:
            raise CallError("updates.given_up", "It was given up.")
        self.bytes += size


async def _in_thread(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise CallError("updates.disk_full", "The disk is full. Nothing was changed.") from None
        words = f"The new version could not be laid down ({os.strerror(error.errno or 0)}). Nothing was changed."
        raise CallError("updates.disk", words) from None


async def serve(host: UpdateHost) -> None:
    """Until the app is gone."""
    reader, writer = await pipes()
    await ChildServer(SERVICE, VERSION, host.methods()).serve(reader, writer)


def main(launcher: str, folders: Sequence[str]) -> None:
    """``folders``: where it keeps what it has seen, and where it lays down. ``launcher``: what shuts it in, or ""."""
    harden()
    if launcher:
        shut_in_with_network(launcher, read=(os.path.dirname(certifi.where()),), write=folders)
    bound_memory(limits.MEMORY)
    run(lambda: serve(UpdateHost(folders[0], proxies_of(os.environ))), SERVICE)
