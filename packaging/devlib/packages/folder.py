"""The self-contained folder: a Python of its own, the packages of the lock, and Assent, to be put anywhere.

A program frozen by PyInstaller or cx_Freeze starts no second script, and Assent starts a dozen, some of them confined
to a few files; so what is handed out is a real interpreter with real files (figures: `packaging/README.md`).
"""

import json
import os
import platform
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from ..environment import explained
from ..licences import tree
from ..words import Stop, say
from . import elf
from .archive import normalise
from .bytecode import compile_all
from .calling import call
from .interpreter import NAME, lay_interpreter, strip
from .pruning import mend_records, prune_bytecode, prune_packages
from .source import BUILD_FILE, Source

LAUNCHER = "packaging/launcher/version"
"""Starts one version, or says what of the computer does not fit it."""
MACHINE, LOADER = "x86_64", "/lib64/ld-linux-x86-64.so.2"
CHOOSER = "packaging/launcher/assent"
"""Starts the current version, and the one before where that does not start."""
OWN_CHOOSER = "bin/assent-launcher"
"""The same in each version, which puts it in the place of an older one once it has started well."""
NOT_STRIPPED = ("PySide6/", "shiboken6/", "PIL/", "pillow.libs/")
"""Their libraries were rewritten to find each other, which `strip` does not always leave whole."""


@dataclass(frozen=True)
class Version:
    """One version of Assent with all it needs, at a place of the build."""

    prefix: Path
    source: Source

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.prefix / "bin" / NAME

    @property
    def packages(self) -> Path:
        """Where `desktop`, `resources` and `skills` are."""
        return self.prefix / "lib" / NAME / "site-packages"


def make_version(source: Source, wheel: Path, prefix: Path) -> Version:
    """Lay everything; takes a minute, most of it downloads and bytecode."""
    packages = lay_interpreter(prefix)
    version = Version(prefix, source)
    say("installing the packages of the lock")
    _install(source.folder / "packaging/requirements.lock", packages)
    prune_packages(packages)
    for path in elf.elf_files(packages):
        if not path.relative_to(packages).as_posix().startswith(NOT_STRIPPED):
            strip(path)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    _write_launcher(version)
    _add_share(version)
    _add_licences(version)
    mend_records(packages)
    say("compiling")
    compile_all(version.python, prefix, prefix / "lib" / NAME)
    prune_bytecode(packages)
    normalise(prefix, source.epoch)
    return version


def as_kind(version: Version, prefix: Path, kind: str) -> Version:
    """A copy that says of itself that it is of this kind. Its files are second names of the same ones, but for those
    that differ."""
    shutil.copytree(version.prefix, prefix, symlinks=True, copy_function=os.link)
    made = Version(prefix, version.source)
    ours = next(made.packages.glob("assent-*.dist-info")) / "RECORD"
    for path, text in ((made.packages / BUILD_FILE, version.source.described(kind)), (ours, ours.read_text("utf-8"))):
        path.unlink()
        path.write_text(text, encoding="utf-8")
    mend_records(made.packages, only="assent-*.dist-info")
    normalise(prefix, version.source.epoch)
    return made


def lay_folder(version: Version, root: Path) -> None:
    """What a person unpacks: `assent`, `versions/VERSION`, `versions/current`."""
    made = as_kind(version, root / "versions" / version.source.version, "folder")
    (root / "versions" / "current").symlink_to(version.source.version)
    for place in (root / "assent", made.prefix / OWN_CHOOSER):
        place.write_bytes((version.source.folder / CHOOSER).read_bytes())
        place.chmod(0o755)
    normalise(root, made.source.epoch)


def _install(lock: Path, packages: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary", ":all:", "--target", str(packages)]
    done = subprocess.run([*command, "-r", str(lock)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise explained(done.stdout)


def launcher(text: str, glibc: tuple[int, int], loader: str = LOADER, name: str = NAME) -> str:
    """The script for what this folder needs."""
    values = {"MAJOR": glibc[0], "MINOR": glibc[1], "MACHINE": MACHINE, "LOADER": loader, "PYTHON": name}
    return re.sub("@([A-Z]+)@", lambda found: str(values[found[1]]), text)


def _write_launcher(version: Version) -> None:
    path = version.prefix / "bin" / "assent"
    text = (version.source.folder / LAUNCHER).read_text("utf-8")
    path.write_text(launcher(text, elf.newest_glibc(version.prefix)), encoding="utf-8")
    path.chmod(0o755)


def _add_share(version: Version) -> None:
    """Menu entry, icons, manual, completions: made by our own code with the packages that were just installed."""
    day = version.source.built[:10]
    command = [str(version.python), "-B", "-m", "linux", str(version.prefix / "share"), "--date", day]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(version.source.folder / "packaging"), "LC_ALL": "C.UTF-8"}
    call(command, "make the menu entry and manual", "Mend packaging/linux.", environment)


def _add_licences(version: Version) -> None:
    """Of the interpreter and of what it brought along; and nothing is in the folder that may not be handed out."""
    libraries = {
        "OpenSSL": ssl.OPENSSL_VERSION.split()[1],
        "SQLite": sqlite3.sqlite_version,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
    }
    tree.add_to(version.prefix, version.packages / "resources", platform.python_version(), libraries)
    wrong = tree.problems_of(version.prefix, version.packages)
    if wrong:
        found = "\n".join(wrong[:20])
        raise Stop(f"Not all of this may be handed out:\n{found}", "See packaging/licences/decisions.toml.")


def described_glibc(version: Version) -> str:
    """As it is said to people."""
    return ".".join(map(str, elf.newest_glibc(version.prefix)))


def facts(version: Version) -> dict[str, object]:
    """For those who try and measure it."""
    size = sum(path.stat().st_size for path in version.prefix.rglob("*") if path.is_file() and not path.is_symlink())
    outside = sorted(elf.from_outside(version.prefix))
    return json.loads(json.dumps({"bytes": size, "glibc": described_glibc(version), "needs": outside}))  # type: ignore[no-any-return]
