"""What a person pastes where a server's program is asked for, as pages of servers show it: a command line, a line for
another app (``claude mcp add …``), a block of JSON or TOML. No Qt; reads text and runs nothing."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Literal

from desktop.domain.keyring import OWN_SERVICE, KeyringEntry
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.presenter.mcp.command_line import NotOneCommand, argument_list, read_line
from desktop.presenter.mcp.registry_entry import is_entry, ways
from desktop.presenter.mcp.secrets import PastedSecret, is_secret, secret_argument, secret_arguments
from desktop.presenter.settings.plain_json import plain_json, string_end

MAX_TEXT = 32_000
"""Characters that are looked at, before anything else is asked of them."""
MAX_SERVERS = 20
MAX_READ = 200
"""Entries of a block that are looked at."""
MAX_LEFT = 8
"""Of them that are named as left out."""
MAX_DOTS = 100
"""In one line of TOML: a key of thousands of parts takes its reader seconds."""
MAX_NAME = 32
MARK = 10
"""Letters of the digest that stands for what a server runs."""

_ADDRESS = re.compile(r"https?://\S+")
_PATH = re.compile(r"[~.]?/|[A-Za-z]:\\")
_REFERENCE = re.compile(r"\$\{(?:keyring:[^/{}]+/[^{}]+|[A-Za-z_][A-Za-z0-9_]*)\}")
_KEYRING = re.compile(r"\$\{keyring:([^{}]+)\}")
_OF_ENVIRONMENT = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_BLANK = re.compile(
    r"\$\{[^{}]*\}|\{\{[^{}]*\}\}|<[^<>]{2,60}>|/path/to\b|\byour[-_ ]\w|path\\to\\|/Users/(?:me|username)\b|"
    r"/ABSOLUTE/PATH",
    re.IGNORECASE,
)
_LISTS = (
    "mcpServers",
    "servers",
    "mcp_servers",
    "context_servers",
    "amp.mcpServers",
    "mcp",
    "extensions",
    "augment.advanced",
)
_ADDRESSES = ("url", "serverUrl", "httpUrl", "baseUrl", "uri")
_PARTS = frozenset({"command", "cmd", *_ADDRESSES})
_LEFT_OUT = {
    "headersHelper": "a program that makes its headers",
    "envFile": "a file of variables",
    "registryUrl": "where its package is fetched from",
}
"""What entries of other apps have and mcp.yaml has not, in words."""
_GENERAL = frozenset({"mcp", "server", "mcp-server", "index", "main", "stdio", "dist", "build", "src", "cli"})
_FETCH = frozenset({"npx", "uvx", "uv", "bunx", "pnpm", "yarn", "pipx", "deno"})
_OF_HOSTS = frozenset({"mcp", "www", "api", "com", "org", "net", "io", "dev", "ai"})
_RUNNERS = frozenset(
    {
        "npx",
        "npm",
        "uvx",
        "uv",
        "bunx",
        "bun",
        "pnpm",
        "yarn",
        "deno",
        "node",
        "python",
        "python3",
        "docker",
        "podman",
        "pipx",
        "exec",
        "run",
        "dlx",
        "tool",
        "x",
    }
)


@dataclass(frozen=True, slots=True)
class PastedServer:
    """One server that was read from what a person pasted: a program (``command``) or an address (``url``)."""

    name: str = ""
    """As the text calls it, or ""."""
    command: str = ""
    """The program."""
    args: tuple[str, ...] = ()
    """Arguments of the program."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables of the program."""
    cwd: str = ""
    """Folder in which the program starts."""
    url: str = ""
    """The address."""
    bearer: str = ""
    """Token for the address, as a reference to the keyring."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP headers for the address."""
    notes: tuple[str, ...] = ()
    """What a person has to know or do about it."""
    secrets: tuple[PastedSecret, ...] = ()
    """What was taken out of the text; references stand in its places."""
    wants: tuple[str, ...] = ()
    """Entries of the keyring that the text itself names: whoever wrote it wants what is kept there."""

    def referring(self, secret: PastedSecret, entry: KeyringEntry) -> PastedServer:
        """The server with a reference to ``entry`` in the place of a secret that is kept there."""
        env, headers, bearer = dict(self.env), dict(self.headers), self.bearer
        if secret.kind == "bearer":
            bearer = entry.reference
        else:
            {"env": env, "headers": headers}[secret.kind][secret.name] = entry.reference
        notes = tuple(note for note in self.notes if note != secret.note)
        left = tuple(one for one in self.secrets if one != secret)
        return replace(self, env=env, headers=headers, bearer=bearer, notes=notes, secrets=left)

    def apart(self) -> tuple[PastedServer, tuple[tuple[str, str], ...]]:
        """The server without any of the person's variables, and what it wanted of them: (variable, entry of the
        keyring that is meant for a value instead). For what a stranger wrote, whom no person has read yet: the entry
        is one of what it runs, so that none is met which a person saved for another server of that name."""
        wanted: dict[str, str] = {}
        runs = json.dumps([self.command, self.args, self.url])
        mark = hashlib.sha256(runs.encode("utf-8", "surrogatepass")).hexdigest()[:MARK]

        def own(found: re.Match[str]) -> str:
            whole = _place(named(self.name) or "server", found[0][2:-1])
            entry = KeyringEntry(whole.service, f"{whole.user}-{mark}")
            wanted[found[0][2:-1]] = str(entry)
            return entry.reference

        env = {
            name: _OF_ENVIRONMENT.sub(own, value) if _OF_ENVIRONMENT.fullmatch(value) else value
            for name, value in self.env.items()  # in a longer text it stays as it is written
        }
        headers = {name: _OF_ENVIRONMENT.sub(own, value) for name, value in self.headers.items()}
        bearer = _OF_ENVIRONMENT.sub(own, self.bearer)
        return replace(self, env=env, headers=headers, bearer=bearer), tuple(wanted.items())

    def entry(self) -> dict[str, object]:
        """The server as an entry of mcp.yaml, switched off."""
        values: dict[str, object] = {
            "name": self.name or "server",
            "command": self.command,
            "args": list(self.args),
            "env": dict(self.env),
            "cwd": self.cwd,
            "url": self.url,
            "bearer": self.bearer,
            "headers": dict(self.headers),
        }
        return {key: value for key, value in values.items() if value} | {"enabled": False}


@dataclass(frozen=True, slots=True)
class Pasted:
    """What a text holds: servers, or why it cannot be read (``problem``). Both empty: it is an ordinary program.
    ``perhaps``: it can be one program, too, with a blank in its path."""

    servers: tuple[PastedServer, ...] = ()
    problem: str = ""
    perhaps: bool = False
    left: tuple[str, ...] = ()
    """What of it cannot be taken over, and why."""
    either: bool = False
    """All of them are one server, of which a person needs one."""


def read_pasted(text: str) -> Pasted:
    """Read what was pasted; never raises for its text."""
    if len(text) > MAX_TEXT:
        return Pasted(problem="This is too long for a server. Paste only its command line, or its block of JSON.")
    text = _without_fence(text.strip())
    try:
        if _looks_like_data(text):
            return _of_data(text)
        if _ADDRESS.fullmatch(text):
            return Pasted((_server("", {"url": text}),))
        if not any(letter.isspace() for letter in text):
            return Pasted()
        return replace(_of_line(text), perhaps=_may_be_path(text))
    except NotOneCommand as error:
        return Pasted(problem=str(error))
    except RecursionError:
        return Pasted(problem="This is nested too deeply for a server.")


def _without_fence(text: str) -> str:
    first, line_break, rest = text.partition("\n")
    fenced = first.startswith("```") and line_break and rest.endswith("```") and " " not in first.strip()
    return rest[:-3].strip() if fenced else text


def _may_be_path(text: str) -> bool:
    """``/opt/My Programs/server``: nothing but the person says whether the blank parts two words."""
    words = text.split()
    told = any(word.startswith("-") or _PATH.match(word) or _ADDRESS.match(word) for word in words[1:])
    return _PATH.match(text) is not None and not told and not set(text) & set("\n\"'=|&;<>")


def _of_data(text: str, called: str = "") -> Pasted:
    left: list[str] = []
    data = _data(text)
    found = [_server(name or called, value, notes) for name, value, notes in _entries(data, left)]
    usable = tuple(one for one in found if one.command or one.url)
    if len(usable) > MAX_SERVERS:
        left.append(f"Only the first {MAX_SERVERS} of {len(usable)} servers are taken.")
    if usable:
        return Pasted(usable[:MAX_SERVERS], left=tuple(left[:MAX_LEFT]), either=_is_one(data))
    return Pasted(problem="\n".join(left[:MAX_LEFT]) or "This holds no server: an entry needs a command or a url.")


def _of_line(text: str) -> Pasted:
    line = read_line(text)
    if line.data:
        return _of_data(line.data, line.name)
    entry = {
        "command": line.command,
        "args": list(line.args),
        "env": line.env,
        "url": line.url,
        "headers": line.headers,
    }
    return Pasted((_server(line.name, entry),))


# -- blocks of JSON and TOML -----------------------------------------------------------------------------------------


def _looks_like_data(text: str) -> bool:
    begins = plain_json(text).lstrip()
    entry = begins.startswith('"') and begins[string_end(begins, 0) :].lstrip().startswith(":")
    return begins[:1] in ("{", "[") or entry or any(map(_is_table, text.split("\n")))


def _is_table(line: str) -> bool:
    """The head of a table of TOML."""
    line = line.strip()
    inside = line[1:-1]
    return line[:1] == "[" and line[-1:] == "]" and bool(inside) and all(c.isalnum() or c in "_.\"'-" for c in inside)


def _data(text: str) -> object:
    if _is_table(text.partition("\n")[0]):
        if any(line.count(".") > MAX_DOTS for line in text.split("\n")):
            raise NotOneCommand("A line of this TOML is too long. Paste only the server's own block.")
        try:
            return tomllib.loads(text)
        except (ValueError, RecursionError):
            raise NotOneCommand("This block of TOML cannot be read. Is a part of it missing?") from None
    plain = plain_json(text).strip()
    whole = plain if plain[:1] in ("{", "[") else "{" + plain.rstrip().rstrip(",") + "}"
    try:
        return read_json(whole)
    except (ValueError, RecursionError) as error:
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise NotOneCommand(f"This JSON cannot be read: there is a mistake{where}. Is a part missing?") from None


_Found = tuple[str, Mapping[str, object], tuple[str, ...]]
"""(name, entry, what a person has to know) of one server."""


def _entries(data: object, left: list[str], depth: int = 0) -> Iterator[_Found]:
    """Each server, wherever the app that it was written for keeps them; what is none goes to ``left``."""
    if isinstance(data, list):
        for one in data[:MAX_READ]:
            yield from _entries(one, left, depth)
        return
    if not isinstance(data, dict) or depth > 3:
        return
    if is_entry(data):
        found = list(ways(data))
        left.extend(way for way in found if isinstance(way, str))
        yield from (way for way in found if not isinstance(way, str))
    elif isinstance(data.get("server"), dict):  # as the registry answers
        yield from _entries(data["server"], left, depth + 1)
    elif _PARTS & data.keys():
        yield _entry(str(data.get("name", "")), data)
    elif inside := [data[key] for key in _LISTS if isinstance(data.get(key), dict | list)]:
        for one in inside:
            yield from _entries(one, left, depth + 1)
    else:
        yield from _named_entries(data, left)


def _named_entries(data: Mapping[str, object], left: list[str]) -> Iterator[_Found]:
    """The servers of a block of names."""
    for name, one in list(data.items())[:MAX_READ]:
        if not isinstance(one, dict):
            continue
        whole = {**one, **one["transport"]} if isinstance(one.get("transport"), dict) else one
        if _PARTS & whole.keys():
            yield _entry(str(whole.get("name") or name), whole)
        elif one.keys() & {"args", "env", "headers", "type", "link"}:
            left.append(f"{str(name)[:60]} was left out: it has no command and no url.")


def _entry(name: str, entry: Mapping[str, object]) -> _Found:
    notes = tuple(f"Its {key}, {words}, was left out." for key, words in _LEFT_OUT.items() if entry.get(key))
    return name, entry, notes


def _is_one(data: object) -> bool:
    """Whether all that was found are ways to have one server."""
    inner = data.get("server") if isinstance(data, dict) else None
    return isinstance(data, dict) and (is_entry(data) or (isinstance(inner, dict) and is_entry(inner)))


# -- one server ------------------------------------------------------------------------------------------------------


def _server(name: str, entry: Mapping[str, object], more: tuple[str, ...] = ()) -> PastedServer:
    command, args, env = _program(entry)
    cwd = entry.get("cwd")
    url = next((str(entry[key]) for key in _ADDRESSES if entry.get(key)), "")
    name = named(name) or named(_name_of(command, args, url))
    if command:
        found = _of_program(name, command, args, env, cwd if isinstance(cwd, str) else "")
    else:
        found = _of_address(name, url, _texts(entry.get("headers")))
    return replace(found, notes=(*found.notes, *more))


def _program(entry: Mapping[str, object]) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """The program of an entry as (command, args, env): some apps have the program and its arguments in one list, text,
    or block."""
    given = entry.get("command", entry.get("cmd"))
    if isinstance(given, dict):
        return _program({"command": given.get("path"), "args": given.get("args"), "env": given.get("env")})
    more = entry.get("args")
    args = [str(one) for one in more] if isinstance(more, list) else []
    env = next((found for key in ("env", "environment", "envs") if (found := _texts(entry.get(key)))), {})
    if isinstance(given, list):
        args, given = [str(one) for one in given[1:]] + args, str(given[0]) if given else ""
    command = given.strip() if isinstance(given, str) else ""
    if " " in command and not _PATH.match(command):
        line = read_line(command)
        command, args, env = line.command, [*line.args, *args], {**line.env, **env}
    return *argument_list(command, args), env


def _texts(given: object) -> dict[str, str]:
    """Values that stand for text, of a block or of a list of ``NAME=value``."""
    if isinstance(given, list):
        given = dict(one.split("=", 1) for one in given if isinstance(one, str) and "=" in one)
    if not isinstance(given, dict):
        return {}
    return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}


def _of_program(name: str, command: str, args: tuple[str, ...], env: Mapping[str, str], cwd: str) -> PastedServer:
    notes = [
        f"Put your own value in place of {one} in the arguments."
        for one in args
        if _BLANK.search(one) and not is_secret("", one)
    ]
    if cwd and _BLANK.search(cwd):
        notes.append(f"The folder {cwd} is only an example, so it was left out.")
        cwd = ""
    kept: dict[str, str] = {}
    secrets: list[PastedSecret] = []
    for variable, value in env.items():
        kept[variable], note, secret = _value(name, "env", variable, value)
        notes += [note] if note else []
        secrets += [secret] if secret else []
    notes += [
        f"{option} in the arguments is a secret, and anybody could read it in mcp.yaml. Take it out: most "
        "servers also read it from a variable, and the keyring can keep that for you."
        for option in secret_arguments(tuple(_BLANK.sub("text", one) for one in args))
    ]
    if "/" in command and not _PATH.match(command.replace("./", "", 1) or "x"):
        notes.append(f"{command} is a path inside a project: put the whole path in its place.")
    program = PurePosixPath(command).name
    if program in ("docker", "podman"):
        notes.append(
            f"{program} will not work: servers run confined and cannot reach its service. Look for a line with npx or "
            "uvx."
        )
    elif program in _FETCH:
        notes.append(f"{program} fetches the server first: that needs the network.")
    wants = _named_places(env.values())
    notes += _said_of(wants)
    return PastedServer(name, command, args, kept, cwd, notes=tuple(notes), secrets=tuple(secrets), wants=wants)


def _of_address(name: str, url: str, headers: Mapping[str, str]) -> PastedServer:
    notes: list[str] = []
    secrets: list[PastedSecret] = []
    kept: dict[str, str] = {}
    bearer = ""
    for header, value in headers.items():
        word, _, rest = value.partition(" ")
        if header.lower() == "authorization" and word.lower() == "bearer":
            bearer, note, secret = _value(name, "bearer", "token", rest)
        else:
            kept[header], note, secret = _value(name, "headers", header, value)
        notes += [note] if note else []
        secrets += [secret] if secret else []
    if _BLANK.search(url):
        notes.append("Put your own values into the address: it holds examples.")
    if is_secret("", url):
        notes.append("The address holds a secret. Take it out: give it as the key, or as a header.")
    wants = _named_places(headers.values())
    notes += _said_of(wants)
    return PastedServer(
        name, url=url, bearer=bearer, headers=kept, notes=tuple(notes), secrets=tuple(secrets), wants=wants
    )


def _named_places(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(map(_KEYRING.findall, values))))


def _said_of(entries: tuple[str, ...]) -> list[str]:
    return [f"It names {', '.join(entries)} in your keyring, and gets what is kept there."] if entries else []


def _value(
    server: str, kind: Literal["env", "headers", "bearer"], name: str, value: str
) -> tuple[str, str, PastedSecret | None]:
    """(what is taken over, what to say, the secret). A secret is never taken over: its field refers to a place in the
    keyring. Where a person has yet to fill in one, there is the place alone."""
    if _REFERENCE.fullmatch(value) and not value.startswith("${input:"):
        return value, "", None
    if is_secret(name, value):
        secret = PastedSecret(kind, name, _place(server, name), value)
        return secret.entry.reference, secret.note, secret
    if "${input:" in value or (_BLANK.search(value) and is_secret(name, "a text")):
        entry = _place(server, name)
        return entry.reference, f"Save the value of {name} under Settings, Keyring, as {entry}.", None
    return value, f"Put your own value for {name}: this one is an example." if _BLANK.search(value) else "", None


def _place(server: str, name: str) -> KeyringEntry:
    whole = name if named(name, 100).startswith(server) else f"{server}-{name}"
    return KeyringEntry(OWN_SERVICE, named(whole, 100) or "secret")


def typed_secrets(entry: Mapping[str, object]) -> tuple[PastedSecret, ...]:
    """The secrets that an entry of mcp.yaml would hold and that can stand in the keyring instead."""
    server = named(str(entry.get("name", ""))) or "server"
    found = [_value(server, "env", name, value)[2] for name, value in _texts(entry.get("env")).items()]
    found += [_value(server, "headers", name, value)[2] for name, value in _texts(entry.get("headers")).items()]
    bearer = str(entry.get("bearer", ""))
    if bearer and not _REFERENCE.fullmatch(bearer):
        found.append(PastedSecret("bearer", "the key", _place(server, "token"), bearer))
    return tuple(one for one in found if one is not None)


# -- names -----------------------------------------------------------------------------------------------------------


def named(text: str, maximum: int = MAX_NAME) -> str:
    """The text in the form of a server's name, or ""."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:maximum].rstrip("-")


def _name_of(command: str, args: tuple[str, ...], url: str) -> str:
    """From the package, the file or the host that it names."""
    if url:
        host = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2].partition(":")[0]
        parts = [part for part in host.split(".") if part not in _OF_HOSTS]
        return parts[0] if parts else host
    after = zip(("", *args), args, strict=False)
    words = (one[:200] for option, one in after if one[:1] != "-" and not secret_argument(option, one))
    package = next((word for word in chain((command,), words) if PurePosixPath(word).name not in _RUNNERS), command)
    scope, _, rest = package.rpartition("/")
    base = re.sub(r"[@=<>~\[].*$|:[\w.-]+$|\.(?:c?js|m?js|ts|py)$", "", rest)
    short = re.sub(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp)$", "", base)
    if short in _GENERAL or not short:
        return PurePosixPath(scope).name.lstrip("@") or base
    return short
