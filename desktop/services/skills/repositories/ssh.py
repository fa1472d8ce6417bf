"""A line to a repository over ssh: the person's own ssh, which asks their agent, holds it; git is joined to its ends.

So the git that reads what a stranger sends has neither the network nor the agent. ssh asks for no password, connects
only to hosts that it knows on this computer, and reads nothing of its configuration.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.skills.repositories.address import Address
from desktop.systems import open_flags, processes
from desktop.systems.named_pipes import make_pipe

MAX_SAID = 20_000
_END_S = 5.0
_JOIN = '/bin/cat <"$1" & exec >"$0"; /bin/cat; exec >&-; wait'
"""What git starts as its ssh. It holds no end of git's own pipe, which then ends when the line does."""
_OPTIONS = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "ClearAllForwardings": "yes",
    "PermitLocalCommand": "no",
    "SendEnv": "GIT_PROTOCOL",
    "ConnectTimeout": "20",
}


@dataclass(frozen=True, slots=True)
class SshAddress:
    """Whom to ask, and for what."""

    host: str
    """With the name of the user before it, if one is given."""
    port: int
    path: str

    @classmethod
    def of(cls, address: Address) -> SshAddress:
        """From an address that ``read_address`` has judged."""
        if "://" not in address.text:
            host, _, path = address.text.partition(":")
            return cls(host, 22, path)
        found = urlsplit(address.text)
        user = f"{found.username}@" if found.username else ""
        path = unquote(found.path)
        return cls(f"{user}{found.hostname}", found.port or 22, path[1:] if path.startswith("/~") else path)


class SshLine:
    """Two pipes with names in ``folder``. What git starts as its ssh joins itself to them (``command``); as soon as it
    has, the real one is started at their other ends, and each end closes when the one before it does."""

    def __init__(self, address: Address, folder: Path, variables: Mapping[str, str]) -> None:
        """Make the pipes. Blocks. Raises OSError."""
        self._wanted = SshAddress.of(address)
        self._variables = variables
        folder = Path(os.path.realpath(folder))
        self._up, self._down = folder / "up", folder / "down"
        for path in (self._up, self._down):
            path.unlink(missing_ok=True)
            make_pipe(path)
        up, down = shlex.quote(str(self._up)), shlex.quote(str(self._down))
        self.command = f"exec /bin/sh -c {shlex.quote(_JOIN)} {up} {down}"
        self._over = False
        self._process: asyncio.subprocess.Process | None = None
        self._joining: asyncio.Task[str] | None = None

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Wait for git in the background."""
        self._joining = group.create_task(self._join())

    async def _join(self) -> str:
        """Start ssh once git has; what it says until it ends."""
        try:
            return await self._started()
        except OSError as error:
            return f"ssh cannot be started: {error.strerror}"

    async def _started(self) -> str:
        ends: list[int] = []
        try:
            for path, flags in ((self._up, os.O_RDONLY), (self._down, os.O_WRONLY)):
                ends.append(await asyncio.to_thread(os.open, path, flags | open_flags.CLOEXEC))
            if self._over:
                return ""
            self._process = process = await processes.start(
                *self._words(), stdin=ends[0], stdout=ends[1], stderr=PIPE, env=self._environment()
            )
        finally:
            for end in ends:
                os.close(end)
        return await _first_of(process)

    def _words(self) -> tuple[str, ...]:
        known = os.path.join(self._variables.get("HOME", "/"), ".ssh", "known_hosts")
        options = (*_OPTIONS.items(), ("UserKnownHostsFile", f'"{known}"'))
        asked = f"git-upload-pack {shlex.quote(self._wanted.path)}"
        words = (f"-p{self._wanted.port}", "--", self._wanted.host, asked)
        return ("ssh", "-F", os.devnull, *(f"-o{key}={value}" for key, value in options), *words)

    def _environment(self) -> dict[str, str]:
        env = {"PATH": self._variables.get("PATH", os.defpath), "LC_ALL": "C", "GIT_PROTOCOL": "version=2"}
        return env | {name: self._variables[name] for name in ("HOME", "SSH_AUTH_SOCK") if name in self._variables}

    async def close(self) -> str:
        """End it; what ssh said."""
        self._over = True
        said = ""
        # git may never have come to them
        loose = [os.open(path, os.O_RDWR | open_flags.NONBLOCK) for path in (self._up, self._down)]
        try:
            if self._joining is not None:
                async with asyncio.timeout(_END_S):
                    said = await asyncio.shield(self._joining)
        except TimeoutError:
            said = ""
        finally:
            for end in loose:
                os.close(end)
            if self._process is not None and self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
            if self._joining is not None:
                await asyncio.wait({self._joining})
            for path in (self._up, self._down):
                path.unlink(missing_ok=True)
        return said


async def _first_of(process: asyncio.subprocess.Process) -> str:
    """The beginning of what it says, and all the rest read and forgotten."""
    assert process.stderr is not None
    said = b""
    while chunk := await process.stderr.read(4_096):
        said = (said + chunk)[:MAX_SAID]
    await process.wait()
    return said.decode("utf-8", "replace")
