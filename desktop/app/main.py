"""Arguments and the home; then ``start`` with Qt.

No Qt here: `--version` and a refusal are instant, and `--check` can say that Qt is broken. The rest of ``desktop.app``
is loaded once it is wanted.
"""

from __future__ import annotations

import argparse
import builtins
import gc
import importlib
import linecache
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from desktop import __version__
from desktop.app.home.folder import DATA, SOCKET, Home, home_path, open_home
from desktop.domain.errors import HomeInUse, KnownError
from desktop.domain.loading.lazy import lazy_module, load
from desktop.systems import current

if TYPE_CHECKING:
    import signal

    from desktop.app.commands import acp, audit_check, check, headless, menu, opening, send
    from desktop.app.commands.mcp_server import command as mcp_server
    from desktop.app.desktop import last_word, no_window
    from desktop.app.home import installation, instance
    from desktop.app.lifecycle import start, startup_error
    from desktop.domain.text import links
    from desktop.services.updates import versions
else:
    links = lazy_module("desktop.domain.text.links")
    acp = lazy_module("desktop.app.commands.acp")
    audit_check = lazy_module("desktop.app.commands.audit_check")
    check = lazy_module("desktop.app.commands.check")
    headless = lazy_module("desktop.app.commands.headless")
    menu = lazy_module("desktop.app.commands.menu")
    mcp_server = lazy_module("desktop.app.commands.mcp_server.command")
    installation = lazy_module("desktop.app.home.installation")
    instance = lazy_module("desktop.app.home.instance")
    last_word = lazy_module("desktop.app.desktop.last_word")
    no_window = lazy_module("desktop.app.desktop.no_window")
    opening = lazy_module("desktop.app.commands.opening")
    send = lazy_module("desktop.app.commands.send")
    signal = lazy_module("signal")
    start = lazy_module("desktop.app.lifecycle.start")
    startup_error = lazy_module("desktop.app.lifecycle.startup_error")
    versions = lazy_module("desktop.services.updates.versions")

WIRING = "desktop.app.lifecycle.wiring"
REFUSED, FAILED, STOPPED = 2, 1, 130
"""Exit codes: the world stands in the way; we do; a person stopped it."""
COMMANDS: dict[str, ModuleType] = {
    "run": headless,
    "send": send,
    "mcp": mcp_server,
    "acp": acp,
    "menu": menu,
    "audit-check": audit_check,
}
"""What works without a window, by its first word: ``main`` does it, ``parser`` says what it takes."""
OPEN, FROM_MENU = "open", ["open", "--"]
"""The word before a link, and all that an entry of a menu writes where there is none."""
HANDOVER_S, HANDOVER_RETRY_S = 15.0, 0.05
"""Seconds for another process to end in order what it does with the home, and between two looks."""


def main(arguments: Sequence[str] | None = None, *, wiring: str = WIRING) -> int:
    """Run the whole program; returns its exit code. ``wiring`` names the module described in ``composition``."""
    given = sys.argv[1:] if arguments is None else arguments
    command = COMMANDS.get(given[0]) if given else None
    if command is not None:
        signal.signal(signal.SIGINT, _not_begun)
        gc.disable()  # importing makes no garbage, but collecting while importing takes a tenth of the start
        load(command)
        gc.freeze()  # modules are here to stay: no later collection has to look at them
        gc.enable()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with versions.running_from(Path(__file__), __version__):  # an editor keeps `acp` for weeks
            code: int = command.main(given[1:])
        return code
    options = _options(given)
    if options.version:
        sys.stdout.write(f"assent {__version__} ({installation.this_installation().line})\n")
        return 0
    if options.probe_qt:
        return _probed_qt()
    try:
        path = home_path(options.home, os.environ)
        if options.check:
            return check.main(path)
        home = _opened(path)
    except HomeInUse as error:
        return _brought_forward(error, path, options.link)
    except KnownError as error:
        return _refuse(error)
    return _with_window(home, options, wiring)


def _with_window(home: Home, options: argparse.Namespace, wiring: str) -> int:
    gc.disable()  # importing makes no garbage, but collecting while importing takes a tenth of the start
    try:
        load_qt()
        return start.start(home, options, wiring, _refuse_without_window)
    except KnownError as error:
        return _refuse(error)
    except ImportError as error:
        if not _is_of_qt(error):
            raise
        return _refuse_without_window(no_window.not_loaded(error))
    finally:
        home.release()


def _opened(path: Path) -> Home:
    """The home; one that another program uses Assent in, without a window, is given to us. Raises KnownError."""
    until, given = time.monotonic() + HANDOVER_S, False
    while True:
        try:
            return open_home(path)
        except HomeInUse:
            given = instance.ask_for_home(path / DATA / SOCKET) or given
            if not given or time.monotonic() > until:
                raise
        time.sleep(HANDOVER_RETRY_S)


def _not_begun(*_: object) -> None:
    """Ctrl+C while a command still loads its code: there is nothing yet to be stopped in order."""
    _tell("assent: stopped")
    raise SystemExit(STOPPED)


def load_qt() -> None:
    """Load Qt, and take back the ``__import__`` that PySide puts in place of Python's.

    It reads the source of every module that is imported from then on, to see whether it wants its methods in
    snake_case, and ``linecache`` keeps all of that text: 12 MB and 5 ms before the first paint. Nobody here wants it.
    """
    importlib.import_module("PySide6.QtWidgets")
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
    linecache.clearcache()  # what it has read by then: 2,000 lines of the standard library


def _options(given: Sequence[str]) -> argparse.Namespace:
    """``link`` is None where none could have been given."""
    if not given or given[0] != OPEN:
        return _ordinary(given) or parser().parse_args(given)
    options = _ordinary(()) or argparse.Namespace()
    options.link = ""
    if list(given) != FROM_MENU:
        vars(options).update(vars(opening.options(given[1:])))
    return options


def _ordinary(arguments: Sequence[str]) -> argparse.Namespace | None:
    """The options of an ordinary start, else None: argparse takes 3 ms, because it looks for translations first."""
    options = argparse.Namespace(
        version=False, home=None, check=False, exit_after_paint=False, settle=None, probe_qt=False, link=None
    )
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word == "--exit-after-paint":
            options.exit_after_paint = True
        elif word == "--home" and left and not left[0].startswith("-"):
            options.home = left.pop(0)
        else:
            return None
    return options


def parser() -> argparse.ArgumentParser:
    """What `assent` itself takes; its commands have one each (``COMMANDS``)."""
    made = argparse.ArgumentParser(
        prog="assent",
        description="People and AI at work, with every effect approved.",
        epilog="assent run AGENT-OR-SKILL MESSAGE works without a window; assent run --help says how. "
        "assent send ADDRESS MESSAGE says something to a persistent agent at work. "
        "assent mcp offers chosen skills and agents to other programs; assent mcp --help says how. "
        "assent acp is an agent for an editor that starts it. "
        "assent audit-check FILE follows the chain of an exported activity log. "
        "assent open LINK shows a place in the window. "
        "assent menu add puts Assent into the desktop's menu.",
    )
    made.add_argument("--version", action="store_true", help="print the version and end")
    made.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    made.add_argument("--check", action="store_true", help="print what works on this machine and end")
    made.add_argument("--exit-after-paint", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("--settle", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    made.add_argument("--probe-qt", action="store_true", help=argparse.SUPPRESS)
    made.set_defaults(link=None)
    return made


def _brought_forward(error: HomeInUse, path: Path, link: str | None) -> int:
    """The window of the Assent that runs, at a link's place. Who only gave it a link gets what was asked for."""
    socket, patience = path / DATA / SOCKET, HANDOVER_S if link is not None else 0.0
    if not instance.ask_to_open(socket, links.harmless(link or ""), os.environ, patience=patience):
        return _refuse(error)
    if link is not None:
        return 0
    _tell(f"assent: {error}\n  Its window was brought to the front.")
    return REFUSED


def _refuse(error: KnownError) -> int:
    """Say why not where it can be seen: on the terminal, and without one in a window."""
    _tell(f"assent: {error}\n  {error.next_step}")
    if _alone_on_a_screen():
        startup_error.show(error, _notified)
    return REFUSED


def _refuse_without_window(error: KnownError) -> int:
    """The same where Qt opens none."""
    _tell(f"assent: {error}\n  {error.next_step}")
    return _notified(error) if _alone_on_a_screen() else REFUSED


def _notified(error: KnownError) -> int:
    last_word.notify(error)
    return REFUSED


def _probed_qt() -> int:
    """For `--check`, in a process of its own: whether Qt begins here, or in words why not."""
    try:
        load_qt()
        return start.probe_qt(_refuse_without_window)
    except ImportError as error:
        if not _is_of_qt(error):
            raise
        _tell(no_window.not_loaded(error).advice)
        return REFUSED


def _is_of_qt(error: ImportError) -> bool:
    return "PySide6" in f"{error.name} {error.path}" or "shiboken6" in f"{error.name} {error.path}"


def _alone_on_a_screen() -> bool:
    terminal = sys.stderr is not None and sys.stderr.isatty()
    screen = current.MACOS or current.WINDOWS or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return screen and not terminal and os.environ.get("QT_QPA_PLATFORM") != "offscreen"


def _tell(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
