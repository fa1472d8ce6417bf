"""Where Assent itself lies: its package, its skills and pictures, its environment and its Python.

Tools may read it wherever it lies, because workers and programs of the environment run from there; nothing that a tool
does may change it, because what is written there is Assent's own code at the next start (R-FS-10).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.domain.installation import BUILD_FILE, LAUNCHER, VERSIONS, folder_root
from desktop.domain.loading.lazy import lazy_module

# Slow to load, and only needed where Python is the system's own.
if TYPE_CHECKING:
    import sysconfig
else:
    sysconfig = lazy_module("sysconfig")

PARTS = ("desktop", "resources", "skills")
_PACKAGES = ("site-packages", "dist-packages")
_SHARED = ("/", "/usr", "/usr/local", "/opt/homebrew", "/opt/local", "/System", "/Library")


@functools.cache
def installation() -> tuple[str, ...]:
    """Resolved folders and files of this program, none inside another."""
    here = Path(__file__).resolve().parents[3]
    return parts_of(here, (sys.prefix, sys.base_prefix), os.environ)


def parts_of(code: Path, prefixes: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Those of the program in ``code`` with these folders of Python. A Python of the system shares its prefix with
    everything else: of that one only the library and the program count. The self-contained folder counts with all its
    versions and with what an update lays down there, an AppImage with its file, a wheel with what lies beside it: the
    packages that it loads need not be below any of these folders."""
    found = [str(code) if code.name in _PACKAGES else str(code / part) for part in PARTS]
    for prefix in prefixes:
        real = os.path.realpath(prefix)
        found += _of_the_system() if real in _SHARED else [real]
        found += _self_contained(code, real)
    image = environment.get("APPIMAGE", "")
    if os.path.isabs(image) and os.path.isfile(image):
        found.append(os.path.realpath(image))
    return without_inner(path for path in found if os.path.exists(path))


def _self_contained(code: Path, prefix: str) -> list[str]:
    """Its launcher and the file of its build say that it is one: a folder of another program may have its names. Of one
    that was unpacked into a folder of everything, as a person's home, only what is its own counts."""
    root = folder_root(prefix)
    if not root or not (code / "resources" / BUILD_FILE).is_file() or not os.path.isfile(os.path.join(root, LAUNCHER)):
        return []
    home = os.path.realpath(os.path.expanduser("~"))
    shared = root in _SHARED or f"{home}{os.sep}".startswith(f"{root}{os.sep}")
    return [os.path.join(root, VERSIONS), os.path.join(root, LAUNCHER)] if shared else [root]


@functools.cache
def around_it() -> tuple[str, ...]:
    """What besides may be read wherever it lies: the checkout, when Assent runs from one. It is not Assent's own: tools
    may work on it."""
    here = Path(__file__).resolve().parents[3]
    return (str(here),) if (here / "pyproject.toml").is_file() else ()


def _of_the_system() -> list[str]:
    of = sysconfig.get_path
    places = (of("stdlib"), of("platstdlib"), sys.executable)
    return [os.path.realpath(place) for place in places if place]


def without_inner(found: Iterable[str]) -> tuple[str, ...]:
    """The paths that lie in no other of them."""
    kept: list[str] = []
    for path in sorted(set(found), key=len):
        if not any(path == outer or path.startswith(outer.rstrip(os.sep) + os.sep) for outer in kept):
            kept.append(path)
    return tuple(kept)
