"""What MCP servers give to a message: resources after ``@``, prompts after ``/``, each put in by a person.

A resource is put in as a mark and read when the message is sent; a prompt is filled in first, so that a person sees
what a stranger wrote before it goes out. Both are stored as they were then. Nothing here waits on the loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from desktop.domain.errors import AssentError, KnownError
from desktop.domain.messages import Block, GivenBlock, ImageBlock, MediaBlock
from desktop.domain.servers.mcp import (
    McpCompletion,
    McpOffers,
    McpPrompt,
    McpPromptText,
    McpRead,
    McpResource,
    McpTemplate,
)
from desktop.domain.text.words import size_words
from desktop.presenter.chat.state import Offer
from desktop.presenter.common.words import clock
from desktop.presenter.events.bridge import Bridge

MAX_MEDIA = 8
"""Images of one resource that go with a message."""
_KINDS = {"text/csv": "table", "application/json": "JSON", "text/markdown": "text", "application/pdf": "PDF"}
_GROUPS = {"image": "picture", "text": "text", "audio": "sound", "video": "video"}
Fillable = McpPrompt | McpTemplate


class ReadingPort(Protocol):
    """Servers that are read for a message."""

    async def read_resource(self, server: str, uri: str) -> McpRead: ...

    async def get_prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> McpPromptText: ...

    async def complete(self, of: Fillable, argument: str, value: str, context: Mapping[str, str]) -> McpCompletion: ...

    async def watch(self, server: str, uri: str) -> None: ...

    async def unwatch(self, server: str, uri: str) -> None: ...

    def on_resource(self, listener: Callable[[str, str], None]) -> Callable[[], None]: ...


class ServersPort(Protocol):
    """The servers, as far as a message needs them; ``on_change`` tells of any change. ``reading`` loads code: it is not
    asked for before it is needed."""

    @property
    def offers(self) -> tuple[McpOffers, ...]: ...

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]: ...

    @property
    def reading(self) -> ReadingPort: ...


class FromServers(QObject):
    """``completed``: (argument, what was typed, values) for the form that is open; ``previewed``: (values, what the
    prompt says, or why not); ``put_in``: a block for the composer; ``reading``: what is read before a message goes out,
    "" when that is over; ``newer``: (server, uri, when) of a resource that waits in the composer; ``looked``:
    (resource, what is in it, or why not); ``others``: what can be put in is something else now."""

    completed = Signal(str, str, object)
    previewed = Signal(object, object)
    put_in = Signal(object)
    reading = Signal(str)
    newer = Signal(str, str, float)
    looked = Signal(object, object)
    others = Signal()
    _changed = Signal(str, str)
    _told = Signal()

    def __init__(
        self, servers: ServersPort, where: Callable[[str], str], bridge: Bridge, denied: Callable[[str], str]
    ) -> None:
        """``where``: the host of a server, or "" for a program on this computer; ``denied``: the rule of the person's
        that denies everything of a server, or ""."""
        super().__init__()
        self._servers, self._where, self._bridge, self._denied = servers, where, bridge, denied
        self._watched: set[tuple[str, str]] = set()
        self._reads: set[asyncio.Future[tuple[Block, ...]]] = set()
        self._changed.connect(self._tell_newer)
        self._known: tuple[McpOffers, ...] = ()
        self._told.connect(self._compare)
        servers.on_change(self._told.emit)
        self._listens = False

    # -- what is offered ----------------------------------------------------------------------------------------------

    def _open(self) -> Iterable[McpOffers]:
        return (one for one in self._servers.offers if one.running and one.looked_at)

    def _compare(self) -> None:
        """A server may tell of its log without end: only other offers are told."""
        now = tuple(self._open())
        if now != self._known:
            self._known = now
            self.others.emit()

    def resources(self) -> list[Offer]:
        """What can be put in after ``@``; what cannot be read stands there with the reason."""
        return [offer for one in self._open() for offer in self._resources(one)]

    def place_of(self, server: str) -> str:
        """Whose words they are: the host of a server, or its name where it runs on this computer."""
        return self._where(server) or server

    def _resources(self, offers: McpOffers) -> Iterable[Offer]:
        host = self._where(offers.server)
        group = f"{offers.server}, a server at {host}" if host else f"{offers.server}, a server on this computer"
        rule = self._forbidden(offers.server)
        for one in offers.resources:
            label, problem = one.title or one.name or one.uri, _refused(one.problem or rule)
            icon = "lock" if problem else "server"
            yield Offer(label, "", problem or kind_words(one), icon, group, one.uri, bool(problem), one)
        for family in offers.templates:
            count = len(family.variables)
            hint = f"asks for {count} value{'s' * (count != 1)}" if count else ""
            label, problem = family.title or family.name or family.template, _refused(family.problem or rule)
            yield Offer(label, "", problem or hint, "search", group, family.template, bool(problem), family)

    def prompts(self) -> list[Offer]:
        """What can be put in after ``/``: ``server:prompt``."""
        return [
            Offer(
                f"{one.server}:{prompt.name}",
                "",
                _refused(prompt.problem or rule) or prompt.title or prompt.description,
                "server",
                f"Prompts of {one.server}",
                "",
                bool(prompt.problem or rule),
                prompt,
            )
            for one in self._open()
            for rule in [self._forbidden(one.server)]
            for prompt in one.prompts
        ]

    def _forbidden(self, server: str) -> str:
        rule = self._denied(server)
        return f"your rule {rule} denies it" if rule else ""

    def _check(self, server: str) -> None:
        """A rule that was written since is heeded, too. Raises KnownError."""
        if rule := self._denied(server):
            raise KnownError(
                f"Your rule {rule} denies everything of the MCP server {server}.",
                next_step="Change the rule under Approvals, or take it out of the message.",
            )

    # -- what is put in -----------------------------------------------------------------------------------------------

    def take(self, resource: McpResource) -> None:
        """Put a resource into the message: it is read when that is sent."""
        name = resource.title or resource.name or resource.uri
        self._put(GivenBlock(name, "", server=resource.server, uri=resource.uri, about=kind_words(resource)))

    def take_filled(self, template: McpTemplate, values: Mapping[str, str]) -> None:
        """The same of one resource of a family."""
        uri = template.filled(values)
        said = ", ".join(value for value in values.values() if value)
        name = template.title or template.name or uri
        self._put(GivenBlock(f"{name}: {said}" if said else name, "", server=template.server, uri=uri))

    def _put(self, block: GivenBlock) -> None:
        self.put_in.emit(block)
        self._bridge.spawn(self._watch(block.server, block.uri), name="watch a resource")

    async def _watch(self, server: str, uri: str) -> None:
        if not self._listens:
            self._listens = True
            self._servers.reading.on_resource(self._changed.emit)
        if (server, uri) not in self._watched:
            self._watched.add((server, uri))
            try:
                await self._servers.reading.watch(server, uri)
            except KnownError:
                self._watched.discard((server, uri))  # a server without subscriptions says nothing of changes

    def let_go(self, blocks: Sequence[Block]) -> None:
        """These are all that wait in the composer now: nothing else is watched any more."""
        kept = {(block.server, block.uri) for block in blocks if isinstance(block, GivenBlock) and block.waits}
        for server, uri in self._watched - kept:
            self._watched.discard((server, uri))
            self._bridge.spawn(self._unwatch(server, uri), name="watch a resource no longer")

    async def _unwatch(self, server: str, uri: str) -> None:
        with suppress(KnownError):  # it is gone, and tells nothing any more
            await self._servers.reading.unwatch(server, uri)

    def _tell_newer(self, server: str, uri: str) -> None:
        if (server, uri) in self._watched:
            self.newer.emit(server, uri, time.time())

    # -- looking inside -----------------------------------------------------------------------------------------------

    def look(self, resource: McpResource) -> None:
        """Read a resource for the person alone, as it is read when a message is sent: ``looked`` follows."""
        self._bridge.spawn(self._look(resource), name="look inside a resource")

    async def _look(self, resource: McpResource) -> None:
        try:
            self._check(resource.server)
            found: McpRead | str = await self._servers.reading.read_resource(resource.server, resource.uri)
        except KnownError as error:
            found = error.advice
        self.looked.emit(resource, found)

    # -- filling in ---------------------------------------------------------------------------------------------------

    def complete(self, of: Fillable, argument: str, value: str, context: Mapping[str, str]) -> None:
        """Ask the server for values that begin so: ``completed`` follows, if it knows some."""
        self._bridge.spawn(self._complete(of, argument, value, dict(context)), name="values for an argument")

    async def _complete(self, of: Fillable, argument: str, value: str, context: Mapping[str, str]) -> None:
        found = await self._servers.reading.complete(of, argument, value, context)
        self.completed.emit(argument, value, found.values)

    def preview(self, prompt: McpPrompt, values: Mapping[str, str]) -> None:
        """Ask the server what the prompt says with these values: ``previewed`` follows."""
        self._bridge.spawn(self._preview(prompt, dict(values)), name="what a prompt says")

    async def _preview(self, prompt: McpPrompt, values: Mapping[str, str]) -> None:
        try:
            self._check(prompt.server)
            said: McpPromptText | str = await self._servers.reading.get_prompt(prompt.server, prompt.name, values)
        except KnownError as error:
            said = error.advice
        self.previewed.emit(values, said)

    def take_prompt(self, prompt: McpPrompt, said: McpPromptText) -> None:
        """Put in what a prompt says, as a person has seen it."""
        name = prompt.title or prompt.name
        block = GivenBlock(name, said.text, server=prompt.server, prompt=prompt.name, at=time.time())
        for one in (block, *_pictures(said.media, name)):
            self.put_in.emit(one)

    # -- sending ------------------------------------------------------------------------------------------------------

    async def read(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        """The blocks of a message with what is still to be read, read now, all at once. Raises KnownError where one of
        them cannot be, or the person would not wait: then nothing is sent."""
        waiting = [block for block in blocks if isinstance(block, GivenBlock) and block.waits]
        if not waiting:
            return tuple(blocks)
        work = self._bridge.spawn(self._read_all(blocks), name="read resources", on_error=_told_by_the_sender)
        self._reads.add(work)
        self.reading.emit(f"Reading {', '.join(f'{one.name} of {one.server}' for one in waiting)}")
        try:
            return await work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise KnownError("You did not wait for what the message reads.", next_step="It is not sent.") from None
        finally:
            work.cancel()
            self._reads.discard(work)
            if not self._reads:
                self.reading.emit("")

    def stop_reading(self) -> None:
        """The person does not wait for what is read: the message comes back."""
        for work in tuple(self._reads):
            work.cancel()

    async def _read_all(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        read = await asyncio.gather(*(self._read(block) for block in blocks))
        return tuple(block for some in read for block in some)

    async def _read(self, block: Block) -> tuple[Block, ...]:
        if not isinstance(block, GivenBlock) or not block.waits:
            return (block,)
        self._check(block.server)
        found = await self._servers.reading.read_resource(block.server, block.uri)
        return (replace(block, text=found.text, at=time.time()), *_pictures(found.media, block.name))


def _told_by_the_sender(_error: AssentError) -> None:
    """Who waits for the reading is told, and says it."""


def _pictures(media: Sequence[MediaBlock], name: str) -> list[Block]:
    """The images that go with a message; a sound is only named in the text."""
    images = [one for one in media if isinstance(one, ImageBlock)][:MAX_MEDIA]
    return [replace(one, name=f"{name} {at}" if len(images) > 1 else name) for at, one in enumerate(images, 1)]


def _refused(problem: str) -> str:
    return f"refused: {problem}" if problem else ""


def kind_words(resource: McpResource) -> str:
    """``table, 212 KB``: as the server says."""
    kind = resource.media_type.partition(";")[0].strip().lower()
    words = _KINDS.get(kind) or _GROUPS.get(kind.partition("/")[0]) or kind[:40]
    size = size_words(resource.size) if resource.size is not None else ""
    return ", ".join(part for part in (words, size) if part)


def newer_words(at: float) -> str:
    """``newer at 14:02``."""
    return f"newer at {clock(at)}"


def host_of(url: str) -> str:
    """The host of an address, or ""."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
