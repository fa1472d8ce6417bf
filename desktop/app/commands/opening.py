"""``assent open LINK``: the window at a place, of the Assent that runs or of a new one. The menu's entry starts it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """What was written behind ``open``."""
    return parser().parse_args(arguments)


def parser() -> argparse.ArgumentParser:
    """What `assent open` takes."""
    made = argparse.ArgumentParser(
        prog="assent open",
        description="Open the window at a place: assent:chats, assent:chat/ID, assent:settings/PAGE, assent:help/PAGE. "
        "A link never sends, allows, changes or runs anything.",
        allow_abbrev=False,
    )
    made.add_argument("link", metavar="LINK", nargs="?", default="", help="where; without it the window as it was")
    made.add_argument("--home", metavar="DIR", help="the home folder (default: $AGENT_HOME, else ~/.agent)")
    return made
