"""The ``session`` middleware's memory: entries by key, in memory or in a file of the app's data (S-INV-1)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop.domain.errors import ToolFailure
from desktop.pipeline.skill_context import Context
from desktop.skills.values.paths import path_get
from desktop.skills.values.serialise import safe_snapshot

MAX_ENTRIES = 50
MAX_KEYS = 500
MAX_FILE = 4_000_000
DEFAULT_CAPTURE = ("$args", "$result", "$agent")


async def recall(ctx: Context, config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Earlier entries of this key, oldest first."""
    if config.get("store", "memory") == "file":
        return await asyncio.to_thread(_read, _file(ctx, config))
    return list(_memory(ctx).get(_key(ctx, config), ()))


async def remember(ctx: Context, config: Mapping[str, Any], value: Any) -> None:
    """Keep one entry more: what ``capture`` names, the oldest beyond ``maxEntries`` forgotten."""
    target = ctx.envelope.target
    entry = {"at": time.time(), **_captured(target, config.get("capture"), value)}
    most = max(1, min(int(config.get("maxEntries", MAX_ENTRIES)), 1000))
    if config.get("store", "memory") == "file":
        await asyncio.to_thread(_append, _file(ctx, config), entry, most)
        return
    kept = _memory(ctx)
    entries = kept.pop(_key(ctx, config), [])
    kept[_key(ctx, config)] = [*entries, entry][-most:]
    while len(kept) > MAX_KEYS:
        del kept[next(iter(kept))]


def _captured(target: Context, capture: Any, value: Any) -> dict[str, Any]:
    """``$all``, ``$args``, ``$result``, ``$agent`` (its trace), or path expressions into the served context."""
    wanted = (capture,) if isinstance(capture, str) else tuple(capture or DEFAULT_CAPTURE)
    if "$all" in wanted:
        wanted = DEFAULT_CAPTURE
    found: dict[str, Any] = {}
    for name in wanted:
        if name == "$args":
            found["args"] = safe_snapshot(dict(target.args))
        elif name == "$result":
            found["result"] = safe_snapshot(value)
        elif name == "$agent":
            agent = target.locals.get("agent")
            trace = agent.get("trace") if isinstance(agent, Mapping) else None
            if trace:
                found["agent"] = safe_snapshot(trace)
        elif isinstance(name, str):
            view = {"args": dict(target.args), "locals": dict(target.locals), "result": value}
            found[name] = safe_snapshot(path_get(view, name))
    return found


def _key(ctx: Context, config: Mapping[str, Any]) -> str:
    return f"{ctx.envelope.target.run.tool.name}\0{config.get('key', 'default')}"


def _memory(ctx: Context) -> dict[str, list[dict[str, Any]]]:
    kept: dict[str, list[dict[str, Any]]] = ctx.globals.setdefault("skill-sessions", {})
    return kept


def _file(ctx: Context, config: Mapping[str, Any]) -> Path:
    folder = ctx.globals.get("data")
    if not isinstance(folder, str):
        raise ToolFailure("There is no folder here to keep sessions in.", code="skill.configuration")
    digest = hashlib.sha256(_key(ctx, config).encode("utf-8", "replace")).hexdigest()[:32]
    return Path(folder) / "sessions" / f"{digest}.json"


def _read(path: Path) -> list[dict[str, Any]]:
    """What the file holds; nothing where it cannot be read, for it is a memory, not a record."""
    try:
        if path.stat().st_size > MAX_FILE:
            return []
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _append(path: Path, entry: Mapping[str, Any], most: int) -> None:
    entries = [*_read(path), entry][-most:]
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    fresh.write_text(json.dumps(entries, ensure_ascii=False), "utf-8")
    os.replace(fresh, path)
