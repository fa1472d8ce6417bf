"""Whose a folder is, where that is not the person who started Assent."""

from __future__ import annotations

import os
from pathlib import Path

from desktop.systems import people


def owner_for_root(path: Path) -> str:
    """The owner of a folder, or of the one in which it would be made, where that is a person and we are root; else
    "". Raises OSError."""
    return other_owner(path) if people.is_root() else ""


def other_owner(path: Path) -> str:
    """The person who owns a folder, or the one in which it would be made; "" where that is us, or root. Raises
    OSError."""
    there = next(folder for folder in (path, *path.parents) if os.path.lexists(folder))
    user = there.lstat().st_uid if there.is_symlink() and not there.exists() else there.stat().st_uid
    if user == people.ROOT or people.is_ours(user):
        return ""
    try:
        return people.owner_of(there) or f"user {user}"
    except OSError:
        return f"user {user}"
