"""What packages for Windows and macOS have in common: an interpreter that was brought along, the lock's packages for
that system, and our wheel. None of it is started here: on the system itself the workflows do that."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheels.targets import TARGETS, Target, locked

from ..environment import explained
from ..licences import tree
from ..licences.command import collected_for
from ..licences.listing import write_list
from ..words import Stop, say
from .bytecode import compile_all
from .pruning import PACKAGES, mend_records, prune_amazon, prune_table
from .source import BUILD_FILE, Source

PTH = re.compile(r"python3\d+\._pth")
"""Of an embeddable Python: which folders it looks in, and no others."""
LEFT_OUT = (
    *("__pycache__", "*.pyc", "*.pdb", "test", "idlelib", "tkinter", "turtledemo", "ensurepip", "site-packages"),
    *("EXTERNALLY-MANAGED", "Scripts", "Doc", "Tools", "include", "libs", "tcl", "_tkinter*", "tcl*.dll", "tk*.dll"),
)
"""Of a whole Python: what no process of Assent loads."""
_QT_TAKEN = re.compile(
    r"__init__\.py|_config\.py|_git_pyside_version\.py|support/[\w.]+\.py"
    r"|Qt(Core|DBus|Gui|Svg|Widgets)\.(pyd|abi3\.so)|(lib)?pyside6\.abi3.*(dll|dylib|so)|(msvcp|vcruntime|concrt).*\.dll"
    r"|(Qt/)?plugins/(platforms|styles|iconengines)/[\w.]+"
    r"|(Qt/)?plugins/imageformats/(lib)?q(gif|ico|icns|jpeg|svg|webp)\.(dll|dylib)"
)
_QT_NAMED = re.compile(rb"Qt6\w+\.dll|(?<=/)Qt\w+(?=\.framework/)")
_OF_A_FRAMEWORK = re.compile(r"Qt/lib/(\w+)\.framework/")


def target(name: str) -> Target:
    """By its name in `packaging/wheels`."""
    return next(one for one in TARGETS if one.name == name)


def copy_interpreter(python: Path, into: Path) -> None:
    """A Python that can lie anywhere, without what nothing needs."""
    shutil.copytree(python, into, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True)


@dataclass(frozen=True)
class Laying:
    """Where a package for another system is laid: all of it, its Python's library, and for which system and Python."""

    root: Path
    library: Path
    system: Target
    python: str
    """As 3.11."""
    kind: str

    @property
    def packages(self) -> Path:
        """Where `desktop`, `resources`, `skills` and the lock's packages are."""
        return self.library / "site-packages"


def install_packages(source: Source, wheel: Path, place: Laying, versions: Mapping[str, str]) -> None:
    """The lock's packages as they are for that system, each held against its hash, and our wheel; of all of it the
    licences, where ``versions`` has those of Python and of what it brings along. All is compiled."""
    _same_series(place.python)
    packages, system = place.packages, place.system
    wanted = [one for one in locked(source.folder / "packaging/requirements.lock") if one.holds(system, place.python)]
    lines = [one.line for one in wanted]
    listed = place.library / "wanted.txt"
    packages.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    say(f"installing {len(wanted)} packages for {system.name}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary", ":all:", "--target", str(packages)]
    command += ["--implementation", "cp", "--python-version", place.python]
    command += [word for tag in system.tags for word in ("--platform", tag)]
    done = subprocess.run([*command, "-r", str(listed)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise explained(done.stdout)
    listed.unlink()
    found = collected_for(packages, place.kind, {one.name for one in wanted})
    refuse(found.problems)
    take_of_qt(packages / "PySide6")
    prune_amazon(packages / "botocore" / "data")
    prune_table(packages, PACKAGES)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / BUILD_FILE).write_text(source.described(place.kind), encoding="utf-8")
    mend_records(packages)
    write_list(packages / "resources" / "licences", found.components, found.texts.kept)
    tree.add_to(place.root, packages / "resources", versions.get("Python", place.python), versions)
    refuse(tree.problems_of(place.root, packages))
    say("compiling")
    compile_all(Path(sys.executable), place.root, place.library)


def refuse(wrong: Sequence[str]) -> None:
    """Raises Stop when there is anything."""
    if wrong:
        found = "\n".join(wrong[:20])
        raise Stop(f"Not all of this may be handed out:\n{found}", "See packaging/licences/decisions.toml.")


def _same_series(python: str) -> None:
    """Bytecode is the same on every system, but not from one series of Python to the next."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    if own != python:
        raise Stop(f"This is Python {own}, and the one to bring along is {python}.", f"Run this with Python {python}.")


def given_python(python: Path | None, needs: str, kind: str) -> Path:
    """The folder, which has ``needs``."""
    step = f"Give the folder of one that can lie anywhere: `dev.py package {kind} --python DIR`."
    if python is None:
        raise Stop(f"A package for {kind} brings a Python for that system along.", step)
    if not (python / needs).is_file():
        raise Stop(f"{python} has no {needs}, so it is no such Python.", step)
    return python


def take_of_qt(folder: Path) -> None:
    """What ``pruning.QT_MODULES`` names, the plugins, and whatever libraries these name of those that come with them:
    of the rest some may not be handed out with Assent."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    libraries = {name: path for path in files if (name := _library(path.relative_to(folder).as_posix()))}
    taken = [path for path in files if _QT_TAKEN.fullmatch(path.relative_to(folder).as_posix())]
    left = list(taken)
    while left:
        for name in {found.decode() for found in _QT_NAMED.findall(left.pop().read_bytes())}:
            if name in libraries:
                taken.append(libraries[name])
                left.append(libraries.pop(name))
    for path in set(files) - set(taken):
        inside = path.relative_to(folder).as_posix()
        if not _OF_A_FRAMEWORK.match(inside) or _OF_A_FRAMEWORK.match(inside)[1] in libraries:  # type: ignore[index]
            path.unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_symlink() and not path.exists():
            path.unlink()
        elif path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()


def _library(inside: str) -> str:
    """Of Qt's own, by which name others name it."""
    framework = _OF_A_FRAMEWORK.match(inside)
    if framework is not None and inside.endswith(f"/{framework[1]}"):
        return framework[1]
    return inside if inside.startswith("Qt6") and inside.endswith(".dll") else ""
