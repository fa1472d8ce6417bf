"""The hosts that a constraint on a command names: ``curl https://a.example/*`` stands for that host alone (D-4).

A star reaches over blanks, so that it could stand for a second address. Where the literal text names a host, or the
beginning of one, every host that the command is known to name has to stand there in full; ``https://*.a.example/``
names all below it. A constraint that names none (``curl *``) stands for any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PATHS = re.compile(r"(://[^/ \0]*)/[^ \0]*")
_ANY_HOST = re.compile(r"://(?:[^\s\0/?*]*@)?(?:\0\.)?[\w\[]|[ \0][\w.\-]+@[\w\[]")
_PLACE = re.compile(r"(?:(?<=://)|(?<=[ @=,:'\"\0]))(\[[^\]\0 ]*\]|[^ /@=,:?#'\"\0]+)(?=[/:?# \0,'\"]|\Z)")
"""Where a host can stand: behind what begins one, up to what ends one; not in the path of an address."""


class NamedHosts:
    """Of one alternative of a constraint. ``said`` is what it says literally, a NUL where a wildcard stands."""

    __slots__ = ("_any", "_below", "_full", "_starts")

    def __init__(self, said: str) -> None:
        said = _PATHS.sub(r"\1/", said.casefold())
        places = list(_PLACE.finditer(said))
        self._any = _ANY_HOST.search(said) is not None
        self._full = frozenset(place[1] for place in places)
        self._starts = tuple(place[1] for place in places if said[place.end() :].startswith("\0"))
        self._below = frozenset(
            place[1] for place in places if place[1].startswith(".") and said[: place.start()].endswith("\0")
        )

    def cover(self, hosts: Sequence[str]) -> bool:
        """Whether it may stand for a command that names these."""
        folded = [host.casefold() for host in hosts]
        limited = self._any or any(host.startswith(self._starts) or self._names(host) for host in folded)
        return not limited or all(self._names(host) for host in folded)

    def _names(self, host: str) -> bool:
        """Whether it says this host in full, or ``*.`` and the rest of it."""
        if host in self._full:
            return True
        labels = host.split(".") if self._below else ()
        return any(f".{'.'.join(labels[at:])}" in self._below for at in range(1, len(labels)))
