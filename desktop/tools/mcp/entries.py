"""Whole entries of mcp.yaml put in and taken out, all at once, with a way back.

Everything here blocks, but for ``removed``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from desktop.domain.errors import KnownError
from desktop.tools.declared.file import DeclaredFile
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.person import PersonOfServer
from desktop.yaml_text.change import with_block, with_item, without_item

FILE, KEY = "mcp.yaml", "servers"
TakeBack = Callable[[], None]
"""Undoes a change of the file. Raises KnownError where what was put in is another by now."""


def declared_names(servers: DeclaredFile[McpDefinition]) -> frozenset[str]:
    """The servers in the file as it is now; none where nothing of it can be read."""
    return frozenset(one.name for one in servers.check(servers.read().text).definitions)


def change_entries(
    servers: DeclaredFile[McpDefinition], add: Sequence[Mapping[str, object]] = (), without: Iterable[str] = ()
) -> TakeBack:
    """Take the entries ``without`` out of mcp.yaml, add others at its end, and put it in force. Raises KnownError, and
    then changes nothing."""
    file = servers.read()
    text, blocks = file.text, dict[str, str]()
    for name in without:
        text, blocks[name] = without_item(text, KEY, name, what=FILE)
    there = declared_names(servers) - blocks.keys()
    for entry in add:
        if entry["name"] in there:
            raise KnownError(
                f"{FILE} has a server called {entry['name']} already.",
                next_step="Remove it first, on its page in Settings, MCP servers; then take this one.",
            )
        text = with_item(text, KEY, entry)
    saved = servers.save(text, file.stamp)
    added = [str(entry["name"]) for entry in add]

    def take_back() -> None:
        now = servers.read()
        if now.stamp == saved.stamp:
            servers.save(file.text, now.stamp)
            return
        again = now.text
        for name in added:
            if name in declared_names(servers):
                again, _ = without_item(again, KEY, name, what=FILE)
        here = {one.name for one in servers.check(again).definitions}
        for name, block in blocks.items():
            if name not in here:
                again = with_block(again, KEY, block)
        servers.save(again, now.stamp)

    return take_back


async def removed(servers: DeclaredFile[McpDefinition], name: str, person: PersonOfServer) -> tuple[TakeBack, str]:
    """Take a server out of mcp.yaml, which ends it, with its sign-in; (what brings its entry back, what came of the
    sign-in, or ""). Raises KnownError, and then it is still there."""
    back = await asyncio.to_thread(change_entries, servers, (), (name,))
    try:
        if await person.sign_in.kept() is None:
            return back, ""
        await person.signed_out()
    except KnownError as error:
        return back, str(error)
    return back, "You are signed out there."
