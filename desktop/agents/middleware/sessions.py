"""The ``session`` middleware's memory: entries by key, in memory or in a file of the app's data (S-INV-1).

A key belongs to one skill, by where it is from and its name: another of that name does not get its entries.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from desktop.agents.middleware.settings import number, options, wrong
from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.text.outside import OUTSIDE, plain_names
from desktop.files.private import make_folder, write_whole
from desktop.pipeline.context import CallContext
from desktop.pipeline.skill_context import Context
from desktop.skills.values.paths import path_get
from desktop.skills.values.serialise import safe_snapshot

MAX_ENTRIES = 50
MAX_KEPT = 1000
MAX_KEYS = 500
MAX_FILE = 4_000_000
DEFAULT_CAPTURE = ("$args", "$result", "$agent")
_LOCKS = 64
_UNWRITABLE = (OSError, ValueError, TypeError, LookupError, RecursionError, KnownError)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """The settings in a skill's ``metadata.session``."""

    key: str = "default"
    capture: tuple[str, ...] = DEFAULT_CAPTURE
    maximum: int = MAX_ENTRIES
    in_file: bool = False

    @classmethod
    def of(cls, asked: Any) -> SessionConfig:
        """Raises ToolFailure ``skill.configuration``, before anything has run."""
        given = options(asked, "key")
        key, store, capture = given.get("key", "default"), given.get("store", "memory"), given.get("capture")
        if not isinstance(key, str):
            raise wrong("metadata.session.key has to be text.")
        if store not in ("memory", "file"):
            raise wrong("metadata.session.store has to be memory or file.")
        wanted = DEFAULT_CAPTURE if capture is None else (capture,) if isinstance(capture, str) else capture
        if not isinstance(wanted, (list, tuple)) or not all(isinstance(name, str) for name in wanted):
            raise wrong("metadata.session.capture has to be text or a list of texts.")
        maximum = number(given.get("maxEntries"), "session.maxEntries", MAX_ENTRIES, minimum=1, whole=True)
        captured = DEFAULT_CAPTURE if "$all" in wanted or not wanted else tuple(wanted)
        return cls(key, captured, min(int(maximum), MAX_KEPT), store == "file")


@dataclass(slots=True)
class Sessions:
    """All sessions of the process; ``folder`` is the app's data, "" where there is none. Used on the loop."""

    folder: str = ""
    _memory: dict[tuple[str, ...], list[dict[str, Any]]] = field(default_factory=dict)
    _locks: tuple[threading.Lock, ...] = field(default_factory=lambda: tuple(threading.Lock() for _ in range(_LOCKS)))
    _warned: bool = False

    async def recall(self, target: Context, config: SessionConfig) -> list[dict[str, Any]]:
        """Earlier entries of this key, oldest first. Raises ToolFailure where there is nowhere to keep files."""
        key = _key(target, config)
        if config.in_file and not self.folder:
            raise wrong("There is no folder here to keep sessions in.")
        found = await asyncio.to_thread(_read, self._path(key)) if config.in_file else list(self._memory.get(key, ()))
        if isinstance(target.call, CallContext):
            target.call.hear(name for entry in found for name in plain_names(entry.get(OUTSIDE)))
        return found

    async def remember(self, target: Context, config: SessionConfig, value: Any) -> None:
        """Add an entry; the oldest beyond ``maximum`` are dropped. The call has happened and is not undone by a full
        disk: what cannot be kept is not, and the log says so once."""
        key = _key(target, config)
        try:
            entry = {"at": time.time(), **_captured(target, config.capture, value), **_whose_words(target)}
            if config.in_file:
                await asyncio.to_thread(self._append, self._path(key), entry, config.maximum)
            else:
                self._keep(key, entry, config.maximum)
        except _UNWRITABLE as error:
            if not self._warned:
                self._warned = True
                _log.warning("a session of %s could not be kept: %s", target.run.tool.name, type(error).__name__)

    def _keep(self, key: tuple[str, ...], entry: dict[str, Any], maximum: int) -> None:
        self._memory[key] = [*self._memory.pop(key, ()), entry][-maximum:]
        while len(self._memory) > MAX_KEYS:
            del self._memory[next(iter(self._memory))]

    def _path(self, key: tuple[str, ...]) -> Path:
        digest = hashlib.sha256("\0".join(key).encode("utf-8", "replace")).hexdigest()[:32]
        return Path(self.folder) / "sessions" / f"{digest}.json"

    def _append(self, path: Path, entry: Mapping[str, Any], maximum: int) -> None:
        """Append an entry to a file. Blocks. Writes to one file take turns, so that none of many at once is lost."""
        with self._locks[int(path.stem[:4], 16) % _LOCKS]:
            texts = [json.dumps(one) for one in [*_read(path), entry][-maximum:]]
            while len(texts) > 1 and sum(map(len, texts)) + 2 * len(texts) > MAX_FILE:
                del texts[0]
            make_folder(path.parent)
            write_whole(path, f"[{', '.join(texts)}]".encode(), lasting=False)


def _whose_words(target: Context) -> dict[str, Any]:
    """Those of whom the call read words from outside: they are read again with the entry."""
    call = target.call
    names = plain_names([*call.gave, *call.invocation.heard]) if isinstance(call, CallContext) else ()
    return {OUTSIDE: list(names)} if names else {}


def _captured(target: Context, capture: tuple[str, ...], value: Any) -> dict[str, Any]:
    """``$args``, ``$result``, ``$agent`` (its trace), or path expressions into the served context."""
    found: dict[str, Any] = {}
    for name in capture:
        if name == "$args":
            found["args"] = safe_snapshot(dict(target.args))
        elif name == "$result":
            found["result"] = safe_snapshot(value)
        elif name == "$agent":
            agent = target.locals.get("agent")
            trace = agent.get("trace") if isinstance(agent, Mapping) else None
            if trace:
                found["agent"] = safe_snapshot(trace)
        else:
            view = {"args": dict(target.args), "locals": dict(target.locals), "result": value}
            found[name] = safe_snapshot(path_get(view, name))
    return found


def _key(target: Context, config: SessionConfig) -> tuple[str, ...]:
    return (target.run.origin, target.run.tool.name, config.key)


def _read(path: Path) -> list[dict[str, Any]]:
    """What the file holds; nothing where it cannot be read, for it is a memory, not a record."""
    try:
        if path.stat().st_size > MAX_FILE:
            return []
        found = read_json(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
