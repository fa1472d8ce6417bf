"""Help wired to the window: what F1, the palette and the heads of pages open, and what a report may say."""

from __future__ import annotations

import getpass
import os
import platform
import re
import socket
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from desktop import __version__
from desktop.app.home.installation import own_start, this_installation
from desktop.app.wiring.runtime import RESOURCES, ROOT
from desktop.app.wiring.services import Services
from desktop.domain.runs.cancellation import CancellationToken
from desktop.domain.safety import ProcessSpec
from desktop.presenter.events.bridge import Bridge
from desktop.presenter.help.page import HelpViewModel
from desktop.presenter.help.report import ReportViewModel
from desktop.safety.confinement.process import GroupRunner
from desktop.services.help.book import ReadBook
from desktop.services.help.log_errors import KnownCode
from desktop.services.help.masking import Person, ReportMask
from desktop.services.help.report import CHECKING, ProblemReport
from desktop.systems import current, people

PAGES = RESOURCES / "help"
CHANGES = (RESOURCES / "CHANGELOG.md", ROOT / "CHANGELOG.md")
"""In a package, and in a checkout."""
CHECK_S = 90.0
_WORD = re.compile(r"[\w:.+ -]{1,80}")


def help_model(bridge: Bridge) -> HelpViewModel:
    """Reads nothing yet."""
    return HelpViewModel(lambda: ReadBook(PAGES, CHANGES), bridge)


def report_model(services: Services, bridge: Bridge) -> ReportViewModel:
    """Gathers nothing yet."""
    return ReportViewModel(lambda: problem_report(services), CHECKING, bridge)


def problem_report(services: Services) -> ProblemReport:
    """What a report of this home may say. Blocks."""
    home = services.home
    mask = ReportMask(services.redactor, person_of(home))
    return ProblemReport(facts, partial(check, home), home / "logs", KnownCode(ROOT), mask)


def person_of(home: Path) -> Person:
    """Whom a report must not name: the login, the full name, the computer; their folders."""
    names = {_or_nothing(getpass.getuser), _or_nothing(socket.gethostname)}
    names |= {name.partition(".")[0] for name in names}
    full = _or_nothing(people.full_name)
    names |= {full, *re.split(r"[\s.-]+", full)}
    homes = {os.path.expanduser("~"), os.path.realpath(os.path.expanduser("~"))}
    own = {os.fspath(home), os.path.realpath(home)}
    return Person(tuple(filter(None, names)), tuple(homes), tuple(own))


def facts() -> Sequence[str]:
    """Versions and the system, a line each."""
    screen = QGuiApplication.platformName()
    desk = os.environ.get("XDG_CURRENT_DESKTOP", "")
    shown = f"{screen}{f', {desk}' if _WORD.fullmatch(desk) else ''}"
    return (
        f"Assent {__version__}, {this_installation().line}",
        f"Python {platform.python_version()}, Qt {qVersion()}, SQLite {sqlite3.sqlite_version}",
        f"{current.system_words()}, {_distribution()}",
        f"Screen: {shown}",
    )


async def check(home: Path) -> Sequence[str]:
    """What ``assent --check`` says, in a process of its own. Raises ToolFailure when that cannot be started."""
    argv = own_start("--check", "--home", os.fspath(home))
    spec = ProcessSpec(argv, os.fspath(ROOT), dict(os.environ), timeout_s=CHECK_S, output_limit=20_000)
    done = await GroupRunner().run(spec, CancellationToken())
    lines = [line for line in done.output.splitlines() if re.match(r"[A-Z][\w ]{1,30}: (?:ok|notice|broken): ", line)]
    return lines if done.ended == "exited" else [*lines, f"They were ended after {CHECK_S:.0f} seconds."]


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "") or "no name of the distribution"
    except OSError:
        return "no name of the distribution"


def _or_nothing(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except (OSError, KeyError):
        return ""
