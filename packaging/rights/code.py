"""What the code does that reaches beyond its own process, read from its syntax trees: what it imports and calls.

A library that stands in no table here counts as one that nobody has looked at, and stops the build.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Found = dict[tuple[str, str], set[str]]
"""By what is done and the part of the code that does it: with what."""

NETWORK = frozenset(
    "acp aiohttp anyio botocore httpx httpx2 litellm mcp openai starlette tuf uvicorn "
    "ftplib http.client http.server imaplib poplib requests smtplib socketserver urllib.request urllib3 "
    "websockets xmlrpc PySide6.QtNetwork PySide6.QtNetworkAuth PySide6.QtWebSockets PySide6.QtWebEngineCore".split()
)
"""Libraries that talk to other computers."""
KEYS = frozenset({"keyring", "secretstorage"})
"""Libraries that reach the system's keyring."""
BUS = frozenset({"jeepney"})
"""Libraries that talk to the desktop."""
COMPUTING = frozenset(
    "PIL PySide6 _quickjs blitz_py certifi charset_normalizer cronsim cryptography jsonschema_rs mcp_types mmdr "
    "msoffcrypto pydantic pygments pypdfium2 qasync re2 realm regex resvg_py shiboken6 tree_sitter tree_sitter_bash "
    "tzlocal watchfiles yaml ziafont ziamath".split()
)
"""Libraries that work on what they are given."""
NATIVE = frozenset({"ctypes", "cffi"})
"""What calls the system directly."""
STARTING_MODULES = frozenset({"multiprocessing", "pty", "code", "runpy", "webbrowser", "_posixsubprocess"})

CONNECTING = frozenset({"open_connection", "create_connection", "create_datagram_endpoint", "getaddrinfo"})
LISTENING = frozenset({"start_server", "start_unix_server", "create_server", "create_unix_server"})
STARTING = frozenset(
    "create_subprocess_exec create_subprocess_shell subprocess_exec subprocess_shell Popen posix_spawn posix_spawnp "
    "startDetached QProcess ProcessPoolExecutor spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe".split()
)
STARTING_OF = {
    "subprocess": frozenset("run call check_call check_output getoutput getstatusoutput".split()),
    "os": frozenset("fork forkpty system popen execv execve execvp execvpe execl execle execlp startfile".split()),
    "processes": frozenset({"start", "start_blocking"}),
}
LOCAL = frozenset({"socket.AF_UNIX", "socket.AF_NETLINK", "socket.AF_PACKET"})
"""Sockets that lead to no other computer."""
WALLS = frozenset({"serve_shut_in", "shut_in", "shut_in_with_network", "harden", "bound_memory"})
"""Functions with which a helper process takes something from itself."""
IMPORTERS = frozenset({"import_module", "lazy_module", "__import__"})
HOST = re.compile(r"https?://([a-z0-9-]+(?:\.[a-z0-9-]+)+)", re.IGNORECASE)
EXAMPLES = re.compile(
    r"(^|\.)(example|invalid|test|localhost)(\.[a-z]+)?$|^127\.|^www\.w3\.org$|^my-|^json-schema\.org$"
)
"""Hosts that are nobody's, and names of formats that are nowhere asked for."""


def part_of(path: Path) -> str:
    """The part of the code that a file belongs to: two folders, as ``workers/web_host``, or the file in one."""
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "desktop" else parts
    return "/".join(parts[:2])


def sources(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Every file of the code below a checkout, parsed."""
    for folder in ("desktop", "skills"):
        for path in sorted((root / folder).rglob("*.py")):
            yield path.relative_to(root).as_posix(), ast.parse(path.read_text("utf-8"))


def found_in(files: Iterable[tuple[str, ast.Module]]) -> tuple[Found, set[str]]:
    """What the code does; and the libraries that stand in no table."""
    found: Found = defaultdict(set)
    unknown: set[str] = set()
    for name, tree in files:
        part, unused, names = part_of(Path(name)), set[int](), _called_otherwise(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr):
                unused.add(id(node.value))  # a text that nobody uses: what the code says of itself
            elif isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
                for imported in _imported(node):
                    _import(imported, part, found, unknown)
                if isinstance(node, ast.Call):
                    _call(node, names, part, found)
            elif isinstance(node, ast.Constant) and type(node.value) is str and id(node) not in unused:
                for host in HOST.findall(node.value):
                    if not EXAMPLES.search(host.lower()):
                        found["knows", part].add(host.lower())
    return found, unknown


def _imported(node: ast.Import | ast.ImportFrom | ast.Call) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        if node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif _name(node.func)[1] in IMPORTERS:
        yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant) and type(one.value) is str)


def _import(name: str, part: str, found: Found, unknown: set[str]) -> None:
    top = name.partition(".")[0]
    for kind, libraries in (("reaches", NETWORK), ("keys", KEYS), ("desktop", BUS), ("system", NATIVE)):
        for library in libraries:
            if name == library or name.startswith(f"{library}."):
                found[kind, part].add(library)
                return
    if top in STARTING_MODULES:
        found["starts", part].add(top)
    elif top not in sys.stdlib_module_names and top not in COMPUTING and top not in ("desktop", "skills", ""):
        unknown.add(top)


def _called_otherwise(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Names that a file has by importing: of what, and its own name there. ``from os import system as run`` is one."""
    names: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname: ("", alias.name) for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.update({alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names})
    return names


def _call(node: ast.Call, names: Mapping[str, tuple[str, str]], part: str, found: Found) -> None:
    of, name = _name(node.func)
    of, name = (names.get(of, ("", of))[1], name) if of else names.get(name, ("", name))
    if name in CONNECTING:
        found["reaches", part].add(name)
    elif name in LISTENING:
        found["listens", part].add("this computer" if "unix" in name else "other programs")
    elif name in STARTING or name in STARTING_OF.get(of.lstrip("_"), ()):
        found["starts", part].add(name)
    elif name == "openUrl":
        found["opens", part].add("your browser and file manager")
    elif name == "socket" and of.lstrip("_") == "socket":
        given = {"": node.args[0]} if node.args else {one.arg: one.value for one in node.keywords if one.arg}
        said = ast.unparse(given.get("", given.get("family", ast.Name("AF_INET")))).lstrip("_")
        if said not in LOCAL and "fileno" not in given:
            found["reaches", part].add("socket")
    if name in WALLS:
        found["walls", part].add(name)


def _name(node: ast.expr) -> tuple[str, str]:
    """What is called: of what, and its name."""
    if isinstance(node, ast.Attribute):
        return (node.value.id if isinstance(node.value, ast.Name) else "", node.attr)
    return ("", node.id) if isinstance(node, ast.Name) else ("", "")
