"""Files without a name: handed on open, and gone with their last handle."""

from __future__ import annotations

import tempfile
from typing import BinaryIO, cast


def nameless_file() -> BinaryIO:
    """An empty one, to write and to read. Whoever has it closes it. Raises OSError."""
    return cast(BinaryIO, tempfile.TemporaryFile())
