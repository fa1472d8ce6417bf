"""mcp.yaml as declared MCP servers and problems with their places; the rules of tools.yaml hold here too (R-CLI-1).

Only the person declares servers: the file lies beside tools.yaml and is protected like it (R-FS-10). Blocks and loads
PyYAML: use a thread.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from urllib.parse import urlsplit

from desktop.domain.approval.judgement import Category
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.tools.declared.entries import (
    DeclaredEntries,
    DeclaredList,
    EntryProblems,
    EntryReader,
    no_argument,
    unknown_keys,
)
from desktop.tools.declared.environment import read_env
from desktop.tools.mcp.headers import read_headers
from desktop.yaml_text.tree import Node

SOURCE = "mcp"
SERVERS = DeclaredList("mcp.yaml", "servers", most=20)
MAX_ARGUMENTS = 200
MAX_NAME = 32
MAX_TIMEOUT_S = 3_600
MAX_ROOTS = 20
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
    "roots",
    "client_id",
    "client_secret",
    "timeout",
    "category",
    "tools",
)
OF_PROGRAMS = ("args", "env", "cwd", "network", "roots")
OF_TOOLS = ("category", "timeout", "enabled")

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOOL = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_COMMAND = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_ABSOLUTE = re.compile(r"/|~/|[A-Za-z]:\\")
_CLIENT = re.compile(r"[\x21-\x7e]{1,500}")
_KEYRING = re.compile(r"\$\{(?:keyring:[^/{}]+/[^{}]+|[A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What the person decided about one tool of a server; None: as the server's."""

    category: Category | None = None
    timeout_s: float | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class McpDefinition:
    """One declared server: a program (``command``) or an address (``url``)."""

    name: str
    """Its name."""
    command: str = ""
    """The program."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its variables."""
    cwd: str = ""
    """Where it runs; "": in the workspace."""
    network: bool | None = None
    """Whether it has the network; None: not said."""
    url: str = ""
    """Its address."""
    bearer: str = ""
    """The reference of its token."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What is sent with each request."""
    client_id: str = ""
    """As whom Assent signs in, where a person has registered it there; "": it registers itself."""
    client_secret: str = ""
    """The reference of the secret that belongs to it."""
    enabled: bool = False
    """Whether it may start."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """The time limit of a call, in seconds."""
    category: Category = Category.ADMIN
    """That of its tools where ``tools`` says nothing else: admin unless the person configured otherwise (S-RES-4)."""
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    """What is said of single tools."""
    roots: tuple[str, ...] = ()
    """The folders that it is offered, of those that tools may list."""
    line: int = 1
    """Where it stands in the file."""

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
        carried = (self.bearer, tuple(self.headers.items()), self.roots, self.client_id, self.client_secret)
        return (self.url, self.command, self.args, tuple(self.env.items()), self.cwd, self.network, *carried)

    @property
    def elsewhere(self) -> bool:
        """Whether it runs on another machine: the files of this one are nothing to it."""
        return bool(self.url) and not _is_here(urlsplit(self.url).hostname or "")

    @property
    def may_sign_in(self) -> bool:
        """Whether a person can sign in to it: it is at an address, and no key of theirs says who they are."""
        return bool(self.url) and not self.bearer and "authorization" not in map(str.lower, self.headers)

    def rule(self, tool: str) -> ToolRule:
        """The rule of one tool, by the server's name for it."""
        return self.tools.get(tool, ToolRule())


McpFile = DeclaredEntries[McpDefinition]


def parse(text: str, needs_admin: Callable[[str], bool]) -> McpFile:
    """Read a whole file; never raises for what it says."""
    return SERVERS.read(text, lambda node, notes: _McpEntry(node, notes, needs_admin).read())


class _McpEntry(EntryReader):
    def __init__(self, node: Node, notes: EntryProblems, needs_admin: Callable[[str], bool]) -> None:
        super().__init__(node, notes)
        self._needs_admin = needs_admin

    def read(self) -> McpDefinition | None:
        """The definition, or None; ``notes.failed`` says whether it may be used."""
        node, notes = self.node, self.notes
        if not self.is_entry():
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
            self.flag("network"),
            url,
            bearer,
            headers,
            *self._client(url, bool(bearer) or any(name.lower() == "authorization" for name in headers)),
            self.flag("enabled") is True,
            self.timeout(MAX_TIMEOUT_S) or DEFAULT_TIMEOUT_S,
            category or Category.ADMIN,
            tools,
            self._roots(),
            node.line,
        )

    def _filled(self, key: str) -> str:
        """A text that is not empty, or ""; one that is empty is noted."""
        text = self.text(key)
        if text == "":
            self.notes.error(self.at(key), key, "this has to be a text")
        return text or ""

    def _name(self) -> str:
        name = self._filled("name").replace("_", "-")
        if not name and self.node.get("name") is not None:
            return ""
        if len(name) > MAX_NAME or not _NAME.fullmatch(name):
            words = f"every server needs a name: 1 to {MAX_NAME} of a to z, 0 to 9 and single hyphens between them"
            self.notes.error(self.at("name"), "name", words)
            return ""
        return name

    def _command(self) -> str:
        command, node = self._filled("command"), self.node
        if not command:
            if node.get("url") is None and node.get("command") is None:
                self.notes.error(node, "command", "a server needs a command to run, or a url")
            return ""
        if not _COMMAND.fullmatch(command) and not _ABSOLUTE.match(command):
            words = "one program, by its name or its absolute path; its arguments go into args"
            self.notes.error(self.at("command"), "command", words)
        if node.get("url") is not None:
            self.notes.error(self.at("url"), "url", "a server has a command or a url, not both")
        return command

    def _args(self) -> tuple[str, ...]:
        node = self.node.get("args")
        if node is None or node.empty:
            return ()
        if node.kind != "list" or len(node.items) > MAX_ARGUMENTS:
            self.notes.error(node, "args", f"this has to be a list of at most {MAX_ARGUMENTS} texts")
            return ()
        for at, item in enumerate(node.items):
            if item.kind != "text" or (hidden := no_argument(item.text)):
                self.notes.error(item, f"args[{at}]", "this has to be a text" if item.kind != "text" else hidden)
        return tuple(item.text for item in node.items)

    def _roots(self) -> tuple[str, ...]:
        node = self.node.get("roots")
        if node is None or node.empty:
            return ()
        if node.kind != "list" or len(node.items) > MAX_ROOTS:
            self.notes.error(node, "roots", f"this has to be a list of at most {MAX_ROOTS} folders")
            return ()
        for at, item in enumerate(node.items):
            if item.kind != "text" or not _ABSOLUTE.match(item.text):
                words = "this has to be an absolute path, or one that begins with ~/"
                self.notes.error(item, f"roots[{at}]", words)
        return tuple(item.text for item in node.items)

    def _cwd(self) -> str:
        folder = self._filled("cwd")
        if folder and not _ABSOLUTE.match(folder):
            self.notes.error(self.at("cwd"), "cwd", "this has to be an absolute path, or one that begins with ~/")
        return folder

    def _address(self) -> tuple[str, str, dict[str, str]]:
        """(url, bearer, headers) of a server over HTTP."""
        url, bearer, node = self._filled("url"), self._filled("bearer"), self.node
        if node.get("bearer") is not None and node.get("url") is None:
            self.notes.error(self.at("bearer"), "bearer", "only a server with a url has one")
        if bearer and not _KEYRING.fullmatch(bearer):
            words = "a key is not written into a file: name it as ${keyring:service/user}"
            self.notes.error(self.at("bearer"), "bearer", words)
        headers = read_headers(node.get("headers"), url, _is_open(url), self.notes)
        if bearer and any(name.lower() == "authorization" for name in headers):
            self.notes.error(self.at("headers"), "headers", "bearer makes the header Authorization already")
        if not url:
            return "", bearer, {}
        for key in OF_PROGRAMS:
            if node.get(key) is not None:
                self.notes.error(self.at(key), key, "only a server with a command has this")
        if wrong := _url_problem(url, bool(bearer)):
            self.notes.error(self.at("url"), "url", wrong)
        return url, bearer, headers

    def _client(self, url: str, has_key: bool) -> tuple[str, str]:
        """(client_id, client_secret) for signing in."""
        name, secret = self._filled("client_id"), self._filled("client_secret")
        if name and (not url or has_key):
            words = "only a server with a url and without a key is signed in to"
            self.notes.error(self.at("client_id"), "client_id", words)
        if name and not _CLIENT.fullmatch(name):
            self.notes.error(self.at("client_id"), "client_id", "this cannot be the name of a client")
        if secret and not _KEYRING.fullmatch(secret):
            words = "a secret is not written into a file: name it as ${keyring:service/user}"
            self.notes.error(self.at("client_secret"), "client_secret", words)
        if secret and not name:
            self.notes.error(self.at("client_secret"), "client_secret", "a secret belongs to a client_id")
        return name, secret

    def _tools(self) -> dict[str, ToolRule]:
        node = self.node.get("tools")
        if node is None or node.empty:
            return {}
        if node.kind != "map":
            self.notes.error(node, "tools", "this has to be `tool: read`, or `tool: {category: read}`")
            return {}
        return {name: self._rule(name, key, value) for name, (key, value) in node.entries.items()}

    def _rule(self, name: str, key: Node, value: Node) -> ToolRule:
        at = f"tools.{name[:64]}"
        if not _TOOL.fullmatch(name):
            self.notes.error(key, at, "this cannot be the name of a tool")
        if value.kind != "map":
            return ToolRule(_category(value, at, self.notes))
        unknown_keys(value, OF_TOOLS, self.notes, at)
        enabled = self.flag("enabled", value, at) is not False
        return ToolRule(self._category(value, at), self.timeout(MAX_TIMEOUT_S, value, at), enabled)

    def _category(self, node: Node, at: str) -> Category | None:
        found = node.get("category")
        return None if found is None else _category(found, f"{at}.category" if at else "category", self.notes)


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
