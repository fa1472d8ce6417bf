"""Which agents of other makers are on this computer: looked for along the PATH and in a registry file that a person
saved. Nothing is started, and nothing is fetched, by looking."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.systems import current
from desktop.tools.acp.known import FETCHERS, KNOWN, AcpAgent
from desktop.tools.acp.pinned import Pinned, package_of, state_of

MAX_FILE = 4_000_000
MAX_AGENTS = 200
MAX_PACKAGE = 1_000_000
UNREAD = "unread"
"""The digest of a program that nobody has agreed to and that was not read yet."""
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_ENDS = ("", "-acp", "-cli", "-code", "-agent")
"""What may follow the name of a known agent: any other is another maker's, and gets no login of this one."""
_REFERENCE = re.compile(r"\$\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Program:
    """The program of an agent as it is on the disk now; without a digest ``problem`` says why."""

    path: str
    """Where it lies, as it was found."""
    digest: str
    """Stands for its content, its package, and for how it is started."""
    version: str = ""
    """What its package says."""
    problem: str = ""
    """Why it cannot be read."""
    stamp: str = ""
    """Stands for the file without its content: enough to show it, not to start it."""
    beside: int = 0
    """How many files of its package are pinned with it."""
    state: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """The files that were read, as they were then."""
    package: str = ""
    """Stands for the files of its package, as they were then."""


def search_path(environment: Mapping[str, str]) -> str:
    """The folders of the PATH; a relative one would be another one in each folder."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if os.path.isabs(folder)) or os.defpath


def program_of(agent: AcpAgent, path: str, known: tuple[str, str] | None = None) -> Program | None:
    """The program that would run; None: it is not here. Blocks: the whole file is read, some of which are 200 MB.

    ``known``: (stamp, digest) of what was seen last. A file of that stamp is taken for that one, and one of which
    nothing is known is not read: for a look at the start of the app, when nothing is started by it."""
    found = shutil.which(os.path.expanduser(agent.command), path=path)
    if found is None:
        return None
    real = os.path.realpath(found)
    try:
        stamp = _stamp(real, agent)
        if known is not None and known[0] in ("", stamp):
            return Program(found, known[1] or UNREAD, _version(real), stamp=stamp)
        files = (found, *_files(real, agent))
        before = tuple((path, state_of(path)) for path in files)
        package = package_of(_packed(found, agent))
        digest = _digest(real, agent, package)
    except OSError as error:
        return Program(found, "", problem=f"It cannot be read: {error.strerror or error}.")
    return Program(
        found, digest, _version(real), stamp=stamp, beside=package.files, state=before, package=package.digest
    )


def changed_since(program: Program, agent: AcpAgent) -> bool:
    """Whether a file of the program or of its package was changed, replaced or moved since just before it was read.
    Blocks."""
    if any(state_of(path) != state for path, state in program.state):
        return True
    try:
        return package_of(_packed(program.path, agent)).digest != program.package
    except OSError:
        return True


def _files(real: str, agent: AcpAgent) -> list[str]:
    """The program, and the script that an interpreter is started with: the files among its arguments."""
    named = (os.path.expanduser(word) for word in agent.args)
    return [real, *(os.path.realpath(path) for path in named if os.path.isabs(path) and os.path.isfile(path))]


def _packed(found: str, agent: AcpAgent) -> tuple[str, ...]:
    """What may lie in a package: the program by its own name, and each file that is read."""
    return (found, *_files(os.path.realpath(found), agent))


def _stamp(real: str, agent: AcpAgent) -> str:
    found = [os.stat(path) for path in _files(real, agent)]
    files = [[one.st_ino, one.st_size, one.st_mtime_ns] for one in found]
    return hashlib.sha256(json.dumps([real, list(agent.args), sorted(agent.env.items()), files]).encode()).hexdigest()


def _digest(real: str, agent: AcpAgent, package: Pinned) -> str:
    found = hashlib.sha256(package.digest.encode())
    found.update(json.dumps([real, list(agent.args), sorted(agent.env.items())]).encode())
    for path in _files(real, agent):
        with open(path, "rb") as stream:
            found.update(hashlib.file_digest(stream, "sha256").digest())
    found.update(_version(real).encode())
    return found.hexdigest()


def _version(real: str) -> str:
    """What the package that the program belongs to says, or ""."""
    folder = os.path.dirname(real)
    for _ in range(4):
        try:
            with open(os.path.join(folder, "package.json"), "rb") as stream:
                found = read_json(stream.read(MAX_PACKAGE))
        except (OSError, ValueError, RecursionError):
            folder = os.path.dirname(folder)
            continue
        version = found.get("version") if isinstance(found, dict) and found.get("name") else None
        return version[:40] if isinstance(version, str) else ""
    return ""


def found_on(
    path: str, added: Iterable[AcpAgent], known: Callable[[str], tuple[str, str]] | None = None
) -> list[tuple[AcpAgent, Program | None]]:
    """The known agents that are here, and all that a person added, each with its program; ``known`` by name: see
    ``program_of``. Blocks."""

    def program(agent: AcpAgent) -> Program | None:
        return program_of(agent, path, known(agent.name) if known is not None else None)

    found = [(agent, program(agent)) for agent in KNOWN]
    here: list[tuple[AcpAgent, Program | None]] = [(agent, one) for agent, one in found if one is not None]
    return here + [(agent, program(agent)) for agent in added]


# -- a registry file ---------------------------------------------------------------------------------------------------


def read_registry(path: str) -> list[AcpAgent]:
    """The agents of a saved ``registry.json`` (or of a single ``agent.json``) of the protocol's registry, with what
    would run on this computer. Raises KnownError for a file that is none. Blocks."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_FILE + 1)
        found = read_json(data) if len(data) <= MAX_FILE else None
    except OSError as error:
        raise KnownError(f"{path} cannot be read: {error.strerror or error}.", code="acp.registry") from error
    except (ValueError, RecursionError):
        found = None
    rows = found.get("agents") if isinstance(found, dict) and "agents" in found else [found]
    agents = [agent for agent in map(_entry, rows[:MAX_AGENTS] if isinstance(rows, list) else ()) if agent is not None]
    if not agents:
        raise KnownError(
            f"{path} is no registry of agents.",
            next_step="Save registry.json of the Agent Client Protocol, or the agent.json of one agent.",
            code="acp.registry",
        )
    return agents


def _entry(row: Any) -> AcpAgent | None:
    if not isinstance(row, dict):
        return None
    name, title, ways = row.get("id"), row.get("name"), row.get("distribution")
    if not isinstance(name, str) or not name or len(name) > 60 or not set(name) <= _NAME or not isinstance(ways, dict):
        return None
    made = _fetched(ways) or _binary(ways)
    if made is None:
        return None
    folders = next((one.folders for one in KNOWN if name.removeprefix(one.name) in _ENDS), ())
    shown = title[:100] if isinstance(title, str) and title.strip() else name
    return replace(made, name=name, title=shown, folders=folders, origin="registry")


def _fetched(ways: Mapping[str, Any]) -> AcpAgent | None:
    for kind, (command, *first) in FETCHERS.items():
        way = ways.get(kind)
        package = way.get("package") if isinstance(way, dict) else None
        if isinstance(way, dict) and isinstance(package, str) and package and not package.startswith("-"):
            note = "Fetches a package at its first start."
            return AcpAgent("", "", command, (*first, package[:300], *_words(way.get("args"))), _env(way), note=note)
    return None


def _binary(ways: Mapping[str, Any]) -> AcpAgent | None:
    targets = ways.get("binary")
    way = targets.get(_target()) if isinstance(targets, dict) else None
    command = way.get("cmd") if isinstance(way, dict) else None
    if not isinstance(way, dict) or not isinstance(command, str):
        return None
    name = command.replace("\\", "/").rpartition("/")[2]
    note = "Its maker says how to install it; nothing is fetched from here."
    return AcpAgent("", "", name[:200], _words(way.get("args")), _env(way), note=note) if name else None


def _target() -> str:
    system = "windows" if current.WINDOWS else current.PLATFORM
    machine = current.processor().lower()
    return f"{system}-{'aarch64' if machine in ('aarch64', 'arm64') else 'x86_64'}"


def _words(args: Any) -> tuple[str, ...]:
    return tuple(word[:1000] for word in args[:50] if isinstance(word, str)) if isinstance(args, list) else ()


def _env(way: Mapping[str, Any]) -> dict[str, str]:
    """Its variables. The format knows no references: what would be one here, to a secret or to a variable of the
    person's, is left out."""
    env = way.get("env")
    pairs: Sequence[tuple[Any, Any]] = list(env.items())[:50] if isinstance(env, dict) else ()
    texts = {name: value[:1000] for name, value in pairs if isinstance(name, str) and isinstance(value, str)}
    return {name: value for name, value in texts.items() if not _REFERENCE.fullmatch(value)}
