"""Is a value what its setting wants? Nothing the file says is trusted; every refusal is a sentence for a person."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from desktop.domain.loading.lazy_pattern import lazy_pattern
from desktop.domain.model_settings import correction_in
from desktop.domain.models import Connection
from desktop.domain.text.expressions import fault_of
from desktop.domain.text.scrub import scrub
from desktop.domain.text.suggestions import nearest
from desktop.settings.spec import Setting

MAX_TEXT = 4_000  # characters of one text
MAX_ITEMS = 1_000  # entries of one list
KEYRING = "Enter keys in Settings, Models and keys: they go to the system's keyring. Remove it from the file."

_SECRET_NAME = lazy_pattern(
    r"(^|[_-])(api_?key|key|token|secret|passw(or)?d|passphrase|authorization|credentials?)$", re.IGNORECASE
)
_TOOL_NAME = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,63}")
_RISKY_VARIABLE = lazy_pattern(r"KEY|TOKEN|SECRET|PASSWORD", re.I)
_USERINFO = lazy_pattern(r"^[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.I)
_CONNECTION_FIELDS = ("id", "provider", "title", "base_url", "secret_name", "options")


class Unfit(Exception):
    """A value does not fit; the text says what is wanted."""


class Secret(Unfit):
    """A value looks like a key. It is never repeated."""


def check(setting: Setting, value: Any) -> Any:
    """The value as it goes into a snapshot. Raises Unfit."""
    return _CHECKS[setting.kind](setting, value)


def _choice(setting: Setting, value: Any) -> str:
    known = [choice for choice, _ in setting.choices]
    if isinstance(value, bool):  # YAML reads a bare on and off as true and false
        value = "on" if value else "off"
    if value in known:
        return str(value)
    raise Unfit(f"{setting.key} must be one of {', '.join(known)}, not {shown(value)}{did_you_mean(value, known)}")


def _number(setting: Setting, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unfit(f"{setting.key} must be a number, not {shown(value)}.")
    return _in_range(setting, value)


def _whole(setting: Setting, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(f"{setting.key} must be a whole number, not {shown(value)}.")
    return int(_in_range(setting, value))


def _in_range(setting: Setting, value: float) -> float:
    low, high = setting.minimum, setting.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise Unfit(f"{setting.key} must be from {figure(low)} to {figure(high)}, not {shown(value)}.")
    if setting.smallest is not None and 0 < value < setting.smallest:
        smallest = f"at least {figure(setting.smallest)}, or 0 ({setting.zero.lower()})"
        raise Unfit(f"{setting.key} must be {smallest}, not {shown(value)}.")
    return value


def _flag(setting: Setting, value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit(f"{setting.key} must be true or false, not {shown(value)}.")
    return value


def _text(setting: Setting, value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit(f"{setting.key} must be a text, not {shown(value)}.")
    if len(value) > MAX_TEXT or "\x00" in value:
        raise Unfit(f"{setting.key} must be at most {MAX_TEXT} characters without zero bytes.")
    return no_secret(setting.key, value)


def _texts(setting: Setting, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise Unfit(f"{setting.key} must be a list, one entry a line with a dash before it, not {shown(value)}.")
    if len(value) > MAX_ITEMS:
        raise Unfit(f"{setting.key} may have at most {MAX_ITEMS} entries.")
    found = tuple(_text(setting, item) for item in value)
    if not all(item.strip() for item in found):
        raise Unfit(f"{setting.key} has an empty entry.")
    return tuple(dict.fromkeys(found))


def _paths(setting: Setting, value: Any) -> tuple[str, ...]:
    found = _texts(setting, value)
    for item in found:
        if not (item.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]|\\\\", item)):
            raise Unfit(f"{setting.key}: {shown(item)} must begin with / or ~, so that it means one place only.")
    return found


def _patterns(setting: Setting, value: Any) -> tuple[str, ...]:
    found = _texts(setting, value)
    for item in found:
        try:
            re.compile(item, re.IGNORECASE)
        except re.error as error:
            raise Unfit(f"{setting.key}: {shown(item)} is no regular expression: {error}.") from error
    return found


def _expressions(setting: Setting, value: Any) -> tuple[str, ...]:
    found = _texts(setting, value)
    for item in found:
        if fault := fault_of(item):
            raise Unfit(f"{setting.key}: {shown(item)} cannot be used as a regular expression: {fault}.")
    return found


def _traits(setting: Setting, value: Any) -> tuple[str, ...]:
    found = _texts(setting, value)
    for item in found:
        if fault := correction_in(item)[2]:
            raise Unfit(f"{setting.key}: {shown(item)}: {fault}.")
    return found


def _names(setting: Setting, value: Any) -> tuple[str, ...]:
    found = _texts(setting, value)
    for item in found:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_()]*", item):
            raise Unfit(f"{setting.key}: {shown(item)} is no name of an environment variable.")
    return found


def _times(setting: Setting, value: Any) -> tuple[tuple[str, float], ...]:
    pairs = tuple(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list | tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise Unfit(f"{setting.key} must hold names of tools with {setting.unit}, one a line, not {shown(value)}.")
    if len(pairs) > MAX_ITEMS:
        raise Unfit(f"{setting.key} may have at most {MAX_ITEMS} entries.")
    found: dict[str, float] = {}
    for name, seconds in pairs:
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            raise Unfit(f"{setting.key}: {shown(name)} is no name of a tool; one looks like write-file.")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
            raise Unfit(f"{setting.key}: the time of {name} must be a number of {setting.unit}, not {shown(seconds)}.")
        found[name.replace("_", "-")] = _in_range(setting, seconds)
    return tuple(found.items())


def _connections(setting: Setting, value: Any) -> tuple[Connection, ...]:
    if not isinstance(value, list | tuple):
        raise Unfit(f"{setting.key} must be a list, not {shown(value)}.")
    found = tuple(item if isinstance(item, Connection) else _connection(setting.key, item) for item in value)
    found = tuple(_checked(setting.key, item) for item in found)
    ids = [item.connection_id for item in found]
    for name in ids:
        if ids.count(name) > 1:
            raise Unfit(f"{setting.key} has two connections with the id {shown(name)}.")
    return found


def _connection(key: str, item: Any) -> Connection:
    if not isinstance(item, Mapping):
        raise Unfit(f"{key}: each connection must have id, provider and title, not be {shown(item)}.")
    for name in item:
        if name not in _CONNECTION_FIELDS:
            find_secrets({str(name): item[name]}, key)
            raise Unfit(f"{key}: a connection has no {shown(name)}{did_you_mean(name, _CONNECTION_FIELDS)}")
    options = item.get("options") or {}
    if not isinstance(options, Mapping):
        raise Unfit(f"{key}: options of a connection must be names with values.")
    return Connection(
        item.get("id", ""),
        item.get("provider", ""),
        item.get("title") or item.get("id", ""),
        item.get("base_url") or "",
        item.get("secret_name") or "",
        dict(options),
    )


def _checked(key: str, item: Connection) -> Connection:
    texts = (item.connection_id, item.provider, item.title, item.base_url, item.secret_name)
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT for text in texts):
        raise Unfit(f"{key}: id, provider, title, base_url and secret_name of a connection must be texts.")
    if not all(isinstance(name, str) and isinstance(value, str) for name, value in item.options.items()):
        raise Unfit(f"{key}: options of a connection must be texts; put quotes around numbers.")
    if not re.fullmatch(r"[\w.-]{1,64}", item.connection_id) or not item.provider:
        raise Unfit(f"{key}: a connection needs a provider, and an id of letters, digits, dots and dashes.")
    if item.base_url and not re.match(r"https?://", item.base_url):
        raise Unfit(f"{key}: base_url of {item.connection_id} must begin with http:// or https://.")
    for text in texts:
        no_secret(key, text)
    find_secrets(dict(item.options), key)
    return item


_CHECKS: dict[str, Callable[[Setting, Any], Any]] = {
    "choice": _choice,
    "number": _number,
    "whole": _whole,
    "flag": _flag,
    "text": _text,
    "texts": _texts,
    "paths": _paths,
    "patterns": _patterns,
    "expressions": _expressions,
    "names": _names,
    "times": _times,
    "traits": _traits,
    "connections": _connections,
}


def plain(value: Any) -> Any:
    """A checked value as YAML writes it."""
    if isinstance(value, Connection):
        written = {
            "id": value.connection_id,
            "provider": value.provider,
            "title": value.title,
            "base_url": value.base_url,
            "secret_name": value.secret_name,
            "options": dict(value.options),
        }
        return {name: part for name, part in written.items() if part}
    if isinstance(value, tuple) and value and all(isinstance(item, tuple) for item in value):
        return dict(value)
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def no_secret(key: str, text: str) -> str:
    """``text``, unless it looks like a key or has a password in its address; then Secret is raised."""
    if scrub(text, limit=len(text) + 1) != text or _USERINFO.match(text):
        raise Secret(f"{key} holds what looks like a secret. Secrets do not belong into this file.")
    return text


def find_secrets(value: Any, key: str) -> None:
    """Look through anything the file holds, known to us or not. Raises Secret."""
    if isinstance(value, str):
        no_secret(key, value)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(part, str) and part and _SECRET_NAME.search(str(name)):
                raise Secret(f"{key}: {shown(name)} holds a secret. Secrets do not belong into this file.")
            find_secrets(part, key)
    elif isinstance(value, list | tuple):
        for part in value:
            find_secrets(part, key)


def risky_variables(names: Iterable[str]) -> list[str]:
    """Variables that often hold secrets (R-ENV-9)."""
    return [name for name in names if _RISKY_VARIABLE.search(name)]


def figure(value: float | None) -> str:
    """A number as a person writes it."""
    return "" if value is None else f"{value:,.10g}".replace(",", " ")


def shown(value: Any) -> str:
    """A value in a sentence: short, and never a secret."""
    text = repr(value)
    return scrub(text if len(text) <= 60 else text[:57] + "…", limit=80)


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """ ". Did you mean x?", or "." """
    close = nearest(str(value), known)
    return f". Did you mean {close[0]}?" if close else "."
