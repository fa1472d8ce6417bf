"""A file in which another app, or the registry, declares servers: read whole or not at all, and never run. Blocks."""

from __future__ import annotations

from desktop.presenter.chat.attachments import read_attachment


def read_declared(path: str) -> str:
    """The text of the file. Raises KnownError: it is a folder, a device, no text, or too large."""
    return read_attachment(path).text
