"""Starts a skill worker: ``python -I -S /path/to/desktop/workers/python_skill/__main__.py``.

``-I -S`` keep the environment, the current folder and installed packages out; our own root is put there by hand, for
the protocol alone.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    root = str(Path(__file__).resolve().parents[3])
    sys.path.insert(0, root)
    from desktop.workers.python_skill.host import main

    main()
