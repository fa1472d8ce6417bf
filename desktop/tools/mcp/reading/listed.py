"""Resources and prompts that a server lists, judged: claims of a stranger, shown to a person who may take one of them.

What cannot be asked for is kept with the reason; what cannot even be shown is counted. Known secrets are masked before
anything is kept (R-SEC-1). Blocks: use a thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.servers.mcp import McpArgument, McpPrompt, McpResource, McpTemplate
from desktop.domain.text.json_text import read_json
from desktop.tools.mcp.offered import MAX_DESCRIPTION, MAX_TITLE, MaskData, plain

MAX_URI = 2_000
MAX_NAME = 200
MAX_ARGUMENTS = 50
MAX_BYTES = 2**53
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):\S+")
_HOLDS_KEY = "it holds a key that is kept in the keyring"


@dataclass(frozen=True, slots=True)
class Listed:
    """What a server offers beside tools; ``notes`` say of each list what was left out."""

    resources: tuple[McpResource, ...] = ()
    templates: tuple[McpTemplate, ...] = ()
    prompts: tuple[McpPrompt, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    def with_kind(self, kind: str, found: tuple[Any, ...], note: str) -> Listed:
        """The same with one list read anew."""
        whole: dict[str, Any] = {"resources": self.resources, "templates": self.templates, "prompts": self.prompts}
        others = tuple(one for one in self.notes if one[0] != kind)
        return Listed(**{**whole, kind: found}, notes=(*others, *(((kind, note),) if note else ())))


def listed(kind: str, server: str, texts: Iterable[str], mask: MaskData, *, elsewhere: bool) -> tuple[Any, ...]:
    """The records of one list (``resources``, ``templates`` or ``prompts``). ``elsewhere``: the server runs on another
    machine, so files of this one are nothing that it can have."""
    made = {"resources": _resource, "templates": _template, "prompts": _prompt}[kind]
    found: dict[str, Any] = {}
    for text in texts:
        said = _said(text)
        if said is None:
            continue
        key, one = made(server, said, mask(said), elsewhere)
        if key and key not in found:
            found[key] = one
    return tuple(found.values())


def uri_problem(uri: Any, *, elsewhere: bool) -> str:
    """Why a resource of this address cannot be asked for, or ""."""
    if not isinstance(uri, str) or len(uri) > MAX_URI or plain(uri, MAX_URI) != uri:
        return "its address cannot be used"
    scheme = _SCHEME.fullmatch(uri)
    if scheme is None:
        return "its address cannot be used"
    if elsewhere and scheme[1].lower() == "file":
        return "it names a file, and the server runs on another machine"
    return ""


def name_problem(name: Any) -> str:
    """Why a prompt of this name cannot be asked for, or ""."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or plain(name, MAX_NAME) != name:
        return "its name cannot be used"
    return "its name cannot be used" if "\n" in name else ""


def _said(text: str) -> dict[str, Any] | None:
    try:
        found = read_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not isinstance(found.get("tooLarge"), int) else None


def _resource(server: str, said: Mapping[str, Any], shown: Mapping[str, Any], elsewhere: bool) -> tuple[str, Any]:
    uri, size = said.get("uri"), said.get("size")
    known = size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < MAX_BYTES else None
    wrong = uri_problem(uri, elsewhere=elsewhere) or ("" if shown.get("uri") == uri else _HOLDS_KEY)
    words = _words(shown)
    return str(uri or ""), McpResource(server, _line(shown.get("uri"), MAX_URI), *words, known, wrong)


def _template(server: str, said: Mapping[str, Any], shown: Mapping[str, Any], elsewhere: bool) -> tuple[str, Any]:
    template = said.get("uriTemplate")
    wrong = uri_problem(template, elsewhere=elsewhere) or ("" if shown.get("uriTemplate") == template else _HOLDS_KEY)
    return str(template or ""), McpTemplate(server, _line(shown.get("uriTemplate"), MAX_URI), *_words(shown), wrong)


def _prompt(server: str, said: Mapping[str, Any], shown: Mapping[str, Any], _elsewhere: bool) -> tuple[str, Any]:
    name, given = said.get("name"), shown.get("arguments")
    arguments = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    wrong = name_problem(name) or ("" if shown.get("name") == name else _HOLDS_KEY)
    if not wrong and any(name_problem(one.get("name")) for one in arguments):
        wrong = "the name of one of its arguments cannot be used"
    if not wrong and len(arguments) > MAX_ARGUMENTS:
        wrong = f"it takes more than {MAX_ARGUMENTS} arguments"
    _, title, description, _ = _words(shown)
    known = tuple(map(_argument, arguments[:MAX_ARGUMENTS]))
    return str(name or ""), McpPrompt(server, _line(shown.get("name"), MAX_NAME), title, description, known, wrong)


def _argument(shown: Mapping[str, Any]) -> McpArgument:
    name, title, description, _ = _words(shown)
    return McpArgument(name, title, description, shown.get("required") is True)


def _words(shown: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """(name, title, description, media type) of anything."""
    return (
        _line(shown.get("name"), MAX_NAME),
        _line(shown.get("title"), MAX_TITLE),
        plain(shown.get("description"), MAX_DESCRIPTION),
        _line(shown.get("mimeType"), MAX_TITLE),
    )


def _line(value: Any, size: int) -> str:
    return " ".join(plain(value, size).split())
