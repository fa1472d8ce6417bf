#!/usr/bin/env python3
"""Everything a developer needs in one command: run, test, bench, shots, check. Standard library only.

Makes `.venv` from the hashed lock files, names the system libraries Qt misses and installs them where it may, then starts.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from devlib.environment import ROOT, clean_environment, ensure_environment, ensure_python_version
from devlib.system import ensure_system
from devlib.words import Stop, fail, say


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        ensure_python_version()
        return int(options.command(options))
    except Stop as stop:
        fail(stop)
    except KeyboardInterrupt:
        return 130


def setup(options: argparse.Namespace) -> int:
    """Makes the environment for running and testing, and starts nothing."""
    ensure_system(for_tests=True, may_use_sudo=options.yes)
    ensure_environment(dev=True, may_use_sudo=options.yes)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__.splitlines()[0])
    parser.add_argument("--yes", action="store_true", help="install missing system packages through sudo")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("setup", help="make the environment and start nothing").set_defaults(command=setup)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
