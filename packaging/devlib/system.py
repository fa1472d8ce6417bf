"""Which system libraries and programs are missing, and installing them where we may (root, or --yes through sudo)."""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .words import Stop, say

# Shared library -> Debian package. Without the first group Qt does not load at all.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
}
# A window on X11 (and so Xvfb) needs these too.
X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-util.so.1": "libxcb-util1",
}
# Program or file -> Debian package. Only the tests, the benches and the screenshots need these.
TEST_PROGRAMS = {
    "Xvfb": "xvfb",
    "xauth": "xauth",
    "dbus-run-session": "dbus",
    "gnome-keyring-daemon": "gnome-keyring",
    "bwrap": "bubblewrap",
    "xdotool": "xdotool",
    "readelf": "binutils",
    "git": "git",
    "ssh": "openssh-client",
    "strace": "strace",
    "openssl": "openssl",
    "desktop-file-validate": "desktop-file-utils",
    "xdg-open": "xdg-utils",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf": "fonts-dejavu-core",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc": "fonts-noto-cjk",
    "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf": "fonts-noto-color-emoji",
    "/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf": "fonts-noto-core",
}


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _present(program: str) -> bool:
    return Path(program).exists() if program.startswith("/") else shutil.which(program) is not None


def missing_libraries(wanted: dict[str, str]) -> dict[str, str]:
    """The libraries of `wanted` that the loader cannot find, with the Debian package of each."""
    return {library: package for library, package in wanted.items() if not _loads(library)}


def missing_programs(wanted: dict[str, str]) -> dict[str, str]:
    """The programs (or absolute files) of `wanted` that are not there, with the Debian package of each."""
    return {program: package for program, package in wanted.items() if not _present(program)}


def ensure_system(*, for_tests: bool, may_use_sudo: bool) -> None:
    """Makes sure Qt can load, and for tests also Xvfb, D-Bus, a keyring, bubblewrap and fonts. Linux only."""
    if not sys.platform.startswith("linux"):
        return
    missing = missing_libraries(QT_LIBRARIES | X11_LIBRARIES)
    programs = missing_programs(TEST_PROGRAMS) if for_tests else {}
    if programs and shutil.which("apt-get") is None:
        say(f"not found here, and the tests that need them will fail: {', '.join(sorted(programs))}")
    else:
        missing |= programs
    if missing:
        _install(missing, may_use_sudo=may_use_sudo)


def ensure_venv_module(*, may_use_sudo: bool) -> None:
    """Debian ships Python without `ensurepip`; without it no environment can be made."""
    try:
        __import__("ensurepip")
    except ImportError:
        name = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        _install({"the venv module of Python": name}, may_use_sudo=may_use_sudo)


def _install(missing: dict[str, str], *, may_use_sudo: bool) -> None:
    packages = sorted(set(missing.values()))
    named = ", ".join(sorted(missing))
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if shutil.which("apt-get") is None:
        raise Stop(
            f"This system lacks {named}.",
            f"Install them with your package manager (on Debian they are: {' '.join(packages)}), then run this again.",
        )
    prefix = _privilege(may_use_sudo)
    if prefix is None:
        raise Stop(
            f"This system lacks {named}.",
            f"Run `sudo {shlex.join(command)}`, or run this command again with --yes to let it do that.",
        )
    say(f"the system lacks {named}; installing {' '.join(packages)}")
    _apt(prefix, ["apt-get", "update", "-qq"], check=False)
    _apt(prefix, command, check=True)


def _privilege(may_use_sudo: bool) -> list[str] | None:
    if sys.platform == "win32":
        return None
    if os.geteuid() == 0:
        return []
    return ["sudo"] if may_use_sudo and shutil.which("sudo") else None


def _apt(prefix: list[str], command: Iterable[str], *, check: bool) -> None:
    first, *rest = command
    waiting = [first, "-q", "-o", "DPkg::Lock::Timeout=300", *rest]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run([*prefix, *waiting], env=environment, text=True, **pipes)  # type: ignore[call-overload]
    if check and done.returncode != 0:
        last = next((line for line in reversed(done.stdout.splitlines()) if line.startswith("E:")), "no reason given")
        raise Stop(
            f"apt-get could not install what is missing ({last}).",
            "Check the network and the package sources, then run `" + shlex.join([*prefix, *command]) + "` to see why.",
        )
