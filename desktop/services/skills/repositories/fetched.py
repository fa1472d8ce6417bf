"""What was fetched of repositories: the files of the newest commit in a folder of each, and what they bring."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

from desktop.domain.runs.cancellation import CancellationToken
from desktop.files.private import make_folder, write_whole
from desktop.files.removing import remove_tree
from desktop.services.skills.repositories.git import Git, Progress, TokenStop
from desktop.skills.importing.archives import unpack
from desktop.skills.importing.limits import ImportRefused, StagedFiles
from desktop.skills.importing.reading import copy_folder
from desktop.skills.repositories.address import Address
from desktop.skills.repositories.offers import Brought, Facts, ReadServers, brought
from desktop.skills.repositories.plugins import LEFT_BY_OTHERS
from desktop.skills.repositories.tree import MAX_WANTED


class Fetched:
    """``data`` is the folder of a repository, by its name; ``read_servers`` reads declarations of MCP servers."""

    def __init__(self, git: Git, read_servers: ReadServers, data: Callable[[str], Path]) -> None:
        self._git = git
        self._read_servers = read_servers
        self._data = data
        self._found: dict[str, tuple[tuple[int, int], Brought]] = {}

    def known(self, name: str) -> Brought | None:
        """What its files of the last look are; None where it was never looked at to the end."""
        newest = self._data(name) / "newest"
        try:
            with open(newest / "facts.json", "rb") as file:
                stamp = os.fstat(file.fileno())
                facts = Facts.from_json(json.loads(file.read()))
        except (OSError, ValueError):
            return None
        known = self._found.get(name)
        now = (stamp.st_ino, stamp.st_mtime_ns)
        if known is None or known[0] != now:
            found = brought(newest / "files", newest / "made", facts, self._read_servers)
            known = self._found[name] = (now, found)
        return known[1]

    def at(self, place: Path) -> Brought:
        """What the files in a folder are, which ``stage`` has filled. Blocks."""
        return brought(place / "files", place / "made", Facts(), self._read_servers)

    def forget(self, name: str) -> None:
        """The repository is gone."""
        self._found.pop(name, None)

    async def stage(
        self, name: str, address: Address, place: Path, token: CancellationToken, said: Progress, wanted: str = ""
    ) -> str:
        """The files of the newest commit, or of this one, in a folder; the commit, "" where there are none."""
        fresh = place.with_name(f"{place.name}-fresh")
        await asyncio.to_thread(_emptied, fresh)
        try:
            commit, facts = "", Facts()
            if address.kind == "git":
                data = self._data(name)
                commit = await self._git.fetch(address, data, token, said, wanted)
                said("reading its files")
                facts = await self._git.files(address, data, commit, fresh / "files", token)
            else:
                said("reading its files")
                facts = await asyncio.to_thread(_copied, address, fresh / "files", token)
            token.check()
            said("looking at what it brings")
            await asyncio.to_thread(self._look_through, fresh, facts, place)
        finally:
            await asyncio.shield(asyncio.to_thread(gone, fresh))
        return commit

    def _look_through(self, fresh: Path, facts: Facts, place: Path) -> None:
        found = brought(fresh / "files", fresh / "made", facts, self._read_servers)
        if not found.offers:
            raise ImportRefused(
                "There is nothing in it that could be taken: no skill, no agent of a plugin, no MCP server.",
                next_step="Look whether it is the right repository.",
            )
        write_whole(fresh / "facts.json", json.dumps(facts.as_json()).encode("utf-8", "replace"), lasting=False)
        gone(place)
        os.rename(fresh, place)


def _copied(address: Address, into: Path, token: CancellationToken) -> Facts:
    """The files of a folder or an archive. Raises ImportRefused."""
    staged = StagedFiles(into, TokenStop(token), MAX_WANTED)
    if address.kind in ("folder", "project"):
        copy_folder(Path(address.path), staged, LEFT_BY_OTHERS if address.kind == "project" else ())
    else:
        unpack(Path(address.path), staged)
    return Facts(links={"": staged.links} if staged.links else {})


def _emptied(folder: Path) -> None:
    gone(folder)
    make_folder(folder / "files")
    make_folder(folder / "made")


def gone(folder: Path) -> None:
    """A folder with all in it goes. Blocks."""
    if folder.exists():
        remove_tree(str(folder))
