"""Starts the update host: ``python -I /path/to/desktop/workers/update_host/__main__.py``.

``-I`` keeps the environment and the current folder out of the import path, so our own root is put there by hand.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    root = str(Path(__file__).resolve().parents[3])
    if root not in sys.path:
        sys.path.insert(0, root)
    from desktop.workers.update_host.host import main

    main(sys.argv[1], sys.argv[2:])
