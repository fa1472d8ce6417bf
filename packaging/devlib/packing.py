"""Starts the package command in its environment; `dev.py package` is this."""

import os
import subprocess
from pathlib import Path

from .environment import ROOT, clean_environment
from .packages.tools import ensure_tools


def make_packages(arguments: list[str]) -> int:
    """Its exit code. Relative folders are meant from where the person stands."""
    environment = {**clean_environment(), "PYTHONPATH": os.pathsep.join([str(ROOT / "packaging"), str(ROOT)])}
    return subprocess.call([str(ensure_tools()), "-m", "devlib.packages", *arguments], cwd=Path.cwd(), env=environment)
