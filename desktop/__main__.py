"""`python -m desktop`, which is also the command `assent`."""

from __future__ import annotations

import sys

from desktop.app.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
