"""One MCP server in the running app: started confined, held by one task, started again when it ends.

The process itself lives behind the MCP host (workers/mcp_host), which never shares a process with the app or the
models. What the server says about its tools is judged and pinned here, in threads; it is never an instruction.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.processes import ChildRefused, ChildStream
from desktop.domain.servers.mcp import McpOffers
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.fetching import NOT_FOUND, OFFLINE, StartWatch
from desktop.tools.mcp.launch import ServerConfinement, ServerLaunch
from desktop.tools.mcp.offered import INSTRUCTIONS, OFFERS, Offered, instructions_of, judged, offers_of, plain
from desktop.tools.mcp.person import PersonOfServer
from desktop.tools.mcp.pins import SeenAs
from desktop.tools.mcp.questions import ServerQuestions
from desktop.tools.mcp.reading.answer import ServerAnswer
from desktop.tools.mcp.reading.listed import Listed, listed
from desktop.tools.mcp.services import McpServices
from desktop.tools.mcp.standing import StandingWishes

_log = logging.getLogger(__name__)

START_TIMEOUT_S = 30.0
BACKOFF_MAX_S = 60.0
HEALTHY_AFTER_S = 30.0
ATTEMPTS = 5
"""Failed starts in a row after which it waits for the person."""
LATE_S = 2.0
"""Seconds by which our limit of a call comes after that of the MCP host, which tells the server."""
LOG_LINES = 200
LOG_LINE = 500
_NOT_AGAIN = frozenset({"mcp.unauthorized", "mcp.version", OFFLINE, NOT_FOUND})
"""Ends that another start would not change."""

Condition = Literal["off", "starting", "running", "waiting", "failed", "sign_in"]
"""``sign_in``: it answers nobody before a person has signed in."""


@dataclass(frozen=True, slots=True)
class About:
    """What a server says about itself: claims, shown as such. ``has``: what it says that it offers."""

    name: str = ""
    version: str = ""
    protocol: str = ""
    note: str = ""
    has: tuple[str, ...] = ()


class McpServer:
    """``changed`` is called on the loop after every change of ``condition``, ``offered`` or the log; ``updated`` with a
    watched resource that changed; ``begun`` in each life, when it can be asked."""

    def __init__(
        self,
        definition: McpDefinition,
        services: McpServices,
        changed: Callable[[], None],
        updated: Callable[[str, str], None],
        begun: Callable[[str], None],
    ) -> None:
        self.definition = definition
        self._services = services
        self._changed, self._updated, self._begun = changed, updated, begun
        self._launch = ServerLaunch(definition, services)
        self.person = PersonOfServer(definition, services, changed, self._noted)
        self._questions = ServerQuestions(definition.name, services.spawn, self.person.asked, self._answered)
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._ready_at = 0.0
        self._key = ""
        self.start_watch = StartWatch()
        self.condition: Condition = "off"
        self.reason = ""
        self.restarts = 0
        self.about = About()
        self.confinement = ServerConfinement()
        self.offered: tuple[Offered, ...] = ()
        self.instructions: Offered | None = None
        self.offering: Offered | None = None
        self.listed = Listed()
        self.standings: dict[str, SeenAs] = {}
        self.log: tuple[str, ...] = ()
        self.standing = StandingWishes(self._said)

    # -- its life -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the server; does nothing while it runs already."""
        if self._task is None or self._task.done():
            self._set("starting")
            self._task = self._services.spawn(self._live(), f"MCP server {self.definition.name}")

    async def stop(self) -> None:
        """End it, with its process."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self._set("off")

    async def restart(self) -> None:
        """End it and begin anew, at once."""
        await self.stop()
        self.start()

    async def _live(self) -> None:
        delay, failures = self._services.first_pause_s, 0
        while True:
            self._ready_at = 0.0
            final = False
            try:
                await self._one_life()
                reason = "It ended."
            except KnownError as error:
                reason, final = self._told(self.person.words(error), LOG_LINE), error.code in _NOT_AGAIN
                if self.person.is_wanted(error):
                    self._note(reason)
                    self._set("sign_in", reason)
                    return
            except Exception as error:  # ours: another start would end like this one
                _log.exception("the MCP server %s could not be held", self.definition.name)
                self._set("failed", f"Assent made a mistake with this server ({type(error).__name__}).")
                return
            self._note(reason)
            if self._ready_at and time.monotonic() - self._ready_at > HEALTHY_AFTER_S:
                delay, failures = self._services.first_pause_s, 0
            failures += 1
            if final or failures >= ATTEMPTS:
                self._set("failed", reason)
                return
            self._set("waiting", reason)
            await asyncio.sleep(delay)
            delay = min(delay * 2, BACKOFF_MAX_S)
            self.restarts += 1
            self._set("starting", reason)

    async def _one_life(self) -> None:
        """Until it is gone. Raises KnownError saying how."""
        if self.definition.url:
            self.confinement = self._launch.elsewhere
        launch, self.confinement = await self._launch.prepared()
        if self.definition.may_sign_in and (kept := await self.person.sign_in.kept()) is not None:
            launch["auth"] = kept
        for sentence in self._launch.refused:
            self._note(f"It is not offered a folder of roots: {sentence}")
        self._key = f"{self.definition.name} {new_id()}"  # the life before may still be ending
        stream = self._services.child.stream("serve", {**launch, "server": self._key})
        items: dict[str, dict[int, list[str]]] = {}
        self.start_watch = self._launch.watch(self._changed)
        try:
            with self.start_watch:
                async for event in stream:
                    if isinstance(event, Mapping):
                        await self._take(event, items)
        finally:
            stream.cancel()
            self._questions.withdraw_all()

    def _set(self, condition: Condition, reason: str = "") -> None:
        self.condition, self.reason = condition, reason
        if condition != "starting":
            self._settled.set()
        else:
            self._settled.clear()
        self._changed()

    @property
    def cache(self) -> str:
        """The name of its cache."""
        return self._launch.cache

    # -- what it says -------------------------------------------------------------------------------------------------

    async def _take(self, event: Mapping[str, Any], items: dict[str, dict[int, list[str]]]) -> None:
        match event.get("event"):
            case "ready":
                self.start_watch.done()
                await self._greeted(event)
            case "item":
                one = items.setdefault(str(event.get("kind")), {})
                one.setdefault(_number(event.get("number")), []).append(str(event.get("text", "")))
            case "list":
                found = items.pop(str(event.get("kind")), {})
                texts = ["".join(found[number]) for number in sorted(found)]
                await self._list(str(event.get("kind")), texts, self._told(event.get("note"), 200))
            case "updated":
                self._updated(self.definition.name, str(event.get("uri", "")))
            case "ask" | "asked" | "unasked":
                self._questions.take(event)
            case "stderr" | "note":
                self._noted(self.start_watch.heard(str(event.get("text", ""))))

    async def _greeted(self, event: Mapping[str, Any]) -> None:
        has = event.get("has")
        known = tuple(self._told(one, 40) for one in has if isinstance(one, str)) if isinstance(has, list) else ()
        name, version, protocol = (self._told(event.get(key), 2_000) for key in ("name", "version", "protocol"))
        self.about = About(name, version, protocol, has=known)
        self.offering = offers_of(self.definition.name, known)
        self.listed = Listed()
        said, mask = str(event.get("instructions") or ""), self._services.redactor.mask_data
        self.instructions = await asyncio.to_thread(instructions_of, self.definition.name, said, mask)

    async def _list(self, kind: str, texts: list[str], note: str) -> None:
        name, mask = self.definition.name, self._services.redactor.mask_data
        if kind != "tools":
            elsewhere = self.definition.elsewhere
            found = await asyncio.to_thread(listed, kind, name, texts, mask, elsewhere=elsewhere)
            self.listed = self.listed.with_kind(kind, found, note)
            self._changed()
            return
        self.about = replace(self.about, note=note)
        self.offered = await asyncio.to_thread(judged, name, texts, self._services.check_schema, mask)
        await self.look_at_pins()
        self._set("running")
        if not self._ready_at:
            self._ready_at = time.monotonic()
            self._services.spawn(self._ask_again(), f"MCP server {name}: what was asked of it before")

    async def _ask_again(self) -> None:
        for words in await self.standing.again():
            self._note(words)
        self._begun(self.definition.name)

    async def look_at_pins(self) -> None:
        """Read which of its tools the person has seen."""
        definition, pins = self.definition, self._services.pins
        self.standings = await asyncio.to_thread(pins.standings, definition.name, definition.identity, self.judged)

    @property
    def judged(self) -> tuple[Offered, ...]:
        """All that a person agrees to: its instructions, what it offers beside tools, and its tools."""
        return (*(one for one in (self.instructions, self.offering) if one is not None), *self.offered)

    def _seen(self, raw: str) -> bool:
        return self.standings.get(raw, SeenAs("new")).standing == "seen"

    @property
    def guidance(self) -> str:
        """The server's instructions, if a person has looked at exactly these; else ""."""
        return self.instructions.text if self.instructions is not None and self._seen(INSTRUCTIONS) else ""

    @property
    def offers(self) -> McpOffers:
        """What it offers beside tools."""
        found = self.listed
        return McpOffers(
            self.definition.name,
            self.condition == "running",
            self.offering is not None and self._seen(OFFERS),
            self.about.protocol,
            found.resources,
            found.templates,
            found.prompts,
            tuple(note for _, note in found.notes),
        )

    def _note(self, text: str) -> None:
        """The last lines of its log, without secrets."""
        lines = self._told(text, len(text)).splitlines()
        kept = (plain(line, LOG_LINE) for line in lines if line.strip())
        self.log = (*self.log, *kept)[-LOG_LINES:]

    def _noted(self, text: str) -> None:
        self._note(text)
        self._changed()

    def _told(self, value: Any, size: int) -> str:
        """A text of the server for a person: secrets are sought in what is seen of it, and before it is cut."""
        return plain(self._services.redactor.redact_text(plain(value, len(str(value)))), size)

    # -- for calls ----------------------------------------------------------------------------------------------------

    async def ready(self, timeout: float) -> None:
        """Running, inside the sandbox as the settings are now. Raises ToolFailure saying why not."""
        if self.is_outdated:
            await self.restart()
        if self.condition == "starting":
            try:
                async with asyncio.timeout(timeout):
                    await self._settled.wait()
            except TimeoutError:
                raise self.absent() from None
        if self.condition != "running":
            raise self.absent()

    @property
    def is_outdated(self) -> bool:
        """Whether it runs inside a sandbox that is no longer that of the settings."""
        known = self.confinement.settings
        return self.condition in ("running", "starting") and known not in ((), self._launch.settings)

    def answer(self, returns: Mapping[str, Any] | None = None) -> ServerAnswer:
        """What takes the pieces of an answer of it; ``returns`` is what its structured result has to be."""
        made, name = self._services, self.definition.name
        limit = made.settings().output_limit
        return ServerAnswer(limit, made.clean, made.check_value, name, returns or {}, made.documents)

    def ask(
        self,
        method: str,
        params: Mapping[str, Any],
        seconds: float,
        parts: Sequence[str] = (),
        *,
        patient: bool = False,
    ) -> ChildStream:
        """One request to it, not begun yet; ``parts`` are JSON in pieces. ``patient``: while a person is asked its time
        stands still, so the MCP host alone ends it."""
        named = {**params, "server": self._key, "timeout": seconds}
        deadline = None if patient and self._services.elicitation else seconds + LATE_S
        return self._services.child.stream(method, named, parts=parts, deadline_s=deadline)

    async def _said(self, method: str, params: Mapping[str, Any]) -> None:
        await self.ready(START_TIMEOUT_S)
        stream = self.ask(method, params, START_TIMEOUT_S)
        try:
            async for _ in stream:
                pass
        except TimeoutError:
            raise ToolFailure(f"{self.definition.name} did not answer in time.", code="mcp.timeout") from None
        except KnownError as error:
            raise self.failure(error) from error
        finally:
            stream.cancel()

    async def _answered(self, number: int, parts: Sequence[str]) -> None:
        async for _ in self.ask("answer", {"id": number}, START_TIMEOUT_S, parts):
            pass

    def absent(self) -> ToolFailure:
        """Why it cannot be called now."""
        if self.condition == "sign_in":
            return self.person.absent()
        reason = self.start_watch.doing or self.reason
        why = f": {reason}" if reason else "."
        return ToolFailure(
            f"The MCP server {self.definition.name} is not running{why}",
            code="mcp.not_running",
            next_step="Settings, MCP servers shows its log.",
        )

    def failure(self, error: KnownError) -> ToolFailure:
        """An error of a request to it, in words that name it."""
        name = self.definition.name
        if isinstance(error, ChildRefused):
            if self.person.is_wanted(error):
                return self.person.absent()
            words = plain(self._services.redactor.redact_text(str(error)), 2_000)
            return ToolFailure(f"The MCP server {name}: {words}", code=error.code)
        return ToolFailure(f"The MCP server {name} is gone: {error}", code="mcp.ended")


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
