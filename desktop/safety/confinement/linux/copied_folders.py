"""How a command is started in a copy of the folders that it may write: the words before its own (``layering.py``)."""

from __future__ import annotations

import sys
from pathlib import Path

from desktop.domain.files.copied_folders import LaidCopy

NOT_MADE = 126
"""The exit code where the copy could not be made; the mark of the copy tells it from a command's own."""


def layered(copy: LaidCopy, cwd: str, *, report: int = -1, heard: bytes = b"") -> tuple[str, ...]:
    """The program that lays the layers of a copy and becomes what follows, which has to name its program by path.
    ``report``: the descriptor on which it tells how the command ended; ``heard``: in a network of its own, what of it
    is kept."""
    program = (sys.executable, "-I", "-S", str(Path(__file__).with_name("layering.py")))
    said = str(report) if report >= 0 else ""
    layers = [word for layer in copy.layers for word in (layer.real, layer.made, layer.work)]
    return (*program, copy.mark, cwd, str(copy.largest), said, heard.hex(), str(len(copy.layers)), *layers)
