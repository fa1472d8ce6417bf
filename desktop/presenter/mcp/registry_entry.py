"""An entry of the MCP registry (``server.json``), as it is published or as the registry answers it: each package and
each address in it is one way to have the server. No Qt; reads data and fetches nothing.

Both spellings of its keys are read (``registryType`` and the older ``registry_type``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_WAYS = 20
MAX_ARGUMENTS = 100
MAX_VARIABLES = 60
_RUNNERS = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_SNAKE = re.compile(r"(?<!^)(?=[A-Z])")
_BLANK = re.compile(r"\{([A-Za-z_][\w-]{0,60})\}")

Way = tuple[str, dict[str, object], tuple[str, ...]]
"""(name, an entry as other apps write it, what a person has to know)."""


def is_entry(data: Mapping[str, Any]) -> bool:
    """Whether this is an entry of the registry."""
    return any(isinstance(data.get(key), list) for key in ("packages", "remotes")) and not data.get("command")


def ways(data: Mapping[str, Any]) -> Iterator[Way | str]:
    """Each way to have the server; for one that cannot be used, why not."""
    name = _short(str(data.get("name", "")))
    for package in _list(data.get("packages"))[:MAX_WAYS]:
        yield _package(name, package)
    for remote in _list(data.get("remotes"))[:MAX_WAYS]:
        yield _remote(name, remote)


def _short(name: str) -> str:
    """``io.github.brave/brave-search-mcp-server`` is ``brave-search``; ``com.example/mcp`` is ``example``."""
    owner, _, last = name.rpartition("/")
    short = re.sub(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp)$", "", last)
    return short if short not in ("", "mcp", "server") else owner.rpartition(".")[2] or last


# -- packages ---------------------------------------------------------------------------------------------------------


def _package(name: str, package: Mapping[str, Any]) -> Way | str:
    kind = str(_get(package, "registryType") or _get(package, "registryName") or "").lower()
    identifier = str(package.get("identifier") or package.get("name") or "")
    transport = _get(package, "transport")
    over = str(transport.get("type", "stdio")) if isinstance(transport, Mapping) else "stdio"
    if kind not in _RUNNERS or not identifier:
        return f"{name}: a package of the kind “{kind[:40] or '?'}” cannot be run here."
    if over != "stdio":
        return f"{name}: its {kind} package is no program to talk to, but starts a service ({over[:40]})."
    notes: list[str] = []
    env = _variables(_list(_get(package, "environmentVariables")), notes)
    command = str(_get(package, "runtimeHint") or _RUNNERS[kind])
    before = _arguments(_list(_get(package, "runtimeArguments")), notes)
    after = _arguments(_list(_get(package, "packageArguments")), notes)
    version = str(package.get("version") or "")
    args = _LINES[kind](identifier, "" if "${" in version else version, before, env)
    return name, {"command": command, "args": [*args, *after], "env": env}, tuple(notes)


def _npx(identifier: str, version: str, before: Sequence[str], _env: Mapping[str, str]) -> list[str]:
    return [*([] if "-y" in before else ["-y"]), *before, f"{identifier}@{version}" if version else identifier]


def _uvx(identifier: str, version: str, before: Sequence[str], _env: Mapping[str, str]) -> list[str]:
    return [*before, f"{identifier}@{version}" if version else identifier]


def _dnx(identifier: str, version: str, before: Sequence[str], _env: Mapping[str, str]) -> list[str]:
    return [f"{identifier}@{version}" if version else identifier, "--yes", *before, "--"]


def _docker(identifier: str, version: str, before: Sequence[str], env: Mapping[str, str]) -> list[str]:
    image = identifier.split(":${", 1)[0]
    tagged = image if not version or ":" in image.rpartition("/")[2] else f"{image}:{version}"
    if "run" in before:  # the whole line is there
        return [*before, *([] if image in before else [tagged])]
    return ["run", "-i", "--rm", *(word for one in env for word in ("-e", one)), *before, tagged]


_LINES = {"npm": _npx, "pypi": _uvx, "nuget": _dnx, "oci": _docker}


def _arguments(given: Sequence[Mapping[str, Any]], notes: list[str]) -> list[str]:
    """Arguments with a value, or with a blank that a person has to fill in; what may be left out without one, is."""
    found: list[str] = []
    for one in given[:MAX_ARGUMENTS]:
        option = str(one.get("name", "")) if one.get("type") == "named" else ""
        value = _value(one, str(_get(one, "valueHint") or option.lstrip("-") or "value"))
        if value is None:
            notes.append(f"It also takes {option or _get(one, 'valueHint') or 'another argument'}.")
        elif option and one.get("format") == "boolean":
            found += [option] if value == "true" else []
        else:
            found += [option, value] if option and value else [option or value]
    return found


def _variables(given: Sequence[Mapping[str, Any]], notes: list[str]) -> dict[str, str]:
    """Variables, or headers, with a value; a secret is left for the keyring, what may be left out is only named."""
    found: dict[str, str] = {}
    others: list[str] = []
    for one in given[:MAX_VARIABLES]:
        name = str(one.get("name", ""))
        value = _value(one, name)
        if not name:
            continue
        if value is None:
            others.append(name)
        else:
            found[name] = value
    if others:
        needed = "it is not needed" if len(others) == 1 else "none of them is needed"
        notes.append(f"It also takes {', '.join(others)}; {needed}.")
    return found


def _value(one: Mapping[str, Any], hint: str) -> str | None:
    """Its value with what it has for its blanks; None: it has none and may be left out."""
    value = one.get("value", one.get("default"))
    if value is None:
        if _get(one, "isSecret") and _get(one, "isRequired"):
            return f"${{input:{hint}}}"
        return f"<{hint}>" if _get(one, "isRequired") else None
    blanks = _get(one, "variables")
    return _BLANK.sub(lambda found: _blank(found[1], blanks), str(value))


def _blank(name: str, blanks: Any) -> str:
    about = blanks.get(name) if isinstance(blanks, Mapping) else None
    if isinstance(about, Mapping) and about.get("default") is not None:
        return str(about["default"])
    return f"${{input:{name}}}" if isinstance(about, Mapping) and _get(about, "isSecret") else f"<{name}>"


# -- addresses --------------------------------------------------------------------------------------------------------


def _remote(name: str, remote: Mapping[str, Any]) -> Way | str:
    url = remote.get("url")
    if not isinstance(url, str) or not url:
        return f"{name}: one of its addresses is missing."
    notes: list[str] = []
    blanks = _get(remote, "variables")
    address = _BLANK.sub(lambda found: _blank(found[1], blanks), url)
    return name, {"url": address, "headers": _variables(_list(remote.get("headers")), notes)}, tuple(notes)


def _list(given: Any) -> list[Mapping[str, Any]]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []


def _get(data: Mapping[str, Any], key: str) -> Any:
    """By either spelling."""
    return data.get(key, data.get(_SNAKE.sub("_", key).lower()))
