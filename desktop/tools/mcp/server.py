"""One MCP server in the running app: started confined, held by one task, started again when it ends.

The process itself lives behind the MCP host (workers/mcp_host), which never shares a process with the app or the
models. What the server says about its tools is judged and pinned here, in threads; it is never an instruction.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from desktop.domain.errors import KnownError, ToolFailure
from desktop.domain.ids import new_id
from desktop.domain.lazy_dataclass import dataclass
from desktop.domain.processes import ChildStream
from desktop.domain.safety import Access, ProcessSpec, SafetySettings
from desktop.tools.mcp.definitions import McpDefinition
from desktop.tools.mcp.headers import headers_of
from desktop.tools.mcp.offered import INSTRUCTIONS, Offered, instructions_of, judged, plain
from desktop.tools.mcp.pins import Standing
from desktop.tools.mcp.services import CACHE, McpServices

_log = logging.getLogger(__name__)

START_TIMEOUT_S = 30.0
GREETING_S = 180.0
"""Until the first answer: npx and uvx fetch what they run at the first start."""
BACKOFF_MAX_S = 60.0
HEALTHY_AFTER_S = 30.0
ATTEMPTS = 5
"""Failed starts in a row after which it waits for the person."""
LATE_S = 2.0
"""Seconds by which our limit of a call comes after that of the MCP host, which tells the server."""
LOG_LINES = 200
LOG_LINE = 500
_ON_THE_NET = "It runs elsewhere: nothing on this computer holds what it does with these arguments."

Condition = Literal["off", "starting", "running", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class About:
    """What a server says about itself: claims, shown as such."""

    name: str = ""
    version: str = ""
    protocol: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ServerConfinement:
    """How it was started: the settings then, the sentence for a person ("": it is not known yet), and why its calls are
    admin whatever was configured (its program can be changed by agents), or ""."""

    settings: tuple[Any, ...] = ()
    sentence: str = ""
    kind: str = ""
    network: bool = True
    weak: str = ""


class McpServer:
    """``changed`` is called on the loop after every change of ``condition``, ``offered`` or the log."""

    def __init__(self, definition: McpDefinition, services: McpServices, changed: Callable[[], None]) -> None:
        self.definition = definition
        self._services = services
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._ready_at = 0.0
        self._key = ""
        self.condition: Condition = "off"
        self.reason = ""
        self.restarts = 0
        self.about = About()
        self.confinement = ServerConfinement()
        self.offered: tuple[Offered, ...] = ()
        self.instructions: Offered | None = None
        self.standings: dict[str, tuple[Standing, str]] = {}
        self.log: tuple[str, ...] = ()

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
            try:
                await self._one_life()
                reason = "It ended."
            except KnownError as error:
                reason = self._told(error.advice, LOG_LINE)
            except Exception as error:  # ours: another start would end like this one
                _log.exception("the MCP server %s could not be held", self.definition.name)
                self._set("failed", f"Assent made a mistake with this server ({type(error).__name__}).")
                return
            self._note(reason)
            if self._ready_at and time.monotonic() - self._ready_at > HEALTHY_AFTER_S:
                delay, failures = self._services.first_pause_s, 0
            failures += 1
            if failures >= ATTEMPTS:
                self._set("failed", reason)
                return
            self._set("waiting", reason)
            await asyncio.sleep(delay)
            delay = min(delay * 2, BACKOFF_MAX_S)
            self.restarts += 1
            self._set("starting", reason)

    async def _one_life(self) -> None:
        """Until it is gone. Raises KnownError saying how."""
        launch = await self._launch()
        self._key = f"{self.definition.name} {new_id()}"  # the life before may still be ending
        stream = self._services.child.stream("serve", {**launch, "server": self._key})
        tools: dict[int, list[str]] = {}
        try:
            async for event in stream:
                if isinstance(event, Mapping):
                    await self._take(event, tools)
        finally:
            stream.cancel()

    def _set(self, condition: Condition, reason: str = "") -> None:
        self.condition, self.reason = condition, reason
        if condition in ("running", "waiting", "failed", "off"):
            self._settled.set()
        else:
            self._settled.clear()
        self._changed()

    @property
    def caller(self) -> str:
        """The name by which the keyring knows that this server wants a value."""
        return f"mcp-{self.definition.name}"

    # -- starting -----------------------------------------------------------------------------------------------------

    async def _launch(self) -> dict[str, Any]:
        """What the MCP host needs to start it. Raises KnownError: a variable, a program or a folder is not there."""
        definition, services = self.definition, self._services
        base = {"timeout": GREETING_S}
        if definition.url:
            self.confinement = ServerConfinement(self._settings_key(), _ON_THE_NET)
            headers, secrets = await headers_of(
                definition.headers, definition.bearer, services.environment, self.caller
            )
            return {**base, "url": definition.url, "headers": headers, "secrets": secrets}
        environment = await services.environment.build(definition.env, admin=True, tool=self.caller)
        spec = await asyncio.to_thread(self._confined, environment)
        return {**base, "argv": list(spec.argv), "cwd": spec.cwd, "env": dict(spec.env)}

    def _settings_key(self) -> tuple[Any, ...]:
        return confinement_settings(self._services.settings())

    def _confined(self, environment: dict[str, str]) -> ProcessSpec:
        """The command confined as shell commands are (C-33). Blocks; raises ToolFailure."""
        definition, services = self.definition, self._services
        settings = services.settings()
        place = services.policy.explain(os.path.expanduser(definition.cwd) or settings.workspace, Access.LIST)
        if not place.allowed:
            raise ToolFailure(place.sentence, code="denied.boundary")
        folders = environment.get("PATH", os.defpath).split(os.pathsep)
        path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
        program = shutil.which(os.path.expanduser(definition.command), path=path or os.defpath)
        if program is None:
            raise ToolFailure(
                f"{definition.command} was not found on the tool PATH.",
                code="tool.absent",
                next_step="Install it, or correct command in mcp.yaml.",
            )
        plain_spec = ProcessSpec((program, *definition.args), place.resolved, environment)
        spec = services.confinement.wrap(plain_spec, network=definition.network, cache=self.cache)
        report = services.confinement.probe()
        network = settings.shell_network == "always" if definition.network is None else definition.network
        said = "" if report.kind == "none" else f" The network is {'on' if network else 'off'}."
        weak = self._weak(place.resolved, program)
        self.confinement = ServerConfinement(
            confinement_settings(settings), report.sentence + said, report.kind, network, weak
        )
        return services.hold(spec)

    @property
    def cache(self) -> str:
        """The name of the server's cache. It names the command, too: another program under the server's name does not
        find what this one fetched."""
        definition = self.definition
        return f"{CACHE}{definition.name} {definition.command} {' '.join(definition.args)}"

    def _weak(self, folder: str, program: str) -> str:
        """Whether an agent can change what it runs: then its calls are admin, whatever was configured."""
        words = [program, *(os.path.join(folder, os.path.expanduser(word)) for word in self.definition.args)]
        for path in words:
            if os.path.isfile(path) and self._services.policy.explain(path, Access.WRITE).allowed:
                return f"{path} lies where the agent itself can write"
        return ""

    # -- what it says -------------------------------------------------------------------------------------------------

    async def _take(self, event: Mapping[str, Any], tools: dict[int, list[str]]) -> None:
        match event.get("event"):
            case "ready":
                self.about = About(*(self._told(event.get(key), 2_000) for key in ("name", "version", "protocol")))
                said, mask = str(event.get("instructions") or ""), self._services.redactor.mask_data
                self.instructions = await asyncio.to_thread(instructions_of, self.definition.name, said, mask)
            case "tool":
                tools.setdefault(_number(event.get("number")), []).append(str(event.get("text", "")))
            case "tools":
                texts = ["".join(tools[number]) for number in sorted(tools)]
                tools.clear()
                self.about = replace(self.about, note=self._told(event.get("note"), 200))
                await self._judge(texts)
                self._ready_at = self._ready_at or time.monotonic()
                self._set("running")
            case "stderr" | "note":
                self._note(str(event.get("text", "")))
                self._changed()

    async def _judge(self, texts: list[str]) -> None:
        name, check = self.definition.name, self._services.check_schema
        self.offered = await asyncio.to_thread(judged, name, texts, check, self._services.redactor.mask_data)
        await self.look_at_pins()

    async def look_at_pins(self) -> None:
        """Read which of its tools the person has seen."""
        definition, pins = self.definition, self._services.pins
        self.standings = await asyncio.to_thread(pins.standings, definition.name, definition.identity, self.judged)

    @property
    def judged(self) -> tuple[Offered, ...]:
        """All that a person agrees to: its tools, and its instructions."""
        return (*((self.instructions,) if self.instructions else ()), *self.offered)

    @property
    def guidance(self) -> str:
        """The server's instructions, if a person has looked at exactly these; else ""."""
        seen = self.standings.get(INSTRUCTIONS, ("new", ""))[0] == "seen"
        return self.instructions.text if self.instructions is not None and seen else ""

    def _note(self, text: str) -> None:
        """The last lines of its log, without secrets."""
        lines = self._told(text, len(text)).splitlines()
        kept = (plain(line, LOG_LINE) for line in lines if line.strip())
        self.log = (*self.log, *kept)[-LOG_LINES:]

    def _told(self, value: Any, size: int) -> str:
        """A text of the server for a person: secrets are sought in what is seen of it, and before it is cut."""
        return plain(self._services.redactor.redact_text(plain(value, len(str(value)))), size)

    def clean(self, text: str) -> str:
        """What it answered, for a model (R-TMO-8)."""
        return self._services.clean(text)

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
        return self.condition in ("running", "starting") and self.confinement.settings not in ((), self._settings_key())

    @property
    def output_limit(self) -> int:
        """Characters of a result that are kept."""
        return self._services.settings().output_limit

    def call(self, tool: str, pieces: list[str], seconds: float) -> ChildStream:
        """One call to it, not begun yet; ``pieces`` are the JSON of its arguments."""
        params = {"server": self._key, "tool": tool, "timeout": seconds}
        return self._services.child.stream("call", params, parts=pieces, deadline_s=seconds + LATE_S)

    def absent(self) -> ToolFailure:
        """Why it cannot be called now."""
        why = f": {self.reason}" if self.reason else "."
        return ToolFailure(
            f"The MCP server {self.definition.name} is not running{why}",
            code="mcp.not_running",
            next_step="Settings, MCP servers shows its log.",
        )


def confinement_settings(settings: SafetySettings) -> tuple[Any, ...]:
    """What of the settings a started process is bound by."""
    return (
        settings.workspace,
        settings.allowed,
        settings.denied,
        settings.granted,
        settings.environment_allowlist,
        settings.shell_network,
    )


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
