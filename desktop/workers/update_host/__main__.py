"""Starts the update host: ``python -I /path/to/desktop/workers/update_host/__main__.py``.

``-I`` keeps the environment and the current folder out of the import path, so our own root is put there by hand.
"""

import gc
import sys
from pathlib import Path

if __name__ == "__main__":
    root = str(Path(__file__).resolve().parents[3])
    if root not in sys.path:
        sys.path.insert(0, root)
    gc.disable()  # importing makes no garbage, but collecting while importing takes a fifth of the start
    sys.modules["boto3"] = None  # type: ignore[assignment]  # half of the start goes to a way to sign that is not ours
    from desktop.workers.update_host.host import main

    gc.freeze()  # modules are here to stay: no later collection has to look at them
    gc.enable()
    main(sys.argv[1], sys.argv[2:])
