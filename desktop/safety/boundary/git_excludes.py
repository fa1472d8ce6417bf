"""The person's own list of what git leaves out everywhere (``core.excludesFile``), which searches leave out, too.

Only names come of it, never what is searched. Of what git reads that file by, includes are not followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

from desktop.systems import open_flags

MOST = 1_000_000
"""Bytes of a file that are read."""
_SECTION = re.compile(r"\[\s*([A-Za-z0-9.-]+)\s*(?:\"(?:[^\"\\]|\\.)*\")?\s*\]")
_KEY = re.compile(r"\s*excludesfile\s*=\s*(.*)", re.IGNORECASE)


def everywhere(may_read: Callable[[str], bool]) -> bytes:
    """The bytes of the list, or none; what ``may_read`` says no to is not opened. Blocks."""
    home = os.path.expanduser("~")
    own = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    path = os.path.join(own, "ignore")
    for config in (os.path.join(own, "config"), os.path.join(home, ".gitconfig")):
        path = _named(_read(config, may_read), home) or path
    return _read(path, may_read)


def _named(config: bytes, home: str) -> str:
    """Where a configuration says that the list is, or ""."""
    section, found = "", ""
    for line in config.decode("utf-8", "replace").splitlines():
        if (head := _SECTION.match(line.strip())) is not None:
            section = head[1].lower()
        elif section == "core" and (said := _KEY.match(line)) is not None:
            found = _value(said[1])
    if found == "~" or found.startswith("~/"):
        found = home + found[1:]
    return found if os.path.isabs(found) else ""


def _value(text: str) -> str:
    """A value without its quotes and the remark behind it."""
    text = text.strip()
    if text.startswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:].partition('"')[0])
    return re.split(r"\s[#;]", text)[0].strip()


def _read(path: str, may_read: Callable[[str], bool]) -> bytes:
    try:
        if not may_read(path):
            return b""
        handle = os.open(path, os.O_RDONLY | open_flags.NONBLOCK | open_flags.CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            return stream.read(MOST) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
