"""Why Qt opens no window here, in words for a person. Loaded only once it did not, and knows no Qt itself."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping

from desktop.app.desktop import libraries
from desktop.domain.errors import KnownError
from desktop.domain.text.words import plain_line
from desktop.systems import current

SAID_MAX = 300
"""Characters of what Qt or the loader says."""
NAMED_MAX = 4
"""Libraries that are named one by one; the command has all of them."""
WITHOUT = "Without a window, `assent run AGENT-OR-SKILL MESSAGE` works."

_PLUGIN = re.compile(r'Could not find the Qt platform plugin "([^"]*)"')
_LACKS = re.compile(r"(?:^|\s)(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")
_GLIBC = re.compile(r"version `GLIBC_(\d+\.\d+)' not found")


def not_loaded(error: ImportError) -> KnownError:
    """Qt's code cannot be loaded."""
    said = str(error)
    needed = _GLIBC.search(said)
    if needed:
        has = " ".join(platform.libc_ver()[1:]) or "an older one"
        return KnownError(
            f"Assent needs glibc {needed.group(1)} or newer, and this system has {has}.",
            next_step="Use Assent on a newer release of the system. Nothing was changed here.",
            code="qt.glibc",
        )
    named = _LACKS.search(said)
    lacking = libraries.missing() or ((named.group(1),) if named else ())
    if lacking:
        return lacks(lacking)
    return KnownError(
        f"Qt cannot be loaded on this machine: {plain_line(said, SAID_MAX)}.",
        next_step="Install Assent again, by the way by which you installed it.",
        code="qt.missing",
    )


def not_begun(said: Iterable[str], environment: Mapping[str, str]) -> KnownError:
    """Qt gave up when it was to begin; ``said``: all that it said until then."""
    words = tuple(said)
    chosen = environment.get("QT_QPA_PLATFORM", "")
    if chosen and any(_PLUGIN.search(line) for line in words):
        return KnownError(
            f"QT_QPA_PLATFORM asks for “{plain_line(chosen, 40)}”, which is no platform of this Qt.",
            next_step="Start Assent without that variable: `env -u QT_QPA_PLATFORM assent`.",
            code="screen.platform",
        )
    lacking = libraries.missing() if current.LINUX else ()
    if lacking:
        return lacks(lacking)
    x11, wayland = environment.get("DISPLAY", ""), environment.get("WAYLAND_DISPLAY", "")
    if not x11 and not wayland:
        return KnownError(
            "There is no screen here: neither DISPLAY nor WAYLAND_DISPLAY is set.",
            next_step=f"Start Assent in a desktop session, or over `ssh -X`. {WITHOUT}",
            code="screen.none",
        )
    named = " and ".join(f"{name}={plain_line(value, 60)}" for name, value in _set(x11, wayland))
    return KnownError(
        f"The screen cannot be used: nobody answers at {named}, or this user is not let in.",
        next_step=f"Start Assent as the user whose desktop session it is, from that session. {WITHOUT}",
        code="screen.refused",
    )


def _set(x11: str, wayland: str) -> Iterable[tuple[str, str]]:
    return [(name, value) for name, value in (("WAYLAND_DISPLAY", wayland), ("DISPLAY", x11)) if value]


def lacks(lacking: tuple[str, ...]) -> KnownError:
    these = "a library of the system" if len(lacking) == 1 else f"{len(lacking)} libraries of the system"
    typed = libraries.command(lacking, libraries.family())
    step = f"Run `{typed}` and start Assent again." if typed else f"Install what provides {', '.join(lacking)}."
    named = ", ".join(lacking[:NAMED_MAX])
    more = f" and {len(lacking) - NAMED_MAX} more" if len(lacking) > NAMED_MAX else ""
    return KnownError(
        f"The window needs {these} that {'is' if len(lacking) == 1 else 'are'} missing: {named}{more}.",
        next_step=f"{step} {WITHOUT}",
        code="qt.libraries",
    )
