"""Names of entries in the system's keyring, and references to them: ``${keyring:service/user}`` (R-ENV-5).

Names come from files that anybody may have written: they are checked here, in one place, before they go anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from desktop.domain.loading.lazy_dataclass import dataclass

OWN_SERVICE = "assent"
"""The service under which Assent keeps what is its own: keys of providers, and secrets that were made for tools."""

PROVIDER_PREFIX = "connection/"
"""How the names of providers' keys begin in the own service. No tool ever reaches those (R-ENV-6)."""

SIGN_IN_PREFIX = "mcp-sign-in/"
"""How the names of sign-ins to MCP servers begin there. No tool ever reaches those either."""

OUTSIDE_TOKEN = "mcp-http-token"
"""The name of the token of `assent mcp --http` there. Whoever has it calls what is offered to other programs."""

MAX_NAME = 128
"""Characters of a service or a user."""

KeyPlace = Literal["kept", "unasked", "missing", "silent", "session", "waiting"]
"""Where a value lies: in the system's keyring; nobody looked yet; nowhere; the keyring did not tell; with us until
Assent is closed; with us while the system asks the person whether it may be kept. Later ones need more attention."""

_PLACES: tuple[KeyPlace, ...] = ("kept", "unasked", "missing", "silent", "session", "waiting")

_REFERENCE = re.compile(r"\$\{keyring:([^/{}]+)/([^{}]+)\}")


@dataclass(frozen=True, slots=True, order=True)
class KeyringEntry:
    """Where a secret lies. The text form is ``service/user``; only the user may have a slash in it."""

    service: str
    user: str

    def __str__(self) -> str:
        return f"{self.service}/{self.user}"

    @property
    def reference(self) -> str:
        """The reference as it is written in tools.yaml: ``${keyring:service/user}``."""
        return f"${{keyring:{self}}}"

    @property
    def problem(self) -> str:
        """Why these can be no names, as half a sentence, or ""."""
        if "/" in self.service:
            return "a service has no slash in it"
        return next((why for name in (self.service, self.user) if (why := _fault(name))), "")


def entry_of(text: str) -> KeyringEntry:
    """Parse ``service/user``; without a slash the service is Assent's own."""
    service, slash, user = text.strip().partition("/")
    return KeyringEntry(service, user) if slash else KeyringEntry(OWN_SERVICE, service)


def referred_to(value: str) -> KeyringEntry | None:
    """The entry that a whole value refers to, or None."""
    found = _REFERENCE.fullmatch(value)
    return None if found is None else KeyringEntry(found[1], found[2])


def _fault(name: str) -> str:
    if not name:
        return "a name is missing"
    if len(name) > MAX_NAME:
        return f"a name has at most {MAX_NAME} characters"
    if name != name.strip():
        return "a name does not begin or end with a space"
    if set(name) & set("{}") or any(unicodedata.category(letter)[0] == "C" for letter in name):
        return "a name has no braces, line breaks or invisible characters in it"
    return ""


def place_of_all(places: Sequence[KeyPlace]) -> KeyPlace:
    """Where a key of several parts lies: what needs most attention speaks for all. Only the first has to be there."""
    more = (place for place in places[1:] if place not in ("unasked", "missing"))
    return max((*places[:1], *more), key=_PLACES.index, default="unasked")
