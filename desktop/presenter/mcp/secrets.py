"""Which texts of an MCP server's entry are secrets, and where one would stand in mcp.yaml as it is. No Qt.

==============================================  ======================================================================
what stands there                               what it counts as
==============================================  ======================================================================
a number, true, false, null, nothing            no secret, whatever its name
a reference, ``<your key>``, YOUR_KEY           no secret: a person has to put something in its place
a path (``--key /etc/key.pem``)                 no secret: it names a file
a value whose name is a secret's                a secret: ``K=V``, ``Name: V``, ``--name V``, ``?name=V``, JSON, DSN
what has the form of a key, ``Bearer …``        a secret, without any name
a user and password in an address               a secret; on the web a user alone, too: keys are written so
a text that is too long to be looked through    a secret: nobody knows what is in it
==============================================  ======================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from desktop.domain.keyring import KeyringEntry
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.services.threads.variables import looks_secret

MAX_VALUE = 4_000
"""Characters of one value that are looked through."""
_HARMLESS = re.compile(
    r"-?\d{1,15}(?:\.\d{1,6})?|true|false|yes|no|on|off|null|none|"
    r"(?:[A-Za-z-]{1,20} )?\$\{keyring:[^{}]{1,200}\}|\$\{[^{}]{1,200}\}|\$[A-Za-z_]\w{0,60}|"
    r"\{\{[^{}]{1,200}\}\}|<[^<>]{1,60}>|your[-_ ][a-z_ -]{1,60}|\.{3}|…",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{[^{}]{1,200}\}")
_STANDS_IN = re.compile(r"\$\{[^{}]{1,200}\}|\{\{[^{}]{1,200}\}\}|<[^<>]{1,60}>")
_PATH = re.compile(
    r"(?:~|\.{1,2})[/\\]|[A-Za-z]:\\|/(?:home|Users|etc|var|opt|usr|run|root|mnt|srv|tmp|private|path|Applications)/"
)
_NAMED = re.compile(r"""(?<![\w.-])([\w.-]++)(\\?["'])?+(\s{0,3}+[=:]\s{0,3}+(?:\\?["'])?+)(?=([^\n]{0,200}))""")
_SCHEME = re.compile(r"(?:bearer|basic|token)\s{1,3}", re.IGNORECASE)
_BEARER = re.compile(r"\b(?:bearer|basic)\s{1,3}(?=(\S{1,200}))", re.IGNORECASE)
_USER = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30})://([^\s/@?#]{1,500})@")
_ENDS = re.compile(r"""[\s"'\\&;,}\])#]""")
_OPTION = re.compile(r"-{1,2}[A-Za-z][\w-]*|[A-Za-z_]\w*")
_OF_SERVERS = re.compile(
    r"(?:.*[-_])?(?:j?session[-_]?(?:id)?|sess(?:data|id)|passcode|mnemonic|(?:seed|recovery)[-_]phrase|psk|totp|cred|"
    r"oauth|sas|(?:db|pg|my|mysql|user|smtp|ftp|mail|proxy)(?:pass|pwd))"
)
"""Names of secrets that elsewhere are names of other things, too."""
_SWITCH = re.compile(r"(?:no|use|with|enable|disable|allow|require|skip)[-_]|.*[-_](?:file|path|dir|type|method|mode)$")


@dataclass(frozen=True, slots=True)
class PastedSecret:
    """One that goes into no file: which variable or header it is the value of, or the ``bearer``, which field takes the
    reference in its place, and the ``entry`` of the keyring that is meant for it. No words about it hold its value."""

    kind: Literal["env", "headers", "bearer"]
    name: str
    entry: KeyringEntry
    value: str = field(repr=False)

    @property
    def note(self) -> str:
        """What a person is told when it was taken out of what they pasted."""
        return (
            f"The value of {self.name} is a secret, so mcp.yaml does not hold it. "
            f"It can be kept in the keyring, as {self.entry}."
        )


def is_secret(name: str, value: str) -> bool:
    """Whether a value of this name is a secret, or holds one."""
    if harmless(value):
        return False
    return len(value) > MAX_VALUE or (bool(name) and _names_secret(name)) or _holds_secret(value)


def harmless(value: str) -> bool:
    """Whether a value can be none, however it is called."""
    value = _SCHEME.sub("", value.strip()[:300], count=1) if len(value) <= 300 else value
    if len(value) > 300:
        return False
    return not value or _HARMLESS.fullmatch(value) is not None or (_PATH.match(value) is not None and "=" not in value)


def _names_secret(name: str) -> bool:
    plain = name.strip("-")[:100]
    known = looks_secret(plain, "") or _OF_SERVERS.fullmatch(plain.lower()) is not None
    return known and _SWITCH.match(plain.lower()) is None


def _holds_secret(text: str) -> bool:
    """Whether the text holds a secret. Its length is limited before: each check takes time in proportion to the
    text."""
    bare = _STANDS_IN.sub("$x", text)
    if looks_secret("", bare) or any(not harmless(found[1]) for found in _BEARER.finditer(bare)):
        return True
    if any(":" in found[2] or found[1].lower().endswith(("http", "https")) for found in _USER.finditer(bare)):
        return True
    return any(_names_secret(name) and not harmless(value) for name, value in _named_values(bare))


def _named_values(text: str) -> Iterator[tuple[str, str]]:
    """Each ``name=value`` and ``name: value`` inside a text; of the value its first word, behind ``Bearer``."""
    for found in _NAMED.finditer(text):
        name, quote, sign, rest = found.groups()
        if ":" in sign and (rest.startswith("//") or not (quote or len(sign) > 1 or found.start() == 0)):
            continue  # the scheme of an address, the tag of an image
        rest = rest.removeprefix(known[0]) if (known := _SCHEME.match(rest)) else rest
        end = _ENDS.search(rest)
        yield name, rest[: end.start()] if end else rest


def secret_argument(before: str, one: str) -> bool:
    """Whether an argument holds a secret; ``before`` is the one before it, which can name it."""
    option = before if before.startswith("-") and "=" not in before and not one.startswith("-") else ""
    with_password = option in ("-u", "--user") and ":" in one and not one.replace(":", "").isdigit()
    return with_password or is_secret(option, one)


def secret_arguments(args: tuple[str, ...]) -> tuple[str, ...]:
    """What a person calls each argument that holds a secret; never the secret itself."""
    pairs = zip(("", *args), args, strict=False)
    found = [_called(before, one, at) for at, (before, one) in enumerate(pairs, 1) if secret_argument(before, one)]
    return tuple(dict.fromkeys(found))


def _called(before: str, argument: str, line: int) -> str:
    """A variable or an option by its name; anything else by its line."""
    own, _, value = argument.partition("=")
    for name in (own if value.strip("=") else "", before if before.startswith("-") else ""):
        if len(name) <= 60 and _OPTION.fullmatch(name) and not is_secret("", name):
            return name
    return f"Line {line}"


def exposed(entry: Mapping[str, object]) -> str:
    """Why an entry may not go into mcp.yaml, as sentences for a person, or "": a secret would stand in it."""
    args = entry.get("args")
    found = [
        f"{one} in the arguments looks like a secret. Take it out: most servers also read it from a variable."
        for one in secret_arguments(tuple(map(str, args)) if isinstance(args, list) else ())
    ]
    for key, what in (("env", "variable"), ("headers", "header")):
        given = entry.get(key)
        found += [
            f"The value of the {what} {str(name)[:60]} looks like a secret."
            for name, value in (given.items() if isinstance(given, Mapping) else ())
            if is_secret(str(name), str(value))
        ]
    bearer = str(entry.get("bearer", ""))
    if bearer and not _REFERENCE.fullmatch(bearer):
        found.append("The key is a secret.")
    if is_secret("", str(entry.get("url", ""))):
        found.append("The address holds a secret. Take it out: give it as the key, or as a header.")
    found += [
        f"The {what} holds what looks like a secret. Take it out."
        for key, what in (("name", "name"), ("command", "program"), ("cwd", "folder"))
        if is_secret("", str(entry.get(key, "")))
    ]
    return "\n".join(found)
