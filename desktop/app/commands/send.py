"""``assent send ADDRESS "message"``: says something to a persistent agent of the Assent that runs with this home.

Exit codes: 0 when the agent has the message, 2 when it was not taken, with the reason on stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from desktop.app.home.folder import DATA, SOCKET, holder, home_path
from desktop.app.home.instance import send_message
from desktop.domain.errors import KnownError

TAKEN, REFUSED = 0, 2


def main(arguments: Sequence[str]) -> int:
    """The whole command; returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        home = home_path(options.home, os.environ)
        send_message(home / DATA / SOCKET, options.address, options.message, lambda: holder(home) != 0)
    except KnownError as error:
        sys.stderr.write(f"assent: {error}\n" + (f"  {error.next_step}\n" if error.next_step else ""))
        return REFUSED
    return TAKEN


def parser() -> argparse.ArgumentParser:
    """What `assent send` takes."""
    made = argparse.ArgumentParser(prog="assent send", description="Say something to a persistent agent at work.")
    made.add_argument("address", metavar="ADDRESS", help="the agent's, as its chat shows it, or the beginning of it")
    made.add_argument("message", help="what to say to it")
    made.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    return made
