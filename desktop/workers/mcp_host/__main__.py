"""Starts the MCP host: ``python -I /path/to/desktop/workers/mcp_host/__main__.py``.

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
    from desktop.domain.loading.bare_package import bare_packages

    bare_packages("mcp", "mcp.client")  # only parts of its client are used, and no server
    from desktop.workers.mcp_host.host import main

    gc.freeze()  # modules are here to stay: no later collection has to look at them
    gc.enable()
    main()
