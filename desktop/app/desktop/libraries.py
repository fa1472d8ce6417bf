"""The libraries of the system that Qt needs and does not bring along: which of them are missing, and the command that
installs them here. Loaded only where Qt did not start, so nothing of it costs a start anything. Linux only.

Fedora, openSUSE and their like find a package by the library's own name, which holds in every release; Debian and Arch
do not, so theirs are listed. ``tests/end2end/test_odd_starts.py`` compares the table with what the files of Qt ask for.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping

try:
    import ctypes
except ImportError:  # a Python that was built without libffi; then only what the loader itself names is known
    ctypes = None  # type: ignore[assignment]

PACKAGES: Mapping[str, tuple[str, str]] = {
    "libEGL.so.1": ("libegl1", "libglvnd"),
    "libGL.so.1": ("libgl1", "libglvnd"),
    "libX11.so.6": ("libx11-6", "libx11"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libx11"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype2"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libstdc++.so.6": ("libstdc++6", "gcc-libs"),
    "libwayland-client.so.0": ("libwayland-client0", "wayland"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "wayland"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-glx.so.0": ("libxcb-glx0", "libxcb"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libz.so.1": ("zlib1g", "zlib"),
    "libzstd.so.1": ("libzstd1", "zstd"),
}
"""By library its package for Debian and Ubuntu, and for Arch."""

FAMILIES = {
    "debian": "debian",
    "ubuntu": "debian",
    "arch": "arch",
    "opensuse": "suse",
    "suse": "suse",
    "fedora": "fedora",
    "rhel": "fedora",
    "centos": "fedora",
}
"""How systems call themselves, or say whom they are like."""


def missing() -> tuple[str, ...]:
    """Those that the loader does not find or cannot load, in the table's order."""
    return tuple(name for name in PACKAGES if not _loads(name)) if ctypes is not None else ()


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def family() -> str:
    """debian, arch, suse or fedora; "" for a system that is none of them, or does not say."""
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return ""
    said = [system.get("ID", ""), *system.get("ID_LIKE", "").split()]
    return next((FAMILIES[word.partition("-")[0]] for word in said if word.partition("-")[0] in FAMILIES), "")


def command(libraries: Iterable[str], kind: str) -> str:
    """What a person types to install these libraries on a system of that family; "" where that is not known."""
    names = tuple(libraries)
    if kind in ("debian", "arch") and not PACKAGES.keys() >= set(names):
        return ""  # the loader has named one that stands in no table
    if kind == "debian":
        return f"sudo apt-get update && sudo apt-get install {_packages(names, 0)}"
    if kind == "arch":
        return f"sudo pacman -S {_packages(names, 1)}"
    wide = "()(64bit)" if sys.maxsize > 2**32 else ""
    provided = " ".join(f"'{name}{wide}'" for name in names)
    return {"fedora": f"sudo dnf install {provided}", "suse": f"sudo zypper install {provided}"}.get(kind, "")


def _packages(libraries: tuple[str, ...], column: int) -> str:
    return " ".join(sorted({PACKAGES[name][column] for name in libraries}))
