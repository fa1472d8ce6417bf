"""The installer for Windows: an NSIS program that puts the tree in for one person. It is built on any system that has
`makensis`; that it installs and takes out again is tried under Wine by `tests/end2end/test_windows_installer.py`."""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from ..words import Stop, say
from .archive import normalise
from .calling import call
from .other_systems import PTH, Laying, copy_interpreter, given_python, install_packages, target
from .source import Source
from .windows_python import fetched_python, version_of, versions_of

SCRIPT = "packaging/windows/assent.nsi"
SIGN = "ASSENT_SIGN_WINDOWS"
"""Variable with the command that signs the file named behind it; without it nothing is signed."""
CONSOLE = '@"%~dp0python.exe" -I -m desktop %*\r\n'
LONGEST = 170
"""Characters of a path in the tree. Windows bears 260, of which the folder in a person's profile takes up to 90."""
_NOT_IN_A_NAME = re.compile(r'["$`\r\n]')


def make_windows(source: Source, wheel: Path, python: Path | None, work: Path, out: Path) -> tuple[Path, Path]:
    """``assent-VERSION-windows-x86_64.exe`` in ``out``, and where the packages in it lie in ``work``."""
    given = fetched_python(source, work / "python") if python is None else python
    found = given_python(given, "pythonw.exe", "windows")
    tree = work / "windows"
    lay_tree(source, found, tree)
    place = Laying(tree, tree / "Lib", target("win_amd64"), version_of(found), "windows")
    install_packages(source, wheel, place, versions_of(tree))
    say("building the installer")
    return make_installer(source, tree, work, out), place.packages


def lay_tree(source: Source, python: Path, tree: Path) -> None:
    """All but the packages."""
    copy_interpreter(python, tree)
    for path in tree.iterdir():
        if PTH.fullmatch(path.name):  # an embeddable Python looks nowhere but where this file says
            path.write_text(f"{path.stem}.zip\n.\nLib\\site-packages\nimport site\n", encoding="utf-8")
    (tree / "assent.cmd").write_text(CONSOLE, encoding="utf-8", newline="")
    shutil.copy(source.folder / "packaging/windows/assent.ico", tree)


def make_installer(source: Source, tree: Path, work: Path, out: Path) -> Path:
    """Of a finished tree."""
    too_long = [inside for path in tree.rglob("*") if len(inside := path.relative_to(tree).as_posix()) > LONGEST]
    if too_long:
        raise Stop(f"{too_long[0]} is too long a path for Windows.", "Leave it out in packages/pruning.py.")
    normalise(tree, source.epoch)
    parts = work / "parts.nsh"
    parts.write_text(removal(tree.iterdir()), encoding="utf-8")
    made = out / f"assent-{source.version}-windows-x86_64.exe"
    numbers = [*re.findall(r"\d+", source.version), "0", "0", "0"][:4]
    defines = {"VERSION": source.version, "NUMBERS": ".".join(numbers), "PARTS": parts, "TREE": tree, "OUT": made}
    signer = os.environ.get(SIGN, "")
    options = [f"-D{name}={value}" for name, value in defines.items()] + ([f"-DSIGN={signer}"] if signer else [])
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch)}
    step = "Install NSIS (on Debian: apt install nsis), then run this again."
    call(["makensis", "-V2", *options, source.folder / SCRIPT], "build the installer", step, environment)
    return made


def removal(top: Iterable[Path]) -> str:
    """The macro by which the uninstaller takes out what was put in, name by name."""
    lines = []
    for path in sorted(top):
        if _NOT_IN_A_NAME.search(path.name):
            raise Stop(f"{path.name!r} cannot be named in the installer.", "Leave it out of the tree.")
        lines.append(f'  {"RMDir /r" if path.is_dir() else "Delete"} "$INSTDIR\\{path.name}"\n')
    return "!macro REMOVE_PARTS\n" + "".join(lines) + "!macroend\n"
