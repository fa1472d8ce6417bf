"""A file in which another app, or the registry, declares servers: read whole or not at all, and never run. Blocks."""

from __future__ import annotations

from pathlib import Path

from desktop.domain.errors import KnownError
from desktop.domain.messages import FileBlock
from desktop.presenter.chat.attachments import read_attachment


class NotDeclared(KnownError):
    """The file cannot be one that declares servers."""

    code = "mcp.not_declared"


def read_declared(path: str) -> str:
    """The text of the file. Raises KnownError: it is a folder, a device, no text, or too large."""
    block = read_attachment(path)
    if not isinstance(block, FileBlock):
        raise NotDeclared(f"“{Path(path).name}” is an image.", next_step="Choose a JSON or TOML file.")
    return block.text
