"""mcp.yaml as declared MCP servers and problems with their places; the rules of tools.yaml hold here too (R-CLI-1).

Only the person declares servers: the file lies beside tools.yaml and is protected like it (R-FS-10). One bad entry
costs itself only; a file that is no list of servers is ``broken``, and then nothing that was in force changes. Blocks
and loads PyYAML: use a thread.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from desktop.domain.judgement import Category
from desktop.domain.places import FormatError
from desktop.domain.skills import SkillProblem
from desktop.tools.cli.definitions import EntryProblems, problem, unknown_keys
from desktop.tools.cli.environment import no_argument, read_env
from desktop.tools.mcp.headers import read_headers
from desktop.yaml_text import tree
from desktop.yaml_text.tree import Node

SOURCE = "mcp.yaml"
MAX_SERVERS = 20
MAX_ARGUMENTS = 200
MAX_NAME = 32
MAX_TIMEOUT_S = 3_600
DEFAULT_TIMEOUT_S = 120.0
KEYS = (
    "name",
    "enabled",
    "command",
    "args",
    "env",
    "cwd",
    "network",
    "url",
    "bearer",
    "headers",
    "timeout",
    "category",
    "tools",
)
OF_PROGRAMS = ("args", "env", "cwd", "network")
OF_TOOLS = ("category", "timeout", "enabled")

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOOL = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_ABSOLUTE = re.compile(r"/|~/|[A-Za-z]:\\")
_KEYRING = re.compile(r"\$\{(?:keyring:[^/{}]+/[^{}]+|[A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What the person decided about one tool of a server; None: as the server's."""

    category: Category | None = None
    timeout_s: float | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class McpDefinition:
    """One declared server: a program (``command``) or an address (``url``). ``category`` is that of its tools where
    ``tools`` says nothing else: admin unless the person configured otherwise (S-RES-4)."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    network: bool | None = None
    url: str = ""
    bearer: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    enabled: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    category: Category = Category.ADMIN
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    line: int = 1

    @property
    def where(self) -> str:
        """What it runs or asks, for a person."""
        return self.url or " ".join((self.command, *self.args))

    @property
    def identity(self) -> str:
        """A digest of what it is: another program or address is another server, whatever its name. So is the same
        command in another folder, where its arguments name other files."""
        whole = json.dumps([self.url, self.command, self.args, *([self.cwd] if self.cwd else [])])
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def launch(self) -> tuple[object, ...]:
        """All that only a new start can change."""
        carried = (self.bearer, tuple(self.headers.items()))
        return (self.url, self.command, self.args, tuple(self.env.items()), self.cwd, self.network, *carried)

    def rule(self, tool: str) -> ToolRule:
        """Of one tool, by the server's name for it."""
        return self.tools.get(tool, ToolRule())


@dataclass(frozen=True, slots=True)
class McpFile:
    """What a text declares. ``broken``: it cannot be read as a list of servers at all."""

    definitions: tuple[McpDefinition, ...] = ()
    problems: tuple[SkillProblem, ...] = ()
    broken: bool = False


def parse(text: str, needs_admin: Callable[[str], bool]) -> McpFile:
    """Read a whole file; never raises for what it says."""
    try:
        root = tree.read(text)
        entries = _entries(root)
    except FormatError as error:
        broken = problem("error", str(error), error.line, error.column, "cli.file", SOURCE)
        return McpFile((), (broken,), broken=True)
    found: dict[str, McpDefinition] = {}
    problems: list[SkillProblem] = _top_level(root)
    for index, entry in enumerate(entries):
        notes = EntryProblems(f"servers[{index}]", SOURCE)
        definition = _Entry(entry, notes, needs_admin).read()
        if definition is not None and definition.name in found:
            notes.error(entry, "name", f"{definition.name} is declared in line {found[definition.name].line} already")
        elif definition is not None and not notes.failed:
            found[definition.name] = definition
        problems += notes.found
    return McpFile(tuple(found.values()), tuple(problems))


def _entries(root: Node | None) -> list[Node]:
    """Raises FormatError when the file as a whole is something else."""
    if root is None:
        return []
    servers = root.get("servers") if root.kind == "map" else None
    if servers is None or root.own_faults:
        first = root.own_faults[0] if root.own_faults else root
        words = root.own_faults[0].message if root.own_faults else "the file has to begin with `servers:`"
        raise FormatError(words, first.line, first.column)
    if servers.empty:
        return []
    if servers.kind != "list" or servers.own_faults:
        raise FormatError("servers has to be a list: one `- name: …` for each", servers.line, servers.column)
    if len(servers.items) > MAX_SERVERS:
        raise FormatError(f"there are more than {MAX_SERVERS} servers", servers.line, servers.column)
    return servers.items


def _top_level(root: Node | None) -> list[SkillProblem]:
    keys = root.entries if root is not None else {}
    words = "nothing reads this key; servers stand below `servers:`"
    return [
        problem("warning", f"{name[:60]}: {words}", key.line, key.column, "cli.file", SOURCE)
        for name, (key, _) in keys.items()
        if name != "servers"
    ]


class _Entry:
    """Reads one entry; what is wrong goes into ``notes``."""

    def __init__(self, node: Node, notes: EntryProblems, needs_admin: Callable[[str], bool]) -> None:
        self._node = node
        self._notes = notes
        self._needs_admin = needs_admin

    def read(self) -> McpDefinition | None:
        """The definition, or None; ``notes.failed`` says whether it may be used."""
        node, notes = self._node, self._notes
        for fault in node.faults():
            words = f"{notes.where}: {fault.message}"
            notes.found.append(problem("error", words, fault.line, fault.column, source=SOURCE))
        if node.kind != "map":
            notes.error(node, "", "an entry has to hold names with values, such as command: npx")
            return None
        name = self._name()
        if name:
            notes.where = f"{name} ({notes.where})"
        unknown_keys(node, KEYS, notes, "")
        url, bearer, headers = self._address()
        category = self._category(node, "")
        tools = self._tools()
        lowest = min(
            (category or Category.ADMIN, *(r.category or Category.ADMIN for r in tools.values())),
            key=lambda one: one.rank,
        )
        return McpDefinition(
            name,
            self._command(),
            self._args(),
            read_env(node.get("env"), lowest, self._needs_admin, notes),
            self._cwd(),
            self._flag(node, "network", ""),
            url,
            bearer,
            headers,
            self._flag(node, "enabled", "") is True,
            self._timeout(node, "") or DEFAULT_TIMEOUT_S,
            category or Category.ADMIN,
            tools,
            node.line,
        )

    def _text(self, key: str) -> str:
        """A text that has to be one, or ""; a value of another kind is noted."""
        node = self._node.get(key)
        if node is None:
            return ""
        if node.kind != "text" or node.empty or not node.text:
            self._notes.error(node, key, "this has to be a text")
            return ""
        if hidden := no_argument(node.text):
            self._notes.error(node, key, hidden)
            return ""
        return node.text

    def _at(self, key: str) -> Node:
        return self._node.get(key) or self._node

    def _name(self) -> str:
        name = self._text("name").replace("_", "-")
        if not name and self._node.get("name") is not None:
            return ""
        if len(name) > MAX_NAME or not _NAME.fullmatch(name):
            words = f"every server needs a name: 1 to {MAX_NAME} of a to z, 0 to 9 and single hyphens between them"
            self._notes.error(self._at("name"), "name", words)
            return ""
        return name

    def _command(self) -> str:
        command, node = self._text("command"), self._node
        if not command:
            if node.get("url") is None and node.get("command") is None:
                self._notes.error(node, "command", "a server needs a command to run, or a url")
            return ""
        if not _COMMAND.fullmatch(command) and not _ABSOLUTE.match(command):
            words = "one program, by its name or its absolute path; its arguments go into args"
            self._notes.error(self._at("command"), "command", words)
        if node.get("url") is not None:
            self._notes.error(self._at("url"), "url", "a server has a command or a url, not both")
        return command

    def _args(self) -> tuple[str, ...]:
        node = self._node.get("args")
        if node is None or node.empty:
            return ()
        if node.kind != "list" or len(node.items) > MAX_ARGUMENTS:
            self._notes.error(node, "args", f"this has to be a list of at most {MAX_ARGUMENTS} texts")
            return ()
        for at, item in enumerate(node.items):
            if item.kind != "text" or (hidden := no_argument(item.text)):
                self._notes.error(item, f"args[{at}]", "this has to be a text" if item.kind != "text" else hidden)
        return tuple(item.text for item in node.items)

    def _cwd(self) -> str:
        folder = self._text("cwd")
        if folder and not _ABSOLUTE.match(folder):
            self._notes.error(self._at("cwd"), "cwd", "this has to be an absolute path, or one that begins with ~/")
        return folder

    def _address(self) -> tuple[str, str, dict[str, str]]:
        """(url, bearer, headers) of a server over HTTP."""
        url, bearer, node = self._text("url"), self._text("bearer"), self._node
        if node.get("bearer") is not None and node.get("url") is None:
            self._notes.error(self._at("bearer"), "bearer", "only a server with a url has one")
        if bearer and not _KEYRING.fullmatch(bearer):
            words = "a key is not written into a file: name it as ${keyring:service/user}"
            self._notes.error(self._at("bearer"), "bearer", words)
        headers = read_headers(node.get("headers"), url, _is_open(url), self._notes)
        if bearer and any(name.lower() == "authorization" for name in headers):
            self._notes.error(self._at("headers"), "headers", "bearer makes the header Authorization already")
        if not url:
            return "", bearer, {}
        for key in OF_PROGRAMS:
            if node.get(key) is not None:
                self._notes.error(self._at(key), key, "only a server with a command has this")
        if wrong := _url_problem(url, bool(bearer)):
            self._notes.error(self._at("url"), "url", wrong)
        return url, bearer, headers

    def _tools(self) -> dict[str, ToolRule]:
        node = self._node.get("tools")
        if node is None or node.empty:
            return {}
        if node.kind != "map":
            self._notes.error(node, "tools", "this has to be `tool: read`, or `tool: {category: read}`")
            return {}
        return {name: self._rule(name, key, value) for name, (key, value) in node.entries.items()}

    def _rule(self, name: str, key: Node, value: Node) -> ToolRule:
        at = f"tools.{name[:64]}"
        if not _TOOL.fullmatch(name):
            self._notes.error(key, at, "this cannot be the name of a tool")
        if value.kind != "map":
            return ToolRule(_category(value, at, self._notes))
        unknown_keys(value, OF_TOOLS, self._notes, at)
        enabled = self._flag(value, "enabled", at) is not False
        return ToolRule(self._category(value, at), self._timeout(value, at), enabled)

    def _category(self, node: Node, at: str) -> Category | None:
        found = node.get("category")
        return None if found is None else _category(found, f"{at}.category" if at else "category", self._notes)

    def _flag(self, node: Node, key: str, at: str) -> bool | None:
        found = node.get(key)
        if found is None:
            return None
        flag = found.flag()
        if flag is None:
            self._notes.error(found, f"{at}.{key}" if at else key, "this has to be true or false")
        return flag

    def _timeout(self, node: Node, at: str) -> float | None:
        found = node.get("timeout")
        if found is None:
            return None
        seconds = found.number()
        if seconds is None or not 0 < seconds <= MAX_TIMEOUT_S:
            words = f"this has to be a number of seconds up to {MAX_TIMEOUT_S:,}"
            self._notes.error(found, f"{at}.timeout" if at else "timeout", words)
            return None
        return float(seconds)


def _category(node: Node, at: str, notes: EntryProblems) -> Category | None:
    found = next((category for category in Category if node.kind == "text" and category.value == node.text), None)
    if found is None:
        notes.error(node, at, "a category is read, write or admin")
    return found


def _url_problem(url: str, has_key: bool) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "this is no address"
    if parts.scheme not in ("http", "https") or not host or any(ord(c) < 33 for c in url):
        return "this has to be an address that begins with https:// or http://"
    if parts.username or parts.password:
        return "no name and password in an address: use bearer or headers"
    if has_key and _is_open(url):
        return "http:// would send the key unprotected: use https://"
    return ""


def _is_open(url: str) -> bool:
    """Whether what is sent there can be read on the way. Not for what never leaves this machine."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and not _is_here(parts.hostname or "")
    except ValueError:
        return True


def _is_here(host: str) -> bool:
    """Whether it is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
