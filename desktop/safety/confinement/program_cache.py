"""A cache of its own for each program, inside its sandbox: what npx, uvx and pip fetch has to lie somewhere.

The person's own caches stay read-only: what a confined program put there, an unconfined one would run. Each program has
a folder in the app's home that no other process writes, so that none poisons another's.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping

FOLDER = "cache"
_PLACES = {
    "XDG_CACHE_HOME": "",
    "npm_config_cache": "npm",
    "YARN_CACHE_FOLDER": "yarn",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "DENO_DIR": "deno",
    "UV_CACHE_DIR": "uv",
    "UV_TOOL_DIR": "uv-tools",
    "UV_PYTHON_INSTALL_DIR": "uv-python",
    "PIP_CACHE_DIR": "pip",
}
CACHE_NAMES = tuple(_PLACES)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_SHOWN = 60
_GOING = ".going"
_log = logging.getLogger(__name__)


def cache_of(root: str, program: str) -> str:
    """The folder of a program, made when first needed; "" where it cannot be made. ``program`` is a name that no other
    one has: what is run, not only what it is called. Blocks."""
    folder = os.path.join(root, _folder_of(program))
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return ""
    real = os.path.realpath(folder)
    return real if os.path.dirname(real) == os.path.realpath(root) else ""


def _folder_of(program: str) -> str:
    digest = hashlib.sha256(program.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_UNSAFE.sub('_', program)[:_SHOWN].strip('._')}-{digest}"


def remove_others(root: str, prefix: str, kept: Iterable[str]) -> list[str]:
    """Remove the caches of programs whose names begin with ``prefix`` (letters and hyphens), but those ``kept``, and
    say which. Nothing else is touched: no file, no link, no folder of another form. What cannot be removed stays until
    the next time. Blocks."""
    keep = {_folder_of(program) for program in kept}
    form = re.compile(re.escape(prefix) + r"[A-Za-z0-9._-]*-[0-9a-f]{16}(?:" + re.escape(_GOING) + ")?")
    try:
        found = [entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    gone = [name for name in found if form.fullmatch(name) and name not in keep]
    return [name for name in gone if _removed(root, name)]


def _removed(root: str, name: str) -> bool:
    """Remove a cache; whether that worked. It is renamed first, so that a process that needs one of this name meanwhile
    gets a new one."""
    going = os.path.join(root, name if name.endswith(_GOING) else name + _GOING)
    try:
        if not name.endswith(_GOING):
            os.rename(os.path.join(root, name), going)
        shutil.rmtree(going, onerror=_writable)
    except OSError as error:
        _log.info("a cache that nobody needs could not be removed: %s", error)
        return False
    return True


def _writable(remove: Callable[[str], object], path: str, _error: object) -> None:
    """Go, and others, fetch folders that nobody may write."""
    os.chmod(os.path.dirname(path), 0o700)
    if not os.path.islink(path):
        os.chmod(path, 0o700)
    if remove in (os.open, os.scandir):
        shutil.rmtree(path)
    else:
        remove(path)


def pointed_at(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """The environment with all caches in that folder, but for those that it names itself."""
    return {**{name: os.path.join(folder, place).rstrip(os.sep) for name, place in _PLACES.items()}, **environment}
