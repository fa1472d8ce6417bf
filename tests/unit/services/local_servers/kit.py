"""The service over a real model host and real processes, of a program that answers as llama.cpp's server does."""

import asyncio
import os
import socket
import stat
import struct
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from desktop.domain.servers.starting import ServerState, StartChoice, StartPlan
from desktop.models.client import ModelServices
from desktop.models.providers import LocalAddresses
from desktop.services.local_servers.service import Around, LocalServerService
from desktop.settings import SettingsService
from desktop.supervision.tasks import TaskOwner
from tests.harness.timeouts import until
from tests.servers.hosts import models_over, running_host

PROGRAM = Path(__file__).resolve().parents[3] / "servers" / "llama_server.py"
SECRET = "sk-proj-0123456789abcdefghijklmnop"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def installed_in(folder: Path, name: str = "llama-server") -> Path:
    """The program, as if a person had installed it there."""
    folder.mkdir(exist_ok=True)
    made = folder / name
    made.write_text(f"#!{sys.executable} -I\n{PROGRAM.read_text()}")
    made.chmod(made.stat().st_mode | stat.S_IXUSR)
    return made


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def head(*keys: bytes, version: int = 3) -> bytes:
    """The head of a model's file."""
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(keys)) + b"".join(keys)


def word(name: str, value: str) -> bytes:
    return text(name) + struct.pack("<I", 8) + text(value)


def number(name: str, value: int) -> bytes:
    return text(name) + struct.pack("<II", 4, value)


def model_file(folder: Path, name: str = "tide", trained: int = 32768) -> str:
    made = folder / f"{name}.gguf"
    about = word("general.architecture", "llama"), word("general.name", "Tide")
    made.write_bytes(head(*about, number("llama.context_length", trained)))
    return str(made)


class Place:
    """A computer with the program on its PATH, and a start of the app there."""

    def __init__(self, folder: Path, settings: SettingsService, models: ModelServices, port: int) -> None:
        self.folder, self.settings, self.models, self.port = folder, settings, models, port
        self.owner = TaskOwner()
        self.host: dict[str, str] = {"PATH": str(folder / "bin"), "HOME": str(folder), "OPENAI_API_KEY": SECRET}
        self.changeable: set[str] = set()
        """Programs that agents may change."""
        self.service = LocalServerService(settings, self._around())

    def _around(self) -> Around:
        return Around(
            logs=self.folder,
            answering=self.models.catalogue.answering,
            places=self.models.connections,
            redact=lambda said: said.replace(SECRET, "[masked]"),
            host=self._host,
            agents_write=self._agents_write,
            spawn=self.owner.spawn,
            ports={"llamacpp": self.port, "ollama": self.port},
        )

    def _host(self) -> Mapping[str, str]:
        return self.host

    async def _agents_write(self, path: str) -> bool:
        return path in self.changeable

    @property
    def state(self) -> ServerState:
        return next(state for state in self.service.states if state.kind == "llamacpp")

    async def planned(self, name: str = "tide", **more: bool) -> StartPlan:
        await self.service.look()
        return await self.service.plan(StartChoice("llamacpp", model_file(self.folder, name), 4096, **more))

    async def started(self, name: str = "tide", **more: bool) -> StartPlan:
        plan = await self.planned(name, **more)
        await self.service.start(plan)
        return plan

    async def until_phase(self, phase: str) -> None:
        await until(lambda: self.state.phase == phase, f"it is {phase}, not {self.state}")

    async def begun_again(self) -> "Place":
        """The same computer at the next start of the app."""
        await self.end()
        again = Place(self.folder, self.settings, self.models, self.port)
        await again.service.begin()
        return again

    async def end(self) -> None:
        await self.service.close()
        await self.owner.close()


@asynccontextmanager
async def place(folder: Path) -> AsyncIterator[Place]:
    """``folder`` is the home of the app and of the person."""
    installed_in(folder / "bin")
    settings = SettingsService(folder)
    await settings.load()
    async with running_host(loaded=False) as host:
        models = models_over(host, addresses=LocalAddresses({"llamacpp": (), "ollama": ()}))
        made = Place(folder, settings, models, free_port())
        try:
            yield made
        finally:
            await made.end()


def end_listening(port: int) -> None:
    """End whatever of ours still listens there, once a test is over."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--port" in words and str(port).encode() in words:
                os.kill(int(entry.name), 9)


async def gone(port: int) -> None:
    await until(lambda: not is_open(port), f"port {port} is closed")
    await asyncio.sleep(0)
