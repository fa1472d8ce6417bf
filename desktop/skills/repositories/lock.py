"""``skills.lock``: which repositories a person has, and what was taken of each, for a team to share.

It holds addresses, commits, names and digests; no secret, and no path of this computer. Who reads it on another machine
is offered exactly that set. A file of another form is refused as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from desktop.domain.errors import KnownError
from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.json_text import read_json
from desktop.skills.names import is_bare_name
from desktop.skills.repositories.address import read_address

FILE = "skills.lock"
FORMAT = 1
MAX_BYTES = 4_000_000
MAX_SOURCES, MAX_TAKEN = 200, 5_000
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KINDS = ("skill", "agent", "command", "server")


class LockRefused(KnownError):
    """A lock file cannot be used; nothing was taken."""

    code = "skills.lock"


@dataclass(frozen=True, slots=True)
class Taken:
    """One thing that was taken: its ``rel`` in the repository, the ``commit`` it is of ("" where there are none), the
    ``digest`` of its content, and when (seconds since the epoch)."""

    kind: str
    name: str
    rel: str
    commit: str
    digest: str
    at: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """As ``RepositoryOffer.key``."""
        return ("server" if self.kind == "server" else "skill", self.name)


@dataclass(frozen=True, slots=True)
class LockedSource:
    """A repository in a lock file. ``address`` "": it lay on the computer of whoever wrote it."""

    name: str
    address: str
    taken: tuple[Taken, ...]


def lock_text(sources: Iterable[LockedSource]) -> str:
    """The text of the file, the same for the same set, so that a team sees only what changed."""
    listed = [
        {
            "name": one.name,
            "address": one.address,
            "taken": [
                {"kind": t.kind, "name": t.name, "path": t.rel, "commit": t.commit, "sha256": t.digest}
                for t in sorted(one.taken, key=lambda t: t.key)
            ],
        }
        for one in sorted(sources, key=lambda one: one.name)
        if one.taken
    ]
    return json.dumps({"format": FORMAT, "sources": listed}, indent=1, ensure_ascii=True) + "\n"


def read_lock(data: bytes) -> tuple[LockedSource, ...]:
    """Raises LockRefused for anything that is not such a file. Blocks for some system calls."""
    if len(data) > MAX_BYTES:
        raise LockRefused(f"The file is larger than {MAX_BYTES // 1_000_000} MB: it is no {FILE}.")
    try:
        found = read_json(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise LockRefused(f"The file cannot be read as a {FILE}.", next_step="Ask for it anew.") from None
    if not isinstance(found, dict) or "format" not in found or "sources" not in found:
        raise LockRefused(f"The file is no {FILE}.")
    if found["format"] != FORMAT:
        raise LockRefused(f"The file has the form {found['format']!r:.20}, and this version of Assent reads {FORMAT}.")
    listed = found["sources"]
    if not isinstance(listed, list) or len(listed) > MAX_SOURCES:
        raise LockRefused(f"The file does not say which repositories it is about, or names more than {MAX_SOURCES}.")
    sources = tuple(_source(one) for one in listed)
    if len({one.name for one in sources}) < len(sources):
        raise LockRefused("The file names a repository twice.")
    return sources


def _source(data: Any) -> LockedSource:
    name, address, taken = _texts(data, "name", "address")[0], _texts(data, "name", "address")[1], data.get("taken")
    if not is_bare_name(name):
        raise LockRefused(f"{name[:60]!a} cannot be the name of a repository.")
    if not isinstance(taken, list) or len(taken) > MAX_TAKEN:
        raise LockRefused(f"The file does not say what was taken of {name}.")
    if address:
        if address.startswith(("/", "~", ".", "file:")) or re.match(r"[A-Za-z]:\\", address):
            raise LockRefused(f"{name} is a path of another computer, which means nothing here.")
        try:
            address = read_address(address).text
        except KnownError as error:
            raise LockRefused(f"The address of {name} is not taken: {error}", next_step=error.next_step) from error
    found = tuple(_taken(one, name) for one in taken)
    if len({one.key for one in found}) < len(found):
        raise LockRefused(f"The file names something of {name} twice.")
    return LockedSource(name, address, found)


def _taken(data: Any, source: str) -> Taken:
    kind, name, rel, commit, digest = _texts(data, "kind", "name", "path", "commit", "sha256")
    right = kind in _KINDS and (not commit or _COMMIT.fullmatch(commit)) and _DIGEST.fullmatch(digest)
    if not right or (kind != "server" and not is_bare_name(name)) or len(name) > 100 or len(rel) > 1_000:
        raise LockRefused(f"What the file says of {name[:60]!a} in {source} cannot be right.", next_step="Ask anew.")
    return Taken(kind, name, rel, commit, digest)


def _texts(data: Any, *keys: str) -> list[str]:
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in keys):
        raise LockRefused(f"A part of the file lacks one of: {', '.join(keys)}.", next_step="Ask for it anew.")
    return [data[key] for key in keys]
