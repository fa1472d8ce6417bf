"""What plugins of Claude hold beside skills: agents, commands, declarations of MCP servers, hooks. Read, never run.

An agent and a command are instructions with a head of their own form: both become a ``SKILL.md`` that says the same. A
head that is no YAML is read line by line, as the apps do that these files were written for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.domain.text.places import FormatError
from desktop.skills.formats.markdown import MAX_HEAD, first_section
from desktop.skills.names import MAX_NAME
from desktop.yaml_text.mapping import read_mapping

SERVERS = ".mcp.json"
PLUGIN, MARKETPLACE = ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"
VSCODE = ".vscode/mcp.json"
DECLARATIONS = (SERVERS, VSCODE, PLUGIN, MARKETPLACE, "hooks/hooks.json")
OWN_FOLDERS = (".claude", ".agents")
"""Where apps keep skills, agents and commands of a project."""
LEFT_BY_OTHERS = (*OWN_FOLDERS, SERVERS, VSCODE)
MAX_DESCRIPTION = 1_024
_NOT_NAME = re.compile(r"[^a-z0-9]+")
_KEY = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*)|[ \t]*)$")
_NO_AGENTS = frozenset({"readme.md", "index.md", "contributing.md", "license.md", "changelog.md", "agents.md"})


@dataclass(frozen=True, slots=True)
class Converted:
    """An agent or a command as the ``SKILL.md`` that it becomes."""

    name: str
    text: str


def is_agent(path: str) -> bool:
    """Whether a path can be an agent's of a plugin; its head has to say so, too."""
    return _in_folder(path, "agents")


def is_command(path: str) -> bool:
    """Whether a path can be a command's."""
    return _in_folder(path, "commands")


def _in_folder(path: str, folder: str) -> bool:
    parts = path.split("/")
    name = parts[-1].lower()
    return name.endswith(".md") and name not in _NO_AGENTS and folder in parts[:-1]


def roots_of(files: Iterable[str], marketplaces: Mapping[str, str]) -> frozenset[str]:
    """The folders of plugins: those with a ``plugin.json``, those that a marketplace names (path to text), the
    repository itself, and ``.claude`` and ``.agents`` folders. "" is the repository."""
    found = {""}
    listed = list(files)
    tops = {path.partition("/")[0] for path in listed}
    if len(tops) == 1:  # an archive has a folder around everything
        found |= tops
    for path in listed:
        if path.endswith(PLUGIN):
            found.add(path.removesuffix(PLUGIN).rstrip("/"))
        parts = path.split("/")
        found.update("/".join(parts[: parts.index(own) + 1]) for own in OWN_FOLDERS if own in parts)
    for path, text in marketplaces.items():
        base = path.removesuffix(MARKETPLACE).rstrip("/")
        found.update(_joined(base, where) for where in _sources(text))
    return frozenset(found)


def _sources(text: str) -> list[str]:
    listed = _object(text).get("plugins")
    found = [one.get("source") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return [one for one in found if isinstance(one, str) and "://" not in one and ".." not in one.split("/")]


def _joined(base: str, where: str) -> str:
    parts = [part for part in (*base.split("/"), *where.split("/")) if part not in ("", ".")]
    return "/".join(parts)


def of_plugin(path: str, folder: str, roots: frozenset[str]) -> bool:
    """Whether ``<plugin>/<folder>/…`` is the place of a file."""
    parts = path.split("/")
    return "/".join(parts[: parts.index(folder)]) in roots


def server_text(path: str, text: str) -> str:
    """The declarations of MCP servers in a file, as ``.mcp.json`` has them; "" for none."""
    if not path.endswith(PLUGIN):
        return text
    inside = _object(text).get("mcpServers")
    return json.dumps({"mcpServers": inside}) if isinstance(inside, dict) and inside else ""


def hooks_in(text: str) -> int:
    """How many events a file of hooks acts on."""
    inside = _object(text).get("hooks")
    return len(inside) if isinstance(inside, dict | list) else 0


def _object(text: str) -> dict[str, Any]:
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# -- agents and commands ----------------------------------------------------------------------------------------------


def agent(path: str, text: str) -> Converted | None:
    """An agent; None for a file that is none: it has a name and a description. Raises FormatError."""
    head, body = _head(text)
    name, description = _plain(head.get("name")), _plain(head.get("description"))
    if not name or not description:
        return None
    return _made(name, description, head.get("tools", head.get("allowed-tools")), body, path)


def command(path: str, text: str) -> Converted | None:
    """A command: its name is its file's, its description what its head or its first line says. Raises FormatError."""
    head, body = _head(text) if text.lstrip("\ufeff").startswith("---") else ({}, text)
    lines = (line.strip("# \t") for line in body.splitlines())
    description = _plain(head.get("description")) or next((line for line in lines if line), "")
    if not description:
        return None
    return _made(_stem(path), description[:MAX_DESCRIPTION], head.get("allowed-tools"), body, path)


def _stem(path: str) -> str:
    return path.rpartition("/")[2][:-3]


def bare(name: str) -> str:
    """The nearest bare name: ``Code Reviewer`` is ``code-reviewer``."""
    return _NOT_NAME.sub("-", name.lower()).strip("-")[:MAX_NAME].strip("-")


def _made(name: str, description: str, tools: Any, body: str, path: str) -> Converted | None:
    wanted = bare(name) or bare(_stem(path))
    if not wanted:
        return None
    head = {"name": wanted, "description": _cut(description)}
    if tools is not None:
        words = [str(one) for one in tools] if isinstance(tools, list) else [str(tools)]
        head["allowed-tools"] = " ".join(" ".join(words).split())
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    return Converted(wanted, "\n".join(("---", *lines, "---", body.lstrip("\n"))))


def _cut(text: str) -> str:
    """Agents say in their description when to call them, with examples that no list of skills has room for."""
    text = " ".join(text.split())
    if len(text) <= MAX_DESCRIPTION:
        return text
    before = text.find("<example>")
    text = text[:before].strip() if 40 < before <= MAX_DESCRIPTION else text
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1].rstrip() + "…"


def _plain(value: object) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


def _head(text: str) -> tuple[dict[str, Any], str]:
    section = first_section(text)
    body = text[section.body_at :]
    try:
        return read_mapping(section.head, 2)[0], body
    except FormatError:
        return _by_lines(section.head[:MAX_HEAD]), body


def with_quotes(head: str) -> str:
    """The head with quotes around texts that hold a colon, which YAML takes for more than that. One with a comment
    behind it stays: what is commented out is not meant."""
    return "\n".join(_line_with_quotes(line) for line in head.split("\n"))


def _line_with_quotes(line: str) -> str:
    match = _KEY.match(line.rstrip("\r"))
    value = (match[2] or "").strip() if match is not None else ""
    if match is None or not value[:1].isalnum() or ": " not in value or " #" in value:
        return line
    return f"{match[1]}: {json.dumps(value, ensure_ascii=False)}"


def _by_lines(head: str) -> dict[str, str]:
    """``key: all the rest of the line``, with the lines below it that begin no key."""
    found: dict[str, list[str]] = {}
    last: list[str] = []
    for line in head.splitlines():
        match = _KEY.match(line)
        if match is not None and match[1] not in found:
            last = found[match[1]] = [(match[2] or "").strip().strip("\"'")]
        else:
            last.append(line.strip())
    return {key: "\n".join(lines).strip() for key, lines in found.items()}
