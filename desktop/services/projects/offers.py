"""What other apps left in a project: counted before the folder is used, read by name, and never run.

Taking any of it over is the Skills page's work, whose repositories look at the same places.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.files.projects import FolderOffer
from desktop.domain.safety import GuardedFiles
from desktop.domain.text.json_text import read_json
from desktop.domain.text.words import count_words

APPS = (".claude", ".agents")
DECLARED = (".mcp.json", ".vscode/mcp.json")
MAX_NAMES = 200
"""Entries of one folder that are looked at."""
MAX_DECLARED = 1_000_000


def offers_in(files: GuardedFiles, project: str) -> tuple[FolderOffer, ...]:
    """Skills, agents, commands and MCP servers that lie in a project. ``files`` are those of its threads. Blocks."""
    found: list[FolderOffer] = []
    for app in APPS:
        skills = sum(1 for name in _names(files, f"{project}/{app}/skills", "dir") if _has_skill(project, app, name))
        agents = [
            name
            for folder in ("agents", "commands")
            for name in _names(files, f"{project}/{app}/{folder}", "file")
            if name.lower().endswith(".md") and name.lower() not in ("readme.md", "agents.md")
        ]
        if skills:
            found.append(FolderOffer("skills", count_words(skills, "skill"), f"{app}/skills", NOT_TAKEN))
        if agents:
            title = "1 agent or command" if len(agents) == 1 else f"{len(agents)} agents and commands"
            found.append(FolderOffer("agents", title, app, NOT_TAKEN))
    for where in DECLARED:
        programs, addresses = _servers(files, os.path.join(project, where))
        if programs or addresses:
            words = [f"{programs} would start a program"] if programs else []
            words += [f"{addresses} would use the network"] if addresses else []
            count = count_words(programs + addresses, "MCP server")
            found.append(FolderOffer("servers", count, where, f"{', '.join(words)}. {NOT_TAKEN}"))
    return tuple(found)


NOT_TAKEN = "Using the folder takes none of it over."


def _names(files: GuardedFiles, folder: str, kind: str) -> Iterator[str]:
    if not os.path.isdir(folder) or os.path.islink(folder):
        return
    try:
        entries, _ = files.list_folder(folder, MAX_NAMES)
    except (KnownError, OSError):
        return
    yield from (entry.name for entry in entries if entry.kind == kind)


def _has_skill(project: str, app: str, name: str) -> bool:
    return os.path.isfile(os.path.join(project, app, "skills", name, "SKILL.md"))


def _servers(files: GuardedFiles, path: str) -> tuple[int, int]:
    """How many declared servers would start a program, and how many are addresses."""
    if not os.path.isfile(path):
        return 0, 0
    try:
        with files.open_read(path) as stream:
            data: Any = read_json(stream.read(MAX_DECLARED + 1)[:MAX_DECLARED].decode("utf-8-sig"))
    except (KnownError, OSError, ValueError, RecursionError):
        return 0, 0
    held = (data.get("mcpServers") or data.get("servers")) if isinstance(data, dict) else None
    entries = [one for one in held.values() if isinstance(one, dict)] if isinstance(held, dict) else []
    programs = sum(1 for one in entries if one.get("command"))
    return programs, sum(1 for one in entries if not one.get("command") and (one.get("url") or one.get("serverUrl")))
