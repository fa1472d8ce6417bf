"""Starts the package command in its environment; `dev.py package` is this."""

import os
import subprocess

from .environment import ROOT, clean_environment
from .packages.tools import ensure_tools


def make_packages(arguments: list[str]) -> int:
    """Its exit code. Relative folders are meant from where the person stands."""
    environment = {**clean_environment(), "PYTHONPATH": os.pathsep.join([str(ROOT / "packaging"), str(ROOT)])}
    return waited([str(ensure_tools()), "-m", "devlib.packages", *arguments], environment)


def waited(command: list[str], environment: dict[str, str]) -> int:
    """The exit code of a program that, when this one is told to end, is told too, and has the time to remove what is
    half made."""
    with subprocess.Popen(command, env=environment) as process:
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
