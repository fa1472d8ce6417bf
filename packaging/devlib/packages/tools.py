"""The environment of the package command: what it needs beside Python, from a lock of its own, and apart from `.venv`,
which is what the app runs on."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..environment import ROOT, clean_environment, explained
from ..words import Stop, say

LOCK = ROOT / "packaging/requirements-package.lock"
PLACE = ROOT / "build/package-tools"


def ensure_tools(place: Path = PLACE) -> Path:
    """Its interpreter. Instant when nothing changed; else it is made anew."""
    interpreter = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = place / "assent-tools.stamp"
    wanted = f"{hashlib.sha256(LOCK.read_bytes()).hexdigest()} {sys.version} {os.path.realpath(sys.executable)}"
    if stamp.is_file() and stamp.read_text("utf-8") == wanted and interpreter.exists():
        return interpreter
    say(f"making the environment of the package command in {place}")
    shutil.rmtree(place, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(place)], capture_output=True, text=True)
    if made.returncode != 0:
        raise Stop(
            f"Python could not make an environment in {place}: {(made.stderr or made.stdout).strip()[-300:]}",
            "Check the free space and permissions of that folder, and run this again.",
        )
    command = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(LOCK)]
    done = subprocess.run(command, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise explained(done.stdout)
    stamp.write_text(wanted, encoding="utf-8")
    return interpreter
