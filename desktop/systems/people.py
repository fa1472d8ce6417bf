"""Who this process works for, and whose a place is, where the system tells it by numbers."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import pwd

ROOT = 0


def is_root() -> bool:
    """Whether this process may do everything. On Windows it is not asked: an administrator's rights are put aside
    there unless they are wanted."""
    if sys.platform == "win32":
        return False
    return os.geteuid() == ROOT


def is_ours(user: int) -> bool:
    """Whether a number of ``st_uid`` means us. Windows numbers nobody: there all is ours."""
    if sys.platform == "win32":
        return True
    return user == os.geteuid()


def owner_of(path: Path) -> str:
    """The name of who owns a place; "" where it is not known. Raises OSError."""
    if sys.platform == "win32":
        return ""
    try:
        return path.owner()
    except KeyError:
        return ""


def full_name() -> str:
    """The person's name as their account has it; "" where it has none."""
    if sys.platform != "win32":
        with contextlib.suppress(KeyError, OSError):
            return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    return ""
