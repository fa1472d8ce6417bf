"""What a server offers, judged: its list of tools is a claim of a stranger, and each one counts only if it holds up.

A tool whose name or schema is not acceptable is kept with the reason, for the person, and is off. Hints of the server
(``readOnlyHint`` and the like) are kept as sentences and decide nothing. A server may repeat a key that it was given:
known secrets are masked before anything of it is kept or shown (R-SEC-1). Blocks: use a thread.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp_names import canonical
from desktop.domain.text.json_text import read_json

_log = logging.getLogger(__name__)

MAX_RAW_NAME = 128
MAX_DESCRIPTION = 2_000
MAX_TITLE = 120
MAX_INSTRUCTIONS = 4_000
INSTRUCTIONS = "instructions:"
"""Stands for a server's instructions among the names of its tools, none of which can be it."""
OFFERS = "offers:"
"""The same for what it offers beside tools: its resources and prompts."""
MAX_DEPTH = 24
MAX_NODES = 3_000
SchemaCheck = Callable[[Mapping[str, Any]], str]
"""Why a schema cannot be used for arguments, or "" (the rules of skill files)."""
MaskData = Callable[[Any], Any]
"""JSON-like data, or a text, without known secrets."""

_RAW = re.compile(r"[A-Za-z0-9_./-]+")
_PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_HINTS = (
    ("readOnlyHint", True, "only reads"),
    ("readOnlyHint", False, "changes things"),
    ("destructiveHint", True, "may destroy"),
    ("destructiveHint", False, "destroys nothing"),
    ("idempotentHint", True, "may be repeated safely"),
    ("openWorldHint", True, "reaches other systems"),
    ("openWorldHint", False, "reaches no other systems"),
)


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool of a server."""

    raw: str
    """The server's name for it."""
    name: str
    """Our name for it."""
    description: str
    """What models read."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of its arguments."""
    title: str = ""
    """The name a person reads."""
    claims: tuple[str, ...] = ()
    """The server's words about it, which decide nothing."""
    digest: str = ""
    """Over what the server said itself, before known secrets were masked."""
    text: str = ""
    """All that a model or a person is told of it, laid out for comparing."""
    problem: str = ""
    """Why it is off, or ""."""
    returns: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of its structured result; {}: it declares none that can be used."""


def judged(server: str, texts: Iterable[str], check: SchemaCheck, mask: MaskData) -> tuple[Offered, ...]:
    """Every tool of a listing, in its order, with what is wrong with it. ``texts`` are JSON, one a tool."""
    found: list[Offered] = []
    raws: dict[str, int] = {}
    names: dict[str, str] = {}
    for text in texts:
        try:
            one = _judge(server, text, check, mask)
        except Exception:  # one tool must never take its server with it
            _log.exception("a tool of the MCP server %s could not be judged", server)
            one = Offered("", "", "", problem="Assent made a mistake in judging it; the log has more")
        if one.raw and one.raw in raws:
            where = raws[one.raw]
            words = "the server offers this name twice"
            found[where] = replace(found[where], problem=found[where].problem or words)
            one = replace(one, problem=words)
        elif one.name and names.setdefault(one.name, one.raw) != one.raw:
            one = replace(one, problem=one.problem or f"its name is the same as that of {names[one.name]} here")
        raws.setdefault(one.raw, len(found))
        found.append(one)
    return tuple(found)


def instructions_of(server: str, said: str, mask: MaskData) -> Offered | None:
    """How a server wants to be used, as one more thing that a person looks at; None where it says nothing."""
    text = mask(plain(said, len(said))).strip()
    if not text:
        return None
    if len(text) > MAX_INSTRUCTIONS:
        text = f"{text[:MAX_INSTRUCTIONS]}\n[cut: the server said {len(text):,} characters]"
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
    return Offered(INSTRUCTIONS, f"instructions of {server}", text, digest=digest, text=text)


def offers_of(server: str, has: Iterable[str]) -> Offered | None:
    """What a server offers beside tools, as one more thing that a person looks at; None where there is nothing. What
    it comes to for a person is the same whatever the lists hold, so no later list voids the agreement."""
    words = {
        "resources": "Resources: you can put them into messages; agents can ask to read them, each time as its category"
        " has it.",
        "prompts": "Prompts: you can put them into messages.",
    }
    there = [name for name in words if name in has]
    if not there:
        return None
    text = "\n".join(words[name] for name in there)
    digest = hashlib.sha256(" ".join(there).encode()).hexdigest()
    return Offered(OFFERS, f"resources and prompts of {server}", text, digest=digest, text=text)


def _judge(server: str, text: str, check: SchemaCheck, mask: MaskData) -> Offered:
    try:
        tool = read_json(text)
    except (ValueError, RecursionError):
        tool = None
    if not isinstance(tool, dict):
        return Offered("", "", "", problem="this is no declaration of a tool")
    raw = tool.get("name")
    shown = mask(plain(raw, MAX_RAW_NAME)) if isinstance(raw, str) else ""
    wrong = _name_problem(raw) or ("" if shown == raw else "its name holds a key that is kept in the keyring")
    if wrong:
        return Offered(shown, "", "", problem=wrong)
    size = tool.get("tooLarge")
    if isinstance(size, int):
        return Offered(shown, "", "", problem=f"its declaration has {size:,} characters, which is too many")
    if isinstance(tool.get("unusable"), str):
        return Offered(shown, "", "", problem=f"it cannot be called: {plain(tool['unusable'], 300)}")
    said = _laid_out(tool)
    tool = mask(tool)
    schema = tool.get("inputSchema")
    annotations = tool.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    return Offered(
        shown,
        canonical(server, shown),
        mask(_description(tool, shown)),
        schema if isinstance(schema, dict) else {},
        mask(plain(tool.get("title") or hints.get("title"), MAX_TITLE)),
        _claims(hints),
        hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest(),
        mask(_laid_out(tool)),
        _schema_problem(schema, check),
        _returns(tool.get("outputSchema"), check),
    )


def _laid_out(tool: Mapping[str, Any]) -> str:
    pinned = {key: tool[key] for key in _PINNED if key in tool}
    return json.dumps(pinned, indent=2, sort_keys=True, ensure_ascii=False)


def _name_problem(raw: Any) -> str:
    if not isinstance(raw, str) or not raw:
        return "it has no name"
    if len(raw) > MAX_RAW_NAME:
        return f"its name has {len(raw):,} characters"
    if not _RAW.fullmatch(raw) or not re.search("[A-Za-z0-9]", raw):
        return "its name holds characters that no name of a tool may have"
    return ""


def _description(tool: Mapping[str, Any], name: str) -> str:
    text = plain(tool.get("description"), MAX_DESCRIPTION)
    return text or f"{name}, of an MCP server that does not describe it."


def _claims(hints: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(words for key, value, words in _HINTS if hints.get(key) is value)


def _schema_problem(schema: Any, check: SchemaCheck) -> str:
    if not isinstance(schema, dict):
        return "it declares no schema of its arguments"
    if (wrong := _size_problem(schema)) or (wrong := check(schema)):
        return f"the schema of its arguments cannot be used: {plain(wrong, 300)}"
    return ""


def _returns(schema: Any, check: SchemaCheck) -> Mapping[str, Any]:
    """The schema of its results, if it is one of objects and can be used."""
    if not isinstance(schema, dict) or _size_problem(schema) or check(schema):
        return {}
    return schema


def _size_problem(schema: Mapping[str, Any]) -> str:
    """Depth, size and references that lead elsewhere, before anything is compiled."""
    waiting: list[tuple[Any, int]] = [(schema, 1)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH:
            return f"it is nested more than {MAX_DEPTH} deep"
        if count > MAX_NODES:
            return f"it holds more than {MAX_NODES:,} values"
        if isinstance(value, dict):
            for key in ("$ref", "$dynamicRef"):
                if isinstance(value.get(key), str) and not value[key].startswith("#"):
                    return f"it refers to {value[key][:100]}, which is outside of it"
            waiting += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list):
            waiting += [(inner, depth + 1) for inner in value]
    return ""


def plain(value: Any, size: int) -> str:
    """A stranger's text without what cannot be seen or changes how the rest is read, and cut."""
    if not isinstance(value, str):
        return ""
    kept = "".join(c for c in value[: size * 2] if c == "\n" or unicodedata.category(c)[0] != "C")
    return kept if len(kept) <= size else f"{kept[: size - 1]}…"
