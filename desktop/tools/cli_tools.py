"""The file tools.yaml of a running app: read, put in force at once, changed only here (R-CLI-14, R-FS-10, Q-17).

What is in force is the last set that could be read. Every method blocks: use a thread. Listeners are called in the
thread that saw the change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from desktop.domain.errors import ConfigurationError, KnownError, NotFound
from desktop.domain.skills import SkillProblem
from desktop.tools.cli_definitions import SOURCE, CliDefinition, CliFile, CliRules, parse, problem
from desktop.tools.cli_tool import CliTool
from desktop.tools.cli_yaml import MAX_BYTES
from desktop.tools.registry import ToolRegistry

ABSENT = "absent"
"""The stamp of a file that does not exist."""


class CannotSaveTools(KnownError):
    """tools.yaml cannot be read or written as asked."""

    code = "tools_file"


class ToolsFileConflict(CannotSaveTools):
    """Somebody else changed the file; ``theirs`` is its text now, None when it is gone."""

    code = "tools_file.conflict"

    def __init__(self, theirs: str | None) -> None:
        super().__init__(
            "tools.yaml was changed by another program meanwhile.",
            next_step="Compare both, then save over it or reload.",
        )
        self.theirs = theirs


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """The text on the disk and its stamp, which a save has to know."""

    text: str
    stamp: str


@dataclass(frozen=True, slots=True)
class CliState:
    """``tools`` are in force, in the order of the file; ``problems`` are those of the file as it is now. ``kept``: the
    file is broken, and what is in force is from before."""

    tools: tuple[CliTool, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    kept: bool = False

    def tool(self, name: str) -> CliTool:
        """One of them. Raises NotFound."""
        found = next((tool for tool in self.tools if tool.definition.name == name), None)
        if found is None:
            raise NotFound(f"There is no tool {name} in tools.yaml now.", next_step="Choose another.")
        return found


class CliTools:
    """``make`` turns a definition into a tool; ``needs_admin`` and ``reserved`` are rules that other rooms have: which
    variables only admin tools may set, and which names are the app's own."""

    def __init__(
        self, path: Path, registry: ToolRegistry, make: Callable[[CliDefinition], CliTool], *,
        needs_admin: Callable[[str], bool], reserved: Callable[[str], str] = lambda _: "",
    ) -> None:  # fmt: skip
        self.path = path
        self._registry = registry
        self._make = make
        self._rules = CliRules(needs_admin, self._taken)
        self._reserved = reserved
        self._lock = threading.RLock()
        self._state = CliState()
        self._seen = ""
        self._listeners: list[Callable[[CliState], None]] = []

    @property
    def state(self) -> CliState:
        """What is in force and what is wrong; cheap."""
        return self._state

    def on_change(self, listener: Callable[[CliState], None]) -> Callable[[], None]:
        """Called after every reload; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self) -> ToolsFile:
        """The file; an absent one is empty. Raises CannotSaveTools when it cannot be read."""
        raw = self._bytes()
        if raw is None:
            return ToolsFile("", ABSENT)
        try:
            return ToolsFile(raw.decode("utf-8-sig"), _stamp(raw))
        except UnicodeDecodeError as error:
            raise CannotSaveTools("tools.yaml is not UTF-8 text.", next_step="Convert the file.") from error

    def _bytes(self) -> bytes | None:
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe must not hold us
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise CannotSaveTools("tools.yaml is no file.", next_step="Move what stands there away.")
                raw = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotSaveTools(f"tools.yaml cannot be read: {error.strerror or error}.") from error
        if len(raw) > MAX_BYTES:
            raise CannotSaveTools(f"tools.yaml is larger than {MAX_BYTES // 1000} KB.")
        return raw

    def check(self, text: str) -> CliFile:
        """What a text would declare, while a person types; nothing changes."""
        return parse(text, self._rules)

    def reload(self) -> CliState:
        """Put what the file declares in force, all at once; a broken file changes nothing but the problems."""
        with self._lock:
            self._seen = _looks(self.path)
            try:
                text = self.read().text
            except CannotSaveTools as error:
                wrong = problem("error", str(error), 1, 1, "cli.file")
                return self._keep(CliFile((), (wrong,), broken=True))
            return self._take(parse(text, self._rules))

    def reload_if_changed(self) -> CliState:
        """The same when the file looks different than at the last reload."""
        with self._lock:
            return self._state if _looks(self.path) == self._seen else self.reload()

    def _take(self, found: CliFile) -> CliState:
        if found.broken:
            return self._keep(found)
        try:
            tools = [self._make(definition) for definition in found.definitions]
            self._registry.replace_source(SOURCE, tools)
        except ConfigurationError as error:  # a name was taken between the check and now
            return self._keep(
                replace(found, problems=(*found.problems, problem("error", str(error), 1, 1, "cli.file")))
            )
        return self._tell(CliState(tuple(tools), found.problems))

    def _keep(self, found: CliFile) -> CliState:
        return self._tell(CliState(self._state.tools, found.problems, kept=True))

    def _tell(self, state: CliState) -> CliState:
        self._state = state
        for listener in tuple(self._listeners):
            listener(state)
        return state

    def _taken(self, name: str) -> str:
        """Who has this name or its alias already, beside tools.yaml itself."""
        for other in (name, name.replace("-", "_")):
            found = self._registry.find(other)
            if found is not None and found.spec.source != SOURCE:
                return f"a tool that is there already ({found.spec.name})"
        return self._reserved(name)

    # -- writing ------------------------------------------------------------------------------------------------------

    def save(self, text: str, stamp: str, *, over: bool = False) -> ToolsFile:
        """Write the whole file and put it in force. ``stamp`` is what was read; ``over`` writes over other changes.

        Raises ToolsFileConflict, or CannotSaveTools for a text that is no list of tools or a disk that says no.
        """
        found = parse(text, self._rules)
        if found.broken:
            first = found.problems[0]
            raise CannotSaveTools(
                f"Line {first.line}, column {first.column}: {first.message}",
                next_step="Correct it; until then nothing is saved and the tools stay as they are.",
            )
        raw = text.encode("utf-8")
        with self._lock:
            self._guard(stamp, over)
            try:
                _write(Path(os.path.realpath(self.path)), raw)
            except OSError as error:
                raise CannotSaveTools(f"tools.yaml cannot be written: {error.strerror or error}.") from error
            self.reload()
        return ToolsFile(text, _stamp(raw))

    def _guard(self, stamp: str, over: bool) -> None:
        raw = self._bytes()
        now = ABSENT if raw is None else _stamp(raw)
        if now != stamp and not over:
            raise ToolsFileConflict(None if raw is None else raw.decode("utf-8", "replace"))


def _write(path: Path, raw: bytes) -> None:
    """All or nothing, readable by its owner only: it may name secrets. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(prefix=".tools-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def _stamp(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _looks(path: Path) -> str:
    """What a change of the file changes, without reading it."""
    try:
        found = path.stat()
    except OSError as error:
        return type(error).__name__
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
