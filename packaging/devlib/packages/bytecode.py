"""Bytecode that is never compared with its source again: the files are nobody's to change, a folder of root's cannot be
written by the one who starts it, and a signed bundle breaks when something is written into it."""

import subprocess
from pathlib import Path

from ..words import Stop

UNCHECKED = bytes([1, 0, 0, 0])
"""How bytecode says, after its magic number, that it is not compared with its source."""


def compile_all(python: Path, root: Path, library: Path) -> None:
    """What lies in ``library``, in one process, and without the place of the build. ``python`` is the interpreter that
    will read it, or one of its series."""
    command = [str(python), "-I", "-B", "-m", "compileall", "-f", "-q", "-s", str(root), "-p", "/"]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0"}
    command = [*command, "--invalidation-mode", "unchecked-hash", str(library)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not (library / "site-packages" / "desktop" / "__pycache__").is_dir():
        raise Stop(f"{python} does not start, so nothing was compiled.", "Run it by hand.")
    compared = compared_bytecode(library)
    if compared:
        raise Stop(f"{compared[0]} would be compared with its source at each start.", "Compile it without times.")


def compared_bytecode(folder: Path) -> list[Path]:
    """Bytecode that Python compares with its source: after the times are made the same it would fit none, and nobody
    could write it anew."""
    found = []
    for path in sorted(folder.rglob("*.pyc")):
        with path.open("rb") as file:
            if file.read(8)[4:] != UNCHECKED:
                found.append(path)
    return found
