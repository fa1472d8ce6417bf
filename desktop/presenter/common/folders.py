"""Folders as a person reads them."""

from __future__ import annotations

import os

NO_FOLDER = "No folder"


def short_path(path: str) -> str:
    """A path with ``~`` for the person's home."""
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and (path == home or path.startswith(home + os.sep)) else path


def name_of(path: str) -> str:
    """What a project is called: its folder's own name."""
    return os.path.basename(path.rstrip(os.sep)) or path or NO_FOLDER
