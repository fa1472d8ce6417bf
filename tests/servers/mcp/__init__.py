"""MCP servers as programs: honest ones made with the `mcp` package, and one that is as hostile as it is told."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def honest(*arguments: str) -> list[str]:
    """The command of a real server."""
    return [sys.executable, str(FOLDER / "honest.py"), *arguments]


def hostile(mode: str, *arguments: str) -> list[str]:
    """The command of one that misbehaves in a certain way."""
    return [sys.executable, "-I", "-S", str(FOLDER / "hostile.py"), mode, *arguments]


def library(*arguments: str) -> list[str]:
    """The command of a real server with resources and prompts."""
    return [sys.executable, str(FOLDER / "library.py"), *arguments]


def papers(*documents: bytes) -> list[str]:
    """The command of a real server that gives these documents."""
    return [sys.executable, str(FOLDER / "papers.py"), *(base64.b64encode(one).decode() for one in documents)]


def signed(**options: Any) -> list[str]:
    """The command of a real server that wants a sign-in; ``options`` are what it does otherwise than an honest one."""
    return [sys.executable, str(FOLDER / "signed.py"), json.dumps(options)]


def unruly(mode: str, *arguments: str) -> list[str]:
    """The command of one that misbehaves beside its tools."""
    return [sys.executable, "-I", "-S", str(FOLDER / "unruly.py"), mode, *arguments]
