"""`python -m desktop`, which is also the command `assent`."""

from __future__ import annotations

import importlib
import sys

REFUSED = 2
GONE = """\
assent: A part of Assent's own files cannot be loaded ({}): they were exchanged or removed while it started, or were not
  all put there.
  Start it again. If it says this once more, install Assent again: your chats are kept elsewhere.
"""


def main() -> int:
    """The whole program; its exit code. Where its own code goes while it starts, that is said in a sentence."""
    try:
        return int(importlib.import_module("desktop.app.main").main())
    except ImportError as error:
        name = error.name or ""
        if name.partition(".")[0] != "desktop":
            raise
        if sys.stderr is not None:
            sys.stderr.write(GONE.format(name))
        return REFUSED


if __name__ == "__main__":
    sys.exit(main())
