"""The image file of an agent's own that its ``icon`` names: beside its definition, and nowhere else (D-9)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from urllib.parse import unquote

from desktop.domain.definitions import AgentDefinition
from desktop.systems import open_flags


def icon_file(definition: AgentDefinition) -> Path | None:
    """Where it is, below the folder of the definition; None for an address, or where it leads out. Blocks."""
    if not definition.icon.startswith("/") or not definition.origin:
        return None
    try:
        root = Path(definition.origin).parent.resolve()
        path = (root / unquote(definition.icon).lstrip("/")).resolve()
    except (OSError, ValueError):
        return None
    return path if path.is_relative_to(root) and path != root else None


def read_icon(path: Path, maximum: int) -> bytes:
    """What is in it; nothing for what is no plain file, has more than ``maximum`` bytes or cannot be read. Blocks."""
    flags = os.O_RDONLY | open_flags.NONBLOCK | open_flags.NOFOLLOW | open_flags.CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        try:
            data = file.read(maximum + 1)
        except OSError:
            return b""
    return data if len(data) <= maximum else b""
