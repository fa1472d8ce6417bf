"""A cache of its own for each program, inside its walls: what npx, uvx and pip fetch has to lie somewhere.

The person's own caches stay read-only: what a confined program put there, an unconfined one would run. Each program has
a folder in the app's home that no other process writes, so that none poisons another's.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping

FOLDER = "cache"
_PLACES = {
    "XDG_CACHE_HOME": "", "npm_config_cache": "npm", "YARN_CACHE_FOLDER": "yarn", "BUN_INSTALL_CACHE_DIR": "bun",
    "DENO_DIR": "deno", "UV_CACHE_DIR": "uv", "UV_TOOL_DIR": "uv-tools", "UV_PYTHON_INSTALL_DIR": "uv-python",
    "PIP_CACHE_DIR": "pip",
}  # fmt: skip
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_SHOWN = 60


def cache_of(root: str, program: str) -> str:
    """The folder of a program, made when first needed; "" where it cannot be made. ``program`` is a name that no other
    one has: what is run, not only what it is called. Blocks."""
    digest = hashlib.sha256(program.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    folder = os.path.join(root, f"{_UNSAFE.sub('_', program)[:_SHOWN].strip('._')}-{digest}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return ""
    real = os.path.realpath(folder)
    return real if os.path.dirname(real) == os.path.realpath(root) else ""


def pointed_at(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment with all caches in that folder, but for those that it names itself."""
    return {**{name: os.path.join(folder, place).rstrip(os.sep) for name, place in _PLACES.items()}, **environment}
