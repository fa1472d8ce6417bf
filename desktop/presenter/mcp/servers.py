"""The settings page of mcp.yaml: servers and how they are, what they offer, what of it the person has agreed to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from desktop.domain.errors import KnownError
from desktop.domain.ids import new_id
from desktop.domain.keyring import KeyringEntry
from desktop.presenter.common.unsaved import UnsavedTexts
from desktop.presenter.mcp.declared_file import read_declared
from desktop.presenter.mcp.example import EXAMPLE
from desktop.presenter.mcp.keeping import keep_pasted
from desktop.presenter.mcp.rows import READS, McpInstructions, McpRow, McpToolRow, row_of
from desktop.presenter.mcp.secrets import PastedSecret
from desktop.presenter.settings.declared import DeclaredViewModel
from desktop.presenter.skills.forms import FormField, fields_of
from desktop.skills.catalogue.pins import Difference, FileDifference
from desktop.tools.mcp.entries import TakeBack
from desktop.tools.mcp.offered import INSTRUCTIONS
from desktop.tools.person_file import CannotSaveTools
from desktop.yaml_text.change import change_item, with_item

if TYPE_CHECKING:
    from desktop.presenter.events.bridge import Bridge
    from desktop.presenter.skills.trying import SkillTrials
    from desktop.safety.secrets.tool_secrets import ToolSecrets
    from desktop.tools.mcp.servers import McpServers, McpState, ToolFacts

_PATH = re.compile(r"(?<![\w/])(?:~|\.{0,2})/[\w.@+-]+(?:/[\w.@+-]+)*")
MAX_LOOKED_THROUGH = 60_000
MAX_PATHS = 50
"""Of a changed description, that are judged."""
REMOVED = "mcp-removed:"
MAX_REMOVED = 10
"""Servers that can be brought back."""
MAX_AT_ONCE = 40
"""Tools that are looked at, and so agreed to, in one go: as many as are shown."""


class McpServersViewModel(DeclaredViewModel):
    """The servers of mcp.yaml. ``difference`` is what is looked at, and ``accept`` agrees to exactly that."""

    _state: McpState
    difference_ready = Signal(object)
    secrets_kept = Signal(object)
    secrets_refused = Signal(str)
    declared_read = Signal(str)
    address_ready = Signal(str)
    """The address at which a person signs in: it follows their own click, and is for the browser."""
    told = Signal(str, str)
    """(what was done, the token that undoes it)."""

    def __init__(
        self,
        service: McpServers,
        trials: SkillTrials,
        keyring: ToolSecrets,
        bridge: Bridge,
        closed: Callable[[str], bool] = lambda _: False,
        texts: UnsavedTexts | None = None,
    ) -> None:
        """``closed``: whether a path is closed to all tools. It may block."""
        super().__init__(service, trials, bridge, example=EXAMPLE, holds="servers", texts=texts)
        self._closed = closed
        self._service = service
        self._keyring = keyring
        self._looked_at: tuple[str, dict[str, str]] = ("", {})
        self._difference: Difference | None = None
        self._rows: tuple[McpRow, ...] | None = None
        self._saving = asyncio.Lock()
        self._removed: dict[str, tuple[str, TakeBack]] = {}

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> tuple[McpRow, ...]:
        """The servers in force, in the order of the file."""
        if self._rows is None:
            self._rows = tuple(row_of(server) for server in self._state.servers)
        return self._rows

    def _take(self) -> None:
        self._rows = None
        super()._take()

    def names_closed(self, before: str, now: str) -> str:
        """The first path that is closed to all tools among those that a text names only now, or "". Blocks."""
        known = set(_PATH.findall(before))
        new = (path.rstrip(".,;:") for path in _PATH.findall(now[:MAX_LOOKED_THROUGH]) if path not in known)
        return next((path for path in islice(dict.fromkeys(new), MAX_PATHS) if self._closed(path)), "")

    # -- what a person does -------------------------------------------------------------------------------------------

    def restart(self, name: str) -> None:
        """Start a server anew, ending it first if it runs."""
        self._spawn(self._service.restart(name), f"restart MCP server {name}")

    def stop(self, name: str) -> None:
        """End it until it is started by hand, or Assent anew."""
        self._spawn(self._service.stop(name), f"stop MCP server {name}")

    def sign_in(self, name: str, scopes: Sequence[str]) -> None:
        """The person has chosen what the server may do: ``address_ready`` follows."""
        self._spawn(self._service.sign_in(name, tuple(scopes), self.address_ready.emit), f"sign in to {name}")

    def cancel_sign_in(self, name: str) -> None:
        """The person waits for the browser no longer."""
        self._spawn(self._service.cancel_sign_in(name), f"do not sign in to {name}")

    def look_at_sign_in(self, name: str) -> None:
        """Ask once more who wants the person to sign in, and for what."""
        self._spawn(self._service.look_at_sign_in(name), f"sign-in of {name}")

    def sign_out(self, name: str) -> None:
        """Have it taken back there, and forget it here."""
        self._spawn(self._service.sign_out(name), f"sign out of {name}")

    def end_task(self, name: str, task_id: str) -> None:
        """Tell a server that nobody wants a call any more that goes on by itself."""
        self._spawn(self._end_task(name, task_id), f"end a task of {name}")

    async def _end_task(self, name: str, task_id: str) -> None:
        await self._service.tasks.cancel(name, task_id)

    def look_at_tasks(self, name: str) -> None:
        """Ask a server how its tasks are."""
        self._spawn(self._service.tasks.look(name), f"look at tasks of {name}")

    @property
    def difference(self) -> Difference | None:
        """The difference that the person is looking at."""
        return self._difference

    def look_at(self, name: str) -> None:
        """Show what is new or changed in its tools: ``difference_ready`` follows."""
        self._look_at(name, [tool for tool in self._state.server(name).judged if tool.standing in ("new", "changed")])

    def look_at_all(self, name: str, *, reading: bool = False) -> None:
        """The same for every tool that could be on and is not; ``reading``: of those that say that they only read."""
        could = [tool for tool in self._state.server(name).judged if tool.off and not tool.barred]
        self._look_at(name, [tool for tool in could if not reading or READS in tool.offered.claims])

    def switch(self, name: str, shown: McpToolRow | McpInstructions, on: bool) -> None:
        """The person put one on or off. All that a page shows of a tool counts as looked at: it asks for no tool whose
        words, or what changed in them, are not in sight. Of instructions it shows the beginning, so they are shown
        first."""
        if not on:
            self.switch_off(name, (shown.server_name,))
            return
        tool = next((t for t in self._state.server(name).judged if t.offered.raw == shown.server_name), None)
        if tool is None:
            return
        if shown.server_name == INSTRUCTIONS:
            self._look_at(name, [tool])
        else:
            self._spawn(self._service.accept(name, {shown.server_name: shown.digest}), f"switch on a tool of {name}")

    def set_category(self, name: str, tool: McpToolRow, category: str) -> None:
        """Write into mcp.yaml who has to agree to the calls of one tool, and put it in force."""
        self._spawn(self._set_category(name, tool.server_name, category), f"category of a tool of {name}")

    async def _set_category(self, name: str, tool: str, category: str) -> None:
        rule = self._state.server(name).definition.rule(tool)
        nested = rule.timeout_s is not None or not rule.enabled
        await self._write(name, ("tools", tool, "category") if nested else ("tools", tool), category, stays=tool)

    def switch_on(self, name: str) -> None:
        """Write into mcp.yaml that a server is on, from now on and whenever Assent starts, and start it."""
        self._spawn(self._write(name, ("enabled",), True, stays=name), f"switch on MCP server {name}")

    def remove(self, name: str) -> None:
        """Take a server out of mcp.yaml, which ends it; ``told`` follows, with the undo."""
        self._spawn(self._remove(name), f"remove MCP server {name}")

    async def _remove(self, name: str) -> None:
        async with self._saving:
            back, note = await self._service.remove(name)
        token = f"{REMOVED}{new_id()}"
        self._removed[token] = (name, back)
        while len(self._removed) > MAX_REMOVED:
            del self._removed[next(iter(self._removed))]
        self.told.emit(f"{name} was removed. {note}".strip(" ."), token)

    def undo(self, token: str) -> None:
        """Bring back a server that ``told`` named; other tokens are for others."""
        name, back = self._removed.pop(token, ("", None))
        if back is not None:
            self._spawn(self._take_back(back), f"bring MCP server {name} back")

    async def _take_back(self, back: TakeBack) -> None:
        async with self._saving:
            await asyncio.to_thread(back)

    async def _write(self, name: str, path: Sequence[str], value: object, *, stays: str) -> None:
        """Change one key of a server in the file, unless that makes a mistake of it."""

        def write() -> None:
            file = self._service.read()
            text = change_item(file.text, "servers", name, path, value, what=self.name)
            before = {problem.message for problem in self._service.check(file.text).problems}
            wrong = [one for one in self._service.check(text).problems if one.message not in before]
            if wrong:
                raise CannotSaveTools(f"{stays} stays as it is: {wrong[0].message}.", next_step="Nothing was changed.")
            self._service.save(text, file.stamp)

        async with self._saving:  # two at once would each write over the other's
            await asyncio.to_thread(write)

    def switch_off(self, name: str, tools: Sequence[str] = ()) -> None:
        """Switch off tools, by the server's names for them, or all of the server."""
        every = [tool.offered.raw for tool in self._state.server(name).judged if not tool.barred]
        self._spawn(self._service.switch_off(name, tools or every), f"switch off tools of {name}")

    def _look_at(self, name: str, tools: Sequence[ToolFacts]) -> None:
        unseen = tools[:MAX_AT_ONCE]
        self._looked_at = (name, {tool.offered.raw: tool.offered.digest for tool in unseen})
        self._difference = compared(name, [(t.offered.name, t.seen_text or None, t.offered.text) for t in unseen])
        self.difference_ready.emit(self._difference)

    def accept(self) -> None:
        """The person has seen exactly what was shown last, and takes it."""
        name, digests = self._looked_at
        self._difference = None
        self._spawn(self._service.accept(name, digests), f"accept tools of {name}")

    def put_in(self, entry: Mapping[str, object]) -> None:
        """Write a server into the text, which is checked and not saved yet; ``opened`` follows."""
        self.edited(with_item(self.shown, "servers", entry))
        self.opened.emit()

    def read_declared(self, path: str) -> None:
        """Read a file of another app, or an entry of the registry: ``declared_read`` follows with its text."""
        self._spawn(self._read_declared(path), "read a file that declares servers")

    async def _read_declared(self, path: str) -> None:
        self.declared_read.emit(await asyncio.to_thread(read_declared, path))

    def keep_secrets(self, secrets: Sequence[PastedSecret]) -> None:
        """Store the secrets in the keyring. ``secrets_kept`` follows, (secret, entry) of each, or ``secrets_refused``
        with why not."""
        self._bridge.spawn(self._keep_secrets(secrets), name="keyring")

    async def _keep_secrets(self, secrets: Sequence[PastedSecret]) -> None:
        kept: list[tuple[PastedSecret, KeyringEntry]] = []
        trouble = ""
        try:
            for secret in secrets:
                kept.append((secret, await keep_pasted(self._keyring, secret)))
        except KnownError as error:
            trouble = error.advice
        if kept:
            self.secrets_kept.emit(tuple(kept))
            self.changed.emit()
        if trouble:
            self.secrets_refused.emit(trouble)

    # -- trying -------------------------------------------------------------------------------------------------------

    def tool(self, name: str) -> McpToolRow | None:
        """The tool of this name of ours, if it can be called."""
        return next((tool for row in self.rows for tool in row.tools if tool.name == name and not tool.off), None)

    def fields(self, name: str) -> tuple[FormField, ...] | None:
        """The form of a tool's arguments; None where no form can hold them."""
        found = [t.offered for s in self._state.servers for t in s.tools if t.offered.name == name]
        return fields_of(found[0].schema) if found else None


def compared(server: str, tools: Sequence[tuple[str, str | None, str]]) -> Difference:
    """Tools of a server as they were seen (None: never) and as they are."""
    return Difference(server, "", tuple(FileDifference(*tool) for tool in tools))
