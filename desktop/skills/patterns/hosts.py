"""The hosts that a constraint on a command names: ``curl https://a.example/*`` stands for that host alone (D-4).

A star reaches over blanks, so that it could stand for a second address. Where the literal text names a host, or the
beginning of one, every host that the command is known to name has to stand there in full; ``https://*.a.example/``
names all below it. What sends a command on to other hosts (``-L``) it has to say, too, and what its program's own
settings send elsewhere it does not stand for. A constraint that names none
(``curl *``) stands for any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PATHS = re.compile(r"(://[^/ \0]*)/[^ \0]*")
_ANY_HOST = re.compile(r"://(?:[^\s\0/?*]*@)?(?:\0\.)?[\w\[]|[ \0][\w.\-]+@[\w\[]")
_ENDING = re.compile(r"://\0([^\s\0/?*.@:][^\s\0/?*@:]*)(?=[/:? \0]|\Z)")
"""What a host ends with, behind a star that stands at its beginning."""
_PLACE = re.compile(r"(?:(?<=://)|(?<=[ @=,:'\"\0]))(\[[^\]\0 ]*\]|[^ /@=,:?#'\"\0]+)(?=[/:?# \0,'\"]|\Z)(?!://)")
"""Where a host can stand: behind what begins one, up to what ends one; not in the path of an address, nor its scheme.
"""


class NamedHosts:
    """The hosts that one alternative of a constraint names. ``said`` is its literal text, with a NUL where a wildcard
    stands."""

    __slots__ = ("_any", "_below", "_ends", "_full", "_said", "_starts")

    def __init__(self, said: str) -> None:
        self._said = said
        said = _PATHS.sub(r"\1/", said.casefold())
        places = list(_PLACE.finditer(said))
        self._ends = tuple(_ENDING.findall(said))
        self._any = bool(self._ends) or _ANY_HOST.search(said) is not None
        self._full = frozenset(place[1] for place in places)
        self._starts = tuple(place[1] for place in places if said[place.end() :].startswith("\0"))
        self._below = frozenset(
            place[1] for place in places if place[1].startswith(".") and said[: place.start()].endswith("\0")
        )

    def cover(self, hosts: Sequence[str], *, astray: bool = False) -> bool:
        """Whether it may stand for a command that names these; ``astray``: it may go elsewhere than it names."""
        folded = [host.casefold() for host in hosts if not host.startswith("-")]
        limited = self._any or any(host.startswith(self._starts) or self._names(host) for host in folded)
        if not limited:
            return True
        if astray:
            return False
        leads = [host for host in hosts if host.startswith("-")]
        return all(map(self._names, folded)) and all(map(self._says, leads))

    def _says(self, option: str) -> bool:
        """Whether it says an option that leads elsewhere; a letter also among others."""
        text = re.escape(option) if option.startswith("--") else rf"-\w*{re.escape(option[1:])}"
        return re.search(rf"[ \0]{text}", self._said) is not None

    def _names(self, host: str) -> bool:
        """Whether it says this host in full, or ``*.`` and the rest of it."""
        if host in self._full or host.endswith(self._ends):
            return True
        labels = host.split(".") if self._below else ()
        return any(f".{'.'.join(labels[at:])}" in self._below for at in range(1, len(labels)))
