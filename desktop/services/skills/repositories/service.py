"""Repositories that a person takes skills from: added, looked at, compared, taken from, given back.

Nothing reaches the network unless a person asks for it, nothing of a repository runs by being there, and what was taken
changes only when a person takes something else.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from desktop.domain.errors import KnownError, NotFound
from desktop.domain.runs.cancellation import CancellationToken
from desktop.services.skills.repositories.compare import Item, ItemDetail, SourceView, compared, detail_of
from desktop.services.skills.repositories.fetched import Fetched, gone
from desktop.services.skills.repositories.git import Git, Progress
from desktop.services.skills.world import SkillWorld
from desktop.skills.names import numbered
from desktop.skills.repositories.address import Address, read_address, usual_name
from desktop.skills.repositories.lock import MAX_BYTES, LockedSource, LockRefused, Taken, read_lock
from desktop.skills.repositories.offers import Brought, ReadServers, RepositoryOffer
from desktop.skills.repositories.shelf import Shelf, Source, taken_files

MAX_SOURCES = 100
Key = tuple[str, str]


class ServerFile(Protocol):
    """mcp.yaml, as far as taking a server needs it."""

    def names(self) -> frozenset[str]:
        """The servers in it. Blocks."""
        ...

    def change(self, add: Sequence[Mapping[str, object]], without: Iterable[str]) -> Callable[[], None]:
        """Take some out and add others, switched off; what takes that back. Blocks; raises KnownError."""
        ...


class SkillRepositories:
    """Used on the loop; what blocks happens in threads. ``follow`` has the folders of what was taken searched anew;
    ``read_servers`` reads declarations of MCP servers."""

    def __init__(
        self,
        shelf: Shelf,
        world: SkillWorld,
        git: Git,
        servers: ServerFile,
        read_servers: ReadServers,
        follow: Callable[[], object],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._shelf = shelf
        self._world = world
        self._fetched = Fetched(git, read_servers, shelf.data)
        self._servers = servers
        self._follow = follow
        self._clock = clock
        self._one = asyncio.Lock()
        self._servers_back: dict[str, Callable[[], None]] = {}

    # -- what there is ------------------------------------------------------------------------------------------------

    async def views(self) -> tuple[SourceView, ...]:
        """Every repository with what it brings, as it was looked at last. No network."""
        return await asyncio.to_thread(lambda: tuple(self._view(one) for one in self._shelf.sources()))

    async def view(self, name: str) -> SourceView:
        """One of them. Raises NotFound."""
        return await asyncio.to_thread(lambda: self._view(self._known(name)))

    def _known(self, name: str) -> Source:
        found = self._shelf.source(name)
        if found is None:
            raise NotFound(f"The repository {name} is no longer here.", next_step="Add it again.")
        return found

    def _view(self, source: Source) -> SourceView:
        name, declared = source.name, self._servers.names()
        there = tuple(one for one in source.taken if one.kind != "server" or one.name in declared)
        return compared(
            replace(source, taken=there), self._fetched.known(name), self._shelf.place(name), self._stands(name)
        )

    def _stands(self, source: str) -> Callable[[RepositoryOffer], tuple[str, bool]]:
        """Which other skill of its name an offer would stand behind (its source, "" for none), or before (True)."""
        catalog = self._world.fabric.catalog()
        own = str(self._shelf.place(source)) + os.sep
        roots = self._world.fabric.roots
        servers = self._servers.names()

        def comes_later(path: str, repository: str) -> bool:
            """Whether a skill at this path is searched after those of this repository."""
            if repository:
                return repository > source
            root = next((root for root in roots if path.startswith(root.path + os.sep)), None)
            return root is not None and root.source in ("shared", "library")

        def stands(offer: RepositoryOffer) -> tuple[str, bool]:
            if offer.kind == "server":
                return ("server", False) if offer.name in servers else ("", False)
            found = [catalog.row(number) for number in catalog.named(offer.name)]
            others = [row for row in found if not row.path.startswith(own) and row.state != "untrusted"]
            sooner = [row for row in others if not comes_later(row.path, row.repository)]
            row = next(iter((*sooner, *others)), None)
            return ("", False) if row is None else (row.repository or row.source, row not in sooner)

        return stands

    # -- adding and looking -------------------------------------------------------------------------------------------

    async def add(self, text: str, token: CancellationToken, said: Progress) -> str:
        """Add a repository, a folder or an archive, and look at it; its name. Nothing stays where it cannot be had.
        Raises KnownError."""
        address = await asyncio.to_thread(read_address, text)
        async with self._one:
            name = await asyncio.to_thread(self._free_name, address)
            try:
                await self._look(Source(name, address.text, address.kind), address, token, said)
            except BaseException:
                await asyncio.shield(asyncio.to_thread(self._shelf.remove, name))
                await asyncio.shield(asyncio.to_thread(gone, self._shelf.data(name)))
                raise
        return name

    def _free_name(self, address: Address) -> str:
        known = self._shelf.sources()
        same = next((one.name for one in known if one.address == address.text), "")
        if same:
            raise KnownError(f"{address.text} is here already, as {same}.", next_step="Look for changes there.")
        if len(known) >= MAX_SOURCES:
            raise KnownError(f"There are {MAX_SOURCES} repositories already.", next_step="Remove one.")
        name, taken = usual_name(address), {one.name for one in known}
        return next(
            one for n in range(1, MAX_SOURCES + 2) if (one := name if n == 1 else numbered(name, n)) not in taken
        )

    async def look(self, name: str, token: CancellationToken, said: Progress) -> None:
        """Look for changes: for the newest commit, and what it brings. What was taken stays as it is. Raises
        KnownError; then what was known before is still known."""
        async with self._one:
            source = await asyncio.to_thread(self._known, name)
            address = await asyncio.to_thread(read_address, source.address)
            await self._look(source, address, token, said)

    async def _look(self, source: Source, address: Address, token: CancellationToken, said: Progress) -> None:
        data = self._shelf.data(source.name)
        commit = await self._fetched.stage(source.name, address, data / "newest", token, said)
        known = replace(source, kind=address.kind, commit=commit, looked=self._clock())
        await asyncio.to_thread(self._shelf.put, known)

    # -- taking -------------------------------------------------------------------------------------------------------

    async def take(self, name: str, wanted: Mapping[Key, str], drop: Iterable[Key] = ()) -> SourceView:
        """Take these, each with the digest of what the person has seen, and no longer those in ``drop``; all or none.
        A server is an entry of mcp.yaml. Raises KnownError, also for one that is another by now: a look may have ended
        in between."""
        async with self._one:
            return await asyncio.to_thread(self._take, name, dict(wanted), tuple(drop))

    def _take(self, name: str, wanted: Mapping[Key, str], drop: tuple[Key, ...]) -> SourceView:
        source = self._known(name)
        found = self._fetched.known(name) or Brought()
        offers = [self._takeable(found, key, seen) for key, seen in wanted.items()]
        self._put(source, [(one, source.commit) for one in offers], drop)
        return self._view(self._known(name))

    @staticmethod
    def _takeable(found: Brought, key: Key, seen: str) -> RepositoryOffer:
        offer = found.find(key)
        if offer is None or not offer.usable:
            why = offer.problems[0].message if offer is not None and offer.problems else "it is not there"
            raise KnownError(f"{key[1]} cannot be taken: {why}", next_step="Take the others.")
        if offer.digest != seen:
            raise KnownError(f"{key[1]} is another one by now than the one that was shown.", next_step="Look at it.")
        return offer

    def _put(self, source: Source, offers: Sequence[tuple[RepositoryOffer, str]], drop: tuple[Key, ...]) -> None:
        """``offers`` each with its commit."""
        at, gone = self._clock(), {*(one.key for one, _ in offers), *drop}
        new = [Taken(one.kind, one.name, one.rel, commit, one.digest, at) for one, commit in offers]
        kept = tuple(one for one in source.taken if one.key not in gone)
        back = self._put_servers(source, [one for one, _ in offers if one.server is not None], drop)
        skills = [one for one, _ in offers if one.server is None]
        lost = [key[1] for key in drop if key[0] == "skill"]
        left = {key: digest for key, digest in source.kept.items() if key not in {"/".join(one) for one in gone}}
        changed = replace(source, taken=(*kept, *new), kept=left)
        before = taken_files(self._shelf, source)[1]
        try:
            self._shelf.change(changed, skills, lost)
        except BaseException:
            back()
            raise
        self._servers_back[source.name] = back
        self._seen(changed, before)

    def _put_servers(self, source: Source, new: Sequence[RepositoryOffer], drop: tuple[Key, ...]) -> Callable[[], None]:
        """mcp.yaml with these, in place of the older ones that were taken from here, and without those in ``drop``; one
        that is the same and there stays as the person has it. Returns what takes it back."""
        known = self._servers.names()
        mine = {one.name: one.digest for one in source.taken if one.kind == "server" and one.name in known}
        add = [one for one in new if mine.get(one.name) != one.digest]
        without = [key[1] for key in drop if key[0] == "server" and key[1] in mine]
        without += [one.name for one in add if one.name in mine]
        if not add and not without:
            return lambda: None
        return self._servers.change([one.server.entry for one in add if one.server is not None], without)

    def _seen(self, source: Source, before: Iterable[str] = ()) -> None:
        """The person has seen what they took: search it, and let it be on."""
        self._follow()
        place, mains = taken_files(self._shelf, source)
        self._world.fabric.seen(place, sorted({*mains, *before}))

    async def undo(self, name: str) -> SourceView:
        """Back to what was taken before the last change. Raises KnownError where there is none."""
        async with self._one:
            return await asyncio.to_thread(self._undo, name)

    def _undo(self, name: str) -> SourceView:
        mains = taken_files(self._shelf, self._known(name))[1]
        source = self._shelf.undo(name)
        if source is None:
            raise KnownError("There is nothing to go back to.", next_step="Take what you want to have.")
        if (back := self._servers_back.pop(name, None)) is not None:
            back()
        self._seen(source, mains)
        return self._view(self._known(name))

    async def keep(self, name: str, key: Key) -> SourceView:
        """Keep what was taken, and say no more of this newer one."""
        return await asyncio.to_thread(self._keep, name, key)

    def _keep(self, name: str, key: Key) -> SourceView:
        source = self._known(name)
        item = next((one for one in self._view(source).items if one.key == key), None)
        digest = item.offer.digest if item is not None and item.offer is not None else "gone"
        self._shelf.put(replace(source, kept={**source.kept, "/".join(key): digest}))
        return self._view(self._known(name))

    async def detail(self, name: str, key: Key) -> ItemDetail:
        """One thing, read: what is different in its files, from what was taken to what is newest. Raises KnownError."""
        return await asyncio.to_thread(self._detail, name, key)

    def _detail(self, name: str, key: Key) -> ItemDetail:
        item = next((one for one in self._view(self._known(name)).items if one.key == key), None)
        if item is None:
            raise NotFound(f"{key[1]} is no longer there.", next_step="Choose another.")
        return detail_of(item, self._shelf.place(name))

    async def remove(self, name: str) -> None:
        """The repository and what was taken of it go. Servers in mcp.yaml stay."""
        async with self._one:
            await asyncio.to_thread(self._remove, name)

    def _remove(self, name: str) -> None:
        self._known(name)
        self._shelf.remove(name)
        self._servers_back.pop(name, None)
        self._fetched.forget(name)
        self._follow()

    # -- the file of a team -------------------------------------------------------------------------------------------

    @property
    def lock_file(self) -> str:
        """Where it is."""
        return str(self._shelf.lock_file)

    async def from_lock(self, path: str, token: CancellationToken, said: Progress) -> tuple[str, ...]:
        """Take exactly what a lock file says, of each repository all or nothing; what was done and what was refused, a
        sentence each. Raises KnownError for a file that is none."""
        sources = await asyncio.to_thread(_read_lock, path)
        words = []
        for one in sources:
            said(f"{one.name}")
            try:
                words.append(await self._one_of_lock(one, token, said))
            except KnownError as error:
                words.append(f"{one.name}: nothing was taken. {error.advice}")
        return tuple(words)

    async def _one_of_lock(self, locked: LockedSource, token: CancellationToken, said: Progress) -> str:
        known = await asyncio.to_thread(self._of_lock, locked)
        if not known.address:
            raise LockRefused("It lay on the computer of whoever wrote the file.", next_step="Ask for its address.")
        address = await asyncio.to_thread(read_address, known.address)
        async with self._one:
            new = await asyncio.to_thread(self._shelf.source, known.name) is None
            try:
                offers = await self._locked_offers(known.name, address, locked, token, said)
                await self._look(known, address, token, said)
                source = await asyncio.to_thread(self._known, known.name)
                await asyncio.to_thread(self._put, source, offers, ())
            except BaseException:
                if new:
                    await asyncio.shield(asyncio.to_thread(self._shelf.remove, known.name))
                    await asyncio.shield(asyncio.to_thread(gone, self._shelf.data(known.name)))
                raise
            finally:
                await asyncio.shield(asyncio.to_thread(gone, self._shelf.data(known.name) / "locked"))
        return f"{known.name}: {len(offers)} taken."

    def _of_lock(self, locked: LockedSource) -> Source:
        """The repository of this address or name that is here, else a new one."""
        sources = self._shelf.sources()
        same = [
            one for one in sources if one.address == locked.address or (not locked.address and one.name == locked.name)
        ]
        if same:
            return same[0]
        if any(one.name == locked.name for one in sources):
            raise LockRefused(f"There is another repository called {locked.name} here.", next_step="Remove that first.")
        return Source(locked.name, locked.address, "git")

    async def _locked_offers(
        self, name: str, address: Address, locked: LockedSource, token: CancellationToken, said: Progress
    ) -> list[tuple[RepositoryOffer, str]]:
        """Each thing of the file from its own commit, with the content that the file says. Raises LockRefused."""
        found: list[tuple[RepositoryOffer, str]] = []
        for number, commit in enumerate(sorted({one.commit for one in locked.taken})):
            place = self._shelf.data(name) / "locked" / str(number)
            await self._fetched.stage(name, address, place, token, said, commit)
            inside = await asyncio.to_thread(self._fetched.at, place)
            for taken in locked.taken:
                if taken.commit == commit:
                    found.append((_same(inside, taken), commit))
        return found


def _same(inside: Brought, taken: Taken) -> RepositoryOffer:
    """The very thing that was taken. Raises LockRefused."""
    offer = inside.find(taken.key)
    if offer is None:
        raise LockRefused(f"{taken.name} is not in it.", next_step="Ask for the file anew.")
    if offer.digest != taken.digest:
        raise LockRefused(
            f"{taken.name} has another content than the file says: one of the two was changed.",
            next_step="Do not take it before you know which.",
        )
    if not offer.usable:
        raise LockRefused(
            f"{taken.name} cannot be taken: {offer.problems[0].message}", next_step="Ask for the file anew."
        )
    return offer


def _read_lock(path: str) -> tuple[LockedSource, ...]:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise LockRefused(f"{path} cannot be read: {error.strerror}.") from error
    return read_lock(data)


__all__ = ["Item", "ItemDetail", "ServerFile", "SkillRepositories", "SourceView"]
