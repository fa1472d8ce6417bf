"""Starts model servers that are installed here, watches them, and ends them with the app.

Nothing is started but what a person saw as a command and agreed to, and at a later start of the app only where that was
switched on, and only the very program that was agreed to.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Protocol

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.models import LocalServer
from desktop.domain.safety import ProcessSpec
from desktop.domain.servers.starting import STARTABLE, ModelFile, ServerState, StartChoice, StartKind, StartPlan
from desktop.models import gguf, server_programs
from desktop.safety.confinement.process import held
from desktop.services.local_servers.failures import failure
from desktop.services.local_servers.kept_server import KeptServer
from desktop.settings import SettingsService

LOG_SHOWN = 20_000
LAST_WORDS = 1_500
AGENTS_WRITE = "Your agents may change this program: have a look at it before you start it."
LOOK_S = 0.15
SLOW_S = 1.0
"""Between looks at a server that takes longer."""


class Seeking(Protocol):
    """Where servers are looked for."""

    def look_first(self, kind: str, base: str) -> None:
        """Look there before the usual places."""
        ...


@dataclass(frozen=True, slots=True)
class Around:
    """What the service needs of the app."""

    logs: Path
    """The folder for what servers write."""
    answering: Callable[[str, str], Awaitable[LocalServer | None]]
    """The server of a kind that answers at an address, or None."""
    places: Seeking
    """Where servers are looked for."""
    redact: Callable[[str], str]
    """Takes secrets out of a text."""
    host: Callable[[], Mapping[str, str]]
    """The app's own environment."""
    agents_write: Callable[[str], Awaitable[bool]]
    """Whether agents may change a file."""
    spawn: Callable[..., asyncio.Task[Any]]
    """Starts a task that is owned."""
    ports: Mapping[StartKind, int] = field(default_factory=lambda: server_programs.USUAL_PORTS)
    """Where each server listens unless that is taken."""


class LocalServerService:
    """``on_change`` hears of each change of a state."""

    def __init__(self, settings: SettingsService, around: Around) -> None:
        self._settings, self._around = settings, around
        self._states: dict[StartKind, ServerState] = {kind: ServerState(kind) for kind in STARTABLE}
        self._processes: dict[StartKind, KeptServer] = {}
        self._left: set[StartKind] = set()
        self._closed = False
        self._listeners: list[Callable[[], object]] = []
        for kind in STARTABLE:
            if port := self._saved(kind).port:
                around.places.look_first(kind, f"http://127.0.0.1:{port}")

    # -- reading ----------------------------------------------------------------------------------------------------

    def on_change(self, listener: Callable[[], object]) -> None:
        """Call it after each change."""
        self._listeners.append(listener)

    @property
    def states(self) -> tuple[ServerState, ...]:
        """How each goes that can be started here."""
        return tuple(self._states.values())

    def choice(self, kind: StartKind) -> StartChoice:
        """What the person chose last."""
        saved = self._saved(kind)
        file = getattr(saved, "file", "")
        return StartChoice(kind, file, saved.context, saved.leave_running, saved.with_assent)

    async def look(self) -> None:
        """Find out which programs are here."""
        found = await asyncio.to_thread(server_programs.installed, self._around.host())
        for kind, state in self._states.items():
            if state.program != found.get(kind, ""):
                self._states[kind] = replace(state, program=found.get(kind, ""))
        self._tell()

    async def describe(self, path: str) -> ModelFile:
        """What a model's file says of itself. Raises KnownError."""
        return await asyncio.to_thread(gguf.read_model_file, path)

    async def plan(self, choice: StartChoice) -> StartPlan:
        """What would be run. Raises KnownError with what is missing."""
        program = self._states[choice.kind].program
        if not program:
            raise KnownError("Its program is not on this computer any more.", code="models.program")
        wants_file = choice.kind == "llamacpp" and bool(choice.file)
        file = await self.describe(choice.file) if wants_file else None
        port = self._around.ports[choice.kind]
        plan = await asyncio.to_thread(server_programs.plan, choice, program, file, port)
        if await self._around.agents_write(program):
            return replace(plan, note=f"{AGENTS_WRITE} {plan.note}".strip())
        return plan

    async def log(self, kind: StartKind) -> str:
        """The end of what a server wrote, without secrets."""
        process = self._processes.get(kind)
        return "" if process is None else self._around.redact(await process.last_words(LOG_SHOWN))

    # -- acting -----------------------------------------------------------------------------------------------------

    async def start(self, plan: StartPlan) -> None:
        """Run what the person saw and agreed to, and watch it; its state tells where it cannot even begin. Raises
        KnownError where it was started already."""
        kind = plan.choice.kind
        if self._is_at_work(kind):
            raise KnownError("It was started already.", code="models.started")
        self._processes.pop(kind, None)
        self._left.discard(kind)
        self._change(kind, phase="starting", problem="", last_words="")
        try:
            await self._keep(plan)
            if self._states[kind].phase == "ending":  # stopped meanwhile, or the app ends
                self._change(kind, phase="idle")
                return
            self._begin(plan)
        except KnownError as error:
            self._change(kind, phase="failed", problem=str(error))

    async def stop(self, kind: StartKind) -> None:
        """End a server that was started from here."""
        if self._states[kind].phase not in ("starting", "running"):
            return
        self._change(kind, phase="ending")
        if (process := self._processes.get(kind)) is not None:
            await process.end()

    async def begin(self) -> None:
        """At the start of the app: those that the person switched on for it."""
        wanted = [kind for kind in STARTABLE if self._saved(kind).with_assent]
        if not wanted:
            return
        await self.look()
        for kind in wanted:
            try:
                await self._begin_again(kind)
            except KnownError as error:
                if not self._is_at_work(kind):
                    self._change(kind, phase="failed", problem=str(error))

    async def close(self) -> None:
        """At the end of the app: end those that are not to go on."""
        self._closed = True
        for kind in self._left:
            self._processes[kind].let_go()
        await asyncio.gather(*(self.stop(kind) for kind in STARTABLE if kind not in self._left))

    # -- within -----------------------------------------------------------------------------------------------------

    async def _begin_again(self, kind: StartKind) -> None:
        saved, program = self._saved(kind), self._states[kind].program
        usual = self._around.ports[kind]
        for port in {saved.port or usual, usual}:
            if await self._around.answering(kind, f"http://127.0.0.1:{port}") is not None:
                return
        if program != saved.program:
            raise KnownError(
                f"It was not started with Assent: the program here now is {program or 'gone'}, and you agreed to "
                f"{saved.program or 'none yet'}. Start it once by hand."
            )
        if await self._around.agents_write(program):
            raise KnownError(
                f"It was not started with Assent: your agents may change its program, {program}, so that nobody has "
                "seen what would run. Start it by hand."
            )
        plan = await self.plan(self.choice(kind))
        now, agreed = plan.choice.sees_with, getattr(saved, "sees_with", "")
        if now != agreed:
            raise KnownError(
                f"It was not started with Assent: what lets the model see is {now or 'gone'} now, and you agreed to "
                f"{agreed or 'none'}. Start it once by hand."
            )
        if not (self._closed or self._is_at_work(kind)):  # else a person was faster
            self._begin(plan)

    def _begin(self, plan: StartPlan) -> None:
        kind, around = plan.choice.kind, self._around
        environment = server_programs.environment(around.host(), plan)
        spec = ProcessSpec(plan.argv, os.path.realpath(os.sep), environment, settled=True)
        if not plan.choice.leave_running:
            spec = held(spec)
        log, tied = around.logs / f"{kind}-server.log", not plan.choice.leave_running
        process = KeptServer(spec.argv, spec.cwd, environment, log, tied=tied)
        try:
            process.start()
        except OSError as error:
            raise KnownError(f"{plan.argv[0]} cannot be started: {error.strerror or error}.") from error
        self._processes[kind] = process
        (self._left.add if plan.choice.leave_running else self._left.discard)(kind)
        leave = plan.choice.leave_running
        program = self._states[kind].program
        self._states[kind] = ServerState(kind, "starting", program, plan.command, plan.base_url, leave_running=leave)
        self._tell()
        around.spawn(self._watch(plan, process), f"model server: {kind}")

    async def _watch(self, plan: StartPlan, process: KeptServer) -> None:
        kind = plan.choice.kind
        ready = self._around.spawn(self._ready(plan), f"model server: wait for {kind}")
        try:
            code = await process.wait()
        finally:
            ready.cancel()
        if self._states[kind].phase == "ending":
            self._change(kind, phase="idle", problem="", last_words="")
            return
        said = self._around.redact(await process.last_words(LAST_WORDS))
        self._change(kind, phase="failed", problem=failure(kind, code, said), last_words=said)

    async def _ready(self, plan: StartPlan) -> None:
        """Wait until it answers; a large model takes minutes to load."""
        kind, pause = plan.choice.kind, LOOK_S
        while await self._around.answering(kind, plan.base_url) is None:
            await asyncio.sleep(pause)
            pause = min(SLOW_S, pause * 1.5)
        self._around.places.look_first(kind, plan.base_url)
        self._change(kind, phase="running")

    async def _keep(self, plan: StartPlan) -> None:
        """Remember what was agreed to."""
        choice, usual = plan.choice, self._around.ports[plan.choice.kind]
        values: dict[str, Any] = {
            "context": choice.context,
            "leave_running": choice.leave_running,
            "with_assent": choice.with_app,
            "program": plan.argv[0],
            "port": 0 if plan.port == usual else plan.port,
        }
        if choice.kind == "llamacpp":
            values |= {"file": choice.file, "sees_with": choice.sees_with}
        await self._settings.update_many({f"models.{choice.kind}.{name}": value for name, value in values.items()})

    def _is_at_work(self, kind: StartKind) -> bool:
        return self._states[kind].phase in ("starting", "running", "ending")

    def _saved(self, kind: StartKind) -> Any:
        return getattr(self._settings.current.models, kind)

    def _change(self, kind: StartKind, **values: Any) -> None:
        self._states[kind] = replace(self._states[kind], **values)
        self._tell()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()
