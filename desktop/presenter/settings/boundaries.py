"""The boundary as the settings show it: where entries really lead, what changing them means, a path put to the test.

Everything is asked of the functions that enforce it, in threads; answers come as signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from desktop.domain.safety import Access, EntryFacts, PathVerdict

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge

ListName = Literal["allowed", "denied"]
LISTS: dict[str, ListName] = {"security.allowed_paths": "allowed", "security.denied_paths": "denied"}
"""Setting key -> list."""

Describe = Callable[[ListName, str], EntryFacts]
Explain = Callable[[str, Access], PathVerdict]
Commands = Callable[[str], tuple[bool, bool]]
FirstLink = Callable[[str], str]


class BoundariesViewModel(QObject):
    """``described(key, facts)`` for the entries of a list, ``considered(key, facts)`` for one that is to be added, and
    ``judged(path, read, write, link)`` for the tester; ``link`` is the part of the path that leads elsewhere, or "".
    The verdicts are about file tools; ``commands`` says then whether shell commands can read and write there."""

    described = Signal(str, object)
    considered = Signal(str, object)
    judged = Signal(str, object, object, str)

    def __init__(
        self,
        bridge: Bridge,
        describe: Describe,
        explain: Explain,
        first_link: FirstLink,
        commands: Commands | None = None,
    ) -> None:
        super().__init__()
        self._commands = commands
        self.commands: tuple[bool, bool] | None = None
        self._first_link = first_link
        self._bridge = bridge
        self._describe = describe
        self._explain = explain

    def describe(self, key: str, entries: Sequence[str]) -> None:
        """Look at the entries of a list as they are on the disk now."""

        async def work() -> None:
            found = await asyncio.to_thread(lambda: tuple(self._describe(LISTS[key], entry) for entry in entries))
            self.described.emit(key, found)

        self._bridge.spawn(work(), name="look at the boundary")

    def consider(self, key: str, entry: str) -> None:
        """Look at an entry before it is added."""

        async def work() -> None:
            self.considered.emit(key, await asyncio.to_thread(self._describe, LISTS[key], entry))

        self._bridge.spawn(work(), name="look at an entry")

    def judge(self, path: str) -> None:
        """Would this path be allowed? The same function answers that decides about calls (R-FS-11)."""

        async def work() -> None:
            def look() -> tuple[tuple[bool, bool] | None, tuple[PathVerdict, PathVerdict, str]]:
                read, write = (self._explain(path, access) for access in (Access.READ, Access.WRITE))
                commands = self._commands(read.resolved) if self._commands is not None and read.resolved else None
                return commands, (read, write, self._first_link(path))

            self.commands, found = await asyncio.to_thread(look)
            self.judged.emit(path, *found)

        self._bridge.spawn(work(), name="test a path")
