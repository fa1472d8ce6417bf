"""The address of a repository as a person gives it: read, judged, and never kept with a secret in it. No network.

Git is told one protocol for each address, so that none leads on to another. A password or a token in an address would
stand in files and in lists of processes: it is refused, whatever it is.
"""

from __future__ import annotations

import os
import re
from typing import Literal
from urllib.parse import urlsplit

from desktop.domain.loading.lazy_dataclass import dataclass
from desktop.domain.text.hidden_characters import HIDDEN
from desktop.skills.importing.limits import ENDINGS, ImportRefused

SourceKind = Literal["git", "folder", "archive", "project"]
"""``project``: of a folder on this computer only what other apps left in it, as it lies there now."""
PROJECT = "project:"
Protocol = Literal["https", "ssh", "file", ""]
MAX_ADDRESS = 1_000
MAX_NAME = 40
_SCP = re.compile(r"(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+\.[\w.-]+):(?P<path>[^\s:].*)")
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_NOT_NAME = re.compile(r"[^a-z0-9]+")
_NEXT = "Give https://…, ssh://…, git@host:path, or a folder or archive on this computer."


@dataclass(frozen=True, slots=True)
class Address:
    """``text`` is what git or the import is given, and what is shown; ``protocol`` the one that git may use. ``path``
    is where it lies on this computer, or ""."""

    text: str
    kind: SourceKind
    protocol: Protocol = ""
    path: str = ""

    @property
    def here(self) -> bool:
        """Whether it is on this computer, so that looking at it needs no network."""
        return bool(self.path)


def read_address(text: str) -> Address:
    """Judge an address. Raises ImportRefused with what to give instead. Blocks for some system calls."""
    text = text.strip()
    if not text or len(text) > MAX_ADDRESS or HIDDEN.search(text) or any(ord(one) < 32 for one in text):
        raise ImportRefused("This is no address of a repository.", next_step=_NEXT)
    if text.startswith("-"):
        raise ImportRefused("An address cannot begin with a hyphen.", next_step=_NEXT)
    if text.startswith(PROJECT):
        return _of_project(text.removeprefix(PROJECT))
    if text.startswith("file://"):
        return _on_this_computer(text.removeprefix("file://"))
    if "://" in text:
        return _of_url(text)
    if text.startswith(("/", "~", "./", "../")) or os.path.isabs(text):
        return _on_this_computer(os.path.expanduser(text))
    if (match := _SCP.fullmatch(text)) is not None and not match["path"].startswith("-"):
        return Address(text, "git", "ssh")
    if "::" in text:
        raise ImportRefused("An address of this kind would run a program.", next_step=_NEXT)
    if re.fullmatch(r"[\w.-]+/[\w.-]+", text):
        raise ImportRefused(f"{text} says no host.", next_step=f"Give the whole address, such as https://host/{text}.")
    raise ImportRefused("This is no address of a repository.", next_step=_NEXT)


def _of_project(path: str) -> Address:
    path = os.path.normpath(os.path.expanduser(path))
    if not os.path.isabs(path) or not os.path.isdir(path):
        raise ImportRefused(f"{path} is no folder.", next_step="Choose the folder of the project again.")
    return Address(f"{PROJECT}{path}", "project", "", path)


def _of_url(text: str) -> Address:
    try:
        found = urlsplit(text)
        host = found.netloc.rpartition("@")[2]
    except ValueError:
        raise ImportRefused("This is no address of a repository.", next_step=_NEXT) from None
    if found.password is not None or (found.scheme != "ssh" and found.username is not None):
        raise ImportRefused(
            "The address holds a name or a password. It would stand in files that others can read, so it is not taken.",
            next_step="Give the address without it. For a private repository use ssh, with the key in your ssh agent.",
        )
    if found.query or found.fragment:
        raise ImportRefused(
            "The address has a ? or a #: it is that of a page, or holds a key.", next_step="Leave out what follows it."
        )
    if found.scheme == "http":
        raise ImportRefused("http is not encrypted: anybody on the way could change the skills.", next_step=_NEXT)
    if found.scheme not in ("https", "ssh"):
        raise ImportRefused(f"{found.scheme}:// is not used for repositories here.", next_step=_NEXT)
    if not _HOST.fullmatch(host) or host.startswith("-") or not found.path.strip("/"):
        raise ImportRefused("The address names no repository at a host.", next_step=_NEXT)
    if found.username and not re.fullmatch(r"\w[\w.-]*", found.username):
        raise ImportRefused("The name in the address is none.", next_step=_NEXT)
    return Address(text, "git", "https" if found.scheme == "https" else "ssh")


def _on_this_computer(path: str) -> Address:
    path = os.path.normpath(path)
    if not os.path.isabs(path):
        raise ImportRefused("The folder's path is not whole.", next_step="Begin it with / or ~.")
    if os.path.isdir(path):
        return Address(path, "git", "file", path) if is_repository(path) else Address(path, "folder", "", path)
    if not os.path.exists(path):
        raise ImportRefused(f"{path} is not there.", next_step="Look whether it is spelt right.")
    if path.lower().endswith(ENDINGS):
        return Address(path, "archive", "", path)
    raise ImportRefused(f"{path} is no folder and no archive.", next_step=f"Archives end with {', '.join(ENDINGS)}.")


def is_repository(path: str) -> bool:
    """Whether a folder is a git repository, with its files or bare."""
    inner = os.path.join(path, ".git")
    return os.path.exists(inner) or all(os.path.exists(os.path.join(path, one)) for one in ("HEAD", "objects", "refs"))


def usual_name(address: Address) -> str:
    """What a repository is called by itself, from the end of its address: a bare name."""
    whole = address.text.rstrip("/").removesuffix("/.git")
    last = whole.replace(":", "/").rpartition("/")[2].lower()
    for ending in (".git", ".bundle", *ENDINGS):
        last = last.removesuffix(ending)
    found = _NOT_NAME.sub("-", last).strip("-")[:MAX_NAME].strip("-")
    return found or "repository"
