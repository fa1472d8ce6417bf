"""Flags of ``os.open`` that not every system has; one that is missing is 0 and asks for nothing.

Where ``NOFOLLOW`` is 0 a link is followed: whoever must not follow one looks at what was opened
(``desktop/safety/boundary/opening.py``).
"""

from __future__ import annotations

import os

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
NOCTTY: int = getattr(os, "O_NOCTTY", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
BINARY: int = getattr(os, "O_BINARY", 0)
"""Windows turns line ends around without it."""
PATH: int = getattr(os, "O_PATH", os.O_RDONLY)
"""Only to hold a place, not to read it; where there is no such thing, to read."""
