"""The ``headers:`` of a server at an address: what may stand there, and the values with their secrets, at its start.

A secret stands in a value as ``${keyring:service/user}``, alone or after other words (``Token ${keyring:…}``), and is
read when the server is started. What a value may not hold is refused without repeating it: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from desktop.domain.errors import ToolFailure
from desktop.domain.keyring import referred_to
from desktop.domain.safety import EnvironmentBuilder
from desktop.tools.declared.entries import EntryProblems
from desktop.yaml_text.tree import Node

MAX_HEADERS = 20
MAX_VALUE = 8_000
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_REFERENCE = re.compile(r"\$\{[^{}]*\}")
_GOOD_REFERENCE = re.compile(r"\$\{(?:keyring:[^/{}]+/[^{}]+|[A-Za-z_][A-Za-z0-9_]*)\}")
_SENDABLE = re.compile(r"[\x20-\x7e\t]*")
_OF_HTTP = frozenset(
    {
        "host",
        "content-length",
        "content-type",
        "content-encoding",
        "accept",
        "accept-encoding",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "last-event-id",
    }
)
_SECRET = re.compile(r"key|token|secret|password|passwd|credential|auth|cookie", re.IGNORECASE)


def read_headers(node: Node | None, url: str, insecure: bool, notes: EntryProblems) -> dict[str, str]:
    """The headers that can be sent, as written. ``insecure``: the address would carry a secret in the open."""
    if node is None or node.empty:
        return {}
    if not url:
        notes.error(node, "headers", "only a server with a url has headers")
        return {}
    if node.kind != "map" or len(node.entries) > MAX_HEADERS:
        notes.error(node, "headers", f"this has to be `Name: value`, at most {MAX_HEADERS} of them")
        return {}
    found: dict[str, str] = {}
    for name, (key, value) in node.entries.items():
        at = f"headers.{name[:64]}"
        if wrong := name_problem(name) or (_twice(name, found)):
            notes.error(key, at, wrong)
        elif wrong := _value_problem(value):
            notes.error(value, at, wrong)
        elif insecure and _REFERENCE.search(value.text):
            notes.error(value, at, "http:// would send this unprotected: use https://")
        else:
            if _SECRET.search(name) and not _REFERENCE.search(value.text):
                notes.warn(value, at, "this looks like a secret in a file: keep it as ${keyring:service/user}")
            found[name] = value.text
    return found


def name_problem(name: str) -> str:
    """Why a header may not be called so, or ""."""
    known = name.lower()
    if not _NAME.fullmatch(name):
        return "this is no name of a header"
    if known in _OF_HTTP or known.startswith("proxy-"):
        return "this header is set by Assent, for every request"
    if known.startswith("mcp-"):
        return "this header belongs to the protocol MCP"
    return ""


def _twice(name: str, found: Mapping[str, str]) -> str:
    return "this header is there already" if name.lower() in {one.lower() for one in found} else ""


def _value_problem(value: Node) -> str:
    if value.kind != "text" or value.empty:
        return "a header's value has to be a text"
    if not _SENDABLE.fullmatch(value.text):
        return "a header's value is one line of plain ASCII letters"
    if len(value.text) > MAX_VALUE:
        return f"a header's value has at most {MAX_VALUE:,} letters"
    for reference in _REFERENCE.findall(value.text):
        entry = referred_to(reference)
        if not _GOOD_REFERENCE.fullmatch(reference):
            return "a value from the keyring is written ${keyring:service/user}"
        if entry is not None and entry.problem:
            return entry.problem
    return ""


def references(declared: Mapping[str, str]) -> list[tuple[str, str]]:
    """(header, reference) for each that the values hold."""
    return [(name, found) for name, value in declared.items() for found in _REFERENCE.findall(value)]


async def headers_of(
    declared: Mapping[str, str], bearer: str, environment: EnvironmentBuilder, caller: str
) -> tuple[dict[str, str], list[str]]:
    """What is sent with every request, and what of it is secret. Raises ToolFailure naming the header, and never its
    value."""
    labels = {name: f"headers.{name}" for name in declared} | ({"Authorization": "bearer"} if bearer else {})
    whole = {**declared, **({"Authorization": f"Bearer {bearer}"} if bearer else {})}
    known: dict[str, str] = {}
    for name, reference in references(whole):
        if reference not in known:
            known[reference] = await followed(reference, labels[name], environment, caller)
    made = {name: _REFERENCE.sub(lambda found: known[found[0]], value) for name, value in whole.items()}
    return made, list(known.values())


async def followed(reference: str, label: str, environment: EnvironmentBuilder, caller: str) -> str:
    """What a reference stands for, without blanks around it."""
    try:
        built = await environment.build({"HEADER": reference}, tool=caller)
    except ToolFailure as error:
        words = str(error).replace("HEADER", label, 1)
        raise ToolFailure(words, code=error.code, next_step=error.next_step) from None
    found = built["HEADER"].strip()
    if not found or not _SENDABLE.fullmatch(found):
        raise ToolFailure(
            f"{label} cannot be sent: {reference} is empty, or holds a line break or letters beyond ASCII.",
            code="tool.environment",
            next_step="Correct the value in the keyring.",
        )
    return found
